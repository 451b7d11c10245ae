"""The chance that a guessing crowd looks turned round at least as much as this one, worker by worker.

A worker with c right of s counts with ``g(c)``, the log-likelihood ratio of a skill that was turned round, against a
guess, made to fall in c. Who knows more than a guess gets more right, stochastically, so the sum over workers is
stochastically largest where all of them guess: there its law is a convolution, and its tail is at least what it should
be for every crowd of guessers and better. The sum of right answers (a linear g) does the same, but of a turned-round
crowd some workers are far below chance, and that tells more than their mean.
"""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats, Ints

RIGHT, WRONG = 12.0, 6.0  # a priori: skills between two classes are Beta(12, 6) before they are turned round
LEAST, MOST = -6.0, 20.0  # of a worker's worth: beyond, nothing is decided any more
STEP, CELLS = 0.05, 2**14  # of its grid, and how many cells the sum has at most: of a thousand workers few tell enough
NOISE = 1e-12  # tails below are rounding


def crowd_tail(right: Ints, asked: Ints, chance: float) -> float:
    """The chance that guessers' sum is at least as large; right, asked (workers,); chance: 1/K; -> at least NOISE."""
    known = asked > 0
    right, asked = right[known], asked[known]
    if not asked.size:
        return 1.0
    step = max(STEP, asked.size * (MOST - LEAST) / CELLS)
    lengths, count = np.unique(asked, return_counts=True)
    worth = {int(s): np.rint((_worth(int(s), chance) - LEAST) / step).astype(np.int64) for s in lengths}
    seen = sum(int(worth[s][c]) for s, c in zip(asked.tolist(), right.tolist(), strict=True))
    most = sum(int(worth[s].max()) * k for s, k in zip(lengths.tolist(), count.tolist(), strict=True))
    size = 1 << most.bit_length()  # powers of 2 are transformed fast
    spectrum = np.ones(size // 2 + 1, np.complex128)
    for s, k in zip(lengths.tolist(), count.tolist(), strict=True):
        law = np.bincount(worth[s], _guessing(s, chance))
        spectrum *= np.fft.rfft(law, size) ** k
    return float(np.clip(np.fft.irfft(spectrum, size)[seen:].sum(), NOISE, 1.0))


def _worth(asked: int, chance: float) -> Floats:
    """g, (asked + 1,): ``ln P(c | turned round) - ln P(c | guess)``, each the least of all up to c."""
    from scipy.special import betaln  # not loaded with the package

    c = np.arange(asked + 1.0)
    spread = (RIGHT + WRONG) * (1 / chance - 1)  # a turned-round skill: an error that happened to name this class
    turned = betaln(c + WRONG, asked - c + spread - WRONG) - betaln(WRONG, spread - WRONG)
    guessed = c * np.log(chance) + (asked - c) * np.log1p(-chance)
    worth: Floats = np.clip(np.minimum.accumulate(turned - guessed), LEAST, MOST)
    return worth


def _guessing(asked: int, chance: float) -> Floats:
    """``P(Bin(asked, chance) = c)``, (asked + 1,)."""
    from scipy.special import gammaln

    c = np.arange(asked + 1.0)
    ways = gammaln(asked + 1) - gammaln(c + 1) - gammaln(asked - c + 1)
    law: Floats = np.exp(ways + c * np.log(chance) + (asked - c) * np.log1p(-chance))
    return law
