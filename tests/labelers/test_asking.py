"""Runs: causal, blind to the truth, the same however they are cut, judged by what sets are worth."""

from __future__ import annotations

from dataclasses import replace as replaced

import numpy as np
import pytest

from crowdopt import InputError
from crowdopt.core.registry import completed
from crowdopt.crowd.labels import REPEAT
from crowdopt.labelers import theorems
from crowdopt.labelers.arrivals import KINDS as ASKED
from crowdopt.labelers.arrivals import Ask, Labelers, drawn_labelers, simulated_tasks
from crowdopt.labelers.asking import GUESS, BaseLabelerPolicy, replay
from crowdopt.labelers.policies import named, policies
from crowdopt.labelers.regret import curves, judged, score
from crowdopt.labelers.sets import best_set, set_accuracy
from crowdopt.labelers.theorems import one_coin_skills
from tests.chance import BASE, fewest, hoeffding, seeds
from tests.labelers import three_methods
from tests.labelers.streams import COST, EVERY, KINDS, OPTIONS, SKILLS, scrambled, start, stream, with_other_truth
from tests.sampled import first_of

CASES = [  # constants of a theorem are known where there is one kind of tasks with two classes
    (text, KINDS[place % 5] if "constants=" not in text else ("one kind", "table")[place % 2])
    for place, text in enumerate(EVERY)
]


def same(one, other):
    for name in ("kind", "place", "answer", "labels", "cost"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for mine, yours in zip(one.sets, other.sets, strict=True):
        np.testing.assert_array_equal(mine.workers, yours.workers)
        assert (mine.weight is None) == (yours.weight is None)
        assert mine.weight is None or mine.weight.tobytes() == yours.weight.tobytes()


@pytest.mark.parametrize(("text", "kind"), CASES)
def test_a_run_hangs_on_labels_of_the_past_alone(text, kind):
    """Whatever blocks were cut it has the same bytes; so it has with another truth behind the labels.

    Other labels from task 60 on change nothing before. Every policy that there is is tested.
    """
    assert set(OPTIONS) == set(policies())
    whole = start(text, stream(kind)).finish()
    steps = start(text, stream(kind))
    for t in range(1, 91):
        steps.advance(t)
    same(whole, steps.finish())
    if kind != "table" or not text.startswith("oracle"):  # a table's oracle is told skills tallied beforehand
        same(whole, start(text, with_other_truth(stream(kind))).finish())
    before = start(text, scrambled(stream(kind), 60)).advance(59)
    for name in ("kind", "answer", "labels") if "random" not in text else ():
        np.testing.assert_array_equal(getattr(whole, name)[:60], getattr(before, name)[:60])


@pytest.mark.parametrize(("text", "kind"), CASES)
def test_every_utility_is_what_the_set_is_worth(text, kind):
    """No set beats the best; guesses earn 1/L; figures add up; testers earn what the majority of all does."""
    of = stream(kind)
    run = replay(named(text), of, 0)
    one, row = judged(run), score(judged(run))
    guessed = run.place[1:] == GUESS
    assert (one.utility[guessed] == 1 / of.labelers.classes).all()
    simple = np.array([ask.weight is None for ask in run.sets])[run.place[1:]] if run.sets else guessed
    assert (np.nan_to_num(one.utility - one.best)[simple & ~guessed] <= 1e-9).all()
    assert row["testers"] + row["repeats"] == (run.kind[1:] != 0).sum()
    sums = np.nansum(one.best - one.utility), np.nanmean(one.utility), run.cost[1:].sum()
    assert (row["regret"], row["reward"], row["cost"]) == pytest.approx(sums)
    assert curves(one)["regret"][-1] == pytest.approx(row["regret"])
    assert (run.labels[1:] <= of.labelers.count).all() and 0 <= row["right"] <= 1


def test_explorations_are_those_known_beforehand():
    """The run explores when Lemma 1's recursion says, whatever the labels."""
    for text in ("ls-ol:g1=1:g2=1", "ls-ol-weighted:g1=2:g2=1", "ls-ol-vetting:g1=2:g2=1"):
        run = replay(named(text), stream(horizon=500), 0)
        np.testing.assert_array_equal(run.kind[1:] > 0, theorems.explorations(run.policy.d1, run.policy.d2)[1:])
        assert run.notes[0].startswith(f"explores {(run.kind[1:] > 0).sum()} of 500 steps")


def test_theorems_3_and_5_hold_where_their_constants_do():
    """Regret and cost regret of runs with printed constants stay below (6), (7) and Theorem 5's bound."""
    skill, cost, alpha = np.array([0.97, 0.8, 0.6]), np.array([0.3, 0.2, 0.1]), 0.5
    of, presumed = simulated_tasks(Labelers(skill[None], cost), 800, (0,), False), theorems.presumed(skill)
    used = theorems.constants(3, *presumed, alpha_share=alpha)
    row = score(judged(replay(named("ls-ol:constants=printed:alpha=.5"), of, 0)))
    assert row["regret"] <= theorems.regret_bound(skill, used, 800)
    assert row["cost_regret"] <= theorems.cost_regret_bound(skill, cost, used, 800)
    used = theorems.constants(3, *presumed, alpha_share=alpha, weighted=theorems.odds_constant(skill))
    row = score(judged(replay(named("ls-ol-weighted:constants=printed:alpha=.5:c=34"), of, 0)))
    assert row["regret_weighted"] <= theorems.weighted_regret_bound(row["best_weighted"], alpha, 3, used, 800)


def test_the_oracle_has_no_regret_and_regret_is_against_it():
    plain, weighted = (score(judged(replay(named(f"oracle{how}"), stream(), 0))) for how in ("", ":votes=weighted"))
    assert plain["regret"] == pytest.approx(0, abs=1e-9) and plain["cost_regret"] == pytest.approx(0, abs=1e-12)
    assert plain["final_accuracy"] == pytest.approx(best_set(SKILLS)[1])
    assert weighted["regret_weighted"] == pytest.approx(0, abs=1e-9)


@pytest.mark.chance
@pytest.mark.slow
def test_utilities_are_what_answers_come_to():
    """Given the past an answer is right with chance U(S_t): the differences add up to a martingale of steps up to 1."""
    of = simulated_tasks(Labelers(SKILLS[None], COST), 6000, (BASE,))
    for text in ("ls-ol-weighted", "em-then-exploit:price=.5", "random-set", "ls-ol:g1=3:g2=2"):
        row = score(judged(replay(named(text), of, 0)))
        assert abs(row["reward"] - row["right"]) < hoeffding(6000)


def test_a_table_holds_one_answer_of_each_pair():
    """No repeats; the run says so; refused labels are not paid."""
    run = replay(named("ls-ol:g2=5"), stream("table"), 0)
    assert not (run.kind == ASKED.index(REPEAT)).any()
    assert any("one answer of each pair" in note for note in run.notes)
    full = replay(named("full-majority"), stream("table"), 0)
    assert full.labels.sum() == (full.stream.label[1:] >= 0).sum()


VETTED = [  # skills, runs, steps, who goes, whether and how often that is warned of
    ((0.8, 0.81, 0.82, 0.3, 0.83), 5, 600, 3, False, 0.95),
    ((0.99, 0.4, 0.3), 16, 900, 0, True, 0.6),
]


@pytest.mark.chance
@pytest.mark.parametrize(("skills", "runs", "horizon", "who", "warns", "often"), first_of(VETTED))
def test_vetting_drops_who_disagrees_most_and_says_where_that_misleads(skills, runs, horizon, who, warns, often):
    """In 95 of 100 independent runs or more it is the worst of five of whom four are good, alone, without a warning.

    Where the majority misleads it is the best of three, and the labels themselves give warning in six of ten or more
    (of 40 in 31).
    """
    dropped, warned = 0, 0
    for seed in seeds(runs):
        of = simulated_tasks(Labelers(np.array([skills]), np.zeros(len(skills))), horizon, (seed,), shuffle=False)
        run = replay(named(f"ls-ol-vetting:g1={20 if who else 90}:g2=.1"), of, 0)
        gone, notes = [one for one, _ in run.policy.dropped], " ".join(run.notes)
        assert f"{gone[0]} was dropped" in notes
        dropped += gone[:1] == [who] and who not in run.sets[-1].workers and (warns or len(gone) == 1)
        warned += ("agreement with the majority does not track skill" in notes) == warns
    assert dropped >= fewest(runs, 0.95) and warned >= fewest(runs, often)


@pytest.mark.chance
def test_an_honest_crowd_gets_no_warning_and_a_clique_does():
    """Independent labelers who beat a coin: silence. Two who copy each other: named.

    Crowds are independent: it is so in nine of ten or more (of 40 in all and in 39).
    """
    silent, found = 0, 0
    for seed in seeds(8):
        good = simulated_tasks(Labelers(np.full((1, 9), 0.8), np.zeros(9)), 300, (seed,))
        copied = replaced(good, label=good.label[:, [0, 0, *range(2, 9)]])
        honest, clique = (replay(named("em-then-exploit"), of, 0).notes for of in (good, copied))
        silent += not [note for note in honest if "explores" not in note]
        found += any("agree more than independent labelers" in note for note in clique)
    assert min(silent, found) >= fewest(8, 0.9)


@pytest.mark.chance
def test_of_a_crowd_and_its_mirror_the_one_is_taken_that_the_majority_is_with():
    """(.9, .18, .23, .99, .33): EM alone may end at the mirror image; a_min > 1/2 tells which it is.

    Runs are independent: in 95 of 100 or more all skills are found within .06, and what they earn.
    """
    skill, found = np.array([0.9, 0.18, 0.23, 0.99, 0.33]), 0
    assert theorems.strict_majority(skill) > 0.5
    for seed in seeds(5):
        of = simulated_tasks(Labelers(skill[None], np.zeros(5)), 3000, (seed,), shuffle=False)
        earned = score(judged(replay(named("em-then-exploit:testers=2500"), of, 0)))["reward_exploiting"]
        found += np.abs(one_coin_skills(of.label, 2) - skill).max() < 0.06 and earned > 0.97
    assert found >= fewest(5, 0.95)


@pytest.mark.chance
@pytest.mark.slow
@pytest.mark.parametrize(("at", "more", "ahead"), [(None, "", 0.02), (np.array([0.0, 1.0]), ":g1=8", 0)])
def test_contexts_are_learnt_apart(at, more, ahead):
    """Skills that are mirror images by kind, or along a line: learning them apart beats learning them together.

    Runs are independent: it does in 95 of 100 or more, by .02 where kinds are named.
    """
    rows, better = np.array([[0.95, 0.9, 0.9, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.95, 0.9, 0.9]]), 0
    for seed in seeds(8):
        of = simulated_tasks(Labelers(rows, np.zeros(6), at=at), 1000, (seed,))
        runs = (replay(named(text), of, 0) for text in (f"ls-ol-context{more}", "ls-ol"))
        apart, together = (score(judged(run))["final_accuracy"] for run in runs)
        better += apart > together + ahead
    assert better >= fewest(8, 0.95)


def test_priced_policies_pay_less():
    """A price on labels makes weighted selection choose: fewer labels, less cost."""
    of = stream(horizon=400)
    for text in ("ls-ol-weighted", "em-then-exploit:testers=50", "oracle:votes=weighted"):
        free, dear = (score(judged(replay(named(text + more), of, 0))) for more in ("", ":price=1"))
        assert dear["cost"] < free["cost"] and dear["labels"] < free["labels"]


def test_drawn_crowds_have_a_majority():
    for seed in range(20):
        assert theorems.strict_majority(drawn_labelers(5, (seed,)).accuracy[0]) > 0.5
    for low, high, said in ((0.9, 0.1, "cannot draw"), (0.0, 0.5, "no majority of labelers")):
        with pytest.raises(InputError, match=said):
            drawn_labelers(5, (0,), low, high)


def test_options_that_make_no_sense_are_refused():
    """Where they are read; constants of a theorem where they are used; a question that cannot be asked ends the run."""
    for text, said in {
        "ls-ll": "there are",
        "ls-ol:constants=best": "one of direct, printed, tight",
        "ls-ol:g1=-1": "g1 must be at least 0",
        "ls-ol-weighted:c=1": "c at least 2",
        "ls-ol-vetting:threshold=2": "between 0 and 1",
        "ls-ol-context:z=1": "z must lie between",
        "ls-ol:z=.5": "z needs contexts=yes",
        "ls-ol-weighted:most=2": "most needs vetting=yes",
        "em-then-exploit:votes=loud": "votes is one of",
        "em-then-exploit:testers=0": "at least 1",
        "oracle:price=-1": "price at least 0",
        "random-set:size=-1": "size must be at least 0",
        "random-set:siz=1": "its options are size",
        "ls-ol-context:constants=printed": "give epsilon and a-min",
        "random-set:size=9": "a set of 9",
    }.items():
        with pytest.raises(InputError, match=said):
            replay(named(text), stream("two kinds"), 0)
    replay(named("ls-ol-context:constants=tight:epsilon=.1:a-min=.9"), stream("two kinds"), 0)


def test_defects_of_a_policy_are_said(monkeypatch):
    """A question that cannot be asked ends the run."""
    for task, workers, kind, said in (
        *((3, [0], "work", "other tasks"), (1, [0, 0], "work", "twice")),
        (9, [0], "repeat", "cannot be repeated"),
    ):
        policy, ask = named("full-majority"), Ask(kind, np.array([task]), np.array(workers))
        monkeypatch.setattr(policy, "decide", lambda arrival, chance, ask=ask: ask)
        with pytest.raises(RuntimeError, match=said):
            replay(policy, stream(), 0)


def test_a_policy_of_three_methods_is_replayed_and_scored(monkeypatch):
    """Whatever else is asked has a default: nothing believed, and in the end the set that it asked last."""
    monkeypatch.setitem(policies(), "three", completed(three_methods.POLICY, BaseLabelerPolicy))
    of = stream()
    run = replay(named("three"), of, 0)
    row = score(judged(run))
    assert run.skills is None and row["notes"] == [] and row["labels"] == 3 * of.horizon
    assert row["final_accuracy"] == pytest.approx(float(set_accuracy(of.labelers.accuracy[0, :3])))
