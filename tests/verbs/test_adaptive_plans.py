"""solve --method adaptive as users meet it: round by round, what it walks and keeps, what is refused in a sentence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import crowdopt
from crowdopt import Adaptive, AssignmentInstance, Group, InputError, solve, verify, write_campaign
from tests.recheck.forged import Forged, made
from tests.typed import run

PANEL = AssignmentInstance(  # blanks, signs of the policy's own cells, and per cent in ids of every kind
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


@pytest.mark.parametrize("method", ["adaptive", "adaptive:given-votes:expert=9:rounds=3"])
def test_rounds_of_labels_go_on_from_where_each_task_stands(campaign, tmp_path, method):
    """Rehearse, aggregate, solve again: every round's plan verifies, and in the end nothing is left to ask.

    Loads of all rounds keep the capacities themselves. The targets of a round are what the one before still errs with,
    or the first ones where each answer is to be sure given its votes.
    """
    here, sure, targets, load = campaign, "given" in method, 0.05, np.zeros(4, np.int64)
    for k in range(9):
        plan = solve(here, method, output=tmp_path / f"p{k}")
        report = verify(here, tmp_path / f"p{k}")
        assert report.holds and report.given_votes == sure and (k or report.proven), report.problems
        assert plan.instance.epsilon == pytest.approx(targets)
        load += np.bincount(plan.pairs[:, 1], minlength=4)
        if not len(plan.pairs):
            break
        labels = tmp_path / f"l{k}.csv"
        crowdopt.rehearse(here, tmp_path / f"p{k}", output=labels, truth=tmp_path / "truth.csv", seed=k + 1)
        after = crowdopt.aggregate(labels, plan=tmp_path / f"p{k}", campaign=here, output=tmp_path / f"a{k}").onward
        if sure and not (after.asks and after.options):
            break
        assert after.options and (sure or after.options == "adaptive")
        here, method, targets = tmp_path / f"a{k}" / "campaign", after.options, after.targets
        assert not sure or (targets == 0.05).all()
    else:
        raise AssertionError("it does not end")
    assert k and (load <= PANEL.capacity).all() and (sure or plan.calls == pytest.approx(0.0, abs=1e-9))


def test_next_walks_the_policy_and_says_what_it_does_not_know():
    plan = solve(PANEL, method=Adaptive())
    action, what = plan.next(task="item 0=*%")
    assert action == "ask" and set(what) <= set(PANEL.workers)
    for said, votes, task in (
        ("several kinds", None, None),
        ("no worker", {"nobody": "yes=1"}, "item 0=*%"),
        ("no class", {"tiny": "perhaps"}, "item 0=*%"),
        ("never comes", dict.fromkeys(PANEL.workers, "yes=1"), "item 0=*%"),
        ("no task", None, "item 99"),
    ):
        with pytest.raises(InputError, match=said):
            plan.next(votes, task=task)


MANY = AssignmentInstance(np.random.default_rng(0).uniform(0.6, 0.9, (1, 30)), [0] * 9, [9] * 30, 0.1)


@pytest.mark.parametrize(
    ("said", "fields", "options"),
    [
        ("fixed pairs", {"fixed": [(0, 0)]}, {}),
        ("min_labels", {"min_labels": np.ones(9, int)}, {}),
        ("min_per_task", {"groups": [Group("g", [0, 1], min_per_task=1)]}, {}),
        ("fewer judges", {"classes": 3, "prior": np.full(3, 1 / 3)}, {}),
        ("gap and nodes", {}, {"gap": 0.1, "nodes": 9}),
        ("rule", {}, {"rule": "bhattacharyya"}),
        ("rounds", {}, {"method": "adaptive:rounds=0"}),
        ("expert", {}, {"method": "adaptive:expert=nan"}),
    ],
)
def test_what_is_not_kept_or_says_nothing_here_is_refused(said, fields, options):
    """Of limits what orders of many workers do not know yet; options that are about plans of fixed sets."""
    with pytest.raises(InputError, match=said):
        solve(replace(MANY, **fields), **{"method": "adaptive", **options})


def test_without_a_plan_for_all_an_expert_makes_one(tmp_path):
    """The least errors are handed out, unless all must be served."""
    write_campaign(replace(PANEL, capacity=[1, 2, 24, 24], epsilon=np.asarray(0.02)), tmp_path / "c")
    for name, status, *words in (
        ("p", 1),
        ("strict", 1, "--require", "served"),
        ("e", 0, "--method=adaptive:expert=9"),
    ):
        done = run("solve", tmp_path / "c", "--method", "adaptive", *words, "-o", tmp_path / name)
        assert done.exit_code == status
    assert verify(tmp_path / "c", tmp_path / "p").holds and not (tmp_path / "strict").exists()
    assert "by the expert" in done.output and verify(tmp_path / "c", tmp_path / "e").proven


def test_families_and_barred_pairs_are_kept():
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


def test_money_left_is_what_the_next_round_may_spend(tmp_path):
    """The budget is for the campaign: labels that are paid come off. No adaptive plan takes answers as they are."""
    paid, plan, labels = (tmp_path / name for name in ("paid", "p", "l.csv"))
    write_campaign(replace(PANEL, budget=60.0), paid)
    solve(paid, method=Adaptive(), output=plan)
    crowdopt.rehearse(paid, plan, output=labels)
    answered = crowdopt.aggregate(labels, plan=plan, campaign=paid, output=tmp_path / "a")
    left = crowdopt.read_campaign(tmp_path / "a" / "campaign").budget
    assert left == pytest.approx(60.0 - float(PANEL.prices(answered.new).sum())) and left < 60
    with pytest.raises(InputError, match="accept"):
        crowdopt.aggregate(labels, plan=plan, campaign=paid, accept=True, output=tmp_path / "b")


def test_judges_who_are_always_right_or_wrong(tmp_path):
    """States that cannot be are left out; labels that cannot be are refused in a sentence."""
    one = AssignmentInstance([[1.0, 0.8, 0.0]], [0] * 6, [2, 6, 3], 0.05, cost=[1.0, 0.5, 2.0], class_names=["a", "b"])
    plan = solve(one, method=Adaptive(expert=9.0))
    assert plan.proven and verify(one, plan).proven
    had = replace(one, collected=[(0, 0), (0, 2)])
    write_campaign(had, tmp_path / "c", collected_labels=["a", "a"])
    for campaign, said in ((tmp_path / "c", "cannot be"), (had, "give the campaign's folder")):
        with pytest.raises(InputError, match=said):
            solve(campaign, method=Adaptive())


def test_workers_whose_labels_tell_nothing_are_no_askers(tmp_path):
    """Half the crowd guesses: the plan is the others' alone, and a folder that hides a good worker is refused."""
    one = replace(crowdopt.recipe("HS:40x24"), rule="exact-error").with_epsilon(0.1)
    plan = solve(one, method=Adaptive())
    assert plan.proven and sum(len(some) for some in plan.askers.workers) == (one.accuracy[0] > 0.5).sum()
    forged = Forged(made(tmp_path, one, plan), tmp_path / "forged")
    assert forged.report().proven
    head, *rows = forged.rows("workers")
    next(row for row in rows if row[1])[1] = ""
    assert forged.table("workers", [head, *rows]).problems()


def test_labels_of_a_worker_who_tells_nothing_do_not_matter(tmp_path):
    """They are in, so the worker is an asker there; the plan costs what it costs without them."""
    one = AssignmentInstance([[0.9, 0.8, 0.7, 0.5]], [0] * 8, [8] * 4, 0.1, class_names=["a", "b"])
    had = replace(one, collected=[(i, 3) for i in range(0, 8, 2)])
    write_campaign(had, tmp_path / "c", collected_labels=["a", "b", "a", "b"])
    plan = solve(tmp_path / "c", method=Adaptive(), output=tmp_path / "p")
    assert plan.objective == pytest.approx(solve(one, method=Adaptive()).objective)
    assert verify(tmp_path / "c", tmp_path / "p").proven
