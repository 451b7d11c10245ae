"""What the form ``sets`` proves by exact errors: the least set of each task within its limits, against all sets."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, InputError, verify
from crowdopt.crowd.difficulty.hard_tasks import Difficulty
from crowdopt.crowd.instance import COVERAGE, UNLIMITED
from crowdopt.crowd.stated.groups import Group
from crowdopt.recheck.bounds.limited_sets import prove_sets
from tests.recheck.written_limits import drawn_groups, drawn_lines, drawn_rows, read, summed_by_all_sets, written_plan

CERTAIN = 1e-12
NEAR = 1e-9


@st.composite
def limited(draw: st.DrawFn):
    """One or two tasks, up to nine workers, every limit of one task; whether the groups are apart."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    classes = int(rng.choice([2, 2, 2, 3, 4]))
    n, m, apart = int(rng.integers(1, 3)), int(rng.integers(3, {2: 10, 3: 8, 4: 7}[classes])), draw(st.booleans())
    kinds = int(rng.integers(1, 3))
    pairs = rng.permutation([(i, j) for i in range(n) for j in range(m)])
    cut = np.sort(rng.integers(0, 4, 3))
    mine = rng.integers(0, 3, m) if apart else None
    groups = drawn_groups(rng, mine, m, 2 if rng.random() < 0.7 else 0)
    fewest = np.minimum(m, rng.integers(0, 3, n))
    most = np.maximum(fewest, m - rng.integers(0, 4, n)) + np.bincount(pairs[: cut[2], 0], minlength=n)
    hard = classes == 2 and rng.random() < 0.4
    own = rng.uniform(0.35, 0.97, (kinds, m)), rng.choice([1 / classes, 0.55, 0.7, 0.8, 0.9, 0.97, 0.2], (kinds, m))
    drawn = own[rng.integers(0, 2)]
    prior = rng.dirichlet(np.full(classes, 5.0), n) if rng.random() < 0.4 else None
    capacity = np.where((rng.random(m) < 0.9) | (cut[2] > cut[1]), n, 0)
    instance = AssignmentInstance(
        drawn,
        rng.integers(0, kinds, n),
        capacity=capacity,
        epsilon=rng.uniform(0.03, 0.4, n) if rng.random() < 0.5 else rng.choice([0.05, 0.1, 0.2, 0.3], n),
        rule="exact-error" if hard or rng.random() < 0.6 else "probit",
        classes=classes,
        prior=prior,
        observed=bool(not hard and prior is not None and rng.random() < 0.3),
        difficulty=Difficulty(float(rng.uniform(0.02, 0.3)), float(rng.uniform(0.0, 0.9))) if hard else Difficulty(),
        cost=rng.integers(0, 5, (kinds, m)) * 0.25,
        forbidden=pairs[: cut[0]],
        collected=pairs[cut[0] : cut[1]],
        fixed=pairs[cut[1] : cut[2]],
        min_labels=fewest,
        max_labels=np.where(rng.random(n) < 0.5, UNLIMITED, most),
        min_load=np.minimum(rng.integers(0, 2, m), capacity),
        budget=float(rng.integers(1, 9)) if draw(st.booleans()) else None,
        groups=groups,
        own_rows=drawn_rows(rng, n, m),
    )
    scale = draw(st.sampled_from([0.1, 1.0, 1000.0]))
    lines = drawn_lines(rng, instance, scale)
    return instance, scale * rng.normal(size=m), -abs(float(rng.normal())), lines


def least_error(instance, task, labels, aware=True):
    """What a vote over labels of known skills errs with, all answers looked at.

    aware: whether it knows which tasks are hard; else it takes each for an easy one, and ties fall by lot.
    """
    classes, prior = instance.classes, np.broadcast_to(instance.prior, (instance.n_tasks, instance.classes))[task]
    share, left = instance.difficulty.share, instance.difficulty.left if instance.difficulty.share else 1.0
    chances = []
    for part, edge in ((1 - share, 1.0), (share, left)):
        chance = part * prior[None]
        for skill in labels:
            p = 1 / classes + edge * (skill - 1 / classes)
            table = np.where(np.eye(classes) > 0, p, (1 - p) / (classes - 1))
            chance = (chance[:, None] * table).reshape(-1, classes)
        chances.append(chance)
    if aware:
        return sum(float((chance.sum(axis=1) - chance.max(axis=1)).sum()) for chance in chances)
    every, voted = sum(chances), np.isclose(chances[0], chances[0].max(axis=1)[:, None], rtol=1e-9, atol=0)
    return float((every.sum(axis=1) - (every * voted).sum(axis=1) / voted.sum(axis=1)).sum())


def skill_of(instance, kind, worker):
    """All that a worker knows of a type."""
    p, classes = float(instance.accuracy[kind, worker]), instance.classes
    if instance.evidence[kind, worker] <= 0:
        return 1 / classes
    best = max(p, 1 - p) if classes == 2 else (1 - (classes - 1) * p if p * classes < 1 else p)
    return min(best, 1 - 1e-6)


def by_all_sets(instance, worker, budget, lines, aware=True):
    """The bound's sum with every task's sets tried one by one, and all groups heeded; and the size of its terms."""

    def enough(i, chosen):
        if any(instance.capacity[j] == 0 for j in chosen):
            return False
        had = [] if instance.observed else sorted(j for t, j in instance.collected.tolist() if t == i)
        skills = [skill_of(instance, instance.task_type[i], j) for j in [*had, *chosen]]
        if instance.rule == "probit":
            worth = instance.the_rule.evidence(np.array(skills), instance.classes).sum()
            if worth < instance.need[i] - COVERAGE:
                return False
        return least_error(instance, i, skills, aware) <= instance.epsilon[i] + CERTAIN

    return summed_by_all_sets(instance, worker, budget, lines, enough)


@settings(max_examples=75)
@given(limited())
def test_the_bound_is_the_least_of_all_sets(drawn):
    """It is that sum up to rounding, whether groups are apart or overlap; fewer skills prove less.

    Where tasks are hard it lies between the sums of votes that know which and of those that are taken.
    """
    instance, worker, budget, lines = drawn
    joint = read(instance, lines)
    proven = prove_sets(instance, worker, budget, joint)
    least, size = by_all_sets(instance, worker, budget, lines)
    hard = instance.difficulty.share
    right, _ = by_all_sets(instance, worker, budget, lines, aware=False) if hard else (least, size)
    if np.isposinf(least):
        assert proven == np.inf
        return
    assert proven <= right + 1e-12 * size
    assert proven >= least - NEAR * max(1.0, size)
    for levels in (1, 2, 5):
        assert prove_sets(instance, worker, budget, joint, levels) <= proven + 1e-12 * size


@settings(max_examples=37)
@given(st.integers(0, 2**31), st.integers(0, 2))
def test_sets_are_as_many_labels_as_votes_need_that_do_not_know_hard_tasks(seed, limits):
    """The least of all sets by such votes, where no label has a price below 0, so that none comes unasked."""
    rng = np.random.default_rng(seed)
    m, left = int(rng.integers(3, 9)), float(rng.uniform(0.0, 0.9))
    instance = AssignmentInstance(
        rng.choice(rng.uniform(0.55, 0.95, 4), (1, m)),
        np.zeros(1, np.int64),
        capacity=np.ones(m, np.int64),
        epsilon=rng.uniform(0.05, 0.4, 1),
        rule="exact-error",
        prior=rng.dirichlet(np.full(2, 5.0), 1),
        difficulty=Difficulty(float(rng.uniform(0.02, 0.3)), left),
        cost=np.ones(m),
        min_labels=int(rng.integers(0, 3)),
        collected=[(0, 0)] if rng.random() < 0.3 else np.zeros((0, 2), np.int64),
        groups=drawn_groups(rng, rng.integers(0, 3, m), m, limits),
    )
    worker, lines = -rng.integers(0, 8, m) / 8, drawn_lines(np.random.default_rng(0), instance, 0.0)
    proven = prove_sets(instance, worker, 0.0, read(instance, lines))
    right, size = by_all_sets(instance, worker, 0.0, lines, aware=False)
    assert proven == right or proven == pytest.approx(right, abs=NEAR * max(1.0, size))


def hand_made(tmp_path, claimed, levels=0):
    """One task, four workers of .9: three labels reach .028, and the group of the two cheap ones may give one only."""
    instance = AssignmentInstance(
        np.full((1, 4), 0.9),
        capacity=np.ones(4, np.int64),
        epsilon=0.05,
        rule="exact-error",
        cost=np.array([1.25, 1.25, 5.25, 5.25]),
        groups=[Group("near", (0, 1), max_per_task=1)],
    )
    return written_plan(tmp_path, instance, [0, 2, 3], claimed, levels)


def forged(folder, claims):
    """The folder with some of what plan.json says in other words; None takes an entry away."""
    path = folder / "plan.json"
    said = json.loads(path.read_text(encoding="utf-8")) | claims
    path.write_text(json.dumps({key: value for key, value in said.items() if value is not None}), encoding="utf-8")


@pytest.mark.parametrize("levels", [0, 1, 7])
def test_a_plan_certified_by_sets_holds(tmp_path, levels):
    """No multiplier at all: the errors and the limits of the sets alone prove 11.75, what the plan costs."""
    campaign, folder = hand_made(tmp_path, 11.75, levels)
    report = verify(campaign, folder)
    assert report.holds, report.problems
    claims = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    assert (claims["certified_by"], claims["levels"]) == ("sets", levels)


@pytest.mark.parametrize(
    ("claims", "refused"),
    [
        ({"certified_bound": 11.751}, "certified_bound says 11.751"),
        ({"certified_by": "patterns", "wrong_dual": 0.0}, "certified_bound says 11.75"),
        ({"certified_by": "rows"}, "certified_bound says 11.75"),
        ({"levels": -1}, "levels says -1"),
        ({"levels": 10**6}, "levels says 1000000"),
        ({"levels": True}, "levels says True"),
        ({"levels": 1.0}, "levels says 1.0"),
        ({"levels": None}, "levels says None"),
        ({"wrong_dual": -1.0}, "wrong_dual says -1.0"),
    ],
)
def test_what_sets_do_not_prove_is_refused(tmp_path, claims, refused):
    """A bound above 11.75, 11.75 under a form that does not know the group's limit, levels that are none."""
    campaign, folder = hand_made(tmp_path, 11.75)
    forged(folder, claims)
    problems = verify(campaign, folder).problems
    assert any(refused in str(problem) for problem in problems), problems


def test_levels_that_are_no_number_are_refused(tmp_path):
    """Such a file is not read at all."""
    campaign, folder = hand_made(tmp_path, 11.75)
    forged(folder, {"levels": float("nan")})
    with pytest.raises(InputError, match=r"plan\.json"):
        verify(campaign, folder)


@pytest.mark.parametrize("dual", ["-1e308", "-1e200"])
def test_multipliers_without_measure_prove_nothing(tmp_path, dual):
    """Prices whose sums are no numbers, or nothing but rounding, give no bound that stands."""
    campaign, folder = hand_made(tmp_path, 11.75)
    path = folder / "workers.csv"
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    place = header.split(",").index("dual")
    cells = [row.split(",") for row in rows]
    changed = [",".join([*row[:place], dual, *row[place + 1 :]]) for row in cells]
    path.write_text("\n".join([header, *changed]) + "\n", encoding="utf-8")
    assert not verify(campaign, folder).holds
