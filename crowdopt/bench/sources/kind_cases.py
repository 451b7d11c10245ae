"""Kinds of question beyond the recipes: ``groups:40x15``, ``families:60x20``, ``exact-error:60x12``, ``cascade:100x5``.

Each is drawn from ``np.random.default_rng(seed)`` by the function of its kind, workers first.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from crowdopt.bench.sources import LP, Problem, Source
from crowdopt.bench.sources.recipe_cases import of_instance
from crowdopt.core.program import Program, relax
from crowdopt.crowd.hiring.candidates import SelectionInstance
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.pools import pools_of
from crowdopt.crowd.stated.groups import Group
from crowdopt.crowd.states.told_tasks import told_tasks
from crowdopt.io.programs.naming import Ids
from crowdopt.io.programs.program_files import menu_ids, selection_ids
from crowdopt.programs import cascade, patterns, selection

Draw: TypeAlias = Callable[[np.random.Generator, int, int], Any]  # tasks (candidates) and workers (the most hired)


def groups(rng: np.random.Generator, n: int, m: int) -> AssignmentInstance:
    """Three sites: at most two labels of a task from the first, at least one from the second, 40 % from the third."""
    site = rng.integers(0, 3, m)
    members = [tuple(np.flatnonzero(site == k).tolist()) for k in range(3)]
    limits: list[dict[str, Any]] = [{"max_per_task": 2}, {"min_per_task": 1}, {"max_share": 0.4}]
    made = [Group(f"site-{k}", members[k], **limits[k]) for k in range(3) if members[k]]
    return _campaign(rng, n, m, types=2, groups=made)


def families(rng: np.random.Generator, n: int, m: int) -> AssignmentInstance:
    """Families of three who may err together: one label of each at most for a task."""
    kin = rng.permutation(m)
    made = [
        Group(f"family-{k}", tuple(sorted(kin[k :: -(-m // 3)].tolist())), max_per_task=1, dependent=True)
        for k in range(-(-m // 3))
    ]
    return _campaign(rng, n, m, types=3, groups=made)


def limits(rng: np.random.Generator, n: int, m: int) -> AssignmentInstance:
    """Three to eight labels a task, workers who are promised work, pairs that must not be and some that must."""
    barred = np.argwhere(rng.random((n, m)) < 0.1)
    kept = np.array([[i, int(rng.integers(m))] for i in range(0, n, 10)])
    clash = {tuple(pair) for pair in kept.tolist()}
    barred = np.array([pair for pair in barred.tolist() if tuple(pair) not in clash]).reshape(-1, 2)
    return _campaign(
        rng,
        n,
        m,
        types=4,
        forbidden=barred,
        fixed=kept,
        min_labels=np.full(n, 3),
        max_labels=np.full(n, 8),
        min_load=np.full(m, n // m),
    )


def exact_errors(rng: np.random.Generator, n: int, m: int) -> AssignmentInstance:
    """Workers of five skills, priced, and three targets by exact errors: the program over patterns of labels."""
    level = rng.integers(0, 5, m)
    skill, price = np.array([0.65, 0.72, 0.8, 0.86, 0.93])[level], np.array([2.0, 3.0, 5.0, 6.0, 9.0])[level]
    room = rng.integers(3 * n // m, 6 * n // m + 1, m)
    targets = np.array([0.05, 0.1, 0.2])[rng.integers(0, 3, n)]
    return AssignmentInstance(skill[None], np.zeros(n, int), room, targets, rule="exact-error", cost=price)


def judges(rng: np.random.Generator, n: int, m: int) -> AssignmentInstance:
    """A panel of judges with skills and prices of their own, asked one after another."""
    skill = np.sort(np.round(rng.uniform(0.6, 0.92, m), 3))
    price = np.arange(1, m + 1).astype(np.float64)
    return AssignmentInstance(skill[None], np.zeros(n, int), np.full(m, n), 0.08, rule="exact-error", cost=price)


def candidates(rng: np.random.Generator, n: int, m: int) -> SelectionInstance:
    """Candidates of four groups, one at least of each and three at most."""
    correct = rng.binomial(20, rng.beta(2.3, 2, n))
    group = np.arange(n) % 4
    return SelectionInstance(
        correct, np.full(n, 20), most=m, group=group, fewest=np.ones(4, int), most_each=np.full(4, 3)
    )


def _campaign(rng: np.random.Generator, n: int, m: int, types: int, **more: Any) -> AssignmentInstance:
    """Skills uniform in (.6, .95), prices 1 to 3, room for six labels a task; rule bhattacharyya at .1."""
    skill = np.round(rng.uniform(0.6, 0.95, (types, m)), 3)
    room = rng.integers(4 * n // m, 8 * n // m + 1, m)
    price = rng.integers(1, 4, m).astype(np.float64)
    task_type = np.arange(n) % types
    return AssignmentInstance(skill, task_type, room, 0.1, rule="bhattacharyya", cost=price, **more)


KINDS: dict[str, tuple[Draw, str]] = {  # with the family of its programs
    "groups": (groups, "assignment"),
    "families": (families, "assignment"),
    "limits": (limits, "assignment"),
    "exact-error": (exact_errors, "patterns"),
    "cascade": (judges, "cascade"),
    "hire": (candidates, "selection"),
}
FORM = re.compile(rf"({'|'.join(KINDS)}):([1-9]\d{{0,4}})x([1-9]\d{{0,3}})")


def draw(name: str, seed: int) -> Problem:
    """The instance of a kind, with readable ids."""
    match = FORM.fullmatch(name)
    assert match is not None
    (drawn, family), n, m = KINDS[match[1]], int(match[2]), int(match[3])
    made = drawn(np.random.default_rng(seed), n, m)
    if family == "assignment":
        made = replace(made, tasks=_ids("t", n), workers=_ids("w", m), title=f"{name}, seed {seed}")
        return of_instance(name, made)

    builder, ids = BUILDERS[family]

    def build(program: str) -> Program:
        whole = builder(made)
        return relax(whole) if program == LP else whole

    def named(_: Program) -> Ids:
        return ids(made)

    return Problem(name, build, selection=made if family == "selection" else None, ids=named, family=family)


def _menu(made: AssignmentInstance) -> Ids:
    pools = pools_of(made)
    menu = patterns.whole_menu(pools)
    return menu_ids(pools, menu.kind, menu.pattern)


def _asked_states(made: AssignmentInstance) -> Ids:
    """A judge and the state in which it is asked: what was said before, by number."""
    asking = cascade.Cascade(told_tasks(made))
    asks = [f"{one.votes.index(1)}:{state}" for one in asking.askings for state in one.states.tolist()]
    states = [str(state) for state in asking.stops[2].tolist()]
    return {"ask": [asks], "answer": [states], "flow": [states]}


BUILDERS: dict[str, tuple[Callable[[Any], Program], Callable[[Any], Ids]]] = {  # with ids
    "patterns": (patterns.build, _menu),
    "cascade": (cascade.build, _asked_states),
    "selection": (selection.build, selection_ids),
}


def _ids(head: str, size: int) -> list[str]:
    return [f"{head}{k:0{len(str(size - 1))}}" for k in range(size)]


def own(name: str) -> tuple[str, ...]:
    """The exact method, where a kind is a campaign's plain program."""
    return ("exact",) if KINDS[name.partition(":")[0]][1] == "assignment" else ()


SOURCE = Source(
    f"a kind {', '.join(KINDS)} as in groups:40x15", lambda name: FORM.fullmatch(name) is not None, draw, own
)
