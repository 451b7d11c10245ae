"""The verb rules: what a rule of thumb costs and errs, what would do better, and the rule as a tool knows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.law import Law
from crowdopt.documents import finite, write_json
from crowdopt.errors import InputError
from crowdopt.files import write_text
from crowdopt.io.cells import name_of, write_csv
from crowdopt.io.folders import check_target, new_folder
from crowdopt.io.gold import gold_classes
from crowdopt.notebooks import InFrames
from crowdopt.ruling.priced import Best, Sibling, best_plan, frontier, priced, siblings
from crowdopt.ruling.rules import Rule, parsed
from crowdopt.ruling.votes import VoteTree, in_any_order, in_stages
from crowdopt.ruling.written import FILES, written
from crowdopt.said import Said, Verb, Word
from crowdopt.verbs.binding import AnyPath, TableLike, instance_of, keywords
from crowdopt.verbs.worker_skills import skills
from crowdopt.version import __version__

RULES = "rules.json"
HORIZON = {2: 31, 3: 17, 4: 12}  # votes on a task that plans may take, by labels; of more kinds 9
POINTS = 40  # of the frontier


@dataclass(frozen=True, kw_only=True)
class RulesOptions:
    """Options of rules: which, the expert's price, and the tool for which they are written.

    Parameters
    ----------
    rule : sequence of str
        ``overlap 3``; ``agree 4 else 9``; ``lead 2 of at most 7``, also by class as in ``lead 2 for yes, 3 for no of at
        most 9``; ``stage cheap settles at .9 else expert``. May be repeated.
    expert : float, optional
        Price of an answer that is right, of an expert.
    to : str, optional
        Write the rule as a tool knows it, with ``output``; one rule alone.
    url : str
        Address of a task for ``taskflow``, with {task} in it.
    output : path, optional
        Folder to write, from which ``report`` makes a page.
    force : bool
        Replace the output if it exists.
    """

    rule: Sequence[str] = ()
    expert: Annotated[float, Word(low=0)] | None = None
    to: Literal["caesar", "inspect", "label-studio", "taskflow"] | None = None
    url: str = ""
    output: AnyPath | None = None
    force: bool = False


@dataclass(frozen=True, eq=False)
class RulePrice:
    """What a rule comes to, a task: means over the tasks.

    Parameters
    ----------
    rule : Rule
    labels, cost, error : float
    by_class : (classes,) float
        Chance of a wrong answer where the class is true.
    end, expert : float
        Shares of the tasks that get all the labels there can be, and that go to the expert.
    sibling : Sibling, optional
        The cheapest rule of the same shape that errs no more, where tasks are of one type.
    siblings : sequence of Sibling
        Rules of the shape that no other of them beats.
    best : Best
        The best plan of the same votes that errs no more, with its bound.
    frontier : sequence of (float, float)
        Error and least cost.
    """

    rule: Rule
    labels: float
    cost: float
    error: float
    by_class: Floats
    end: float
    expert: float
    sibling: Sibling | None
    siblings: Sequence[Sibling]
    best: Best
    frontier: Sequence[tuple[float, float]]

    @property
    def waste(self) -> float:
        """Share of the cost that the best plan saves."""
        return max(0.0, 1 - self.best.cost / self.cost) if self.cost else 0.0


@dataclass(frozen=True, eq=False)
class Rules(InFrames):
    """Rules of thumb, priced.

    Parameters
    ----------
    prices : sequence of RulePrice
    classes : tuple of str
    tasks : int
        Of the campaign; 0 for gold alone.
    source : str
        The campaign or the gold.
    """

    prices: Sequence[RulePrice]
    classes: tuple[str, ...]
    tasks: int
    source: str

    in_notebooks: ClassVar[tuple[str, ...]] = ()

    def notebook_rows(self, most: int) -> tuple[list[dict[str, Any]], int]:
        """A row a rule."""
        return [flat(one) for one in self.prices[:most]], len(self.prices)


@dataclass(frozen=True, eq=False)
class _Crowd:
    """A crowd of one type of tasks: the law of its labels, priors, prices, and the share of the tasks."""

    law: Law
    kind: int
    prior: Floats
    price: Floats  # (workers,)
    share: float


@keywords(RulesOptions)
def rules(crowd: AnyPath | TableLike | AssignmentInstance, asked: RulesOptions) -> Rules:
    """Say what a rule of thumb costs and errs, exactly, and what the best rule of its shape and the best plan would.

    Labels are of any workers of the crowd, each as likely to come next; of stages, of the workers they name.

    Parameters
    ----------
    crowd : path or AssignmentInstance
        A campaign, or a table of gold alone.

    Returns
    -------
    Rules

    Raises
    ------
    InputError
        If a rule is not understood, the tool cannot do it, or something cannot be read.

    Reads
    -----
    a campaign, or gold

    Writes
    ------
    with -o a folder: rules.json, rules.csv, and with --to the tool's file

    Examples
    --------
    ::

        crowdopt rules my-campaign --rule "agree 2 else 3" --rule "overlap 3"
    """
    if not asked.rule:
        raise InputError("there is no rule; give one or more, such as --rule 'agree 2 else 3'")
    if asked.to is not None and (len(asked.rule) != 1 or asked.output is None):
        raise InputError("a tool's file is of one rule, and stands in a folder: give one --rule, and -o FOLDER")
    if asked.output is not None:
        check_target(Path(asked.output), RULES, asked.force)
    crowds, classes, workers, tasks, source = _read(crowd)
    given = [parsed(text, classes, workers) for text in asked.rule]
    text = None if asked.to is None else written(asked.to, given[0], classes, tasks, asked.url)
    expert = np.inf if asked.expert is None else asked.expert
    for rule in given:
        if rule.last == "expert" and asked.expert is None:
            raise InputError(f"the rule {str(rule)!r} asks an expert; say the price of an answer with --expert")
    found = Rules([_priced(rule, crowds, classes, workers, expert) for rule in given], classes, len(tasks), source)
    if asked.output is not None:
        rows = [flat(one) for one in found.prices]
        with new_folder(Path(asked.output), RULES, asked.force) as new:
            write_csv(new / "rules.csv", list(rows[0]), ([row[key] for row in rows] for key in rows[0]))
            if asked.to is not None and text is not None:
                write_text(new / FILES[asked.to], text)
            write_json(new / RULES, facts_of(found))
    return found


def _read(crowd: Any) -> tuple[list[_Crowd], tuple[str, ...], tuple[str, ...], tuple[str, ...], str]:
    """Crowds by type of task, names of classes, of workers and of tasks, and where they are from."""
    place = Path(crowd) if isinstance(crowd, str | Path) else None
    is_campaign = place is not None and (place.is_dir() or place.suffix == ".npz" or not place.exists())
    if not (isinstance(crowd, AssignmentInstance) or is_campaign):
        known = skills(crowd)
        count = 2 if known.confusion is None else known.confusion.shape[-1]
        named = sorted(set().union(*gold_classes(crowd).values()))
        count = max(count, len(named))
        law = Law.coins(known.accuracy, count) if known.confusion is None else Law.tables(known.confusion)
        names = tuple(named) if len(named) == count else tuple(map(str, range(count)))
        prior, types = np.full(count, 1 / count), len(known.types)
        prices = np.ones(len(known.workers))
        crowds = [_Crowd(law, kind, prior, prices, 1 / types) for kind in range(types)]
        return crowds, names, known.workers, (), name_of(crowd)
    instance = instance_of(crowd)
    crowds, count = [], np.bincount(instance.task_type)
    for kind in np.flatnonzero(count).tolist():
        mine = instance.task_type == kind
        prior = instance.prior if instance.prior.ndim == 1 else instance.prior[mine].mean(axis=0)
        crowds.append(_Crowd(instance.law, kind, prior, instance.cost[kind], float(mine.mean())))
    names = tuple(instance.class_names or map(str, range(int(instance.classes))))
    source = str(crowd) if isinstance(crowd, str | Path) else "an instance"
    return crowds, names, tuple(map(instance.worker_id, range(instance.n_workers))), tuple(instance.task_ids), source


def _tree(one: _Crowd, rule: Rule, workers: Sequence[str]) -> VoteTree:
    if rule.shape == "stage":
        order: Ints = np.array([workers.index(who) for who, _ in rule.stages])
        return in_stages(one.law.share, one.law.table(one.kind, order), one.prior, one.price[order])
    most = max(rule.most, min(HORIZON.get(one.law.speech.shape[2], 9), len(workers)))
    every = np.arange(len(workers))
    return in_any_order(one.law.share, one.law.table(one.kind, every), one.prior, float(one.price.mean()), most)


def _priced(
    rule: Rule, crowds: Sequence[_Crowd], classes: Sequence[str], workers: Sequence[str], expert: float
) -> RulePrice:
    trees = [_tree(one, rule, workers) for one in crowds]
    each = [priced(tree, rule.decided(tree, classes), expert) for tree in trees]
    share = np.array([one.share for one in crowds])
    named = ("labels", "cost", "error", "end", "expert")
    mean = {name: float(share @ [getattr(one, name) for one in each]) for name in named}
    by_class = share @ np.array([one.by_class for one in each])
    kin = siblings(trees, share, rule, classes, expert)
    sibling = next((one for one in kin if one.error <= mean["error"] * (1 + 1e-9)), None)
    bests = [best_plan(tree, one.error, expert) for tree, one in zip(trees, each, strict=True)]
    whole = Best(*(float(share @ np.array(part)) for part in zip(*bests, strict=True)))
    none = float(share @ [1 - tree.joint[0].max() for tree in trees])
    errors = np.geomspace(max(1e-6, min(mean["error"] / 20, none / 100)), none, POINTS)
    curve = frontier(trees[0], expert, errors) if len(trees) == 1 else []
    return RulePrice(rule, by_class=by_class, sibling=sibling, siblings=kin, best=whole, frontier=curve, **mean)


def flat(one: RulePrice) -> dict[str, Any]:
    """A rule as a row."""
    kin = one.sibling
    return {
        "rule": str(one.rule),
        **{name: getattr(one, name) for name in ("labels", "cost", "error", "end", "expert")},
        "sibling": None if kin is None else str(kin.rule),
        "sibling_cost": None if kin is None else kin.cost,
        "best_cost": one.best.cost,
        "bound": one.best.bound,
        "waste": one.waste,
    }


def facts_of(found: Rules) -> dict[str, Any]:
    """All that is known, as plain JSON."""
    rows = []
    for one in found.prices:
        kin = [{"rule": str(each.rule), "cost": each.cost, "error": each.error} for each in one.siblings]
        by_class = dict(zip(found.classes, one.by_class.tolist(), strict=True))
        points = [{"error": error, "cost": cost} for error, cost in one.frontier]
        rows.append({**flat(one), "by_class": by_class, "siblings": kin, "frontier": points})
    facts = {"version": __version__, "source": found.source, "tasks": found.tasks, "classes": list(found.classes)}
    return dict(finite({**facts, "rules": rows, "said": said(found)}))


def said(found: Rules) -> list[str]:
    """What is known, in sentences."""
    lines = []
    for one in found.prices:
        by_class = ", ".join(f"{name} {error:.3g}" for name, error in zip(found.classes, one.by_class, strict=True))
        paid = "" if abs(one.cost - one.labels) < 1e-9 else f", cost {one.cost:.3f}"
        sent = f", {100 * one.expert:.1f} % go to the expert" if one.expert else ""
        lines.append(
            f"{one.rule}: {one.labels:.3f} labels a task{paid}, {one.error:.4g} wrong ({by_class}), "
            f"{100 * one.end:.1f} % get all labels there can be{sent}"
        )
        kin = one.sibling
        if kin is not None and kin.cost < one.cost * (1 - 1e-9):
            costs = f"cost {kin.cost:.3f} for {kin.error:.4g} wrong"
            lines.append(f"  the best of its shape: {kin.rule}, {costs}")
        elif kin is not None:
            lines.append("  no rule of its shape costs less for so few wrong")
        if one.waste > 1e-6:
            total = f", {found.tasks * (one.cost - one.best.cost):.6g} for {found.tasks} tasks" if found.tasks else ""
            lines.append(
                f"  the best plan of the same votes costs {one.best.cost:.3f} (proven): {100 * one.waste:.1f} % of the "
                f"cost is wasted{total}"
            )
        else:
            lines.append("  no plan of these votes costs less: that is proven")
    return lines


def _said(found: Rules, output: AnyPath | None) -> Said:
    lines = said(found)
    if output is not None:
        lines.append(f"wrote {output}: rules.csv; a page by crowdopt report {output}")
    if found.tasks:
        least = min(one.error for one in found.prices)
        lines.append(f"next: crowdopt solve {found.source} --epsilon {least:.2g} --method adaptive -o PLAN")
    return Said(facts_of(found), lines)


VERBS = (Verb("rules", rules, _said),)
