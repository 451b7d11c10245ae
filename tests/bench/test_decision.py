"""Which method for which instance: the tree, its losses and what auto makes of it, on tables done by hand."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest

from benchmarks.decide import sentence
from benchmarks.decision_tree import Leaf, decided, grown, left_out
from benchmarks.losses import Losses, losses_of
from crowdopt.bench.figures.traits import Traits, traits_of
from crowdopt.bench.harness.results import EMPTY, Result
from crowdopt.bench.harness.subject import Limits, Subject
from crowdopt.crowd.recipes.named_recipes import recipe


def table(pairs: list[int], loss: list[list[float]], methods: tuple[str, ...] = ("small", "large")) -> Losses:
    """A problem for each row, alike but for its size."""
    traits = tuple(Traits(True, size, 1, False, False) for size in pairs)
    instances = tuple((f"p{k}", "ip") for k in range(len(pairs)))
    return Losses(methods, instances, traits, np.array(loss))


def test_a_split_is_made_where_problems_left_out_gain_by_it():
    """The first method is best below 1000 pairs, the second above, each by a factor of e: one cut loses nothing."""
    sizes = [100, 200, 300, 400, 4000, 5000, 6000, 7000]
    found = decided(table(sizes, [[0.0, 1.0]] * 4 + [[1.0, 0.0]] * 4))
    assert [row["when"] for row in found.rows()] == [
        f"{side} 1,300 tasks × workers" for side in ("at most", "more than")
    ]
    assert [row["use"] for row in found.rows()] == [["small", "large"], ["large", "small"]]
    # without its problem a side of four has three, and one leaf takes the other side's method, of four
    assert found.expected[:2] == pytest.approx([exp(1.0), 1.0])
    assert found.table()["single_expected"] == pytest.approx(exp(1.0), abs=1e-4)


def test_what_says_nothing_makes_no_row():
    """Which method is best has nothing to do with size: whatever a split explains of the known, it loses on others."""
    best = np.array([k.bit_count() % 2 for k in range(40)])
    losses = table(list(range(100, 500, 10)), np.abs(best[:, None] - np.arange(2)[None]).astype(float).tolist())
    found = decided(losses)
    grown_loss = sum(leaf.total for leaf in grown(losses, 6)) / 40
    assert grown_loss < left_out(losses, 6).mean()
    assert len(found.tree) == 1 + int(np.argmin(np.round(found.expected, 6)))
    assert found.expected[len(found.tree) - 1] <= found.expected[0]


def test_a_method_that_was_not_measured_everywhere_is_not_chosen():
    """It may be the best where it was; a leaf with an instance that it did not try cannot rank it."""
    leaf = Leaf((), np.zeros((2, 5)), np.array([[0.0, 1.0], [np.inf, 1.0]]))
    assert leaf.ranking == [1]
    assert decided(table([1, 2, 3], [[0.0, 1.0]] * 3)) is None  # three problems are too few


def result(method: str, seed: int, outcome: str, seconds: float, value: float | None) -> Result:
    facts = {**EMPTY, "timings": {"total": seconds}, "value": value}
    return Result(Subject("R1:8x20", "ip", method, seed, Limits()), outcome, "", facts)


def test_losses_by_hand():
    """Settled: its seconds. Open: the limit of 10 s times 1 + the plan's distance; no plan counts twice the limit."""
    first = [
        result("a", 0, "proven", 1.0, 8.0),
        result("b", 0, "vouched", 3.0, 8.0),
        result("c", 0, "nothing", 9, None),
    ]
    second = [result("a", 1, "feasible", 9, 10.0), result("b", 1, "feasible", 9, 8.0), result("c", 1, "wrong", 1, 1.0)]
    losses = losses_of([*first, *second], 10.0)
    assert losses.instances == (("R1:8x20", "ip"),) and losses.methods == ("a", "b", "c")
    lost, more = [0.0, log(4 / 2), log(21 / 2)], [log(13 / 11), 0.0, log(21 / 11)]
    assert losses.loss[0] == pytest.approx((np.array(lost) + more) / 2)


def test_the_loss_stands_beside_the_choice():
    """What following it is expected to cost, and that more rows would not help."""
    said = sentence({"rows": [{}], "expected": 1.31, "single": "exact", "single_expected": 1.31})
    assert "1.31 times the seconds of the virtual best" in said and "more rows does no better" in said


def test_traits_are_those_of_the_instance():
    """Ten types, one price; or every item its own, with prices."""
    assert traits_of(recipe("R10:50x20"), "lp") == Traits(False, 1000, 10, False, False)
    assert traits_of(recipe("I3:20x5"), "ip") == Traits(True, 100, 20, True, True)
