"""How much gold, how many preliminary workers: what the theorems promise for it, and what simulation says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite, log
from typing import Annotated, Any

import numpy as np

from crowdopt.assign.shortage import rounded_up, shortage
from crowdopt.crowd.alike import refuse_joint_limits
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError, OutOfReach, public
from crowdopt.io.settings import alone
from crowdopt.notebooks import InNotebooks
from crowdopt.online import theorems
from crowdopt.online.crowds import simulated_stream
from crowdopt.online.policies import named
from crowdopt.online.replay import replay
from crowdopt.online.run_score import answers_of, realised_error
from crowdopt.said import Said, Seed, Verb, Word
from crowdopt.solvers import solve_whole
from crowdopt.verbs.binding import InstanceLike, instance_of
from crowdopt.verbs.solve import probe, solve

GOLDS = (5, 10, 20, 40)
USED = 1e-9  # of a label; an LP gives a pair nothing where it gives less


@dataclass(frozen=True)
class GoldRow:
    """One amount of gold, and what is promised and simulated with it."""

    gold: int  # s, gold tasks per worker and type
    gold_labels: int  # ``ceil((1 + gamma) m) s T``
    tolerance: float  # t of Lemma 2 with the union bound over all workers and types: every skill is known within it
    epsilon: float  # epsilon' of Theorem 3; above 1 where 4t reaches qmin, which promises nothing
    # Theorem 4's error with skills from this gold and prices of the whole crowd; 1: nothing is promised
    learned_error: float
    error: float  # Theorem 5's, for the Main Algorithm
    labels_ratio: float  # 1 and inf: nothing is promised
    # means over simulated runs of the Main Algorithm with that gold and the campaign's own target: labels in all, gold
    # included; share of tasks that truly lack evidence; share of wrong answers
    labels: float | None = None
    short: float | None = None
    wrong: float | None = None


@dataclass(frozen=True)
class GoldPlan(InNotebooks):
    """What the theorems of Ho, Jabbari & Vaughan 2013 promise for amounts of gold."""

    target: float  # the campaign's strictest epsilon, or the least one with a plan if no plan keeps that
    lp: float  # labels (or cost) of the LP with skills known
    # the least mean evidence per label of a task, and of a pair, in the LP's optimum
    least_quality: float
    assigned_quality: float
    # preliminary workers per worker, and the least that Theorem 5 accepts, 1/C
    gamma: float
    least_gamma: float
    preliminary: int  # that many workers
    asked: int  # s of Theorem 5 as printed. With it l1 is 1, so that nothing is promised yet
    useful: int  # four times as many: l1 is 1/2
    first_exponent: float  # Theorem 5's l2 is below 1 only for targets below ten to this power, whatever the gold
    # Theorem 2's error as printed and as it has to read; above 1 they say nothing
    printed_error: float
    mended_error: float
    rows: list[GoldRow]
    unmet: float | None = None  # the campaign's strictest epsilon, where no plan keeps it by rule hoeffding


@public
def plan_gold(
    campaign: InstanceLike,
    *,
    epsilon: float | None = None,
    golds: Annotated[Sequence[int], Word("--gold", listed=True)] = GOLDS,
    gamma: float = 0.3,
    delta: float = 0.1,
    trials: int = 5,
    seed: Seed = 0,
    trust_gold: bool = False,
    time_limit: float = 60.0,
) -> GoldPlan:
    """Plan gold for a campaign whose skills are about as it says (rule hoeffding, for which the theorems are proved).

    Parameters
    ----------
    campaign : AssignmentInstance or path
        An instance, or the folder of a campaign.
        Its accuracies stand for the crowd to come; simulated preliminary workers are drawn from the same.
    epsilon : float, optional
        Error target in place of the campaign's.
    golds : sequence of int
        Numbers of gold tasks per worker and type to try.
    gamma : float
        Number of preliminary workers for each worker, in (0, 1].
    delta : float
        Probability with which the theorems' promise may fail, in (0, 1/2).
    trials : int
        Number of simulated runs; 0: none.
    seed : int
        Seed of the simulation.
    trust_gold : bool
        Take gold as it is, below chance too.
    time_limit : float
        Seconds for the LP of the known skills.

    Returns
    -------
    GoldPlan

    Raises
    ------
    InputError
        If there are more than two classes, no plan for any target, or a number is out of range.

    Reads
    -----
    a campaign

    Writes
    ------
    nothing

    Examples
    --------
    ::

        crowdopt plan-gold my-campaign --epsilon 0.3 --gold 5,10 --trials 2
    """
    instance = alone(instance_of(campaign, None, epsilon, trust_gold=trust_gold))
    refuse_joint_limits(instance, "plan-gold", "its theorems are proved for the program without them")
    if instance.classes != 2:
        raise InputError(f"the theorems on gold are about labels +1 and -1: for 2 classes, not {instance.classes}")
    if not golds or min(golds) < 1 or trials < 0:
        raise InputError("gold must be at least 1 task per worker and type, and trials at least 0")
    one, unmet = replace(instance, rule="hoeffding"), None
    linear = solve(one, program="lp", time_limit=time_limit, require="served")
    if linear.pairs is None:
        one, unmet = _within_reach(one, time_limit), float(one.epsilon.min())
        linear = solve(one, program="lp", time_limit=time_limit, require="served")
    if linear.pairs is None or linear.amounts is None or linear.objective is None:
        raise InputError(f"no plan was found within {time_limit:g} s; give a longer --time-limit")
    used = linear.pairs[linear.amounts > USED]
    least = float((linear.evidence / linear.task_labels)[linear.task_labels > USED].min())
    assigned = float(one.evidence[one.task_type[used[:, 0]], used[:, 1]].min())
    size = (one.n_tasks, one.n_workers, one.n_types, float(one.epsilon.min()), delta, least, gamma)
    printed = theorems.theorem_5(*size)
    sampled = theorems.theorem_2(one.n_tasks, one.n_workers, size[3], delta, gamma, assigned)
    needed = (6 * log(4 / delta)) ** 2 / gamma
    promised = [theorems.theorem_5(*size, gold=s, quality=least, assigned_quality=assigned) for s in golds]
    rows = [_row(one, guarantee, least) for guarantee in promised]
    if trials:
        rows = [replace(row, **_simulated(one, row.gold, gamma, trials, seed)) for row in rows]
    return GoldPlan(
        target=size[3],
        lp=linear.objective,
        least_quality=least,
        assigned_quality=assigned,
        gamma=gamma,
        least_gamma=printed.least_gamma,
        preliminary=int(np.ceil(gamma * one.n_workers - 1e-9)),
        asked=printed.gold,
        useful=4 * printed.gold,
        first_exponent=-needed / 2 / log(10),
        printed_error=sampled.printed_error,
        mended_error=sampled.error,
        rows=rows,
        unmet=unmet,
    )


def _within_reach(one: AssignmentInstance, time_limit: float) -> AssignmentInstance:
    """The instance with the least target for which the theorems' rule has a plan."""
    lack = shortage(one, probe(time_limit))
    if lack is None or lack.epsilon_within_reach is None:
        raise OutOfReach(
            "even with skills known no plan covers every task under rule hoeffding, which the theorems are about, "
            "whatever the target; crowdopt explain --rule hoeffding says why"
        )
    return replace(one, epsilon=np.full(one.n_tasks, rounded_up(lack.epsilon_within_reach)))


def _row(one: AssignmentInstance, promised: theorems.Guarantee, least: float) -> GoldRow:
    learned = theorems.error_after(float(one.epsilon.min()), promised.tolerance, least, least)
    return GoldRow(
        promised.gold,
        promised.gold_labels,
        promised.tolerance,
        promised.epsilon,
        learned,
        promised.error,
        promised.labels_ratio,
    )


def _simulated(one: AssignmentInstance, gold: int, gamma: float, trials: int, seed: int) -> dict[str, Any]:
    def drawn(rng: np.random.Generator, count: int) -> AssignmentInstance:
        chosen = rng.integers(0, one.n_workers, count)
        return replace(
            one,
            accuracy=one.accuracy[:, chosen],
            capacity=one.capacity[chosen],
            cost=one.cost[:, chosen],
            min_load=one.min_load[chosen],
            forbidden=np.zeros((0, 2), np.int64),
            workers=None,
        )

    labels, short, wrong = [], [], []
    for k in range(trials):
        policy = named(f"main-algorithm:gold={gold}:gamma={gamma}")
        stream = simulated_stream(one, (seed, k), policy.preliminary(one.n_workers), drawn)
        run = replay(policy, stream, seed, solve_whole)
        bought = np.bincount(run.task, weights=_evidence(run), minlength=one.n_tasks)
        labels.append(run.total_labels)
        short.append(float((bought < run.stream.instance.need - 1e-6).mean()))
        wrong.append(realised_error(run, answers_of(run)) or 0.0)
    return {"labels": float(np.mean(labels)), "short": float(np.mean(short)), "wrong": float(np.mean(wrong))}


def _evidence(run: Any) -> Any:
    instance = run.stream.instance
    return instance.evidence[instance.task_type[run.task], run.worker]


HEAD = ("gold", "gold labels", "skills within", "Theorem 4", "Theorem 5", "labels /IP", "labels", "short", "wrong")


def _lines(plan: GoldPlan) -> list[str]:
    mended = "nothing" if plan.mended_error >= 1 else f"{plan.mended_error:.3g}"
    said = (
        []
        if plan.unmet is None
        else [
            f"target {plan.unmet:g}: even with skills known no plan covers every task under rule hoeffding, which the "
            f"theorems are about (crowdopt explain --rule hoeffding says why); this is for {plan.target:g}, the least "
            "that is known to have one"
        ]
    )
    said += [
        f"target {plan.target:g}: with skills known the LP takes {plan.lp:.1f}; a label of its plan brings a task at "
        f"least {plan.least_quality:.4g} of evidence on average, and {plan.assigned_quality:.4g} at worst",
        f"preliminary workers: {plan.preliminary} (gamma {plan.gamma:g}; Theorem 5: {plan.least_gamma:.3g} or more)",
        f"Theorem 5 as printed asks for {plan.asked} gold tasks per worker and type, with which its loss l1 is 1 and "
        f"nothing is promised; {plan.useful} make l1 one half",
        f"Theorems 2 and 5 promise an error only for targets below 1e{plan.first_exponent:.0f}, whatever the gold; "
        f"Theorem 2 at this target: printed {plan.printed_error:.3g}, mended {mended}",
        "  ".join(f"{name:>13}" for name in HEAD),
    ]
    said += ["  ".join(f"{cell:>13}" for cell in _cells(row)) for row in plan.rows]
    return [
        *said,
        "- : nothing is promised. labels, short, wrong: simulated, gold included, as printed (no stop, no repair)",
    ]


def _cells(row: GoldRow) -> list[str]:
    return [
        str(row.gold),
        str(row.gold_labels),
        f"{row.tolerance:.3g}",
        "-" if row.learned_error >= 1 else f"{row.learned_error:.3g}",
        "-" if row.error >= 1 else f"{row.error:.3g}",
        "-" if not isfinite(row.labels_ratio) else f"{row.labels_ratio:.3g}",
        "" if row.labels is None else f"{row.labels:.0f}",
        "" if row.short is None else f"{row.short:.1%}",
        "" if row.wrong is None else f"{row.wrong:.2%}",
    ]


VERBS = (Verb("plan-gold", plan_gold, lambda plan: Said(asdict(plan), _lines(plan)), follows=True),)
