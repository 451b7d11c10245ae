"""Spend label by label where it helps most for its price: greedy, and its guarantee."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.alarm import NEVER
from crowdopt.assign.problem import problem_of
from crowdopt.assign.state import Holding
from crowdopt.crowd.group_limits import membership, task_limits
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.crowd.kept import EVIDENCE, breaches
from crowdopt.crowd.rules import BHATTACHARYYA, bhattacharyya_error
from crowdopt.errors import InputError


def surrogate(instance: AssignmentInstance, pairs: Ints) -> Floats:
    """``S e^{-A_i/2}`` of each task, labels already in included: no log-odds vote errs more on average.

    -> (tasks,).
    """
    plain = replace(instance, rule=BHATTACHARYYA.name)
    return bhattacharyya_error(plain.collected_evidence + plain.supply(pairs), plain.prior)


def guarantee(instance: AssignmentInstance, money: float) -> float | None:
    """Share of the largest possible gain of the surrogate that greedy has for sure; None: nothing is known beforehand.

    ``sum_i S (1 - e^{-A_i/2})`` is monotone and submodular in the set of labels. With equal prices the sets allowed are
    those in p matroids: 1 / (p + 1) (Fisher, Nemhauser & Wolsey 1978). Capacities are one, and so are the limits of
    tasks, where groups do not overlap; where only the number of labels is limited, 1 - 1/e (Nemhauser, Wolsey & Fisher
    1978). Groups that overlap: a matroid each.
    """
    prices, shares = instance.cost, any(group.has_share_limits for group in instance.groups)
    if not (prices == prices.flat[0]).all() or prices.flat[0] <= 0 or shares or instance.own_rows is not None:
        return None
    labels = money / float(prices.flat[0])
    busy = bool((instance.capacity < min(instance.n_tasks, labels)).any())
    of_groups = membership(instance)[task_limits(instance)[0]]
    nested = bool((of_groups.sum(axis=0) <= 1).all())
    limited = bool((instance.max_labels < UNLIMITED).any())
    of_tasks = int(limited or len(of_groups) > 0) if nested else int(limited) + len(of_groups)
    if not busy and not of_tasks:
        return 1 - float(np.exp(-1))
    return 1 / (int(busy) + of_tasks + 1)


def spend(instance: AssignmentInstance, money: float) -> Ints:
    """Pairs, one after the other the one with the largest ``S e^{-A_i/2} (1 - e^{-q_ij/2}) / c_ij`` that is allowed.

    Fixed pairs come first. No label that breaks a share of labels or an own row that holds is taken.

    instance: its rule and targets do not matter; money: the most that the pairs may cost, fixed ones included; -> (k,
    2): task and worker of each label.
    """
    paid = float(instance.prices(instance.fixed).sum())
    if paid > money:
        raise InputError(f"the fixed pairs cost {paid:g}, more than {money:g}")
    plain = replace(instance, rule=BHATTACHARYYA.name, budget=money)
    problem, labels = problem_of(plain), min(money / max(float(plain.cost.min()), 1e-9), float(plain.capacity.sum()))
    held = Holding.empty(problem, int(min(plain.n_workers, labels)) + 1, 0)  # less room would break the guarantee
    have = plain.collected_evidence + plain.supply(plain.fixed)
    held.spread(np.arange(plain.n_tasks), have, surrogate(plain, np.zeros((0, 2), np.int64)))
    pairs = np.unique(np.concatenate([problem.pairs(*held.labels(), NEVER)[0], plain.fixed]), axis=0)
    broken = [one for one in breaches(plain, pairs) if one.limit != EVIDENCE]
    if broken:
        remedy = "use --promise each, or solve with a budget in campaign.toml"
        raise InputError(f"a budget spent label by label does not keep every limit ({broken[0]}); {remedy}")
    return pairs
