"""What a worker has to be worth to be kept: the stopping program's price and thresholds for what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.online.beliefs.grid import GRID, information
from crowdopt.online.beliefs.state import Beliefs
from crowdopt.online.beliefs.stopping_program import StoppingProgram

KNOWN = 10.0  # labels of known correctness from which a posterior mean is a fact rather than a hope
SEEN = 3  # workers who came before the best of them says anything
SHARE = 0.5  # of the workers to come who are counted on for what is missing,
USUAL = 0.6  # while the last ones brought this share of what was promised; fewer where they brought less
FADES = 0.95  # what is left of a worker in that account when the next one comes
EARLY = 20  # workers during whom patience is bounded,
PATIENCE = 0.8  # by this share of the top price: what is missing is not known to be much yet


@dataclass(frozen=True, eq=False)
class DismissalRule:
    """What the worker who is here has to be worth to be kept."""

    # r(g), nats a label is worth; no more than a task needs, or than the best seen so far gives
    reward: Floats  # (cells,)
    price: float  # nats per label (at a middling price of labels) that the worker has to bring
    # nats that an arrival is expected to bring at that price; what is brought falls short of it, because skills are not
    # told
    promised: float
    # least E[r] after so many labels, per type; empty where nothing is open
    thresholds: list[Floats]  # list of (labels,) float

    def keeps(self, kind: int, value: float, known: float) -> bool:
        """Whether the worker goes on with a type, at E[r] ``value`` after ``known`` labels."""
        least = self.thresholds[kind]
        return bool(least.size and value >= least[min(least.size - 1, int(known))])


def _outlooks() -> tuple[tuple[slice, int], ...]:
    """Rows of LIKELIHOOD for each number of further answers."""
    ends = np.cumsum([0, *(m + 1 for m in AHEAD)])
    return tuple((slice(a, b), m) for a, b, m in zip(ends[:-1].tolist(), ends[1:].tolist(), AHEAD, strict=True))


AHEAD = (1, 2, 4, 8, 16)  # further answers, what is learnt from so many
OUTLOOKS = _outlooks()
LIKELIHOOD: Floats = np.vstack(
    [comb(m, c) * GRID**c * (1 - GRID) ** (m - c) for m in AHEAD for c in range(m + 1)]
)  # of c right of m


def learning(density: Floats, profit: Floats, room: int) -> float:
    """What knowing whether one more answer is right is worth: the best of several numbers of answers ahead.

    density, profit (cells,): of the worker's skill, and what a label brings beyond its price; room: labels that the
    worker could still give; -> in nats.
    """
    branches = (LIKELIHOOD * (density * profit)).sum(axis=-1)
    now = max(0.0, float((density * profit).sum()))
    return room * max((float(np.maximum(0.0, branches[rows]).sum()) - now) / m for rows, m in OUTLOOKS)


def missing(level: Floats, sure: Floats, error: Floats, classes: int = 2) -> float:
    """``sum_i max(0, (1 - eps - eps/(K - 1)) l(eps) - l b(l))``: nats until every task is sure.

    ``sum over pairs of classes (b_k - b_l) ln(b_k/b_l) / (K - 1)`` grows by a label's information whatever is
    believed; with the other classes alike it is ``l b(l)`` at level l, b the likeliest class's chance less another's.

    level, sure, error (tasks,): l, the level at which the error is eps, and eps; -> in nats.
    """
    return float(missing_each(level, sure, error, classes).sum())


def missing_each(level: Floats, sure: Floats, error: Floats, classes: int = 2) -> Floats:
    """What each task adds to that, (tasks,)."""
    from crowdopt.online.beliefs.belief_kernels import lacking

    lack = np.empty_like(level)
    lacking(level, (1 - classes / (classes - 1) * error) * sure, classes - 1.0, lack)
    return lack


def dismissal_rule(
    beliefs: Beliefs, most: float, lack: float, to_come: float, horizons: Ints, cost: Floats
) -> DismissalRule:
    """The price at which those who come bring what is missing, and whom it keeps.

    beliefs: of the workers seen so far, the one who is here included; most: the level that is promised, beyond which
    evidence on a task is worth nothing; lack: nats that are missing in all; to_come: workers who can be counted on, the
    one who is here included; horizons (types,): labels that the worker could give; cost (types,): of the worker's
    labels, in units of a middling label's.
    """
    came = int(beliefs.came[0])
    useful = np.minimum(information(GRID, beliefs.classes), most)
    reward = np.minimum(useful, _best(beliefs, useful))
    wanted = lack / max(1.0, to_come) / horizons.size
    programs = {h: StoppingProgram(beliefs.prior, reward, h, beliefs.classes) for h in set(horizons.tolist()) if h}
    patience = PATIENCE if came <= EARLY else 0.0
    prices = {h: program.price(wanted, patience) for h, program in programs.items()}
    limits = {
        key: programs[key[0]].thresholds(prices[key[0]] * key[1])
        for key in {(h, c) for h, c in zip(horizons.tolist(), cost.tolist(), strict=True) if h}
    }
    each = [limits.get(key, np.zeros(0)) for key in zip(horizons.tolist(), cost.tolist(), strict=True)]
    promised = sum(programs[h].brings(prices[h]) for h in horizons.tolist() if h)
    return DismissalRule(reward, max(prices.values(), default=0.0), promised, each)


def counted_on(to_come: int, brought: float, promised: float) -> float:
    """Workers to come in whom to trust: fewer, where the last ones brought less than was expected of them."""
    return SHARE * to_come * min(1.0, brought / (USUAL * promised))


def _best(beliefs: Beliefs, reward: Floats) -> float:
    """The best posterior mean of those who are known; without it, imaginary experts are waited for."""
    before = int(beliefs.came[0]) - 1
    means = beliefs.mean(reward)[:before]
    known = beliefs.weight[:before] >= KNOWN
    return float(means[known].max()) if before >= SEEN and known.any() else np.inf
