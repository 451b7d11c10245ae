"""Skills from gold: the prior of a crowd's skills is not chosen but averaged over, by what gold makes likely.

A prior is a *family* with one to three parameters: all workers alike (``one-point``), good and bad ones
(``two-points``), anything between two ends (``range``), a Beta law (``beta``). Given its parameters a worker who is
right c times of s has the likelihood ``l(c, s) = sum_g w_g p_g^c (1 - p_g)^(s - c)``, so gold's tallies make parameters
likely: ``P(theta | gold) ~ pi(theta) prod_j l_theta(c_j, s_j)``. It is summed over a lattice of theta, which closes in
on where it is large. Families count by their sums (their marginal likelihoods), and a skill is the mean over all.
Large crowds are also held against the likeliest ``mixture`` on a grid (Kiefer and Wolfowitz 1956), less
``(2 atoms - 1)/2 ln m`` (Schwarz 1978), so that no crowd is forced into a family.

*Why averaged*: a vote's error is linear in each worker's chance, so that with the posterior means of a right prior the
errors of a plan are right on average, whoever is chosen. With a prior that is fitted the best-looking are overrated as
far as the fit is wrong: a Beta law cannot say that nobody is better than .7.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.law import TINY

Density = tuple[Floats, Floats]  # skills and their weights, each (parameters, skills)


class PriorParams(NamedTuple):
    """Numbers of the average over priors."""

    rounds: int = 6  # in which the lattice closes in
    spread: float = 3.5  # deviations on either side of the mean that it keeps
    closer: float = 0.6  # share of the lattice's volume that has to fall away for another round
    doubt: float = 0.15  # how likely a crowd worse than guessing is beside one that is better
    surest: float = 1e-6  # distance of a skill from 0 and 1
    nodes: tuple[int, int] = (24, 160)  # of skills: more where workers were asked more
    steps: int = 200  # of expectation and maximisation for a mixture
    many: int = 30  # workers from which it is tried
    least: float = 1e-6  # chance of a parameter beside the likeliest one, below which it is left out


def _one_point(theta: Floats, nodes: Floats) -> Density:
    return theta, np.ones_like(theta)


def _two_points(theta: Floats, nodes: Floats) -> Density:
    return theta[:, :2], np.column_stack([1 - theta[:, 2], theta[:, 2]])


def _range(theta: Floats, nodes: Floats) -> Density:
    low, high = theta[:, :1], theta[:, 1:]
    return low + (high - low) * nodes[0], np.broadcast_to(nodes[1], (len(theta), nodes[1].size))


def _beta(theta: Floats, nodes: Floats) -> Density:
    """Parameters: the mean and the correlation of a worker's answers."""
    mean, weight = theta[:, :1], 1 / theta[:, 1:] - 1
    logs = (mean * weight - 1) * np.log(nodes[0]) + ((1 - mean) * weight - 1) * np.log1p(-nodes[0])
    density = np.exp(logs - logs.max(axis=1, keepdims=True)) * nodes[1]
    return np.broadcast_to(nodes[0], density.shape), density / density.sum(axis=1, keepdims=True)


FAMILIES: dict[
    str, tuple[Callable[[Floats, Floats], Density], tuple[int, ...]]
] = {  # and points of the lattice on each side
    "one-point": (_one_point, (64,)),
    "two-points": (_two_points, (24, 24, 7)),
    "range": (_range, (24, 24)),
    "beta": (_beta, (24, 14)),
}
ORDERED = ("two-points", "range")  # their first two parameters ascend
MIXTURE = "mixture"
PRIORS = (*FAMILIES, MIXTURE)


class Levels(NamedTuple):
    """Different tallies, and how many workers have each."""

    right: Floats
    asked: Floats
    count: Floats

    def likelihood(self, skill: Floats) -> Floats:
        """``p^c (1 - p)^(s - c)`` over its largest value, (..., levels)."""
        share, wrong = self.right / np.maximum(self.asked, 1), self.asked - self.right
        top = self.right * np.log(np.maximum(share, TINY)) + wrong * np.log(np.maximum(1 - share, TINY))
        return np.exp(self.right * np.log(skill)[..., None] + wrong * np.log1p(-skill)[..., None] - top)

    def nodes(self, params: PriorParams) -> Floats:
        """Skills between 0 and 1 and their weights by Gauss and Legendre, (2, nodes)."""
        few, many = params.nodes
        place, weight = np.polynomial.legendre.leggauss(int(np.clip(4 * np.sqrt(self.asked.max()), few, many)))
        return np.stack([(1 + place) / 2, weight / 2])


@dataclass(frozen=True, eq=False)
class Fit:
    """A family held against tallies: which parameters are likely."""

    evidence: float  # ln of the marginal likelihood
    chance: Floats  # (parameters,): given the tallies
    skill: Floats  # (parameters, skills)
    weight: Floats  # (parameters, skills): of each skill before the tallies

    def means(self, levels: Levels) -> Floats:
        """E[p | c of s] of any tallies, (levels,)."""
        each = levels.likelihood(self.skill)
        told = np.maximum(np.einsum("hp,hpl->hl", self.weight, each), TINY)
        return self.chance @ (np.einsum("hp,hpl->hl", self.weight * self.skill, each) / told)


def _fit(name: str, levels: Levels, classes: int, params: PriorParams) -> Fit:
    (density, cells), nodes = FAMILIES[name], levels.nodes(params)
    low, high = np.zeros(len(cells)), np.ones(len(cells))
    for _ in range(params.rounds):
        step = (high - low) / cells
        axes = [begin + width * (np.arange(n) + 0.5) for begin, width, n in zip(low, step, cells, strict=True)]
        theta = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(cells))
        if name in ORDERED:
            theta = theta[theta[:, 0] <= theta[:, 1]]
        skill, weight = density(theta, nodes)
        skill = np.clip(skill, params.surest, 1 - params.surest)
        each = levels.likelihood(skill)
        told = np.maximum(np.einsum("hp,hpl->hl", weight, each), TINY)
        usual = np.where((weight * skill).sum(axis=1) * classes > 1, 1.0, params.doubt)
        logs = np.log(told) @ levels.count + np.log(usual * step.prod() * (2 if name in ORDERED else 1))
        chance = np.exp(logs - logs.max())
        evidence = float(logs.max() + np.log(chance.sum()))
        chance /= chance.sum()
        middle = chance @ theta
        reach = params.spread * (np.sqrt(chance @ (theta - middle) ** 2) + step / 3)
        inner = np.maximum(low, middle - reach), np.minimum(high, middle + reach)
        if (inner[1] - inner[0]).prod() > params.closer * (high - low).prod():
            break
        low, high = inner
    likely = chance > params.least * chance.max()
    return Fit(evidence, chance[likely] / chance[likely].sum(), skill[likely], weight[likely])


def _mixture(levels: Levels, params: PriorParams) -> Fit:
    (skill, weight), workers = levels.nodes(params), levels.count.sum()
    each = levels.likelihood(skill)
    for _ in range(params.steps):
        weight = weight * (each @ (levels.count / (weight @ each))) / workers
    told, atoms = weight @ each, np.count_nonzero(weight > 0.5 / workers)
    evidence = float(np.log(told) @ levels.count - (atoms - 0.5) * np.log(workers))
    return Fit(evidence, np.ones(1), skill[None], weight[None])


class Known(NamedTuple):
    """What gold tells of a crowd's skills: the families, and how likely each is."""

    fits: tuple[Fit, ...]
    share: Floats  # (families,)

    def means(self, right: Floats, asked: Floats) -> Floats:
        """E[p | c of s] of workers, (workers,): these need not be those whose gold told the priors."""
        levels, level = _levels(right, asked)
        return np.asarray(self.share @ np.stack([fit.means(levels) for fit in self.fits]))[level]

    def draw(self, rng: np.random.Generator, right: Floats, asked: Floats) -> Floats:
        """Skills of workers as gold leaves them open, (workers,): one prior for all, then each skill by the tally."""
        levels, level = _levels(right, asked)
        fit = self.fits[rng.choice(self.share.size, p=self.share)]
        k = rng.choice(fit.chance.size, p=fit.chance)
        heads = np.cumsum(fit.weight[k][:, None] * levels.likelihood(fit.skill[k]), axis=0)[:, level]
        place = (rng.random(level.size) * heads[-1] >= heads).sum(axis=0)
        return fit.skill[k][np.minimum(place, fit.skill.shape[1] - 1)]


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
    params, (levels, _) = params or PriorParams(), _levels(right, asked)
    fits = [_fit(name, levels, classes, params) for name in names if name != MIXTURE]
    if MIXTURE in names and ((np.asarray(asked) > 0).sum() >= params.many or not fits):
        fits.append(_mixture(levels, params))
    evidence = np.array([fit.evidence for fit in fits])
    chance = np.exp(evidence - evidence.max())
    return Known(tuple(fits), chance / chance.sum())


def _levels(right: Floats, asked: Floats) -> tuple[Levels, Ints]:
    """Different tallies, and which each worker has."""
    pairs = np.column_stack([right, asked])
    table, level, count = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    return Levels(*table.T.astype(np.float64), count.astype(np.float64)), level.reshape(-1)
