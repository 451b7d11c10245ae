"""The cheapest set by exact errors, held against every set of a small crowd."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from crowdopt.assign.engine import cheapest_votes
from crowdopt.assign.engine.cheapest_votes import priced_votes
from crowdopt.assign.engine.prepared import ANY, Overlaps, TaskRow
from crowdopt.assign.engine.vote_law import VoteLaw
from crowdopt.crowd.rules import EXACT_ERROR
from tests.sampled import first_of


def error(skills: np.ndarray, share: np.ndarray, prior: np.ndarray) -> float:
    """Of the best vote, kinds of tasks known: by every combination of answers."""
    classes, total = prior.size, 0.0
    for e, part in enumerate(share):
        for answers in product(range(classes), repeat=skills.shape[1]):
            chance = part * prior.copy()
            for p, a in zip(skills[e], answers, strict=True):
                chance *= np.where(np.arange(classes) == a, p, (1 - p) / (classes - 1))
            total += chance.sum() - chance.max()
    return float(total)


def drawn(seed: int) -> tuple[TaskRow, np.ndarray, np.ndarray]:
    """A row of tasks of up to seven workers with some of every limit, and prices; workers alike now and then."""
    rng = np.random.default_rng([seed, 5])
    classes = int(rng.integers(2, 5))
    m = int(rng.integers(2, 8 if classes == 2 else 6 if classes == 3 else 5))
    kinds = 2 if classes == 2 and rng.random() < 0.3 else 1
    skill = 1 / classes + (0.95 - 1 / classes) * rng.random((1, m))
    skill = rng.choice(skill[0], (1, m)) if rng.random() < 0.3 else skill
    share = np.array([1.0])
    if kinds == 2:
        skill, share = np.vstack([skill, 0.5 + 0.6 * (skill - 0.5)]), np.array([0.8, 0.2])
    groups = int(rng.integers(1, 4))
    group = rng.integers(0, groups, m) if groups > 1 else np.zeros(m, np.int64)
    low, top = np.zeros(groups, np.int64), np.full(groups, ANY)
    if groups > 1:
        top[0], low[1] = rng.integers(0, 3), rng.integers(0, 3)
    prior = -np.sort(-rng.dirichlet(np.full(classes, 5.0), 2), axis=1)
    target = rng.uniform(0.05, 0.4, 2)
    need = EXACT_ERROR.need(target, classes, prior)
    if kinds == 2:
        need = np.zeros(2)
    if seed % 3 == 2:  # more than votes have which keep the target, now and then
        need = need * rng.uniform(0.8, 1.8) + 0.1
    order = np.argsort(need, kind="stable")
    held = skill[:, :0] if rng.random() < 0.7 else skill[:, :1]
    given = np.zeros(0, np.int64) if rng.random() < 0.7 else np.array([m - 1])
    room = np.ones(m, np.int64)
    room[given] = 0
    few = int(rng.integers(0, 3))
    beside = Overlaps.none(m)
    if rng.random() < 0.4:
        beside = Overlaps(
            rng.random((2, m)) < 0.5, np.array([0, rng.integers(0, 2)]), np.array([rng.integers(0, 3), 9])
        )
    law = VoteLaw(
        skill,
        share,
        np.array([1.0, 0.36][:kinds]),
        held,
        prior[order],
        target[order],
        need[order],
        skill,
        np.ones(2, bool),
    )
    row = TaskRow(
        evidence=EXACT_ERROR.evidence(skill[0], classes), cost=np.ones(m), given=given, room=room, group=group,
        low=low, top=top, fewest=few, most=few + int(rng.integers(0, 5)) if rng.random() < 0.3 else ANY,
        kinds=np.arange(2), need=need[order], beside=beside, law=law,
    )  # fmt: skip
    price = rng.uniform(0.1, 2, m) if rng.random() < 0.6 else np.ones(m)
    if rng.random() < 0.2:
        price[rng.integers(0, m)] = -0.5
    return row, price, np.flatnonzero(room)


def fits(row: TaskRow, new: list[int]) -> bool:
    """Whether these new labels keep all limits of the row but evidence and error."""
    inside = np.bincount(row.group[new], minlength=row.low.size) if new else np.zeros(row.low.size)
    within = (inside >= row.low).all() and (inside <= row.top).all() and row.beside.keeps(np.array(new, np.int64))
    return bool(within and row.fewest <= len(new) <= row.most)


def plain_error(skills: np.ndarray, share: np.ndarray, prior: np.ndarray) -> float:
    """Of the vote that takes every task for one of the first kind, a tie by lot; two classes."""
    total = 0.0
    for answers in product(range(2), repeat=skills.shape[1]):
        right = np.array(answers)[:, None] == np.arange(2)
        each = [prior * np.where(right, p[:, None], 1 - p[:, None]).prod(axis=0) for p in skills]
        votes = np.isclose(each[0], each[0].max(), rtol=1e-9)
        chance = share @ np.array(each)
        total += chance.sum() - chance[votes].mean()
    return float(total)


def least(row: TaskRow, price: np.ndarray, able: np.ndarray, place: int) -> float:
    """What the cheapest set costs, by looking at all."""
    law, best = row.law, np.inf
    assert law is not None
    classes, errs = law.prior.shape[1], error if law.share.size == 1 else plain_error
    for size in range(able.size + 1):
        for chosen in combinations(able.tolist(), size):
            labels = np.concatenate([row.given, np.array(chosen, np.int64)]).astype(np.int64)
            if not fits(row, list(chosen)):
                continue
            if EXACT_ERROR.evidence(np.hstack([law.held[0], law.skill[0, labels]]), classes).sum() < law.need[place]:
                continue
            cost = float(price[labels].sum())
            if (
                cost < best
                and errs(np.hstack([law.held, law.skill[:, labels]]), law.share, law.prior[place]) <= law.target[place]
            ):
                best = cost
    return best


@pytest.mark.parametrize("seed", range(40))
def test_the_bound_is_the_cheapest_set_of_all_where_no_price_is_negative(seed: int, monkeypatch) -> None:
    """Also band by band, however few answers may be looked at; sets that are found keep the target and the limits."""
    row, price, able = drawn(seed)
    law = row.law
    for place in range(2):
        monkeypatch.undo()
        true, at = least(row, price, able, place), priced_votes(row, price)
        bound, sets = at.cheapest(place)
        assert bound <= true + 1e-9
        for labels in sets + at.others(place, sets, 100):
            new = labels.tolist()
            for one in row.given.tolist():
                new.remove(one)
            assert len(set(new)) == len(new) and fits(row, new)
            assert law.lacking(labels)[place] <= 1e-9
            skills = np.hstack([law.held, law.skill[:, labels]])
            assert error(skills, law.share, law.prior[place]) <= law.target[place] + 1e-12
        if price.min() < 0:
            continue
        assert bound == pytest.approx(true, rel=1e-6) or bound == true == np.inf
        if true < np.inf:
            assert price[sets[0]].sum() == pytest.approx(true)
            assert at.cheapest(place, limit=true)[0] == pytest.approx(true, rel=1e-6)
        monkeypatch.setattr(cheapest_votes, "ANSWERED", 0)
        bound, sets = priced_votes(row, price).cheapest(place)
        assert bound == pytest.approx(true, rel=1e-6) or bound == true == np.inf
        assert all(price[one].sum() >= true - 1e-9 for one in sets)


@pytest.mark.parametrize("seed", first_of(range(40), 20))
def test_sets_that_are_not_followed_are_not_forgotten(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few answers are told apart, labels are in or given, and workers alike give several: still a lower bound."""
    row, price, able = drawn(seed)
    many = able[:3] if row.law is not None and row.law.prior.shape[1] == 2 else able[:2]
    row = replace(row, room=np.where(np.isin(np.arange(price.size), many), 3, 0))
    if seed % 2:  # not band by band, which would look at longer sets
        monkeypatch.setattr(cheapest_votes, "_is_counted", lambda *_: False)
    for place in range(2):
        true = least(row, price, np.repeat(many, 3), place)
        for answers in (4, 16, 64):
            monkeypatch.setattr(cheapest_votes, "ANSWERS", answers)
            assert priced_votes(row, price).cheapest(place)[0] <= true + 1e-9, answers


@pytest.mark.parametrize("seed", range(8))
def test_levels_are_easier_or_harder_than_every_kind_they_stand_for(seed: int) -> None:
    row, _, able = drawn(seed)
    law = row.law
    assert law is not None
    both = [np.arange(2)]
    easy, hard = law.of(both, hardest=False), law.of(both, hardest=True)
    for labels in (able[:1], able[:3], able):
        skills = law.skill[:, labels]
        low, high = (error(skills, law.share, one.prior[0]) - one.target[0] for one in (easy, hard))
        each = [error(skills, law.share, law.prior[k]) - law.target[k] for k in range(2)]
        assert low <= min(each) + 1e-12 and high >= max(each) - 1e-12
