"""Agreement beyond chance: published figures, sums by hand, and intervals that hold by a law."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from crowdopt.judging.agreement import means, pair_agreement, panel_agreement, shares
from tests.chance import most
from tests.chance import rng as stream

# Krippendorff 2011, Computing Krippendorff's Alpha-Reliability: reliability data C, four observers, missing votes
CODERS = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")


def crossed(first: str, second: str) -> np.ndarray:
    """The table of two observers' votes."""
    names, pairs = sorted({*first, *second}), list(zip(first, second, strict=True))
    return np.array([[pairs.count((a, b)) for b in names] for a in names])


PUBLISHED = [  # table, measure, what was printed
    (crossed("0100000010", "1110010000"), "alpha", 0.095),  # Krippendorff 2011, data A
    (crossed("aabbdcccedda", "babbbccceddd"), "alpha", 0.692),  # data B
    (np.array([[40, 9], [6, 45]]), "kappa", 0.70),  # Feinstein and Cicchetti 1990, Table 1: the paradox
    (np.array([[80, 10], [5, 5]]), "kappa", 0.32),
    (np.array([[45, 15], [25, 15]]), "kappa", 0.13),  # as often together, other margins
    (np.array([[25, 35], [5, 35]]), "kappa", 0.26),
    (np.array([[20, 5], [10, 15]]), "kappa", 0.40),  # the textbook's fifty grants
    (np.array([[118, 5], [2, 0]]), "kappa", -0.02),  # Gwet 2002, Kappa Statistic is Not Satisfactory
    (np.array([[118, 5], [2, 0]]), "ac1", 0.94),
    (np.array([[80, 10], [5, 5]]), "ac1", 0.81),
]


@pytest.mark.parametrize(("table", "measure", "printed"), PUBLISHED)
def test_published_figures(table, measure, printed):
    """To the digits that were printed."""
    digits = len(str(printed).partition(".")[2])
    assert round(pair_agreement(table)[measure].value, digits) == printed


def test_krippendorff_s_four_observers():
    """With missing votes, .743 as printed; an item with one vote counts for nothing."""
    votes = np.array([[item.count(name) for name in "12345"] for item in zip(*CODERS, strict=True)])
    assert round(panel_agreement(votes)["alpha"].value, 3) == 0.743


@pytest.mark.parametrize("seed", range(10))
def test_alpha_is_what_it_is_called(seed):
    """One minus observed over expected disagreement, pair by pair of votes in one pool; two are a panel of two."""
    table = np.random.default_rng(seed).integers(0, 6, (3, 3)) + np.eye(3, dtype=int)
    votes = [(a, b) for a, b in product(range(3), repeat=2) for _ in range(table[a, b])]
    pool = [vote for pair in votes for vote in pair]
    expected = np.mean([a != b for i, a in enumerate(pool) for j, b in enumerate(pool) if i != j])
    found, both = pair_agreement(table), panel_agreement(np.array([np.bincount(pair, minlength=3) for pair in votes]))
    assert found["alpha"].value == pytest.approx(1 - np.mean([a != b for a, b in votes]) / expected)
    assert [both[name].value for name in ("alpha", "ac1")] == pytest.approx(
        [found[name].value for name in ("alpha", "ac1")]
    )


def test_where_nothing_can_be_told():
    """One class alone has no agreement beyond chance; no item, no figure; all alike over two classes is 1."""
    assert pair_agreement(np.array([[9, 0], [0, 0]]))["kappa"].value is None
    assert pair_agreement(np.zeros((2, 2), int))["kappa"] == (None, -1.0, 1.0)
    alone = [[1, 0], [0, 1]]  # nobody is beside another
    for votes, alpha in (([[3, 0], [0, 2], [2, 0]], 1.0), ([[3, 0], [2, 0]], None), (alone, None)):
        assert panel_agreement(np.array(votes))["alpha"].value == alpha


@pytest.mark.parametrize("n", [1, 20, 137])
def test_shares_and_means_miss_seldom_by_the_binomial_law(n):
    """Every chance on a grid, weighed with its law: at most a twentieth; one end of a share's alone half of it.

    Coins are the hardest values in [0, 1] for means.
    """
    low, high = shares(np.arange(n + 1), n, 0.05)
    least, largest = means(np.arange(n + 1) / n, n, 0.05)
    for p in np.linspace(0.001, 0.999, 97):
        law = binom.pmf(np.arange(n + 1), n, p)
        assert law[low > p].sum() <= 0.025 + 1e-9 and law[high < p].sum() <= 0.025 + 1e-9
        assert law[(least > p + 1e-12) | (largest < p - 1e-12)].sum() <= 0.05


# chance to say yes where it is so, and where it is not
JUDGES = {"good": (0.95, 0.05), "fair": (0.8, 0.2), "poor": (0.6, 0.4), "guessing": (0.5, 0.5)}
JUDGES |= {"contrary": (0.3, 0.7), "yes-sayer": (0.99, 0.6), "no-sayer": (0.3, 0.01), "always yes": (1.0, 1.0)}
JUDGES |= {"always no": (0.0, 0.0), "perfect": (1.0, 0.0), "keen": (0.9, 0.02), "lax": (0.7, 0.02)}
DRAWS, PANELS = 4_000, 1_000


def true_agreement(law: np.ndarray) -> dict[str, float]:
    """Of the law of verdict and truth, (2, 2)."""
    d, p, q = law[0, 1] + law[1, 0], law.sum(axis=1), law.sum(axis=0)
    pooled = (p + q) / 2
    apart = {"kappa": 1 - p @ q, "alpha": 1 - pooled @ pooled, "ac1": 1 - 2 * pooled[0] * pooled[1]}
    return {name: 1 - d / e if e > 0 else np.nan for name, e in apart.items()}


@pytest.mark.chance
@pytest.mark.slow
@pytest.mark.parametrize("prevalence", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("n", [20, 100, 500])
def test_intervals_of_agreement_cover(n, prevalence):
    """Twelve kinds of judges, 4,000 draws each: missed at most as often as a coin of .05 would, within chance."""
    rng, truth = stream(n), np.array([[1 - prevalence], [prevalence]])
    for name, (yes, no) in JUDGES.items():
        law = truth * np.array([[1 - no, no], [1 - yes, yes]])
        tables, count = np.unique(rng.multinomial(n, law.ravel(), DRAWS), axis=0, return_counts=True)
        found = [pair_agreement(table.reshape(2, 2)) for table in tables]
        for measure, true in true_agreement(law).items():
            ends = np.array([one[measure][1:] for one in found])
            missed = count[(ends[:, 0] - 1e-9 > true) | (ends[:, 1] + 1e-9 < true)].sum()
            assert np.isnan(true) or missed <= most(DRAWS, 0.05), (name, measure, missed)


@pytest.mark.chance
@pytest.mark.slow
@pytest.mark.parametrize("share", [0.02, 0.3])
def test_intervals_of_panels_cover(share):
    """Three to five judges who leave votes out, on hard items worse all together: alpha and AC1 of the law."""
    rng = stream(1)
    for judges, there in ((3, 1.0), (5, 0.6)):
        missed = dict.fromkeys(("alpha", "ac1"), 0)
        truth = {name: one.value for name, one in panel_agreement(_panel(rng, share, judges, there, 400_000)).items()}
        for _ in range(PANELS):
            for name, one in panel_agreement(_panel(rng, share, judges, there, 100)).items():
                missed[name] += not one.low <= truth[name] <= one.high
        assert max(missed.values()) <= most(PANELS, 0.05), missed


def _panel(rng, share: float, judges: int, there: float, size: int) -> np.ndarray:
    truth, hard = rng.random(size) < share, rng.random(size) < 0.2
    wrong = rng.random((size, judges)) < np.where(hard, 0.5, 0.1)[:, None]
    present = rng.random((size, judges)) < there
    yes = (truth[:, None] ^ wrong) & present
    return np.stack([(present & ~yes).sum(axis=1), yes.sum(axis=1)], axis=1)
