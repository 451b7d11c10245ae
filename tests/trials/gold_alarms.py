"""Upside-down gold: how often a table turned round is found, how often an honest one is found fault with.

``python -m tests.trials.gold_alarms [--tables 20000]`` prints a table: 20 gold items a worker, the share of turned
tables that are refused, and what no test of the same false alarm among guessers finds more than (Neyman and Pearson's:
the likelihood ratio of the very family, turned round, against guessing, by simulation).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from scipy.stats import binom

from crowdopt.crowd.gold.below_chance import FALSE_ALARM, against_chance

ASKED, CROWDS = 20, (3, 5, 8, 10, 12, 15, 18, 25, 40)
LEVEL = FALSE_ALARM / 2  # of the crowd's test
Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
FAMILIES: dict[str, tuple[int, Draw]] = {
    "Beta(6, 3)": (2, lambda rng, size: rng.beta(6, 3, size)),
    "Beta(6, 3), K = 3": (3, lambda rng, size: rng.beta(6, 3, size)),
    "Beta(6, 3), K = 4": (4, lambda rng, size: rng.beta(6, 3, size)),
    "uniform(.5, .95)": (2, lambda rng, size: rng.uniform(0.5, 0.95, size)),
    "half .7, half .5": (2, lambda rng, size: np.where(rng.random(size) < 0.5, 0.7, 0.5)),
    "all .6414": (2, lambda rng, size: np.full(size, 0.6414)),
}


def found(classes: int, skills: np.ndarray, rng: np.random.Generator) -> float:
    """The share of tables of these skills, (tables, workers), that are refused."""
    right, asked = rng.binomial(ASKED, skills), np.full(skills.shape[1], ASKED)
    seen: dict[bytes, bool] = {}
    low = 0
    for row in np.sort(right, axis=1):  # the test looks at tallies, not at who has them
        key = row.tobytes()
        if key not in seen:
            seen[key] = against_chance(row, asked, classes).is_crowd_low
        low += seen[key]
    return low / len(right)


def best(classes: int, draw: Draw, workers: int, rng: np.random.Generator, tables: int) -> float:
    """What Neyman and Pearson's test of the family turned round against guessing finds, by simulation."""
    c = np.arange(ASKED + 1)
    skill = (1 - draw(rng, (100_000,))) / (classes - 1)
    turned, guess = binom.pmf(c[:, None], ASKED, skill).mean(axis=1), binom.pmf(c, ASKED, 1 / classes)
    ratio = np.log(turned) - np.log(guess)
    of_guesses = ratio[rng.choice(c, (50 * tables, workers), p=guess / guess.sum())].sum(axis=1)
    of_turned = ratio[rng.choice(c, (tables, workers), p=turned / turned.sum())].sum(axis=1)
    return float((of_turned >= np.quantile(of_guesses, 1 - LEVEL)).mean())


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=2000)
    tables = parser.parse_args().tables
    print(f"| skills | {' | '.join(f'{m} workers' for m in CROWDS)} |\n|{'---|' * (len(CROWDS) + 1)}")
    alarms = 0
    for number, (name, (classes, draw)) in enumerate(FAMILIES.items()):
        cells = []
        for workers in CROWDS:
            rng = np.random.default_rng([number, workers])
            skills = draw(rng, (tables, workers))
            share = found(classes, (1 - skills) / (classes - 1), rng)
            alarms += round(found(classes, skills, rng) * tables)
            cells.append(f"{share:.4f} of {best(classes, draw, workers, rng, tables):.4f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    guesses = [
        round(tables * found(K, np.full((tables, m), 1 / K), np.random.default_rng([K, m, 9])))
        for K in (2, 3, 4)
        for m in CROWDS
    ]
    honest = tables * len(CROWDS) * len(FAMILIES)
    print(f"\nrefused: {alarms} of {honest} honest tables, {sum(guesses)} of {tables * len(guesses)} of guessers")


if __name__ == "__main__":
    main()
