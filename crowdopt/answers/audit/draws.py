"""An audit: which answers an expert looks at, decided by a seed before any of them is seen, and what that shows.

The exact bound of an audit whose size is fixed beforehand: hypergeometric, for any placement of the errors.

A test martingale for each number of wrong answers: what looks in the order of a draw refute, at any time.

What an audit or an escalation costs, as the words of an option say it; labels and audit planned together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaincinv, gammaln

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.core.program import named_numbers
from crowdopt.errors import InputError, refuse_unless

ROUNDING = 1e-7  # relative; a tail this close to delta counts as above it: log-factorials of 1e6 round at 1e-9
POWER = 0.9  # with which the number of checks that is proposed certifies the target
FAR = 20.0  # standard deviations, at least, beyond which terms of a tail add less than 1e-80


def most_left(answers: int, checked: int, wrong: int, delta: float) -> int:
    """``R = min { r : P(Hyp(n, k + r + 1, a) <= k) <= delta }``: at most R wrong answers are left.

    n answers, W of them wrong, fixed before the draw; a are drawn without replacement, k of them are wrong and are
    corrected. The claim is false only if ``K <= k*``, where k* is the largest count that accepts an r below ``W - K``;
    ``P_W(K <= k*) <= P_{k* + r + 1}(K <= k*) <= delta``, because Hyp grows stochastically in W.

    answers, checked, wrong: n, a, k; delta: chance of a false claim, over the draw alone.
    """
    return _first(0, answers - checked, lambda left: _accepts(answers, checked, wrong, left, delta))


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The first from low to high for which something holds, which then holds from there on; else high."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _accepts(answers: int, checked: int, wrong: int, left: int, delta: float) -> bool:
    return at_most(wrong, answers, wrong + left + 1, checked) <= delta * (1 - ROUNDING)


def at_most(count: int, answers: int, wrong: int, checked: int) -> float:
    """``P(Hyp(n, W, a) <= k)``: the chance that at most k of the a checked ones are wrong, W of n being so."""
    first = max(0, checked - (answers - wrong))
    last = min(count, wrong, checked)
    if last < first:
        return 0.0
    first = max(first, int(min(last, checked * wrong / answers) - FAR * 0.5 * checked**0.5 - 1))  # from the mean
    k = np.arange(first, last + 1)
    logs = _choose(wrong, k) + _choose(answers - wrong, checked - k) - _choose(answers, np.array(checked))
    return float(min(1.0, np.exp(logs).sum()))


def _choose(of: int, k: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> Floats:
    return gammaln(of + 1) - gammaln(k + 1) - gammaln(of - k + 1)


def checks_needed(answers: int, target: float, error: float, delta: float) -> int:
    """Checks that certify the target nine times in ten where a share ``error`` of the answers is wrong.

    By bisection; the power is a saw in the number of checks, so a smaller number may do by luck.

    target, error: shares of wrong answers: to be certified, and in truth; delta: chance of a false claim, at most.
    """
    wrong, left = round(error * answers), int(target * answers + ROUNDING)

    def certify(checks: int) -> bool:
        seen = _first(0, checks, lambda count: at_most(count, answers, wrong, checks) >= POWER)
        return left >= answers - checks or _accepts(answers, checks, seen, left, delta)

    return _first(1, answers, certify)


CELLS = 12_800  # numbers x checks at a time; between blocks numbers that have reached the bar are dropped
STEPS = 60  # of Newton, kept between bounds; what error is left is divided out, so that it costs power and not truth
SHARES_AGREE = 1e-10  # of the answers left: the hidden shares add up to the number supposed
SMALLEST, LARGEST = (
    1e-12,
    1e4,
)  # pressure is kept between: next to nothing is hidden, or next to all, and rounding is far


class Strata(NamedTuple):
    """Groups of answers, surest first, and what may be wrong in them, in several versions."""

    # answers in each; sorted by claimed error, equal ones in their order, the answers are cut into these sizes
    size: Ints  # (groups,)
    claim: Floats  # (groups,): mean claimed error
    rate: Floats  # (groups,): relative chance of each answer of the group to be drawn next
    weight: Floats  # (versions,): belief in each version, before any check
    error: Floats  # (versions, groups): share of wrong answers


def log_martingale(strata: Strata, stratum: Ints, wrong: Bools, groups: int, numbers: Ints, bar: float) -> Floats:
    """Logarithm of the product for "at least w answers of the first groups are wrong", (numbers, checks + 1).

    Before a check ``m = w - K`` wrong ones are supposed to be left. With predictions r and the hiding place theta,
    ``sum_i theta_i = m``, the factor of a check is ``r / theta`` if the answer is wrong and ``(1 - r) / (1 - theta)``
    if it is right. Answer i is drawn with chance pi_i, and theta is such that the two differ by ``lambda / pi_i``: so
    the factor's mean is ``1 + lambda (m - W_left) <= 1`` wherever the wrong ones are, and by Ville's inequality the
    product ever reaches 1/delta with chance at most delta (Waudby-Smith & Ramdas 2020; Stark 2023, ALPHA). The draw's
    part inside the first groups is such a draw from these: checks above them leave the product as it is.

    stratum, wrong (checks,): group of each checked answer, in the order of the draw, and whether it was wrong; numbers
    (numbers,): w; bar: once a logarithm has reached it, later ones of its number may be infinite; -> before any check,
    and after each.
    """
    inside = stratum < groups
    below: Ints = np.flatnonzero(inside)
    own, found, rate = stratum[below], wrong[below], strata.rate[:groups]
    taken = np.eye(groups)[own]
    sizes = strata.size[:groups] - np.cumsum(taken, axis=0) + taken  # before each check
    predicted = predictions(strata, stratum, wrong)[below, :groups]
    null = numbers[:, None] - (np.cumsum(found) - found).astype(np.float64)
    path = np.full((numbers.size, below.size), np.inf)
    last, open_ = np.zeros(numbers.size), np.arange(numbers.size)
    block = max(1, CELLS // numbers.size)
    for start in range(0, below.size, block):  # later blocks cost only what is still open
        at = slice(start, start + block)
        factors = _log_factors(rate, sizes[at], predicted[at], own[at], found[at], null[open_, at])
        path[open_, at] = step = last[:, None] + np.cumsum(factors, axis=1)
        still = (step < bar).all(axis=1)
        open_, last = open_[still], step[still, -1]
    return np.pad(path, ((0, 0), (1, 0)))[:, np.append(0, np.cumsum(inside))]


def _log_factors(rate: Floats, sizes: Floats, predicted: Floats, own: Ints, wrong: Bools, null: Floats) -> Floats:
    """Of each check for each number, (numbers, checks): 0 where no more are supposed to be left than are predicted."""
    factors = np.where(null > sizes.sum(axis=1), np.inf, 0.0)  # more wrong answers than are left at all
    rows, checks = np.nonzero((null > (sizes * predicted).sum(axis=1)) & (factors == 0))
    sizes, predicted, own, supposed = sizes[checks], predicted[checks], own[checks], null[rows, checks]
    pressure, theta = hidden(sizes, rate, predicted, supposed)
    # where the shares add up to a little more or less than m, the factor is divided by what its mean then is
    mean = 1 + pressure / (sizes @ rate) * ((sizes * theta).sum(axis=1) - supposed)
    each = np.arange(own.size)
    share = theta[each, own]
    factor = np.where(wrong[checks], predicted[each, own] / share, 1 + share * pressure / rate[own])
    factors[rows, checks] = np.log(factor) - np.log(np.maximum(mean, 1e-300))
    return factors


def predictions(strata: Strata, stratum: Ints, wrong: Bools) -> Floats:
    """Predicted share of wrong answers of each group before each check, and after the last, (checks + 1, groups).

    After a check the weight of a version is multiplied by the chance that it gave to what was seen. Any prediction from
    the past is valid: a poor one costs checks.
    """
    chance = np.where(wrong[:, None], strata.error[:, stratum].T, 1 - strata.error[:, stratum].T)
    log_weight = np.cumsum(np.log(np.vstack([strata.weight, chance])), axis=0)
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    return weight / weight.sum(axis=1, keepdims=True) @ strata.error


def hidden(sizes: Floats, rate: Floats, predicted: Floats, null: Floats) -> tuple[Floats, Floats]:
    """Where so many wrong answers are hardest to find: the pressure mu, and the share theta in each group.

    ``min sum_s pi_s KL(r_s | theta_s)  s.t.  sum_s N_s theta_s >= m``, with ``pi_s`` in proportion to the rates, has
    its optimum where ``rate_s KL'(r_s | theta_s) = mu`` for all groups.

    sizes, predicted (cells, groups): answers not yet checked, and the predicted share of wrong ones; rate (groups,):
    relative chance of each answer to be drawn; null (cells,): wrong answers that are supposed to be there, more than
    are predicted and at most all; -> (cells,), (cells, groups).
    """
    total = np.maximum(sizes.sum(axis=1), 1.0)
    share = np.clip(null / total, SMALLEST, 1 - 1e-11)
    mean = np.clip((sizes * predicted).sum(axis=1) / total, SMALLEST, 1 - 1e-9)
    # start: the pressure that would suffice if all groups were one of mean share and typical rate
    height = np.log(
        np.clip((sizes * rate).sum(axis=1) / total * (share - mean) / (share * (1 - share)), SMALLEST, LARGEST)
    )
    # Newton in ln mu, for mu spans decades; a step that leaves the bracket is replaced by its middle
    below, above = np.full(height.shape, np.log(SMALLEST)), np.full(height.shape, np.log(LARGEST))
    for _ in range(STEPS):
        mu = np.exp(height)
        pressure = mu[:, None] / rate
        # theta with (theta - r) / (theta (1 - theta)) = h, the pressure: the root of h theta^2 + (1 - h) theta - r = 0,
        # written so that nothing cancels
        middle = 1 - pressure
        root = np.sqrt(middle * middle + 4 * pressure * predicted)
        low, high = (
            2 * predicted / np.maximum(middle + root, SMALLEST),
            (root - middle) / np.maximum(2 * pressure, SMALLEST),
        )
        theta = np.clip(np.where(middle >= 0, low, high), predicted, 1.0)
        short = null - (sizes * theta).sum(axis=1)
        below, above = np.where(short > 0, height, below), np.where(short > 0, above, height)
        far = (np.abs(short) > SHARES_AGREE * total) & (above - below > SHARES_AGREE)
        if not far.any():
            break
        # d theta / d h = theta (1 - theta) / (2 h theta + 1 - h), from the quadratic
        slope = theta * (1 - theta) * pressure / np.maximum(2 * pressure * theta + 1 - pressure, SMALLEST)
        to = height + short / np.maximum((sizes * slope).sum(axis=1), SMALLEST)
        height = np.where(far, np.where((below < to) & (to < above), to, (below + above) / 2), height)
    return mu, theta


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


GRID = 60  # error targets that are tried, beside those given
SPENT = 1e-12  # of the chance of a false claim; less than that left is nothing left
ENOUGH = 10  # wrong answers from which on the ratio of realised to claimed errors is taken from known ones


def spendable(confidence: float, earlier: Sequence[float] = (), share: float = 1.0) -> float:
    """Delta of the next audit: ``share`` of what earlier ones leave of ``1 - confidence``.

    The chance that any claim is false is at most the sum of all deltas, so with probability at least ``confidence`` all
    of them hold. A longer look at the same draw needs none of this: its claim holds at all times.

    confidence: of all claims together; earlier: deltas of the audits before; share: in (0, 1]; what is kept back is
    left for a later audit. Raises InputError if a number is out of range, or nothing is left.
    """
    left = round(1 - confidence - sum(earlier), 14)  # .05, not .050000000000000044
    tests = {
        f"the confidence must lie strictly between 0 and 1, not {confidence:g}": 0 < confidence < 1,
        f"the share of the chance of error must lie in (0, 1], not {share:g}": 0 < share <= 1,
        f"the earlier audits have spent all {1 - confidence:.3g} that a confidence of {confidence:g} leaves (one that "
        "--force replaces counts); go on with the earlier draw, whose claim holds at any time, or state a lower "
        "confidence": share * left > SPENT,
    }
    refuse_unless(tests)
    return share * left


@dataclass(frozen=True)
class Tariff:
    """An audit in terms of money."""

    price: float = 20.0  # of one look by the expert, in units of the labels' cost
    confidence: float = 0.95  # of the claim
    checks: float = 100.0  # answers looked at, where their number is given
    ratio: float = 1.5  # realised over claimed error; recorded label sets had 1.1 to 1.9

    def __post_init__(self) -> None:
        price, checks = self.price, self.checks
        tests = {
            f"an expert's price must be at least 0, not {price:g}": price >= 0,
            f"checks must be a whole number of at least 1, not {checks:g}": checks == max(1, int(checks)),
            f"the ratio of realised to claimed error must lie above 0, not {self.ratio:g}": self.ratio > 0,
        }
        refuse_unless(tests)
        spendable(self.confidence)


def tariff(text: str) -> Tariff:
    """A tariff as it is written: ``price=20,confidence=.95``, ``checks=100,price=20``, or nothing for the defaults."""
    return Tariff(**named_numbers(text, Tariff, "an audit", "price=20"))


@dataclass(frozen=True)
class Tiers:
    """Prices, and how many tiers there are before the expert."""

    expert: float = 1.0  # price of one look by the expert
    next: float = 1.0  # price of one answer that goes up; as the expert's unless given
    tiers: float = 1  # whose answers are held against the expert's, this one included

    def __post_init__(self) -> None:
        tests = {
            f"the price expert must lie above 0 and be finite, not {self.expert:g}": self.expert > 0,
            f"the price next must lie above 0 and be finite, not {self.next:g}": self.next > 0,
            f"tiers must be a whole number of at least 1, not {self.tiers:g}": self.tiers == max(1, int(self.tiers)),
        }
        refuse_unless(tests)


def tiers(text: str) -> Tiers:
    """Words as they are written: ``expert=40``, ``expert=40,next=3,tiers=2``, or nothing for the defaults."""
    given = named_numbers(text, Tiers, "an escalation", "expert=40")
    return Tiers(**{"next": given.get("expert", 1.0), **given})


class Together(NamedTuple):
    """Costs by the error that labels are planned for."""

    epsilon: Floats  # (k,): error targets of the labels, ascending
    labels: Floats  # (k,): what labels cost at least
    looks: Ints  # (k,): answers that an expert checks: they certify the target nine times in ten
    total: Floats  # (k,): labels and looks
    experts_alone: float  # what it costs to have an expert answer every task


def together(epsilon: Floats, labels: Floats, answers: int, target: float, tariff: Tariff) -> Together:
    """``cost(e') + price * looks(e')``, looks by the exact bound where the true error is ``ratio * e'``.

    epsilon, labels (k,): error targets, ascending, and what labels for them cost; in between the cost is taken as
    linear in ln(epsilon), as it is between the pieces of the linear program's curve; answers: how many there will be;
    target: share of wrong answers to certify.
    """
    grid = np.union1d(epsilon, np.geomspace(epsilon[0], epsilon[-1], GRID))
    cost = np.interp(np.log(grid), np.log(epsilon), labels)
    errors, delta = np.minimum(1.0, tariff.ratio * grid), spendable(tariff.confidence)
    looks = np.array([checks_needed(answers, target, float(error), delta) for error in errors], np.int64)
    total = cost + tariff.price * looks
    return Together(grid, cost, looks, total, tariff.price * answers)


class Realised(NamedTuple):
    """Realised over claimed error on tasks of known answers, with a 95 % interval for independent errors."""

    ratio: float
    low: float
    high: float
    tasks: int
    enough: bool  # from 10 wrong answers on


def realised(claims: Floats, wrong: Bools) -> Realised:
    """Wrong answers over the expected number of them; the interval is Garwood's for a Poisson count.

    claims (tasks,): claimed probability that each answer is wrong; wrong (tasks,): whether it is.
    """
    expected, count = max(float(claims.sum()), 1e-12), int(wrong.sum())
    low = float(gammaincinv(count, 0.025)) if count else 0.0
    ends = (count / expected, low / expected, float(gammaincinv(count + 1, 0.975)) / expected)
    return Realised(*ends, wrong.size, count >= ENOUGH)
