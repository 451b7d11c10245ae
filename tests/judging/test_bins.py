"""Verdicts cut by their confidence: the cut is the likeliest, gold held back decides, and plans by it cost less."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import xlogy

import crowdopt
from crowdopt.errors import GoldWarning, InputError
from crowdopt.io.cells import write_csv
from crowdopt.judging.bins import FEWEST, best_cut, cut, unsure
from tests.chance import rng as stream
from tests.typed import column, said


def likely(right: np.ndarray) -> float:
    k, n = right.sum(), right.size
    return float(xlogy(k, k / n) + xlogy(n - k, 1 - k / n))


@settings(max_examples=60)
@given(st.integers(0, 10**9))
def test_the_cut_is_the_likeliest_of_all_that_rise(seed):
    """By all cuts between two values: below it fewer are right than above, and no other such cut is likelier."""
    rng = np.random.default_rng(seed)
    sure = rng.integers(0, 8, 120) / 10
    right = rng.random(120) < rng.uniform(0, 1, 8)[np.round(10 * sure).astype(int)]
    found = {}
    for at in np.unique(sure)[1:]:
        below = sure < at
        rises = right[below].mean() < right[~below].mean()
        if rises and min(below.sum(), (~below).sum()) >= FEWEST:
            found[at] = likely(right[below]) + likely(right[~below])
    best = best_cut(sure, right)
    assert best == -np.inf if not found else found[best] >= max(found.values()) - 1e-9


def test_gold_held_back_decides():
    """A confidence that tells something is cut, in whatever order gold comes; one that tells nothing is not."""
    rng = stream(1)
    sure = rng.random(600)
    assert cut(sure, rng.random(600) < 0.8)[0] == -np.inf
    right = rng.random(600) < np.where(sure < 0.4, 0.55, 0.95)
    found, own = cut(sure, right)
    assert 0.3 < found < 0.5 and (own == (sure < found)).mean() > 0.9
    order = np.argsort(sure)
    assert cut(sure[order], right[order])[0] > 0.2
    assert cut(sure[:1], right[:1])[0] == -np.inf and cut(sure[:0], right[:0])[0] == -np.inf


KINDS = {  # chances to be right, which are what the askers say
    "uniform": lambda rng, shape: 0.5 + 0.5 * rng.random(shape),
    "beta": lambda rng, shape: 0.5 + 0.5 * rng.beta(2, 1, shape),
    "two-faced": lambda rng, shape: np.where(rng.random(shape) < 0.6, 0.95, 0.58),
}
CLASSES = np.array(["no", "yes"])


def asked(rng, kind: str, askers: int, items: int):
    """Truth, what calibrated askers say, and how sure they are."""
    truth, sure = rng.integers(0, 2, items), KINDS[kind](rng, (items, askers))
    return truth, np.where(rng.random(sure.shape) < sure, truth[:, None], 1 - truth[:, None]), sure


def tables(truth, labels, sure):
    """The log and what humans say."""
    items, (item, asker) = [f"i{k}" for k in range(truth.size)], np.indices(labels.shape).reshape(2, -1)
    log = {"task": [items[k] for k in item], "worker": [f"j{k}" for k in asker]}
    log |= {"label": CLASSES[labels.ravel()].tolist(), "sure": sure.ravel().round(3).tolist()}
    return log, {"task": items, "label": CLASSES[truth].tolist()}


def walked(plan, cuts, truth, labels, sure, expert: float) -> tuple[float, float]:
    """Mean cost and error of the policy on items that it never saw."""
    cost = wrong = 0.0
    for k in range(truth.size):
        votes: dict[str, str] = {}
        while (turn := plan.next(votes))[0] == "ask":
            for worker in turn[1]:
                label = str(CLASSES[labels[k, int(worker[1:])]])
                votes[worker] = label if cuts is None or sure[k, int(worker[1:])] >= cuts[worker] else unsure(label)
                cost += 1
        cost += expert * (turn[0] == "expert")
        wrong += turn[0] == "answer" and turn[1][0] != CLASSES[truth[k]]
    return cost / truth.size, wrong / truth.size


@pytest.mark.chance
@pytest.mark.slow
def test_sure_verdicts_save_labels_at_the_same_error():
    """Calibrated askers, 400 gold items, 2000 new ones: at least 10 % cheaper, and no more wrong than was promised.

    What a plan errs with is its target on average over golds, so the mean of the runs is held against it, less what
    chance may do to a mean of so many runs (Student's, one in a million).
    """
    rng, cost, errors, target = stream(7), {}, [], 0.05
    for kind in KINDS:
        for askers in (3, 3, 3, 4, 4, 4):
            log, human = tables(*asked(rng, kind, askers, 400))
            new = asked(rng, kind, askers, 2000)
            for confidence in (None, "sure"):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", GoldWarning)
                    made = crowdopt.import_labels(log, human, confidence=confidence, capacity=10**6, epsilon=target)
                plan = crowdopt.solve(made.instance, method=crowdopt.Adaptive(expert=10.0), time_limit=60)
                assert plan.proven
                paid, wrong = walked(plan, made.cuts, *new, 10.0)
                cost.setdefault((kind, confidence), []).append(paid)
                errors += [wrong] * (confidence is not None)
    for kind in KINDS:
        assert np.mean(cost[kind, "sure"]) <= 0.9 * np.mean(cost[kind, None]), (kind, cost)
    assert np.mean(errors) - 7 * np.std(errors, ddof=1) / np.sqrt(len(errors)) <= target, errors


def test_the_whole_loop(tmp_path):
    """Imported, planned, verified by code of its own, rehearsed, answered: an outcome that is no class is no answer."""
    c, p, a, labels, truth, log, human = (
        tmp_path / name for name in ("c", "p", "a", "labels.csv", "truth.csv", "log.csv", "human.csv")
    )
    for path, table in zip((log, human), tables(*asked(stream(3), "two-faced", 3, 300)), strict=True):
        write_csv(path, list(table), list(table.values()))
    words = ["import", log, "--truth", human, "--confidence", "sure", "--capacity", 900, "-o", c]
    assert "its label has a question mark" in said(*words)
    said("solve", c, "--method", "adaptive:expert=10", "-o", p)
    said("verify", c, p)
    said("rehearse", c, p, "-o", labels, "--truth", truth, "--seed", 1)
    assert {*column(labels, "label")} == {"no", "yes", "no?", "yes?"} and {*column(truth, "label")} == {"no", "yes"}
    said("aggregate", labels, "--plan", p, "--campaign", c, "-o", a)
    assert {*column(a / "answers.csv", "answer")} <= {"no", "yes"}
    said("solve", a / "campaign", "--method", "adaptive:expert=10", "-o", tmp_path / "next")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"truth": None}, "needs known answers"),
        ({"families": True}, "leave out --families"),
        ({"confidence": "certain"}, "has no column 'certain'"),
        ({"log": "very"}, "not a finite number"),
    ],
)
def test_what_is_refused(changes, sentence):
    """Without truth, beside families, where there is no such column, and where it holds a word."""
    log, human = tables(*asked(stream(4), "beta", 2, 50))
    given = {"truth": human, "confidence": "sure", **changes}
    log["sure"][3] = given.pop("log", 0.5)
    with pytest.raises(InputError, match=sentence):
        crowdopt.import_labels(log, given.pop("truth"), **given)
