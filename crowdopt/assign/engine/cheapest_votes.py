"""The cheapest set of labels for tasks of one row at given prices: what an oracle of exact errors knows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import TypeAlias

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints, nth_alike
from crowdopt.assign.bisection import first_that
from crowdopt.assign.engine.prepared import ANY, Labels, TaskRow
from crowdopt.assign.engine.vote_law import ANSWERS, VoteLaw
from crowdopt.crowd.instance import COVERAGE

CELLS = 300  # of evidence
PARTS = np.array([0.0, 0.5, 0.8, 0.9, 1.0])  # of a cheap label's price: what each label of a large set counts
KEPT = 4  # sets of a search that are kept
ROUGH, ANSWERED = 3_000, 300  # steps of a search; answers to sets that are looked at in a step
NODES, MOST_NODES = 4, 200_000  # looked at in a step, band by band; in a search, at most
LEFT_OPEN = 1  # nodes in a step where the laws of all answers leave sets open
SOME = 4  # kinds of a row for which sets of other workers are looked for
APART, DEARER = 25, 1.1  # sets of other workers; how much more the next of them may cost
SOON, WIDE = 300, 1e-2  # steps of their search, and how far, relatively, each may be from the cheapest of those
STRICTER = 0.97, 0.9  # times the target, where votes that know hard tasks err less than those that do not
SEGMENTS = 8  # of workers whom groups tell apart, at most, for sets that are looked for band by band
FOLLOWED = 4  # labels short of what can be followed: so long are sets that are looked for band by band
LONGEST = 40  # labels of a set that is looked for band by band, unless a task asks for more
LIKE, SWAPS = 2, 25  # best sets that others are made of; replacements of each label


Limits: TypeAlias = tuple[Bools, Ints, Ints]  # of each whose labels it is about, the fewest of them, and the most
Apart: TypeAlias = tuple[Ints, Limits]  # the segment of each class of workers, and limits on labels of segments
Segments: TypeAlias = tuple[Ints, Ints, Limits]  # items by segment, their segments, and those limits


@dataclass(frozen=True, eq=False)
class PricedVotes:
    """A row of tasks at prices: its items, the best skills first, and the tables that bound a search."""

    row: TaskRow
    law: VoteLaw
    price: Floats  # (G,)
    left: Ints | None  # (G,): labels that each class has left
    item: Ints  # (items,): the class of workers of each label
    given: float  # what labels cost that every set has, and what those bring that cost less than nothing
    # as :func:`crowdopt.assign.law_kernels.cheapest_vote` takes them
    items: tuple[Floats, Floats, Ints, Ints, Floats]
    tables: tuple[Floats, Floats, Floats, Ints]
    unit: float  # evidence of a cell
    need: Floats  # (k,): evidence beside that of labels that are given
    bargains: Labels  # classes whose labels cost less than nothing
    deepest: int  # labels of a set that is followed, at most
    # where sets are looked for band by band: items by segment, their segments, and limits on labels of those
    segments: Segments | None

    def cheapest(
        self, place: int, steps: int = ROUGH, close: float = 1e-8, limit: float = np.inf
    ) -> tuple[float, list[Labels]]:
        """A lower bound on what any set costs for the row's kind at this place, and the best sets found.

        steps: of the search; the bound holds all the same; close: how far below the best set known, relatively, others
        are looked for; limit: what a set that is known costs.
        """
        target = float(self.law.target[place])
        bound, found = self._searched(place, target, steps, close, limit)
        if not found and limit == np.inf > bound and self.law.prior.shape[1] == 2:
            return bound, self._by_worth(place)
        for less in STRICTER if self.law.share.size > 1 else ():
            kept = [one for one in found if self._does(place, one)]
            if kept or not found:
                return bound, kept
            found = self._searched(place, less * target, steps, close, limit)[1]
        return bound, [one for one in found if self._does(place, one)]

    def _searched(
        self, place: int, target: float, steps: int, close: float, limit: float
    ) -> tuple[float, list[Labels]]:
        """The same for another target, without a look at what the vote itself does."""
        if self.segments is not None:
            return self._among_bands(place, target, limit, min(NODES * steps, MOST_NODES))
        bound, found, ended = self._followed(place, target, (limit - self.given, close, steps * ANSWERED))
        if ended or self.by_band is None:
            return bound, found
        limit = min([limit, *(float(self.price[one].sum()) for one in found[:1])])
        proven, cheaper = self.by_band._among_bands(place, target, limit, min(LEFT_OPEN * steps, MOST_NODES))
        return max(bound, proven), cheaper + found

    @cached_property
    def by_band(self) -> PricedVotes | None:
        """The same for sets that are looked for band by band, which takes longer but leaves less open."""
        return None if _is_split(_told_apart(self.row)) else priced_votes(self.row, self.price, self.left, counted=True)

    def _by_worth(self, place: int) -> list[Labels]:
        """A set, where a search has found none: labels in the order of what they cost for what they tell."""
        price, worth, group = self.items[:3]
        order = np.argsort(price / np.maximum(worth, COVERAGE), kind="stable")
        by_group = order[np.argsort(group[order], kind="stable")]
        nth = np.empty(order.size, np.int64)  # of its group, by item
        nth[by_group] = nth_alike(group[by_group])
        owed, may = nth[order] < self.row.low[group[order]], nth[order] < self.row.top[group[order]]
        order = np.concatenate([order[owed], order[may & ~owed]])[: self.row.most]
        least = max(1, self.row.fewest, int(owed.sum()))

        def serves(more: int) -> bool:
            labels = self._labels(order[: least + more])
            enough = self.law.error(labels, place) <= self.law.target[place]
            return enough and self._does(place, labels)

        tried = max(0, order.size - least + 1)
        count = first_that(serves, tried)
        return [self._labels(order[: least + count])] if count < tried else []

    def _among_bands(self, place: int, target: float, limit: float, work: int) -> tuple[float, list[Labels]]:
        """By counted labels."""
        from crowdopt.assign.band_kernels import cheapest_counted

        assert self.segments is not None
        order, segment, limits = self.segments
        found = np.zeros(self.deepest, np.int64)
        items = self.items[0][order], self.tables[3][order], segment
        sizes = max(0, self.row.fewest), min(self.row.most, self.item.size)
        cell = min(CELLS, int(np.ceil(float(self.need[place]) / self.unit - 1e-9)))
        longer = max(float(self.tables[1][0, self.deepest + 1]), float(self.tables[2][max(0, cell)]))
        effort = limit - self.given, longer, work
        worth = self.items[1][np.searchsorted(self.tables[3], np.arange(self.items[4].shape[1]))]
        asked = target, float(self.need[place]), worth, self._is_plain(place)
        bound, size = cheapest_counted(items, self.items[4], self._start(place), asked, sizes, limits, effort, found)
        return float(bound) + self.given, [self._labels(order[found[:size]])] if size >= 0 else []

    def _followed(
        self, place: int, target: float, effort: tuple[float, float, int]
    ) -> tuple[float, list[Labels], bool]:
        """By the laws of all answers; whether all sets were looked at."""
        from crowdopt.assign import law_kernels as kernels

        law = self._law(place, target)
        sets, sizes = np.zeros((KEPT, self.deepest + 1), np.int64), np.empty(KEPT, np.int64)
        limits = self.row.low, self.row.top, self.row.fewest, self.row.most, self.row.beside.of(self.item)
        bound, ended = kernels.cheapest_vote(self.items, self.tables, limits, law, effort, sets, sizes)
        found = [self._labels(sets[s, : sizes[s]]) for s in range(KEPT) if sizes[s] >= 0]
        return float(bound) + self.given, found, bool(ended)

    def _does(self, place: int, labels: Labels) -> bool:
        """Whether overlapping groups let it, and the vote, which does not know hard tasks, errs little enough."""
        lacks = self.law.lacking(labels)[place] > COVERAGE / 4
        if lacks or not self.row.beside.keeps(self.row.chosen(labels)):
            return False
        return self.law.share.size == 1 or self.law.error(labels, place) <= self.law.target[place]

    def others(self, place: int, best: list[Labels], most: int) -> list[Labels]:
        """So many sets: much like the best ones, and cheap ones that share no class of workers with those before."""
        found = [one for labels in best[:LIKE] for one in self.swaps(place, labels, SWAPS)]
        if place % -(-self.law.target.size // SOME):
            return found[:most]
        free, last, limit = np.zeros(self.price.size, np.int64), best[:1], np.inf
        free[self.item] = ANY
        for _ in range(APART):
            for one in last:
                free[self.row.chosen(one)] = 0
                limit = max(DEARER * float(self.price[one].sum()), 1e-9)
            last = priced_votes(self.row, self.price, free).cheapest(place, SOON, WIDE, limit)[1][:1]
            if not last:
                break
            found += last
        return found[:most]

    def swaps(self, place: int, labels: Labels, most: int) -> list[Labels]:
        """The set with each of its labels in turn replaced by one that does as well: the cheapest ones.

        labels: a set that is enough; most: replacements of each label.
        """
        from crowdopt.assign import law_kernels as kernels
        from crowdopt.assign.band_kernels import last_cell_to_counts

        chosen = self.row.chosen(labels)
        price, group, skill, cell = self.items[0], self.items[2], self.items[4], self.tables[3]
        target = float(self.law.target[place])
        long_and_hard = self.segments is not None and self.law.share.size > 1
        if not 0 < chosen.size < self.deepest + 1 or long_and_hard:  # each of those votes takes long
            return []
        cells = np.searchsorted(-skill[0], -self.law.skill[0, chosen])
        skills, found, counts = (
            self.law.skill[:, chosen],
            [],
            np.bincount(self.row.group[chosen], minlength=self.row.low.size),
        )
        start = self._start(place)
        counted = self.segments is not None
        laws = np.zeros(0) if counted else self._law(place, target)[0]
        for out in range(chosen.size):
            rest = np.delete(chosen, out)
            if counted:
                last = last_cell_to_counts(np.sort(np.delete(cells, out)), skill, start, target)
            else:
                beside = np.ascontiguousarray(np.delete(skills, out, 1))
                last = kernels.last_cell_beside(laws, start.shape[2], skill, beside, target)
            able = np.flatnonzero(cell < last)
            able = able[
                (self.row.room[self.item[able]] > np.bincount(rest, minlength=self.price.size)[self.item[able]])
            ]
            inside = counts.copy()
            inside[self.row.group[chosen[out]]] -= 1
            after = inside[group[able]] + 1
            able = able[after <= self.row.top[group[able]]]
            lack = np.maximum(0, self.row.low - inside)
            if lack.sum() > 1:
                continue
            if lack.any():
                able = able[lack[group[able]] > 0]
            able = able[np.argsort(price[able], kind="stable")[:most]]
            found += [np.sort(np.concatenate([self.row.given, rest, [j]])) for j in np.unique(self.item[able])]
        return [one for one in found if self._does(place, one)]

    def _labels(self, chosen: Ints) -> Labels:
        labels = np.concatenate([self.row.given, self.item[chosen]])
        spare = self.bargains[~np.isin(self.bargains, labels)]
        spare = spare[np.argsort(self.price[spare], kind="stable")]
        group, used = self.row.group[spare], np.bincount(self.items[2][chosen], minlength=self.row.top.size)
        before = (np.cumsum(group[:, None] == np.arange(self.row.top.size), axis=0))[np.arange(spare.size), group]
        spare = spare[before + used[group] <= self.row.top[group]]
        return np.sort(np.concatenate([labels, spare[: max(0, self.row.most - chosen.size)]]))

    def _law(self, place: int, target: float) -> tuple[Floats, int, float, float, float, Floats, bool]:
        """Laws before any label that is to be chosen, and what is asked of those."""
        start = self._start(place)
        kinds, classes, begun = start.shape
        laws = np.empty((self.deepest + 1, kinds, classes, begun * classes**self.deepest))
        laws[0, :, :, :begun] = start
        return laws, begun, target, float(self.need[place]), self.unit, self.law.left, self._is_plain(place)

    def _is_plain(self, place: int) -> bool:
        """Whether what votes err with that do not know hard tasks tells which sets are enough."""
        return self.law.share.size > 1 and bool(self.law.own[place])

    def _start(self, place: int) -> Floats:
        """Chances of the answers to labels that every set has, (E, K, answers)."""
        from crowdopt.assign import law_kernels as kernels

        law = self.law
        classes, kinds = law.prior.shape[1], law.share.size
        known = np.hstack([law.held, law.skill[:, self.row.given]])
        first = np.empty((known.shape[1] + 1, kinds, classes, classes ** known.shape[1]))
        first[0, :, :, 0] = law.share[:, None] * law.prior[place]
        for d in range(known.shape[1]):
            kernels.grow(first, d, classes**d, np.ascontiguousarray(known[:, d]))
        return first[-1]


def priced_votes(row: TaskRow, price: Floats, left: Ints | None = None, counted: bool = False) -> PricedVotes:
    """The row at prices of labels.

    row: with a law of its votes; price (G,): of a label of each class; may be negative; left (G,): labels that each
    class has left; counted: whether sets are looked for band by band whatever their length.
    """
    from crowdopt.assign import law_kernels as kernels

    law = row.law
    assert law is not None
    known = law.held.shape[1] + row.given.size  # their answers are told apart as well
    deepest = max(1, int(log(ANSWERS) / log(law.prior.shape[1]) + 1e-9) - known)
    apart = _told_apart(row)
    counted = counted or _is_counted(row, apart, deepest)
    if counted:
        deepest = max(LONGEST, row.fewest)
    room = np.minimum(np.minimum(row.room, row.top[row.group]), row.most)
    if left is not None:
        room = np.minimum(room, left)
    copies = np.minimum(room, deepest + 1)
    of_use = np.flatnonzero(copies > 0)
    skill = law.skill[0]
    side = np.unique(row.beside.member[:, of_use], axis=1, return_inverse=True)[1].reshape(-1)
    of_use = of_use[np.lexsort((of_use, price[of_use], side, row.group[of_use], -skill[of_use]))]
    item = np.repeat(of_use, copies[of_use])
    key = np.vstack([skill[item], row.group[item], row.beside.member[:, item]])
    begins = np.append(True, (key[:, 1:] != key[:, :-1]).any(axis=0))
    cell = np.cumsum(begins[: item.size]) - 1
    after = np.searchsorted(cell, cell, side="right")
    need = law.lacking(row.given)
    worth, unit = law.evidence[item], max(float(need.max()), 1e-6) / CELLS
    width = np.minimum(np.ceil(law.evidence / unit - 1e-9), CELLS).astype(np.int64)
    paid = np.maximum(price, 0.0)
    rest, cheap = kernels.completions(paid[item], width[item], CELLS, deepest + 1)
    skills = np.ascontiguousarray(law.skill[:, item[begins[: item.size]]])
    each = float(cheap[0, deepest + 1]) / (deepest + 1)
    all_of = np.repeat(of_use, room[of_use])  # a set that is not followed may have more labels of a class
    parts = (each if each < np.inf else 0.0) * PARTS
    large = kernels.large_sets(paid[all_of], width[all_of], CELLS, deepest + 1, parts)
    bargains = all_of[price[all_of] < 0]
    given = float(price[row.given].sum()) + float(price[bargains].sum())
    by_segment = _by_segment(apart, item) if counted else None
    items = paid[item], worth, row.group[item], after, skills
    tables = rest, cheap, large, cell
    return PricedVotes(row, law, price, left, item, given, items, tables, unit, need, bargains, deepest, by_segment)


def _is_counted(row: TaskRow, apart: Apart, deepest: int) -> bool:
    """Whether sets are looked for band by band: among several classes, or where they are longer than are followed."""
    law = row.law
    assert law is not None
    if _is_split(apart):
        return False
    return law.prior.shape[1] > 2 or _needs_more(row, max(0, deepest - FOLLOWED))


def _is_split(apart: Apart) -> bool:
    """Whether groups tell workers apart in too many ways for bands."""
    return int(apart[0].max(initial=0)) >= SEGMENTS


def _needs_more(row: TaskRow, labels: int) -> bool:
    """Whether so many labels, the best that groups which are apart allow, leave a task in need; two classes."""
    law = row.law
    assert law is not None
    room = np.minimum(row.room, row.top[row.group])
    order = np.argsort(-law.skill[0], kind="stable")
    best = np.repeat(order, room[order])
    mine = row.group[best][:, None] == np.arange(row.top.size)
    rank = np.cumsum(mine, axis=0)[np.arange(best.size), row.group[best]]
    able = np.flatnonzero(rank <= row.top[row.group[best]])
    owed = rank[able] <= row.low[row.group[best[able]]]
    chosen = np.concatenate([able[owed], able[~owed]])[:labels]
    if chosen.size < labels:
        return False
    place = int(np.argmax(row.need))
    return bool(law.error(np.concatenate([row.given, best[chosen]]), place) > law.target[place])


def _told_apart(row: TaskRow) -> Apart:
    """The segment of each class of workers, (G,), and the limits on labels of segments."""
    limited = np.flatnonzero((row.low > 0) | (row.top < min(row.most, ANY)))
    inside = np.vstack([row.group == limited[:, None], row.beside.member])
    member, segment = np.unique(inside, axis=1, return_inverse=True)
    low, top = (np.concatenate([a[limited], b]) for a, b in ((row.low, row.beside.low), (row.top, row.beside.top)))
    return segment.reshape(-1), (np.ascontiguousarray(member), low, top)


def _by_segment(apart: Apart, item: Ints) -> Segments:
    """Items by segment, in each the best first."""
    segment, limits = apart
    order = np.argsort(segment[item], kind="stable")
    return order, segment[item][order], limits
