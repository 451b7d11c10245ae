"""Claims of adaptive plans that nothing proves: multipliers that overflow or cancel, terms of its own, labels left out.

Each was taken by ``verify`` once.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdopt import InputError, assign, verify, write_campaign
from tests.recheck.test_order_forgeries import INSTANCE as MANY
from tests.recheck.test_policy_forgeries import INSTANCE as FEW

MADE: dict[str, tuple[Any, dict[str, Any]]] = {
    "states": (FEW, {}),
    "rounds": (FEW, {"rounds": 2}),
    "bound": (replace(FEW, min_load=FEW.capacity * (np.arange(4) == 0), budget=None), {}),
    "orders": (MANY, {}),
    "sure": (replace(FEW, budget=None), {"given_votes": True, "expert": 9.0}),
}


class Forged:
    """A copy of a plan's folder whose claims and tables can be set at will."""

    def __init__(self, folders: dict[str, Path], name: str, place: Path) -> None:
        self.campaign, self.place = folders[name] / "campaign", place / "plan"
        shutil.copytree(folders[name] / "plan", self.place)
        self.claims = json.loads((self.place / "plan.json").read_text(encoding="utf-8"))

    def says(self, **claims: Any) -> Forged:
        """Set what plan.json says."""
        self.claims |= claims
        return self

    def boasts(self) -> Forged:
        """Buy nothing else, and call what is bought proven optimal."""
        bound = self.claims["objective"]
        return self.says(bound=bound, gap=0.0, proven=True, status="optimal", proof="certificate")

    def column(self, table: str, name: str, value: float) -> Forged:
        """Set a whole column."""
        path = self.place / f"{table}.csv"
        rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
        for row in rows[1:]:
            row[rows[0].index(name)] = repr(value)
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)
        return self

    def file(self, name: str, text: str) -> Forged:
        """Write a file."""
        (self.place / name).write_text(text, encoding="utf-8")
        return self

    def check(self) -> Any:
        """What verify makes of it."""
        (self.place / "plan.json").write_text(json.dumps(self.claims), encoding="utf-8")
        return verify(self.campaign, self.place)


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    places = {}
    for name, (instance, options) in MADE.items():
        places[name] = tmp_path_factory.mktemp(name)
        write_campaign(instance, places[name] / "campaign")
        assign(places[name] / "campaign", adaptive=True, output=places[name] / "plan", **options)
        assert verify(places[name] / "campaign", places[name] / "plan").holds
    return places


LARGE = (2.0**53, 2.0**60, 1e200, 1e307, 1e308, 1.7e308)
Forgery = Callable[[Forged], Forged]
MULTIPLIERS: dict[str, Forgery] = {
    **{f"workers of -{x:.3g}": lambda f, x=x: f.column("workers", "dual", -x) for x in LARGE},
    **{f"errors of {x:.3g}": lambda f, x=x: f.column("types", "dual", x) for x in LARGE},
    **{f"both of {x:.3g}": lambda f, x=x: f.column("types", "dual", x).column("workers", "dual", -x) for x in LARGE},
    **{f"money of -{x:.3g}": lambda f, x=x: f.says(budget_dual=-x) for x in LARGE},
    "money and errors": lambda f: f.says(budget_dual=-1e308).column("types", "dual", 1e308),
}


@pytest.mark.parametrize("plan", ["states", "rounds", "orders"])
@pytest.mark.parametrize("name", MULTIPLIERS)
def test_multipliers_without_measure_prove_nothing(name, plan, folders, tmp_path):
    """Sums that overflow are no numbers, and no claim is more than a number that is none."""
    report = MULTIPLIERS[name](Forged(folders, plan, tmp_path).boasts()).check()
    assert not report.holds and not report.proven


@pytest.mark.parametrize("size", [2.0**40, 2.0**50, 2.0**53, 2.0**56, 2.0**60])
def test_multipliers_that_cancel_prove_nothing(size, folders, tmp_path):
    """The worker must give as many labels as they can: both multipliers cancel, and rounding takes the price along."""
    forged = Forged(folders, "bound", tmp_path)
    path = forged.place / "workers.csv"
    rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    rows[1][rows[0].index("dual")] = repr(-size)
    path.write_text("".join(f"{','.join(row)}\n" for row in rows), encoding="utf-8")
    limits = list(csv.reader((forged.place / "limits.csv").read_text(encoding="utf-8").splitlines()))
    assert [row[:2] for row in limits[1:]] == [["min_tasks", "0"]]
    report = forged.column("limits", "dual", -size).boasts().check()
    honest = verify(forged.campaign, folders["bound"] / "plan")
    assert not report.proven or honest.proven
    if report.certified_bound is not None:
        assert report.certified_bound <= honest.objective * (1 + 1e-6)


UNHELD: dict[str, Forgery] = {
    "a guarantee of its own": lambda f: f.says(guarantee="no answer is wrong"),
    "a violation": lambda f: f.says(violation=-5.0),
    "a second bound": lambda f: f.says(certified_bound=1e9),
    "a form of proof": lambda f: f.says(certified_by="honour"),
    "money spent": lambda f: f.says(spending={"money": 1.0, "wrong": 0.0}, wrong_bound=0.0),
    "tasks left short": lambda f: f.says(short=["0"]),
    "what differs, in words": lambda f: f.says(beyond_campaign=["the weather"]),
    "a price of no budget": lambda f: f.says(budget_dual=0.0),
    "a repair": lambda f: f.file("repair.csv", "task,worker,change\n"),
    "limits that there are not": lambda f: f.file("limits.csv", "limit,name,dual\n"),
    "a policy beside orders": lambda f: f.file("policy.csv", "type,round\n"),
}


@pytest.mark.parametrize("name", UNHELD)
def test_nothing_is_said_that_nothing_is_held_against(name, folders, tmp_path):
    """As of other plans."""
    assert not UNHELD[name](Forged(folders, "orders", tmp_path)).check().holds


def test_states_have_no_step_and_no_orders(folders, tmp_path):
    """What belongs to orders, beside a policy."""
    assert not Forged(folders, "states", tmp_path / "a").says(step=0.0123).check().holds
    assert not Forged(folders, "states", tmp_path / "b").file("orders.csv", "order\n").check().holds


@pytest.mark.parametrize("rounds", [0, -1, True, 1.5, "2"])
def test_rounds_are_a_number(rounds, folders, tmp_path):
    """Of at least one."""
    with pytest.raises(InputError, match="rounds"):
        Forged(folders, "rounds", tmp_path).says(rounds=rounds).check()


def test_rounds_without_end_are_no_work(folders, tmp_path):
    """Each asks for a vote at least, so that no more of them count than there are votes."""
    assert not Forged(folders, "rounds", tmp_path).says(rounds=10**17).check().holds


def test_orders_keep_the_rounds_that_are_said(folders, tmp_path):
    """An order of three workers is three rounds."""
    report = Forged(folders, "orders", tmp_path).says(rounds=1).check()
    assert any("rounds" in problem for problem in report.problems)


@pytest.mark.parametrize("said", [1, "yes", None])
def test_limits_given_the_votes_are_said_or_not(said, folders, tmp_path):
    """True or false."""
    with pytest.raises(InputError, match="given_votes"):
        Forged(folders, "sure", tmp_path).says(given_votes=said).check()


def test_a_plan_is_not_sure_because_it_says_so(folders, tmp_path):
    """Some answer of the plan before votes errs too much given them; orders promise nothing of the kind."""
    report = Forged(folders, "states", tmp_path / "a").says(given_votes=True).check()
    assert any("leave more than" in problem for problem in report.problems)
    assert not Forged(folders, "orders", tmp_path / "b").says(given_votes=True).check().holds


def test_the_bound_of_sure_answers_is_no_bound_of_others(folders, tmp_path):
    """Without the claim dearer answers are not needed: its multipliers prove less, and nothing is optimal."""
    forged = Forged(folders, "sure", tmp_path)
    assert forged.check().proven and forged.check().given_votes
    del forged.claims["given_votes"]
    report = forged.check()
    assert not report.holds and not report.proven
    assert report.certified_bound < forged.claims["objective"] * (1 - 1e-6)


def test_the_expert_s_price_is_said(folders, tmp_path):
    """No campaign has it: whoever reads the verdict reads at which price it is one."""
    forged = Forged(folders, "states", tmp_path).says(expert=9.0)
    assert forged.check().expert == 9.0 and verify(forged.campaign, folders["states"] / "plan").expert is None


def test_no_expert_answers_for_nothing(folders, tmp_path):
    """All tasks are handed on to an expert whom the plan does not have, at no price."""
    forged = Forged(folders, "states", tmp_path)
    for name in ("load", "dual"):
        forged.column("workers", name, 0.0)
    for name, value in (("error", 0.0), ("expert", 1.0), ("dual", 0.0)):
        forged.column("types", name, value)
    tasks = np.bincount(FEW.task_type).tolist()
    rows = [f"{kind},0,,expert,,1,{count}" for kind, count in zip(FEW.types, tasks, strict=True)]
    forged.file("policy.csv", "\n".join(["type,round,votes,action,what,share,tasks", *rows, ""]))
    forged.file("assignment.csv", "task,worker\n").file("weights.csv", "worker,type,weight\n")
    shutil.rmtree(forged.place / "queues")
    forged.says(objective=0.0, cost=0.0, labels=0.0, first_round=0, budget_dual=0.0).boasts()
    report = forged.check()
    assert any("there is none" in problem for problem in report.problems)


def test_orders_stop_with_the_labels_that_a_task_must_have(folders, tmp_path):
    """A plan made for a campaign without fewest labels does not hold for one with them."""
    write_campaign(replace(MANY, min_labels=np.full(MANY.n_tasks, 3)), tmp_path / "campaign")
    report = verify(tmp_path / "campaign", folders["orders"] / "plan")
    assert any("labels it must have" in problem for problem in report.problems)
