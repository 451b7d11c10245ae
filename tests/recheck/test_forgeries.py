"""Proofs forged in several cells at once: no writer of a plan folder can make verify call a dear plan optimal."""

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

from crowdopt import AssignmentInstance, Group, InputError, assign, budget, verify, write_campaign, write_plan
from crowdopt.assign.plan import Plan
from crowdopt.core.certificate import Certificate

INSTANCE = AssignmentInstance(
    np.random.default_rng(5).uniform(0.55, 0.95, (2, 10)), np.arange(8) % 2, np.full(10, 6), 0.15, budget=75.0
)
Table = list[list[str]]


class Folder:
    """A plan folder whose cells can be set at will."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.claims: dict[str, Any] = json.loads((place / "plan.json").read_text(encoding="utf-8"))
        self.tables = {
            name: list(csv.reader((place / f"{name}.csv").read_text(encoding="utf-8").splitlines()))
            for name in ("tasks", "workers")
        }

    def column(self, table: str, name: str, values: Any) -> Folder:
        """Set a whole column, adding it if it is not there."""
        rows = self.tables[table]
        size = len(rows) - 1
        cells = [values] * size if isinstance(values, str | float | int) else list(values)
        if name not in rows[0]:
            rows[0].append(name)
            for row in rows[1:]:
                row.append("")
        place = rows[0].index(name)
        for row, cell in zip(rows[1:], cells, strict=True):
            row[place] = cell if isinstance(cell, str) else repr(float(cell))
        return self

    def prices(self, task: Any, worker: Any) -> Folder:
        """Multipliers of tasks and workers."""
        return self.column("tasks", "dual", task).column("workers", "dual", worker)

    def says(self, **claims: Any) -> Folder:
        """Set what plan.json says; None as a value stays, MISSING takes the key away."""
        self.claims.update(claims)
        return self

    def boasts(self, bound: float | None = None, form: str = "rows") -> Folder:
        """Call the plan proven optimal, with everything that goes with it."""
        value = self.claims["objective"] if bound is None else bound
        gap = (self.claims["objective"] - value) / max(1.0, abs(self.claims["objective"]))
        claims = {"bound": value, "certified_bound": value, "gap": gap, "proven": True, "status": "optimal"}
        return self.says(**claims, proof="certificate", certified_by=form)

    def write(self) -> Path:
        """Back to disk."""
        (self.place / "plan.json").write_text(json.dumps(self.claims), encoding="utf-8")
        for name, rows in self.tables.items():
            with (self.place / f"{name}.csv").open("w", newline="") as file:
                csv.writer(file).writerows(rows)
        return self.place


HUGE = [2.0**10, 2.0**30, 2.0**52, 2.0**53, 2.0**60, 2.0**100, 1e200, 1e308]
Forgery = Callable[[Folder], Folder]
FORGERIES: dict[str, Forgery] = {
    "boast": lambda f: f.boasts(),
    "boast of blocks": lambda f: f.boasts(form="blocks"),
    "boast of patterns": lambda f: f.boasts(form="patterns").says(wrong_dual=-1.0, levels=100),
    "boast of a curve": lambda f: f.boasts(form="curve").says(certified_bound=None),
    "boast of a form that is none": lambda f: f.boasts(form="honour"),
    "bound above the cost": lambda f: f.boasts(bound=f.claims["objective"] + 2),
    "bound just above the optimum": lambda f: f.boasts(bound=f.claims["objective"] - 1),
    **{f"both of {x:.3g}": lambda f, x=x: f.prices(x, -x / 2).boasts() for x in HUGE},
    **{f"workers of {x:.3g}": lambda f, x=x: f.prices(1.0, x).boasts() for x in HUGE[2:6]},
    **{f"blocks of {x:.3g}": lambda f, x=x: f.prices(x, -x).boasts(form="blocks") for x in HUGE[2:6]},
    **{f"budget of -{x:.3g}": lambda f, x=x: f.prices(x, 0.0).says(budget_dual=-x).boasts() for x in HUGE[2:6]},
    **{
        f"label limits of {x:.3g}": lambda f, x=x: f.column("tasks", "labels_dual", x).prices(x, 0.0).boasts()
        for x in HUGE[2:6]
    },
    "label limits cancel": lambda f: f.column("tasks", "labels_dual", -(2.0**60)).prices(2.0**60, 0.0).boasts(),
    "budget that pays": lambda f: f.says(budget_dual=5.0).boasts(),
    "prices not numbers": lambda f: f.prices("nan", "nan").boasts(),
    "prices infinite": lambda f: f.prices("inf", "-inf").boasts(),
    "prices of 1e999": lambda f: f.prices("1e999", "-1e999").boasts(),
    "one task pays for all": lambda f: f.prices([2.0**60] + [0.0] * 7, 0.0).boasts(),
    "one worker pays for all": lambda f: f.prices(10.0, [2.0**60] + [0.0] * 9).boasts(),
    "patterns with a reward": lambda f: f.prices(0.0, 1.0).says(wrong_dual=1e9, levels=1).boasts(form="patterns"),
    "patterns with no levels": lambda f: f.says(wrong_dual=-1.0, levels=0).boasts(form="patterns"),
    "patterns of huge prices": lambda f: (
        f.prices(0.0, -(2.0**60)).says(wrong_dual=-(2.0**60), levels=5).boasts(form="patterns")
    ),
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
def wasteful(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, float]:
    """A campaign, the folder of a plan that buys labels without need, and the true optimum."""
    place = tmp_path_factory.mktemp("forged")
    best = assign(INSTANCE, "highs")
    assert best.proven and best.objective is not None and best.pairs is not None and best.duals is not None
    spare = [(i, j) for i in range(8) for j in range(10) if not (best.pairs == (i, j)).all(axis=1).any()]
    loads = np.bincount(best.pairs[:, 1], minlength=10)
    extra = [(i, j) for i, j in spare if loads[j] < 6][:4]
    pairs = np.array(sorted([*map(tuple, best.pairs.tolist()), *extra]))
    known = Certificate(None, best.certified_bound, "certificate", None, None)
    dear = Plan.of(INSTANCE, "ip", known, best.certified_bound, best.duals, pairs, method="exact", backend="highs")
    assert dear.objective is not None and dear.objective > best.objective and not dear.proven
    write_campaign(INSTANCE, place / "campaign")
    write_plan(dear, place / "plan")
    assert verify(place / "campaign", place / "plan").holds
    return place / "campaign", place / "plan", best.objective


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_proof_is_no_proof(name, wasteful, tmp_path):
    """Either the folder is refused, or what verify confirms of the campaign as it stands is true."""
    campaign, plan, optimum = wasteful
    shutil.copytree(plan, tmp_path / "plan")
    forged = FORGERIES[name](Folder(tmp_path / "plan")).write()
    try:
        report = verify(campaign, forged)
    except InputError as error:
        assert "tasks.csv" in str(error) or "plan.json" in str(error)
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
        for x in HUGE[2:7]
    },
    "no price of money": lambda f: _spends(f, wrong_bound=f.claims["spending"]["wrong"]).says(budget_dual=0.0),
    "a reward for money": lambda f: _spends(f, wrong_bound=f.claims["spending"]["wrong"]).says(budget_dual=1e6),
    "less money": lambda f: _spends(f, money=f.claims["cost"], wrong_bound=f.claims["spending"]["wrong"]),
    "fewer wrong": lambda f: _spends(f, wrong=0.0),
    "called patterns": lambda f: _spends(f, wrong_bound=f.claims["spending"]["wrong"]).says(
        certified_by="patterns", wrong_dual=-(2.0**60), levels=3
    ),
}


def _spends(folder: Folder, **changes: float) -> Folder:
    return folder.says(spending={**folder.claims["spending"], **changes})


@pytest.fixture(scope="module")
def spent(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, float]:
    """A campaign, the folder of what greedy buys for 20, and the fewest wrong answers known for that money."""
    place = tmp_path_factory.mktemp("spent")
    instance = AssignmentInstance(INSTANCE.accuracy, INSTANCE.task_type, INSTANCE.capacity, 0.15)
    write_campaign(instance, place / "campaign")
    greedy = budget(instance, money=20.0, method="greedy")
    write_plan(greedy.plan, place / "plan")
    honest = verify(place / "campaign", place / "plan")
    assert honest.holds and honest.wrong_bound is not None and 0 < honest.wrong_bound < greedy.wrong
    best = budget(instance, money=20.0, method="patterns:pools=6").wrong
    return place / "campaign", place / "plan", min(best, greedy.wrong)


@pytest.mark.parametrize("name", SPENDINGS)
def test_a_forged_promise_of_money_is_none(name, spent, tmp_path):
    """Greedy spends half; no bound can be written that says no plan of the money does better than it."""
    campaign, plan, fewest = spent
    shutil.copytree(plan, tmp_path / "plan")
    forged = SPENDINGS[name](Folder(tmp_path / "plan")).write()
    report = verify(campaign, forged)
    if report.holds:
        assert report.wrong_bound is None or report.wrong_bound <= fewest + 1e-9


EACH = AssignmentInstance(INSTANCE.accuracy, INSTANCE.task_type, INSTANCE.capacity, 0.15)
MADE = {  # a campaign and a plan for it of each kind
    "rows": lambda: (INSTANCE, assign(INSTANCE, "highs")),
    "exact": lambda: (replace(EACH, rule="exact-error"), assign(replace(EACH, rule="exact-error"), method="patterns")),
    "shares": lambda: (INSTANCE, assign(INSTANCE, program="lp")),
    "joint": lambda: (grouped := replace(EACH, groups=[Group("g", [3, 4], max_share=0.3)]), assign(grouped)),
    "spent": lambda: (EACH, budget(EACH, money=20.0, method="greedy").plan),
}


def _file(name: str, *lines: str) -> Forgery:
    def change(folder: Folder) -> Folder:
        path = folder.place / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return folder

    return change


UNHELD: dict[tuple[str, str], tuple[str, Forgery]] = {
    ("rows", "levels of no patterns"): ("levels says 7", lambda f: f.says(levels=7)),
    ("rows", "true levels"): ("levels says True", lambda f: f.says(levels=True)),
    ("joint", "a price of wrong answers"): ("wrong_dual says -3.0", lambda f: f.says(wrong_dual=-3.0)),
    ("exact", "a price that no rule asks for"): ("wrong_dual says -3.0", lambda f: f.says(wrong_dual=-3.0)),
    ("exact", "a price of no budget"): ("budget_dual says -3.0", lambda f: f.says(budget_dual=-3.0)),
    ("exact", "a proof without multipliers"): (
        "no multipliers are there",
        lambda f: (f.prices("", "").says(certified_bound=None, bound=None, gap=None, proof="none", proven=False)).says(
            status="feasible"
        ),
    ),
    ("joint", "prices of money where none is spent"): (
        "spends no sum of money",
        lambda f: f.says(certified_by="curve", certified_bound=None),
    ),
    ("rows", "a repair of nothing"): (
        "repair.csv: is there",
        _file("repair.csv", "task,worker,change", "0,0,removed"),
    ),
    ("rows", "limits of no group"): ("limits.csv: is there", _file("limits.csv", "limit,name,task,dual")),
    ("joint", "a limit of a task that is none's"): (
        "names the task 'nowhere'",
        _file("limits.csv", "limit,name,task,dual", "max_share,g,nowhere,0"),
    ),
    ("joint", "a multiplier of an unknown group"): (
        "which the campaign does not have",
        _file("limits.csv", "limit,name,task,dual", "max_share,h,,-5"),
    ),
    ("shares", "lists of tasks beside shares"): ("queues: is there", _file("queues/0.csv", "task", "0")),
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
    ("exact", "a bound without end"): ("plan.json", lambda f: f.boasts(float("inf"), "patterns")),
    ("exact", "a certified bound that is no number"): ("plan.json", lambda f: f.says(certified_bound=float("nan"))),
    ("exact", "levels beyond all bounds"): (
        "prove nothing",
        lambda f: f.says(certified_by="patterns", wrong_dual=0.0, levels=10**6),
    ),
    ("exact", "levels below none"): (
        "prove nothing",
        lambda f: f.says(certified_by="patterns", wrong_dual=0.0, levels=-1),
    ),
    ("exact", "an exact proof of shares"): (
        "shares of labels",
        lambda f: _shared(f.says(program="lp")),
    ),
}


def _shared(folder: Folder) -> Folder:
    path = folder.place / "assignment.csv"
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([f"{header},value", *(f"{row},1.0" for row in rows)]) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder for each kind: its campaign and its plan, which holds."""
    places = {}
    for name, make in MADE.items():
        places[name] = place = tmp_path_factory.mktemp(name)
        instance, plan = make()
        write_campaign(instance, place / "campaign")
        write_plan(plan, place / "plan")
        assert verify(place / "campaign", place / "plan").holds
    return places


@pytest.mark.parametrize("which", UNHELD, ids=lambda which: f"{which[0]}: {which[1]}")
def test_nothing_is_said_that_nothing_is_held_against(which, made, tmp_path):
    """Whatever a folder says, of whatever kind its plan is, is looked at or refused."""
    (name, _), (sentence, forgery) = which, UNHELD[which]
    shutil.copytree(made[name] / "plan", tmp_path / "plan")
    forged = forgery(Folder(tmp_path / "plan")).write()
    try:
        report = verify(made[name] / "campaign", forged)
    except InputError as error:
        assert sentence in str(error)
        return
    assert any(sentence in problem for problem in report.problems), report.problems
    assert not report.holds and not report.proven
