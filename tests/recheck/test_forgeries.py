"""Proofs forged in several cells at once: no writer of a plan folder can make verify call a dear plan optimal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from crowdopt import AssignmentInstance, Group, InputError, budget, solve, verify
from crowdopt.assign.plan import Plan
from crowdopt.core.certificate import Certificate
from tests.recheck.forged import Forged, made

INSTANCE = AssignmentInstance(
    np.random.default_rng(5).uniform(0.55, 0.95, (2, 10)), np.arange(8) % 2, np.full(10, 6), 0.15, budget=75.0
)

EACH = AssignmentInstance(INSTANCE.accuracy, INSTANCE.task_type, INSTANCE.capacity, 0.15)
HUGE = [2.0**30, 2.0**52, 2.0**53, 2.0**60, 1e200, 1e308]
Forgery = Callable[[Forged], Forged]
FORGERIES: dict[str, Forgery] = {
    "boast": lambda f: f.boasts(),
    "boast of an error's price": lambda f: f.boasts().says(wrong_dual=-1.0),
    "boast of a form of proof": lambda f: f.boasts().says(certified_by="honour"),
    "bound above the cost": lambda f: f.boasts(f.claims["objective"] + 2),
    "bound just above the optimum": lambda f: f.boasts(f.claims["objective"] - 1),
    **{f"both of {x:.3g}": lambda f, x=x: f.prices(x, -x / 2).boasts() for x in HUGE},
    **{f"workers of {x:.3g}": lambda f, x=x: f.prices(1.0, x).boasts() for x in HUGE[1:4]},
    **{f"loads of -{x:.3g}": lambda f, x=x: f.prices(x, -x).boasts() for x in HUGE[1:4]},
    **{f"budget of -{x:.3g}": lambda f, x=x: f.prices(x, 0.0).says(budget_dual=-x).boasts() for x in HUGE[1:4]},
    **{
        f"label limits of {x:.3g}": lambda f, x=x: f.column("tasks", "labels_dual", x).prices(x, 0.0).boasts()
        for x in HUGE[1:4]
    },
    "label limits cancel": lambda f: f.column("tasks", "labels_dual", -(2.0**60)).prices(2.0**60, 0.0).boasts(),
    "budget that pays": lambda f: f.says(budget_dual=5.0).boasts(),
    "prices not numbers": lambda f: f.prices("nan", "nan").boasts(),
    "prices infinite": lambda f: f.prices("inf", "-inf").boasts(),
    "prices of 1e999": lambda f: f.prices("1e999", "-1e999").boasts(),
    "one task pays for all": lambda f: f.prices([2.0**60] + [0.0] * 7, 0.0).boasts(),
    "one worker pays for all": lambda f: f.prices(10.0, [2.0**60] + [0.0] * 9).boasts(),
    "a reward for errors": lambda f: f.prices(0.0, 1.0).says(wrong_dual=1e9).boasts(),
    "huge prices of errors": lambda f: f.prices(0.0, -(2.0**60)).says(wrong_dual=-(2.0**60)).boasts(),
    "a budget beyond the campaign's": lambda f: f.says(overrides={"budget": 1e9}).boasts(),
    "a target that suits": lambda f: f.says(overrides={"epsilon": 0.4}, epsilon=0.4).boasts(),
    "a rule that suits": lambda f: f.says(overrides={"rule": "hoeffding"}, rule="hoeffding").boasts(),
    "spending": lambda f: f.says(spending={"money": 1e9, "wrong": 0.0, "wrong_bound": 0.0}).boasts(),
    "certified bound in words": lambda f: f.boasts().says(certified_bound="110"),
    "bound in words": lambda f: f.boasts().says(bound="110"),
    "bound true": lambda f: f.boasts().says(bound=True, certified_bound=True),
    "fewer tasks": lambda f: f.says(tasks=1, workers=1).boasts(),
}


@pytest.fixture(scope="module")
def wasteful(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """A campaign, the folder of a plan that buys labels without need, and the true optimum."""
    place = tmp_path_factory.mktemp("forged")
    best = solve(INSTANCE, "highs")
    assert best.proven and best.objective is not None and best.pairs is not None and best.duals is not None
    spare = [(i, j) for i in range(8) for j in range(10) if not (best.pairs == (i, j)).all(axis=1).any()]
    loads = np.bincount(best.pairs[:, 1], minlength=10)
    extra = [(i, j) for i, j in spare if loads[j] < 6][:4]
    pairs = np.array(sorted([*map(tuple, best.pairs.tolist()), *extra]))
    known = Certificate(None, best.certified_bound, "certificate", None, None)
    dear = Plan.of(INSTANCE, "ip", known, best.certified_bound, best.duals, pairs, method="exact", backend="highs")
    assert dear.objective is not None and dear.objective > best.objective and not dear.proven
    return made(place, INSTANCE, dear), best.objective


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_proof_is_no_proof(name, wasteful, tmp_path):
    """Either the folder is refused, or what verify confirms of the campaign as it stands is true."""
    folder, optimum = wasteful
    try:
        report = FORGERIES[name](Forged(folder, tmp_path)).report()
    except InputError as error:
        assert any(name in str(error) for name in ("tasks.csv", "workers.csv", "plan.json"))
        return
    assert not (report.holds and report.proven and report.proof == "certificate")
    if not report.overrides and report.certified_bound is not None:
        assert report.certified_bound <= optimum + 1e-6


SPENDINGS: dict[str, Forgery] = {
    "the bound is the plan's own": lambda f: _spends(f, wrong_bound=f.claims["spending"]["wrong"]),
    "the bound is above the plan's own": lambda f: _spends(f, wrong_bound=f.claims["spending"]["wrong"] + 1),
    **{
        f"prices of {x:.3g}": lambda f, x=x: _spends(f.prices(x, -x), wrong_bound=f.claims["spending"]["wrong"]).says(
            budget_dual=-x
        )
        for x in HUGE[1:5]
    },
    "no price of money": lambda f: _spends(f, wrong_bound=f.claims["spending"]["wrong"]).says(budget_dual=0.0),
    "a reward for money": lambda f: _spends(f, wrong_bound=f.claims["spending"]["wrong"]).says(budget_dual=1e6),
    "less money": lambda f: _spends(f, money=f.claims["cost"], wrong_bound=f.claims["spending"]["wrong"]),
    "fewer wrong": lambda f: _spends(f, wrong=0.0),
    "a price of errors": lambda f: _spends(f, wrong_bound=f.claims["spending"]["wrong"]).says(wrong_dual=-(2.0**60)),
}


def _spends(folder: Forged, **changes: float) -> Forged:
    return folder.says(spending={**folder.claims["spending"], **changes})


@pytest.fixture(scope="module")
def spent(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """A campaign, the folder of what greedy buys for 20, and the fewest wrong answers known for that money."""
    place = tmp_path_factory.mktemp("spent")
    greedy = budget(EACH, money=20.0, method="greedy")
    honest = verify(made(place, EACH, greedy.plan) / "campaign", place / "plan")
    assert honest.wrong_bound is not None and 0 < honest.wrong_bound < greedy.wrong
    return place, min(budget(EACH, money=20.0, method="exact").wrong, greedy.wrong)


@pytest.mark.parametrize("name", SPENDINGS)
def test_a_forged_promise_of_money_is_none(name, spent, tmp_path):
    """Greedy spends half; no bound can be written that says no plan of the money does better than it."""
    folder, fewest = spent
    report = SPENDINGS[name](Forged(folder, tmp_path)).report()
    if report.holds:
        assert report.wrong_bound is None or report.wrong_bound <= fewest + 1e-9


MADE = {  # a campaign and a plan for it of each kind
    "rows": lambda: (INSTANCE, solve(INSTANCE, "highs")),
    "exact": lambda: (replace(EACH, rule="exact-error"), solve(replace(EACH, rule="exact-error"))),
    "mean": lambda: (replace(EACH, rule="mean-error"), solve(replace(EACH, rule="mean-error"))),
    "shares": lambda: (INSTANCE, solve(INSTANCE, program="lp")),
    "joint": lambda: (grouped := replace(EACH, groups=[Group("g", [3, 4], max_share=0.3)]), solve(grouped)),
    "spent": lambda: (EACH, budget(EACH, money=20.0, method="greedy").plan),
}


NOT_PROVEN = {"proof": "none", "proven": False, "status": "feasible"}
UNHELD: dict[tuple[str, str], tuple[str, Forgery]] = {
    ("rows", "a form of proof"): ("an entry 'certified_by'", lambda f: f.says(certified_by="rows")),
    ("joint", "a price of wrong answers"): ("wrong_dual says -3.0", lambda f: f.says(wrong_dual=-3.0)),
    ("exact", "a price that no rule asks for"): ("wrong_dual says -3.0", lambda f: f.says(wrong_dual=-3.0)),
    ("exact", "a price of no budget"): ("budget_dual says -3.0", lambda f: f.says(budget_dual=-3.0)),
    ("mean", "a price without multipliers"): (
        "wrong_dual says -3.0",
        lambda f: f.prices("", "").says(wrong_dual=-3.0, certified_bound=None, bound=None, gap=None, **NOT_PROVEN),
    ),
    ("rows", "a repair of nothing"): (
        "repair.csv: is there",
        lambda f: f.file("repair.csv", "task,worker,change", "0,0,removed"),
    ),
    ("rows", "limits of no group"): ("limits.csv: is there", lambda f: f.file("limits.csv", "limit,name,task,dual")),
    ("joint", "a limit of a task that is none's"): (
        "names the task 'nowhere'",
        lambda f: f.file("limits.csv", "limit,name,task,dual", "max_share,g,nowhere,0"),
    ),
    ("joint", "a multiplier of an unknown group"): (
        "which the campaign does not have",
        lambda f: f.file("limits.csv", "limit,name,task,dual", "max_share,h,,-5"),
    ),
    ("shares", "lists of tasks beside shares"): ("queues: is there", lambda f: f.file("queues/0.csv", "task", "0")),
    ("rows", "hard tasks that there are not"): (
        "difficulty says",
        lambda f: f.says(difficulty={"share": 0.5, "left": 0.2}),
    ),
    ("exact", "something else that differs"): ("beyond_campaign says 7", lambda f: f.says(beyond_campaign=7)),
    ("exact", "a word that is no field"): (
        "beyond_campaign says",
        lambda f: f.says(beyond_campaign=["the weather"]),
    ),
    ("rows", "a guarantee of its own"): ("an entry 'guarantee'", lambda f: f.says(guarantee="no answer is wrong")),
    ("spent", "a worth of labels"): ("labels_dual", lambda f: f.column("tasks", "labels_dual", "x")),
    ("spent", "money without end"): ("plan.json", lambda f: _spends(f, money=float("inf"))),
    ("spent", "wrong answers that are no number"): ("plan.json", lambda f: _spends(f, wrong_bound=float("nan"))),
    ("shares", "money spent in shares"): (
        "spending is about whole labels",
        lambda f: f.says(spending={"money": 1e9, "wrong": 0.0}),
    ),
    ("shares", "a repair of shares"): (
        "repaired is about whole labels",
        lambda f: f.says(repaired={"labels": 5, "short": 0, "lacking": 0.0}),
    ),
    ("exact", "a bound without end"): ("plan.json", lambda f: f.boasts(float("inf"))),
    ("exact", "a certified bound that is no number"): ("plan.json", lambda f: f.says(certified_bound=float("nan"))),
    ("mean", "a price in words"): ("wrong_dual says 'much'", lambda f: f.says(wrong_dual="much")),
    ("exact", "an exact proof of shares"): (
        "shares of labels",
        lambda f: _shared(f.says(program="lp")),
    ),
}


def _shared(folder: Forged) -> Forged:
    head, *rows = folder.rows("assignment")
    return folder.table("assignment", [[*head, "value"], *([*row, "1.0"] for row in rows)])


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder for each kind, whose plan holds."""
    return {name: made(tmp_path_factory.mktemp(name), *make()) for name, make in MADE.items()}


@pytest.mark.parametrize("which", UNHELD, ids=lambda which: f"{which[0]}: {which[1]}")
def test_nothing_is_said_that_nothing_is_held_against(which, folders, tmp_path):
    """Whatever a folder says, of whatever kind its plan is, is looked at or refused."""
    sentence, forgery = UNHELD[which]
    problems = forgery(Forged(folders[which[0]], tmp_path)).problems()
    assert any(sentence in problem for problem in problems), problems


SHORT = AssignmentInstance(
    np.array([[0.9, 0.8, 0.85, 0.7]]), np.zeros(4, np.int64), np.full(4, 2), 0.1, rule="exact-error"
)
ALL = ["0", "1", "2", "3"]


def _unnamed(folder: Forged) -> Forged:
    del folder.claims["short"]
    return folder.says(status="feasible")


SHORTAGES: dict[str, Forgery] = {
    "all are excused": lambda f: f.says(short=ALL).column("tasks", "short", "yes"),
    "none is named": lambda f: f.says(short=[]).column("tasks", "short", "no"),
    "it is no list": lambda f: f.says(short="1"),
    "a task that is not there": lambda f: f.says(short=[*f.claims["short"], "nowhere"]),
    "it is called feasible": _unnamed,
    "it is called optimal": lambda f: f.says(status="optimal", proven=True),
    "a bound of nothing": lambda f: f.says(bound=0.0, gap=1.0),
    "a solver's bound": lambda f: f.says(bound=f.claims["objective"], gap=0.0, proof="solver", proven=True),
    "a certified bound": lambda f: f.says(certified_bound=0.0),
    "another target": lambda f: f.column("tasks", "target", 0.3),
    "another column": lambda f: f.column("tasks", "short", ["no" if i in f.claims["short"] else "yes" for i in ALL]),
    "another error": lambda f: f.column("tasks", "vote_error", 0.001),
}


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign that cannot be served, and what is made of it, which holds."""
    plan = solve(SHORT)
    assert 0 < len(plan.short) < SHORT.n_tasks
    place = made(tmp_path_factory.mktemp("short"), SHORT, plan)
    report = verify(place / "campaign", place / "plan")
    assert report.short == len(plan.short) and not report.proven
    return place


@pytest.mark.parametrize("name", SHORTAGES)
def test_what_is_short_is_named_and_proves_nothing(name, honest, tmp_path):
    """No task is excused that is served, none left out, nothing proven: each of these folders is refused."""
    assert SHORTAGES[name](Forged(honest, tmp_path)).problems()
