"""Answers that an expert looks at once the labels are in: which are wanted, which is out, and what was told."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdopt.arrays import Bools
from crowdopt.crowd.instance import COVERAGE
from crowdopt.crowd.labels import CHECK
from crowdopt.live.live_rows import LookRow
from crowdopt.online.crowds import LOOKS
from crowdopt.online.ledger import KINDS, Run
from crowdopt.online.run_score import answers_of, claimed_error

OWN = ("drawn", "wanted", "out", "told", "seen", "passed", "price", "answer")


class LiveLooks:
    """First the answers that the policy draws, to hold its claims against, as ``compare`` has them looked at; then
    those that are not sure, one by one and the least sure first, until the target is met or the money is used up.

    A look costs what the policy says, in units of a middling label's price. Its answer is the task's; of the workers
    who labelled it, a policy that learns skills learns as from gold.
    """

    def __init__(self, course: Any) -> None:
        self.course = course
        self.drawn = False  # whether the policy has drawn
        self.wanted: list[int] = []  # tasks that were not handed out yet
        self.out: dict[int, int] = {}  # lease -> task
        self.told: dict[int, int] = {}  # lease -> task whose answer came
        self.seen: dict[int, int] = {}  # task -> its class
        self.passed: list[int] = []  # tasks of which the expert could not tell
        self.price: dict[int, float] = {}  # of each task that is or was wanted
        self.answer: dict[int, int] = {}  # that its labels had led to

    @property
    def paid(self) -> float:
        """What all looks cost so far."""
        return float(sum(self.price[task] for task in self.seen))

    def due(self) -> list[Any]:
        """What is to be looked at next, as plain JSON: the price of a look, and tasks; empty: nothing now."""
        if self.wanted or self.out or not self.course.at_rest:
            return []
        run = self.course.run()
        done = [kind for kind in KINDS if kind != CHECK]
        labels, spent = (np.array([of[kind] for kind in done]) for of in (run.labels, run.cost))
        price = float(self.course.policy.look) * float(spent.sum()) / max(1, int(labels.sum()))
        tasks = [] if self.drawn else self._drawn(int(labels.sum()))
        tasks = (tasks or self._unsure(run))[: self.course.limits.affords(price)]
        return [price, *tasks] if tasks else []

    def draw(self, due: list[Any]) -> None:
        """They are wanted, and their price is reserved."""
        price, *tasks = due
        answers = answers_of(self.course.run())
        self.drawn, self.wanted = True, tasks
        self.price |= dict.fromkeys(tasks, price)
        self.answer |= {task: int(answers[task]) for task in tasks}
        self.course.limits.spent += price * len(tasks)

    def next_task(self) -> str | None:
        """What the expert is handed next."""
        return self.course.instance.task_id(self.wanted[0]) if self.wanted else None

    def lease(self, lease: int) -> None:
        """The expert was handed it."""
        self.out[lease] = self.wanted.pop(0)

    def tell(self, lease: int, label: int) -> None:
        """The expert's answer, or another one in its place."""
        task = self.told[lease] if lease in self.told else self.out.pop(lease)
        before, self.seen[task], self.told[lease] = self.seen.get(task, -1), label, task
        self.course.limits.closed.add(task)
        self.course.turns.leave()
        self.course.policy.inspected(np.array([task]), np.array([label]))
        self.course.policy.vouched(task, label, before)

    def give_back(self, lease: int) -> None:
        """The expert cannot tell, and is not asked again; the look costs nothing."""
        task = self.out.pop(lease)
        self.passed.append(task)
        self.course.limits.spent -= self.price[task]

    def rows(self, classes: tuple[str, ...]) -> list[LookRow]:
        """All that is or was wanted, in the order in which it was drawn."""
        status = dict.fromkeys(self.wanted, "waiting") | dict.fromkeys(self.out.values(), "out")
        status |= dict.fromkeys(self.seen, "told") | dict.fromkeys(self.passed, "passed")
        return [
            LookRow(
                self.course.instance.task_id(task),
                status[task],
                classes[self.answer[task]] if self.answer[task] >= 0 else "",
                classes[self.seen[task]] if task in self.seen else "",
                price if task in self.seen else 0.0,
            )
            for task, price in self.price.items()
        ]

    def snapshot(self) -> dict[str, Any]:
        """Its state, by name."""
        return {name: getattr(self, name) for name in OWN}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from it."""
        for name, value in state.items():
            setattr(self, name, value)
        self.course.limits.closed = set(self.seen)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _drawn(self, labels: int) -> list[int]:
        """By the policy, with the generator of a replay."""
        rng = np.random.default_rng([self.course.settings.seed, LOOKS])
        tasks = self.course.policy.inspect(labels, rng)
        return [] if tasks is None else tasks.tolist()

    def _unsure(self, run: Run) -> list[int]:
        """The least sure task that is not as sure as it is to be, where the target is not met without it."""
        claim, instance = claimed_error(run), self.course.instance
        if claim is None:
            return []
        wanted, left = instance.need > COVERAGE, self._left()
        claim = np.where(np.isin(np.arange(claim.size), list(self.seen)), 0.0, claim)
        if self.course.policy.on_average and claim[wanted].sum() <= instance.epsilon[wanted].sum():
            return []
        short = np.flatnonzero(wanted & left & (claim > instance.epsilon + COVERAGE))
        return [int(short[np.argmax(claim[short])])] if short.size else []

    def _left(self) -> Bools:
        left = np.ones(self.course.instance.n_tasks, bool)
        left[list(self.price)] = False
        return left
