"""The loops of exact errors compiled by two processes, before a clock runs; kept, they only load.

A small campaign goes without: its loops run as plain Python, and are compiled only if that takes long.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from crowdopt.assign.engine.cheapest_votes import priced_votes
from crowdopt.assign.engine.prepared import problem_of
from crowdopt.core.solution import Listener, Progress
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.vote_errors import are_compiled, errors_of

VOTES, SEARCHES = f"{__name__}:votes", f"{__name__}:searches"
CLASS_VOTES, CLASS_SEARCHES = f"{__name__}:class_votes", f"{__name__}:class_searches"


@contextmanager
def as_needed(instance: AssignmentInstance, listener: Listener | None = None) -> Iterator[None]:
    """The loops ready for an instance: compiled, or, where they are not and it is small, as plain Python."""
    from crowdopt.plain_kernels import for_small

    classes, searched = int(instance.classes), instance.the_rule.checked and not instance.the_rule.average
    with for_small(instance.n_tasks, instance.n_workers, lambda: get_ready(classes, listener)):
        if searched:
            get_ready(classes, listener)  # nothing where loops run as plain Python
        yield


def get_ready(classes: int, listener: Listener | None = None) -> None:
    """Compile the loops for votes among so many classes unless they are there; a listener is told."""
    from crowdopt.assign import law_kernels
    from crowdopt.assign.band_kernels import cheapest_counted
    from crowdopt.compiled_kernels import is_compiled, run_together

    searched = is_compiled(law_kernels.cheapest_vote) and (classes == 2 or is_compiled(cheapest_counted))
    if searched and are_compiled(classes):
        return
    if listener is not None:
        listener(Progress(0.0, None, None, "compiling once"))
    run_together([VOTES, SEARCHES] if classes == 2 else [CLASS_VOTES, CLASS_SEARCHES])


def _small(classes: int) -> AssignmentInstance:
    return AssignmentInstance([[0.9, 0.8]], [0, 0], [2, 2], 0.15, rule="exact-error", classes=classes)


def votes() -> None:
    """The exact error of a vote between two classes."""
    errors_of(_small(2), np.arange(1), [np.arange(2)])


def class_votes() -> None:
    """The exact error of a vote among more."""
    errors_of(_small(3), np.arange(1), [np.arange(2)])


def searches(most: int = 2) -> None:
    """The cheapest set of a task, and others like it."""
    for classes in range(2, most + 1):
        problem = problem_of(_small(classes))
        assert problem is not None
        row = problem.rows[0]
        priced = priced_votes(row, np.ones(row.room.size))
        priced.others(0, priced.cheapest(0)[1], 1)


def class_searches() -> None:
    """The same among more than two classes too: groups have them looked for as those of two are."""
    searches(3)
