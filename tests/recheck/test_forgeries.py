"""Proofs forged in several cells at once: no writer of a plan folder can make verify call a dear plan optimal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdopt import AssignmentInstance, Group, InputError, budget, solve, verify
from crowdopt.assign.plan import Plan
from crowdopt.core.certificate import Certificate
from tests.recheck.forged import Forged, made

SKILLS = np.random.default_rng(5).uniform(0.55, 0.95, (2, 10))
EACH = AssignmentInstance(SKILLS, np.arange(8) % 2, np.full(10, 6), 0.15)
INSTANCE = replace(EACH, budget=75.0)
HUGE = [2.0**30, 2.0**52, 2.0**53, 2.0**60, 1e200, 1e308]
Forgery = Callable[[Forged], Forged]
FORGERIES: dict[str, Forgery] = {
    "boast": lambda f: f.boasts(),
    "bound above the cost": lambda f: f.boasts(f.claims["objective"] + 2),
    "bound just above the optimum": lambda f: f.boasts(f.claims["objective"] - 1),
    **{f"both of {x:.3g}": lambda f, x=x: f.prices(x, -x / 2).boasts() for x in HUGE},
    **{f"workers of {x:.3g}": lambda f, x=x: f.prices(1.0, x).boasts() for x in HUGE[1:4]},
    **{f"loads of -{x:.3g}": lambda f, x=x: f.prices(x, -x).boasts() for x in HUGE[1:4]},
    **{f"budget of -{x:.3g}": lambda f, x=x: f.prices(x, 0.0).says(budget_dual=-x).boasts() for x in HUGE[1:4]},
    **{f"labels of {x:.3g}": lambda f, x=x: f.labels(x).prices(x, 0.0).boasts() for x in HUGE[1:4]},
    "label limits cancel": lambda f: f.labels(-(2.0**60)).prices(2.0**60, 0.0).boasts(),
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
    "certified bound in words": lambda f: f.boasts().says(certified_bound="110"),
    "spending": lambda f: f.says(spending={"money": 1e9, "wrong": 0.0, "wrong_bound": 0.0}).boasts(),
}


@pytest.fixture(scope="module")
def wasteful(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """A campaign, the folder of a plan that buys labels without need, and the true optimum."""
    best = solve(INSTANCE, "highs")
    assert best.proven and best.objective is not None and best.pairs is not None and best.duals is not None
    taken, loads = set(map(tuple, best.pairs.tolist())), np.bincount(best.pairs[:, 1], minlength=10)
    extra = [(i, j) for i in range(8) for j in range(10) if (i, j) not in taken and loads[j] < 6][:4]
    bound, pairs = best.certified_bound, np.array(sorted([*taken, *extra]))
    known = Certificate(None, bound, "certificate", None, None)
    dear = Plan.of(INSTANCE, "ip", known, bound, best.duals, pairs, method="exact", backend="highs")
    assert dear.objective is not None and dear.objective > best.objective and not dear.proven
    return made(tmp_path_factory.mktemp("forged"), INSTANCE, dear), best.objective


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


def spends(folder: Forged, **changes: float) -> Forged:
    return folder.says(spending={**folder.claims["spending"], **changes})


def best_of_all(folder: Forged, **changes: float) -> Forged:
    """No plan of the money leaves fewer wrong answers, it says."""
    return spends(folder, wrong_bound=folder.claims["spending"]["wrong"], **changes)


SPENDINGS: dict[str, Forgery] = {
    "the bound is the plan's own": best_of_all,
    "the bound is above the plan's own": lambda f: spends(f, wrong_bound=f.claims["spending"]["wrong"] + 1),
    **{f"prices of {x:.3g}": lambda f, x=x: best_of_all(f.prices(x, -x)).says(budget_dual=-x) for x in HUGE[1:5]},
    "no price of money": lambda f: best_of_all(f).says(budget_dual=0.0),
    "a reward for money": lambda f: best_of_all(f).says(budget_dual=1e6),
    "less money": lambda f: best_of_all(f, money=f.claims["cost"]),
    "fewer wrong": lambda f: spends(f, wrong=0.0),
    "a price of errors": lambda f: best_of_all(f).says(wrong_dual=-(2.0**60)),
}


@pytest.fixture(scope="module")
def fewest(folders: dict[str, Path]) -> float:
    """The fewest wrong answers known for what greedy spends."""
    greedy, best = (budget(EACH, money=20.0, method=method).wrong for method in ("greedy", "exact"))
    honest = verify(folders["spent"] / "campaign", folders["spent"] / "plan")
    assert honest.wrong_bound is not None and 0 < honest.wrong_bound < greedy
    return min(greedy, best)


@pytest.mark.parametrize("name", SPENDINGS)
def test_a_forged_promise_of_money_is_none(name, folders, fewest, tmp_path):
    """Greedy spends half; no bound can be written that says no plan of the money does better than it."""
    report = SPENDINGS[name](Forged(folders["spent"], tmp_path)).report()
    assert not report.holds or report.wrong_bound is None or report.wrong_bound <= fewest + 1e-9


EXACT, SHARED = replace(EACH, rule="exact-error"), replace(EACH, groups=[Group("g", [3, 4], max_share=0.3)])
MEAN = replace(EACH, rule="mean-error")
SHORT = AssignmentInstance([[0.9, 0.8, 0.85, 0.7]], [0] * 4, [2] * 4, 0.1, rule="exact-error")
MADE = {  # a campaign and a plan for it of each kind
    "rows": lambda: (INSTANCE, solve(INSTANCE, "highs")),
    "exact": lambda: (EXACT, solve(EXACT)),
    "mean": lambda: (MEAN, solve(MEAN)),
    "shares": lambda: (INSTANCE, solve(INSTANCE, program="lp")),
    "joint": lambda: (SHARED, solve(SHARED)),
    "spent": lambda: (EACH, budget(EACH, money=20.0, method="greedy").plan),
    "short": lambda: (SHORT, solve(SHORT)),  # a campaign that cannot be served, and what is made of it
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder for each kind, whose plan holds."""
    return {name: made(tmp_path_factory.mktemp(name), *make()) for name, make in MADE.items()}


def limits(folder: Forged, *lines: str) -> Forged:
    return folder.file("limits.csv", "limit,name,task,dual", *lines)


def as_shares(folder: Forged, value: str, rows: int | None = None) -> Forged:
    """So many labels as shares of this size; all of them if not said."""
    head, *pairs = folder.rows("assignment")
    return folder.says(program="lp").table("assignment", [[*head, "value"], *([*pair, value] for pair in pairs[:rows])])


def unpriced(folder: Forged, **claims: float) -> Forged:
    """Without multipliers nothing is proven."""
    folder.prices("", "").says(certified_bound=None, bound=None, gap=None, proof="none", proven=False)
    return folder.says(status="feasible", **claims)


def named(folder: Forged, *words: str) -> Forged:
    """Another word in the column of tasks that are short: where they are named, and where they are not."""
    return folder.column("tasks", "short", [words[task in folder.claims["short"]] for task in ALL])


def unnamed(folder: Forged) -> Forged:
    del folder.claims["short"]
    return folder.says(status="feasible")


ALL, NAN, NO_SHARES = ["0", "1", "2", "3"], float("nan"), "is about whole labels"
SAYS: dict[str, dict[str, Any]] = {  # what plan.json says that it cannot
    "rows": {"certified_by": "rows", "guarantee": "no answer is wrong", "difficulty": {"share": 0.5, "left": 0.2}},
    "joint": {"wrong_dual": -3.0},
    "exact": {"wrong_dual": -3.0, "budget_dual": -3.0, "beyond_campaign": ["the weather"], "certified_bound": NAN},
    "mean": {"wrong_dual": "much", "beyond_campaign": 7},
    "shares": {"spending": {"money": 9, "wrong": 0.0}, "repaired": {"labels": 5, "short": 0, "lacking": 0.0}},
    "short": {"short": "1", "bound": 0.0, "certified_bound": 0.0},
}
UNHELD: dict[tuple[str, str], tuple[str, Forgery]] = {
    **{
        (plan, f"{key} is {said}"): ("plan.json", lambda f, key=key, said=said: f.says(**{key: said}))
        for plan, claims in SAYS.items()
        for key, said in claims.items()
    },
    ("mean", "a price without multipliers"): ("wrong_dual says -3.0", lambda f: unpriced(f, wrong_dual=-3.0)),
    ("rows", "a repair of nothing"): ("repair.csv: is there", lambda f: f.file("repair.csv", "task,worker,change")),
    ("rows", "limits of no group"): ("limits.csv: is there", limits),
    ("joint", "a limit of a task that is none's"): ("task 'nowhere'", lambda f: limits(f, "max_share,g,nowhere,0")),
    ("joint", "an unknown group"): ("which the campaign does not have", lambda f: limits(f, "max_share,h,,-5")),
    ("shares", "lists of tasks beside shares"): ("queues: is there", lambda f: f.file("queues/0.csv", "task", "0")),
    ("spent", "a worth of labels"): ("labels_dual", lambda f: f.labels("x")),
    ("spent", "money without end"): ("plan.json", lambda f: spends(f, money=float("inf"))),
    ("spent", "wrong answers that are no number"): ("plan.json", lambda f: spends(f, wrong_bound=NAN)),
    ("exact", "a bound without end"): ("plan.json", lambda f: f.boasts(float("inf"))),
    ("exact", "labels called shares"): ("shares of labels", lambda f: as_shares(f, "1.0")),
    ("mean", "no labels, as shares"): ("shares of labels", lambda f: as_shares(f, "1.0", 0)),
    ("spent", "shares of nothing spend nothing"): (NO_SHARES, lambda f: as_shares(f, "0")),
    ("short", "all are excused"): ("", lambda f: named(f, "yes", "yes").says(short=ALL)),
    ("short", "none is named"): ("", lambda f: named(f, "no", "no").says(short=[])),
    ("short", "the others are"): ("", lambda f: named(f, "yes", "no")),
    ("short", "a task that is not there"): ("", lambda f: f.says(short=[*f.claims["short"], "nowhere"])),
    ("short", "it is called feasible"): ("", unnamed),
    ("short", "it is called optimal"): ("", lambda f: f.says(status="optimal", proven=True)),
    ("short", "a solver's bound"): ("", lambda f: f.boasts(certified=False).says(status="best effort", proof="solver")),
    ("short", "another target"): ("", lambda f: f.column("tasks", "target", 0.3)),
    ("short", "another error"): ("", lambda f: f.column("tasks", "vote_error", 0.001)),
}


@pytest.mark.parametrize("which", UNHELD, ids=": ".join)
def test_nothing_is_said_that_nothing_is_held_against(which, folders, tmp_path):
    """Whatever a folder says, of whatever kind its plan is, is looked at or refused.

    No task is excused that is served, none left out, and nothing is proven where one is short.
    """
    sentence, forgery = UNHELD[which]
    problems = forgery(Forged(folders[which[0]], tmp_path)).problems()
    assert any(sentence in problem for problem in problems), problems
