"""Labels one by one: what they promise, when they stop, and what happens when agreement is no sign of skill."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import numpy as np
import pytest

import crowdopt
from crowdopt.crowd.label_kinds import GOLD
from crowdopt.online.crowds import simulated_stream
from crowdopt.online.misspecified import breach, breached
from crowdopt.online.policy import named
from crowdopt.online.replay import Replay, replay
from crowdopt.online.run_score import answers_of, realised_error
from tests.effort import tries
from tests.online.streams import start, stream

BOTH = ["sequential", "adaptive"]


def hammers(seed, tasks=200, workers=80, capacity=80, epsilon=0.15, types=1):
    """Half spammers, half of skill .8."""
    skill = np.random.default_rng(seed).choice([0.5, 0.8], (types, workers))
    instance = crowdopt.AssignmentInstance(skill, np.arange(tasks) % types, capacity, epsilon)
    return simulated_stream(instance, (seed, 2))


def play(text, of, seed=0):
    return replay(named(text), of, seed, crowdopt.solve)


@cache
def played(text, seed):
    """Runs on the crowds of ``hammers``: several theorems are about the same ones."""
    return play(text, hammers(seed))


@dataclass(frozen=True, eq=False)
class Clique:
    """Every other worker says what the others of the clique say, which has nothing to do with the truth."""

    crowd: object
    tasks: int

    def gold(self, arrival, counts):
        if arrival.number % 2:
            return self.crowd.gold(arrival, counts)
        done = np.zeros_like(counts) if arrival.gold_done is None else arrival.gold_done
        rng = np.random.default_rng([5, arrival.number, *done.tolist()])
        return rng.binomial(counts, 0.5), counts

    def label(self, worker, tasks):
        if worker % 2:
            return self.crowd.label(worker, tasks)
        return np.random.default_rng(6).integers(0, 2, self.tasks)[tasks]


def colluding(of):
    return replace(of, crowd=Clique(of.crowd, of.instance.n_tasks))


def among(classes, seed, tasks=300, workers=80, epsilon=0.15):
    """Half guessers, half of skill .8, among so many classes."""
    skill = np.random.default_rng(seed).choice([1 / classes, 0.8], (1, workers))
    instance = crowdopt.AssignmentInstance(skill, np.zeros(tasks, int), 80, epsilon, classes=classes)
    return simulated_stream(instance, (seed, 3))


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("sequential", 4),
        ("adaptive:gold=10", 3),
        pytest.param("sequential", 3, marks=pytest.mark.slow),
        pytest.param("adaptive:gold=10", 4, marks=pytest.mark.slow),
    ],
)
def test_claims_are_kept_among_more_classes(text, classes):
    """One coin over K classes is the model that beliefs have: what is claimed is met on average, below epsilon."""
    runs = [play(text, among(classes, seed)) for seed in range(40, 44)]
    errors = np.array([realised_error(run, answers_of(run)) for run in runs])
    claims = np.array([run.claims.mean() for run in runs])
    assert (claims <= 0.15 + 1e-9).all()
    assert errors.mean() <= claims.mean() + 3 * np.sqrt(0.15 * 0.85 / 1200)
    assert errors.mean() >= 0.5 * claims.mean(), "nor is it claimed to be far worse than it is"


def plurality(labels, accuracy, classes):
    """Error of a vote of so many workers of one accuracy, ties broken by chance, by adding up all tables."""
    right = 0.0
    for said in product(range(classes), repeat=labels):
        count = np.bincount(said, minlength=classes)
        chance = np.prod([accuracy if k == 0 else (1 - accuracy) / (classes - 1) for k in said])
        right += chance * (count[0] == count.max()) / np.count_nonzero(count == count.max())
    return 1 - right


@pytest.mark.parametrize("text", ["sequential", "sequential:stop=each"])
def test_no_fixed_number_of_labels_is_as_cheap_among_four_classes(text):
    """Four classes, workers of .7, a target of .1: gold included, fewer labels than the five a task that it takes.

    Stopping where labels agree saves more than finding out what the workers are worth costs.
    """
    fixed = next(k for k in range(1, 9) if plurality(k, 0.7, 4) <= 0.1)
    instance = crowdopt.AssignmentInstance(np.full((1, 200), 0.7), np.zeros(600, int), 150, 0.1, classes=4)
    runs = [play(text, simulated_stream(instance, (seed, 9))) for seed in (1, 2)[: tries(2, 1)]]
    assert fixed == 5 and max(run.total_labels for run in runs) < 5 * 600
    assert np.mean([realised_error(run, answers_of(run)) for run in runs]) <= 0.1


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("sequential", "difficulty=.3"),
        ("adaptive", ""),
        pytest.param("sequential", "", marks=pytest.mark.slow),
        pytest.param("adaptive", "difficulty=.3", marks=pytest.mark.slow),
    ],
)
def test_a_run_among_four_classes_resumes_with_the_same_bytes(text, how):
    """Log-likelihoods of all classes are part of the state, with difficulty and without."""
    of = breached(among(4, 1), breach(how))
    before = start(text, of).advance(25)
    resumed = start(text, of).restore(before.snapshot()).finish()
    whole = before.finish()
    assert whole.task.tobytes() == resumed.task.tobytes() and whole.claims.tobytes() == resumed.claims.tobytes()


@pytest.mark.parametrize(
    "text",
    [
        *BOTH,
        *(
            pytest.param(text, marks=pytest.mark.slow)
            for text in ("sequential:block=10", "adaptive:until=mean", "sequential:stop=each")
        ),
    ],
)
def test_claims_are_kept_on_average(text):
    """Over eight crowds the mean of the claims is at most epsilon where it ends in time, and hardly ever exceeded."""
    runs = [played(text, seed) for seed in range(8)]
    errors = np.array([realised_error(run, answers_of(run)) for run in runs])
    claims = np.array([run.claims.mean() for run in runs])
    assert (claims <= 0.15 + 1e-9).all()
    assert errors.mean() <= claims.mean() + 3 * errors.std(ddof=1) / np.sqrt(len(runs))
    assert errors.max() < 0.4, "nothing is flipped"


def test_hardly_any_gold_and_far_fewer_labels():
    """What it is for: less than the gold-first loop takes, by a third at least on these crowds."""
    one, other = (sum(played(text, seed).total_labels for seed in range(6)) for text in BOTH)
    assert one < 0.67 * other


@pytest.mark.parametrize("text", ["sequential", "sequential:stop=each", "adaptive:until=mean"])
def test_the_end_is_the_end(text):
    """After the target is met nobody is asked anything, gold included."""
    of, policy = hammers(3), named(text)
    played = Replay(policy, of, 0, crowdopt.solve)
    counts = [played.advance(k).ledger.count.sum() for k in range(1, of.instance.n_workers + 1)]
    last = int(np.argmax(counts))
    assert last < of.instance.n_workers - 1 and len(set(counts[last:])) == 1


@pytest.mark.parametrize("text", ["sequential:stop=each", "adaptive"])
def test_every_task_is_sure_or_said_not_to_be(text):
    """With workers enough all claims are at most epsilon; with too few the unfinished tasks are counted in a note."""
    run = played(text, 2)
    assert (run.claims <= 0.15 + 1e-9).all() and not run.notes
    few = play(text, hammers(1, workers=6))
    unsure = int((few.claims > 0.15 + 1e-9).sum())
    assert unsure > 0 and f"{unsure} tasks are not as sure" in few.notes[0]


def test_answers_are_its_own():
    """A task's answer is the side of its posterior, not a vote with final weights; unknown is a fair guess."""
    run = play("sequential", hammers(0, workers=2))
    assert run.answers == "own" and (answers_of(run) == run.decided).all()
    untouched = np.setdiff1d(np.arange(200), run.task)
    assert untouched.size and (run.decided[untouched] == -1).all() and (run.claims[untouched] == 0.5).all()


@pytest.mark.parametrize("block", [1, 7])
def test_blocks_are_no_larger_than_said(block):
    """A worker is asked up to b labels at once, and what they bring is seen before the next are asked."""
    of, policy = hammers(2), named(f"sequential:block={block}")
    sizes, original = [], policy.decide

    def decide(arrival, rng):
        decision = original(arrival, rng)
        if decision is not None and decision.kind != GOLD:
            sizes.append(decision.tasks.size)
        return decision

    policy.decide = decide
    replay(policy, of, 0, crowdopt.solve)
    assert max(sizes) == block


def test_skills_are_told_apart_by_type():
    """Of a worker who is good at one type and guesses at another, labels are wanted where they are good."""
    rng = np.random.default_rng(0)
    skill = np.full((2, 80), 0.5)
    skill[rng.integers(0, 2, 80), np.arange(80)] = 0.85
    instance = crowdopt.AssignmentInstance(skill, np.arange(200) % 2, 80, 0.15)
    of = simulated_stream(instance, (1, 2))
    run = play("sequential", of)
    good = of.instance.accuracy[instance.task_type[run.task], run.worker] > 0.6
    assert good.mean() > 0.8


def test_the_same_seed_gives_the_same_bytes():
    """Chance comes in by the seed alone."""
    one, other = (play("sequential", hammers(4, tasks=100), seed=3) for _ in range(2))
    assert one.task.tobytes() == other.task.tobytes() and one.claims.tobytes() == other.claims.tobytes()


@pytest.mark.slow
def test_the_audit_notices_a_clique_and_leaves_honest_crowds_alone():
    """Paired seeds: with the clique gold contradicts agreement, with the same crowd left honest it does not.

    Without gold to begin with, a clique that agrees in everything is what agreement takes for the truth. A run that
    ends before a handful of its members have been audited may end unnoticed; most do not.
    """
    text, blind = "sequential:bootstrap=0:most-gold=0:audit=5", "sequential:bootstrap=0:most-gold=0:audit=0"
    noticed, wrong, unseen = [], [], []
    for seed in range(6):
        of = hammers(seed)
        run = play(text, colluding(of))
        noticed.append(any("gold contradicts agreement" in note for note in run.notes))
        wrong.append(realised_error(run, answers_of(run)))
        other = play(blind, colluding(of))
        unseen.append(realised_error(other, answers_of(other)))
        assert not any("contradicts" in note for note in play("sequential", of).notes)
        assert not any("contradicts" in note for note in play("sequential:stop=each:block=5", of).notes)
    assert sum(noticed) >= 4
    assert np.mean(wrong) < 0.2 and np.mean(wrong) < np.mean(unseen) - 0.1


def test_a_run_that_fell_back_resumes_with_the_same_bytes():
    """The reserve is part of the state."""
    text, of = "sequential:bootstrap=0:most-gold=0", colluding(hammers(0))
    whole = start(text, of).finish()
    assert "gold contradicts agreement" in whole.notes[0]
    for arrivals in (2, 40, 7)[: tries(3, 2)]:
        resumed = start(text, of).restore(start(text, of).advance(arrivals).snapshot()).finish()
        assert whole.task.tobytes() == resumed.task.tobytes() and whole.claims.tobytes() == resumed.claims.tobytes()
        assert whole.notes == resumed.notes


def test_repair_goes_on_until_all_is_sure():
    """Rounds of repair, each planned by what the last one brought, finish what the stream left; without, it stays."""
    of = hammers(5, workers=40, capacity=60)
    left = play("adaptive:gold=5:repair=no", of)
    mended = play("adaptive:gold=5", of)
    assert (left.claims > 0.15 + 1e-9).any() and mended.labels["repair"] > 0
    assert (mended.claims > 0.15 + 1e-9).sum() < (left.claims > 0.15 + 1e-9).sum()
    assert np.bincount(mended.worker, minlength=40).max() <= 60


def test_dear_workers_have_to_be_worth_it():
    """Twice the price wants twice the nats: the same crowd at two prices spends its labels on the cheaper half."""
    skill = np.full((1, 120), 0.8)
    cost = np.where(np.arange(120) % 2, 4.0, 1.0)
    instance = crowdopt.AssignmentInstance(skill, np.zeros(300, int), 80, 0.1, cost=cost)
    run = play("sequential", simulated_stream(instance, (0, 1)))
    cheap = run.stream.instance.cost[0, run.worker] < 2
    assert cheap.mean() > 0.7


def test_labels_that_are_refused_are_not_asked_twice():
    """A table has few labels of each worker: what is refused is set aside, and asking goes on."""
    of = stream(4)

    @dataclass(frozen=True, eq=False)
    class Sparse:
        crowd: object

        def gold(self, arrival, counts):
            return self.crowd.gold(arrival, counts)

        def label(self, worker, tasks):
            there = np.random.default_rng([8, worker]).random(of.instance.n_tasks) < 0.3
            return np.where(there[tasks], self.crowd.label(worker, tasks), -1)

    for text in BOTH:
        run = play(text, replace(of, crowd=Sparse(of.crowd)))
        pairs = np.column_stack([run.task, run.worker])
        assert run.refused > 0 and len(np.unique(pairs, axis=0)) == len(pairs)
        assert run.refused <= of.instance.n_tasks * of.instance.n_workers


def hard_for_all(seed):
    """On three tasks of ten everybody guesses."""
    return breached(hammers(seed, tasks=400, epsilon=0.1), breach("difficulty=.3"))


@cache
def played_hard(text, seed):
    return play(text, hard_for_all(seed))


@pytest.mark.parametrize("text", BOTH)
def test_what_is_claimed_heeds_difficulty_and_says_so(text):
    """Of .3 hard tasks at least .15 come out wrong whatever is bought: claimed, told, and given up in the end."""
    heeds, heedless = [], []
    for seed in (1, 3):  # with so few tasks it is not seen in every crowd
        run = played_hard(text, seed)
        heeds.append((run.claims.mean(), realised_error(run, answers_of(run))))
        assert "are hard" in run.notes[-1] and "out of reach" in run.notes[-1]
        run = played_hard(f"{text}:difficulty=no", seed)
        heedless.append((run.claims.mean(), realised_error(run, answers_of(run))))
    claimed, wrong = np.mean(heeds, axis=0)
    assert abs(claimed - wrong) < 0.2 * wrong
    claimed, wrong = np.mean(heedless, axis=0)
    assert claimed < 0.7 * wrong


@pytest.mark.parametrize("text", BOTH)
def test_difficulty_is_part_of_the_state(text):
    """A run that resumes after the difficulty has been seen ends with the same bytes."""
    of, whole = hard_for_all(1), played_hard(text, 1)
    resumed = start(text, of).restore(start(text, of).advance(30).snapshot()).finish()
    assert whole.task.tobytes() == resumed.task.tobytes() and whole.claims.tobytes() == resumed.claims.tobytes()


@pytest.mark.parametrize("text", BOTH)
def test_where_no_task_is_hard_nothing_changes(text):
    """No difficulty is seen, and every label and claim is the same, byte by byte."""
    run, bare = played(text, 0), played(f"{text}:difficulty=no", 0)
    assert not any("are hard" in note for note in run.notes)
    assert run.task.tobytes() == bare.task.tobytes() and run.claims.tobytes() == bare.claims.tobytes()
