"""The verb import: a campaign made of real labels, with how much and how well each worker labelled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from crowdopt.answers.propagation import agreement_tallies
from crowdopt.arrays import Floats, Ints, places
from crowdopt.crowd.error_correlation import ErrorCorrelation, error_correlation
from crowdopt.crowd.gold import FOLDS, Gold, GoldVotes, Told, heeded
from crowdopt.crowd.groups import Group
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.labels import Labels, tally
from crowdopt.crowd.law import NONE
from crowdopt.crowd.rules import BHATTACHARYYA, EXACT_ERROR, rule_named
from crowdopt.crowd.skills import AGREEMENT, AVERAGED, heed, with_crowd
from crowdopt.documents import finite
from crowdopt.errors import GoldWarning, InputError, tell
from crowdopt.io.bridges import bridge_named
from crowdopt.io.bridges.annotations import Account, Annotation, Usage, accounted, prices_of_labels
from crowdopt.io.bridges.pushed import Wishes
from crowdopt.io.campaign import read_campaign, write_campaign
from crowdopt.io.cells import name_of
from crowdopt.io.folders import CAMPAIGN, check_target
from crowdopt.io.tables import (
    Table,
    labels_of,
    read_label_table,
    read_true_labels,
    read_types,
    refuse_numbers,
    tell_doubtful,
    true_classes,
)
from crowdopt.judging.bins import NEVER_TRUE, cut, unsure
from crowdopt.notebooks import InNotebooks
from crowdopt.said import Said, Verb, Word
from crowdopt.verbs.binding import AnyPath, TableLike, keywords, size_of
from crowdopt.verbs.worker_skills import tallied

MOST = 20_000_000  # tasks of known truth times workers for whom correlations of errors are looked at


@dataclass(frozen=True, eq=False)
class Imported(InNotebooks):
    """An instance made of real labels, with the tallies its accuracies were estimated from.

    Parameters
    ----------
    instance : AssignmentInstance
    gold : (correct, asked), each (types, workers) int
    gold_source : str
        What the labels were held against, in words.
    together : ErrorCorrelation, optional
        How workers' errors go together on tasks of known truth; None without truth.
    account : Account, optional
        What became of every annotation of a tool's log; None for a table of ours.
    cuts : dict, optional
        Worker -> confidence from which on a label is sure; one below is called as the class, with a question mark.
    """

    instance: AssignmentInstance
    gold: tuple[Ints, Ints]
    gold_source: str
    together: ErrorCorrelation | None = None
    account: Account | None = None
    cuts: dict[str, float] | None = None

    @property
    def families(self) -> list[Ints]:
        """Families that the labels suggest: the members of each."""
        return families_of(self.together)


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """Options of an import: the truth, the tool that the labels come from, and the campaign that is written.

    Parameters
    ----------
    truth : path, optional
        Known answers: task,label; without them skills are estimated from how labels of a task agree. Tasks without
        truth count for nobody's tally. Default: what the tool marks as gold.
    types : path, optional
        Types of the tasks: task,type. Every task needs one.
    tool : str, optional
        The tool that exported the labels: ``crowdopt list formats`` shows all. Default: a table of ours.
    field : str, optional
        The question whose answers are the labels, where a tool asks several.
    key : str, optional
        The key of a task's data that holds its id, in a tool's export.
    time_as_price : bool
        Take a worker's mean seconds for a label as their price.
    cost_as_price : bool
        Take as a worker's price the mean of the column cost, or what 1000 calls cost by a tool's log.
    token_prices : path, optional
        Take what 1000 calls cost by this table as a worker's price:
        worker,input,output[,cache_read][,cache_write][,batch]. Prices of a million tokens; batch: yes where calls are
        asked as a batch and cost half. Abstentions cost too.
    epsilon : float
        Error probability that each task may have.
    capacity : int, optional
        Capacity of each worker; default: the number of labels they gave.
    collected : bool
        Count these labels as in: plans then buy what is still missing, within capacity for further labels.
    rule : str, optional
        Rule of the campaign; default: exact-error.
    confidence : str, optional
        A column of the table, the higher the surer. Labels of each worker are cut by it in two, such as ``pass`` and
        ``pass?``, where gold shows that the sure ones are right more often. Needs truth; for ``--method adaptive``.
    families : bool
        Make families of workers who err together; needs truth. They are dependent groups, at most one label of each for
        a task.
    trust_gold : bool
        Take gold as it is, even where workers are below chance; the campaign then says so.
    output : path, optional
        Campaign folder to write. It has the tallies as gold.
    force : bool
        Replace the campaign if it exists.
    """

    truth: Annotated[TableLike | None, Word("--truth")] = field(default=None, kw_only=False)
    types: TableLike | None = None
    tool: Annotated[str, Word("--from")] | None = None
    field: str | None = None
    key: str | None = None
    time_as_price: bool = False
    cost_as_price: bool = False
    token_prices: TableLike | None = None
    epsilon: float = 0.05
    capacity: Annotated[int, Word(low=0)] | None = None
    collected: bool = False
    rule: str | None = None
    confidence: str | None = None
    families: bool = False
    trust_gold: bool = False
    output: AnyPath | None = None
    force: bool = False


@keywords(ImportOptions)
def import_labels(labels: TableLike, asked: ImportOptions) -> Imported:
    """Make a campaign of labels (columns task, worker, label): its tasks, its workers, their skills.

    Each worker is tallied against the truth, per type; without truth, by how labels of a task agree.

    Parameters
    ----------
    labels : path
        Columns task, worker, label (others are ignored).

    Returns
    -------
    Imported

    Raises
    ------
    InputError
        If a table cannot be used, the labels hold one class only, the crowd is below chance, or the target cannot be
        written.

    Reads
    -----
    labels task,worker,label, or with --from a tool's export; truth task,label; types task,type

    Writes
    ------
    a campaign folder: its gold.csv has all workers' tallies

    Examples
    --------
    ::

        crowdopt solve my-campaign -o my-plan
        crowdopt rehearse my-campaign my-plan -o labels.csv --truth truth.csv
        crowdopt import labels.csv --truth truth.csv --epsilon 0.2 -o imported
    """
    if asked.output is not None:
        check_target(Path(asked.output), CAMPAIGN, asked.force)
    elif asked.collected:
        raise InputError("labels that are in are a table of a campaign; name its folder with output")
    known = None if asked.truth is None else read_true_labels(asked.truth)
    if asked.confidence is not None:
        return _by_confidence(labels, known, asked)
    table = None
    if asked.tool is None:
        table = read_label_table(labels)
        read = ToolLog(labels_of(table, () if known is None else tuple(known.values())), known)
    else:
        read = read_log(labels, asked.tool, known, Wishes(asked.field, asked.key))
    given, known = read.labels, read.known
    if asked.rule is not None:
        rule_named(asked.rule, len(given.classes))
    if asked.families and known is None:
        raise InputError("families are seen in errors, so truth is needed; give it with --truth")
    kinds, names = read_types(asked.types, given.tasks)
    if known is None:
        source, gold = AGREEMENT, _by_agreement(given, kinds, len(names), asked.trust_gold)
    else:
        source = "truth"
        true = true_classes(known, given, name_of(labels if asked.truth is None else asked.truth))
        gold = tallied(given, true, kinds, len(names), asked.trust_gold)
    together = None if known is None else _together(given, true, kinds)
    apart = families_of(together) if asked.families else []
    families = tuple(Group(f"family {k}", members.tolist(), dependent=True) for k, members in enumerate(apart, 1))
    told, answers = _told(given, None if known is None else true, kinds, gold, source, asked.rule)
    instance = AssignmentInstance(
        accuracy=told.accuracy,
        task_type=kinds,
        capacity=given.counts if asked.capacity is None else np.full(len(given.workers), asked.capacity),
        epsilon=np.asarray(asked.epsilon),
        cost=_prices(read.rows, table, given, asked),
        rule=asked.rule,
        classes=len(given.classes),
        class_names=given.classes,
        tasks=given.tasks,
        workers=given.workers,
        types=names,
        title=f"imported from {name_of(labels)}",
        difficulty=told.difficulty,
        vote_law=told.vote_law,
        groups=families,
        collected=np.column_stack([given.task, given.worker]) if asked.collected else None,
        skills_source=told.source,
    )
    made = Imported(instance, gold, source, together, read.account)
    if asked.output is not None:
        if answers is not None and len(names) > 1:
            at = places(given.tasks)
            answers["type"] = [names[kinds[at[task]]] for task in answers["task"]]
        written = instance if answers is None else replace(instance, difficulty=NONE)  # which the answers tell
        written = replace(written, observed=asked.collected)  # what the labels say counts
        write_campaign(
            written,
            asked.output,
            force=asked.force,
            gold=answers or (gold if gold[1].any() else None),
            gold_source=source,
            trust_gold=asked.trust_gold,
            collected_labels=[given.classes[k] for k in given.label.tolist()] if asked.collected else (),
        )
        if asked.collected:
            made = replace(made, instance=read_campaign(asked.output, trust_gold=True))
    return made


def _by_confidence(source: TableLike, known: dict[str, str] | None, asked: ImportOptions) -> Imported:
    """A campaign whose labels are classes cut by confidence; an outcome that is no class is never true."""
    if known is None or asked.confidence is None:
        raise InputError("cutting labels by their confidence needs known answers; give them with --truth")
    options: dict[str, Any] = {"--from": asked.tool, "--rule": asked.rule, "--token-prices": asked.token_prices}
    options |= {"--families": asked.families, "--time-as-price": asked.time_as_price, "--collected": asked.collected}
    if others := [name for name, value in options.items() if value]:
        raise InputError(f"labels are cut by confidence in a table of ours alone: leave out {', '.join(others)}")
    table = read_label_table(source)
    if asked.confidence not in table.extras:
        raise InputError(f"{table.path.name} has no column {asked.confidence!r} with the confidence of each label")
    sure = table.with_spare(asked.confidence).numbers(asked.confidence)
    plain = labels_of(table, tuple(known.values()))
    true = true_classes(known, plain, name_of(source if asked.truth is None else asked.truth))
    kinds, types = read_types(asked.types, plain.tasks)
    at, doubt, cuts, classes = true[plain.task], np.zeros(plain.task.size, np.int64), dict[str, float](), plain.classes
    for j, worker in enumerate(plain.workers):
        mine, gold = plain.worker == j, (plain.worker == j) & (at >= 0)
        cuts[worker], own = cut(sure[gold], plain.label[gold] == at[gold])
        doubt[mine] = sure[mine] < cuts[worker]
        doubt[gold] = own  # by the cut of the other gold alone
    names = (*classes, *map(unsure, classes)) if doubt.any() else classes
    if len(set(names)) < len(names):
        raise InputError("a class is called as another one with a question mark, which names unsure labels; rename it")
    given = doubt * len(classes) + plain.label
    counts = np.zeros((len(types), len(plain.workers), len(names), len(names)), np.int64)
    seen = at >= 0
    np.add.at(counts, (kinds[plain.task[seen]], plain.worker[seen], at[seen], given[seen]), 1)
    if not seen.any():
        raise InputError("no label is on a task whose answer is known; check the ids of the truth")
    right, answered = tally(plain, true, kinds, len(types))
    together = _together(plain, true, kinds)
    if together is not None and together.warned.any():
        tell(
            f"{int(together.warned.sum())} pairs of workers err together, and plans by confidence take them for "
            "independent: they err more than they say; an audit tells how much",
            GoldWarning,
        )
    _with_doubt(counts, len(classes))
    never = len(names) - len(classes)
    prior = np.array([(1 - NEVER_TRUE * never) / len(classes)] * len(classes) + [NEVER_TRUE] * never)
    shares = np.stack([with_crowd(one if one.any() else counts.sum(axis=0)) for one in counts])
    instance = AssignmentInstance(
        accuracy=np.full(right.shape, 1 / len(names)),
        task_type=kinds,
        capacity=plain.counts if asked.capacity is None else np.full(len(plain.workers), asked.capacity),
        epsilon=np.asarray(asked.epsilon),
        cost=_prices((), table, plain, asked),
        rule=BHATTACHARYYA.name,
        classes=len(names),
        class_names=names,
        prior=prior,
        tasks=plain.tasks,
        workers=plain.workers,
        types=types,
        title=f"imported from {name_of(source)}, labels by confidence",
    )
    if asked.output is not None:
        kind, who, truth, said = np.nonzero(counts)
        columns: dict[str, list[Any]] = {"worker": [plain.workers[j] for j in who.tolist()]}
        columns |= {"type": [types[k] for k in kind.tolist()]} if len(types) > 1 else {}
        columns |= {"true": [names[k] for k in truth.tolist()], "answered": [names[k] for k in said.tolist()]}
        columns["count"] = counts[kind, who, truth, said].tolist()
        write_campaign(instance, asked.output, force=asked.force, gold=columns, gold_source="truth, and confidence")
    tables = shares / shares.sum(axis=-1, keepdims=True)
    return Imported(instance.with_confusion(tables), (right, answered), "truth", together, cuts=cuts)


def _with_doubt(counts: Ints, classes: int) -> None:
    """One more wrong label of each worker, true class and side of the cut where there is gold, the likeliest one.

    Plans lean on what looks best: without it they err more than they say. counts (types, workers, outcomes, outcomes).
    """
    crowd = counts.sum(axis=(0, 1))
    for k in range(classes):
        for side in range(0, crowd.shape[1], classes):
            wrong = np.delete(np.arange(side, side + classes), k)
            seen = counts[:, :, k].any(axis=2) & counts[..., side : side + classes].any(axis=(2, 3))
            counts[seen, k, wrong[crowd[k, wrong].argmax()]] += 1


def families_of(together: ErrorCorrelation | None) -> list[Ints]:
    """The members of each family that errors suggest."""
    home = np.zeros(0, np.int64) if together is None else together.family
    return [np.flatnonzero(home == k) for k in np.unique(home).tolist() if (home == k).sum() > 1]


def _told(
    given: Labels, true: Ints | None, kinds: Ints, tallies: tuple[Ints, Ints], source: str, rule: str | None
) -> tuple[Told, dict[str, list[str]] | None]:
    """Skills as a campaign would have them; answers to tasks of known truth, where several are to one task."""
    types, classes, rule = len(tallies[0]), len(given.classes), rule or EXACT_ERROR.name
    if not tallies[1].any():
        guess = np.full(tallies[0].shape, 1 / classes)
        return Told(guess, NONE, None, f"{AVERAGED} from {source}"), None
    gold = Gold(*tallies, source, classes, told_by=source)
    mine = np.zeros(0, np.int64) if true is None else np.flatnonzero(true[given.task] >= 0)
    items, item = np.unique(given.task[mine], return_inverse=True)
    if true is None or not FOLDS <= items.size < mine.size:
        return gold.told(types, rule), None
    worker, task, label = given.worker[mine], given.task[mine], given.label[mine]
    right = (label == true[task]).astype(np.int64)
    rows = GoldVotes(item.reshape(-1), worker, right, kinds[items], tallies[0].shape, classes)
    told = replace(gold, rows=rows, heeds=heeded(classes, several=False)).told(types, rule)
    names = {"worker": given.workers, "task": given.tasks, "label": given.classes, "truth": given.classes}
    numbers = {"worker": worker, "task": task, "label": label, "truth": true[task]}
    return told, {key: [names[key][k] for k in numbers[key].tolist()] for key in names}


def _by_agreement(labels: Labels, kinds: Ints, types: int, trust_gold: bool) -> tuple[Ints, Ints]:
    """Correct and asked as the labels tell them alone: nothing where none meet."""
    correct, asked = agreement_tallies(labels, kinds, types)
    if not asked.any():
        tell(
            f"{(labels.per_task > 1).sum()} of {len(labels.tasks)} tasks have several labels, which tell nothing of "
            "skills, so all workers count as guessing; give known answers (--truth), or more labels of a task",
            GoldWarning,
        )
        return correct, asked
    if not trust_gold:
        heed(correct, asked, len(labels.classes), labels.workers, AGREEMENT)
    return correct, asked


class ToolLog(NamedTuple):
    """Labels, the classes that are known, every annotation of a tool's log and what became of it."""

    labels: Labels
    known: dict[str, str] | None
    rows: Sequence[Annotation] = ()
    account: Account | None = None


def read_log(log: TableLike, tool: str, known: dict[str, str] | None, wishes: Wishes) -> ToolLog:
    """A tool's export; known: true labels of tasks, in place of those that the tool marks."""
    if not isinstance(log, str | Path):
        raise InputError(f"an export of {tool} is a file; give its name, or a table without the tool")
    found = bridge_named(tool).reader()(Path(log), wishes)
    voting, account = accounted(found.rows, gold_votes=False)
    known = dict(found.truth) if known is None and found.truth else known
    classes = () if known is None else tuple(known.values())
    return ToolLog(_labels_of(voting, account, found.source, classes), known, found.rows, account)


def _labels_of(rows: list[Annotation], account: Account, source: str, classes: tuple[str, ...]) -> Labels:
    """Annotations as labels; InputError where there are too few to decide anything."""
    if not rows:
        raise InputError(f"{source} has no labels ({account.sentence}); there is nothing to import")
    labels = Labels.from_columns(
        [row.task for row in rows], [row.worker for row in rows], [row.label for row in rows], classes
    )
    if len(labels.classes) < 2:
        raise InputError(f"{source} has the one label {labels.classes[0]!r} only; there is nothing to decide")
    tell_doubtful(source, set(labels.classes))
    refuse_numbers(labels, source, classes)
    return labels


def mean_costs(table: Table) -> dict[str, float]:
    """What a label of each worker costs on average, by the column cost; nothing without one."""
    if "cost" not in table.extras:
        return {}
    filled = table.only(np.array([cell != "" for cell in table.extras["cost"]]))
    return means(zip(filled["worker"], filled.with_spare("cost").numbers("cost").tolist(), strict=True))


def means(spent_by: Iterable[tuple[str, float]]) -> dict[str, float]:
    """The mean amount of each name."""
    spent: dict[str, list[float]] = {}
    for name, amount in spent_by:
        spent.setdefault(name, []).append(amount)
    return {name: float(np.mean(each)) for name, each in spent.items()}


def _prices(rows: Sequence[Annotation], table: Table | None, labels: Labels, asked: ImportOptions) -> Floats | float:
    """Price of each worker's label, (workers,), by the one thing that was asked for; else 1."""
    time, cost, tokens = asked.time_as_price, asked.cost_as_price, asked.token_prices
    if sum((time, cost, tokens is not None)) > 1:
        raise InputError("a label has one price; choose --time-as-price, --cost-as-price or --token-prices")
    if time:
        return _mean_seconds(rows, labels)
    if cost and table is not None and (costs := mean_costs(table)):
        if free := [name for name in labels.workers if name not in costs]:
            raise InputError(f"no label of {free[0]} has a cost; fill the column, or leave out --cost-as-price")
        return np.array([costs[name] for name in labels.workers])
    if not cost and tokens is None:
        if table is not None and "cost" in table.extras:
            tell("the column cost is not used, so every label costs 1; --cost-as-price takes it")
        return 1.0
    calls: dict[str, list[Usage]] = {}
    for row in rows:
        if row.usage is not None:
            calls.setdefault(row.worker, []).append(row.usage)
    return prices_of_labels(calls, labels.workers, tokens)


def _mean_seconds(rows: Sequence[Annotation], labels: Labels) -> Floats:
    """Mean seconds of each worker's labels, (workers,); of all workers' for a worker without times."""
    timed = [(row.worker, row.seconds) for row in accounted(rows, False)[0] if row.seconds is not None]
    if not timed:
        raise InputError("no label says how long it took, so time cannot be the price; leave out --time-as-price")
    place = {name: j for j, name in enumerate(labels.workers)}
    worker = np.array([place[name] for name, _ in timed])
    spent = np.array([seconds for _, seconds in timed])
    count = np.bincount(worker, minlength=len(place))
    total = np.bincount(worker, spent, len(place))
    return np.where(count > 0, total / np.maximum(count, 1), spent.mean())


def _together(labels: Labels, true: Ints, kinds: Ints) -> ErrorCorrelation | None:
    """Correlation of errors on the tasks whose truth is known; None where the table of all pairs would be too large."""
    known = true[labels.task] >= 0
    if np.unique(labels.task[known]).size * len(labels.workers) > MOST or len(labels.workers) ** 2 > MOST:
        return None
    wrong = labels.label != true[labels.task]
    task, worker = labels.task[known], labels.worker[known]
    return error_correlation(task, worker, wrong[known], len(labels.workers), kind=kinds[task])


def _facts_of_errors(made: Imported) -> dict[str, Any]:
    if made.together is None:
        return {}
    found, name = made.together, made.instance.worker_id
    return {
        "errors_together": {
            "pairs_looked_at": found.first.size,
            "pairs": [
                {
                    "workers": [name(int(found.first[k])), name(int(found.second[k]))],
                    "tasks": int(found.shared[k]),
                    "correlation": float(found.correlation[k]),
                    "interval": [float(found.low[k]), float(found.high[k])],
                }
                for k in np.flatnonzero(found.warned).tolist()
            ],
            "families": [
                {"workers": [name(int(j)) for j in members], "effective_votes": found.effective_votes(members)}
                for members in made.families
            ],
        }
    }


def _of_errors(made: Imported, kept: bool) -> list[str]:
    found, name = made.together, made.instance.worker_id
    if found is None or not found.warned.any():
        return []
    k = int(np.argmax(np.where(found.warned, found.correlation, -1.0)))
    lines = [
        f"errors go together: {int(found.warned.sum())} of {found.first.size} pairs of workers err together more than "
        f"chance, {name(int(found.first[k]))} and {name(int(found.second[k]))} most "
        f"({found.correlation[k]:.2f} [{found.low[k]:.2f}, {found.high[k]:.2f}] on {found.shared[k]} tasks)"
    ]
    for members in made.families[:SHOWN]:
        names = ", ".join(name(int(j)) for j in members[:SHOWN]) + (", ..." if members.size > SHOWN else "")
        worth = found.effective_votes(members)
        lines.append(f"suggested family: {names}; {members.size} votes worth {worth:.1f} independent ones")
        if 2 * members.size > made.instance.n_workers > 2:
            lines.append(
                "those are most of the workers: tasks hard for all workers, perhaps, which families do not mend"
            )
    more = len(made.families) - SHOWN
    lines += [f"and {more} more families"] if more > 0 else []
    done = "the campaign has them as dependent groups" if kept else "--families writes them into the campaign"
    return [*lines, f"{done}: a task then gets one label of each at most"]


def _of_cuts(made: Imported) -> list[str]:
    """From which confidence on a worker's labels are sure."""
    cuts = list((made.cuts or {}).items())
    said = [
        f"{worker}: sure at {cut:g} or more; below, its label has a question mark"
        if np.isfinite(cut)
        else f"{worker}: this gold does not show that its surer labels are right more often; they are one kind"
        for worker, cut in cuts[:SHOWN]
    ]
    return [*said, f"and {len(cuts) - SHOWN} more workers"] if len(cuts) > SHOWN else said


SHOWN = 5  # families, and members of one, in sentences


def _said(made: Imported, output: AnyPath, families: bool) -> Said:
    size = size_of(made.instance)
    asked = int((made.gold[1] > 0).sum())
    facts = {
        "campaign": str(output),
        **size,
        "gold_source": made.gold_source,
        "pairs_with_gold": asked,
        "account": None if made.account is None else asdict(made.account),
        **({} if made.cuts is None else {"cuts": finite(made.cuts)}),
        **_facts_of_errors(made),
    }
    lines = [
        f"wrote {output}: {size['tasks']} tasks of {size['types']} type(s), {size['workers']} workers, "
        f"{made.instance.classes} classes",
        f"accuracies from {made.gold_source}: known for {asked} of {made.gold[1].size} pairs of worker and type",
        *_of_errors(made, families),
        *([] if made.account is None else [made.account.sentence]),
        *_of_cuts(made),
    ]
    return Said(facts, lines)


VERBS = (Verb("import", import_labels, _said, needs=("output",)),)
