"""The verb judges: whether judges are any good, on what, and how many human labels would tell more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from shlex import quote
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from crowdopt.arrays import Bools
from crowdopt.crowd.labels import Labels
from crowdopt.documents import write_json
from crowdopt.errors import InputError, refuse_unless
from crowdopt.io.bridges.pushed import Wishes
from crowdopt.io.cells import name_of, write_csv
from crowdopt.io.folders import check_target, new_folder
from crowdopt.io.tables import Table, labels_of, read_label_table, read_true_labels, true_classes
from crowdopt.judging.agreement import Estimate
from crowdopt.judging.card import NOT_YET, TRUSTED, UNKNOWN, Card, Panel, Use, cards, fewest, panel, plain, to_experts
from crowdopt.notebooks import InFrames
from crowdopt.said import Said, Verb, Word
from crowdopt.verbs.binding import AnyPath, TableLike, keywords
from crowdopt.verbs.import_labels import ToolLog, mean_costs, means, read_log
from crowdopt.version import __version__

JUDGES = "judges.json"
SLICES = 50  # values of a column
SHOWN = 8  # judges, or pairs, that the terminal has


@dataclass(frozen=True, kw_only=True)
class JudgesOptions:
    """Options of the judges' cards: human labels, the log's format, what judges are wanted for.

    Parameters
    ----------
    truth : path, optional
        What humans say: task,label. Default: a column truth of the log, or what the tool marks as gold.
    tool : str, optional
        The tool that wrote the log: ``crowdopt list formats`` shows all. Default: a table of ours.
    field : str, optional
        The question whose answers are the votes, where a tool asks several.
    key : str, optional
        The key of an item's data that holds its id, in a tool's export.
    by : str
        A column of the log by whose values there are cards too.
    accuracy : float
        Share of right verdicts that a judge is wanted for.
    recall : float
        Share of the items of each class that the judge has to call so.
    width : float
        Width of the intervals of the classes' shares for which more items to look at are named.
    target : float
        Share of wrong answers that a plan may leave.
    confidence : float
        Of each interval; of all words together.
    held_out : bool
        No judge, prompt or threshold was chosen by these human labels.
    require : str, optional
        Exit status 1 unless every judge is ``trusted``, on all items and on each slice.
    output : path, optional
        Folder to write, from which ``report`` makes a page.
    force : bool
        Replace the output if it exists.
    """

    truth: Annotated[TableLike | None, Word("--truth")] = field(default=None, kw_only=False)
    tool: Annotated[str, Word("--from")] | None = None
    field: str | None = None
    key: str | None = None
    by: str = ""
    accuracy: float = 0.9
    recall: float = 0.0
    width: float = 0.1
    target: float = 0.05
    confidence: float = 0.95
    held_out: bool = False
    require: Literal["trusted"] | None = None
    output: AnyPath | None = None
    force: bool = False


@dataclass(frozen=True, eq=False)
class Judged(InFrames):
    """Cards of all judges, and what they are together.

    Parameters
    ----------
    cards : list of Card
        Of each judge on all items, then on each slice.
    panel : Panel, optional
        None where there is one judge.
    trusted : bool
        Whether every card says so.
    next : list of str
        The commands that come next, or why there are none.
    """

    cards: Sequence[Card]
    panel: Panel | None
    use: Use
    target: float
    workers: tuple[str, ...]
    by: str
    next: list[str]

    in_notebooks: ClassVar[tuple[str, ...]] = ("trusted",)

    @property
    def trusted(self) -> bool:
        """Whether every judge is, on all items and on each slice."""
        return all(card.word == TRUSTED for card in self.cards)

    def notebook_rows(self, most: int) -> tuple[list[dict[str, Any]], int]:
        """A row a card."""
        return [flat(card) for card in self.cards[:most]], len(self.cards)


@keywords(JudgesOptions)
def judges(log: TableLike, asked: JudgesOptions) -> Judged:
    """Say of each judge on what it is right, whether it is to be trusted, and how many human labels would tell more.

    Parameters
    ----------
    log : path
        Columns task, worker (the judge), label (the verdict); optionally cost of each verdict, and truth.

    Returns
    -------
    Judged

    Raises
    ------
    InputError
        If a table cannot be used, a number is out of range, or ``require`` is asked of labels that may have been chosen
        by.

    Reads
    -----
    a log task,worker,label, or with --from a tool's; human labels task,label

    Writes
    ------
    with -o a folder: judges.json, judges.csv

    Examples
    --------
    ::

        crowdopt solve my-campaign -o my-plan
        crowdopt rehearse my-campaign my-plan -o labels.csv --truth truth.csv
        crowdopt judges labels.csv --truth truth.csv --accuracy 0.7
    """
    _check(asked)
    if asked.output is not None:
        check_target(Path(asked.output), JUDGES, asked.force)
    known = None if asked.truth is None else read_true_labels(asked.truth)
    if asked.tool is None:
        table = read_label_table(log)
        values = {name: _of_tasks(table, name) for name in (asked.by, "truth") if name in table.extras}
        known = known or values.get("truth") or None
        labels, cost = labels_of(table, () if known is None else tuple(known.values())), mean_costs(table)
    else:
        read, values = read_log(log, asked.tool, known, Wishes(asked.field, asked.key)), {}
        labels, known, cost = read.labels, read.known, _cost_of_calls(read)
    slices = _slices(asked.by, values, labels, name_of(log))
    true = None if known is None else true_classes(known, labels, name_of(log if asked.truth is None else asked.truth))
    if asked.require is not None and true is None:
        raise InputError("--require trusted needs human labels; give them with --truth")
    use = Use(asked.accuracy, asked.recall, asked.width, asked.confidence)
    made = cards(labels, true, use, slices, cost)
    together = panel(labels, true, use)
    onward = _next(
        log, asked, true is not None and bool((true >= 0).any()), fewest(len(made), use), {*labels.workers} <= {*cost}
    )
    found = Judged(made, together, use, asked.target, labels.workers, asked.by, onward)
    if asked.output is not None:
        _write(found, Path(asked.output), asked.force)
    return found


def _check(asked: JudgesOptions) -> None:
    refuse_unless(
        {
            f"the accuracy that is wanted must lie strictly between 0 and 1, not {asked.accuracy:g}": (
                0 < asked.accuracy < 1
            ),
            f"the recall that is wanted must lie in [0, 1), not {asked.recall:g}": 0 <= asked.recall < 1,
            f"the width must lie strictly between 0 and 1, not {asked.width:g}": 0 < asked.width < 1,
            f"the target must lie strictly between 0 and 1/2, not {asked.target:g}": 0 < asked.target < 0.5,
            f"the confidence must lie strictly between 0 and 1, not {asked.confidence:g}": 0 < asked.confidence < 1,
            "--require trusted is about labels by which nothing was chosen: say --held-out if no judge, prompt or "
            "threshold was chosen by them, else label other items": asked.require is None or asked.held_out,
        }
    )


def _of_tasks(table: Table, name: str) -> dict[str, str]:
    """The value of each task in a column, the same in all of its rows."""
    values: dict[str, str] = {}
    for row, (task, cell) in enumerate(zip(table["task"], table.extras[name], strict=True)):
        if cell and values.setdefault(task, cell) != cell:
            raise table.error(row, name, f"{cell!r}, and {values[task]!r} before: give each task one value")
    return values


def _slices(by: str, values: dict[str, dict[str, str]], labels: Labels, source: str) -> dict[str, Bools]:
    """Which tasks have each value of the column, (tasks,)."""
    if not by:
        return {}
    if by not in values:
        raise InputError(f"{source} has no column {by!r} beside task, worker and label to make cards by")
    value = np.array([values[by].get(task, "") for task in labels.tasks])
    names = [name for name in np.unique(value).tolist() if name]
    if len(names) > SLICES:
        raise InputError(f"{source}: column {by} has {len(names)} values; cards are by {SLICES} at most: join some")
    return {name: value == name for name in names}


def _cost_of_calls(read: ToolLog) -> dict[str, float]:
    """The same, as the tool says of each call."""
    used = ((row.worker, row.usage) for row in read.rows)
    return means((worker, one.cost) for worker, one in used if one is not None and one.cost is not None)


def _next(log: TableLike, asked: JudgesOptions, known: bool, needed: int, paid: bool) -> list[str]:
    """The commands that come next."""
    if not known:
        return [f"label {needed} items drawn at random, the fewest by which all judges can show {asked.accuracy:g}"]
    place, truth = (quote(str(one)) if isinstance(one, str | Path) else "" for one in (log, asked.truth))
    options = {"--from": asked.tool, "--field": asked.field, "--key": asked.key}
    words = [f"{option} {quote(value)}" for option, value in options.items() if value is not None]
    words += [] if asked.tool is not None and not truth else [f"--truth {truth or 'HUMAN'}"]
    words += ["--cost-as-price"] * paid
    return [
        f"crowdopt import {' '.join([place or 'LOG', *words])} --epsilon {asked.target:g} -o CAMPAIGN",
        "crowdopt solve CAMPAIGN --method adaptive -o PLAN",
    ]


def flat(card: Card) -> dict[str, Any]:
    """A card as a row."""
    row: dict[str, Any] = {key: getattr(card, key) for key in ("judge", "slice", "votes", "looked", "right")}
    for name, one in {"accuracy": card.accuracy, **card.agreement}.items():
        row |= {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
    return {**row, "word": card.word, "why": card.why, "more": card.more, "cost": card.cost}


def facts_of(found: Judged) -> dict[str, Any]:
    """All that is known, as plain JSON."""
    together = found.panel
    facts: dict[str, Any] = {
        "version": __version__,
        **asdict(found.use),
        "target": found.target,
        "by": found.by,
        "next": found.next,
        "trusted": found.trusted,
        "cards": [plain(card) for card in found.cards],
        "panel": None,
    }
    if together is not None:
        facts["panel"] = {
            "agreement": {name: one._asdict() for name, one in together.agreement.items()},
            "worth": None if together.worth is None else asdict(together.worth),
            "all_wrong": together.all_wrong._asdict(),
            "looked": together.looked,
            "together": pairs_of(found),
            "said": panel_said(found),
        }
    return facts


def pairs_of(found: Judged) -> list[dict[str, Any]]:
    """Judges who err together, those most alike first."""
    pairs = found.panel.together if found.panel is not None else None
    if pairs is None:
        return []
    warned = np.flatnonzero(pairs.warned)
    return [
        {
            "first": found.workers[int(pairs.first[k])],
            "second": found.workers[int(pairs.second[k])],
            "items": int(pairs.shared[k]),
            "correlation": float(pairs.correlation[k]),
            "low": float(pairs.low[k]),
            "high": float(pairs.high[k]),
        }
        for k in warned[np.argsort(-pairs.correlation[warned], kind="stable")].tolist()
    ]


def _write(found: Judged, folder: Path, force: bool) -> None:
    rows = [flat(card) for card in found.cards]
    with new_folder(folder, JUDGES, force) as new:
        write_csv(new / "judges.csv", list(rows[0]), ([row[key] for row in rows] for key in rows[0]))
        write_json(new / JUDGES, facts_of(found))


def spelled(one: Estimate, percent: bool = False) -> str:
    """A figure with its interval."""
    if one.value is None:
        return "-"
    times, digits = (100, 1) if percent else (1, 2)
    return f"{times * one.value:.{digits}f} ({times * one.low:.{digits}f} to {times * one.high:.{digits}f})"


def _table(found: Judged) -> list[str]:
    paid = any(card.cost is not None for card in found.cards)
    titles = ("judge", *[found.by] * bool(found.by), "votes", "humans", *["cost"] * paid)
    rows = [(*titles, "right %", "kappa", "AC1", "trusted?")]
    for card in found.cards:
        part = [card.slice or "all"] if found.by else []
        word = card.word if card.more is None or card.word != NOT_YET else f"not yet: {card.more} more"
        agreed = (spelled(card.agreement[name]) for name in ("kappa", "ac1"))
        cost = ["-" if card.cost is None else f"{card.cost:.3g}"] * paid
        counts = str(card.votes), str(card.looked), *cost
        rows.append((card.judge, *part, *counts, spelled(card.accuracy, True), *agreed, word))
    wide = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return ["  ".join(cell.ljust(size) for cell, size in zip(row, wide, strict=True)).rstrip() for row in rows]


def card_said(card: Card, use: Use) -> list[str]:
    """What a card says beside its row, in sentences."""
    said = [f"{card.judge}: {card.word}{f', {card.why}' if card.why else ''}"]
    if card.word == NOT_YET:
        said[0] += (
            "; more human labels are not likely to show it"
            if card.more is None
            else f"; {card.more} more verdicts beside human labels would show it, if it stays as good"
        )
    if card.looked:
        for one in card.classes:
            seen = f"found on {spelled(one.recall, True)} % of {one.items}" if one.items else "no human label"
            share = f"said of {100 * one.said:.1f} % of the items, by human labels true of {spelled(one.share, True)} %"
            said.append(f"  {one.name}: {seen}; {share}")
        more = [f"{one.more} where it says {one.name}" for one in card.classes if one.more]
        said += [f"  for intervals of {100 * use.width:g} % look at {', '.join(more)}"] if more else []
    return said


def panel_said(found: Judged) -> list[str]:
    """What is known of all judges together, in sentences."""
    together = found.panel
    if together is None:
        return []
    agreed = ", ".join(
        f"{name} {spelled(together.agreement[key])}" for name, key in (("alpha", "alpha"), ("AC1", "ac1"))
    )
    every = "both judges" if len(found.workers) == 2 else f"all {len(found.workers)} judges"
    said = [f"agreement of {every} beyond chance: {agreed}"]
    if (worth := together.worth) is not None:
        said.append(
            f"together they are worth {worth.votes:.3g} independent votes ({worth.low:.3g} to {worth.high:.3g})"
        )
    pairs = pairs_of(found)
    for pair in pairs[:SHOWN]:
        said.append(
            f"{pair['first']} and {pair['second']} err together: correlation {pair['correlation']:.2f} "
            f"({pair['low']:.2f} to {pair['high']:.2f}) on {pair['items']} items"
        )
    said += [f"and {len(pairs) - SHOWN} more pairs"] if len(pairs) > SHOWN else []
    least = to_experts(together.all_wrong.low, found.target)
    if least:
        said.append(
            f"every judge is wrong at once on {spelled(together.all_wrong, True)} % of the items that all voted on: "
            f"more than {100 * found.target:g} % of answers that some judge gives are wrong, unless at least "
            f"{100 * least:.1f} % go to an expert"
        )
    return said


def _said(found: Judged, require: str | None) -> Said:
    of_all = [card for card in found.cards if not card.slice]
    lines = [*_table(found), ""]
    for card in of_all[:SHOWN]:
        lines += card_said(card, found.use) if card.word != UNKNOWN or card.looked else []
    lines += [*panel_said(found), *(f"next: {line}" for line in found.next)]
    return Said(facts_of(found), lines, int(require is not None and not found.trusted))


VERBS = (Verb("judges", judges, _said),)
