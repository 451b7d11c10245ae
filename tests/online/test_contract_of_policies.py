"""The checks that crowdopt ships for policies: ours pass, and each claim fails for a policy that breaks it."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt.core.registry import completed
from crowdopt.online.arrivals import Decision
from crowdopt.online.policies import policies
from crowdopt.online.policy import BasePolicy
from crowdopt.testing import failures, policy_checks
from tests.online import example_policy, five_methods

RNG = np.random.default_rng(0)


class OfItsOwn(five_methods.Evenly):
    """Draws from a generator that no seed resets."""

    def decide(self, arrival, rng):
        decision = super().decide(arrival, rng)
        if decision is not None:
            self.given = np.sort(RNG.permutation(decision.tasks)[: max(1, len(decision.tasks) // 2)])
            return Decision("work", self.given)
        return None


class Forgetful(five_methods.Evenly):
    """Leaves the labels that it counted out of its snapshot."""

    def snapshot(self):
        return {"count": np.zeros_like(self.count)}


@pytest.mark.parametrize("name", ["greedy", "picky:least=.2", "evenly"])
def test_a_good_policy_passes(name, monkeypatch):
    """One of ours, one that inherits, one of five methods."""
    monkeypatch.setitem(policies(), "picky", example_policy.POLICY)
    monkeypatch.setitem(policies(), "evenly", completed(five_methods.POLICY, BasePolicy))
    checks = policy_checks(name)
    assert len(checks) >= 10 and failures(checks) == {}


@pytest.mark.parametrize(("broken", "claim"), [(OfItsOwn, "equal seeds"), (Forgetful, "resumed at arrival 13")])
def test_a_broken_policy_is_found_out(broken, claim, monkeypatch):
    """Each by the claim that it breaks."""
    monkeypatch.setitem(policies(), "broken", completed(broken, BasePolicy))
    assert any(claim in name for name in failures(policy_checks("broken")))
