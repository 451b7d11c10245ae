"""How sure tasks are to be, which of them are open, and which are given up."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Bools, Floats
from crowdopt.crowd.instance import COVERAGE
from crowdopt.online.arrivals import Known
from crowdopt.online.beliefs.dismissal import missing, missing_each
from crowdopt.online.beliefs.grid import level_at_error
from crowdopt.online.beliefs.shared_difficulty import hopeless
from crowdopt.online.beliefs.state import Beliefs

RAISE = 0.1  # nats by which every task is to be surer where none is open and the mean is not there yet


class TaskLevels:
    """Levels (crowdopt.online.beliefs.grid) at which tasks are closed, and what is open by the beliefs as they are.

    ``sure`` and ``level`` are (tasks,): the level from which a task is closed, without and with those that are given
    up. ``left`` is (types,): open tasks. All three are written in place.

    caution: a task is closed at an error of 1 - caution times its target.
    """

    def __init__(self, known: Known, beliefs: Beliefs, caution: float) -> None:
        self.beliefs = beliefs
        self.sure, self.level = np.zeros((2, known.n_tasks))
        self.left = np.zeros(known.types, np.int64)
        self.retarget(known, caution)

    def retarget(self, known: Known, caution: float) -> None:
        """Close tasks at these targets from now on."""
        self.known = known
        self.wanted = known.need > COVERAGE
        self.error = np.where(self.wanted, known.epsilon, 1 - 1 / known.classes)  # promised
        self.sure[:] = level_at_error(self.error * (1 - caution), known.classes)
        self.level[:] = self.sure

    @property
    def promised(self) -> float:
        """Errors that all tasks together may have."""
        return float(self.error[self.wanted].sum())

    @property
    def most(self) -> float:
        """The middling level that is promised."""
        return float(np.mean(level_at_error(self.error[self.wanted], self.known.classes)))

    @property
    def lack(self) -> float:
        """Nats until every task is sure."""
        return missing(self.beliefs.level, self.level, self.error, self.known.classes)

    @property
    def lacks(self) -> Floats:
        """The same for tasks of each type, (types,)."""
        each = missing_each(self.beliefs.level, self.level, self.error, self.known.classes)
        return np.bincount(self.known.task_type, each, self.known.types).astype(np.float64)

    @property
    def given_up(self) -> Bools:
        """Tasks that are so surely hard that labels tell next to nothing of them."""
        difficulty = self.beliefs.difficulty
        if not difficulty.share:
            return np.zeros(self.wanted.size, bool)
        return self.wanted & hopeless(difficulty, self.beliefs.hard_chance)

    @property
    def hard_and_other(self) -> tuple[float, float]:
        """Posterior errors of the tasks that are given up, and of the others, added up."""
        error, given_up = self.beliefs.error(), self.given_up
        return float(error[given_up].sum()), float(error[self.wanted & ~given_up].sum())

    def survey(self) -> float:
        """Count what is open; returns the posterior errors of the wanted tasks, added up."""
        from crowdopt.online.beliefs.belief_kernels import survey

        self.level[:] = np.where(self.given_up, -1.0, self.sure)
        others, kind = self.known.classes - 1.0, self.known.task_type
        return float(survey(self.beliefs.level, others, self.level, self.wanted, kind, self.left))

    def will_err(self, scale: float) -> bool:
        """Whether these errors over ``scale`` are above what is promised once what is out has told what is hoped."""
        from crowdopt.online.beliefs.belief_kernels import errs_more

        others = self.known.classes - 1.0
        return bool(errs_more(self.beliefs.level, self.beliefs.hoped, others, self.wanted, scale, self.promised))

    @property
    def will_be_open(self) -> bool:
        """Whether any task is open then."""
        from crowdopt.online.beliefs.belief_kernels import any_open

        return bool(any_open(self.beliefs.level, self.beliefs.hoped, self.level, self.wanted))

    def ask_more(self) -> None:
        """Every task is to be surer."""
        self.sure += RAISE
        self.survey()
