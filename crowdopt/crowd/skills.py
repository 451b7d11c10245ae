"""Skills from gold: the prior of a crowd's skills is not chosen but averaged over, by what gold makes likely.

A prior is a *family* with one to three parameters: all workers alike (``one-point``), good and bad ones
(``two-points``), anything between two ends (``range``), a Beta law (``beta``). Given its parameters theta a worker who
is right c times of s has the likelihood ``l_theta(c, s) = E[p^c (1 - p)^(s - c)]``, so gold's tallies make parameters
likely: ``P(theta | gold) ~ pi(theta) prod_j l_theta(c_j, s_j)``. It is summed over a lattice of theta, which closes in
on where it is large. Families count by their sums (their marginal likelihoods), and a skill is the mean over all:
``E[p | c of s, theta] = l_theta(c + 1, s + 1) / l_theta(c, s)``, so that a family is its likelihood, and no more.
Large crowds are also held against the likeliest ``mixture`` on a grid (Kiefer and Wolfowitz 1956), less
``(2 atoms - 1)/2 ln m`` (Schwarz 1978), so that no crowd is forced into a family.

*Why averaged*: a vote's error is linear in each worker's chance, so that with the posterior means of a right prior the
errors of a plan are right on average, whoever is chosen. With a prior that is fitted the best-looking are overrated as
far as the fit is wrong: a Beta law cannot say that nobody is better than .7.

From gold to skills: accuracies by averaged priors, plug-in, unbiased; confusion tables; gold that cannot be right.

Row k of a worker's table is the law of their label where class k is true. A one-coin worker has p on the diagonal and
``(1 - p) / (K - 1)`` beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.law import TINY
from crowdopt.errors import GoldWarning, InputError, tell


class PriorParams(NamedTuple):
    """Numbers of the average over priors."""

    rounds: int = 6  # in which the lattice closes in, at most; after each a sharp peak's cells are a fifth as long
    spread: float = 3.5  # deviations on either side of the mean that it keeps
    closer: float = 0.6  # share of the lattice's volume that has to fall away for another round
    doubt: float = 0.15  # how likely a crowd worse than guessing is beside one that is better
    nodes: tuple[int, int] = (24, 160)  # of a mixture's skills: more where workers were asked more
    steps: int = 200  # of expectation and maximisation for a mixture
    many: int = 30  # workers from which it is tried
    least: float = 1e-3  # chance of a parameter or family beside the likeliest one, below which it is left out
    tallies: int = 2000  # that tell the priors: of more different ones some stand for those beside them


SUREST = 1e-6  # distance of a point's skill from 0 and 1: one answer of another kind is no contradiction
BLOCK = 1000  # tallies whose means are worked out together
ROW = 128  # answers, below which all tallies of workers who are asked as often are worked out with one of them
FAINT = -600.0  # logarithm of a tail that is left to its first terms: soon after floating point has no smaller number

Draw = Callable[[np.random.Generator, Floats, Floats, Floats], Floats]


class Family(NamedTuple):
    """Priors of a kind: parameters are between 0 and 1, uniform."""

    # (theta (parameters, k), right, asked (tallies,)) -> ln E[p^c (1 - p)^(s - c)], (parameters, tallies)
    likelihood: Callable[[Floats, Floats, Floats], Floats]
    draw: Draw  # (rng, theta (k,), right, asked (workers,)) -> skills given the tallies, (workers,)
    cells: tuple[int, ...]  # of the lattice, on each side
    ordered: bool = False  # whether the first parameter is below the second


def _of_points(skill: Floats, weight: Floats, right: Floats, asked: Floats) -> Floats:
    """Logarithms of ``w_g p_g^c (1 - p_g)^(s - c)``, (points, ..., tallies)."""
    skill, weight = (np.moveaxis(of, -1, 0)[..., None] for of in (np.clip(skill, SUREST, 1 - SUREST), weight))
    return np.log(np.maximum(weight, TINY)) + right * np.log(skill) + (asked - right) * np.log1p(-skill)


def _points(split: Callable[[Floats], tuple[Floats, Floats]], *cells: int, ordered: bool = False) -> Family:
    """Of so many skills: ``split(theta)`` is these and their weights, each (..., points)."""

    def likelihood(theta: Floats, right: Floats, asked: Floats) -> Floats:
        each = _of_points(*split(theta), right, asked)
        top = each.max(axis=0)
        return np.asarray(top + np.log(np.exp(each - top).sum(axis=0)))  # a fifth of the time of logaddexp

    def draw(rng: np.random.Generator, theta: Floats, right: Floats, asked: Floats) -> Floats:
        each = _of_points(*split(theta), right, asked)
        place = np.argmax(each + rng.gumbel(size=each.shape), axis=0)  # by exp(each): Gumbel 1954
        return np.asarray(split(theta)[0][place])

    return Family(likelihood, draw, cells, ordered)


def _tails(x: Floats, right: Floats, wrong: Floats) -> tuple[Floats, Floats]:
    """Logarithms of what ``p^c (1 - p)^(s - c) / B(c + 1, s - c + 1)`` has below x and above, (points, tallies)."""
    from scipy.special import betainc, betaln

    x = x[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = np.log(betainc(right + 1, wrong + 1, x)), np.log(betainc(wrong + 1, right + 1, 1 - x))
        # far from the mode, by parts twice: int f = f / (ln f)' (1 + (ln f)'' / (ln f)'^2 + ...)
        slope, bend = right / x - wrong / (1 - x), right / x**2 + wrong / (1 - x) ** 2
        first = right * np.log(x) + wrong * np.log1p(-x) - betaln(right + 1, wrong + 1)
        first = first - np.log(np.abs(slope)) + np.log1p(-bend / slope**2)
    return np.where(low > FAINT, low, first), np.where(high > FAINT, high, first)


def _range_likelihood(theta: Floats, right: Floats, asked: Floats) -> Floats:
    """A range's: the part of a Beta law between its ends, over its length."""
    from scipy.special import betaln

    ends, place = np.unique(theta, return_inverse=True)
    below, above = _tails(ends, right, asked - right)
    low, high = place.reshape(theta.shape).T
    # of two parts that are nearly 1 the difference says nothing: then by what is above
    most = np.where(below[high] < np.log(0.5), below[high], above[low])
    less = np.where(below[high] < np.log(0.5), below[low], above[high])
    part = most + np.log(-np.expm1(less - most))
    return part + betaln(right + 1, asked - right + 1) - np.log(theta[:, 1:] - theta[:, :1])


def _range_draw(rng: np.random.Generator, theta: Floats, right: Floats, asked: Floats) -> Floats:
    from scipy.special import betainc, betaincinv

    ends = betainc(right + 1, asked - right + 1, theta[:, None])
    return np.clip(betaincinv(right + 1, asked - right + 1, rng.uniform(*ends)), *theta)


def _beta_weights(theta: Floats) -> tuple[Floats, Floats]:
    """Of right and wrong answers, by the mean and the correlation of a worker's answers."""
    mean, weight = theta[..., :1], 1 / theta[..., 1:] - 1
    return mean * weight, (1 - mean) * weight


def _beta_likelihood(theta: Floats, right: Floats, asked: Floats) -> Floats:
    from scipy.special import gammaln  # three of these are three times as fast as one betaln

    a, b = _beta_weights(theta)
    told = gammaln(a + right) + gammaln(b + asked - right) - gammaln(a + b + asked)
    return np.asarray(told - (gammaln(a) + gammaln(b) - gammaln(a + b)))


def _beta_draw(rng: np.random.Generator, theta: Floats, right: Floats, asked: Floats) -> Floats:
    a, b = _beta_weights(theta)
    return rng.beta(a + right, b + asked - right)


# Of ordered parameters one has a cell more: no middle has both alike, and half of all are in order.
FAMILIES = {
    "one-point": _points(lambda theta: (theta, np.ones_like(theta)), 32),
    "two-points": _points(
        lambda theta: (theta[..., :2], np.stack([1 - theta[..., 2], theta[..., 2]], axis=-1)), 14, 15, 7, ordered=True
    ),
    "range": Family(_range_likelihood, _range_draw, (12, 13), ordered=True),
    "beta": Family(_beta_likelihood, _beta_draw, (12, 10)),
}
MIXTURE = "mixture"
PRIORS = (*FAMILIES, MIXTURE)
ANY_POINTS = _points(lambda theta: (theta[..., : theta.shape[-1] // 2], theta[..., theta.shape[-1] // 2 :]))


class Levels(NamedTuple):
    """Different tallies, and how many workers have each."""

    right: Floats
    asked: Floats
    workers: Floats

    @classmethod
    def of(cls, right: Floats, asked: Floats) -> Levels:
        """Of workers, (workers,) each."""
        most = asked.max(initial=0.0) + 1  # one number for both: a tenth of the time that pairs take
        both, count = np.unique(asked * most + right, return_counts=True)
        return cls(both % most, both // most, count.astype(np.float64))

    def fewer(self, most: int) -> Levels:
        """At most so many: of neighbours by their shares of right answers the commonest stands for all."""
        if self.workers.size <= most:
            return self
        order = np.argsort((self.right + 1) / (self.asked + 2), kind="stable")
        parts = np.array_split(order, most)
        one = np.array([part[self.workers[part].argmax()] for part in parts])
        return Levels(self.right[one], self.asked[one], np.array([self.workers[part].sum() for part in parts]))


class Fit(NamedTuple):
    """A family held against tallies: which parameters are likely."""

    family: Family
    evidence: float  # ln of the marginal likelihood
    theta: Floats  # (parameters, k)
    chance: Floats  # (parameters,): given the tallies


def _fit(family: Family, levels: Levels, classes: int, params: PriorParams) -> Fit:
    low, high = np.zeros(len(family.cells)), np.ones(len(family.cells))
    right, asked = np.append(levels.right, 1), np.append(levels.asked, 1)  # of one answer: the prior's mean
    for _ in range(params.rounds):
        step = (high - low) / family.cells
        theta = low + step * (np.indices(family.cells).reshape(step.size, -1).T + 0.5)
        if family.ordered:
            theta = theta[theta[:, 0] < theta[:, 1]]
        told = family.likelihood(theta, right, asked)
        above = np.clip((np.exp(told[:, -1]) - 1 / classes) / step[0] + 0.5, 0, 1)  # share of a cell
        usual = params.doubt + (1 - params.doubt) * above
        logs = told[:, :-1] @ levels.workers + np.log(usual * step.prod() * (1 + family.ordered))
        chance = np.exp(logs - logs.max())
        evidence = float(logs.max() + np.log(chance.sum()))
        chance /= chance.sum()
        middle = chance @ theta
        reach = params.spread * (np.sqrt(chance @ (theta - middle) ** 2) + step / 3)
        inner = np.maximum(low, middle - reach), np.minimum(high, middle + reach)
        likely = chance > params.least * chance.max()
        if (inner[1] - inner[0]).prod() > params.closer * (high - low).prod():
            if np.count_nonzero(likely) >= 3**step.size:
                break
            best = theta[chance.argmax()]  # of several peaks that the lattice is too coarse for, one is looked into
            inner = np.maximum(low, best - 2 * step), np.minimum(high, best + 2 * step)
        low, high = inner
    return Fit(family, evidence, theta[likely], chance[likely] / chance[likely].sum())


def _mixture(levels: Levels, params: PriorParams) -> Fit:
    few, many = params.nodes
    points, total = int(np.clip(4 * np.sqrt(levels.asked.max()), few, many)), levels.workers.sum()
    skill, weight = (np.arange(points) + 0.5) / points, np.full(points, 1 / points)
    logs = _of_points(skill, np.ones_like(skill), levels.right, levels.asked)
    each = np.exp(logs - logs.max(axis=0))
    for _ in range(params.steps):
        weight = weight * (each @ (levels.workers / (weight @ each))) / total
    told, atoms = np.log(weight @ each) + logs.max(axis=0), np.count_nonzero(weight > 0.5 / total)
    evidence = float(told @ levels.workers - (atoms - 0.5) * np.log(total))
    return Fit(ANY_POINTS, evidence, np.concatenate([skill, weight])[None], np.ones(1))


def _of_either(right: Floats, wrong: Floats) -> tuple[Floats, Floats]:
    """Of two logarithms that of the sum, and the first one's share."""
    more, less = np.maximum(right, wrong), np.minimum(right, wrong)
    rest = np.exp(less - more)
    return more + np.log1p(rest), np.where(right > wrong, 1.0, rest) / (1 + rest)


@dataclass(frozen=True, eq=False)
class Known:
    """What gold tells of a crowd's skills: parameters of all families, and how likely each is."""

    fits: tuple[Fit, ...]
    weight: Floats  # (parameters,): of all families in a row
    rows: dict[int, tuple[Floats, Floats]] = field(default_factory=dict)  # what told() says of workers asked as often
    table: dict[tuple[float, float], float] = field(default_factory=dict)  # of means that were asked for, by c and s

    def told(self, right: Floats, asked: Floats) -> tuple[Floats, Floats]:
        """``ln l(c, s)`` and E[p | c of s] by each parameter, (parameters, tallies): one more answer is either."""
        return _of_either(*(self._likelihood(right + one, asked + 1) for one in (1, 0)))

    def row(self, often: int) -> tuple[Floats, Floats]:
        """That of all tallies of so many answers: worked out once."""
        if often not in self.rows:
            each = self._likelihood(np.arange(often + 2.0), np.full(often + 2, often + 1.0))
            self.rows[often] = _of_either(each[:, 1:], each[:, :-1])
        return self.rows[often]

    def _likelihood(self, right: Floats, asked: Floats) -> Floats:
        return np.concatenate([fit.family.likelihood(fit.theta, right, asked) for fit in self.fits])

    def means(self, right: Floats, asked: Floats) -> Floats:
        """E[p | c of s] of workers, (workers,): these need not be those whose gold told the priors."""
        often = np.unique(asked).astype(int).tolist()
        if sum(often) < ROW:
            means = np.empty(right.size)
            for one in often:
                mine = asked == one
                means[mine] = self._means(self.row(one)[1])[right[mine].astype(int)]
            return means
        keys = list(zip(right.tolist(), asked.tolist(), strict=True))
        new = sorted(set(keys).difference(self.table))
        for block in range(0, len(new), BLOCK):
            some = new[block : block + BLOCK]
            each = self._means(self.told(*np.array(some).T)[1])
            self.table.update(zip(some, each.tolist(), strict=True))
        return np.array([self.table[key] for key in keys])

    def _means(self, each: Floats) -> Floats:
        # added up row by row, and none alone: no column's last bits depend on the others, as those of BLAS do
        columns = np.repeat(each, 2, axis=1) if each.shape[1] == 1 else each
        return np.asarray((self.weight[:, None] * columns).sum(axis=0)[: each.shape[1]])

    def after(self, right: Floats, asked: Floats) -> Known:
        """What more workers add to it, (workers,) each, on the parameters that were likely without them."""
        often = np.unique(asked[asked > 0]).astype(int).tolist()
        if not often or often[-1] >= ROW:
            return self
        logs = np.log(np.maximum(self.weight, TINY))
        for one in often:
            workers = np.bincount(right[asked == one].astype(int), minlength=one + 1)
            logs += self.row(one)[0] @ workers.astype(np.float64)
        weight = np.exp(logs - logs.max())
        return Known(self.fits, weight / weight.sum(), self.rows)

    def ranges(self, right: Floats, asked: Floats, tail: float = 0.05, draws: int = 200) -> tuple[Floats, Floats]:
        """Between which skills lie but for the tails, each (workers,): quantiles of draws, the same ones every time."""
        pairs, pair = np.unique(np.stack([right, asked]), axis=1, return_inverse=True)
        rng = np.random.default_rng(0)
        drawn = np.stack([self.draw(rng, *pairs) for _ in range(draws)])
        low, high = np.quantile(drawn, (tail, 1 - tail), axis=0)[:, pair.reshape(-1)]
        return low, high

    def draw(self, rng: np.random.Generator, right: Floats, asked: Floats) -> Floats:
        """Skills of workers as gold leaves them open, (workers,): one prior for all, then each skill by the tally."""
        ends, place = np.cumsum([len(fit.theta) for fit in self.fits]), rng.choice(self.weight.size, p=self.weight)
        which = int(np.searchsorted(ends, place, side="right"))
        fit = self.fits[which]
        theta = fit.theta[place - ends[which]]  # from its end on
        return fit.family.draw(rng, theta, np.asarray(right, np.float64), np.asarray(asked, np.float64))


def known(
    right: Floats,
    asked: Floats,
    classes: int = 2,
    names: tuple[str, ...] = PRIORS,
    params: PriorParams | None = None,
) -> Known:
    """The priors that the tallies of one type make likely.

    right, asked (workers,): c and s; classes: K, a guess is right with chance 1/K; names: families averaged over.
    """
    params, right, asked = params or PriorParams(), np.asarray(right, np.float64), np.asarray(asked, np.float64)
    heard = asked > 0 if asked.any() else asked == 0
    levels = Levels.of(right[heard], asked[heard]).fewer(params.tallies)
    fits = [_fit(FAMILIES[name], levels, classes, params) for name in names if name != MIXTURE]
    if MIXTURE in names and (np.count_nonzero(heard) >= params.many or not fits):
        fits.append(_mixture(levels, params))
    evidence = np.array([fit.evidence for fit in fits])
    share = np.exp(evidence - evidence.max())
    likely = [(fit, chance) for fit, chance in zip(fits, share.tolist(), strict=True) if chance > params.least]
    weight = np.concatenate([chance * fit.chance for fit, chance in likely])
    return Known(tuple(fit for fit, _ in likely), weight / weight.sum())


AGREEMENT = "agreement of labels, no known answers"  # what tallies rest on where no truth is known
STRENGTHS: Floats = np.geomspace(0.25, 256.0, 11)  # labels like the crowd, per true class, to begin with
FALSE_ALARM = 1e-3  # chance that honest gold, every worker guessing or better, is found fault with by either test
SHOWN = 5  # workers in a sentence
MEND = "look for swapped columns, labels that stand for one another, or line ends left in one of two tables"
GO_ON = "to go on as it is, --trust-gold (in Python trust_gold=True), or trust_gold = true in campaign.toml"


def plug_in(correct: Any, asked: Any) -> Floats:
    """``p = c / s``, the share of gold answered correctly; NaN where nothing was asked.

    Over-confident for few gold tasks: the one who looks best was also lucky.

    -> (types, workers).
    """
    c, s = _tallies(correct, asked)
    return np.divide(c, s, out=np.full(c.shape, np.nan), where=s > 0)


def unbiased(correct: Any, asked: Any) -> Floats:
    """The accuracy whose evidence ``(2p - 1)^2`` is ``max(0, (s (2 c/s - 1)^2 - 1) / (s - 1))``; NaN for s < 2.

    That is unbiased for ``(2p - 1)^2`` but for the clip; p is on the plug-in's side of 1/2. For equal s it is affine in
    the plug-in's: it changes how much is bought, never whom the ranking prefers.

    -> (types, workers).
    """
    p, s = plug_in(correct, asked), np.atleast_2d(np.asarray(asked, np.float64))
    raw = np.divide(s * (2 * p - 1) ** 2 - 1, s - 1, out=np.full(s.shape, np.nan), where=s > 1)
    return 0.5 + np.where(p < 0.5, -0.5, 0.5) * np.sqrt(np.maximum(0.0, raw))


def averaged(
    correct: Any, asked: Any, classes: int = 2, names: tuple[str, ...] = PRIORS, growing: bool = False
) -> Floats:
    """Posterior means, averaged over the priors that each type's gold leaves open (crowdopt.crowd.skills).

    A worker without gold has the prior's mean; a type without any is like all others together.

    correct, asked (types, workers): c and s; names: the priors; growing: whether more workers come, so that
    parameters are looked for anew at powers of 4 alone; -> (types, workers). Raises InputError if no worker
    has answered any gold, or a tally is impossible.
    """
    return np.stack([told.means(*tally) for told, *tally in known_of(correct, asked, classes, names, growing)])


def known_of(
    correct: Any, asked: Any, classes: int = 2, names: tuple[str, ...] = PRIORS, growing: bool = False
) -> list[tuple[Known, Floats, Floats]]:
    """What gold tells of each type, and the tallies that its workers count with, (workers,) each (:func:`averaged`)."""
    c, s = _tallies(correct, asked)
    if s.sum() == 0:
        raise InputError("no worker has answered a gold task, so skills cannot be estimated; give gold or accuracies")
    there = s.any(axis=1, keepdims=True)
    both = np.stack([np.where(there, c, c.sum(axis=0)), np.where(there, s, s.sum(axis=0))], axis=1)
    first = 4 ** ((c.shape[1].bit_length() - 1) // 2) if growing else c.shape[1]
    first = first if both[:, 1, :first].any(axis=1).all() else c.shape[1]
    return [(_priors(row[:, :first].tobytes(), classes, names).after(*row[:, first:]), *row) for row in both]


@lru_cache(maxsize=64)
def _priors(tallies: bytes, classes: int, names: tuple[str, ...]) -> Known:
    right, asked = np.frombuffer(tallies).reshape(2, -1)
    return known(right, asked, classes, names)


AVERAGED, TALLIED = "averaged", ("plug-in", "unbiased")
ESTIMATORS = (AVERAGED, *PRIORS, *TALLIED)


def estimator(name: str, classes: int = 2, growing: bool = False) -> Callable[[Any, Any], Floats]:
    """How gold becomes accuracies: ``estimator(name)(correct, asked)``, each (types, workers) (:func:`averaged`)."""
    if name in TALLIED:
        return plug_in if name == "plug-in" else unbiased
    return partial(averaged, classes=classes, names=priors_of(name), growing=growing)


def priors_of(name: str) -> tuple[str, ...]:
    """The priors that an estimator rests on: one, or all."""
    return (name,) if name in PRIORS else PRIORS


def _tallies(correct: Any, asked: Any) -> tuple[Floats, Floats]:
    c, s = (np.atleast_2d(np.asarray(tally, dtype=np.float64)) for tally in (correct, asked))
    if c.shape != s.shape:
        raise InputError(f"correct has shape {c.shape}, asked has {s.shape}; they must be alike")
    if not (np.isfinite(s) & (c == np.rint(c)) & (s == np.rint(s)) & (c >= 0) & (c <= s)).all():
        raise InputError("gold tallies must be whole numbers with 0 <= correct <= asked")
    return c, s


def confusions(tallies: Ints) -> Floats:
    """``(n_jkl + a c_kl) / (n_jk + a)``: gold, with ``a`` labels per true class drawn from the crowd's table c.

    ``c_kl`` is ``(n_kl + d_kl) / (n_k + 1)``, n the whole crowd's gold and d one label's worth of a one-coin worker as
    good as the crowd: so no chance is 0, and a class without gold has what the others suggest.

    tallies (workers, classes, classes): gold answers by true class and by answer.
    a is the likeliest of STRENGTHS if every row is drawn from ``Dirichlet(a c_k)``.
    -> (workers, classes, classes): rows add up to 1. Raises InputError if there is no gold, or a tally is negative.
    """
    counts = with_crowd(tallies)
    return np.asarray(counts / counts.sum(axis=2, keepdims=True), np.float64)


def with_crowd(tallies: Ints) -> Floats:
    """``n_jkl + a c_kl``, (workers, classes, classes)."""
    counts = np.asarray(tallies, dtype=np.float64)
    if (counts < 0).any() or not counts.sum():
        raise InputError("confusion tables need gold: tallies of at least 0, and some above 0")
    classes, crowd = counts.shape[1], counts.sum(axis=0)
    right = (np.trace(crowd) + 1) / (crowd.sum() + classes)
    coin = np.where(np.eye(classes, dtype=bool), right, (1 - right) / (classes - 1))
    shared = (crowd + coin) / (crowd.sum(axis=1, keepdims=True) + 1)
    strength = float(STRENGTHS[np.argmax([_likelihood(counts, a * shared) for a in STRENGTHS])])
    return np.asarray(counts + strength * shared, np.float64)


def _likelihood(counts: Floats, weight: Floats) -> float:
    """Log-likelihood of tallies whose rows are drawn from ``Dirichlet(weight_k)``, (classes, classes)."""
    from scipy.special import gammaln

    of_cells = gammaln(counts + weight) - gammaln(weight)
    of_rows = gammaln(weight.sum(axis=1)) - gammaln(counts.sum(axis=2) + weight.sum(axis=1))
    return float(of_cells.sum() + of_rows.sum())


def holm(chance: Floats, rate: float) -> Ints:
    """Places of the p-values that Holm's steps reject, the least first.

    Each is at most ``rate`` over how many are left, up to the first that is not: whatever ties the tests, the chance
    that any true hypothesis is rejected is at most the rate.
    """
    order = np.argsort(chance, kind="stable")
    return order[np.logical_and.accumulate(chance[order] <= rate / np.arange(chance.size, 0, -1))]


def against_chance(right: Ints, asked: Ints, classes: int) -> tuple[float, Floats, Ints]:
    """How often a crowd that guesses among the classes gets as few right, at most; and each worker by themselves.

    Where every worker guesses or knows better, each tail is at least what it should be, however their skills differ.

    right, asked (workers,): each worker's answers; -> the tail of all, tails (workers,), workers below chance, worst
    first: by Holm's test of all workers with gold at half of FALSE_ALARM.
    """
    from scipy.special import bdtr  # not loaded with the package

    tail = float(bdtr(right.sum(), asked.sum(), 1 / classes)) if asked.any() else 1.0
    tails = np.where(asked > 0, bdtr(right, np.maximum(asked, 1), 1 / classes), 1.0)
    known = np.flatnonzero(asked > 0)
    return tail, tails, known[holm(tails[known], FALSE_ALARM / 2)]


def heed(correct: ArrayLike, asked: ArrayLike, classes: int, workers: Sequence[str], source: str) -> None:
    """Refuse gold of a crowd below chance; warn of one that shows no skill, and of single workers below chance.

    A worker below chance is no reason to stop: in honest crowds some are, truly, and a plan has use for whoever is
    reliably wrong. A crowd below chance, by the other half of FALSE_ALARM, would have all its answers turned round.

    correct, asked (workers,) or (types, workers): c and s; classes: K; source: where the gold stands, for the sentence.
    """
    each, of = (np.atleast_2d(np.asarray(tally, np.int64)).sum(axis=0) for tally in (correct, asked))
    tail, tails, low = against_chance(each, of, classes)
    right, total, guessed = int(each.sum()), int(of.sum()), of.sum() / classes
    what = "answers' worth of agreement" if source == AGREEMENT else "gold answers are right"
    said = f"{source}: {right} of {total} {what}, where guessing gets {guessed:.4g}"
    if tail <= FALSE_ALARM / 2:
        apart = "labels of a task contradict" if source == AGREEMENT else "labels and truth do not fit"
        raise InputError(f"{said} (so few by chance: {tail:.2g}), so {apart} each other; {MEND}; {GO_ON}")
    if low.size:
        names = [f"{workers[j]} {each[j]} of {of[j]} ({tails[j]:.2g})" for j in low[:SHOWN]]
        more = f" and {low.size - SHOWN} more" if low.size > SHOWN else ""
        tell(
            f"{source}: {low.size} of {np.count_nonzero(of)} worker(s) got fewer right than guessing "
            f"explains: {', '.join(names)}{more}; their votes may count against what they say, so see whether gold "
            f"is upside-down, or leave them out (silent with --trust-gold)",
            GoldWarning,
        )
    elif total and right <= guessed:
        doubt = f"{said}, so it shows no skill, and a plan rests on nothing; {MEND} (silent with --trust-gold)"
        tell(doubt, GoldWarning)


def tell_missing(asked: Ints, workers: Sequence[str], source: str) -> None:
    """Say which workers have no gold, and what they count with.

    asked (types, workers): s; source: where the gold stands.
    """
    without, said = np.flatnonzero(asked.sum(axis=0) == 0), []
    if without.size:
        names = ", ".join(workers[j] for j in without[:SHOWN]) + (", ..." if without.size > SHOWN else "")
        many = f"{without.size} of {asked.shape[1]} worker(s) without gold"
        said.append(f"{many}, counted with the crowd's mean: {names}")
    if pairs := int((asked == 0).sum()) - asked.shape[0] * without.size:
        barred = "a task that a worker must not label is a row task,worker of forbidden.csv"
        said.append(f"{pairs} pair(s) of a worker and a type without gold, counted with the type's mean; {barred}")
    if said:
        tell(f"{source}: {'; '.join(said)}", GoldWarning)
