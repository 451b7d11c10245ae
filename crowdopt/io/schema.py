"""The schema of tables: which columns each kind has, what it is for, and what is said of a wrong header.

A header is written as the guide writes it, ``worker[,type],accuracy``: what is in brackets may be left out. Readers,
the sentences about wrong headers and the guide's tables come from it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from functools import cached_property
from math import inf, nextafter

SHOWN = 60  # letters of a first line that a sentence repeats
LIKENESS = 0.8  # likeness of a misspelt name; 'text' is .5 like 'type'
NEVER = 1000  # of ranks


@dataclass(frozen=True)
class Column:
    """What the cells of a column are, in whichever table it stands.

    Parameters
    ----------
    also : tuple of str
        What others call it, likeliest first.
    of : type
        str, int (a whole number of at least 0) or float.
    low, high : float
        Between which a number lies.
    outside : str
        What is said of one that does not, and the remedy.
    missed : bool
        Whether another's word for it is asked back even where the column may be left out: a plan would be another one.
    """

    also: tuple[str, ...] = ()
    of: type = str
    low: float = -inf
    high: float = inf
    outside: str = ""
    missed: bool = False


ID = Column()
AMOUNT = Column((), int, 0)
TOKENS = Column((), float, 0, outside="is negative; a token costs at least 0")
CHANCE = Column((), float, 0, 1, "is no probability; it must lie in [0, 1]")
PAY = Column(
    ("cost", "pay", "wage", "fee", "payment"), float, 0, outside="is negative; a label costs at least 0", missed=True
)
TARGET = Column(("eps",), float, nextafter(0, 1), nextafter(0.5, 0), "is not strictly between 0 and 1/2", True)
SKILL = Column(
    ("skill", "p", "acc", "quality", "probability"), float, 0, 1, "is not in [0, 1]; give the share of right labels"
)
COLUMNS = {
    # an id tells tasks apart that show the same text
    "task": Column(
        (
            *("task_id", "unit_id", "hit_id", "item_id", "example_id", "question_id", "document_id", "trace_id"),
            *("item", "unit", "example", "question", "id", "document", "sample", "record", "image", "photo", "file"),
            *("filename", "sentence", "text"),
        )
    ),
    "item": Column(("task_id", "item_id", "question", "example", "unit")),
    "worker": Column(
        (
            *("worker_id", "annotator_id", "rater_id", "user_id", "labeler_id", "judge_id", "annotator"),
            *("rater", "labeler", "labeller", "coder", "judge", "user", "performer", "person", "model", "name"),
        )
    ),
    "label": Column(
        (
            *("labels", "answer", "annotation", "vote", "response", "rating", "judgment", "judgement", "choice"),
            *("verdict", "result", "class", "category", "value", "truth", "gold", "true_label", "ground_truth"),
            "correct_label",
        )
    ),
    "truth": Column(("gold", "true", "true_label", "ground_truth", "expected", "reference", "correct_label")),
    "true": Column(("truth", "gold", "true_label", "ground_truth")),
    "answered": Column(("answer", "label", "response", "vote")),
    "group": Column(("team", "groups", "family", "site")),
    "type": Column(("kind", "types", "category", "topic")),
    "row": ID,
    "capacity": Column(("max_tasks", "limit", "max_labels", "max", "quota", "load"), int, 0),
    "correct": Column(("right", "hits", "n_correct", "num_correct", "correct_answers"), int, 0),
    "asked": Column(("total", "n", "trials", "answered", "n_asked", "num_asked", "questions"), int, 0),
    **dict.fromkeys(("min_labels", "max_labels", "min_tasks", "count"), AMOUNT),
    "accuracy": SKILL,
    "epsilon": TARGET,
    "price": PAY,
    **dict.fromkeys(("coefficient", "lower", "upper", "at"), Column((), float)),
    **dict.fromkeys(("input", "output", "cache_read", "cache_write"), TOKENS),
    **dict.fromkeys(("error", "confidence"), CHANCE),
}


class Extras(Enum):
    """What happens to columns that a kind of table does not know."""

    REFUSED = "refused"  # tables that only this program writes
    IGNORED = "ignored"
    KEPT = "kept"  # and passed on: to labelling tools, and to the next round's campaign


@dataclass(frozen=True)
class TableKind:
    """A kind of table.

    Parameters
    ----------
    header : str
        Its columns, optional ones in brackets.
    what : str
        What its rows are.
    extras : Extras
    """

    header: str
    what: str = ""
    extras: Extras = Extras.REFUSED

    @cached_property
    def optional(self) -> tuple[str, ...]:
        """Columns that may be there."""
        return tuple(re.findall(r"\[,(\w+)\]", self.header))

    @cached_property
    def required(self) -> tuple[str, ...]:
        """Columns that must be there."""
        return tuple(name for name in re.findall(r"\w+", self.header) if name not in self.optional)

    def complaint(self, header: Sequence[str]) -> str | None:
        """What is wrong with a header, and what was probably meant; None where it will do."""
        must = f"the header must be {self.header}"
        missing = [name for name in self.required if name not in header]
        if missing:
            return f"there is no column {missing[0]!r}; {self._asked(header, missing)}{must}"
        if len(set(header)) < len(header):
            return f"a column appears twice; {must}"
        strange = [name for name in header if name not in self.required and name not in self.optional]
        absent = [name for name in self.optional if name not in header]
        near = {name: meant for name in strange if (meant := _meant(name, absent, optional=True)) is not None}
        if near and self.extras is not Extras.IGNORED:
            name = next(iter(near))
            return f"unknown column {name!r}; did you mean {near[name]!r}? {must}"
        return f"unknown column {strange[0]!r}; {must}" if strange and self.extras is Extras.REFUSED else None

    def _asked(self, header: Sequence[str], missing: list[str]) -> str:
        """What the missing columns are probably called."""
        if len(header) == 1 and set(header[0].split()) >= set(self.required):
            return "its columns are separated by blanks; separate them by commas, "
        guesses: dict[str, str] = {}
        strange = [name for name in header if name not in (*self.required, *self.optional)]
        absent = [name for name in self.optional if name not in header and COLUMNS.get(name, ID).missed]
        for column in (*missing, *absent):
            left = [name for name in strange if name not in guesses.values()]
            best = min(left, key=lambda name: _rank(name, column), default=None)
            if best is not None and _rank(best, column) < NEVER:
                guesses[column] = best
        if guesses:
            open_ = [column for column in missing if column not in guesses]
            which = f"which column is {' and which '.join(map(repr, open_))}? " if open_ else ""
            return f"did you mean {', '.join(f'{column!r} by {name!r}' for column, name in guesses.items())}? {which}"
        if len(missing) == len(self.required):
            first = ",".join(header)
            return f"the first line is {first[:SHOWN]!r}; if that is a row already, put the header above it, "
        return ""


def _meant(name: str, columns: Sequence[str], optional: bool = False) -> str | None:
    """The column that a name probably stands for: but for case and blanks, by another word for it, or misspelt."""
    best = min(columns, key=lambda column: _rank(name, column, optional), default=None)
    return None if best is None or _rank(name, best, optional) == NEVER else best


def _rank(name: str, column: str, optional: bool = False) -> int:
    """How likely a name stands for a column: 0 is the column's own, a later synonym less; NEVER for what is none."""
    words = [re.sub(r"[\W_]+", "", part.lower()) for part in (name, re.split("[.:]", name)[-1])]
    known = COLUMNS.get(column, ID)
    spelled = [re.sub("_", "", word) for word in (column, *(known.also if known.missed or not optional else ()))]
    apart = words[0].startswith(("golden", "hint"))  # what Toloka calls the truth, and what it shows
    places = [spelled.index(word) for word in words[: 1 if apart else 2] if word in spelled]
    if places:
        return min(places)
    if known.missed and {*re.split(r"[\W_]+", name.lower())} & {column, *known.also}:  # price_per_label, label cost
        return len(spelled)
    if get_close_matches(words[0], spelled[:1], n=1, cutoff=LIKENESS):
        return len(spelled)
    return len(spelled) + 1 if column == "label" and re.match("(answer|output)[.:]", name.lower()) else NEVER


KEPT, IGNORED = Extras.KEPT, Extras.IGNORED
CAMPAIGN_TABLES = {  # of a campaign's folder, by name; gold has several forms
    "tasks": TableKind("task[,type][,epsilon][,min_labels][,max_labels]", "what is to be labelled", KEPT),
    "workers": TableKind("worker,capacity[,price][,min_tasks][,family]", "by whom, how much, for what pay", KEPT),
    "skills": TableKind("worker[,type],accuracy", "how often each is right", KEPT),
    "gold": TableKind("worker[,type],correct,asked", "how well each did on tasks with known answers", KEPT),
    "gold answers": TableKind("worker,task,label,truth[,type]", "each answer beside the truth", KEPT),
    "gold by class": TableKind("worker[,type],true,answered[,count]", "answers by true class", KEPT),
    "prices": TableKind("worker[,type],price", "what a label is paid", KEPT),
    "forbidden": TableKind("task,worker", "pairs that must not be in the plan", KEPT),
    "fixed": TableKind("task,worker", "pairs that must be in the plan", KEPT),
    "collected": TableKind("task,worker,label", "labels already in", KEPT),
    "groups": TableKind("worker,group", "who belongs together", KEPT),
    "rows": TableKind("row,task,worker,coefficient[,lower][,upper]", "own rows", KEPT),
}
LABELS = TableKind("task,worker,label", "labels", KEPT)
TRUTH = TableKind("task,label", "known labels of tasks", IGNORED)
TYPES_OF_TASKS = TableKind("task,type", "types of labelled tasks", IGNORED)
SKIPPED = TableKind("task,worker", "pairs whose label will not come", IGNORED)
ANSWERS = TableKind("task[,label][,answer][,error][,confidence]", "answers, and what error is claimed", IGNORED)
CHECKED = TableKind("task,label", "an expert's answers", IGNORED)
CANDIDATES = TableKind("worker[,price][,group]", "whom could be hired", IGNORED)
GOLD_OF_ANY_FORM = TableKind("worker[,type][,label][,truth][,true][,answered]", "gold of any form", IGNORED)
CONFUSIONS = TableKind("worker,true,answered[,count]", "gold by class of the labels' workers", IGNORED)
LABELERS = TableKind("worker[,type][,at],accuracy[,price]", "labelers whose skills are known")
TOKEN_PRICES = TableKind(
    "worker,input,output[,cache_read][,cache_write][,batch]", "prices of a million tokens", IGNORED
)
PEOPLE = TableKind("worker,account", "accounts of a labelling tool", IGNORED)
CONTENT = TableKind("task", "what is shown of each task", KEPT)
QUESTIONS = TableKind("question,truth", "known answers to questions", IGNORED)

PLAN_TABLES = {  # of a plan's folder, by name; only this program writes them
    "assignment": TableKind("task,worker[,value]"),
    "tasks": TableKind(  # error_bound or exact_error is in each
        "task,labels,evidence,need,dual[,error_bound][,exact_error][,exact_width][,labels_dual][,vote_error][,target]"
        "[,short]"
    ),
    "workers": TableKind("worker,load,capacity,dual"),
    "limits": TableKind("limit,name,task,dual"),
    "weights": TableKind("worker,type,weight"),
    "weights by class": TableKind("worker,type,label,class,weight"),
    "repair": TableKind("task,worker,change"),
}
QUEUE = TableKind("task", extras=KEPT)
CORRECTED = TableKind("task,label[,checked]")
LISTED = TableKind("task[,answer]")
GOING_UP = TableKind("task")
STANDING_ANSWERS = TableKind("task,label,how")
