"""An assignment instance: who could label what, what it is worth, what is allowed. Frozen, each part checked once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.difficulty.hard_tasks import NONE, Difficulty
from crowdopt.crowd.families import dependence, joint_error, joint_need, refuse_rule
from crowdopt.crowd.gold.checks import floats
from crowdopt.crowd.gold.confusion import confusion_evidence, one_coin_like
from crowdopt.crowd.hard_needs import hard_bound, hard_need
from crowdopt.crowd.laws.coin_laws import CoinLaw
from crowdopt.crowd.stated.groups import Group, OwnRows
from crowdopt.crowd.stated.stated_law import CLASSES, StatedLaw
from crowdopt.crowd.stated.stated_limits import StatedLimits
from crowdopt.crowd.stated.stated_part import UNLIMITED, refuse_excess
from crowdopt.crowd.stated.stated_people import PRICES, StatedPeople
from crowdopt.crowd.stated.stated_tasks import StatedTasks
from crowdopt.crowd.votes.evidence import BHATTACHARYYA, bhattacharyya_error, guessing
from crowdopt.errors import InputError, public
from crowdopt.notebooks import InNotebooks

COVERAGE = 1e-9  # evidence, absolute, float64; how short of its need a planned task may be: solvers accept 1e-6
PART = 1_000_000  # entries of long arrays that are looked at together


@dataclass(frozen=True, eq=False)
class Origin:
    """The campaign that an instance was read from, and what was stated in place of its settings."""

    instance: AssignmentInstance  # as the campaign has it
    # settings that were stated: a plan records them even where they say what the campaign says
    stated: tuple[str, ...] = ()


@public
@dataclass(frozen=True, eq=False, init=False)
class AssignmentInstance(StatedLimits, StatedLaw, StatedTasks, StatedPeople, InNotebooks):
    """Tasks i of types tau(i), workers j with accuracies p, and the limits a plan must keep.

    Parameters
    ----------
    accuracy : (types, workers) float
        p, the chance that worker j labels a task of a type correctly, kept to ten digits. For accuracies per task,
        give one row per task and leave ``task_type`` out.
    task_type : (tasks,) int, optional
        Row of ``accuracy`` for each task; default: one row per task.
    capacity : (workers,) int
        M_j, the most tasks worker j will label (beside those in ``collected``).
    epsilon : float or (tasks,) float
        Target error probability, in (0, 1/2).
    rule : str, optional
        What makes a task's labels enough: ``exact-error``, ``bhattacharyya``, ``hoeffding``, ``probit`` or
        ``mean-error`` (crowd.votes.evidence). Default: the promise itself, ``exact-error``; ``bhattacharyya`` where
        no exact error is known, with confusion tables and several labels of workers who err together.
    cost : float, (workers,) or (types, workers)
        c, what a label is paid; at least 0.
    classes : int
        Number of classes a label chooses from.
    prior : (classes,) or (tasks, classes) float, optional
        Probability of each class before any label; default: all equal. The target is then the average error, not
        each class's.
    class_names : sequence of str, optional
        What the labels call the classes, in the prior's order.
    observed : bool
        Whether what the collected labels say is in the prior already: they then add no evidence, and the guarantee is
        conditional on them.
    difficulty : Difficulty or (float, float)
        How many tasks are hard for all workers, and what is left of skill there (crowdopt.crowd.hard_needs), such as
        ``(.1, .5)``; the accuracies are then those on easy tasks. For the rule exact-error.
    confusion : (types, workers, classes, classes) float, optional
        Chances to say the last class where the one before is true. The accuracies are then those of one-coin workers
        who tell as much of the pair of classes that is hardest to tell apart (:meth:`with_confusion`), and votes are by
        log-likelihood. For the rule bhattacharyya.
    vote_law : CoinLaw, optional
        How votes on a task depend on one another (crowdopt.crowd.laws): adaptive plans and answers go by it in place
        of accuracies and difficulty; plans of fixed sets do not. For two classes.
    forbidden, fixed, collected : (k, 2) int, optional
        Pairs (task, worker) that must not be in the plan; that must be; whose label is already in (it counts
        towards the need and towards the task's label limits, and cannot be had again).
    min_labels, max_labels : (tasks,) int, optional
        Limits on the number of labels of a task, collected ones included.
    min_load : (workers,) int, optional
        The fewest tasks a worker must get.
    budget : float, optional
        The most the plan may cost.
    groups : sequence or mapping of Group, optional
        Groups of workers with limits on their labels; families of workers who err together.
    own_rows : OwnRows, optional
        Any other linear limits that a plan must keep.
    demand : float or (tasks,) float
        Share of the rule's need that has to be covered; 1 but for the papers' approximated and sampled programs.
    tasks, workers, types : sequences of str, optional
        Ids. Default: 0, 1, 2, ...
    title, skills_source : str
        What this is; where the accuracies come from.
    origin : Origin, optional
        The campaign it was read from; stays what it is when fields are replaced (crowdopt.io.campaign.overrides).

    Raises
    ------
    InputError
        If anything is missing, out of range, of the wrong shape or contradictory; the sentence says what and where.
    """

    in_notebooks: ClassVar[tuple[str, ...]] = ("n_tasks", "n_workers", "n_types")

    title: str
    skills_source: str
    origin: Origin | None = field(repr=False)

    def __init__(
        self,
        accuracy: ArrayLike,
        task_type: ArrayLike | None = None,
        capacity: ArrayLike | None = None,
        epsilon: ArrayLike | None = None,
        *,
        rule: str | None = None,
        cost: ArrayLike = 1.0,
        classes: int = 2,
        prior: ArrayLike | None = None,
        class_names: Sequence[str] | None = None,
        observed: bool = False,
        difficulty: Difficulty | tuple[float, float] = NONE,
        confusion: ArrayLike | None = None,
        vote_law: CoinLaw | None = None,
        forbidden: ArrayLike | None = None,
        fixed: ArrayLike | None = None,
        collected: ArrayLike | None = None,
        min_labels: ArrayLike | None = None,
        max_labels: ArrayLike | None = None,
        min_load: ArrayLike | None = None,
        budget: float | None = None,
        groups: Sequence[Group] | Mapping[str, Any] | None = (),
        own_rows: OwnRows | None = None,
        demand: ArrayLike = 1.0,
        tasks: Sequence[str] | None = None,
        workers: Sequence[str] | None = None,
        types: Sequence[str] | None = None,
        title: str = "",
        skills_source: str = "given",
        origin: Origin | None = None,
    ) -> None:
        # the one list of what an instance states; each part then checks its own and keeps it as arrays
        given = dict(locals())
        del given["self"]
        for name, value in given.items():
            object.__setattr__(self, name, value)
        if capacity is None or epsilon is None:
            raise InputError("an instance needs a capacity for each worker and an epsilon; give both")
        self._check_people()
        self._check_tasks(self.n_types)
        self._check_limits(self, self.n_tasks)
        self._check_law(self.accuracy, self.n_tasks, bool((self.dependence == 1).all()))
        refuse_rule(self.rule, self.observed, self.dependence, self.task_id)
        _check_contradictions(self)

    @cached_property
    def evidence(self) -> Floats:
        """q: evidence of one label, shape (types, workers)."""
        return self.the_rule.evidence(self.accuracy, self.classes)

    @cached_property
    def weight(self) -> Floats:
        """w: vote weight of one label, shape (types, workers)."""
        return self.the_rule.weight(self.accuracy, self.classes)

    @cached_property
    def dependence(self) -> Ints:
        """The most labels that each task can have of workers who err together, at least 1, shape (tasks,)."""
        return dependence(self.groups, self.collected, self.n_tasks)

    @cached_property
    def need(self) -> Floats:
        """C: evidence each task needs in all, shape (tasks,); more where workers err together, or tasks are hard."""
        if self.difficulty.share:
            return self.demand * hard_need(self.epsilon, self.prior, self.difficulty)
        return self.demand * joint_need(self.the_rule, self.epsilon, self.prior, self.dependence)

    @cached_property
    def collected_evidence(self) -> Floats:
        """Evidence of the labels already in, shape (tasks,); none where the prior knows them."""
        return np.zeros(self.n_tasks) if self.observed else self.supply(self.collected)

    @cached_property
    def residual_need(self) -> Floats:
        """Evidence that is still missing, at least 0, shape (tasks,)."""
        return np.maximum(0.0, self.need - self.collected_evidence)

    @cached_property
    def floor(self) -> Floats:
        """Evidence that every acceptable plan adds, (tasks,): the residual need less COVERAGE, and a hair for noise.

        Programs have this on their cover rows, so that their bounds hold for every plan that counts as covered.
        """
        return np.maximum(0.0, self.residual_need - COVERAGE * (1 + 1e-3))

    @cached_property
    def collected_count(self) -> Ints:
        """Labels already in, shape (tasks,)."""
        return np.bincount(self.collected[:, 0], minlength=self.n_tasks)

    @cached_property
    def new_label_limits(self) -> tuple[Ints, Ints]:
        """Fewest and most labels that may be added to each task, each (tasks,), collected ones taken off."""
        fewest = np.maximum(0, self.min_labels - self.collected_count)
        unlimited = self.max_labels == UNLIMITED
        most = np.where(unlimited, UNLIMITED, np.maximum(0, self.max_labels - self.collected_count))
        return fewest, most

    def supply(self, pairs: Ints, amounts: Floats | None = None) -> Floats:
        """Evidence that pairs (task, worker) bring to each task, summed in their order, shape (tasks,)."""
        total = np.zeros(self.n_tasks)
        for part in parts(len(pairs)):
            some = pairs[part]
            evidence = self.evidence[self.task_type[some[:, 0]], some[:, 1]]
            np.add.at(total, some[:, 0], evidence if amounts is None else evidence * amounts[part])
        return total

    def price(self, task: Any, worker: Any) -> Floats:
        """What labels are paid, (k,); task, worker: (k,) array of int each, or one for all."""
        return self.cost[self.task_type[task], worker]

    def prices(self, pairs: Ints) -> Floats:
        """What each pair's label is paid, shape (k,)."""
        paid = np.empty(len(pairs))
        for part in parts(len(pairs)):
            paid[part] = self.price(pairs[part, 0], pairs[part, 1])
        return paid

    def error_bound(self, evidence: Floats) -> Floats:
        """What is guaranteed of tasks with this much evidence, (tasks,): never above guessing the likeliest class.

        The rule's own error, or the rule bhattacharyya's where the rule promises nothing by itself; where several
        labels of a task may err together, the theorem of crowdopt.crowd.families, which a guess does not cap.
        """
        if self.difficulty.share:
            return hard_bound(np.asarray(evidence, dtype=np.float64), self.prior, self.difficulty)
        error, given = bhattacharyya_error if self.the_rule.checked else self.the_rule.error_of, np.asarray(evidence)
        alone = np.minimum(guessing(self.prior), error(given.astype(np.float64), self.prior))
        if (self.dependence == 1).all():
            return alone
        return np.where(self.dependence > 1, joint_error(self.the_rule, given, self.prior, self.dependence), alone)

    def given(self, posterior: Floats) -> AssignmentInstance:
        """The instance given what the collected labels say: each task's prior, (tasks, classes), is its posterior."""
        return replace(self, prior=posterior, observed=True, vote_law=None)

    def with_difficulty(self, difficulty: Difficulty) -> AssignmentInstance:
        """The instance whose plans heed difficulty, such as :func:`crowd.difficulty.difficulty_fit.fitted` finds it.

        A fit is in units of the edges that were believed: these are scaled to what they are on easy tasks.
        """
        accuracy = np.clip(0.5 + difficulty.easy * (self.accuracy - 0.5), 0.0, 1.0)
        stated = replace(difficulty, hard=difficulty.left, easy=1.0)
        return replace(self, accuracy=accuracy, difficulty=stated)

    def with_confusion(self, confusion: ArrayLike) -> AssignmentInstance:
        """The instance with a confusion table for each type and worker, and accuracies that tell as much.

        No rule of exact errors knows such tables: ``bhattacharyya`` takes its place.
        """
        tables = floats("confusion", confusion)
        told = [one_coin_like(confusion_evidence(table), int(self.classes)) for table in tables]
        rule = BHATTACHARYYA.name if self.the_rule.checked else self.rule
        return replace(self, accuracy=np.stack(told), confusion=tables, rule=rule)

    def as_read(self) -> AssignmentInstance:
        """The same instance with the campaign that it was read from."""
        known = copy(self)
        object.__setattr__(known, "origin", Origin(self))
        return known

    def with_epsilon(self, epsilon: float) -> AssignmentInstance:
        """The same instance with one error target for every task."""
        return replace(self, epsilon=np.asarray(epsilon))


def parts(size: int, each: int = PART) -> Iterator[slice]:
    """A long array in parts, so that what is computed from it needs little memory beside it."""
    return (slice(start, min(start + each, size)) for start in range(0, size, each))


def _check_contradictions(instance: AssignmentInstance) -> None:
    """Refuse limits that contradict one another whatever the evidence: each has one obvious remedy."""
    n, m = instance.n_tasks, instance.n_workers
    fixed = instance.fixed
    key = instance.pair_keys(fixed)
    for name, remedy in (("forbidden", "drop one of the two"), ("collected", "drop it from the fixed pairs")):
        other = getattr(instance, name)
        clash = np.isin(key, instance.pair_keys(other))
        if clash.any():
            task, worker = fixed[clash][0]
            pair = f"(task {instance.task_id(task)}, worker {instance.worker_id(worker)})"
            raise InputError(f"the pair {pair} is both fixed and {name}; {remedy}")
    load = np.bincount(fixed[:, 1], minlength=m)
    labels = np.bincount(fixed[:, 0], minlength=n)
    refuse_excess(load, instance.capacity, "fixed tasks", "capacity", ("worker", instance.worker_id))
    most = instance.new_label_limits[1]
    refuse_excess(labels, most, "fixed labels", "room under max_labels", ("task", instance.task_id))


__all__ = ["CLASSES", "COVERAGE", "PRICES", "UNLIMITED", "AssignmentInstance", "Origin", "parts"]
