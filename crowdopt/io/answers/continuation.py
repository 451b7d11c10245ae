"""How a campaign goes on from labels that came back: by which rule, and what of the tasks that are not yet sure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.reach import asks, is_exhausted, out_of_reach
from crowdopt.crowd.rules import CHERNOFF, EXACT_ERROR, ROUNDING, dependence, guessing
from crowdopt.io.answers.labels_back import Answered

HEEDFUL = {"hoeffding": "bhattacharyya", "mean-error": "exact-error"}  # for rules that heed no single task's labels
COIN = 0.49  # an error from which nothing can be promised of a task
DIGITS = 1e4  # to which a target is rounded up


@dataclass(frozen=True, eq=False)
class Continuation:
    """The next campaign's rule and what it makes of each task that is not sure.

    A rule that takes no notice of what labels say, or of single tasks, gives way to one that does. Labels of workers
    who err together count as evidence, since no posterior is known of them, and so do those of tasks that may be hard,
    of which a posterior of the class is not all that is to be known.
    """

    found: Answered

    @cached_property
    def together(self) -> bool:
        """Whether some task has, or may have, several labels of workers who err together."""
        instance = self.found.instance
        return bool((dependence(instance.groups, self.found.pairs, instance.n_tasks) > 1).any())

    @property
    def observed(self) -> bool:
        """Whether what labels say of each task is its prior from here on."""
        adaptive = self.found.onward is not None and self.found.instance.the_rule.average
        return not self.together and not self.found.instance.errs_together and not adaptive

    @property
    def rule(self) -> str:
        """The rule by which the campaign goes on."""
        rule = self.found.instance.rule
        if self.found.onward is not None:
            return rule
        if self.observed:
            return HEEDFUL.get(rule, rule)
        return rule if rule in CHERNOFF or not self.together or self.found.instance.errs_together else CHERNOFF[0]

    @property
    def why(self) -> str:
        """What is wrong with the rule so far, where another takes over."""
        return "promises nothing of workers who err together" if self.together else "heeds no single task's labels"

    @cached_property
    def capacity(self) -> Ints:
        """What is left of the workers' capacity, (workers,)."""
        given = np.bincount(self.found.new[:, 1], minlength=self.found.instance.n_workers)
        return np.maximum(0, self.found.instance.capacity - given)

    @cached_property
    def exhausted(self) -> Ints:
        """Tasks that are not sure and can have no more labels within the limits, (k,)."""
        return np.flatnonzero(self._unsure & is_exhausted(self._next))

    @cached_property
    def out_of_reach(self) -> Ints:
        """Tasks that are not sure and need more than all labels that they can still have, though they can, (k,)."""
        return np.flatnonzero(self._unsure & out_of_reach(self._next) & ~is_exhausted(self._next))

    @cached_property
    def accepted(self) -> Ints:
        """Tasks that no labels left can bring to their target, taken as they are if asked for and below COIN, (k,)."""
        tasks = np.union1d(self.exhausted, self.out_of_reach)
        if not self.found.accept or not self.observed or self.found.onward is not None:
            return tasks[:0]
        return tasks[guessing(self.found.answers.posterior[tasks]) < COIN]

    @cached_property
    def epsilon(self) -> Floats:
        """Targets of the next campaign, (tasks,): accepted tasks have what their labels leave, rounded up."""
        if self.found.onward is not None:
            return self.found.onward.targets
        epsilon, tasks = self.found.instance.epsilon.copy(), self.accepted
        epsilon[tasks] = np.ceil(guessing(self.found.answers.posterior[tasks]) * DIGITS) / DIGITS
        return epsilon

    @cached_property
    def within_exact_reach(self) -> Ints:
        """Those of ``out_of_reach`` whose target the rule exact-error can keep, (k,): it asks no more than it must."""
        rule, tasks = EXACT_ERROR.name, self.out_of_reach
        if not self.observed or self.rule == rule or self._next.confusion is not None or not tasks.size:
            return tasks[:0]
        return tasks[~out_of_reach(replace(self._next, rule=rule))[tasks]]

    @property
    def sure_by_its_votes(self) -> Ints:
        """Tasks that are not sure by the votes of the rule so far, but are by those of the next one, (k,)."""
        if not self.observed:
            return np.zeros(0, np.int64)
        return np.flatnonzero(self._unsure & (guessing(self._next.prior) <= self._next.epsilon + ROUNDING))

    @cached_property
    def asked_once_more(self) -> Ints:
        """Tasks not sure with all that the rule asks, (k,): a label more each; none where the prior has seen labels."""
        if self.observed or self.found.onward is not None or not self._unsure.any():
            return np.zeros(0, np.int64)
        return np.flatnonzero(self._unsure & ~is_exhausted(self._next) & ~asks(self._next))

    @cached_property
    def forbidden(self) -> Ints:
        """Pairs that the next plan may not have, (k, 2): the campaign's, abstentions, and labels that say nothing.

        The last of tasks that get one label more: it has to say something.
        """
        instance, again = self.found.instance, self.asked_once_more
        useless = np.zeros((instance.n_tasks, instance.n_workers), bool)
        useless[again] = instance.evidence[instance.task_type[again]] <= 0
        for pairs in (self._barred, instance.fixed, self.found.pairs):
            useless[tuple(pairs.T)] = False
        return np.concatenate([self._barred, np.argwhere(useless)])

    @cached_property
    def _barred(self) -> Ints:
        """The campaign's forbidden pairs and the abstentions, each once."""
        forbidden, silent, keys = self.found.instance.forbidden, self.found.skipped, self.found.instance.pair_keys
        new = ~np.isin(keys(silent), keys(forbidden))
        return np.concatenate([forbidden, silent[new]])

    @property
    def _unsure(self) -> Bools:
        return ~self.found.answers.sure

    @cached_property
    def _next(self) -> AssignmentInstance:
        instance = self.found.instance
        hard = instance.errs_together  # no rule knows hard tasks and workers who err together
        counted = replace(
            instance,
            rule=self.rule,
            collected=self.found.pairs,
            capacity=self.capacity,
            forbidden=self._barred,
            fixed=instance.fixed[:0],
            min_load=np.zeros(instance.n_workers, np.int64),
            own_rows=None,
            groups=tuple(
                replace(group, dependent=group.dependent and not hard, min_share=0.0, max_share=1.0)
                for group in instance.groups
            ),
        )
        return counted.given(self.found.answers.posterior) if self.observed else counted
