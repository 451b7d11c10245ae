"""Adaptive plans forged: numbers one by one, multipliers that overflow or cancel, terms of its own, labels left out.

Verify refuses each, and whatever the multipliers do not prove; the claims were taken once.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdopt import Adaptive, AssignmentInstance, Group, InputError, OwnRows, solve, verify, write_campaign
from tests.recheck.forged import Forged, Rows, made

SKILLS = [[0.94, 0.9, 0.76, 0.66], [0.98, 0.88, 0.86, 0.82]]
FEW = AssignmentInstance(
    SKILLS,
    np.arange(30) % 3 % 2,
    [6, 30, 30, 30],
    0.05,
    cost=[3.0, 1.0, 0.4, 0.2],
    budget=60.0,
    types=["code", "facts"],
)
MANY = AssignmentInstance(
    np.random.default_rng(0).uniform(0.55, 0.92, (2, 14)),
    np.arange(24) % 2,
    np.full(14, 6),
    0.1,
    groups=[Group("pair", [0, 1], max_per_task=1)],
    max_labels=np.full(24, 8),
    forbidden=[(i, 3) for i in range(0, 24, 2)],
)
FREE = AssignmentInstance([[0.9, 0.8, 0.75]], [0] * 30, [30] * 3, 0.12, cost=[4.0, 1.0, 0.5])
MADE: dict[str, tuple[Any, dict[str, Any]]] = {
    "states": (FEW, {}),
    "rounds": (FEW, {"rounds": 2}),
    "bound": (replace(FEW, min_load=FEW.capacity * (np.arange(4) == 0), budget=None), {}),
    "orders": (MANY, {}),
    "sure": (replace(FEW, budget=None), {"given_votes": True, "expert": 9.0}),
}
NUMBERS = {  # columns of numbers in each table
    "states": {
        "policy": ("share", "tasks"),
        "types": ("tasks", "target", "error", "dual"),
        "workers": ("load", "capacity", "dual"),
    },
    "orders": {"orders": ("share", "tasks"), "types": ("tasks", "target", "error"), "workers": ("load", "capacity")},
}
COLUMNS = [(plan, table, one) for plan, tables in NUMBERS.items() for table, some in tables.items() for one in some]
CLAIMED = ["objective", "labels", "cost", "gap", "first_round", "tasks", "workers", "epsilon", "times_targets"]
CLAIMED = [*((plan, one) for plan in NUMBERS for one in CLAIMED), ("states", "bound"), ("states", "budget_dual")]


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    """A folder of each kind, whose plan holds."""
    plans = {name: solve(instance, method=Adaptive(**how)) for name, (instance, how) in MADE.items()}
    assert plans["states"].proven and plans["orders"].order_of is not None and plans["orders"].gap < 0.1
    return {name: made(tmp_path_factory.mktemp(name), MADE[name][0], plan) for name, plan in plans.items()}


@pytest.mark.parametrize(("plan", "table", "column"), COLUMNS)
def test_each_number_raised_is_refused(plan, table, column, folders, tmp_path):
    """Cells of every column of numbers, by a thousandth and a bit; multipliers where they prove too much."""
    more = 0.0 if column == "dual" else 0.001
    rows = Forged(folders[plan], tmp_path / "honest").rows(table)
    for row in range(1, len(rows), 1 + len(rows) // 8):
        forged = Forged(folders[plan], tmp_path / f"{row}").cell(table, row, column, lambda x: x * 1.001 + more)
        same = column == "dual" and float(rows[row][rows[0].index(column)]) == 0
        assert forged.problems() or same, row


@pytest.mark.parametrize(("plan", "name"), CLAIMED)
def test_each_claim_raised_is_refused(plan, name, folders, tmp_path):
    """By a thousandth and a bit."""
    forged = Forged(folders[plan], tmp_path)
    assert forged.says(**{name: forged.claims[name] * 1.001 + 0.001}).problems()


@pytest.mark.parametrize(("name", "value"), [("bound", None), ("bound", 1e6), ("step", 0), ("step", "x"), ("step", 7)])
def test_bounds_beyond_what_multipliers_prove_are_refused(folders, name, value, tmp_path):
    """No bound, one far above the plan, and steps at which nothing can be recomputed."""
    assert Forged(folders["orders"], tmp_path).says(**{name: value}).problems()


def test_multipliers_of_the_wrong_sign_are_refused(folders, tmp_path):
    """Of an error below 0, of a capacity above 0."""
    for name, value in (("types", -1.0), ("workers", 0.5)):
        assert Forged(folders["orders"], tmp_path / name).cell(name, 1, "dual", lambda _, value=value: value).problems()


def _row(rows: Rows, action: str = "ask") -> list[str]:
    return next(row for row in rows[1:] if row[3] == action and (row[2] or action == "answer"))


def _swap(rows: Rows) -> None:
    answer = _row(rows, "answer")
    answer[4] = "1" if answer[4] == "0" else "0"


def _ask_again(rows: Rows) -> None:
    _row(rows)[4] = _row(rows)[2].split("=")[0]


def _no_worker(rows: Rows) -> None:
    _row(rows)[4] = ""


def _stranger(rows: Rows) -> None:
    next(row for row in rows[1:] if row[2])[2] = "stranger=1"


def _repeat(rows: Rows) -> None:
    rows.append(rows[-1])


def _drop(rows: Rows) -> None:
    del rows[-1]


def _asking(rows: Rows) -> list[str]:
    return next(row for row in rows[1:] if row[2])


def _other_worker(rows: Rows) -> None:
    _asking(rows)[2] = "13" if _asking(rows)[2] != "13" else "12"


def _barred(rows: Rows) -> None:
    _asking(rows)[2] = "3"


def _unknown(rows: Rows) -> None:
    _asking(rows)[2] = "stranger"


def _twice(rows: Rows) -> None:
    at = next(k for k, row in enumerate(rows) if k and row[2] and rows[k + 1][2])
    rows[at + 1][2] = rows[at][2]


def _sooner(rows: Rows) -> None:
    row = next(row for row in rows[1:] if row[2] and row[1] == "1")
    row[5], row[6] = "-1", "1"


def _half(rows: Rows) -> None:
    _asking(rows)[4] = "1.5"


def _crossed(rows: Rows) -> None:
    _asking(rows)[5] = _asking(rows)[6]


CHANGES = [("states", "policy", one) for one in (_swap, _drop, _repeat, _ask_again, _no_worker, _stranger)]
CHANGES += [("orders", "order_steps", one) for one in (_other_worker, _barred, _unknown, _twice, _drop)]
CHANGES += [("orders", "order_steps", one) for one in (_sooner, _half, _crossed)]
CHANGES += [(plan, one, _drop) for plan in NUMBERS for one in ("assignment", "tasks", "types", "workers")]
CHANGES += [("orders", "orders", _drop)]


@pytest.mark.parametrize(("plan", "table", "change"), CHANGES)
def test_another_policy_is_refused(plan, table, change, folders, tmp_path):
    """Another answer or worker, one who is barred, unknown or asked twice, a row less or twice, an earlier stop.

    The first round deals every task; types, workers, tasks and orders are all there.
    """
    assert Forged(folders[plan], tmp_path).changed(table, change).problems()


def test_another_deal_is_refused(folders, tmp_path):
    """All tasks of a type on its first order; and an order of another type."""
    head, *rows = Forged(folders["orders"], tmp_path / "honest").rows("tasks")
    of_type = {row[1]: row[2] for row in reversed(rows)}
    for k, other in enumerate(({"0": "0", "1": "1"}, {"0": "1", "1": "0"})):
        dealt = [[task, kind, of_type[other[kind]]] for task, kind, _ in rows]
        assert Forged(folders["orders"], tmp_path / str(k)).table("tasks", [head, *dealt]).problems()


@pytest.mark.parametrize("plan", NUMBERS)
def test_another_law_is_refused(plan, folders, tmp_path):
    """A campaign of worse workers: the same policy errs too often there."""
    instance = MADE[plan][0]
    write_campaign(replace(instance, accuracy=instance.accuracy - 0.02), tmp_path / "worse")
    problems = Forged(folders[plan], tmp_path).problems(tmp_path / "worse")
    assert any("wrong answers are expected" in problem for problem in problems)


def test_multipliers_of_shares_are_checked(tmp_path):
    """A multiplier that proves less, one above 0, a share without one: each is refused."""
    one = replace(FREE, groups=[Group("g", [2], max_share=0.3)])
    folder = made(tmp_path, one, solve(one, method=Adaptive()))
    dual = float((folder / "plan" / "limits.csv").read_text(encoding="utf-8").split(",")[-1])
    assert dual < 0 and verify(folder / "campaign", folder / "plan").proven
    for k, text in enumerate((f"max_share,g,{dual * 1.01!r}", f"max_share,g,{-dual!r}", f"min_share,g,{dual!r}", "")):
        assert Forged(folder, tmp_path / str(k)).file("limits.csv", "limit,name,dual", text).problems()


ROWS = {"mine": OwnRows(["mine"], [0], [(0, 2)], [1.0], [1.0], [np.inf])}
ROWS["r"] = OwnRows(["r"], [0] * 30, [(i, 2) for i in range(30)], [1.0] * 30, [-np.inf], [1.0])


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ({"min_labels": np.full(30, 2)}, "before a task has the labels that it must have"),
        ({"fixed": [(i, 0) for i in range(30)]}, "before a task has the labels that it must have"),
        ({"groups": [Group("g", [0], min_per_task=1)]}, "before a task has the labels that it must have"),
        ({"min_load": [30, 0, 0]}, "min_tasks of 0"),
        ({"own_rows": ROWS["mine"]}, "own rows tell tasks"),
        ({"own_rows": ROWS["r"]}, "row_most of r"),
    ],
)
def test_a_plan_made_without_a_limit_does_not_keep_it(limit, said, tmp_path):
    """And one made with it holds."""
    write_campaign(FREE, tmp_path / "free")
    write_campaign(replace(FREE, **limit), tmp_path / "held")
    solve(tmp_path / "free", method=Adaptive(), output=tmp_path / "p")
    problems = verify(tmp_path / "held", tmp_path / "p").problems
    assert any(said in problem for problem in problems), problems
    assert verify(tmp_path / "held", solve(tmp_path / "held", method=Adaptive(expert=20.0))).proven


LARGE = (2.0**53, 2.0**60, 1e200, 1.7e308)
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
    assert MULTIPLIERS[name](Forged(folders[plan], tmp_path).boasts(certified=False)).problems()


@pytest.mark.parametrize("size", [2.0**40, 2.0**53, 2.0**60])
def test_multipliers_that_cancel_prove_nothing(size, folders, tmp_path):
    """The worker must give as many labels as they can: both multipliers cancel, and rounding takes the price along."""
    honest = Forged(folders["bound"], tmp_path / "honest")
    assert [row[:2] for row in honest.rows("limits")[1:]] == [["min_tasks", "0"]]
    forged = Forged(folders["bound"], tmp_path).cell("workers", 1, "dual", lambda _: -size)
    report, true = forged.column("limits", "dual", -size).boasts(certified=False).report(), honest.report()
    assert not report.proven or true.proven
    assert report.certified_bound is None or report.certified_bound <= true.objective * (1 + 1e-6)


UNHELD: dict[str, Forgery] = {
    "a guarantee of its own": lambda f: f.says(guarantee="no answer is wrong"),
    "a violation": lambda f: f.says(violation=-5.0),
    "a second bound": lambda f: f.says(certified_bound=1e9),
    "a form of proof": lambda f: f.says(certified_by="honour"),
    "money spent": lambda f: f.says(spending={"money": 1.0, "wrong": 0.0}, wrong_bound=0.0),
    "tasks left short": lambda f: f.says(short=["0"]),
    "what differs, in words": lambda f: f.says(beyond_campaign=["the weather"]),
    "a price of no budget": lambda f: f.says(budget_dual=0.0),
    "a repair": lambda f: f.file("repair.csv", "task,worker,change"),
    "limits that there are not": lambda f: f.file("limits.csv", "limit,name,dual"),
    "a policy beside orders": lambda f: f.file("policy.csv", "type,round"),
    "answers sure given the votes": lambda f: f.says(given_votes=True),
    "fewer rounds than workers of an order": lambda f: f.says(rounds=1),
}


@pytest.mark.parametrize("name", UNHELD)
def test_nothing_is_said_that_nothing_is_held_against(name, folders, tmp_path):
    """As of other plans."""
    assert UNHELD[name](Forged(folders["orders"], tmp_path)).problems()


def test_states_have_no_step_and_no_orders(folders, tmp_path):
    """What belongs to orders, beside a policy."""
    assert Forged(folders["states"], tmp_path / "a").says(step=0.0123).problems()
    assert Forged(folders["states"], tmp_path / "b").file("orders.csv", "order").problems()


@pytest.mark.parametrize("rounds", [0, True, 1.5, "2", 10**17])
def test_rounds_are_a_number(rounds, folders, tmp_path):
    """Of at least one; each asks for a vote at least, so that no more of them count than there are votes."""
    assert Forged(folders["rounds"], tmp_path).says(rounds=rounds).problems()


@pytest.mark.parametrize("said", [1, "yes", None])
def test_limits_given_the_votes_are_said_or_not(said, folders, tmp_path):
    """True or false."""
    with pytest.raises(InputError, match="given_votes"):
        Forged(folders["sure"], tmp_path).says(given_votes=said).report()


def test_a_plan_is_not_sure_because_it_says_so(folders, tmp_path):
    """Some answer of the plan before votes errs too much given them."""
    problems = Forged(folders["states"], tmp_path).says(given_votes=True).problems()
    assert any("leave more than" in problem for problem in problems)


def test_the_bound_of_sure_answers_is_no_bound_of_others(folders, tmp_path):
    """Without the claim dearer answers are not needed: its multipliers prove less, and nothing is optimal."""
    forged = Forged(folders["sure"], tmp_path)
    assert forged.report().proven and forged.report().given_votes
    del forged.claims["given_votes"]
    report = forged.report()
    assert not report.holds and not report.proven
    assert report.certified_bound < forged.claims["objective"] * (1 - 1e-6)


def test_the_expert_s_price_is_said(folders, tmp_path):
    """No campaign has it: whoever reads the verdict reads at which price it is one."""
    forged = Forged(folders["states"], tmp_path).says(expert=9.0)
    assert forged.report().expert == 9.0 and verify(forged.campaign, folders["states"] / "plan").expert is None


def test_no_expert_answers_for_nothing(folders, tmp_path):
    """All tasks are handed on to an expert whom the plan does not have, at no price."""
    forged = Forged(folders["states"], tmp_path)
    for name in ("load", "dual"):
        forged.column("workers", name, 0.0)
    for name, value in (("error", 0.0), ("expert", 1.0), ("dual", 0.0)):
        forged.column("types", name, value)
    tasks = np.bincount(FEW.task_type).tolist()
    rows = [f"{kind},0,,expert,,1,{count}" for kind, count in zip(FEW.types, tasks, strict=True)]
    forged.file("policy.csv", "type,round,votes,action,what,share,tasks", *rows)
    forged.file("assignment.csv", "task,worker").file("weights.csv", "worker,type,weight")
    shutil.rmtree(forged.place / "queues")
    forged.says(objective=0.0, cost=0.0, labels=0.0, first_round=0, budget_dual=0.0).boasts(certified=False)
    assert any("there is none" in problem for problem in forged.problems())


def test_orders_stop_with_the_labels_that_a_task_must_have(folders, tmp_path):
    """A plan made for a campaign without fewest labels does not hold for one with them."""
    write_campaign(replace(MANY, min_labels=np.full(MANY.n_tasks, 3)), tmp_path / "campaign")
    problems = Forged(folders["orders"], tmp_path).problems(tmp_path / "campaign")
    assert any("labels it must have" in problem for problem in problems)
