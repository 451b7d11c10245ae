"""An assignment instance: who could label what, what it is worth, what is allowed. Frozen, validated once, here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.difficulty.hard_tasks import NONE, Difficulty
from crowdopt.crowd.families import dependence, joint_error, joint_need, refuse_rule
from crowdopt.crowd.gold.checks import chances, floats, ids, integers, is_amount, per
from crowdopt.crowd.gold.confusion import checked_tables, class_votes, confusion_evidence, one_coin_like
from crowdopt.crowd.groups import Group, OwnRows, checked_groups, checked_rows
from crowdopt.crowd.hard_needs import hard_bound, hard_need, refuse_difficulty
from crowdopt.crowd.votes.evidence import BHATTACHARYYA, EXACT_ERROR, Rule, bhattacharyya_error, guessing, rule_named
from crowdopt.errors import InputError
from crowdopt.notebooks import InNotebooks

_ABSENT: Any = None  # as given; what the instance then holds is always an array
_DEFAULT_ONE: Any = 1.0
COVERAGE = 1e-9  # evidence, absolute, float64; how short of its need a planned task may be: solvers accept 1e-6
PRICES = (1e-3, 1e6)  # a positive price lies between these: solvers' tolerances are absolute
PART = 1_000_000  # entries of long arrays that are looked at together
CLASSES = 10_000  # at most
UNLIMITED = np.iinfo(np.int64).max  # a task's largest number of labels where none is set


@dataclass(frozen=True, eq=False)
class Origin:
    """The campaign that an instance was read from, and what was stated in place of its settings."""

    instance: AssignmentInstance  # as the campaign has it
    # settings that were stated: a plan records them even where they say what the campaign says
    stated: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class AssignmentInstance(InNotebooks):
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
    difficulty : Difficulty
        How many tasks are hard for all workers, and what is left of skill there (crowdopt.crowd.hard_needs); the
        accuracies are then those on easy tasks. For the rule exact-error.
    confusion : (types, workers, classes, classes) float, optional
        Chances to say the last class where the one before is true. The accuracies are then those of one-coin workers
        who tell as much of the pair of classes that is hardest to tell apart (:meth:`with_confusion`), and votes are by
        log-likelihood. For the rule bhattacharyya.
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
        Groups of workers with limits on their labels (crowdopt.crowd.groups); families of workers who err together.
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

    accuracy: Floats
    task_type: Ints = _ABSENT
    capacity: Ints = _ABSENT
    epsilon: Floats = _ABSENT
    _: KW_ONLY
    rule: str = _ABSENT
    cost: Floats = _DEFAULT_ONE
    classes: int = 2
    prior: Floats = _ABSENT
    class_names: Sequence[str] | None = None
    observed: bool = False
    difficulty: Difficulty = NONE
    confusion: Floats | None = None
    forbidden: Ints = _ABSENT
    fixed: Ints = _ABSENT
    collected: Ints = _ABSENT
    min_labels: Ints = _ABSENT
    max_labels: Ints = _ABSENT
    min_load: Ints = _ABSENT
    budget: float | None = None
    groups: tuple[Group, ...] = ()
    own_rows: OwnRows | None = None
    demand: Floats = _DEFAULT_ONE
    tasks: Sequence[str] | None = None
    workers: Sequence[str] | None = None
    types: Sequence[str] | None = None
    title: str = ""
    skills_source: str = "given"
    origin: Origin | None = field(default=None, repr=False)

    if TYPE_CHECKING:  # what may be given; what the instance then holds is said above

        def __init__(
            self,
            accuracy: ArrayLike,
            task_type: ArrayLike | None = None,
            capacity: ArrayLike = ...,
            epsilon: ArrayLike = ...,
            *,
            rule: str | None = None,
            cost: ArrayLike = 1.0,
            classes: int = 2,
            prior: ArrayLike | None = None,
            class_names: Sequence[str] | None = None,
            observed: bool = False,
            difficulty: Difficulty = NONE,
            confusion: ArrayLike | None = None,
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
        ) -> None: ...

    def __post_init__(self) -> None:
        accuracy = chances("accuracy", self.accuracy)
        if accuracy.ndim != 2 or 0 in accuracy.shape:
            raise InputError(f"accuracy must be a (types, workers) table with entries, not of shape {accuracy.shape}")
        self._keep("accuracy", accuracy)
        given = np.arange(accuracy.shape[0]) if self.task_type is None else self.task_type
        self._keep("task_type", integers("task_type", given))
        if self.task_type.ndim != 1 or self.task_type.size == 0:
            raise InputError("task_type must be a list with one row of accuracy per task, and there must be a task")
        n, m, kinds = self.n_tasks, self.n_workers, self.n_types
        if self.capacity is None or self.epsilon is None:
            raise InputError("an instance needs a capacity for each worker and an epsilon; give both")
        self._keep("capacity", per("capacity", self.capacity, m, "worker", np.int64))
        self._keep("epsilon", per("epsilon", self.epsilon, n, "task", np.float64))
        self._keep("demand", per("demand", self.demand, n, "task", np.float64))
        self._keep("cost", _prices(self.cost, kinds, m))
        self._keep("min_labels", per("min_labels", _or(self.min_labels, 0), n, "task", np.int64))
        self._keep("max_labels", per("max_labels", _or(self.max_labels, UNLIMITED), n, "task", np.int64))
        self._keep("min_load", per("min_load", _or(self.min_load, 0), m, "worker", np.int64))
        for name in ("forbidden", "fixed", "collected"):
            self._keep(name, _pairs(name, getattr(self, name), n, m))
        for name, count in (("tasks", n), ("workers", m), ("types", kinds)):
            object.__setattr__(self, name, ids(name, getattr(self, name), count))
        _check_ranges(self)
        self._keep("prior", _priors(self.prior, n, self.classes))
        object.__setattr__(self, "class_names", ids("class_names", self.class_names, int(self.classes)))
        object.__setattr__(self, "groups", checked_groups(self.groups, self.worker_id, m))
        object.__setattr__(self, "own_rows", checked_rows(self.own_rows, n, m))
        if self.rule is None:
            known = self.confusion is None and bool((self.dependence == 1).all())
            object.__setattr__(self, "rule", (EXACT_ERROR if known else BHATTACHARYYA).name)
        if self.observed and not rule_named(str(self.rule), int(self.classes)).heeds_prior:
            raise InputError(f"rule {self.rule} takes no notice of what labels say; use rule bhattacharyya")
        rule_named(str(self.rule), int(self.classes))
        refuse_rule(self.rule, self.observed, self.dependence, self.task_id)
        tables = checked_tables(self.confusion, self.accuracy, int(self.classes), self.rule)
        if tables is not None:
            self._keep("confusion", tables)
        refuse_difficulty(self.difficulty, self.rule, int(self.classes), self.observed)
        _check_contradictions(self)

    def _keep(self, name: str, array: NDArray[Any]) -> None:
        array.setflags(write=False)
        object.__setattr__(self, name, array)

    in_notebooks: ClassVar[tuple[str, ...]] = ("n_tasks", "n_workers", "n_types")

    @property
    def n_tasks(self) -> int:
        """Tasks, n."""
        return len(self.task_type)

    @property
    def n_workers(self) -> int:
        """Workers, m."""
        return int(self.accuracy.shape[1])

    @property
    def n_types(self) -> int:
        """Types of task, T: the rows of ``accuracy``."""
        return int(self.accuracy.shape[0])

    @property
    def the_rule(self) -> Rule:
        """The evidence rule itself."""
        return rule_named(self.rule, self.classes)

    @cached_property
    def evidence(self) -> Floats:
        """q: evidence of one label, shape (types, workers)."""
        return self.the_rule.evidence(self.accuracy, self.classes)

    @cached_property
    def weight(self) -> Floats:
        """w: vote weight of one label, shape (types, workers)."""
        return self.the_rule.weight(self.accuracy, self.classes)

    @cached_property
    def votes(self) -> Floats | None:
        """``ln P(label | class)`` where there are confusion tables, shape (types, workers, labels, classes)."""
        if self.confusion is None:
            return None
        return np.stack([class_votes(table) for table in self.confusion])

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

    @property
    def has_prior(self) -> bool:
        """Whether some class is likelier than another before any label."""
        return bool((self.prior != 1 / self.classes).any())

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

    @cached_property
    def barred(self) -> Ints:
        """Pairs that cannot be chosen, (k, 2): forbidden ones and those already collected."""
        both = np.concatenate([self.forbidden, self.collected])
        return np.unique(both, axis=0)

    def supply(self, pairs: Ints, amounts: Floats | None = None) -> Floats:
        """Evidence that pairs (task, worker) bring to each task, summed in their order, shape (tasks,)."""
        total = np.zeros(self.n_tasks)
        for part in parts(len(pairs)):
            some = pairs[part]
            evidence = self.evidence[self._rows(some), some[:, 1]]
            np.add.at(total, some[:, 0], evidence if amounts is None else evidence * amounts[part])
        return total

    def prices(self, pairs: Ints) -> Floats:
        """What each pair's label is paid, shape (k,)."""
        paid = np.empty(len(pairs))
        for part in parts(len(pairs)):
            paid[part] = self.cost[self._rows(pairs[part]), pairs[part, 1]]
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

    def task_id(self, task: int) -> str:
        """Id of a task."""
        return str(task) if self.tasks is None else self.tasks[task]

    def worker_id(self, worker: int) -> str:
        """Id of a worker."""
        return str(worker) if self.workers is None else self.workers[worker]

    def type_id(self, kind: int) -> str:
        """Id of a type; with a single unnamed one, ``all``."""
        if self.types is None:
            return "all" if self.n_types == 1 else str(kind)
        return self.types[kind]

    def given(self, posterior: Floats) -> AssignmentInstance:
        """The instance once the collected labels are seen: what they say is each task's prior, (tasks, classes)."""
        return replace(self, prior=posterior, observed=True)

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
        """The same instance, which remembers that a campaign says all of this."""
        known = copy(self)
        object.__setattr__(known, "origin", Origin(self))
        return known

    def with_epsilon(self, epsilon: float) -> AssignmentInstance:
        """The same instance with one error target for every task."""
        return replace(self, epsilon=np.asarray(epsilon))

    def _rows(self, pairs: Ints) -> Ints:
        return self.task_type[pairs[:, 0]]


def parts(size: int, each: int = PART) -> Iterator[slice]:
    """A long array in parts, so that what is computed from it needs little memory beside it."""
    return (slice(start, min(start + each, size)) for start in range(0, size, each))


def _or(value: Any, default: int) -> Any:
    return default if value is None else value


def _prices(values: Any, kinds: int, m: int) -> Floats:
    array = floats("cost", values)
    if array.ndim > 2 or array.shape not in ((), (m,), (kinds, m)):
        raise InputError(
            f"cost has shape {array.shape}; give one number, one per worker ({m}) or a table ({kinds}, {m})"
        )
    return np.broadcast_to(array, (kinds, m))


def _priors(values: Any, n: int, classes: int) -> Floats:
    """Class probabilities, (classes,) or (tasks, classes), each row adding up to 1."""
    if values is None:
        return np.full(classes, 1 / classes)
    prior = floats("prior", values)
    if prior.shape not in ((classes,), (n, classes)):
        raise InputError(f"prior has shape {prior.shape}; give one probability per class, that is {classes}")
    if not ((prior > 0) & (prior < 1)).all() or (np.abs(prior.sum(axis=-1) - 1) > 1e-9).any():
        raise InputError(
            f"prior must be positive numbers that add up to 1, not {prior.reshape(-1, classes)[0].tolist()}"
        )
    return prior


def _pairs(name: str, values: Any, n: int, m: int) -> Ints:
    try:
        pairs = np.zeros((0, 2), np.int64) if values is None or len(values) == 0 else integers(name, values)
    except (TypeError, ValueError) as error:
        raise error if isinstance(error, InputError) else InputError(f"{name} must be pairs (task, worker)") from None
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InputError(f"{name} must be pairs (task, worker), not of shape {pairs.shape}")
    outside = (pairs < 0).any(axis=1) | (pairs >= (n, m)).any(axis=1)
    if outside.any():
        task, worker = pairs[outside][0]
        raise InputError(f"{name} has the pair ({task}, {worker}), but there are {n} tasks and {m} workers")
    keys, counts = np.unique(pairs[:, 0] * m + pairs[:, 1], return_counts=True)
    if (counts > 1).any():
        task, worker = divmod(int(keys[counts > 1][0]), m)
        raise InputError(f"{name} has the pair ({task}, {worker}) twice; give each pair once")
    return pairs


def _check_ranges(instance: AssignmentInstance) -> None:
    if not isinstance(instance.classes, int | np.integer) or not 2 <= instance.classes <= CLASSES:
        raise InputError(f"classes must be a whole number from 2 to {CLASSES}, not {instance.classes}")
    _refuse(instance, "accuracy", (instance.accuracy < 0) | (instance.accuracy > 1), "must lie in [0, 1]")
    _refuse(instance, "cost", (instance.cost < 0) | np.isinf(instance.cost), "must be finite and at least 0")
    odd = (instance.cost > 0) & ((instance.cost < PRICES[0]) | (instance.cost > PRICES[1]))
    _refuse(instance, "cost", odd, f"must be 0 or between {PRICES[0]:g} and {PRICES[1]:g}; choose another unit")
    task, worker = instance.task_id, instance.worker_id
    kinds, epsilon = instance.task_type, instance.epsilon
    _refuse_one("task_type", kinds, (kinds < 0) | (kinds >= instance.n_types), "must be a row of accuracy", task)
    _refuse_one("capacity", instance.capacity, instance.capacity < 0, "must be at least 0", worker)
    outside = ~((epsilon > 0) & (epsilon < 0.5))
    _refuse_one("epsilon", epsilon, outside, "must lie strictly between 0 and 1/2 (0.05 is 5 %)", task)
    bad = ~((instance.demand >= 0) & (instance.demand < np.inf))
    _refuse_one("demand", instance.demand, bad, "must be finite and at least 0", task)
    for name, owner in (("min_labels", task), ("max_labels", task), ("min_load", worker)):
        limits = getattr(instance, name)
        _refuse_one(name, limits, limits < 0, "must be at least 0", owner)
    if instance.budget is not None and not is_amount(instance.budget):
        raise InputError(f"the budget must be finite and at least 0, not {str(instance.budget)[:40]}")


def _refuse(instance: AssignmentInstance, name: str, bad: NDArray[np.bool_], wanted: str) -> None:
    values = getattr(instance, name)
    bad = bad | np.isnan(values)
    if bad.any():
        kind, worker = (int(k) for k in np.argwhere(bad)[0])
        place = f"worker {instance.worker_id(worker)}, type {instance.type_id(kind)}"
        raise InputError(f"{name} {wanted}; it is {values[kind, worker]} for {place}")


def _refuse_one(name: str, values: NDArray[Any], bad: NDArray[np.bool_], wanted: str, owner: Any) -> None:
    if bad.any():
        where = int(np.flatnonzero(bad)[0])
        kind = "worker" if owner.__name__ == "worker_id" else "task"
        raise InputError(f"{name} {wanted}; it is {values[where]} for {kind} {owner(where)}")


def _check_contradictions(instance: AssignmentInstance) -> None:
    """Refuse limits that contradict one another whatever the evidence: each has one obvious remedy."""
    n, m = instance.n_tasks, instance.n_workers
    fixed = instance.fixed
    key = fixed[:, 0] * m + fixed[:, 1]
    for name, remedy in (("forbidden", "drop one of the two"), ("collected", "drop it from the fixed pairs")):
        other = getattr(instance, name)
        clash = np.isin(key, other[:, 0] * m + other[:, 1])
        if clash.any():
            task, worker = fixed[clash][0]
            pair = f"(task {instance.task_id(task)}, worker {instance.worker_id(worker)})"
            raise InputError(f"the pair {pair} is both fixed and {name}; {remedy}")
    load = np.bincount(fixed[:, 1], minlength=m)
    labels = np.bincount(fixed[:, 0], minlength=n)
    _refuse_excess(load, instance.capacity, "fixed tasks", "capacity", "worker", instance.worker_id)
    _refuse_excess(instance.min_load, instance.capacity, "as min_tasks", "capacity", "worker", instance.worker_id)
    most = instance.new_label_limits[1]
    _refuse_excess(labels, most, "fixed labels", "room under max_labels", "task", instance.task_id)
    _refuse_excess(instance.min_labels, instance.max_labels, "as min_labels", "max_labels", "task", instance.task_id)


def _refuse_excess(low: Ints, high: Ints, what: str, limit: str, owner: str, name: Any) -> None:
    if (low > high).any():
        where = int(np.flatnonzero(low > high)[0])
        raise InputError(f"{owner} {name(where)} has {low[where]} {what} but {limit} {high[where]}; change one of them")
