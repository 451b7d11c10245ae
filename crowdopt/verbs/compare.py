"""The verb compare: online policies on the same arrivals, against the offline optimum; and one policy by itself."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from crowdopt.assign.plan import Plan
from crowdopt.core.solution import Status
from crowdopt.crowd.alike import of_tasks
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.law import NONE
from crowdopt.crowd.linear_rule import policies_rule
from crowdopt.crowd.rules import refuse_average
from crowdopt.errors import InputError
from crowdopt.io.campaign import LabelRecord, read_record
from crowdopt.io.results import WORK, check_comparison, write_comparison_tables
from crowdopt.online.crowds import breach as named_breach
from crowdopt.online.limits import Least, least
from crowdopt.online.policies import policies as policies
from crowdopt.online.run_score import Optimum
from crowdopt.pages.charts import Undrawn, save_all
from crowdopt.pages.comparison_page import charts
from crowdopt.said import Listed, Said, Verb
from crowdopt.solvers import solve_whole
from crowdopt.studies import online_trials
from crowdopt.studies.online_trials import Comparison as Comparison
from crowdopt.studies.online_trials import Setting, TrialOptions, attainable, play, texts, with_gold
from crowdopt.verbs.binding import AnyPath, InstanceLike, TableLike, instance_of, keywords
from crowdopt.verbs.solve import solve
from crowdopt.verbs.study_options import StudyOptions, policy_table
from crowdopt.version import __version__


@dataclass(frozen=True, kw_only=True)
class CompareOptions(StudyOptions):
    """Options of a comparison: its policies, its labels, and how often they are tried.

    Parameters
    ----------
    policies : sequence of str
        Policies, separated by commas; a policy's options follow colons: name:option=value:flag. Greedy is added,
        because it stands beside every ratio.
    labels : path, optional
        Replay these labels (task,worker,label).
    truth : path, optional
        Known answers to these tasks: task,label. ``gold_share`` of them serve as gold.
    record : LabelRecord, optional
        The same as arrays, in place of ``labels`` and ``truth``.
    gold_share : float
        Share of the tasks of known truth that is held out as gold.
    breach : str
        How simulated workers deviate from the model: difficulty=.3,clique=.2,drift=.1. (crowdopt.online.crowds)
    rule : str, optional
        Rule of evidence, in place of the campaign's.
    epsilon : float, optional
        Error probability of every task, in place of the campaign's.
    trust_gold : bool
        Take gold as it is, below chance too.
    time_limit : float
        Seconds for the offline plan. Its bound needs milliseconds.
    """

    policies: Listed = field(kw_only=False)
    labels: TableLike | None = None
    truth: TableLike | None = None
    record: LabelRecord | None = None
    gold_share: float = 0.2
    breach: str = ""
    rule: str | None = None
    epsilon: float | None = None
    trust_gold: bool = False
    time_limit: float = 60.0


@keywords(CompareOptions)
def compare(campaign: InstanceLike, asked: CompareOptions) -> Comparison:
    """Run online policies on the same arrivals and hold each against the proven offline optimum.

    Policies go by needs. Under the rule exact-error, which has none that are enough, they go by those of the linear
    rule that implies it: its optimum stands beside that of exact errors, and exact errors say how many tasks missed.
    Where some tasks are hard for all workers, labels are simulated so (first which tasks are, then what is said of
    each), and policies go by needs of that rule which are mostly enough.

    Raises
    ------
    InputError
        If a policy or option is unknown, the instance has limits that no online policy knows, or something cannot be
        read or written.

    Reads
    -----
    a campaign; recorded labels and truth, if given

    Writes
    ------
    the folder: tables of trials and means, charts; report makes a page

    Examples
    --------
    ::

        crowdopt compare my-campaign --policies re-solve,greedy --trials 3 -o compared
    """
    if asked.output is not None:
        check_comparison(Path(asked.output), asked.force)
    if asked.truth is not None and asked.labels is None:
        raise InputError("--truth judges recorded labels; give them with --labels")
    instance = instance_of(campaign, asked.rule, asked.epsilon, trust_gold=asked.trust_gold)
    record = asked.record if asked.labels is None else read_record(instance, asked.labels, asked.truth)
    refuse_average(instance.the_rule, "compare")
    if instance.confusion is not None and record is None:
        raise InputError("simulated workers have one accuracy each; with gold by class compare recorded labels")
    if asked.trials < 1:
        raise InputError(f"the number of trials must be at least 1, not {asked.trials}")
    wanted = texts(asked.policies)
    instance, held = with_gold(instance, record, asked.gold_share, asked.seed)
    offline = attainable(instance, record)
    shown = policies_rule(offline)
    linear = _whole(solve(shown, program="lp", time_limit=asked.time_limit, require="served"))
    optimum = _beside_the_promise(_optimum(shown, linear, asked.time_limit), offline, asked.time_limit)
    prices = None if linear.duals is None else linear.duals.task
    setting = Setting(instance, record, held, prices if linear.found else None, str(named_breach(asked.breach)))
    setting.stream(asked.seed, 0, 0)  # refuses what cannot be streamed before anything is computed
    with TemporaryDirectory() as spare:
        folder = Path(spare) if asked.output is None else Path(asked.output) / WORK
        possible = _least(instance) if record is None else None
        trials = TrialOptions(wanted, asked.trials, asked.seed)
        comparison = play(setting, trials, row, folder, asked.processes, optimum, possible)
    if asked.output is None:
        return comparison
    return replace(comparison, undrawn=_write(comparison, Path(asked.output), asked.trials, asked.seed))


def row(**arguments: Any) -> dict[str, Any]:
    """A row of a comparison as a job (crowdopt.jobs), with solvers bound to it."""
    return online_trials.row(solve_whole, **arguments)


def possible_facts(least_cost: Least) -> dict[str, Any]:
    """The lower bounds as plain numbers; None where no policy at all gets there with the labels there are."""
    numbers = {**asdict(least_cost), "cost": least_cost.cost}
    return {key: None if value == float("inf") else value for key, value in numbers.items()}


def _least(instance: AssignmentInstance) -> Least | None:
    """What is possible by the model of one coin and independent errors; nothing is known where labels are in."""
    # Limits of groups and hard tasks aside: without them a policy can only do better, so the bounds hold. It could make
    # tasks hard by itself, by taking a fair coin now and then for what a worker said.
    if instance.collected.size and not instance.observed:
        return None
    return least(replace(instance, groups=(), difficulty=NONE), solve_whole)


def _optimum(instance: AssignmentInstance, linear: Plan, time_limit: float) -> Optimum:
    """The best bound that multipliers prove; a branch-and-bound bound only where there is no other."""
    if not linear.found:
        return Optimum(None, None, None, rule=instance.rule)
    plan = _whole(solve(instance, time_limit=time_limit, require="served"))
    if plan.status is Status.INFEASIBLE:  # shares of labels would do
        return Optimum(None, None, None, rule=instance.rule)
    bound = _proven(plan, linear.bound if linear.proof == "certificate" else 0.0)
    return Optimum(bound, linear.objective, plan.objective, "certificate", instance.rule)


def _proven(plan: Plan, least: float = 0.0) -> float:
    return float(plan.bound if plan.proof == "certificate" else max(plan.certified_bound, least))


def _beside_the_promise(optimum: Optimum, instance: AssignmentInstance, time_limit: float) -> Optimum:
    """The optimum with that of the instance's own rule beside it, where this is no linear one."""
    # Tasks held out as gold are left out: an exact error is held against its target whatever share of a need is asked.
    if not instance.the_rule.implied_by:
        return optimum
    optimum = replace(optimum, implied=not instance.difficulty.share)
    asking = np.flatnonzero(instance.demand > 0)
    if not asking.size:
        return replace(optimum, promise=instance.rule, promise_bound=0.0, promise_found=0.0)
    part = instance if asking.size == instance.n_tasks else of_tasks(instance, asking)
    plan = _whole(solve(part, time_limit=time_limit, require="served"))
    bound = None if plan.status is Status.INFEASIBLE else _proven(plan)
    return replace(optimum, promise=instance.rule, promise_bound=bound, promise_found=plan.objective)


def _whole(plan: Plan) -> Plan:
    """The plan; an interrupted one would be a weaker bound than another run's, and nothing would tell."""
    if plan.interrupted:
        raise KeyboardInterrupt
    return plan


def _write(comparison: Comparison, folder: Path, trials: int, seed: int) -> list[str]:
    """Write tables and charts of a comparison; returns what could not be drawn, as sentences."""
    optimum = asdict(comparison.optimum)
    possible = None if comparison.least is None else possible_facts(comparison.least)
    beside = {"possible": possible, "constant_error": comparison.constant_error, "breach": comparison.breach}
    facts = {"title": comparison.title, "trials": trials, "seed": seed, "reference": comparison.reference}
    facts |= {"optimum": optimum, **beside, "failed": comparison.failed}
    facts |= {"advice": comparison.advice, "version": __version__}
    sentences = []
    try:
        drawings = charts(comparison.summary, optimum, possible)
        save_all({f"{name}.png": chart for name, chart in drawings.items()}, folder)
    except Undrawn as error:
        sentences.append(str(error))
    write_comparison_tables(folder, facts, comparison.rows, comparison.summary, comparison.timings)
    return sentences


def _sentences(found: Comparison) -> list[str]:
    """A short table: cost against what offline plans and any policy need, shortfall, errors claimed and true."""
    said = [*found.offline, *_beside(found)]
    return [*said, *policy_table(found.summary, found.columns), found.advice, *found.failed]


def _beside(found: Comparison) -> list[str]:
    said = []
    if found.least is not None and isfinite(found.least.cost):
        one = found.least
        learning = "" if one.unknown is None or not one.independent else f", {one.unknown:.0f} if they are not"
        least = one.information if one.known is None else one.known
        said.append(
            f"online, no policy keeps the mean error target below cost {least:.0f} even if skills are known{learning}"
        )
    elif found.least is not None:
        said.append("online, no policy keeps the mean error target: all the labels there are do not suffice")
    if found.constant_error is not None:
        said.append(f"without any label, the commonest answer is wrong {found.constant_error:.4f} of the time")
    return [*said, f"the crowd breaks the model: {found.breach}"] if found.breach else said


def _said(found: Comparison, output: AnyPath) -> Said:
    possible = None if found.least is None else possible_facts(found.least)
    facts: dict[str, Any] = {"comparison": str(output), "optimum": asdict(found.optimum), "policies": found.summary}
    facts |= {"possible": possible, "constant_error": found.constant_error, "breach": found.breach}
    lines = [*_sentences(found), *found.undrawn, f"wrote {output}"]
    return Said({**facts, "failed": found.failed}, lines, int(bool(found.failed)))


VERBS = (Verb("compare", compare, _said, needs=("output",)),)
