"""Where there is no plan for every task: as many are served as can be, and the others get the best that is left."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, Status, explain, solve, write_campaign
from crowdopt.assign.best_effort import best_effort, most_tasks
from crowdopt.core.clock import Clock
from crowdopt.crowd.vote_errors import CERTAIN, breaches, out_of_reach, short_tasks
from crowdopt.verbs.binding import SOLVERS
from crowdopt.verbs.budget import spend
from crowdopt.verbs.plans_said import why_not
from tests.assign.by_hand import SAME, choices, report_on, sets_of
from tests.checkers.plans import every_plan, table
from tests.draw import WISHES, campaign, campaigns
from tests.sampled import first_of
from tests.typed import run

SOLVER = 1e-6  # what a row of a program may be missed by


@st.composite
def short_campaigns(draw, rules=("bhattacharyya", "exact-error", None)):
    """Three tasks, five workers, little time and strict targets; some have prices, a budget or limits on labels."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    limits = {"min_labels": rng.integers(0, 4, 3)} if draw(st.booleans()) else {}
    if draw(st.booleans()):
        limits |= {"cost": rng.integers(1, 4, 5).astype(float), "budget": float(rng.integers(3, 25))}
    return AssignmentInstance(
        accuracy=rng.choice([0.55, 0.6, 0.7, 0.8, 0.9], (2, 5)),
        task_type=rng.integers(0, 2, 3),
        capacity=rng.integers(0, 4, 5),
        epsilon=rng.choice([0.02, 0.05, 0.1, 0.2, 0.3], 3),
        rule=draw(st.sampled_from(rules)),
        classes=draw(st.sampled_from([2, 3])),
        **limits,
    )


def excess_of(instance, task):
    """How far the error of each set is above the target; nothing where it serves the task."""
    _, errors, serves = sets_of(instance, task)
    return np.where(serves, 0.0, np.maximum(0.0, errors - instance.epsilon[task]))


def best_by_brute_force(instance):
    """The most tasks served; then the least sum of what the others' errors exceed; then the least cost."""
    sets = [sets_of(instance, task) for task in range(3)]
    rows, cost = choices(instance, sets)
    served = np.sum([sets[task][2][rows[:, task]] for task in range(3)], axis=0)
    rows, cost = rows[served == served.max()], cost[served == served.max()]
    above = np.sum([excess_of(instance, task)[rows[:, task]] for task in range(3)], axis=0)
    return int(served.max()), float(above.min()), float(cost[above <= above.min() + SAME].min())


def left_short(instance, pairs):
    """The tasks that these labels do not serve, and by how much each task errs too much."""
    found = []
    for task, mine in enumerate(table(instance, pairs)):
        labels, _, serves = sets_of(instance, task)
        place = int(np.flatnonzero((labels == mine).all(axis=1))[0])
        found.append((serves[place], excess_of(instance, task)[place]))
    serves, excess = zip(*found, strict=True)
    return np.flatnonzero(~np.array(serves)), np.array(excess)


@settings(max_examples=12)
@given(instance=short_campaigns())
def test_small_campaigns_serve_the_most_tasks_then_err_the_least_then_cost_the_least(instance, tmp_path_factory):
    """Against all 32,768 choices of labels, errors by arithmetic of its own; the cost where none is left short too.

    The folder alone holds, and says who is short.
    """
    served, above, cost = best_by_brute_force(instance)
    plan = solve(instance)
    assert plan.pairs is not None and 3 - plan.short.size == served and plan.found == (served == 3)
    assert (plan.status is Status.INFEASIBLE) == (served < 3)
    assert not breaches(instance, plan.pairs, short=plan.short)
    short, excess = left_short(instance, plan.pairs)
    assert short.tolist() == plan.short.tolist() and excess.sum() <= above + SOLVER
    assert plan.objective <= cost + SAME
    if plan.found:
        assert plan.proven and plan.objective >= cost - SAME and plan.bound <= cost + SOLVER
    report = report_on(instance, plan, tmp_path_factory.mktemp("short"))
    assert report.holds and report.short == plan.short.size, report.problems


@settings(max_examples=5)
@given(short_campaigns())
def test_beyond_a_few_sets_no_limit_is_broken_and_those_in_reach_are_served_where_time_is_not_short(instance):
    """The way of larger campaigns, on small ones: a task is left out only if nothing serves it, with time for all."""
    plenty = replace(instance, capacity=np.full(5, 3), budget=None, min_labels=np.zeros(3, np.int64))
    for one in (instance, plenty):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(import_module("crowdopt.assign.best_effort"), "_of_every_set", lambda *_: None)
            plan = solve(one)
        assert plan.pairs is not None
        assert short_tasks(one, plan.pairs).tolist() == plan.short.tolist()
        assert not breaches(one, plan.pairs, short=plan.short)
        assert 3 - plan.short.size <= best_by_brute_force(one)[0]
    all_can_do = np.array([excess_of(plenty, task).min() for task in range(3)])
    out = [not sets_of(plenty, task)[2].any() for task in range(3)]
    assert plan.short.tolist() == np.flatnonzero(out).tolist() and out_of_reach(plenty).tolist() == out
    assert np.allclose(left_short(plenty, plan.pairs)[1][plan.short], all_can_do[plan.short], atol=SAME)


@settings(max_examples=20)
@given(campaigns(12, wishes=[one for one in WISHES if one not in ("least-labels", "least-per-task")], spoiled=True))
def test_whatever_ties_tasks_the_most_of_them_are_served(instance):
    """Against every choice of labels that keeps all limits, by a checker of its own."""
    scarce = replace(instance, epsilon=instance.epsilon / 2)
    plans = list(every_plan(scarce, targets=False))
    plan = solve(scarce, time_limit=20)
    if not plans:
        assert plan.status is Status.INFEASIBLE and plan.pairs is None
        return
    assert plan.pairs is not None and not breaches(scarce, plan.pairs, short=plan.short)
    most = max(int((kept <= scarce.epsilon).sum()) for _, kept, _ in plans)
    assert instance.n_tasks - plan.short.size == most


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "rule"), [(0, "bhattacharyya"), (1, "exact-error")])
def test_nearly_as_many_are_served_as_a_linear_program_allows(seed, rule):
    """Three hundred tasks and too little time: within 2 % of what the bound of the search allows."""
    one = campaign(seed, 300, 25, f"{rule} targets forbidden", skills="six")
    scarce = replace(one, capacity=(0.7 * one.capacity).astype(int))
    plan = solve(scarce, time_limit=20)
    search = most_tasks(scarce, SOLVERS, Clock(20.0), 0)
    assert 300 - plan.short.size >= 0.98 * (300 - search.left)


@pytest.mark.parametrize(("seed", "rule"), [(0, "exact-error"), (1, "bhattacharyya")])
def test_who_goes_on_serves_no_task_less(seed, rule):
    """From a plan without the labels of a tenth of its tasks."""
    instance = campaign(seed, 40, 12, f"{rule} most-per-task least-per-task")
    plan = solve(instance, require="served", time_limit=3)
    gone = np.random.default_rng(seed).permutation(instance.n_tasks)[: instance.n_tasks // 10]
    left = plan.pairs[~np.isin(plan.pairs[:, 0], gone)]
    none = replace(plan, status=Status.UNDECIDED, pairs=None, partial=left)
    found = best_effort(none, 0, lambda *_: none, SOLVERS, Clock(5.0))
    assert found.pairs is not None and not breaches(instance, found.pairs, short=found.short)
    assert found.short.size <= short_tasks(instance, left).size


def test_exit_statuses_and_what_is_written(tmp_path):
    """1 with the plan written; with --require served 1 and none; 0 where every task is served."""
    instance = AssignmentInstance([[0.9, 0.9, 0.9], [0.6, 0.6, 0.6]], [0, 1], [2, 2, 2], 0.1, rule="exact-error")
    write_campaign(instance, tmp_path / "c")
    for place, words, code, said in (
        ("none", ["--require", "served"], 1, "infeasible"),
        ("short", [], 1, "1 of 2 tasks are served"),
        ("mean", ["--rule", "mean-error"], 1, "on average, target"),
        ("whole", ["--epsilon", "0.4"], 0, "proven optimal"),
    ):
        done = run("solve", tmp_path / "c", *words, "-o", tmp_path / place)
        assert done.exit_code == code and said in done.output, done.output
        assert (tmp_path / place / "queues").is_dir() == (place != "none")
        if place == "short":
            assert "task 1: 3 labels, error 0.352, target 0.1" in done.output and "way out: " in done.output


@pytest.mark.parametrize("rule", ["exact-error", "bhattacharyya"])
def test_there_is_something_to_hand_out_though_nothing_is_found_or_proven_in_time(rule, tmp_path):
    """A thousandth of a second: what is short is said, and the folder holds; with strict there is none."""
    rng = np.random.default_rng(0)
    accuracy, capacity = rng.uniform(0.55, 0.95, (3, 60)), np.full(60, 25)
    instance = AssignmentInstance(accuracy, rng.integers(0, 3, 200), capacity, 0.02, rule=rule)
    plan = solve(instance, time_limit=1e-3)
    assert plan.pairs is not None and not breaches(instance, plan.pairs, short=plan.short)
    assert plan.short.tolist() == short_tasks(instance, plan.pairs).tolist()
    report = report_on(instance, plan, tmp_path)
    assert report.holds, report.problems
    strict = solve(instance, require="served", time_limit=1e-3)
    assert strict.found or strict.pairs is None


@pytest.mark.slow
def test_of_many_tasks_with_some_out_of_reach_no_others_are_short():
    """3000 tasks, of which five ask more than 800 workers know."""
    rng = np.random.default_rng(0)
    accuracy, kinds, epsilon = rng.uniform(0.55, 0.95, (3, 800)), rng.integers(0, 3, 3000), np.full(3000, 0.05)
    epsilon[:5] = 1e-300
    instance = AssignmentInstance(accuracy, kinds, np.full(800, 30), epsilon)
    plan = solve(instance, time_limit=10)
    assert plan.short.tolist() == [0, 1, 2, 3, 4] and plan.status is Status.INFEASIBLE
    assert not breaches(instance, plan.pairs, short=plan.short)


@settings(max_examples=5)
@given(instance=short_campaigns(["mean-error"]))
def test_an_average_out_of_reach_is_missed_by_as_little_as_can_be(instance, tmp_path_factory):
    """Against all 32,768 choices of labels; the folder holds."""
    sets = [sets_of(instance, task) for task in range(3)]
    rows, cost = choices(instance, sets)
    mean = np.mean([errors[rows[:, task]] for task, (_, errors, _) in enumerate(sets)], axis=0)
    target, plan = instance.epsilon.mean() + CERTAIN, solve(instance)
    reached, kept = plan.exact_error[0].mean(), mean <= target
    if kept.any():
        assert plan.found and reached <= target and plan.objective >= cost[kept].min() - SAME
        return
    assert plan.status is Status.INFEASIBLE and reached == pytest.approx(mean.min(), abs=SOLVER)
    assert plan.objective <= cost[mean <= mean.min() + SAME].min() + SAME
    assert solve(instance, require="served").pairs is None
    assert report_on(instance, plan, tmp_path_factory.mktemp("mean")).holds


def test_an_average_out_of_reach_is_bought_label_by_label_where_sets_are_many(tmp_path):
    """All labels that help: no task errs more than by the same money spent by greedy alone."""
    rng = np.random.default_rng(0)
    skills, room = rng.uniform(0.55, 0.95, (3, 10)), np.full(10, 6)
    instance = AssignmentInstance(skills, rng.integers(0, 3, 30), room, 0.001, rule="mean-error")
    plan = solve(instance, time_limit=3)
    assert plan.status is Status.INFEASIBLE and plan.short.size
    assert plan.exact_error[0].mean() <= spend(instance, 60.0, method="greedy").wrong / 30 + SAME
    assert report_on(instance, plan, tmp_path).holds


@pytest.mark.parametrize("method", ["exact", "highs"])
def test_where_the_linear_program_has_no_plan_whole_labels_are_handed_out(method, tmp_path):
    """Two of forty tasks are out of reach; the others are served, and the folder holds."""
    rng = np.random.default_rng(0)
    epsilon = np.where(np.arange(40) < 2, 1e-30, 0.1)
    skills = rng.uniform(0.55, 0.95, (2, 12))
    instance = AssignmentInstance(skills, rng.integers(0, 2, 40), np.full(12, 40), epsilon)
    plan = solve(instance, method, program="lp", time_limit=3)
    assert plan.program == "ip" and plan.short.tolist() == [0, 1] and plan.status is Status.INFEASIBLE
    assert solve(instance, method, require="served", program="lp").pairs is None
    assert report_on(instance, plan, tmp_path).holds


def test_where_the_promise_has_no_linear_program_its_own_plan_is_handed_out():
    """Three labels of .8 keep .11 by exact errors, no five by sums: asked for shares, one gets the exact plan."""
    instance = AssignmentInstance([[0.8] * 5], [0] * 4, [4] * 5, 0.11)
    plan = solve(instance, program="lp")
    assert plan.found and plan.program == "ip" and plan.instance.rule == "exact-error" and not plan.promise
    assert plan.objective == solve(instance).objective == 12 and "rule bhattacharyya gave no plan" in plan.note
    strict = solve(instance, require="served", program="lp")
    assert strict.status is Status.INFEASIBLE and strict.instance.rule == "bhattacharyya"


@pytest.mark.parametrize("rule", ["hoeffding", "bhattacharyya", "probit", "exact-error", "mean-error"])
@pytest.mark.parametrize("program", first_of(["ip", "lp"]))
def test_every_rule_out_of_reach_hands_something_out_and_explain_says_the_same(rule, program, tmp_path):
    """Solve, explain and verify of a campaign whose target no labels keep, at any rule, with or without shares."""
    draws = np.random.default_rng(1)
    skills = np.round(draws.uniform(0.6, 0.85, (2, 6)), 2)
    instance = AssignmentInstance(skills, draws.integers(0, 2, 8), np.full(6, 4), 0.02, rule=rule)
    plan = solve(instance, program=program, gap=0.0)
    assert plan.status is Status.INFEASIBLE and len(plan.pairs) and plan.short.size
    assert report_on(instance, plan, tmp_path).holds
    known = explain(instance)
    assert not known.feasible and known.sentences[0] == why_not(solve(instance, require="served", gap=0.0))[0]


@pytest.mark.parametrize("epsilon", [0.001, 0.2])
def test_targets_out_of_reach_of_confusion_tables(epsilon):
    """No exact error is known of them: the most tasks are served by their own rule, and every limit is kept."""
    table = np.array([[[0.9, 0.1], [0.2, 0.8]], [[0.9, 0.1], [0.1, 0.9]]])
    instance = AssignmentInstance(np.full((1, 2), 0.5), np.zeros(4, np.int64), [2, 2], epsilon, rule="bhattacharyya")
    plan = solve(instance.with_confusion(table[None]), time_limit=20)
    assert plan.short is not None and plan.short.size == 4
    assert (plan.loads <= 2).all() and len(np.unique(plan.pairs, axis=0)) == len(plan.pairs) == 4
