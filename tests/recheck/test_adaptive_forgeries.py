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

from crowdopt import Adaptive, AssignmentInstance, Group, OwnRows, solve, verify, write_campaign
from tests.recheck.forged import Forged, made

SKILLS = [[0.94, 0.9, 0.76, 0.66], [0.98, 0.88, 0.86, 0.82]]
PAID = {"cost": [3.0, 1.0, 0.4, 0.2], "budget": 60.0, "types": ["code", "facts"]}
FEW = AssignmentInstance(SKILLS, np.arange(30) % 3 % 2, [6, 30, 30, 30], 0.05, **PAID)
OWN = np.random.default_rng(0).uniform(0.55, 0.92, (2, 14))
LIMITS = {"groups": [Group("pair", [0, 1], max_per_task=1)], "max_labels": np.full(24, 8)}
LIMITS["forbidden"] = [(i, 3) for i in range(0, 24, 2)]
MANY = AssignmentInstance(OWN, np.arange(24) % 2, np.full(14, 6), 0.1, **LIMITS)
FREE = AssignmentInstance([[0.9, 0.8, 0.75]], [0] * 30, [30] * 3, 0.12, cost=[4.0, 1.0, 0.5])
MADE: dict[str, tuple[AssignmentInstance, dict[str, Any]]] = {
    "states": (FEW, {}),
    "rounds": (FEW, {"rounds": 2}),
    "bound": (replace(FEW, min_load=FEW.capacity * (np.arange(4) == 0), budget=None), {}),
    "orders": (MANY, {}),
    "sure": (replace(FEW, budget=None), {"given_votes": True, "expert": 9.0}),
    "free": (FREE, {}),
    "shares": (replace(FREE, groups=[Group("g", [2], max_share=0.3)]), {}),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    """A folder of each kind, whose plan holds."""
    plans = {name: solve(instance, method=Adaptive(**how)) for name, (instance, how) in MADE.items()}
    assert plans["orders"].order_of is not None and plans["orders"].gap < 0.1
    assert all(plan.proven for name, plan in plans.items() if name != "orders")
    return {name: made(tmp_path_factory.mktemp(name), MADE[name][0], plan) for name, plan in plans.items()}


COLUMNS = {  # of numbers in each table
    "states": "policy.share policy.tasks types.tasks types.target types.error types.dual workers.load"
    " workers.capacity workers.dual",
    "orders": "orders.share orders.tasks types.tasks types.target types.error workers.load workers.capacity",
}


@pytest.mark.parametrize(("plan", "where"), [(plan, one) for plan, some in COLUMNS.items() for one in some.split()])
def test_each_number_raised_is_refused(plan, where, folders, tmp_path):
    """Cells of every column of numbers, by a thousandth and a bit; multipliers where they prove too much."""
    table, column = where.split(".")
    more = 0.0 if column == "dual" else 0.001
    rows = Forged(folders[plan], tmp_path / "honest").rows(table)
    for row in range(1, len(rows), 1 + len(rows) // 8):
        forged = Forged(folders[plan], tmp_path / f"{row}").cell(table, row, column, lambda x: x * 1.001 + more)
        same = column == "dual" and float(rows[row][rows[0].index(column)]) == 0
        assert forged.problems() or same, row


Forgery = Callable[[Forged], Forged]
Row = dict[str, str]


def put(table: str, column: str, value: Callable[[Row], str], such: Callable[[Row], Any] = lambda row: True) -> Forgery:
    """Another value in a cell of a table's first row that is such."""

    def forge(folder: Forged) -> Forged:
        head, *rows = folder.rows(table)
        row = next(row for row in rows if such(dict(zip(head, row, strict=True))))
        row[head.index(column)] = value(dict(zip(head, row, strict=True)))
        return folder.table(table, [head, *rows])

    return forge


def dropped(table: str) -> Forgery:
    return lambda f: f.changed(table, lambda rows: rows.pop())


def asks(row: Row) -> bool:
    return bool(row["ask"])


def asked_later(row: Row) -> bool:
    return row["action"] == "ask" and bool(row["votes"])


def asked_twice(rows: list[list[str]]) -> None:
    at = next(k for k, row in enumerate(rows) if k and row[2] and rows[k + 1][2])
    rows[at + 1][2] = rows[at][2]


def dealt(folder: Forged, other: dict[str, str]) -> Forged:
    """All tasks on the first order of their type, or of another."""
    head, *rows = folder.rows("tasks")
    of_type = {row[1]: row[2] for row in reversed(rows)}
    return folder.table("tasks", [head, *([task, kind, of_type[other[kind]]] for task, kind, _ in rows)])


def to_nobody(folder: Forged) -> Forged:
    """All tasks are handed on to an expert whom the plan does not have, at no price."""
    for table, name, value in (("workers", "load", 0.0), ("workers", "dual", 0.0), ("types", "error", 0.0)):
        folder.column(table, name, value)
    folder.column("types", "expert", 1.0).column("types", "dual", 0.0)
    tasks = np.bincount(FEW.task_type).tolist()
    rows = [f"{kind},0,,expert,,1,{count}" for kind, count in zip(FEW.types, tasks, strict=True)]
    folder.file("policy.csv", "type,round,votes,action,what,share,tasks", *rows)
    folder.file("assignment.csv", "task,worker").file("weights.csv", "worker,type,weight")
    shutil.rmtree(folder.place / "queues")
    return folder.says(objective=0.0, cost=0.0, labels=0.0, first_round=0, budget_dual=0.0).boasts(certified=False)


CLAIMED = "objective labels cost gap first_round tasks workers epsilon times_targets"
LARGE = (2.0**53, 2.0**60, 1e200, 1.7e308)
MULTIPLIERS: dict[str, Forgery] = {  # sums that overflow are no numbers, and no claim is more than one that is none
    **{f"workers of -{x:.3g}": lambda f, x=x: f.column("workers", "dual", -x) for x in LARGE},
    **{f"errors of {x:.3g}": lambda f, x=x: f.column("types", "dual", x) for x in LARGE},
    **{f"both of {x:.3g}": lambda f, x=x: f.column("types", "dual", x).column("workers", "dual", -x) for x in LARGE},
    **{f"money of -{x:.3g}": lambda f, x=x: f.says(budget_dual=-x) for x in LARGE},
    "money and errors": lambda f: f.says(budget_dual=-1e308).column("types", "dual", 1e308),
}
SAYS: dict[str, list[dict[str, Any]]] = {  # what nothing is held against, as of other plans, and what is no number
    "states": [{"step": 0.0123}],
    "rounds": [{"rounds": number} for number in (0, True, 1.5, "2", 10**17)],
    "sure": [{"given_votes": said} for said in (1, "yes", None)],
    "orders": [{"bound": None}, {"bound": 1e6}, {"step": 0}, {"step": "x"}, {"step": 7}, {"violation": -5.0}],
}
SAYS["orders"] += [{"guarantee": "no answer is wrong"}, {"certified_bound": 1e9}, {"certified_by": "honour"}]
SAYS["orders"] += [{"short": ["0"]}, {"beyond_campaign": ["the weather"]}, {"budget_dual": 0.0}, {"given_votes": True}]
SAYS["orders"] += [{"spending": {"money": 1.0, "wrong": 0.0}, "wrong_bound": 0.0}]
SAYS["orders"] += [{"rounds": 1}]  # fewer than workers of an order
REFUSED: dict[tuple[str, str], Forgery] = {
    **{
        (plan, f"says {claims}"): lambda f, claims=claims: f.says(**claims)
        for plan, some in SAYS.items()
        for claims in some
    },
    **{
        (plan, f"{name} raised"): lambda f, name=name: f.says(**{name: f.claims[name] * 1.001 + 0.001})
        for plan, more in (("states", " bound budget_dual"), ("orders", ""))
        for name in (CLAIMED + more).split()
    },
    **{
        (plan, name): lambda f, forge=forge: forge(f.boasts(certified=False))
        for plan in ("states", "rounds", "orders")
        for name, forge in MULTIPLIERS.items()
    },
    ("orders", "a reward for errors"): put("types", "dual", lambda row: "-1.0"),
    ("orders", "a reward for room"): put("workers", "dual", lambda row: "0.5"),
    ("states", "another answer"): put(
        "policy", "what", lambda row: str(1 - int(row["what"])), lambda row: row["action"] == "answer"
    ),
    ("states", "a worker asked twice"): put("policy", "what", lambda row: row["votes"].split("=")[0], asked_later),
    ("states", "nobody asked"): put("policy", "what", lambda row: "", asked_later),
    ("states", "a stranger's vote"): put("policy", "votes", lambda row: "stranger=1", lambda row: row["votes"]),
    ("states", "a row twice"): lambda f: f.changed("policy", lambda rows: rows.append(rows[-1])),
    **{
        (plan, f"a row less of {table}"): dropped(table)
        for plan, own in (("states", "policy"), ("orders", "orders order_steps"))
        for table in f"assignment tasks types workers {own}".split()
    },
    ("orders", "another worker"): put("order_steps", "ask", lambda row: "12" if row["ask"] == "13" else "13", asks),
    ("orders", "a barred worker"): put("order_steps", "ask", lambda row: "3", asks),
    ("orders", "a stranger"): put("order_steps", "ask", lambda row: "stranger", asks),
    ("orders", "a worker twice"): lambda f: f.changed("order_steps", asked_twice),
    ("orders", "an earlier stop"): put(
        "order_steps", "low", lambda row: "-1", lambda row: row["ask"] and row["step"] == "1"
    ),
    ("orders", "half a step"): put("order_steps", "second_class_adds", lambda row: "1.5", asks),
    ("orders", "ends crossed"): put("order_steps", "low", lambda row: row["high"], asks),
    ("orders", "one order of each type"): lambda f: dealt(f, {"0": "0", "1": "1"}),
    ("orders", "orders of another type"): lambda f: dealt(f, {"0": "1", "1": "0"}),
    ("shares", "a multiplier that proves less"): lambda f: f.cell("limits", 1, "dual", lambda x: 1.01 * x),
    ("shares", "a multiplier above 0"): lambda f: f.cell("limits", 1, "dual", lambda x: -x),
    ("shares", "a least share"): put("limits", "limit", lambda row: "min_share"),
    ("shares", "no multiplier"): dropped("limits"),
    ("orders", "a repair"): lambda f: f.file("repair.csv", "task,worker,change"),
    ("orders", "limits that there are not"): lambda f: f.file("limits.csv", "limit,name,dual"),
    ("orders", "a policy beside orders"): lambda f: f.file("policy.csv", "type,round"),
    ("states", "orders beside a policy"): lambda f: f.file("orders.csv", "order"),
    ("states", "sure because it says so"): lambda f: f.says(given_votes=True),
    ("states", "an expert at no price"): to_nobody,
}
SAID = {("states", "sure because it says so"): "leave more than", ("states", "an expert at no price"): "there is none"}


@pytest.mark.parametrize("which", REFUSED, ids=": ".join)
def test_what_is_forged_is_refused(which, folders, tmp_path):
    """Claims, bounds, multipliers, another policy, and what nothing is held against, as of other plans."""
    problems = REFUSED[which](Forged(folders[which[0]], tmp_path)).problems()
    assert any(SAID.get(which, "") in problem for problem in problems), problems


HAVE = "before a task has the labels that it must have"
MINE = OwnRows(["mine"], [0], [(0, 2)], [1.0], [1.0], [np.inf])
MOST = OwnRows(["r"], [0] * 30, [(i, 2) for i in range(30)], [1.0] * 30, [-np.inf], [1.0])


@pytest.mark.parametrize(
    ("plan", "changes", "said"),
    [
        ("states", {"accuracy": FEW.accuracy - 0.02}, "wrong answers are expected"),
        ("orders", {"accuracy": MANY.accuracy - 0.02}, "wrong answers are expected"),
        ("orders", {"min_labels": np.full(24, 3)}, "labels it must have"),
        ("free", {"min_labels": np.full(30, 2)}, HAVE),
        ("free", {"fixed": [(i, 0) for i in range(30)]}, HAVE),
        ("free", {"groups": [Group("g", [0], min_per_task=1)]}, HAVE),
        ("free", {"min_load": [30, 0, 0]}, "min_tasks of 0"),
        ("free", {"own_rows": MINE}, "own rows tell tasks"),
        ("free", {"own_rows": MOST}, "row_most of r"),
    ],
)
def test_a_plan_made_for_another_campaign_does_not_hold(plan, changes, said, folders, tmp_path):
    """Of better workers, or without a limit; one made with the limit holds."""
    write_campaign(replace(MADE[plan][0], **changes), tmp_path / "held")
    problems = Forged(folders[plan], tmp_path).problems(tmp_path / "held")
    assert any(said in problem for problem in problems), problems
    assert plan != "free" or verify(tmp_path / "held", solve(tmp_path / "held", method=Adaptive(expert=20.0))).proven


@pytest.mark.parametrize("size", [2.0**40, 2.0**53, 2.0**60])
def test_multipliers_that_cancel_prove_nothing(size, folders, tmp_path):
    """The worker must give as many labels as they can: both multipliers cancel, and rounding takes the price along."""
    honest = Forged(folders["bound"], tmp_path / "honest")
    assert [row[:2] for row in honest.rows("limits")[1:]] == [["min_tasks", "0"]]
    forged = Forged(folders["bound"], tmp_path).cell("workers", 1, "dual", lambda _: -size)
    report, true = forged.column("limits", "dual", -size).boasts(certified=False).report(), honest.report()
    assert not report.proven or true.proven
    assert report.certified_bound is None or report.certified_bound <= true.objective * (1 + 1e-6)


def test_the_bound_of_sure_answers_is_no_bound_of_others(folders, tmp_path):
    """Without the claim dearer answers are not needed: its multipliers prove less, and nothing is optimal.

    The expert's price is said: no campaign has it, so whoever reads the verdict reads at which price it is one.
    """
    forged = Forged(folders["sure"], tmp_path)
    honest = forged.report()
    assert honest.proven and honest.given_votes and honest.expert == 9.0
    del forged.claims["given_votes"]
    report = forged.report()
    assert not report.holds and not report.proven
    assert report.certified_bound < forged.claims["objective"] * (1 - 1e-6)
