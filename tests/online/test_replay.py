"""What a replay counts, refuses and proves; groups and budgets are kept; crowds that break the model."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from itertools import product

import numpy as np
import pytest

import crowdopt
from crowdopt import AssignmentInstance, Group, InputError, solve_program
from crowdopt.crowd.labels import REFUSED
from crowdopt.crowd.law import NONE, Difficulty
from crowdopt.io.campaign import LabelRecord
from crowdopt.online.crowds import Misspecification, breach, breached, hold_out, recorded_stream, simulated_stream
from crowdopt.online.policies import named
from crowdopt.online.replay import Replay, replay
from crowdopt.online.run_score import answers_of, claimed_error, exact_error, realised_error, weighted_vote
from tests.chance import binomial, fewest, mean_is_at_most, seeds
from tests.online.streams import crowd, start, stream


def recorded(tasks=60, there=1.0, preliminary=0):
    """A table of that share of all pairs, three of ten tasks held out as gold."""
    rng = np.random.default_rng(1)
    whole = replace(crowd(tasks=tasks), forbidden=None)
    truth = rng.integers(0, 2, tasks)
    pairs = np.argwhere(rng.random((tasks, whole.n_workers)) < there)
    label = np.where(rng.random(len(pairs)) < 0.8, truth[pairs[:, 0]], 1 - truth[pairs[:, 0]])
    instance, held = hold_out(whole, truth, 0.3, seed=4)
    return recorded_stream(instance, LabelRecord(*pairs.T, label, truth), (2,), held, preliminary=preliminary)


@pytest.mark.parametrize("text", ["least-covered", "sequential", "adaptive"])
def test_a_pair_without_a_label_is_refused_and_counted(text):
    """A table has what it has: refused pairs cost nothing, cover nothing, are not asked again; others are tried."""
    of = recorded(36, 0.6)
    run = start(text, of).finish()
    pairs = np.column_stack([run.task, run.worker])
    assert 0 < run.refused <= of.instance.n_tasks * of.instance.n_workers
    assert (run.label >= 0).all() and len(np.unique(pairs, axis=0)) == len(pairs)
    for worker in range(of.instance.n_workers):
        mine = run.task[run.worker == worker]
        assert (of.crowd.label(worker, mine) == run.label[run.worker == worker]).all()
        assert mine.size <= of.instance.capacity[worker]


def test_gold_of_a_table_comes_from_held_out_tasks():
    """They are asked as gold, never as work, and no worker is asked more than they have recorded."""
    of = recorded(preliminary=6)
    run = start("main-algorithm:gold=50", of).finish()
    held = of.instance.need == 0
    assert held.any() and not held[run.task].any()
    assert run.labels["gold"] == held.sum() * of.instance.n_workers and run.labels["exploration"] == held.sum() * 6


def asked(of, number, preliminary, portions):
    """Tallies of a worker who is asked gold in portions, each after the last."""
    arrival, done, right = of.arrival(number, False, preliminary), np.zeros(2, np.int64), np.zeros(2, np.int64)
    for counts in portions:
        good, there = of.crowd.gold(replace(arrival, gold_done=done), np.array(counts))
        done, right = done + there, right + good
    return right.tolist(), done.tolist()


@pytest.mark.parametrize("make", [stream, lambda: recorded(90, preliminary=3)], ids=["simulated", "recorded"])
@pytest.mark.parametrize("preliminary", [False, True])
def test_portions_of_gold_do_not_matter(make, preliminary):
    """The k-th gold task of a worker and type has one outcome: 1 and 1 is 2, whatever the other type is asked."""
    of, differ = make(), 0
    for number in range(3):
        whole = asked(of, number, preliminary, [(9, 5)])
        for portions in ([(1, 0)] * 9 + [(0, 1)] * 5, [(0, 2), (8, 2), (1, 1)]):
            assert asked(of, number, preliminary, portions) == whole
        ones = [asked(of, number, preliminary, [(k, 0)])[0][0] for k in range(10)]
        assert set(np.diff(ones)) <= {0, 1}
        differ += len(set(np.diff(ones))) - 1
    assert differ, "some answers are right and some wrong, else nothing was tested"


def test_a_policy_that_breaks_the_rules_is_stopped(monkeypatch):
    """A defect of a policy is said, not repaired."""
    for picked, said in (([1, 1], "twice"), (range(24), "room")):
        policy = named("greedy")
        monkeypatch.setattr(policy, "pick", lambda here, rng, tasks=picked: np.array(tasks))
        with pytest.raises(RuntimeError, match=said):
            Replay(policy, stream(), 0, crowdopt.solve_program).finish()


@pytest.mark.parametrize(("rule", "said"), [("hoeffding", False), ("exact-error", True)])
def test_policies_as_printed_say_when_the_rule_is_another(rule, said):
    """Ho et al.'s evidence is the rule hoeffding's."""
    of = stream()
    for text in ("primal-approximation", "sampled-lp", "main-algorithm:gold=5"):
        notes = start(text, replace(of, instance=replace(of.instance, rule=rule))).finish().notes
        assert any("by rule bhattacharyya; printed are rule hoeffding's" in note for note in notes) == said


def test_a_weighted_vote_is_the_largest_sum():
    """Ties to the smaller class, a negative weight speaks against its class, a task without labels answers -1."""
    task, label = np.array([0, 0, 0, 1, 1, 2]), np.array([1, 0, 0, 0, 1, 1])
    assert weighted_vote(task, label, np.array([3.0, 1.0, 1.0, 2.0, 2.0, -1.0]), 4).tolist() == [1, 0, 0, -1]


def bayes(run, difficulty):
    """Chance of each class of each task by the true skills, easy and hard multiplied out, (tasks, classes)."""
    of, states = run.stream.instance, np.ones((run.stream.instance.n_tasks, run.stream.instance.classes, 2))
    states *= [1 - difficulty.share, difficulty.share]
    skill = of.accuracy[of.task_type[run.task], run.worker]
    for k, hard in product(range(of.classes), (0, 1)):
        right = 1 / of.classes + (difficulty.left if hard else 1) * (skill - 1 / of.classes)
        np.multiply.at(states[:, k, hard], run.task, np.where(run.label == k, right, (1 - right) / (of.classes - 1)))
    chance = states.sum(axis=2)
    return chance / chance.sum(axis=1, keepdims=True)


@pytest.mark.chance
@pytest.mark.parametrize(
    ("text", "classes", "difficulty"),
    [("least-covered", 2, Difficulty(0.3, 0.4)), ("entropy", 4, NONE), ("budget:each=5", 4, NONE)],
)
def test_claims_of_told_skills_are_bayes_and_errors_are_as_claimed(text, classes, difficulty):
    """The posterior given the labels, multiplied out; an answer is wrong with that chance, each alone: binomial.

    So it is with the exact error of its pairs, over easy and hard tasks together.
    """
    rule = "exact-error" if classes == 2 else "bhattacharyya"
    asked, trials = replace(crowd(1), rule=rule, classes=classes, prior=None, difficulty=difficulty), 20
    wrong, claims, foretold = [], [], []
    for seed in seeds(trials):
        run = start(text, simulated_stream(asked, (seed, 3)), seed).finish()
        answers, claimed, some = answers_of(run), claimed_error(run), np.bincount(run.task, minlength=24) > 0
        chance = bayes(run, difficulty)[np.arange(24), np.maximum(answers, 0)]
        np.testing.assert_allclose(claimed, 1 - chance, atol=1e-9)
        wrong.extend(answers[some] != run.stream.truth[some])
        claims.extend(claimed[some])
        foretold.extend([] if exact_error(run)[0] is None else exact_error(run)[0][some])
    assert binomial(sum(wrong), len(wrong), np.mean(claims))
    assert not foretold or binomial(sum(wrong), len(wrong), np.mean(foretold))


def test_every_label_of_a_pair_is_the_same_for_every_policy():
    """Trials are paired: any policy that asks worker j about task i gets the same answer."""
    said = np.full((2, 24, 20), -1)
    for own, text in zip(said, ("greedy", "random"), strict=True):
        run = start(text, stream()).finish()
        own[run.task, run.worker] = run.label
    shared = (said >= 0).all(axis=0)
    assert shared.sum() > 20 and (said[0] == said[1])[shared].all()


GROUPS = (Group("few", range(20), max_per_task=1), Group("family", range(20, 60), max_per_task=1, dependent=True))


def grouped(**change: object) -> AssignmentInstance:
    """Forty tasks, sixty workers who arrive, one label already in."""
    base = replace(crowdopt.recipe("R10:40x60", seed=1), rule="hoeffding", groups=GROUPS, collected=[[0, 3]])
    return replace(base.with_epsilon(0.45), **change)


@pytest.mark.parametrize("policy", ["greedy", "random", "main-algorithm:gold=20:gamma=.3", "re-solve"])
def test_no_policy_goes_beyond_a_group(policy: str) -> None:
    """Counted on the run itself."""
    chosen = named(policy)
    stream = simulated_stream(grouped(), (0, 1), chosen.preliminary(60))
    run = replay(chosen, stream, 0, solve_program)
    came = run.label != REFUSED
    pairs = np.concatenate([stream.instance.collected, np.column_stack([run.task, run.worker])[came]])
    assert came.sum() > 40
    for group in stream.instance.groups:
        mine = np.isin(pairs[:, 1], group.members)
        assert np.bincount(pairs[mine, 0]).max() == 1


@pytest.mark.parametrize(
    ("change", "word"),
    [
        *((one, "online policies do not know") for one in ({"budget": 5.0}, {"min_labels": 1}, {"fixed": [(20, 1)]})),
        ({"groups": (Group("g", [0], min_per_task=1),)}, "fewest labels of a group"),
        ({"groups": (Group("g", [0], max_share=0.5),)}, "share"),
        ({"groups": (Group("g", [0, 1], max_per_task=2, dependent=True),)}, "err together"),
    ],
)
def test_what_cannot_be_kept_online_is_refused(change: dict[str, object], word: str) -> None:
    """What is decided cannot be taken back, so only limits from above can be kept by the way."""
    with pytest.raises(InputError, match=word):
        simulated_stream(grouped(**change), (0, 1))


def pool(seed: int, tasks: int = 90, workers: int = 90, **options) -> AssignmentInstance:
    """10 % experts (.9), 30 % of accuracy .75, 60 % of .6, a third of the tasks each."""
    skill = np.random.default_rng([seed, 5]).choice([0.9, 0.75, 0.6], workers, p=[0.1, 0.3, 0.6])
    return AssignmentInstance(skill[None], np.zeros(tasks, np.int64), np.full(workers, tasks // 3), 0.1, **options)


def error(text: str, seed: int) -> float:
    run = replay(named(text), simulated_stream(pool(seed), (seed,)), seed, solve_program)
    return realised_error(run, answers_of(run))


@pytest.mark.chance
@pytest.mark.slow
def test_looking_at_answers_pays():
    """Five labels a task, known skills: adaptive errs with .02 at most on average, static with .05.

    Crowds are independent: in six of ten or more adaptive makes fewer errors than static, in nine of ten static half of
    anybody's majority (of 40 in 75 and 97 of 100; on average .012, .034 and .204 are wrong).
    """
    adaptive, static, majority = (
        np.array([error(text, seed) for seed in seeds(60)])
        for text in ("budget", "budget:adaptive=no", "kos:labels=450:inference=majority")
    )
    assert mean_is_at_most(adaptive, 0.02) and mean_is_at_most(static, 0.05)
    assert (adaptive < static).sum() >= fewest(60, 0.6)
    assert (static < 0.5 * majority).sum() >= fewest(60, 0.9)


@pytest.mark.chance
@pytest.mark.parametrize("options", [":each=2", ":money=150:gold=2", ":each=0"])
def test_the_budget_is_kept(options):
    """Labels, or money, gold included; and 85 of 100 are used where labels are told to be useful.

    Crowds are independent: so much is used in nine of ten or more.
    """
    policy, used = named(f"budget{options}"), 0
    for seed in seeds(7):
        cost = np.random.default_rng(seed).integers(1, 4, 90).astype(float)
        run = replay(policy, simulated_stream(pool(seed, cost=cost), (seed,)), seed, solve_program)
        spent, limit = (run.total_cost, policy.money) if policy.money else (run.total_labels, policy.each * 90)
        assert spent <= limit + 1e-9
        used += policy.gold > 0 or spent >= 0.85 * limit
    assert used >= fewest(7, 0.9)


TASKS, WORKERS, GOLD = 4000, 60, 400


def plain(capacity: int = TASKS, **change):
    skill = np.linspace(0.3, 0.8, WORKERS)[None]
    one = AssignmentInstance(skill, np.zeros(TASKS, np.int64), np.full(WORKERS, capacity), 0.1)
    return simulated_stream(replace(one, **change), (*seeds(1),))


def right(stream):
    """Whether each worker is right on each task, (workers, tasks)."""
    every = np.arange(TASKS)
    return np.array([stream.crowd.label(j, every) == stream.truth for j in range(WORKERS)])


def gold(stream):
    """How many gold tasks of GOLD each worker has right."""
    return np.array([stream.crowd.gold(stream.arrival(j, False), np.array([GOLD]))[0][0] for j in range(WORKERS)])


def most_are_wrong(skills):
    """Chance that no more than half of workers of these skills are right on a task, label by label."""
    law = reduce(np.convolve, ([1 - p, p] for p in skills))
    return law[: len(skills) // 2 + 1].sum()


@pytest.mark.parametrize("how", ["difficulty=1e-9", "clique=1e-9", "drift=1e-12"])
def test_a_vanishing_breach_gives_the_same_labels(how):
    """Trials are paired: what changes between a broken crowd and an unbroken one is the breach, not the chance."""
    of = plain()
    assert breached(of, breach("difficulty=0,clique=0,drift=0")) is of
    for told in (right, gold):
        np.testing.assert_array_equal(told(breached(of, breach(how))), told(of))


@pytest.mark.chance
def test_on_a_campaigns_hard_tasks_what_it_says_is_left():
    """So many tasks are hard; a worker is right there by what is left, elsewhere by their skill; gold is mixed."""
    left = Difficulty(0.3, 0.5)
    stream = plain(rule="exact-error", difficulty=left, epsilon=np.full(TASKS, 0.25))
    hard, hits, skill = stream.crowd.hard, right(stream), stream.instance.accuracy[0]
    there = 0.5 + left.left * (skill - 0.5)
    assert binomial(hard.sum(), TASKS, left.share)
    assert binomial(hits[:, hard].sum(axis=1), hard.sum(), there)
    assert binomial(hits[:, ~hard].sum(axis=1), (~hard).sum(), skill)
    assert binomial(gold(stream), GOLD, 0.7 * skill + 0.3 * there)
    with pytest.raises(InputError, match="take difficulty out of the breach"):
        breached(stream, breach("difficulty=.2"))


@pytest.mark.chance
def test_hard_tasks_are_a_guess_for_everybody_and_the_mean_stays():
    """With 30 % hard tasks each worker is right as often as before, but errors of different workers go together.

    Where certainty limits what easy tasks can give back the instance says so: nobody is right more often than always.

    Tasks are independent, so every count over tasks is binomial: hard ones, right labels of a worker on them and on
    all, gold, and tasks on which half of the twenty best err, which takes a shared difficulty to happen that often.
    """
    of = plain()
    broken = breached(of, Misspecification(difficulty=0.3))
    hard, hits, skill = broken.crowd.hard, right(broken), of.instance.accuracy[0]
    assert binomial(hard.sum(), TASKS, 0.3)
    assert binomial(hits[:, hard].sum(axis=1), hard.sum(), 0.5)
    assert binomial(hits.sum(axis=1), TASKS, skill)
    np.testing.assert_allclose(broken.instance.accuracy, of.instance.accuracy)
    best = np.argsort(skill)[-20:]
    together = 0.3 * most_are_wrong([0.5] * 20) + 0.7 * most_are_wrong(0.5 + (skill[best] - 0.5) / 0.7)
    seen = (hits[best].sum(axis=0) <= 10).sum()
    assert binomial(seen, TASKS, together) and not binomial(seen, TASKS, most_are_wrong(skill[best]))
    assert binomial(gold(broken), GOLD, skill)
    sure = breached(plain(accuracy=[[0.95] * WORKERS]), breach("difficulty=.4"))
    np.testing.assert_allclose(sure.instance.accuracy, 0.6 * 1.0 + 0.4 * 0.5)
    assert binomial((sure.crowd.label(0, np.arange(TASKS)) == sure.truth).sum(), TASKS, 0.8)


@pytest.mark.chance
def test_a_clique_agrees_with_itself_and_is_right_half_of_the_time():
    """Agreement speaks for its members, gold against them. Members, their right labels and their gold are binomial."""
    broken = breached(plain(), Misspecification(clique=0.4))
    member, hits = broken.crowd.member, right(broken)
    assert binomial(member.sum(), WORKERS, 0.4)
    assert (hits[member] == hits[member][0]).all()
    assert binomial(hits[member][0].sum(), TASKS, 0.5)
    np.testing.assert_array_equal(hits[~member], right(plain())[~member])
    assert binomial(gold(broken)[member], GOLD, 0.5)
    assert (broken.instance.accuracy[0, member] == 0.5).all()


@pytest.mark.chance
def test_skill_drifts_down_to_a_guess_and_not_below():
    """From p at the first label to p - drift at the last one, in the order in which labels are asked.

    Right labels of a batch are sums of independent trials, no wider than the binomial law of their mean chance.
    """
    of = plain(capacity=2000)
    broken, told = breached(of, Misspecification(drift=0.2)), of.instance.accuracy[0]
    parts = np.split(np.arange(2000), 4)
    batches = [[np.sum(broken.crowd.label(j, part) == of.truth[part]) for part in parts] for j in range(WORKERS)]
    chance = np.maximum(told[:, None] - 0.2 * np.arange(2000) / 1999, np.minimum(told, 0.5)[:, None])
    assert binomial(batches, 500, chance.reshape(WORKERS, 4, 500).mean(axis=2))
    assert binomial(np.sum(batches), chance.size, chance.mean())
    assert not binomial(np.sum(batches), chance.size, np.maximum(told - 0.2, np.minimum(told, 0.5)).mean())
    assert binomial(gold(broken), GOLD, np.maximum(told - 0.2, np.minimum(told, 0.5)))  # gold is a label like any other


def test_what_makes_no_sense_is_refused():
    """A typing error, a size that is none, recorded labels."""
    assert str(Misspecification()) == "" and breach(str(Misspecification(0.25, 0.5))) == Misspecification(0.25, 0.5)
    for text, said in (("difficult=.3", "of a breach"), ("clique", "needs a number"), ("drift=1.5", "must lie in")):
        with pytest.raises(InputError, match=said):
            breach(text)
    instance = AssignmentInstance([[0.7]], [0, 0], [2], 0.1)
    one = np.zeros(1, np.int64)
    recorded = recorded_stream(instance, LabelRecord(one, one, one, np.array([0, 1])), (0,), np.zeros(2, bool))
    with pytest.raises(InputError, match="their own way"):
        breached(recorded, Misspecification(clique=0.1))
