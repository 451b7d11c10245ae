"""What an exact search over classes knows at any moment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.assign.exact.relaxation import Relaxation
from crowdopt.assign.standing import Solvers, Standing
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Listener, Options
from crowdopt.crowd.alike import Classes


@dataclass(kw_only=True)
class Search(Standing):
    """A standing over ``classes``."""

    classes: Classes

    @classmethod
    def of(
        cls, relaxation: Relaxation, solvers: Solvers, options: Options, clock: Clock, listener: Listener | None = None
    ) -> Search:
        """Begin with what the LP over classes proves, and without a plan."""
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
