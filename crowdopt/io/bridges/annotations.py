"""What a judge's call used, and what that costs by a table of prices.

What people did in a tool, in one shape whatever the tool: labels, cancelled ones, times, gold.

What a judge's log says of one item: a class, nothing, or something that is no class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from typing import Any

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.documents import shown
from crowdopt.errors import InputError
from crowdopt.io.cells import TableLike
from crowdopt.io.foreign_json import scalar
from crowdopt.io.schema import PEOPLE, TOKEN_PRICES
from crowdopt.io.tables import read_table

MILLION = 1e6  # tokens that a price of tokens is for
CALLS = 1000  # that a judge's price is for: that of one call would be too small a number
YES, NO = {"yes", "true", "1"}, {"", "no", "false", "0"}


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, each counted once; and the money that the tool itself says they cost."""

    sent: float = 0.0  # the input that no cache had
    returned: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0
    cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        money = None if self.cost is None or other.cost is None else self.cost + other.cost
        sent, returned, read, written = (self.tokens + other.tokens).tolist()
        return Usage(sent, returned, read, written, money)

    @property
    def tokens(self) -> Floats:
        """(4,): in the order of a row of prices."""
        return np.array([self.sent, self.returned, self.cache_read, self.cache_write])


def usage_of(
    sent: Any, returned: Any, cache_read: Any = None, cache_write: Any = None, *, total: Any = None, cost: Any = None
) -> Usage | None:
    """Usage from a tool's counts; None where it counts no token and no cost, as of a call that failed.

    Some tools count cached tokens within the input, some beside it: they are within where ``total`` is the sum of input
    and output alone.
    """
    given = [_amount(value) for value in (sent, returned, cache_read, cache_write)]
    money = _amount(cost)
    if money is None and not any(given):
        return None
    fresh, output, read, written = (value or 0.0 for value in given)
    whole = _amount(total)
    if whole is not None and whole == fresh + output and read + written <= fresh:
        fresh -= read + written
    return Usage(fresh, output, read, written, money)


def _amount(value: Any) -> float | None:
    try:
        number = None if isinstance(value, bool) or value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number is not None and 0 <= number < np.inf else None


def prices_of_labels(used: Mapping[str, list[Usage]], workers: Sequence[str], table: TableLike | None) -> Floats:
    """Price of 1000 calls of each worker, (workers,): by prices of tokens, else what the tool says they cost.

    used: worker -> usage of each call, those without an answer too, for they are paid as well.
    """
    if table is None:
        return CALLS * np.array([_said(used.get(name, []), name) for name in workers])
    price = _read_prices(table)
    return CALLS * np.array([_by_tokens(used.get(name, []), name, price.get(name)) for name in workers])


def _said(calls: list[Usage], worker: str) -> float:
    costs = [call.cost for call in calls if call.cost is not None]
    if not costs or len(costs) < len(calls):
        raise InputError(f"the log does not say what each call of {worker} cost; give prices with --token-prices")
    return float(np.mean(costs))


def _by_tokens(calls: list[Usage], worker: str, price: Floats | None) -> float:
    if price is None:
        raise InputError(f"the prices of tokens have no row for {worker}; add one, with 0 if they cost nothing")
    if not price.any():
        return 0.0
    if not calls:
        raise InputError(f"the log has no tokens of {worker}; if they cost nothing, say 0 in the prices of tokens")
    return float(np.mean([call.tokens for call in calls], axis=0) @ price)


def _read_prices(source: TableLike) -> dict[str, Floats]:
    """Worker -> price of a token sent, returned, read from and written to a cache, (4,)."""
    # A cache's tokens cost what sent ones do where nothing is said; whatever is asked as a batch costs half.
    table = read_table(source, TOKEN_PRICES)
    columns = [table.numbers(name) for name in ("input", "output")]
    for name in ("cache_read", "cache_write"):
        given = table.numbers(name, np.nan) if name in table else np.full(table.rows, np.nan)
        columns.append(np.where(np.isnan(given), columns[0], given))
    rows = np.column_stack(columns) / MILLION
    batch = [cell.lower() for cell in table["batch"]] if "batch" in table else [""] * table.rows
    for row, cell in enumerate(batch):
        if cell not in YES | NO:
            raise table.error(row, "batch", f"{cell!r} is neither yes nor no; write one of them")
    half = np.where([cell in YES for cell in batch], 0.5, 1.0)
    return dict(zip(table.unique_ids("worker"), rows * half[:, None], strict=True))


@dataclass(frozen=True, slots=True)
class Annotation:
    """One worker's work on one task."""

    # ids; the worker's is the account's name in the tool
    task: str
    worker: str
    label: str  # the class; empty where none was given
    seconds: float | None = None  # how long it took
    when: str = ""  # when it was given, as the tool writes it; later ones sort after earlier ones
    cancelled: bool = False  # whether the worker skipped the task, or took the label back
    gold: bool = False  # whether the tool marks this label as the truth of its task
    place: str = ""  # where it stands in the tool's file
    refused: str = ""  # why it cannot be a label, where the tool has something there that is none
    usage: Usage | None = None  # of the call that gave it, where the tool counts tokens
    shown: str = ""  # what was to be labelled, where the tool says: if it differs, these are two tasks
    question: str = ""  # which question it answers, where the tool asks several
    model: str = ""  # what answered under the worker's name, where the tool says: if it differs, these are two workers

    @property
    def counts(self) -> bool:
        """Whether it is a label to vote with."""
        return bool(self.label) and not self.cancelled and not self.refused


@dataclass(frozen=True, eq=False)
class Annotations:
    """All of them, in the tool's order, and the true labels that the tool knows."""

    rows: tuple[Annotation, ...]
    source: str  # the file or server they are from, for messages
    truth: Mapping[str, str] = field(default_factory=dict)  # task -> its true label

    def of_workers(self, people: Mapping[str, str], workers: Iterable[str] = ()) -> Annotations:
        """Ids in place of accounts: what ``people`` says, the same id, the one with the model, or that before an @."""
        known = set(workers)
        pairs = {(row.worker, row.model) for row in self.rows}
        names = {(name, model): _worker(name, model, people, known) for name, model in pairs}
        rows = tuple(replace(row, worker=names[row.worker, row.model]) for row in self.rows)
        return Annotations(rows, self.source, self.truth)


def _worker(account: str, model: str, people: Mapping[str, str], workers: set[str]) -> str:
    if account in people:
        return people[account]
    long = f"{account} ({model})"  # as a log calls it in which several models stand behind the name
    if account not in workers and long in workers:
        return long
    short = account.partition("@")[0]
    return short if account not in workers and short in workers else account


def told_apart(pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """A name for each pair of a name and what it stands for: the same name, and both where it stands for several."""
    known = dict.fromkeys(pairs)
    count = Counter(name for name, _ in known)
    return {
        (name, meant): f"{name} ({' '.join(meant.split())})" if meant and count[name] > 1 else name
        for name, meant in known
    }


def with_gold(rows: Iterable[Annotation], source: str, truth: Mapping[str, str] | None = None) -> Annotations:
    """Annotations whose true labels are those marked as gold, beside others that are known.

    truth: true labels that the tool keeps elsewhere. Raises InputError if two marks for one task differ, if
    several questions are answered, or one id stands for two things to label. Models of one name are told apart.
    """
    every, known = tuple(rows), dict(truth or {})
    asked = sorted({row.question for row in every if row.counts and row.question})
    if len(asked) > 1:
        raise InputError(f"{source}: answers {', '.join(asked)}; choose one of them with --field")
    judges = told_apart((row.worker, row.model) for row in every)
    every = tuple(replace(row, worker=judges[row.worker, row.model]) if row.model else row for row in every)
    first: dict[str, Annotation] = {}
    for row in every:
        other = first.setdefault(row.task, row) if row.shown else row
        if other.shown != row.shown:
            raise InputError(
                f"{source}, {row.place}: what task {row.task} shows differs from {other.place}; read one of the two, "
                "or name a key that tells them apart with --key"
            )
        if row.gold and row.counts and known.setdefault(row.task, row.label) != row.label:
            raise InputError(
                f"{source}, {row.place}: task {row.task} is marked as {row.label!r} and as {known[row.task]!r}; "
                "keep one mark"
            )
    return Annotations(every, source, known)


@dataclass(frozen=True)
class Account:
    """What became of every annotation of a log: each is counted once.

    Parameters
    ----------
    read : int
        All of them: the sum of the others.
    used : int
        Labels.
    abstained : int
        Skipped, taken back, or without an answer.
    refused : int
        No class, or what the tool itself says does not hold; ``refusals`` has their places.
    replaced, repeated : int
        Those that a later one of the same task and worker stands for; the same row twice.
    gold : int
        Labels that are themselves the mark of truth.
    refusals : tuple of str
        Place and reason of each that was refused.
    """

    read: int
    used: int
    abstained: int
    refused: int
    replaced: int
    repeated: int
    gold: int = 0
    refusals: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The account in words; the first place of what was refused."""
        kinds = ("used", "abstained", "refused", "replaced by a later one", "read twice", "marks of the truth")
        counts = (self.used, self.abstained, self.refused, self.replaced, self.repeated, self.gold)
        parts = [f"{count} {kind}" for count, kind in zip(counts, kinds, strict=True) if count or kind == "used"]
        first = f"; refused first: {self.refusals[0]}" if self.refusals else ""
        return f"{self.read} annotations read: {', '.join(parts)}{first}"


def accounted(rows: Sequence[Annotation], gold_votes: bool = True) -> tuple[list[Annotation], Account]:
    """The labels to use, and what became of each annotation. gold_votes: whether a mark of truth is a label as well."""
    best, replaced = latest(rows)
    refused = [row for row in best if row.refused]
    gold = [row for row in best if row.counts and row.gold and not gold_votes]
    used = [row for row in best if row.counts and (gold_votes or not row.gold)]
    return used, Account(
        read=len(rows),
        used=len(used),
        abstained=len(best) - len(used) - len(refused) - len(gold),
        refused=len(refused),
        replaced=len(replaced),
        repeated=len(rows) - len(best) - len(replaced),
        gold=len(gold),
        refusals=tuple(f"{row.place}, {row.refused}" for row in refused),
    )


def latest(rows: Iterable[Annotation]) -> tuple[list[Annotation], list[Annotation]]:
    """One annotation of each pair of task and worker, and those that it replaced.

    A label counts more than a cancelled one, a later one more than an earlier one; of equal times the last in the file.
    """
    best: dict[tuple[str, str], Annotation] = {}
    replaced = []
    for row in rows:
        pair = row.task, row.worker
        old = best.setdefault(pair, row)
        if replace(old, place="") == replace(row, place=""):
            continue  # the same row, read twice
        if (row.counts, row.when) >= (old.counts, old.when):
            best[pair], row = row, old
        replaced.append(row)
    return list(best.values()), replaced


def read_people(given: TableLike | None) -> dict[str, str]:
    """Account -> worker, from a table with these columns; empty without a table."""
    if given is None:
        return {}
    table = read_table(given, PEOPLE)
    return dict(zip(table.unique_ids("account"), table.ids("worker"), strict=True))


PASSED, FAILED = "pass", "fail"


def is_silent(value: Any) -> bool:
    """Whether a value stands for no answer: null, NaN, a text of blanks."""
    return (
        value is None or (isinstance(value, float) and isnan(value)) or (isinstance(value, str) and not value.strip())
    )


def verdict(
    task: str, worker: str, value: Any, place: str, *, spent: Usage | None = None, when: str = "", why: str = ""
) -> Annotation:
    """A judge's vote: the value as a class, an abstention where it is silent, refused where it is no single value.

    why: why the vote cannot count whatever its value is, where that is known.
    """
    label = "" if is_silent(value) else scalar(value)
    refused = why or (f"{shown(value)} is no single value" if label is None else "")
    return Annotation(
        task=task,
        worker=worker,
        label=label or "",
        when=when,
        cancelled=not label and not refused,
        place=place,
        refused=refused,
        usage=spent,
    )


def passed(value: Any) -> Any:
    """The words for true and false; anything else as it is."""
    return (PASSED if value else FAILED) if isinstance(value, bool) else value


def one_question(asked: Iterable[tuple[str, str]], source: str) -> None:
    """Refuse people who answered several questions where none is chosen. asked: (person, question) of each answer."""
    first: dict[str, str] = {}
    for person, question in asked:
        if first.setdefault(person, question) != question:
            raise InputError(
                f"{source}: {person} answered {first[person]!r} and {question!r}; choose one of them with --field"
            )
