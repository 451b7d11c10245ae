"""What every policy is held to, with the checks that crowdopt ships; and that adding a policy is one file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import crowdopt
from crowdopt.core.registry import code_of, completed
from crowdopt.errors import InputError
from crowdopt.online.policies import named, policies
from crowdopt.online.policy import BasePolicy
from crowdopt.testing import failures, policy_checks
from tests.online import example_policy, three_methods
from tests.online.streams import EVERY, start, stream

RNG = np.random.default_rng(0)
EXAMPLES = {"picky": example_policy, "evenly": three_methods}


class OfItsOwn(three_methods.Evenly):
    """Draws from a generator that no seed resets."""

    def visit(self, arrival):
        some = np.flatnonzero(RNG.random(self.known.n_tasks) < 0.5)
        return three_methods.OneShare(self, replace(arrival, barred=np.union1d(arrival.barred, some)))


@pytest.mark.parametrize("text", EVERY)
def test_every_policy_keeps_the_contract(text):
    """The future and skills that are not told change nothing. At one arrival: each of them takes two runs more.

    A policy that is added is tested on arrival.
    """
    assert {one.partition(":")[0] for one in EVERY} == set(policies())
    checks = [check for check in policy_checks(text) if str(check).endswith(("arrival 6", "not looked at"))]
    assert len(checks) >= 1 and failures(checks) == {}


@pytest.mark.parametrize("name", ["picky:least=.2", "evenly"])
def test_a_good_policy_passes(name, monkeypatch):
    """One that inherits, one of three methods; at every arrival."""
    for example, module in EXAMPLES.items():
        monkeypatch.setitem(policies(), example, completed(module.POLICY, BasePolicy))
    checks = policy_checks(name)
    assert len(checks) >= 5 and failures(checks) == {}


def test_a_broken_policy_is_found_out(monkeypatch):
    """By the claim that it breaks."""
    monkeypatch.setitem(policies(), "broken", completed(OfItsOwn, BasePolicy))
    assert any("equal seeds" in name for name in failures(policy_checks("broken")))


@pytest.mark.parametrize("text", EVERY)
def test_nobody_is_asked_more_than_she_takes(text):
    """Capacities, barred pairs and one label per pair hold in every run, and the account adds up."""
    of = stream()
    run = start(text, of).finish()
    pairs = np.column_stack([run.task, run.worker])
    every = np.concatenate([pairs, of.instance.barred])
    assert len(np.unique(every, axis=0)) == len(every)
    loads = np.bincount(run.worker, minlength=of.instance.n_workers)
    assert np.maximum(0, loads - of.instance.capacity).sum() == run.over_capacity
    assert run.over_capacity == 0 or text.startswith("kos")
    assert run.labels["work"] + run.labels["repair"] == run.task.size
    assert run.cost["work"] + run.cost["repair"] == pytest.approx(of.instance.prices(pairs).sum())
    if text.startswith(("sequential", "adaptive", "budget")):  # not every worker is asked as much gold
        assert run.labels["gold"] <= run.cost["gold"] <= 3 * run.labels["gold"]
    else:
        each = run.labels["gold"] / of.instance.n_workers
        assert run.cost["gold"] == pytest.approx(each * of.instance.cost[0].sum())


def test_the_examples_are_found_as_entry_points(tmp_path, monkeypatch):
    """From another package, they take part in a comparison without a line of ours; three methods are enough."""
    for name, example in EXAMPLES.items():
        text = Path(example.__file__).read_text(encoding="utf-8")
        (tmp_path / f"{name}_of_theirs.py").write_text(text, encoding="utf-8")
    info = tmp_path / "picky-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: picky\nVersion: 1.0\n", encoding="utf-8")
    points = "".join(f"{name} = {name}_of_theirs:POLICY\n" for name in EXAMPLES)
    (info / "entry_points.txt").write_text(f"[crowdopt.online.policies]\n{points}", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    policies.cache_clear()
    try:
        wanted = ["picky:least=.1", "evenly"]
        picky, evenly = crowdopt.compare(crowdopt.recipe("HS:40x60"), wanted, trials=1, time_limit=5).summary[:2]
        before = code_of(named("evenly"))
        (tmp_path / "evenly_of_theirs.py").write_text("POLICY = None\n", encoding="utf-8")
        assert code_of(named("evenly")) not in ("", before), "finished trials of other code are none of its own"
    finally:
        policies.cache_clear()
    assert code_of(named("greedy")) == ""
    assert picky["policy"] == "picky:least=.1" and picky["ratio_bound"] >= 1
    assert evenly["labels"] == evenly["labels_work"] > 0 and evenly["error_realised"] < 0.5


def test_options_are_read_and_refused_in_a_sentence():
    """What is written is what runs; a typing error is told what there is."""
    policy = named("main-algorithm:gamma=.5:gold=7:stop:ties=least-covered")
    assert (policy.gamma, policy.gold, policy.stop, policy.ties) == (0.5, 7, True, "least-covered")
    for text, said in {
        "re-slove": "there are",
        "re-solve:evry=3": "its options are",
        "re-solve:every=soon": "must be a whole number",
        "re-solve:every": "needs a value",
        "greedy:stop=maybe": "yes or no",
        "greedy:ties=best": "one of",
        "sampled-lp:gamma=2": "gamma",
        "main-algorithm:gold=0": "gold",
        "main-algorithm:guaranteed": "least-quality",
        "sequential:checks=-.1": "checks and look must be at least 0",
        "adaptive:look=-1": "checks and look must be at least 0",
        "budget:each=-1": "each",
        "budget:money=-3": "money",
    }.items():
        with pytest.raises(InputError, match=said):
            named(text)
