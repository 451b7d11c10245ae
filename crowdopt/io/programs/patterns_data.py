"""Data for models/patterns.mod: pools of equal workers and every pattern of their labels, as GNU MathProg reads it."""

from __future__ import annotations

from itertools import product

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.crowd.pools import Pools, pools_of
from crowdopt.crowd.votes.evidence import EXACT_ERROR
from crowdopt.errors import InputError
from crowdopt.io.programs.mathprog_text import section, set_of, table, vector
from crowdopt.io.programs.naming import Ids

MOST = 1_000_000  # ways in which the labels of all patterns can fall: the model weighs each


def patterns_data(instance: AssignmentInstance) -> str:
    """The data section: ``glpsol -m patterns.mod -d FILE``. What is at its default is left out.

    instance: of few workers: patterns.mod sums errors over every way in which the labels of a pattern can fall.
    """
    if instance.classes != 2:
        raise InputError(
            f"patterns.mod sums errors of votes between 2 classes, not {instance.classes}; write .mps or .lp instead"
        )
    pools = pools_of(instance)
    kinds, count = pools.skill.shape
    if not count:
        raise InputError("no worker knows more than chance, so there is no pattern of labels to choose")
    ways = float(np.prod(2.0 ** (pools.sizes + 1) - 1))
    if ways > MOST:
        raise InputError(
            f"patterns.mod would weigh {ways:.3g} ways in which labels can fall; write .mps or .lp instead"
        )
    t, g = [str(k + 1) for k in range(kinds)], [str(k + 1) for k in range(count)]
    every = list(product(*(range(size + 1) for size in pools.sizes.tolist())))
    ids = [pattern_id(np.array(one)) for one in every]
    rooms = [
        (f"{k + 1} {r + 1}", room) for k, who in enumerate(pools.members) for r, room in enumerate(pools.room_of[who])
    ]
    rule = instance.rule if instance.the_rule.average else EXACT_ERROR.name
    lines = [f"# by rule {rule}", f"param T := {kinds};", f"param G := {count};", set_of("PATTERNS", ids)]
    lines += [vector("n", t, pools.tasks_in), vector("epsilon", t, pools.epsilon)]
    lines += [vector("prior", t, pools.prior)] * bool((pools.prior != 0.5).any())
    lines += [table("p", t, g, pools.skill)] + [table("c", t, g, pools.cost)] * bool((pools.cost != 1).any())
    lines += [vector("size", g, pools.sizes), vector("M", [key for key, _ in rooms], [room for _, room in rooms])]
    lines += [table("a", ids, g, every)] + [vector("fewest", t, pools.fewest)] * bool(pools.fewest.any())
    limited = np.flatnonzero(pools.most < UNLIMITED)
    lines += [vector("most", [t[k] for k in limited], pools.most[limited])] * bool(limited.size)
    lines += ["param average := 1;"] * instance.the_rule.average
    lines += [] if instance.budget is None else [f"param budget_limit := {float(instance.budget)!r};"]
    return section(lines)


def menu_ids(pools: Pools, kind: Ints, pattern: Ints) -> Ids:
    """Ids of the program over patterns: kind and pattern, kinds, pool and depth; kind (k,), pattern (k, pools)."""
    given = [f"{t + 1}:{pattern_id(one)}" for t, one in zip(kind.tolist(), pattern, strict=True)]
    kinds, (pool, depth, _) = [str(t + 1) for t in range(pools.tasks_in.size)], pools.rows
    supply = [f"{g + 1}:{h}" for g, h in zip(pool.tolist(), depth.tolist(), strict=True)]
    return {"given": [given], "task": [kinds], "supply": [supply]}


def pattern_id(pattern: Ints) -> str:
    """``P2_0_1``: labels of each pool; pattern (pools,)."""
    return "P" + "_".join(str(labels) for labels in pattern.tolist())
