"""An audit: which answers an expert looks at, decided by a seed before any of them is seen, and what that shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crowdopt.answers.audit.bound import checks_needed, most_left
from crowdopt.answers.audit.martingale import Strata, log_martingale
from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.errors import InputError, refuse_unless

METHODS = ("assisted", "sequential", "exact")
"""Best first; ``assisted`` needs a claimed error for each answer."""
TRUE_OVER_CLAIMED = 1.5  # realised over claimed error, where nothing better is known (recorded label sets: 1.1 to 1.9)
GROUPS = 8  # at most; with 6 and with 10 an audit took as long, within 2 % (150 simulated audits each)
LEAST, MOST, LIKELIEST = 1e-4, 0.9, 0.95  # errors: at least; claimed of a group, predicted in a version, at most
LEVELS = 400  # values of the divergence, from which the next larger one is taken
HOPEFUL = 0.8  # of the target: claims above are scaled down to it, for an audit of answers that fail ends anyhow
# versions of what is wrong, and the weight of each: realised over claimed error, where there are claims (recorded label
# sets had 1.1 to 46), and one error for all groups, in units of the target
CLAIM_RATIOS = np.array([[0.75, 1.0, 1.5, 3.0, 6.0], [0.09, 0.37, 0.09, 0.05, 0.05]])
OF_TARGET = np.array([[0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.5, 5.0], [0.2, 0.2, 0.25, 0.15, 0.08, 0.05, 0.04, 0.03]])
# numbers of wrong answers that are tested: each, up to so many answers; beyond, around the target and in all
EVERY, FINE, COARSE = 400, 100, 200
SLICES = 100  # that share half of delta, at most


@dataclass(frozen=True, eq=False)
class AuditTerms:
    """What an audit is to show, and what it may rest on."""

    method: str = "assisted"  # ``assisted``, ``sequential`` or ``exact``
    target: float = 0.05  # share of wrong answers that is hoped for
    delta: float = 0.05  # chance of a false claim that this audit may spend
    seed: int = 0
    # so many answers of the largest claimed error go to the expert before the draw; they leave the population
    least_sure: int = 0
    expert_error: float = 0.0  # share of all tasks on which the expert errs, at most; the claim widens by it
    # column by whose values there are claims too, which share half of delta; ``label``: by class. Empty: none
    by: str = ""

    @property
    def own(self) -> float:
        """The chance that the claim of all answers may spend."""
        return self.delta / 2 if self.by else self.delta


@dataclass(frozen=True, eq=False)
class Draw:
    """Which answers the expert looks at, in which order: decided before any of them is seen."""

    strata: Strata  # groups of the answers that are drawn from
    certain: Ints  # (k,): the least sure answers, which are looked at whatever the draw
    order: Ints  # (answers - k,): all others, in the order of the draw
    stratum: Ints  # (answers - k,): group of each, in that order
    checks: int  # how many are to be looked at for now, the certain ones included

    @property
    def answers(self) -> int:
        """How many answers there are in all."""
        return self.certain.size + self.order.size


@dataclass(frozen=True, eq=False)
class Slice:
    """Answers of one value of a column: the part of any draw that lies in them is such a draw from these."""

    value: str
    members: Bools  # (answers,)
    groups: Ints  # (k,): groups of the draw that have answers of it to draw from
    strata: Strata  # these groups as far as they are in it
    numbers: Ints  # of wrong answers that are tested, as of the draw


@dataclass(frozen=True, eq=False)
class AuditDraw(Draw):
    """The draw of an audit."""

    terms: AuditTerms
    numbers: Ints  # (k,): of wrong answers that are tested, ascending from 0; each stands for all up to the next one
    assumed: float  # share of wrong answers that the number of checks was chosen for
    slices: tuple[Slice, ...] = ()

    @property
    def fixed(self) -> bool:
        """Whether the number of checks was fixed beforehand, so that all of them must be made."""
        return self.terms.method == "exact"


@dataclass(frozen=True, eq=False)
class Audited:
    """What an audit shows."""

    draw: AuditDraw
    wrong: Bools  # (k,): of the first k answers in the order of the draw
    looked: Ints  # (3, 2): looked at, and wrong among them: of those drawn, of the least sure, and of the others
    checked: int  # answers that the expert looked at
    corrected: int  # wrong ones among them
    # most wrong answers left among those drawn from, after each check; for a fixed number of checks only the last
    left: Ints  # (k,)
    wrong_at_most: int  # most wrong answers left in all, once those found are corrected
    certified: bool  # whether the target is reached

    @property
    def sentence(self) -> str:
        """The claim in words."""
        terms = self.draw.terms
        expert = f", if the expert errs on at most {100 * terms.expert_error:.12g} % of the tasks"
        return (
            f"{claimed(terms.own, self.wrong_at_most, self.draw.answers)} are wrong, whatever the workers did "
            f"({self.checked} checked, {self.corrected} corrected){expert if terms.expert_error else ''}"
        )


def draw(
    answers: int,
    terms: AuditTerms,
    claims: Floats | None = None,
    checks: int | None = None,
    values: Sequence[str] = (),
) -> AuditDraw:
    """Order the answers so that each next one is drawn in proportion to its group's rate (:func:`drawn_order`).

    claims (answers,): claimed probability that each is wrong; ``assisted`` and ``least_sure`` need it; checks: how many
    to look at; default: what certifies the target with probability .9 if the errors are 1.5 times the claimed ones, or
    half of the target where nothing is claimed; values: of the column ``terms.by``, of each answer.
    """
    _check(answers, terms, claims, checks)
    by_claim = np.arange(answers) if claims is None else np.argsort(claims, kind="stable")
    n, target = answers - terms.least_sure, terms.target
    certain, by_claim = by_claim[n:][::-1], by_claim[:n]
    assumed = target / 2 if claims is None else min(1.0, TRUE_OVER_CLAIMED * float(claims[np.sort(by_claim)].mean()))
    strata = with_versions(np.array([n]), np.array([assumed]), target)
    if terms.method == "assisted" and claims is not None:  # groups of about equal sums of sqrt(claim)
        ordered = claims[by_claim]
        mass = np.cumsum(np.sqrt(np.maximum(ordered, LEAST)))
        strata = cut(ordered, np.searchsorted(mass, mass[-1] * np.arange(1, GROUPS) / GROUPS), target)
        strata = strata._replace(rate=rates_of(strata.size, strata.claim, target))
    checks = checks or terms.least_sure + checks_needed(n, target, assumed, terms.own)
    order, stratum = drawn_order(strata, by_claim, answers, terms.seed)
    slices = tuple(_slice(value, values, order, stratum, strata, target) for value in sorted(set(values)))
    if len(slices) > SLICES:
        raise InputError(
            f"column {terms.by} has {len(slices)} values; claims are by {SLICES} at most: join some of them"
        )
    return AuditDraw(strata, certain, order, stratum, checks, terms, hypotheses(n, target), assumed, slices)


def _slice(value: str, values: Sequence[str], order: Ints, stratum: Ints, strata: Strata, target: float) -> Slice:
    members = np.array([one == value for one in values])
    size: Ints = np.bincount(stratum[members[order]], minlength=strata.size.size)
    some = np.flatnonzero(size)
    own = Strata(size[some], strata.claim[some], strata.rate[some], strata.weight, strata.error[:, some])
    return Slice(value, members, some, own, hypotheses(int(size.sum()), target))


def _check(answers: int, terms: AuditTerms, claims: Floats | None, checks: int | None) -> None:
    error, least_sure = terms.expert_error, terms.least_sure
    tests = {
        f"the audit's method is one of {', '.join(METHODS)}, not {terms.method!r}": terms.method in METHODS,
        f"the target must lie strictly between 0 and 1, not {terms.target:g}": 0 < terms.target < 1,
        f"the expert's error must lie in [0, 1), not {error:g}": 0 <= error < 1,
        f"an expert who errs on {error:g} of the tasks cannot certify {terms.target:g}; raise the target or find a "
        "better expert": error < terms.target,
        f"{least_sure} least sure answers of {answers}: leave at least one to draw from": 0 <= least_sure < answers,
        f"the number of checks must lie above {least_sure} and be at most {answers}, not {checks}": (
            checks is None or least_sure < checks <= answers
        ),
        "assisted and least sure answers need a claimed error for each answer; choose sequential or exact": (
            claims is not None or (terms.method != "assisted" and not least_sure)
        ),
    }
    refuse_unless(tests)


def with_versions(size: Ints, claim: Floats, target: float) -> Strata:
    """Groups of equal rates; versions follow the claims, where there are several groups, or have one error for all."""
    times, weight = OF_TARGET
    error = np.outer(target * times, np.ones(claim.size))
    if claim.size > 1:
        ratio, share = CLAIM_RATIOS
        error = np.concatenate([np.outer(ratio, claim), error])
        weight = np.concatenate([share, (1 - share.sum()) * weight])
    return Strata(size, claim, np.ones(size.size), weight, np.clip(error, LEAST, LIKELIEST))


def cut(ordered: Floats, cuts: Iterable[int], target: float) -> Strata:
    """Groups of equal rates between cuts; ordered (answers,): claimed errors, ascending."""
    edges = np.unique([0, *cuts, ordered.size])
    size: Ints = np.diff(edges)
    return with_versions(size, np.clip(np.add.reduceat(ordered, edges[:-1]) / size, LEAST, MOST), target)


def rates_of(size: Ints, claim: Floats, target: float) -> Floats:
    """How often to look at an answer of each group, to refute the target quickly.

    With shares a_s of the checks, refuting "a share epsilon is wrong" takes ``ln(1/delta)`` over
    ``min { sum_s a_s KL(r_s | theta_s) : sum_s f_s theta_s >= epsilon }``; the best shares have
    ``a_s / f_s`` in proportion to ``theta_s (1 - theta_s) / (theta_s - r_s)``, where all KL are equal: to the value at
    which the hidden shares add up to the target.

    size, claim (groups,): answers in each and their mean claimed error; target: share of wrong answers to refute.
    """
    share = size / size.sum()
    predicted = claim * min(1.0, HOPEFUL * target / float(share @ claim))
    divergence = np.geomspace(1e-6, 20.0, LEVELS)[:, None]
    low, high = np.repeat(predicted[None, :], LEVELS, axis=0), np.full((LEVELS, size.size), 1 - 1e-12)
    for _ in range(40):  # theta above r with KL(r | theta) equal to the divergence, by bisection
        middle = (low + high) / 2
        kl = predicted * np.log(predicted / middle) + (1 - predicted) * np.log((1 - predicted) / (1 - middle))
        low, high = np.where(kl < divergence, middle, low), np.where(kl < divergence, high, middle)
    theta = low[min(int(np.searchsorted(low @ share, target)), LEVELS - 1)]
    rate: Floats = theta * (1 - theta) / np.maximum(theta - predicted, 1e-9)
    return rate / float(share @ rate)


def drawn_order(strata: Strata, by_claim: Ints, answers: int, seed: int) -> tuple[Ints, Ints]:
    """Places by ``-ln(1 - u_i) / rate_i``, u_i uniform by the seed, and the group of each.

    by_claim (k,): the answers that are drawn from, surest first, of so many answers in all.
    """
    group = np.repeat(np.arange(strata.size.size), strata.size)
    wait = -np.log1p(-np.random.default_rng(seed).random(answers)[by_claim]) / strata.rate[group]
    first = np.argsort(wait, kind="stable")
    return by_claim[first], group[first]


def hypotheses(answers: int, target: float) -> Ints:
    """Numbers of wrong answers tested, ascending from 0, dense above the target; each stands for all up to the next."""
    if answers <= EVERY:
        return np.arange(answers + 1)
    first = int(target * answers) + 1
    coarse = np.round(np.geomspace(1, answers, COARSE)).astype(np.int64)
    fine = first + np.arange(FINE) * max(1, first // FINE)
    return np.unique(np.minimum([0, *fine, *coarse], answers))


def conclude(draw: AuditDraw, wrong: Bools, beside: ArrayLike = ((0, 0), (0, 0))) -> Audited:
    """The claim after the first answers in the order of the draw have been looked at.

    For ``sequential`` and ``assisted`` it holds at all times together: feed answers one by one or in batches, and stop
    when it is enough. For ``exact`` the number of checks was fixed with the draw.

    "Wrong" is what the expert calls wrong, a property of each answer that no draw changes. So the claim first bounds
    how many answers are left that the expert would correct; where they err on a share of the tasks, at most that many
    more answers are wrong in truth.

    wrong (k,): of the first k answers of ``draw.order``; at least one; beside (2, 2): looked at, and wrong among them:
    of the least sure answers, where those not looked at count as wrong, and of further ones, chosen in any way, where
    wrong ones are corrected, and no longer left.
    """
    terms, answers, n = draw.terms, draw.answers, draw.order.size
    planned, found = draw.checks - draw.certain.size, int(wrong.sum())
    if draw.fixed and wrong.size != planned:
        raise InputError(
            f"this audit fixed its {planned} drawn answers beforehand and {wrong.size} were looked at; "
            "look at all of them, or draw anew with the method sequential"
        )
    looked = np.vstack([(wrong.size, found), beside])
    if draw.fixed:
        left = np.array([most_left(n, planned, found, terms.own)])
    else:
        left = most_left_path(draw.strata, draw.numbers, terms.own, draw.stratum[: wrong.size], wrong)
    most = int(max(0, left[-1] - looked[2, 1]) + draw.certain.size - looked[1, 0])
    most = min(answers, most + int(terms.expert_error * answers + 1e-9))
    checked, corrected = looked.sum(axis=0).tolist()
    certified = most <= terms.target * answers + 1e-9
    return Audited(draw, wrong, looked, checked, corrected, left, most, certified)


def most_left_path(strata: Strata, numbers: Ints, delta: float, stratum: Ints, wrong: Bools) -> Ints:
    """Most wrong answers that are left after each check, valid at all of them together, (checks,).

    A number of wrong answers is refuted once its martingale has been at 1/delta. The claim is the largest number that
    is not, less what was found.

    numbers: that are tested; stratum, wrong (checks,): of each check, in the order of the draw.
    """
    n, bar = int(strata.size.sum()), -np.log(delta)
    path = log_martingale(strata, stratum, wrong, strata.size.size, numbers, bar)
    upto = np.append(numbers[1:] - 1, n)  # the last number that a hypothesis stands for
    most = np.where(np.logical_or.accumulate(path[:, 1:] >= bar, axis=1), 0, upto[:, None]).max(axis=0)
    return np.clip(most - np.cumsum(wrong), 0, n - np.arange(1, wrong.size + 1))


class SliceClaim(NamedTuple):
    """What an audit shows of a slice: so many of its answers are wrong at most, those found corrected."""

    value: str
    answers: int
    checked: int
    corrected: int
    left: int  # most wrong ones among those drawn from
    wrong_at_most: int


def slice_claims(draw: AuditDraw, wrong: Bools, looked: Mapping[int, bool]) -> list[SliceClaim]:
    """Claims by slice; all of them and that of all answers hold together with 1 - delta (Bonferroni).

    wrong (k,): of the first answers in the order of the draw; looked: place of each answer that the expert looked at,
    and whether it was wrong.
    """
    terms, claims = draw.terms, []
    drawn = draw.order[: wrong.size]
    for one in draw.slices:
        delta, mine = terms.delta / 2 / len(draw.slices), one.members[drawn]
        found, n = wrong[mine], int(one.strata.size.sum())
        if not found.size:
            left = n
        elif draw.fixed:
            left = most_left(n, found.size, int(found.sum()), delta)
        else:
            stratum = np.searchsorted(one.groups, draw.stratum[: wrong.size][mine])
            left = int(most_left_path(one.strata, one.numbers, delta, stratum, found)[-1])
        seen = {place: bad for place, bad in looked.items() if one.members[place]}
        certain = set(draw.certain[one.members[draw.certain]].tolist())
        beside = sum(bad for place, bad in seen.items() if place not in certain) - int(found.sum())
        most = max(0, left - beside) + len(certain - seen.keys())
        size = int(one.members.sum())
        most = min(size, most + int(terms.expert_error * draw.answers + 1e-9))
        claims.append(SliceClaim(one.value, size, len(seen), sum(seen.values()), left, most))
    return claims


def recall_at_least(claims: Sequence[SliceClaim], now: Mapping[str, int]) -> dict[str, float]:
    """Of the tasks of each class, the share that is answered so, at least: where slices are the answers' classes.

    ``(N_c - W_c) / (N_c - W_c + sum of W_k over the others)``: N_c answers say c now, at most W_c of them are wrong,
    and each wrong one of the others may be of class c.

    now: answers of each class, corrections in.
    """
    wrong = {one.value: one.wrong_at_most for one in claims}
    shares = {}
    for name, count in now.items():
        right, missed = max(0, count - wrong.get(name, 0)), sum(wrong.values()) - wrong.get(name, 0)
        shares[name] = right / (right + missed) if right else 0.0
    return shares


def claimed(delta: float, wrong: int, answers: int) -> str:
    """The beginning of a claim: how sure it is, how many at most, of how many."""
    percent = int(1e10 * (1 - delta) + 1e-4) / 1e8  # never rounded up
    return f"with {percent:.10g} % confidence at most {wrong} of the {answers} answers"
