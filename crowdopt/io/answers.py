"""Labels come back: read against the plan they were asked by, and voted over.

A table of answers as an audit takes it: the answer to each task, and what error is claimed for it.

How a campaign goes on from labels that came back: by which rule, and what of the tasks that are not yet sure.

The campaign that goes on from labels that came back: the same tables, with what changed.

Answers as a folder, with a campaign in it that is ready to be solved again.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from crowdopt.answers.planned import PlanAnswers, answers
from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.doubt import gold_of
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.rules import CHERNOFF, EXACT_ERROR, ROUNDING, dependence, guessing
from crowdopt.crowd.skills import AVERAGED
from crowdopt.crowd.vote_errors import asks, is_exhausted, out_of_reach
from crowdopt.documents import write_json
from crowdopt.errors import InputError
from crowdopt.io.campaign import Campaign, read_with_labels, write_tables
from crowdopt.io.cells import TableLike, write_csv
from crowdopt.io.folders import new_folder
from crowdopt.io.plan import read_overrides, read_pairs, read_votes, read_weights
from crowdopt.io.schema import ANSWERS, SKIPPED
from crowdopt.io.settings import overridden, settings_text
from crowdopt.io.tables import (
    Table,
    campaign_pairs,
    find_table,
    pair_ids,
    read_label_table,
    read_table,
    spare_columns,
)
from crowdopt.notebooks import InFrames


@dataclass(frozen=True, eq=False)
class AnsweredTable:
    """Answers in the order of their table."""

    path: Path  # the file they were read from
    digest: str  # SHA-256 of its bytes, as ``sha256sum`` prints it
    tasks: tuple[str, ...]  # each task and its answer
    labels: tuple[str, ...]  # an empty answer is a wrong one
    claims: Floats | None  # (tasks,): claimed probability that each is wrong
    values: tuple[str, ...] = ()  # of the column that claims are made by


def read_answered(path: str | Path, by: str = "") -> AnsweredTable:
    """Read what ``aggregate`` wrote: a table, or a folder with an answers.csv in it.

    Columns task and label (or answer), and optionally error or confidence, a probability; others are ignored, but for
    the one that claims are made ``by``; ``label``: by the answers themselves.
    """
    place = Path(path)
    place = place / "answers.csv" if place.is_dir() else place
    table = read_table(place, ANSWERS)
    column = next((name for name in ("label", "answer") if name in table), None)
    if column is None:
        raise InputError(f"{place.name}, line 1: there is no column 'label' (or 'answer') with the answers")
    if not table.rows:
        raise InputError(f"{place.name} has no answers; an audit needs at least one")
    claims = None
    for name in ("error", "confidence"):
        if name in table and claims is None:
            claims = table.numbers(name)
            claims = claims if name == "error" else 1 - claims
    tasks, labels = tuple(table.unique_ids("task")), tuple(table[column])
    values = labels if by in ("label", column) else ()
    if by and not values:
        if not re.fullmatch(r"\w+", by):
            raise InputError(f"a column that claims are made by has letters, digits and _ in its name, not {by!r}")
        values = tuple(read_table(place, replace(ANSWERS, header=f"{ANSWERS.header},{by}"))[by])
    return AnsweredTable(place, sha256(place.read_bytes()).hexdigest(), tasks, labels, claims, values)


@dataclass(frozen=True, eq=False)
class Onward:
    """How an adaptive plan goes on from these labels."""

    targets: Floats  # (tasks,): what its policy still errs with, in the mean of each type
    options: str  # of solve; empty after the last round
    asks: bool  # whether the policy asks anything where tasks stand now
    left: float  # money left, or infinity
    answer: Ints | None = None  # (tasks,): its own, where limits by class ask for others than the likeliest


@dataclass(frozen=True, eq=False)
class Answered(InFrames):
    """Answers to a campaign's tasks, and everything needed to go on with it.

    Parameters
    ----------
    campaign : Campaign
        Under the plan's rule and target.
    folder : Path
        Of the campaign.
    answers : PlanAnswers
        What the labels say of each task.
    pairs : (k, 2) int
        Task and worker of each label, those from before first.
    labels : list of str
        What each label says.
    new : (n, 2) int
        The pairs whose labels are new.
    names : tuple of str
        Of the classes.
    left_out : int
        Rows of the table whose labels were in before.
    overrides : dict
        What the plan was asked for beyond the campaign.
    skipped : (k, 2) int
        Task and worker of each label that was asked for and not given: an abstention, which is not asked for again.
    accept : bool
        Whether tasks that no labels left can settle are taken as they are from here on.
    onward : Onward, optional
        Of an adaptive plan.
    """

    campaign: Campaign
    folder: Path
    answers: PlanAnswers
    pairs: Ints
    labels: list[str] = field(repr=False)
    new: Ints
    names: tuple[str, ...]
    left_out: int = field(repr=False)
    overrides: dict[str, Any]
    skipped: Ints
    accept: bool = field(default=False, repr=False)
    onward: Onward | None = None

    in_notebooks: ClassVar[tuple[str, ...]] = ()

    def notebook_rows(self, most: int) -> tuple[list[dict[str, Any]], int]:
        """The first answers, and how many there are."""
        found = self.answers
        some = zip(found.answer[:most].tolist(), found.error[:most].tolist(), found.labels[:most].tolist(), strict=True)
        rows = [
            {"task": self.instance.task_id(i), "label": self.names[k], "error": error, "labels": labels}
            for i, (k, error, labels) in enumerate(some)
        ]
        return rows, found.answer.size

    @property
    def in_words(self) -> str:
        """How many answers are sure, and how many are expected to be wrong."""
        sure, wrong = int(self.answers.sure.sum()), self.answers.error.sum()
        return f"{sure} sure, {self.answers.answer.size - sure} not yet; {wrong:.3g} expected to be wrong"

    @property
    def instance(self) -> AssignmentInstance:
        """The campaign's instance, under the plan's rule and target."""
        return self.campaign.instance


def read_answers(
    labels: TableLike, plan: str | Path, campaign: str | Path, skipped: TableLike | None = None
) -> Answered:
    """Vote over the labels that came back, and those already in, with the weights of a plan.

    labels: columns task, worker, label; labels of pairs that were not planned count as well; plan, campaign: the plan's
    folder and the folder of the campaign it was made for; skipped: columns task, worker: who was asked and gave no
    label; pairs that have one all the same are left out.
    """
    known = read_with_labels(campaign)
    overrides = read_overrides(plan)
    instance = overridden(known.instance, overrides)
    known = replace(known, instance=instance, gold=gold_of(instance))
    table = read_label_table(labels)
    fresh, kept = _fresh(table, known, campaign_pairs(table, instance))
    said = [table["label"][k] for k in kept.tolist()]
    pairs = np.concatenate([instance.collected, fresh])
    planned, _ = read_pairs(plan, instance)
    label, cell = known.indices(said), instance.cells(pairs)
    if instance.confusion is None:
        weight = read_weights(plan, instance)[cell]
    else:
        weight = read_votes(plan, instance)[(*cell, label)]
    result = answers(instance, planned, pairs, label, weight)
    every = [*known.collected_labels, *said]
    names, left_out = known.class_names(said), table.rows - len(said)
    silent, m = _silent(skipped, instance, pairs), instance.n_workers
    awaited = ~np.isin(result.missing @ [m, 1], silent @ [m, 1])
    result = replace(result, missing=result.missing[awaited])
    return Answered(known, Path(campaign), result, pairs, every, fresh, names, left_out, overrides, silent)


def _silent(path: TableLike | None, instance: AssignmentInstance, pairs: Ints) -> Ints:
    if path is None:
        return pairs[:0]
    asked = np.unique(campaign_pairs(read_table(path, SKIPPED), instance), axis=0)
    return asked[~np.isin(instance.pair_keys(asked), instance.pair_keys(pairs))]


def _fresh(table: Table, known: Campaign, pairs: Ints) -> tuple[Ints, Ints]:
    """Labels that are not in yet, and their rows; a label that is there twice must say the same twice."""
    instance = known.instance
    seen = dict(zip(instance.pair_keys(instance.collected).tolist(), known.collected_labels, strict=True))
    kept = []
    for row, key in enumerate(instance.pair_keys(pairs).tolist()):
        if key not in seen:
            seen[key] = table["label"][row]
            kept.append(row)
        elif seen[key] != table["label"][row]:
            raise table.error(row, "label", f"this pair has another label, {seen[key]!r}, already; keep one of them")
    rows = np.array(kept, dtype=np.int64)
    return pairs[rows], rows


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


def write_next(found: Answered, folder: Path) -> None:
    """The same campaign with what changed: settings, collected labels, capacities, pairs no longer fixed."""
    for name in ("skills", "gold"):  # the rest is written from the instance
        path = find_table(found.folder, name)
        if path is not None:
            shutil.copyfile(path, folder / path.name)
    going_on, gold, instance = Continuation(found), found.campaign.gold, next_instance(found)
    settings = settings_text(
        instance if gold is None or "difficulty" in found.overrides else replace(instance, difficulty=gold.stated),
        None if gold is None or gold.told_by == "gold" else gold.told_by,
        found.campaign.trusts_gold,
        AVERAGED if gold is None else gold.method,
        "observed" if going_on.observed else "evidence",
    )
    more = (spare_columns(found.folder, name) for name in ("tasks", "workers"))
    write_tables(instance, folder, settings, found.labels, *more)


def next_instance(found: Answered) -> AssignmentInstance:
    """What is left to do: sides of own rows are about labels to come, accepted tasks have what their labels leave."""
    instance, going_on, rows = found.instance, Continuation(found), found.instance.own_rows
    fewest, again = instance.min_labels.copy(), going_on.asked_once_more
    fewest[again] = np.maximum(fewest[again], 1 + found.answers.labels[again])
    given = np.bincount(found.new[:, 1], minlength=instance.n_workers)
    if rows is not None:
        came = np.isin(instance.pair_keys(rows.pairs), instance.pair_keys(found.new))
        brought = np.bincount(rows.row[came], rows.coefficient[came], len(rows.names))
        rows = replace(rows, lower=rows.lower - brought, upper=rows.upper - brought)
    return replace(
        instance,
        rule=going_on.rule,
        epsilon=going_on.epsilon,
        budget=instance.budget if found.onward is None or instance.budget is None else found.onward.left,
        capacity=going_on.capacity,
        min_load=np.clip(instance.min_load - given, 0, going_on.capacity),
        min_labels=fewest,
        forbidden=going_on.forbidden,
        fixed=_still_fixed(found, going_on.capacity.copy()),
        collected=found.pairs,
        own_rows=rows,
    )


def _still_fixed(found: Answered, capacity: Ints) -> Ints:
    """Fixed pairs whose label may yet come, as far as their workers have capacity and their tasks room for it."""
    instance = found.instance
    had = {(task, worker) for task, worker in [*found.pairs.tolist(), *found.skipped.tolist()]}
    room = np.maximum(0, instance.max_labels - np.bincount(found.pairs[:, 0], minlength=instance.n_tasks))
    kept = []
    for task, worker in instance.fixed.tolist():
        if (task, worker) not in had and capacity[worker] > 0 and room[task] > 0:
            kept.append((task, worker))
            capacity[worker] -= 1
            room[task] -= 1
    return np.array(kept, np.int64).reshape(-1, 2)


MARK = "answers.json"  # the file that tells a folder of answers


def write_answers(found: Answered, folder: str | Path, force: bool = False) -> None:
    """Write answers.csv, missing.csv, and ``campaign/``: the same campaign with these labels in.

    The next campaign counts labels as they fell (``collected = "observed"``): what they say is each task's prior, so
    that solving it buys for tasks that are not yet sure, and nothing for those that are. A rule that takes no notice
    of that gives way to one that does; where labels count as evidence all the same, a task that is not sure and lacks
    none is asked for one label more (crowdopt.io.answers). Capacities are what is left.
    """
    instance, result = found.instance, found.answers
    if not found.folder.is_dir():
        raise InputError(f"{found.folder} is an archive; answers need a campaign folder, whose tables the next one has")
    missing = np.bincount(result.missing[:, 0], minlength=instance.n_tasks)
    columns: dict[str, Iterable[Any]] = {
        "task": instance.task_ids,
        "answer": [found.names[k] for k in result.answer.tolist()],
        "error": [float(f"{error:.12g}") for error in result.error.tolist()],  # no last bit, which processors differ in
        "epsilon": result.epsilon,
        "sure": np.where(result.sure, "yes", "no"),
        "labels": result.labels,
        "missing": missing,
    }
    with new_folder(Path(folder), MARK, force) as new:
        write_csv(new / "answers.csv", list(columns), columns.values())
        write_csv(new / "missing.csv", ["task", "worker"], pair_ids(instance, result.missing))
        (new / "campaign").mkdir()
        write_next(found, new / "campaign")
        write_json(new / MARK, facts(found))


def facts(found: Answered) -> dict[str, Any]:
    """The answers in numbers."""
    instance, result, going_on = found.instance, found.answers, Continuation(found)
    return {
        "tasks": instance.n_tasks,
        "labels": len(found.pairs),
        "new_labels": len(found.new),
        "sure": int(result.sure.sum()),
        "unsure": int((~result.sure).sum()),
        "exhausted": int(going_on.exhausted.size),
        "out_of_reach": int(going_on.out_of_reach.size),
        "accepted": int(going_on.accepted.size),
        "asked_once_more": int(going_on.asked_once_more.size),
        "next_rule": going_on.rule,
        "expected_wrong": float(result.error.sum()),
        "missing": len(result.missing),
        "skipped": len(found.skipped),
        "rule": instance.rule,
        "skills": instance.skills_source,
    }
