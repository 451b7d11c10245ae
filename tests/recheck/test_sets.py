"""What whole sets prove: the least set of each task within its limits, against all sets there are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, Group, OwnRows, verify
from crowdopt.assign.plan import Duals, Plan
from crowdopt.core.certificate import Certificate
from crowdopt.crowd import alike
from crowdopt.io.tables import Table
from crowdopt.recheck import bounds
from crowdopt.recheck.bounds import JointPull, joint_pull, prove_sets
from crowdopt.recheck.findings import Report
from tests.checkers.plans import sets_of
from tests.draw import campaign, campaigns
from tests.recheck.forged import Forged, made

NEAR = 1e-7
Line = tuple[str, str, str, float]  # limit, name, task, dual


def drawn_lines(rng: np.random.Generator, instance: AssignmentInstance, scale: float) -> list[Line]:
    """A multiplier of either sign for each of them, so that some pull on a side that is not there."""
    lines = [(limit, group.name, "") for limit in ("max_share", "min_share") for group in instance.groups]
    tasks = [instance.task_id(i) for i in range(instance.n_tasks) if rng.random() < 0.2]
    lines += [("per_task", group.name, task) for group in instance.groups for task in tasks]
    lines += [("row", name, "") for name in (instance.own_rows.names if instance.own_rows else ())]
    return [(*line, float(dual)) for line, dual in zip(lines, scale * rng.normal(size=len(lines)), strict=True)]


def read(instance: AssignmentInstance, lines: list[Line]) -> JointPull:
    """The lines as verify takes them."""
    limit, name, task, dual = zip(*lines, strict=True) if lines else ((), (), (), ())
    columns = {"limit": list(limit), "name": list(name), "task": list(task), "dual": list(map(repr, dual))}
    report = Report()
    pull = joint_pull(instance, Table(Path("limits.csv"), columns, len(lines)), report)
    assert not report.problems
    return pull


def row_of(instance: AssignmentInstance, line: Line) -> tuple[np.ndarray, float, float]:
    """What a limit counts of each pair, (tasks, workers), and its sides."""
    limit, name, task, _ = line
    counts = np.zeros((instance.n_tasks, instance.n_workers))
    if limit == "row":
        own = instance.own_rows
        place = list(own.names).index(name)
        np.add.at(counts, tuple(own.pairs[own.row == place].T), own.coefficient[own.row == place])
        return counts, own.lower[place], own.upper[place]
    group = next(one for one in instance.groups if one.name == name)
    inside = np.isin(np.arange(instance.n_workers), group.members)
    had = [i for i, j in instance.collected.tolist() if inside[j]]
    if limit == "per_task":
        i = [instance.task_id(k) for k in range(instance.n_tasks)].index(task)
        counts[i] = inside
        most = np.inf if group.max_per_task is None else max(0, group.max_per_task - had.count(i))
        return counts, max(0, group.min_per_task - had.count(i)), most
    share = group.max_share if limit == "max_share" else group.min_share
    counts += inside - share
    side = share * len(instance.collected) - len(had)
    return (counts, -np.inf, side) if limit == "max_share" else (counts, side, np.inf)


def by_all_sets(instance: AssignmentInstance, worker: np.ndarray, budget: float, lines: list[Line]) -> list[float]:
    """The bound's sum with every task's sets tried one by one, and all groups heeded; and the size of its terms."""
    money = 0.0 if instance.budget is None else budget
    load = np.where((worker > 0) & (instance.min_load == 0), 0.0, worker)
    terms = [money * (instance.budget or 0.0)]
    room = np.minimum(instance.capacity, instance.n_tasks)
    terms += (np.where(load > 0, instance.min_load, room) * load).tolist()
    price = (1 - money) * instance.cost[instance.task_type] - load
    for line in lines:
        counts, low, high = row_of(instance, line)
        side = low if line[3] > 0 else high
        if abs(side) < np.inf:
            terms.append(line[3] * side)
            price = price - line[3] * counts
    for i in range(instance.n_tasks):
        terms.append(min((float(row[3] @ price[i]) for row in sets_of(instance, i)), default=np.inf))
    return [sum(terms), sum(map(abs, terms))]


@settings(max_examples=25)
@given(campaigns(10), st.integers(0, 2**31), st.sampled_from([0.1, 1.0, 1000.0]))
def test_the_bound_is_the_least_of_all_sets(instance, seed, scale):
    """It is that sum up to 1e-7 of its terms, groups apart or not; with overlaps left out never more.

    Where tasks are hard it lies below: votes that know which are would do with fewer labels.
    """
    rng = np.random.default_rng(seed)
    instance = replace(instance, capacity=np.maximum(1, instance.capacity))  # sets may have who has no room, or not
    heeds = instance.rule in ("exact-error", "bhattacharyya") and (instance.dependence == 1).all()
    if heeds and not instance.difficulty.share and rng.random() < 0.3:
        instance = replace(instance, observed=True)
    worker, budget = scale * rng.normal(size=instance.n_workers), -abs(float(rng.normal()))
    lines = drawn_lines(rng, instance, scale)
    joint, (right, size) = read(instance, lines), by_all_sets(instance, worker, budget, lines)
    proven = prove_sets(instance, worker, budget, joint)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alike, "WAYS", 0)
        assert prove_sets(instance, worker, budget, joint) <= proven
    if np.isposinf(right):
        assert proven == np.inf or instance.difficulty.share
        return
    assert proven <= right + 1e-12 * size
    assert proven >= right - NEAR * max(1.0, size) or instance.difficulty.share


@settings(max_examples=15)
@given(st.integers(0, 2**31), st.sampled_from(["targets forbidden most-per-task least-labels", "difficulty priors"]))
def test_tasks_alike_but_for_needs_and_whom_they_bar_have_their_own_least_sets(seed, wishes):
    """Sets found for one task and used for others prove neither more nor less than each task's own.

    Hard tasks too: no label has a price below 0 here, so that none comes unasked.
    """
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(3, 9)), int(rng.integers(3, 8))
    instance = campaign(rng, n, m, wishes, skills="three", task_type=np.zeros(n, int))
    worker = -rng.integers(0, 8, m) / 8 if "difficulty" in wishes else rng.choice([-0.5, 0.0, 0.25, 0.75], m)
    proven = prove_sets(instance, worker, 0.0, read(instance, []))
    right, size = by_all_sets(instance, worker, 0.0, [])
    assert right - NEAR * max(1.0, size) <= proven <= right + 1e-12 * size


def test_few_partial_sets_are_enough_for_many_labels(monkeypatch):
    """800 labels of unequal prices: the least set is found with a small part of the room that is there.

    Evidence is in whole units here, so a table over units has the least set exactly.
    """
    rng, labels, need = np.random.default_rng(0), 800, 2000
    units, best = rng.integers(200, 700, labels), np.append(0.0, np.full(need, np.inf))
    cost = units / 700 + np.abs(rng.normal(0, 0.05, labels))
    for unit, price in zip(units.tolist(), cost.tolist(), strict=True):
        took = np.concatenate([np.full(unit, best[0]), best])[: need + 1]
        best = np.minimum(best, took + price)
    monkeypatch.setattr(bounds, "STATES", 1_000)
    anybody, none, no_most = np.zeros(labels, np.int64), np.zeros(2, np.int64), np.full(2, -1)
    value, _, _ = bounds._least(cost, units / 700, need / 700, anybody, none, no_most)
    assert value == pytest.approx(best[need], rel=1e-7)


def certified(place: Path, instance: AssignmentInstance, labels: list, claimed: float, joint: dict | None = None):
    """Campaign and plan of these labels, certified by sets; joint: multipliers of joint limits, else none at all."""
    n, m = instance.n_tasks, instance.n_workers
    duals = Duals(np.zeros(n), np.zeros(m), np.zeros(n), joint=joint or {})
    known = Certificate(None, claimed, "certificate", None, None)
    plan = Plan.of(instance, "ip", known, claimed, duals, np.array(labels), method="exact", backend="highs")
    return made(place, instance, plan)


@pytest.mark.parametrize("dual", ["", "-1e308", "-1e200"])
def test_what_sets_do_not_prove_is_refused(dual, tmp_path):
    """One task, four workers of .9: three labels reach .028, and the group of the two cheap ones may give one only.

    No multiplier at all: the errors and the limits of the sets alone prove 11.75, what the plan costs, and no more.
    Prices whose sums are no numbers, or nothing but rounding, give no bound that stands.
    """
    limits = {"rule": "exact-error", "groups": [Group("near", (0, 1), max_per_task=1)]}
    one = AssignmentInstance([[0.9] * 4], [0], np.ones(4, int), 0.05, cost=[1.25, 1.25, 5.25, 5.25], **limits)
    forged = Forged(certified(tmp_path / "honest", one, [[0, 0], [0, 2], [0, 3]], 11.75), tmp_path)
    if dual:
        assert forged.column("workers", "dual", dual).problems()
    else:
        assert "certified_bound says 11.751" in forged.says(certified_bound=11.751).problems()[0]


COST = 5.5  # one cheap label and one dear one, as each of the limits below asks
PAIRS = np.array([[0, 2], [1, 2]] * 2)  # at least one dear label; and a row that holds whatever the plan is
ROWS = OwnRows(["dear", "idle"], np.array([0, 0, 1, 1]), PAIRS, np.ones(4), np.array([1.0, -1]), np.array([np.inf, 9]))
LIMITS = {  # what is asked, and the multiplier that proves it
    "own": ("row", "dear", 3.0, {"own_rows": ROWS}),
    "most_share": ("max_share", "cheap", -3.0, {"groups": [Group("cheap", (0, 1), max_share=0.5)]}),
    "least_share": ("min_share", "dear", 3.0, {"groups": [Group("dear", (2,), min_share=0.5)]}),
}
SAYS, UNKNOWN = f"certified_bound says {COST}", "which the campaign does not have"


@pytest.mark.parametrize("block", LIMITS)
@pytest.mark.parametrize("rule", ["bhattacharyya", "exact-error"])
def test_multipliers_of_joint_limits_prove_what_they_prove(block, rule, tmp_path):
    """Two tasks of one label each, two workers at 1.25, one at 4.25: no more than 2.5 without the multiplier.

    With it the dear label is priced as the cheap ones are, and the limit's side pays the difference. None, half of it,
    twice, of the other sign and so on a side that is not there: none proves what is claimed. Without measure, alone or
    two that cancel: rounding is taken off, and sums that are no numbers are no proof. Rows, groups, limits and tasks
    that the campaign does not have are refused, and a table of what is no number is not read at all.
    """
    limit, name, dual, asked = LIMITS[block]
    one = AssignmentInstance([[0.9] * 3], [0, 0], [2] * 3, 0.4, rule=rule, cost=[1.25, 1.25, 4.25], **asked)
    duals = {block: np.array([dual] + [0.0] * (block == "own"))}
    folder = certified(tmp_path / "honest", one, [[0, 0], [1, 2]], COST, duals)
    assert verify(folder / "campaign", folder / "plan").certified_bound == pytest.approx(COST, abs=1e-9)
    forged = [([(limit, name, "", other)], SAYS) for other in (0.0, dual / 2, 2 * dual, -dual, -1e6 * dual)]
    for size in (2.0**60, 1e308):
        sums = [size], [-size], [size, -size], [size, size], [dual, size, -size]
        forged += [([(limit, name, "", other) for other in some], "") for some in sums]
    forged += [([(*line, "", dual)], UNKNOWN) for line in ((limit, "nobody"), ("share", name))]
    forged += [([("per_task", "nobody", "0", dual)], UNKNOWN), ([(limit, name, "0", dual)], "names the task '0'")]
    forged += [([("row", "idle", "", dual)], SAYS)] if limit == "row" else []
    cells = ("nan", "-inf", "1e999", "", "1_0")
    forged += [([(limit, name, "", cell)], "limits.csv, line 2, column dual") for cell in cells]
    for k, (lines, said) in enumerate(forged):
        text = [",".join(map(str, line)) for line in lines]
        other = Forged(folder, tmp_path / str(k)).file("limits.csv", "limit,name,task,dual", *text)
        assert any(said in problem for problem in other.problems()), lines


def test_multipliers_that_pay_for_labels_prove_no_more_than_the_optimum():
    """Least loads bring prices below nothing, and groups stop labels from being taken for them: 14 is the optimum."""
    groups = [Group("a", [1, 2, 6], max_per_task=2), Group("b", [0, 4, 5], max_per_task=1)]
    limits = {"groups": groups, "cost": [1, 3, 5, 3, 2, 2, 4], "min_load": [0, 1, 0, 0, 0, 0, 1]}
    skills = [[0.79, 0.71, 0.69, 0.84, 0.96, 0.96, 0.83]]
    one = AssignmentInstance(skills, [0, 0], [2] * 7, [0.0443, 0.0345], rule="exact-error", **limits)
    worker = np.array([0.0, 58.36528776653656, -0.0517, -0.7177276391820914, -0.2767, -0.0927, 58.61066287720054])
    assert prove_sets(one, worker, 0.0, JointPull.none(one)) <= 14 + 1e-9
