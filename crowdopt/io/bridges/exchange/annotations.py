"""What people did in a tool, in one shape whatever the tool: labels, cancelled ones, times, gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from crowdopt.errors import InputError
from crowdopt.io.bridges.exchange.token_usage import Usage
from crowdopt.io.tables.frames import TableLike
from crowdopt.io.tables.table_columns import read_table
from crowdopt.io.tables.table_kinds import PEOPLE


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
