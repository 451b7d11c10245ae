"""The method patterns: the true minimum under exact errors, each task's or their average, where skills are few."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.checked import settled
from crowdopt.assign.patterns.columns import Columns, Goal, PatternPrices
from crowdopt.assign.patterns.deal import deal, patterns_of_tasks
from crowdopt.assign.patterns.proven_prices import prices_prove, told_apart
from crowdopt.assign.plan import Duals, Plan
from crowdopt.core.certificate import BOUND, Certificate, next_integer
from crowdopt.core.clock import Clock
from crowdopt.core.program import Program
from crowdopt.core.solution import BRANCHING, PROVEN, Listener, Options, Progress, Solution, Solve, Status, relative_gap
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.kept import breaches
from crowdopt.crowd.vote_errors import CERTAIN, are_compiled, most_errors
from crowdopt.errors import InputError
from crowdopt.programs.patterns import PatternSet, of_menu
from crowdopt.programs.pools import Pools, pools_of

POOLS = 24  # different skills and prices up to which nothing has to be rounded
EARLY = 0.5  # of the time left, for patterns among more than two classes
AMONG = 8  # the same among more than two classes, where an error costs more time
TIGHTER = 1e-7  # wrong answers; what a solver's tolerance may let slip in all
ROUNDS = 4  # of tightening
NOISE = 1e-6  # money; in a solver's bound
USUAL = Options()


@dataclass(frozen=True, eq=False)
class MenuPlan:
    """The cheapest plan over a menu."""

    menu: PatternSet  # the patterns to choose from
    count: Ints | None  # (patterns,): how many tasks have each; None: there is no plan
    value: float  # what the plan is minimised for; infinite without one
    claimed: float  # a bound that only the solver vouches for

    def pairs(self, pools: Pools) -> Ints | None:
        """The plan's labels dealt to the workers."""
        if self.count is None:
            return None
        return deal(pools, patterns_of_tasks(pools, self.menu.kind, self.menu.pattern, self.count))


@dataclass
class WatchedSolve:
    """A solve that remembers whether Ctrl-C cut one of its searches short."""

    solve: Solve
    interrupted: bool = False

    def __call__(
        self,
        program: Program,
        backend: str = "highs",
        options: Options = USUAL,
        listener: Listener | None = None,
    ) -> Solution:
        """Solve the program."""
        solution = self.solve(program, backend, options, listener)
        self.interrupted |= solution.interrupted
        return solution


def solve_patterns(
    instance: AssignmentInstance,
    solve: Solve,
    options: Options,
    pools: int | None = None,
    listener: Listener | None = None,
) -> Plan:
    """Plan over patterns: ``min sum c z`` such that every task's exact error, or their mean, keeps its target.

    instance: under the rule exact-error or mean-error.
    solve: ``solve(program, backend, options)``.
    options: limits of the whole.
    pools: round skills to at most so many values for each price: down for the plan, which the workers' own skills then
    keep all the more, and up for the bound. Default: as they are, if they are at most POOLS.
    """
    refuse(instance)
    clock = Clock(options.time_limit)
    if listener is not None and not are_compiled(instance.classes):
        listener(Progress(0.0, None, None, "compiling once"))
    wrong = float(instance.epsilon.sum()) if instance.the_rule.average else None
    below = pools_of(instance, pools)
    check_size(below, pools)
    watched = WatchedSolve(solve)
    plan = _planned(instance, below, pools, Goal(wrong), watched, options, clock)
    return replace(plan, interrupted=watched.interrupted)


def refuse(instance: AssignmentInstance) -> None:
    """InputError: what patterns cannot tell apart."""
    rules = ("exact-error", "mean-error")
    if instance.rule not in rules:
        raise InputError(f"method patterns counts exact errors; choose rule {' or '.join(rules)}, not {instance.rule}")
    if instance.difficulty.share:
        raise InputError("method patterns knows no difficulty: more labels may err more there; use method exact")
    own = {
        "forbidden pairs": len(instance.forbidden),
        "fixed pairs": len(instance.fixed),
        "collected labels": len(instance.collected),
        "minimum loads": instance.min_load.any(),
    }
    there = [name for name, present in own.items() if present]
    remedy = "choose rule exact-error and method exact" if instance.the_rule.average else "use method exact"
    if there:
        raise InputError(f"method patterns takes workers of a pool as alike: no {', '.join(there)}; {remedy}")


def can_list(instance: AssignmentInstance) -> bool:
    """Whether patterns can be used without rounding: no pairs of their own, and few skills."""
    try:
        refuse(instance)
        return pools_of(instance).sizes.size <= most_pools(instance)
    except InputError:
        return False


def most_pools(instance: AssignmentInstance) -> int:
    """Different skills and prices up to which patterns need no rounding."""
    return POOLS if instance.classes == 2 else AMONG


def check_size(pools: Pools, asked: int | None) -> None:
    """InputError where skills are too many and nobody asked to round them."""
    most = most_pools(pools.instance)
    if asked is None and pools.sizes.size > most:
        raise InputError(
            f"the workers have {pools.sizes.size} different skills or prices, more than {most}; "
            "round the skills: --method patterns:pools=8 (the plan then says how far from the optimum it can be)"
        )


def _planned(
    instance: AssignmentInstance,
    below: Pools,
    asked: int | None,
    goal: Goal,
    solve: Solve,
    options: Options,
    clock: Clock,
) -> Plan:
    columns = generated(below, goal, solve, options, clock)
    known, prices, exact = bounded(columns), columns.prices, True
    above = pools_of(instance, asked, up=True)
    if not np.array_equal(below.skill, above.skill):
        exact, (known, prices) = False, _bounded_above(instance, above, goal, solve, options, clock)
    elif prices is not None and not told_apart(instance)[1]:  # what verify can repeat
        proven = rounded(instance, prices_prove(instance, duals_of(instance, prices)))
        known = replace(known, bound=np.inf if columns.refutes(proven) else min(known.bound, proven))
    certified = known.bound
    best = cheapest(columns, solve, options, clock)
    pairs = best.pairs(columns.pools)
    if exact and best.claimed > known.bound + BOUND * max(1.0, abs(known.bound)):
        known = Certificate(None, rounded(instance, best.claimed - NOISE), "solver", None, None)
    if pairs is not None and not instance.the_rule.average and not (exact and instance.classes == 2):
        pairs = settled(instance, pairs, clock)  # the workers' own skills may do with less, or beliefs joined with more
    if pairs is not None and not _keeps(instance, pairs):
        pairs = None
    duals = None if prices is None else duals_of(instance, prices)
    return Plan.of(
        instance, "ip", known, certified, duals, pairs, method="patterns", backend="highs", seed=options.seed
    )


def generated(pools: Pools, goal: Goal, solve: Solve, options: Options, clock: Clock) -> Columns:
    """A menu complete enough for the linear program, with the bound that its prices prove."""
    turn = clock if pools.instance.classes == 2 else Clock(EARLY * clock.left)  # so that time is left for the plan
    columns = Columns(pools, goal, solve, options, lambda: 0.0 if turn.over else turn.left)
    columns.generate()
    return columns


def _bounded_above(
    instance: AssignmentInstance,
    above: Pools,
    goal: Goal,
    solve: Solve,
    options: Options,
    clock: Clock,
) -> tuple[Certificate, PatternPrices | None]:
    """What prices from skills rounded up prove for the workers' own."""
    # instance: with the workers' own skills; above: the same workers, skills rounded up.
    columns = generated(above, goal, solve, options, clock)
    known = bounded(columns)
    if columns.prices is None or not np.isfinite(known.bound):
        return known, columns.prices
    proven = prices_prove(instance, duals_of(instance, columns.prices))
    if told_apart(instance)[1]:  # what verify can repeat
        proven = max(proven, columns.bound * (1 - BOUND))
    return replace(known, bound=rounded(instance, proven)), columns.prices


def bounded(columns: Columns) -> Certificate:
    """What the prices prove; that there is no plan where the bound is more than all workers could be paid."""
    bound = columns.bound
    if columns.hopeless:
        return Certificate(None, np.inf, "certificate", None, None)
    proof = "certificate" if np.isfinite(bound) else "none"
    return Certificate(None, rounded(columns.pools.instance, bound), proof, None, None)


def rounded(instance: AssignmentInstance, bound: float) -> float:
    """The bound, at the next whole number where every price is one."""
    return next_integer(bound) if (instance.cost == np.rint(instance.cost)).all() else bound


def duals_of(instance: AssignmentInstance, prices: PatternPrices) -> Duals:
    """The prices as multipliers of a plan, each the change of the cost per unit of its row's side."""
    nothing = np.zeros(instance.n_tasks)
    return Duals(
        nothing,
        -prices.worker,
        nothing,
        1.0 - prices.money if instance.budget is not None else 0.0,
        form="patterns",
        wrong=-prices.wrong,
        levels=told_apart(instance)[0],
    )


def _keeps(instance: AssignmentInstance, pairs: Ints) -> bool:
    """Whether the pairs keep every limit and the rule's errors; pairs (k, 2): task and worker of each label."""
    above = most_errors(instance, pairs)
    fine = above.mean() <= instance.epsilon.mean() + CERTAIN if instance.the_rule.average else None
    if fine is None:
        fine = bool((above <= instance.epsilon + CERTAIN).all())
    return bool(fine) and not breaches(instance, pairs)


def cheapest(columns: Columns, solve: Solve, options: Options, clock: Clock) -> MenuPlan:
    """The best plan over the menu; where it does not meet the bound, over all patterns that a better one could use.

    columns: with the prices that its master ended with; patterns may be added.
    """
    lowest = columns.bound
    first = _over_menu(columns, solve, options, clock)
    sure = lowest if columns.goal.least_wrong else rounded(columns.pools.instance, lowest)
    enough = relative_gap(first.value, sure) <= max(PROVEN, options.gap)
    if columns.prices is None or enough or clock.over or columns.hopeless:
        return replace(first, claimed=lowest)
    complete = columns.add_below(min(first.value, columns.ceiling) - lowest)
    second = _over_menu(columns, solve, options, clock)
    best = second if second.value < first.value else first
    return replace(best, claimed=max(lowest, min(first.value, second.claimed)) if complete else lowest)


def _over_menu(columns: Columns, solve: Solve, options: Options, clock: Clock) -> MenuPlan:
    """Solve the integer program over the menu; a row of errors that the solver's tolerance let slip is tightened."""
    # columns: whose menu is chosen from.
    menu, limit, tight = columns.menu, columns.goal.wrong, 0.0
    for _ in range(ROUNDS):
        goal = replace(columns.goal, wrong=None if limit is None else limit - tight)
        program = of_menu(columns.pools, menu, goal.wrong, goal.least_wrong)
        solution = solve(program, BRANCHING, clock.within(options, options.nodes))
        claimed = -np.inf if solution.claimed_bound is None else solution.claimed_bound
        if solution.primal is None:
            return MenuPlan(menu, None, np.inf, np.inf if solution.status is Status.INFEASIBLE else claimed)
        count = np.rint(solution.primal).astype(np.int64)
        excess = -1.0 if limit is None else float((menu.error * count).sum()) - limit
        if excess <= CERTAIN * menu.kind.size and _holds(program, count, columns.pools):
            return MenuPlan(menu, count, float((program.cost * count).sum()), claimed)
        tight += max(excess, 0.0) + TIGHTER
    return MenuPlan(menu, None, np.inf, -np.inf)


def _holds(program: Program, count: Ints, pools: Pools) -> bool:
    """Whether whole numbers keep the rows of whole numbers: every task served, no pool asked for more than it has."""
    activity = program.matrix @ count
    whole = slice(0, program.row("supply").stop)
    served = bool((activity[program.row("task").span] == pools.tasks_in).all())
    return served and bool((activity[whole] <= program.row_upper[whole]).all())
