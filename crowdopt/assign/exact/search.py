"""What an exact search over classes knows at any moment."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.exact.dive import FixedSets
from crowdopt.assign.exact.relaxation import Relaxation
from crowdopt.assign.standing import Solvers, Standing
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Listener, Options
from crowdopt.crowd.classes import Classes


@dataclass(kw_only=True)
class Search(Standing):
    """A standing over ``classes``.

    ``sets`` cover a task of a class each: labels of the last plan aimed at. ``dived`` is the dive that
    led to the best plan.
    """

    classes: Classes
    sets: list[tuple[int, Ints]] = field(default_factory=list)
    dived: FixedSets | None = None

    @classmethod
    def of(
        cls, relaxation: Relaxation, solvers: Solvers, options: Options, clock: Clock, listener: Listener | None = None
    ) -> Search:
        """Begin with what the LP over classes proves, and without a plan.

        relaxation: of the instance's classes; options: gap, nodes and seed of the search; clock: when it ends;
        listener: hears where things stand.
        """
        known, classes = relaxation.certificate, relaxation.classes
        return cls(
            instance=classes.instance,
            classes=classes,
            solvers=solvers,
            options=options,
            clock=clock,
            listener=listener,
            duals=relaxation.duals(),
            certified=known.bound if known.proof == "certificate" else -np.inf,
            known=known,
        )
