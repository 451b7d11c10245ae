"""The card of a judge: right on what, what it calls what, whether it is to be trusted, and what would tell more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdopt.arrays import Bools, Ints
from crowdopt.crowd.error_correlation import EffectiveVotes, ErrorCorrelation, effective_votes, error_correlation
from crowdopt.crowd.labels import Labels
from crowdopt.judging.agreement import Estimate, pair_agreement, panel_agreement, shares
from crowdopt.judging.looks import class_shares, looks_for

TRUSTED, NOT_YET, NO, UNKNOWN = "trusted", "not yet", "no", "unknown"
MOST = 10_000_000  # human labels: beyond, no number is named
PAIRS = 2_000  # judges times judges that are looked at for errors in common


@dataclass(frozen=True)
class Use:
    """What a judge is wanted for."""

    accuracy: float = 0.9  # share of right verdicts, at least
    recall: float = 0.0  # of each class, share that is called so, at least
    width: float = 0.1  # of the intervals of the classes' shares
    confidence: float = 0.95  # of each interval; of all words together


@dataclass(frozen=True)
class ClassCard:
    """How a judge does on a class."""

    name: str
    items: int  # that humans call so, and the judge voted on
    found: int  # of these, called so by the judge
    recall: Estimate
    said: float  # share of the items that the judge calls so
    share: Estimate  # corrected by what humans say on each side of the verdict
    more: int  # items to look at where the judge says so, for the stated width


@dataclass(frozen=True)
class Card:
    """A judge on a slice of the items, or on all."""

    judge: str
    slice: str  # value of the column; empty: all items
    votes: int
    looked: int  # of these, items with a human label
    right: int
    accuracy: Estimate
    agreement: Mapping[str, Estimate]  # kappa, alpha, ac1: with the human labels
    classes: Sequence[ClassCard]
    table: Sequence[Sequence[int]]  # true classes, verdicts
    word: str
    why: str
    more: int | None  # human labels more until the word is likely to be trusted; None where none are
    cost: float | None  # of a verdict


@dataclass(frozen=True, eq=False)
class Panel:
    """All judges together."""

    agreement: Mapping[str, Estimate]  # alpha and ac1 of their votes
    worth: EffectiveVotes | None  # independent votes that all of theirs are worth
    together: ErrorCorrelation | None
    all_wrong: Estimate  # share of items on which every judge is wrong
    looked: int  # items with a human label and a vote of every judge


def cards(
    labels: Labels, true: Ints | None, use: Use, slices: Mapping[str, Bools], cost: Mapping[str, float]
) -> list[Card]:
    """A card of each judge on all items, then on each slice.

    true (tasks,): class by humans, -1 where unknown; slices: value -> (tasks,); cost: of a verdict, by judge.
    """
    every = {"": np.ones(len(labels.tasks), bool), **slices}
    words, order = len(labels.workers) * len(every), np.argsort(labels.worker, kind="stable")
    own = np.split(order, np.cumsum(labels.counts)[:-1])
    return [
        _card(labels, true, use, name, mine[part[labels.task[mine]]], words, cost.get(labels.workers[judge]))
        for name, part in every.items()
        for judge, mine in enumerate(own)
        if part[labels.task[mine]].any()
    ]


def _card(labels: Labels, true: Ints | None, use: Use, part: str, mine: Ints, words: int, cost: float | None) -> Card:
    """Of the votes ``mine``, all of one judge."""
    said, classes, delta = labels.label[mine], len(labels.classes), 1 - use.confidence
    known = np.full(said.size, -1) if true is None else true[labels.task[mine]]
    table = np.bincount((known * classes + said)[known >= 0], minlength=classes**2).reshape(classes, classes)
    spoken, looked, right = table.sum(axis=1), int(table.sum()), int(np.trace(table))
    count = np.bincount(said, minlength=classes)
    low, high = shares(np.diag(table), spoken, delta)
    corrected = class_shares(count, table, delta)
    more = looks_for(use.width, count, table, delta) if true is not None else np.zeros(classes, np.int64)
    of_classes = [
        ClassCard(
            labels.classes[k],
            int(spoken[k]),
            int(table[k, k]),
            Estimate(float(table[k, k] / spoken[k]) if spoken[k] else None, float(low[k]), float(high[k])),
            float(corrected.said[k]),
            Estimate(*(float(end[k]) for end in corrected[1:])),
            int(more[k]),
        )
        for k in range(classes)
    ]
    word, why, needed = _word(table, use, delta / words, labels.classes)
    ends = shares(np.array([right]), looked, delta)
    accuracy = Estimate(right / looked if looked else None, float(ends[0][0]), float(ends[1][0]))
    name = labels.workers[int(labels.worker[mine[0]])]
    return Card(
        *(name, part, said.size, looked, right, accuracy, pair_agreement(table, delta), of_classes),
        *(table.tolist(), word if true is not None else UNKNOWN, why, needed, cost),
    )


def _word(table: Ints, use: Use, delta: float, names: Sequence[str]) -> tuple[str, str, int | None]:
    """Trusted, not yet, or no; why; and how many human labels more make trust likely.

    Each of the shares that are asked for has its part of ``delta``.
    """
    asked = [("right", int(np.trace(table)), int(table.sum()), use.accuracy)]
    asked += [(f"{names[k]} found", int(table[k, k]), int(table[k].sum()), use.recall) for k in range(len(table))]
    asked = [one for one in asked if one[3] > 0]
    if not asked[0][2]:
        return UNKNOWN, "no human label of these items", None
    each = 2 * delta / len(asked)  # one end of each interval
    word, why = TRUSTED, ""
    more: int | None = 0
    for what, hits, of, least in asked:
        low, high = (float(end[0]) for end in shares(np.array([hits]), of, each))
        if high < least:
            return NO, f"{what} on at most {100 * high:.1f} %, and {100 * least:g} % is wanted", None
        if low < least and more is not None:
            word = NOT_YET
            needed = _enough(hits, of, least, each)
            share = of / max(1, asked[0][2])  # of human labels that tell of it
            more = None if needed is None or not share else max(more, int(np.ceil((needed - of) / share)))
            why = f"{what} on at least {100 * low:.1f} % only, and {100 * least:g} % is wanted"
    return word, why, more


def _enough(hits: int, of: int, least: float, delta: float) -> int | None:
    """How many labels show that the share is at least so much, if it stays what it was; None where it is less."""
    if not of or hits / of <= least:
        return None
    low, high = of, MOST
    while low < high:
        middle = (low + high) // 2
        if shares(np.array([int(hits / of * middle)]), middle, delta)[0][0] >= least:
            high = middle
        else:
            low = middle + 1
    return low if low < MOST else None


def panel(labels: Labels, true: Ints | None, use: Use) -> Panel | None:
    """What all judges are together; None for one alone."""
    if len(labels.workers) < 2:
        return None
    delta, judges = 1 - use.confidence, len(labels.workers)
    cell = labels.task * len(labels.classes) + labels.label
    counts = np.bincount(cell, minlength=len(labels.tasks) * len(labels.classes)).reshape(len(labels.tasks), -1)
    agreement = panel_agreement(counts, delta)
    if true is None:
        return Panel(agreement, None, None, Estimate(None, 0.0, 1.0), 0)
    several = (true >= 0) & (labels.per_task == judges)
    right = counts[np.arange(len(true)), np.clip(true, 0, len(labels.classes) - 1)]
    wrong, looked = int((right[several] == 0).sum()), int(several.sum())
    ends = shares(np.array([wrong]), looked, delta)
    all_wrong = Estimate(wrong / looked if looked else None, float(ends[0][0]), float(ends[1][0]))
    known = true[labels.task] >= 0
    together = worth = None
    if known.any() and judges**2 <= PAIRS:
        task, worker = labels.task[known], labels.worker[known]
        together = error_correlation(task, worker, labels.label[known] != true[task], judges)
        table = np.full((len(labels.tasks), judges), -1)
        table[task, worker] = labels.label[known] == true[task]
        worth = effective_votes(table[(table >= 0).any(axis=1)]) if together.first.size else None
    return Panel(agreement, worth, together, all_wrong, looked)


def fewest(judges: int, use: Use) -> int:
    """Human labels by which a judge who is always right is trusted, so many cards together."""
    return int(np.ceil(np.log((1 - use.confidence) / judges / (1 + (use.recall > 0))) / np.log(use.accuracy)))


def to_experts(error: float, target: float) -> float:
    """``(mu - alpha) / (1 - alpha)``: the least share that must go elsewhere where all judges are wrong on a share mu.

    Of answers that some judge gives ``(mu - x) / (1 - x)`` are wrong at least, however the share x is chosen.
    """
    return max(0.0, (error - target) / (1 - target))


def plain(card: Card) -> dict[str, Any]:
    """A card as plain JSON."""
    return {
        **{
            key: getattr(card, key)
            for key in ("judge", "slice", "votes", "looked", "right", "word", "why", "more", "cost")
        },
        "accuracy": card.accuracy._asdict(),
        "agreement": {name: one._asdict() for name, one in card.agreement.items()},
        "classes": [
            {**vars(one), "recall": one.recall._asdict(), "share": one.share._asdict()} for one in card.classes
        ],
        "table": [list(row) for row in card.table],
    }
