"""The verb budget: spend a sum of money, or a number of labels, where that helps most."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from crowdopt.arrays import Ints
from crowdopt.assign.budget import METHODS, least_wrong, smallest_promise
from crowdopt.assign.budget import Promised as Promised
from crowdopt.assign.budget import Spent as Spent
from crowdopt.assign.plan import Plan
from crowdopt.assign.search import quick_plan
from crowdopt.assign.shortage import SHARE
from crowdopt.core.solution import Status
from crowdopt.crowd.alike import classes_of
from crowdopt.crowd.groups import is_amount
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.io.folders import PLAN, check_target
from crowdopt.io.plan import run_facts, summary, write_plan
from crowdopt.io.settings import alone, overridden, stating
from crowdopt.notebooks import number, percent
from crowdopt.said import Said, Verb
from crowdopt.solvers import solve_whole
from crowdopt.verbs.binding import WHOLE, AnyPath, InstanceLike, content_of, instance_of, options_of, two_ways
from crowdopt.verbs.solve import probe, solve, unheeded

GOOD_ENOUGH_GAP = 0.01  # relative gap at which the plan for the smallest error is cheap enough
QUARTER = 0.25  # of the time left for one search of a plan that keeps an error exactly
KINDS = 100  # of tasks, up to which one linear program after the other is asked what no plan can promise
MOMENT = 0.5  # seconds for one more plan at least


@dataclass(frozen=True, kw_only=True)
class SpendOptions:
    """Options of spending: how much, how, and where the plan is written.

    Parameters
    ----------
    labels : int, optional
        Number of labels to buy, whatever they cost.
    money : float, optional
        Money to spend, at the campaign's prices.
    method : str
        greedy; exact, the fewest over sets of labels; auto: the better of both. For the average alone.
    trust_gold : bool
        Take gold as it is, below chance too.
    time_limit : float
        Seconds in all.
    seed : int
        Seed of the solver.
    output : path, optional
        Plan folder to write.
    force : bool
        Replace the plan if it exists.
    """

    labels: int | None = None
    money: float | None = None
    method: str = "auto"
    trust_gold: bool = False
    time_limit: float = 60.0
    seed: int = 0
    output: AnyPath | None = None
    force: bool = False


@dataclass(frozen=True, kw_only=True)
class PromiseOptions(SpendOptions):
    """Options of the smallest error that every task keeps."""

    promise: Literal["each"]


@dataclass(frozen=True, kw_only=True)
class BudgetOptions(SpendOptions):
    """Options of the fewest wrong answers or, with ``promise``, of the smallest error that every task keeps.

    Parameters
    ----------
    promise : str
        What is made small: the average error, or the largest error of a task. ``average``: the fewest wrong answers in
        all, ``min sum_i e_i  s.t.  sum c_ij y_ij <= money``; ``each``: the smallest error that every task keeps.
    """

    promise: Literal["average", "each"] = "average"


@two_ways(PromiseOptions, Promised, BudgetOptions, Spent)
def budget(campaign: InstanceLike, asked: BudgetOptions) -> Spent | Promised:
    """Spend so many labels, or so much money, where that helps most, and say what no plan can do with it.

    Returns
    -------
    Spent or Promised
        Either has the ``plan``; a promise has None where none was found, and then nothing is written.

    Raises
    ------
    InputError
        If not exactly one of ``labels`` and ``money`` is given, or something is out of range, unknown to the method,
        or cannot be read or written.

    Reads
    -----
    a campaign

    Writes
    ------
    a plan folder, as solve does

    Examples
    --------
    ::

        crowdopt budget my-campaign --labels 60 -o spent
    """
    if asked.output is not None:
        check_target(Path(asked.output), PLAN, asked.force)
    if (asked.labels is None) == (asked.money is None):
        raise InputError("say what there is to spend: either --labels or --money")
    instance = instance_of(campaign, trust_gold=asked.trust_gold)
    if asked.promise == "average":
        instance = alone(instance)
    if asked.labels is not None:
        instance = overridden(instance, {"price": 1.0})
    amount = float(asked.labels) if asked.labels is not None else float(asked.money or 0.0)
    found: Spent | Promised
    if asked.promise == "each":
        found = promised_to_each(instance, amount, time_limit=asked.time_limit, seed=asked.seed)
    else:
        found = spend(instance, amount, method=asked.method, time_limit=asked.time_limit, seed=asked.seed)
    if found.plan is not None:
        found.plan.held_against(found.plan.instance)
    if asked.output is not None and found.plan is not None:
        write_plan(found.plan, asked.output, force=asked.force, content=content_of(campaign))
    return found


def spend(
    instance: AssignmentInstance, money: float, *, method: str = "auto", time_limit: float = 60.0, seed: int = 0
) -> Spent:
    """The least expected number of wrong answers for a sum of money: ``min sum_i e_i  s.t.  sum c_ij y_ij <= money``.

    money: with prices of 1 a number of labels; method: ``greedy``, with its guarantee and a certified bound; ``exact``,
    the fewest over sets of labels; ``auto``: the better of both where tasks are of at most 400 kinds, else greedy;
    time_limit: seconds in all.
    """
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    _refuse_amount(money)
    started, clock = datetime.now(UTC), perf_counter()
    stated = stating(instance, "rule", "epsilon")
    spent = least_wrong(stated, money, solve_whole, options_of(time_limit, seed), method)
    note = "; ".join(filter(None, [spent.plan.note, unheeded(stated, spent.plan.pairs)]))
    started_at, seconds = started.isoformat(timespec="seconds"), perf_counter() - clock
    return replace(spent, plan=replace(spent.plan, note=note, seconds=seconds, started=started_at))


def promised_to_each(
    instance: AssignmentInstance, money: float, *, time_limit: float = 60.0, seed: int = 0
) -> Promised:
    """The smallest error that a plan of so much money keeps for every task, and the cheapest plan that keeps it.

    time_limit: seconds in all: one half for the error, one for the plan; -> without a plan where none was found.
    """
    if instance.the_rule.average:
        raise InputError("rule mean-error promises nothing to each task; choose another rule for --promise each")
    found = promise(instance, money, time_limit=time_limit / 2, seed=seed)
    if found.epsilon is None or found.pairs is None:
        return found
    stated = overridden(instance, {"epsilon": found.epsilon})
    return replace(found, plan=_cheapest(stated, found.pairs, time_limit / 2, seed))


def promise(instance: AssignmentInstance, money: float, *, time_limit: float = 60.0, seed: int = 0) -> Promised:
    """The smallest error that a plan found for so much money keeps for every task, and one that none can.

    time_limit: seconds in all; -> with pairs that keep the error, but without a plan.
    """
    _refuse_amount(money)
    asked = probe(options_of(time_limit, seed).time_limit)

    def soon(one: AssignmentInstance) -> tuple[Ints | None, bool]:
        return quick_plan(one, WHOLE, max(MOMENT, SHARE * asked.clock.left)), False

    def by_search(one: AssignmentInstance) -> tuple[Ints | None, bool]:
        plan = solve(one, time_limit=max(MOMENT, QUARTER * asked.clock.left), gap=1.0, seed=seed, require="served")
        return plan.pairs, plan.status is Status.INFEASIBLE and plan.proof == "certificate"

    if not instance.the_rule.checked:
        return smallest_promise(instance, money, asked.lacks_shares, soon, asked.clock)
    few = classes_of(instance, joint=True).need.size <= KINDS
    return smallest_promise(instance, money, asked.lacks_shares if few else None, by_search, asked.clock)


def _refuse_amount(money: float) -> None:
    if not is_amount(money):
        raise InputError(f"the sum to spend must be finite and at least 0, not {money}")


def _cheapest(instance: AssignmentInstance, pairs: Ints, time_limit: float, seed: int) -> Plan:
    """A plan with a bound for the error promised: the pairs found, unless there is a cheaper one."""
    plan = solve(instance, time_limit=time_limit, gap=GOOD_ENOUGH_GAP, seed=seed, require="served")
    cost = float(instance.prices(pairs).sum())
    if plan.found and plan.objective is not None and plan.objective <= cost:
        return plan
    known = plan.certificate, plan.certified_bound, plan.duals
    return Plan.of(instance, "ip", *known, pairs, method="budget", backend=plan.backend, seed=seed)


def _facts(plan: Plan, output: AnyPath) -> dict[str, Any]:
    return {**summary(plan), **run_facts(plan), "plan": str(output)}


def _known(spent: Spent) -> dict[str, Any]:
    return {"wrong": spent.wrong, "wrong_bound": spent.wrong_bound, "guarantee": spent.guarantee}


def _sentences(spent: Spent, output: AnyPath) -> list[str]:
    plan, n = spent.plan, spent.plan.instance.n_tasks
    wrong = f"{spent.wrong:.4g} of {n} answers expected to be wrong ({percent(spent.wrong / n)})"
    least = f"no plan of that cost expects fewer than {spent.wrong_bound:.4g} (certificate)"
    ahead = f"greedy is sure of {percent(spent.guarantee or 0.0)} of the gain of any plan, by the Bhattacharyya bound"
    return [
        f"{plan.labels:g} labels, cost {number(plan.objective)} of {number(spent.money)}, "
        f"by method {spent.method}: {wrong}",
        least if spent.wrong_bound > 0 else "what other plans of that cost expect is not known",
        *filter(None, [ahead if spent.guarantee is not None and spent.method == "greedy" else "", plan.note]),
        f"wrote {output} in {plan.seconds:.2f} s",
    ]


def _said(found: Spent | Promised, output: AnyPath, labels: int | None, money: float | None) -> Said:
    if isinstance(found, Spent):
        return Said({**_facts(found.plan, output), **_known(found)}, _sentences(found, output))
    spent = float((money if labels is None else labels) or 0)
    facts = {"epsilon": found.epsilon, "least_epsilon": found.least_epsilon}
    least = (
        f"{found.by_rule}no plan of {number(spent)} promises each task under {found.least_epsilon:.4g} (certificate)"
    )
    if not found.rules_out:
        least = "no error is ruled out"
    plan = found.plan
    if plan is None:
        return Said(facts, ["no plan was found that promises each task anything", least], 1)
    said = f"{plan.labels:g} labels, cost {number(plan.objective)}: every task's error is at most {found.epsilon:.4g}"
    if found.by_rule and plan.vote_error is not None:
        said += f" {found.by_rule.strip()}, {plan.vote_error.max():.4g} by its vote's exact error"
    return Said({**_facts(plan, output), **facts}, [said, least, f"wrote {output}"])


VERBS = (Verb("budget", budget, _said, needs=("output",), follows=True),)
