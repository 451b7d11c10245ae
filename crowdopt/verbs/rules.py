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
from crowdopt.errors import InputError, tell
from crowdopt.files import write_text
from crowdopt.io.cells import name_of, write_csv
from crowdopt.io.folders import check_target, new_folder
from crowdopt.io.gold import gold_classes
from crowdopt.notebooks import InFrames, number
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
NOTICED = 0.001  # share of the cost; a plan that saves less is no better


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
    sibling : Sibling
        The cheapest rule of the same shape that was tried and errs no more; the rule itself, if none is cheaper.
    siblings : sequence of Sibling
        Rules of the shape that no other of them beats.
    tried : int
        How many of the shape were looked at.
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
    sibling: Sibling
    siblings: Sequence[Sibling]
    tried: int
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
    with_expert: str = ""  # in sentences, where there is one

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
    if asked.to is not None and ((len(asked.rule) != 1 and not isinstance(asked.rule, str)) or asked.output is None):
        raise InputError("a tool's file is of one rule, and stands in a folder: give one --rule, and -o FOLDER")
    if asked.output is not None:
        check_target(Path(asked.output), RULES, asked.force)
    crowds, classes, workers, tasks, source = _read(crowd)
    texts = [asked.rule] if isinstance(asked.rule, str) else asked.rule
    given = [parsed(text, classes, workers) for text in texts]
    text = None if asked.to is None else written(asked.to, given[0], classes, tasks, asked.url)
    expert = np.inf if asked.expert is None else asked.expert
    for rule in given:
        if rule.last == "expert" and asked.expert is None:
            raise InputError(f"the rule {str(rule)!r} asks an expert; say the price of an answer with --expert")
    prices = [_priced(rule, crowds, classes, workers, expert) for rule in given]
    also = "" if asked.expert is None else " and the expert"
    found = Rules(prices, classes, len(tasks), source, also)
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
    is_campaign = place is not None and (place.is_dir() or place.suffix in (".npz", ""))
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
    _refuse_or_tell(instance)
    crowds, count = [], np.bincount(instance.task_type)
    for kind in np.flatnonzero(count).tolist():
        mine = instance.task_type == kind
        prior = instance.prior if instance.prior.ndim == 1 else instance.prior[mine].mean(axis=0)
        crowds.append(_Crowd(instance.law, kind, prior, instance.cost[kind], float(mine.mean())))
    names = tuple(instance.class_names or map(str, range(int(instance.classes))))
    source = str(crowd) if isinstance(crowd, str | Path) else "an instance"
    return crowds, names, tuple(map(instance.worker_id, range(instance.n_workers))), tuple(instance.task_ids), source


def _refuse_or_tell(instance: AssignmentInstance) -> None:
    """A rule begins with tasks that have no labels; what else the campaign limits it does not look at."""
    if len(instance.collected):
        raise InputError(
            "the campaign has labels in, and a rule begins without any: take collected.csv out to price it"
        )
    limits = {
        "forbidden pairs": len(instance.forbidden),
        "fixed pairs": len(instance.fixed),
        "fewest or most labels of a task": instance.min_labels.any()
        or (instance.max_labels < instance.n_workers).any(),
        "groups": len(instance.groups),
    }
    if there := [name for name, is_there in limits.items() if is_there]:
        tell(f"rules do not look at {', '.join(there)}: any worker may be next on any task")


def _tree(one: _Crowd, rule: Rule, workers: Sequence[str]) -> VoteTree:
    if rule.shape == "stage":
        order: Ints = np.array([workers.index(who) for who, _ in rule.stages])
        return in_stages(one.law.share, one.law.table(one.kind, order), one.prior, one.price[order])
    most = max(rule.most, min(HORIZON.get(one.law.speech.shape[2], 9), len(workers)))
    every = np.arange(len(workers))
    return in_any_order(one.law.share, one.law.table(one.kind, every), one.prior, one.price, most)


def _priced(
    rule: Rule, crowds: Sequence[_Crowd], classes: Sequence[str], workers: Sequence[str], expert: float
) -> RulePrice:
    trees = [_tree(one, rule, workers) for one in crowds]
    each = [priced(tree, rule.decided(tree, classes), expert) for tree in trees]
    share = np.array([one.share for one in crowds])
    named = ("labels", "cost", "error", "end", "expert")
    mean = {name: float(share @ [getattr(one, name) for one in each]) for name in named}
    by_class = share @ np.array([one.by_class for one in each])
    kin, tried = siblings(trees, share, rule, classes, expert)
    sibling = next(one for one in kin if one.error <= mean["error"] * (1 + 1e-9))
    if sibling.cost >= mean["cost"] * (1 - 1e-9):
        sibling = Sibling(rule, mean["cost"], mean["error"])
    best = best_plan(trees, share, mean["error"], expert)
    none = float(share @ [1 - tree.joint[0].max() for tree in trees])
    errors = np.geomspace(max(1e-6, min(mean["error"] / 20, none / 100)), max(none, 1e-6), POINTS)
    curve = frontier(trees, share, expert, errors)
    return RulePrice(
        rule, by_class=by_class, sibling=sibling, siblings=kin, tried=tried, best=best, frontier=curve, **mean
    )


def flat(one: RulePrice) -> dict[str, Any]:
    """A rule as a row."""
    kin = one.sibling
    return {
        "rule": str(one.rule),
        **{name: getattr(one, name) for name in ("labels", "cost", "error", "end", "expert")},
        "sibling": str(kin.rule),
        "sibling_cost": kin.cost,
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
        by_class = ", ".join(
            f"{name}: {100 * error:.3g} %" for name, error in zip(found.classes, one.by_class, strict=True)
        )
        paid = "" if abs(one.cost - one.labels) < 1e-9 else f", cost {one.cost:.3f}"
        sent = f", {100 * one.expert:.1f} % go to the expert" if one.expert else ""
        lines.append(
            f"{one.rule}: {one.labels:.3f} labels a task{paid}, {100 * one.error:.4g} % wrong ({by_class}), "
            f"{100 * one.end:.1f} % of the tasks run to its end{sent}"
        )
        kin = one.sibling
        if kin.cost < one.cost * (1 - 1e-9):
            costs = f"cost {kin.cost:.3f} for {100 * kin.error:.4g} % wrong"
            lines.append(f"  the best of {one.tried} of its shape: {kin.rule}, {costs}")
        else:
            lines.append(f"  of {one.tried} rules of its shape none is cheaper for so few wrong")
        if one.waste >= NOTICED:
            total = (
                f", {number(found.tasks * (one.cost - one.best.cost))} for {found.tasks} tasks" if found.tasks else ""
            )
            lines.append(
                f"  the best plan of these votes{found.with_expert} costs {one.best.cost:.3f}, which is proven: "
                f"{100 * one.waste:.1f} % of the rule's cost is wasted{total}"
            )
        else:
            lines.append(f"  no plan of these votes{found.with_expert} saves {100 * NOTICED:g} % of it: that is proven")
    return lines


def _said(found: Rules, output: AnyPath | None, to: str | None) -> Said:
    lines = said(found)
    if output is not None:
        files = ", ".join(["rules.csv", *([FILES[to]] if to else [])])
        lines.append(f"wrote {output}: {files}; a page by crowdopt report {output}")
    least = min(one.error for one in found.prices)
    if found.tasks and 0 < least < 0.49:
        digits = 1 - int(np.floor(np.log10(least)))
        epsilon = np.ceil(least * 10**digits) / 10**digits
        lines.append(f"next: crowdopt solve {found.source} --epsilon {epsilon:g} --method adaptive -o PLAN")
    return Said(facts_of(found), lines)


VERBS = (Verb("rules", rules, _said),)
