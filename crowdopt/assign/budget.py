"""A sum of money to spend: plans with the fewest wrong answers expected, and what no plan can do with it.

Spend label by label where it helps most for its price: greedy, and its guarantee.

The smallest error that a sum of money can promise to every task: bisection on the target.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from crowdopt.arrays import Floats, Ints, alike
from crowdopt.assign.average import PARAMS, spending_on
from crowdopt.assign.plan import Duals, Plan
from crowdopt.assign.problem import SCALE, problem_of
from crowdopt.assign.shortage import LEAST, by_rule, error_kept, least_target, rounded_up
from crowdopt.assign.standing import NEVER
from crowdopt.assign.state import Holding
from crowdopt.core.certificate import Certificate, lowered, next_integer
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Options, Solve
from crowdopt.crowd.alike import membership, task_limits
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.crowd.rules import BHATTACHARYYA, bhattacharyya_error
from crowdopt.crowd.vote_errors import EVIDENCE, breaches, most_errors
from crowdopt.errors import InputError, OutOfReach
from crowdopt.notebooks import InNotebooks


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


GRID = 1e-9  # of the stated mean error, rounded up
NOISE = 1e-9  # relative; what rounding may take off a bound
METHODS = ("auto", "greedy", "exact")


@dataclass(frozen=True, eq=False)
class Spent(InNotebooks):
    """A plan for a sum of money and what is known of it.

    Parameters
    ----------
    plan : Plan
        Under the rule mean-error, its target what it reaches.
    money : float
        What could be spent.
    wrong, wrong_bound : float
        Wrong answers to expect (exactly), and what every plan of so much money has at least, by a certificate.
    guarantee : float, optional
        Greedy's share of the largest possible gain of ``sum_i S e^{-A_i/2}``, known beforehand.
    method : str
        Whose plan it is: ``greedy`` or ``exact``.
    """

    plan: Plan
    money: float
    wrong: float
    wrong_bound: float
    guarantee: float | None
    method: str


def least_wrong(
    instance: AssignmentInstance,
    money: float,
    solve: Solve,
    options: Options,
    method: str = "auto",
) -> Spent:
    """``min sum_i e_i(S_i)  s.t.  sum c <= money`` and the capacities, e_i the exact error of the vote by log-odds.

    instance: its rule and targets do not matter; method: ``greedy``; ``exact``, over sets of labels; ``auto``: the
    better of both where kinds of tasks are few.
    """
    clock = Clock(options.time_limit)
    if instance.difficulty.share:
        raise InputError(
            "the fewest wrong answers for a budget are not known where tasks are hard; "
            "use --promise each, or take difficulty out of campaign.toml"
        )
    instance = replace(instance, rule="mean-error")
    if instance.budget is not None and instance.budget < money:
        raise InputError(f"the campaign's own budget is {instance.budget:g}, less than {money:g}; change one of them")
    plans = {"greedy": spend(instance, money)} if method != "exact" else {}
    choose = method == "exact" or (method == "auto" and _has_few_kinds(instance))
    work = spending_on(replace(instance, budget=money), solve, options, clock)
    climb, (bound, duals) = work.climbed(), work.proven()
    by_sets = work.chosen(climb) if choose and climb is not None else None
    plans |= {} if by_sets is None else {"exact": by_sets}
    if not plans:
        raise InputError("no plan over sets of labels was found within the limits; choose --method greedy")
    wrong = {name: float(most_errors(instance, pairs).sum()) for name, pairs in plans.items()}
    best = min(wrong, key=lambda name: wrong[name])
    plan = _plan(instance, money, plans[best], best, bound / SCALE, duals, options)
    bound = plan.spending.get("wrong_bound", 0.0)
    return Spent(plan, money, wrong[best], bound, guarantee(instance, money), best)


def spent_best(instance: AssignmentInstance, money: float, solve: Solve, options: Options) -> Ints:
    """The plan of :func:`least_wrong` by itself, without a bound, (k, 2)."""
    instance, plans = replace(instance, rule="mean-error", budget=None), [spend(instance, money)]
    if not instance.difficulty.share and _has_few_kinds(instance):
        work = spending_on(replace(instance, budget=money), solve, options, Clock(options.time_limit))
        climb = work.climbed()
        found = None if climb is None else work.chosen(climb)
        plans += [] if found is None else [found]
    return min(plans, key=lambda pairs: float(most_errors(instance, pairs).sum()))


def _has_few_kinds(instance: AssignmentInstance) -> bool:
    return alike(instance.task_type, *instance.own_priors)[1].size <= PARAMS.rows


def _plan(
    instance: AssignmentInstance,
    money: float,
    pairs: Ints,
    method: str,
    least: float,
    duals: Duals | None,
    options: Options,
) -> Plan:
    """The pairs as a plan under rule mean-error, with the prices that prove most of the wrong answers."""
    reached = float(np.ceil(most_errors(instance, pairs).mean() / GRID) * GRID)
    if reached >= 0.5:
        raise OutOfReach(
            f"so little money leaves {reached:.4g} of the answers wrong, and a plan states less than 0.5; allow more"
        )
    stated = instance.with_epsilon(max(GRID, reached))
    assert not breaches(stated, pairs)
    known, allowed = Certificate(None, -np.inf, "none", None, None), float(stated.epsilon.sum())
    if duals is not None:  # every plan with E wrong answers costs at least ``money - (E - least) price``
        price = -duals.wrong
        size = money + (allowed + abs(least)) * price
        least -= NOISE * size / price
        proven = lowered(money - (allowed - least) * price, size)
        proven = next_integer(proven) if stated.has_whole_prices else proven
        known = Certificate(None, proven, "certificate", None, None)
    spending = {"money": float(money), "wrong": float(most_errors(stated, pairs).sum())}
    if duals is not None:
        spending["wrong_bound"] = max(0.0, least)
    plan = Plan.of(stated, "ip", known, known.bound, duals, pairs, method=method, backend="highs", seed=options.seed)
    return replace(plan, spending=spending)


STEPS = 12  # of bisection
CLOSE = 0.005  # relative; errors as near as that to what no plan can promise are good enough
WORST = 0.499  # an error that promises next to nothing

Lacks = Callable[[AssignmentInstance], bool]
# Pairs of a plan that keeps every limit, or None where none was found; and whether there is proven to be none.
Find = Callable[[AssignmentInstance], "tuple[Ints | None, bool]"]


@dataclass(frozen=True, eq=False)
class Promised(InNotebooks):
    """An error that a plan of so much money keeps for every task, and one below which none can.

    Parameters
    ----------
    epsilon : float, optional
        None: no plan was found.
    pairs : (k, 2) int, optional
        Task and worker of each label that keeps it.
    least_epsilon : float
        Proven by multipliers: of elastic LPs, or of programs without a plan.
    plan : Plan, optional
        A plan for that error, with what is known of its cost; None until it is asked for.
    by_rule : str
        Of which rule the errors are, where that asks for more than they do themselves.
    """

    epsilon: float | None
    pairs: Ints | None
    least_epsilon: float
    plan: Plan | None = None
    by_rule: str = ""

    @property
    def rules_out(self) -> bool:
        """Whether any error is proven to be out of reach."""
        return self.least_epsilon > LEAST


def smallest_promise(
    instance: AssignmentInstance, money: float, lacks: Lacks | None, find: Find, clock: Clock
) -> Promised:
    """Bisect the target between the largest that is ruled out and guessing; keep the best plan that was found.

    lacks: whether linear programs prove that an instance has no plan, None where these take too long; clock: when to
    stop; a first plan is looked for even then.
    """
    limited = replace(instance, budget=money)
    least = LEAST if lacks is None else least_target(limited, lacks, clock.part(0.5))
    low, high, best = float(np.log(least)), float(np.log(WORST)), Promised(None, None, least, by_rule=by_rule(instance))
    for step in range(STEPS):
        if high - low <= CLOSE or (clock.over and step):
            break
        middle = high if step == 0 else (low + high) / 2
        epsilon = float(np.exp(middle))
        pairs, refuted = find(limited.with_epsilon(epsilon))
        least = max(least, epsilon) if refuted else least
        if pairs is None or breaches(limited.with_epsilon(epsilon), pairs):
            if step == 0:
                break
            low = middle
        else:
            kept = rounded_up(max(least, error_kept(limited.with_epsilon(epsilon), pairs)))
            best = replace(best, epsilon=min(epsilon, kept), pairs=pairs)
            high = min(middle, float(np.log(kept)))
    return replace(best, least_epsilon=least)
