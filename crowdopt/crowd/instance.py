"""An assignment instance: who could label what, what it is worth, what is allowed. Frozen, each field checked once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from crowdopt.arrays import CELLS, Bools, Floats, Ints, places
from crowdopt.crowd.groups import (
    Group,
    OwnRows,
    chances,
    checked_groups,
    checked_pairs,
    checked_rows,
    floats,
    ids,
    integers,
    is_amount,
    per,
    refuse_excess,
)
from crowdopt.crowd.law import (
    NONE,
    Coins,
    Difficulty,
    Given,
    Law,
    checked_tables,
    coins_like,
)
from crowdopt.crowd.rules import (
    BHATTACHARYYA,
    EXACT_ERROR,
    Rule,
    bhattacharyya_error,
    dependence,
    guessing,
    hard_bound,
    hard_need,
    joint_error,
    joint_need,
    refuse_rule,
    rule_named,
)
from crowdopt.errors import InputError, public
from crowdopt.notebooks import InNotebooks

if TYPE_CHECKING:
    from crowdopt.crowd.gold import Gold

COVERAGE = 1e-9  # evidence, absolute, float64; how short of its need a planned task may be: solvers accept 1e-6
CLASSES = 10_000  # at most
PRICES = (1e-3, 1e6)  # a positive price lies between these: solvers' tolerances are absolute
UNLIMITED = np.iinfo(np.int64).max  # a task's largest number of labels where none is set


AMOUNT = (0.0, float(np.finfo(np.float64).max), "must be finite and at least 0")
COUNT = (0.0, np.inf, "must be at least 0")
INSIDE = (np.nextafter(0, 1), np.nextafter(0.5, 0), "must lie strictly between 0 and 1/2 (0.05 is 5 %)")


@dataclass(frozen=True)
class Field:
    """What an instance states, once: checks, restrictions, archives and what plans record come from these."""

    # what it has an entry of: task, worker, cell (a type and a worker), pair, type or class; else there is one
    of: str = ""
    kind: type = object  # of an entry
    low: float = -np.inf
    high: float = np.inf
    says: str = ""  # what an entry must be
    default: float | None = None  # of every entry, where the field may be left out
    key: str = ""  # under which plan.json records it in place of the campaign's
    beyond: str = ""  # what differs from the campaign, where plan.json only names it
    name: str = ""


def _states(of: str = "", kind: type = object, *limits: Any, **more: Any) -> Any:
    return field(metadata={"states": Field(of, kind, *limits, **more)})


@dataclass(frozen=True, eq=False)
class Origin:
    """The campaign that an instance was read from, and what was stated in place of its settings."""

    instance: AssignmentInstance  # as the campaign has it
    # settings that were stated: a plan records them even where they say what the campaign says
    stated: tuple[str, ...] = ()
    gold: Gold | None = None  # that the campaign's skills come from


@public
@dataclass(frozen=True, eq=False, init=False)
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
        ``mean-error`` (crowd.rules). Default: the promise itself, ``exact-error``; ``bhattacharyya`` where
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
        How many tasks are hard for all workers, and what is left of skill there (crowdopt.crowd.rules), such as
        ``(.1, .5)``; the accuracies are then those on easy tasks. For the rule exact-error.
    confusion : (types, workers, classes, classes) float, optional
        Chances to say the last class where the one before is true. The accuracies are then those of one-coin workers
        who tell as much of the pair of classes that is hardest to tell apart (:meth:`with_confusion`), and votes are by
        log-likelihood. For the rule bhattacharyya.
    vote_law : Law, optional
        How votes on a task depend on one another (crowdopt.crowd.gold): adaptive plans and answers go by it in
        place of accuracies and difficulty; plans of fixed sets do not. For two classes.
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
        The campaign it was read from; stays what it is when fields are replaced (crowdopt.io.settings).

    Raises
    ------
    InputError
        If anything is missing, out of range, of the wrong shape or contradictory; the sentence says what and where.
    """

    in_notebooks: ClassVar[tuple[str, ...]] = ("n_tasks", "n_workers", "n_types")

    accuracy: Floats = _states("cell", float, 0, 1, "must lie in [0, 1]", beyond="skills")
    task_type: Ints = _states("task", int, beyond="tasks or their types")
    capacity: Ints = _states("worker", int, *COUNT, key="capacity")
    epsilon: Floats = _states("task", float, *INSIDE, key="epsilon")
    rule: str = _states("", str, key="rule")
    cost: Floats = _states("cell", float, *AMOUNT, key="price")
    classes: int = _states("", int, beyond="number of classes")
    prior: Floats = _states("class", float, beyond="prior")
    class_names: Sequence[str] | None = _states("class", str)
    observed: bool = _states("", bool, beyond="use of the labels already in")
    difficulty: Difficulty = _states(key="difficulty")
    confusion: Floats | None = _states("cell", float, beyond="skills")
    vote_law: Law | None = _states(beyond="law of votes")
    forbidden: Ints = _states("pair", int, key="forbidden")
    fixed: Ints = _states("pair", int, key="fixed")
    collected: Ints = _states("pair", int, beyond="labels already in")
    min_labels: Ints = _states("task", int, *COUNT, 0, key="min_labels")
    max_labels: Ints = _states("task", int, *COUNT, UNLIMITED, key="max_labels")
    min_load: Ints = _states("worker", int, *COUNT, 0, key="min_tasks")
    budget: float | None = _states("", float, key="budget")
    groups: tuple[Group, ...] = _states(key="groups")
    own_rows: OwnRows | None = _states(key="rows")
    demand: Floats = _states("task", float, *AMOUNT, beyond="demand")
    tasks: Sequence[str] | None = _states("task", str, beyond="tasks")
    workers: Sequence[str] | None = _states("worker", str, beyond="workers")
    types: Sequence[str] | None = _states("type", str, beyond="types")
    title: str = _states("", str)
    skills_source: str = _states("", str)
    origin: Origin | None = field(default=None, repr=False)

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
        vote_law: Law | None = None,
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
        given = dict(locals())
        del given["self"]
        for name, value in given.items():
            object.__setattr__(self, name, value)
        if capacity is None or epsilon is None:
            raise InputError("an instance needs a capacity for each worker and an epsilon; give both")
        self._check_tables()
        self._check_limits()
        self._check_law()

    def _keep(self, **values: Any) -> None:
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)

    def _check_tables(self) -> None:
        """Numbers of each type and worker, each task, each worker; ids."""
        accuracy = chances("accuracy", self.accuracy)
        if accuracy.ndim != 2 or 0 in accuracy.shape:
            raise InputError(f"accuracy must be a (types, workers) table with entries, not of shape {accuracy.shape}")
        kinds, m = accuracy.shape
        task_type = integers("task_type", np.arange(kinds) if self.task_type is None else self.task_type)
        if task_type.ndim != 1 or task_type.size == 0:
            raise InputError("task_type must be a list with one row of accuracy per task, and there must be a task")
        self._keep(accuracy=accuracy, task_type=task_type, cost=_prices(self.cost, kinds, m))
        counts = {"task": task_type.size, "worker": m, "type": kinds}
        for one in (one for one in FIELDS if one.of in counts and one.kind is str):
            self._keep(**{one.name: ids(one.name, getattr(self, one.name), counts[one.of])})
        self._refuse("task_type", "task", (task_type < 0) | (task_type >= kinds), "must be a row of accuracy")
        for one in (one for one in FIELDS if one.says):
            values = getattr(self, one.name)
            if one.of in counts:
                values = one.default if values is None else values
                values = per(one.name, values, counts[one.of], one.of, np.int64 if one.kind is int else np.float64)
                self._keep(**{one.name: values})
            if not (values.min() >= one.low and values.max() <= one.high):  # no mask of all cells where none is bad
                self._refuse(one.name, one.of, ~((values >= one.low) & (values <= one.high)), one.says)
        if self.cost.min() < PRICES[0] or self.cost.max() > PRICES[1]:
            odd, says = (self.cost > 0) & ((self.cost < PRICES[0]) | (self.cost > PRICES[1])), "choose another unit"
            self._refuse("cost", "cell", odd, f"must be 0 or between {PRICES[0]:g} and {PRICES[1]:g}; {says}")
        refuse_excess(self.min_load, self.capacity, "as min_tasks", "capacity", ("worker", self.worker_id))
        refuse_excess(self.min_labels, self.max_labels, "as min_labels", "max_labels", ("task", self.task_id))

    def _refuse(self, name: str, of: str, bad: Bools, wanted: str) -> None:
        """InputError that names the first bad entry and where it stands."""
        if bad.any():
            where = tuple(np.argwhere(bad)[0].tolist())
            if of == "cell":
                place = f"worker {self.worker_id(where[1])}, type {self.type_id(where[0])}"
            else:
                place = f"{of} {(self.task_id if of == 'task' else self.worker_id)(where[0])}"
            raise InputError(f"{name} {wanted}; it is {getattr(self, name)[where]} for {place}")

    def _check_limits(self) -> None:
        """Pairs, budget, groups and own rows; limits that contradict one another whatever the evidence."""
        n, m = self.n_tasks, self.n_workers
        self._keep(**{name: checked_pairs(name, getattr(self, name), n, m) for name in PAIRS})
        if self.budget is not None and not is_amount(self.budget):
            raise InputError(f"the budget must be finite and at least 0, not {str(self.budget)[:40]}")
        groups = checked_groups(self.groups, self.worker_id, m)
        self._keep(groups=groups, own_rows=checked_rows(self.own_rows, n, m))
        fixed, key = self.fixed, self.pair_keys(self.fixed)
        for name, remedy in (("forbidden", "drop one of the two"), ("collected", "drop it from the fixed pairs")):
            clash = np.isin(key, self.pair_keys(getattr(self, name)))
            if clash.any():
                task, worker = fixed[clash][0]
                pair = f"(task {self.task_id(task)}, worker {self.worker_id(worker)})"
                raise InputError(f"the pair {pair} is both fixed and {name}; {remedy}")
        load, labels = np.bincount(fixed[:, 1], minlength=m), np.bincount(fixed[:, 0], minlength=n)
        refuse_excess(load, self.capacity, "fixed tasks", "capacity", ("worker", self.worker_id))
        most = self.new_label_limits[1]
        refuse_excess(labels, most, "fixed labels", "room under max_labels", ("task", self.task_id))

    def _check_law(self) -> None:
        """Classes, prior, rule, and laws of labels that fit one another."""
        if not isinstance(self.classes, int | np.integer) or not 2 <= self.classes <= CLASSES:
            raise InputError(f"classes must be a whole number from 2 to {CLASSES}, not {self.classes}")
        classes = int(self.classes)
        self._keep(difficulty=Difficulty.of(self.difficulty), prior=_priors(self.prior, self.n_tasks, classes))
        self._keep(class_names=ids("class_names", self.class_names, classes))
        if self.rule is None:
            alone = self.confusion is None and (self.dependence == 1).all()
            self._keep(rule=(EXACT_ERROR if alone else BHATTACHARYYA).name)
        if not rule_named(str(self.rule), classes).heeds_prior and self.observed:
            raise InputError(f"rule {self.rule} takes no notice of what labels say; use rule bhattacharyya")
        self._keep(confusion=checked_tables(self.confusion, self.accuracy, classes, self.rule))
        for wrong, why in (*self._unfit_difficulty(), *self._unfit_law()):
            if wrong:
                raise InputError(why)
        refuse_rule(self.rule, self.observed, self.dependence, self.task_id)

    def _unfit_difficulty(self) -> Iterator[tuple[bool, str]]:
        """Where no exact error over easy and hard tasks is known, and why."""
        if self.difficulty.share:
            rule, exact, classes = self.rule, EXACT_ERROR.name, self.classes
            yield rule != exact, f"rule {rule} knows no difficulty; choose rule {exact}, or take difficulty out"
            yield (
                classes > 2,
                f"plans heed difficulty between 2 classes, not {classes}: votes weighed for easy tasks have no exact "
                "error on hard ones yet; take difficulty out",
            )
            odd = self.difficulty.easy != 1
            yield odd, "accuracies of a plan are those on easy tasks; set difficulty by with_difficulty"
            misled = self.difficulty.hard < 0
            yield misled, "where workers are misled together no vote of theirs helps; audit the answers instead"
            says = 'what labels say of a task does not say how hard it is; set collected = "evidence"'
            yield self.observed, says

    def _unfit_law(self) -> Iterator[tuple[bool, str]]:
        """Where a law of votes is not of these workers and two classes, or the prior knows the labels already."""
        law, m = self.vote_law, self.n_workers
        if law is not None:
            yield not _fits(law, m), f"a law of votes of {law.speech.shape[0]} workers does not fit {m}; fit it to all"
            odd = self.classes != 2 or self.confusion is not None
            yield odd, "a law of votes is for two classes without confusion tables; take vote_law out"
            says = "what labels say of a task says how workers vote on it too; take observed or vote_law out"
            yield self.observed, says

    @property
    def n_tasks(self) -> int:
        """Tasks, n."""
        return len(self.task_type)

    @property
    def task_ids(self) -> list[str]:
        """The id of each task, (tasks,)."""
        return [self.task_id(i) for i in range(self.n_tasks)]

    @property
    def task_places(self) -> dict[str, int]:
        """The task of each id."""
        return places(self.task_ids)

    def cells(self, pairs: Ints) -> tuple[Ints, Ints]:
        """Type and worker of each pair (k, 2): where tables of (types, workers) have it."""
        return self.task_type[pairs[:, 0]], pairs[:, 1]

    @property
    def one_target(self) -> float | None:
        """The error target of every task; None where tasks have different ones."""
        return float(self.epsilon[0]) if (self.epsilon == self.epsilon[0]).all() else None

    def task_id(self, task: int) -> str:
        """Id of a task."""
        return str(task) if self.tasks is None else self.tasks[task]

    @property
    def n_workers(self) -> int:
        """Workers, m."""
        return int(self.accuracy.shape[1])

    @property
    def n_types(self) -> int:
        """Types of task, T: the rows of ``accuracy``."""
        return int(self.accuracy.shape[0])

    @property
    def worker_ids(self) -> list[str]:
        """The id of each worker, (workers,)."""
        return [self.worker_id(j) for j in range(self.n_workers)]

    @property
    def worker_places(self) -> dict[str, int]:
        """The worker of each id."""
        return {name: j for j, name in enumerate(self.worker_ids)}

    def pair_keys(self, pairs: Ints) -> Ints:
        """One number for each pair, ``task * workers + worker``: they ascend by task and then by worker."""
        return pairs[:, 0] * self.n_workers + pairs[:, 1]

    def worker_id(self, worker: int) -> str:
        """Id of a worker."""
        return str(worker) if self.workers is None else self.workers[worker]

    def type_id(self, kind: int) -> str:
        """Id of a type; with a single unnamed one, ``all``."""
        if self.types is None:
            return "all" if self.n_types == 1 else str(kind)
        return self.types[kind]

    @property
    def the_rule(self) -> Rule:
        """The evidence rule itself."""
        return rule_named(self.rule, self.classes)

    @property
    def own_priors(self) -> list[Floats]:
        """What tells tasks apart by prior: a column (tasks,) for each class, none where all have one prior."""
        return [] if self.prior.ndim == 1 else list(self.prior.T)

    @property
    def has_whole_prices(self) -> bool:
        """Whether whatever plans of whole labels cost is a whole number."""
        return bool((self.cost == np.rint(self.cost)).all())

    @property
    def has_prior(self) -> bool:
        """Whether some class is likelier than another before any label."""
        return bool((self.prior != 1 / self.classes).any())

    @property
    def errs_together(self) -> bool:
        """Whether votes on a task depend on one another, given its class, for any workers."""
        return bool(self.difficulty.share) or self.vote_law is not None

    @cached_property
    def barred(self) -> Ints:
        """Pairs that cannot be chosen, (k, 2): forbidden ones and those already collected."""
        both = np.concatenate([self.forbidden, self.collected])
        return np.unique(both, axis=0)

    @cached_property
    def evidence(self) -> Floats:
        """q: evidence of one label, shape (types, workers)."""
        return self.the_rule.evidence(self.accuracy, self.classes)

    @cached_property
    def weight(self) -> Floats:
        """w: vote weight of one label, shape (types, workers)."""
        return self.the_rule.weight(self.accuracy, self.classes)

    @cached_property
    def coins(self) -> Law:
        """The law of labels by accuracies and difficulty, which plans of fixed sets go by."""
        return Law.coins(self.accuracy, int(self.classes), self.difficulty)

    @cached_property
    def law(self) -> Law:
        """The law of labels: by gold votes or confusion tables, if there are any, else by accuracies and difficulty."""
        if self.vote_law is not None:
            return self.vote_law
        return self.coins if self.confusion is None else Law.tables(self.confusion)

    def labels(self, pairs: Ints, label: Ints) -> Given:
        """Labels of pairs (task, worker), as laws take them."""
        return Given(pairs[:, 0], self.task_type[pairs[:, 0]], pairs[:, 1], label)

    def posterior(self, pairs: Ints, label: Ints) -> Floats:
        """``P(class | labels)`` of each task if workers err independently but for the law, (tasks, classes)."""
        return self.law.posterior(self.prior, self.labels(pairs, label), self.n_tasks)

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
        for start in range(0, len(pairs), CELLS):
            some = pairs[start : start + CELLS]
            evidence = self.evidence[self.cells(some)]
            np.add.at(total, some[:, 0], evidence if amounts is None else evidence * amounts[start : start + CELLS])
        return total

    def price(self, task: Any, worker: Any) -> Floats:
        """What labels are paid, (k,); task, worker: (k,) array of int each, or one for all."""
        return self.cost[self.task_type[task], worker]

    def prices(self, pairs: Ints) -> Floats:
        """What each pair's label is paid, shape (k,)."""
        return self.cost[self.cells(pairs)]

    def error_bound(self, evidence: Floats) -> Floats:
        """What is guaranteed of tasks with this much evidence, (tasks,): never above guessing the likeliest class.

        The rule's own error, or the rule bhattacharyya's where the rule promises nothing by itself; where several
        labels of a task may err together, the theorem of crowdopt.crowd.rules, which a guess does not cap.
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
        """The instance whose plans heed difficulty, such as :func:`crowd.law_fits.fitted` finds it.

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
        rule = BHATTACHARYYA.name if self.the_rule.checked else self.rule
        return replace(self, accuracy=coins_like(tables), confusion=tables, rule=rule)

    def as_read(self, gold: Gold | None = None) -> AssignmentInstance:
        """The same instance with the campaign that it was read from, and the gold of its workers."""
        known = copy(self)
        object.__setattr__(known, "origin", Origin(self, gold=gold))
        return known

    def with_epsilon(self, epsilon: float) -> AssignmentInstance:
        """The same instance with one error target for every task."""
        return replace(self, epsilon=np.asarray(epsilon))


FIELDS = tuple(
    replace(one.metadata["states"], name=one.name) for one in fields(AssignmentInstance) if "states" in one.metadata
)
PAIRS = tuple(one.name for one in FIELDS if one.of == "pair")


def _fits(law: Law, workers: int) -> bool:
    """Whether a law is of two classes, one type and so many workers, each part with its share."""
    speech = law.speech
    if not isinstance(speech, Coins) or speech.classes != 2:
        return False
    each = {len(speech.accuracy), len(speech.scale)} <= {1, law.share.size}
    return each and speech.accuracy.shape[1:] == (1, workers)


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
