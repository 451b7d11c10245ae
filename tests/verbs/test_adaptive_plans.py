"""solve --method adaptive as users meet it: call, verb, the second Monday, and what is refused in a sentence."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import crowdopt
from crowdopt import Adaptive, AssignmentInstance, Group, InputError, solve, verify, write_campaign
from crowdopt.assign.cascade.panels import vote_panel
from crowdopt.crowd.groups import OwnRows
from tests.typed import run

PANEL = AssignmentInstance(
    [[0.94, 0.9, 0.76, 0.66], [0.98, 0.88, 0.86, 0.82]],
    np.arange(24) % 2,
    [12, 24, 24, 24],
    0.05,
    cost=[3.0, 1.0, 0.4, 0.2],
    tasks=[f"item {i}=*%" for i in range(24)],
    workers=["large one", "medium=*", "small%", "tiny"],
    types=["code", "facts, all"],
    class_names=["no way", "yes=1"],
)


@pytest.fixture
def campaign(tmp_path):
    write_campaign(PANEL, tmp_path / "c")
    return tmp_path / "c"


def test_ids_of_any_kind_come_back(campaign, tmp_path):
    """Blanks, signs of the policy's own cells, and per cent in ids of tasks, workers, types and classes."""
    done = run("solve", campaign, "--method", "adaptive", "-o", tmp_path / "p")
    assert done.exit_code == 0 and "proven optimal: no adaptive plan costs less" in done.output
    checked = run("verify", campaign, tmp_path / "p")
    assert checked.exit_code == 0 and "so it is optimal" in checked.output
    facts = json.loads(run("verify", campaign, tmp_path / "p", "--json").output)
    assert facts["holds"] and facts["proven"]


def test_rounds_of_labels_go_on_from_where_each_task_stands(campaign, tmp_path):
    """Rehearse, aggregate, solve again: every round's plan verifies, and in the end nothing is left to ask.

    Loads of all rounds keep the capacities themselves; the targets of a round are what the one before still errs with.
    """
    here, plan = campaign, tmp_path / "p0"
    asked, load = [solve(here, method=Adaptive(), output=plan)], np.zeros(4, np.int64)
    for k in range(1, 9):
        load += np.bincount(asked[-1].pairs[:, 1], minlength=4)
        labels = tmp_path / f"l{k}.csv"
        crowdopt.rehearse(here, plan, output=labels, truth=tmp_path / "truth.csv", seed=k)
        answered = crowdopt.aggregate(labels, plan=plan, campaign=here, output=tmp_path / f"a{k}")
        assert answered.onward.options == "adaptive"
        here, plan = tmp_path / f"a{k}" / "campaign", tmp_path / f"p{k}"
        asked.append(solve(here, method=Adaptive(), output=plan))
        assert asked[-1].instance.epsilon == pytest.approx(answered.onward.targets)
        report = verify(here, plan)
        assert report.holds, report.problems
    assert (load <= PANEL.capacity).all()
    assert len(asked[-1].pairs) == 0 and asked[-1].calls == pytest.approx(0.0, abs=1e-9)


def test_answers_that_are_sure_given_votes_stay_so_round_by_round(campaign, tmp_path):
    """Every round is solved for the first targets again, until it asks nothing more."""
    here, plan = campaign, tmp_path / "p0"
    first = ["--method", "adaptive:given-votes:expert=9:rounds=3"]
    assert run("solve", here, *first, "-o", plan).exit_code == 0
    for k in range(1, 9):
        labels, after = tmp_path / f"l{k}.csv", tmp_path / f"a{k}"
        crowdopt.rehearse(here, plan, output=labels, truth=tmp_path / "truth.csv", seed=k)
        answered = crowdopt.aggregate(labels, plan=plan, campaign=here, output=after)
        if not (answered.onward.asks and answered.onward.options):
            break
        assert (answered.onward.targets == 0.05).all()
        here, plan = after / "campaign", tmp_path / f"p{k}"
        assert run("solve", here, "--method", answered.onward.options, "-o", plan).exit_code == 0
        assert "as sure of each answer" in run("verify", here, plan).output
        assert json.loads(run("verify", here, plan, "--json").output)["given_votes"]
    else:
        raise AssertionError("it does not end")
    assert k > 1


def test_next_walks_the_policy_and_says_what_it_does_not_know(campaign):
    plan = solve(campaign, method=Adaptive())
    action, what = plan.next(task="item 0=*%")
    assert action == "ask" and set(what) <= set(PANEL.workers)
    with pytest.raises(InputError, match="several kinds"):
        plan.next()
    with pytest.raises(InputError, match="no worker"):
        plan.next({"nobody": "yes=1"}, task="item 0=*%")
    with pytest.raises(InputError, match="no class"):
        plan.next({"tiny": "perhaps"}, task="item 0=*%")
    with pytest.raises(InputError, match="never comes"):
        plan.next(dict.fromkeys(PANEL.workers, "yes=1"), task="item 0=*%")
    with pytest.raises(InputError, match="no task"):
        plan.next(task="item 99")


MANY = AssignmentInstance(np.random.default_rng(0).uniform(0.6, 0.9, (1, 30)), [0] * 9, [9] * 30, 0.1)
FOREIGN_TO_ORDERS = {
    "fixed pairs": {"fixed": [(0, 0)]},
    "min_labels": {"min_labels": np.ones(9, int)},
    "min_per_task": {"groups": [Group("g", [0, 1], min_per_task=1)]},
    "fewer judges": {"classes": 3, "prior": np.full(3, 1 / 3)},
}


@pytest.mark.parametrize("what", FOREIGN_TO_ORDERS)
def test_what_orders_do_not_keep_is_refused_in_a_sentence(what):
    """Many workers of own skills: what is not known there yet is named; the other limits are planned with."""
    with pytest.raises(InputError, match=what):
        solve(replace(MANY, **FOREIGN_TO_ORDERS[what]), method=Adaptive())
    rows = OwnRows(("r",), [0] * 9, [(i, 0) for i in range(9)], [1.0] * 9, [-np.inf], [1.0])
    kept = replace(MANY, own_rows=rows, min_load=[0, 2, *[0] * 28])
    assert verify(kept, solve(kept, method=Adaptive())).holds


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--method", "adaptive", "--gap", ".1", "--nodes", "9"], "gap and nodes"),
        (["--method", "adaptive", "--rule", "bhattacharyya"], "rule"),
        (["--method", "adaptive:rounds=0"], "rounds"),
        (["--method", "adaptive:expert=nan"], "expert"),
        (["--method", "adaptive:votes"], "no option 'votes'"),
    ],
)
def test_options_that_say_nothing_here_are_refused(words, said, campaign, tmp_path):
    done = run("solve", campaign, *words, "-o", tmp_path / "p")
    assert done.exit_code == 2 and said in done.output and not (tmp_path / "p").exists()


def test_no_plan_says_by_how_much_and_what_would_help(tmp_path):
    """Exit 1, proven; the least errors make a plan that verifies, unless all must be served; an expert makes one."""
    write_campaign(replace(PANEL, capacity=[1, 2, 24, 24], epsilon=np.asarray(0.02)), tmp_path / "c")
    done = run("solve", tmp_path / "c", "--method", "adaptive", "-o", tmp_path / "p")
    assert done.exit_code == 1 and "proven by multipliers" in done.output and "expert=" in done.output
    checked = run("verify", tmp_path / "c", tmp_path / "p")
    assert checked.exit_code == 0 and "times these, as it says" in checked.output
    done = run("solve", tmp_path / "c", "--method", "adaptive", "--require", "served", "-o", tmp_path / "strict")
    assert done.exit_code == 1 and not (tmp_path / "strict").exists()
    done = run("solve", tmp_path / "c", "--method", "adaptive:expert=9", "-o", tmp_path / "e")
    assert done.exit_code == 0 and "by the expert" in done.output
    assert verify(tmp_path / "c", tmp_path / "e").proven


def test_families_and_barred_pairs_are_kept(tmp_path):
    """One judge of a family per item, a judge who must not see some items, an item with few labels."""
    one = replace(
        PANEL,
        groups=[Group("g", [2, 3], max_per_task=1, dependent=True)],
        forbidden=[(i, 0) for i in range(0, 24, 3)],
        max_labels=np.where(np.arange(24) < 4, 2, 4),
        rule="exact-error",
    )
    plan = solve(one, method=Adaptive(expert=20.0))
    assert plan.proven and verify(one, plan).proven
    both = [row for row in plan.rows if {2, 3} <= {g for g, *_ in row.votes}]
    assert not both and not {(i, 0) for i in range(0, 24, 3)} & set(map(tuple, plan.pairs.tolist()))


def test_the_targets_of_the_next_round_are_those_of_this_one_on_average(tmp_path):
    """Over all ways in which the first votes can fall the expected error given them averages to the plan's own."""
    one = AssignmentInstance([[0.9, 0.8, 0.75]], [0], [1, 1, 1], 0.12, cost=[3.0, 1.0, 0.4], class_names=["a", "b"])
    write_campaign(one, tmp_path / "c")
    plan = solve(tmp_path / "c", method=Adaptive(rounds=2, expert=9.0), output=tmp_path / "p")
    panel, mean = vote_panel(one), 0.0
    for row in (row for row in plan.rows if row.round == 0 and not row.votes):
        mean += row.share * (0.5 if row.action == "answer" else 0.0)
        for after in panel.ahead(row.what, np.array([0]))[0][0].tolist() if row.action == "ask" else ():
            table = tmp_path / f"{row.what}{after}.csv"
            labels = [f"0,{j},{'ab'[k]}\n" for j, k, _ in panel.votes(after)]
            table.write_text("task,worker,label\n" + "".join(labels))
            answered = crowdopt.aggregate(table, plan=tmp_path / "p", campaign=tmp_path / "c")
            mean += row.share * float(panel.mass[after]) * float(answered.onward.targets[0])
    assert mean == pytest.approx(float(plan.errors[0]), rel=1e-6)


def test_money_left_is_what_the_next_round_may_spend(campaign, tmp_path):
    """The budget is for the campaign: labels that are paid come off."""
    write_campaign(replace(PANEL, budget=60.0), tmp_path / "paid")
    solve(tmp_path / "paid", method=Adaptive(), output=tmp_path / "p")
    crowdopt.rehearse(tmp_path / "paid", tmp_path / "p", output=tmp_path / "l.csv")
    answered = crowdopt.aggregate(
        tmp_path / "l.csv", plan=tmp_path / "p", campaign=tmp_path / "paid", output=tmp_path / "a"
    )
    left = crowdopt.read_campaign(tmp_path / "a" / "campaign").budget
    assert left == pytest.approx(60.0 - float(PANEL.prices(answered.new).sum())) and left < 60
    words = ["--plan", str(tmp_path / "p"), "--campaign", str(tmp_path / "paid"), "--accept", "-o", str(tmp_path / "b")]
    done = run("aggregate", tmp_path / "l.csv", *words)
    assert done.exit_code == 2 and "--accept" in done.output


def test_judges_who_are_always_right_or_wrong(tmp_path):
    """States that cannot be are left out; labels that cannot be are refused in a sentence."""
    one = AssignmentInstance([[1.0, 0.8, 0.0]], [0] * 6, [2, 6, 3], 0.05, cost=[1.0, 0.5, 2.0], class_names=["a", "b"])
    plan = solve(one, method=Adaptive(expert=9.0))
    assert plan.proven and verify(one, plan).proven
    had = replace(one, collected=[(0, 0), (0, 2)])
    write_campaign(had, tmp_path / "c", collected_labels=["a", "a"])
    done = run("solve", tmp_path / "c", "--method", "adaptive", "-o", tmp_path / "p")
    assert done.exit_code == 2 and "cannot be" in done.output
    with pytest.raises(InputError, match="give the campaign's folder"):
        solve(had, method=Adaptive())


def test_workers_whose_labels_tell_nothing_are_no_askers(tmp_path):
    """Half the crowd guesses: the plan is the others' alone, and a folder that hides a good worker is refused."""
    one = replace(crowdopt.recipe("HS:40x24"), rule="exact-error").with_epsilon(0.1)
    plan = solve(one, method=Adaptive())
    good = int((one.accuracy[0] > 0.5).sum())
    assert plan.proven and sum(len(some) for some in plan.askers.workers) == good
    write_campaign(one, tmp_path / "c")
    crowdopt.write_plan(plan, tmp_path / "p")
    assert verify(tmp_path / "c", tmp_path / "p").proven
    table = tmp_path / "p" / "workers.csv"
    lines = table.read_text(encoding="utf-8").splitlines()
    hidden = next(k for k, line in enumerate(lines[1:], 1) if line.split(",")[1])
    cells = lines[hidden].split(",")
    lines[hidden] = ",".join([cells[0], "", *cells[2:]])
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert not verify(tmp_path / "c", tmp_path / "p").holds


def test_labels_of_a_worker_who_tells_nothing_do_not_matter(tmp_path):
    """They are in, so the worker is an asker there; the plan costs what it costs without them."""
    one = AssignmentInstance([[0.9, 0.8, 0.7, 0.5]], [0] * 8, [8] * 4, 0.1, class_names=["a", "b"])
    had = replace(one, collected=[(i, 3) for i in range(0, 8, 2)])
    write_campaign(had, tmp_path / "c", collected_labels=["a", "b", "a", "b"])
    plan = solve(tmp_path / "c", method=Adaptive(), output=tmp_path / "p")
    assert plan.objective == pytest.approx(solve(one, method=Adaptive()).objective)
    assert verify(tmp_path / "c", tmp_path / "p").proven
