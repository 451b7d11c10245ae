"""The calls about online policies: replay one, compare many, write down what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from crowdopt.api.assign import assign
from crowdopt.assign.plan import Plan
from crowdopt.backends import solve_whole
from crowdopt.crowd.evidence import refuse_average
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.io.comparison_folder import WORK, check_comparison, write_comparison_tables
from crowdopt.io.label_record import LabelRecord, read_record
from crowdopt.online.arrivals import Stream
from crowdopt.online.ledger import Run
from crowdopt.online.limits.least_cost import Least, least
from crowdopt.online.misspecified import breach as named_breach
from crowdopt.online.policy import BasePolicy
from crowdopt.online.replay import replay as replay_with
from crowdopt.online.run_score import Optimum
from crowdopt.report.charts import save
from crowdopt.report.comparison_page import charts, markdown
from crowdopt.studies.online_trials import Comparison, Setting, attainable, play, texts, with_gold
from crowdopt.version import __version__

__all__ = ["WORK", "check_comparison", "compare", "read_record", "replay", "write_comparison"]


def replay(policy: BasePolicy, stream: Stream, seed: int = 0) -> Run:
    """Run a fresh online policy over a whole stream; crowdopt.online.replay.Replay stops and resumes at any arrival."""
    return replay_with(policy, stream, seed, solve_whole)


def compare(
    instance: AssignmentInstance,
    policies: Sequence[str],
    trials: int = 20,
    seed: int = 0,
    record: LabelRecord | None = None,
    gold_share: float = 0.2,
    time_limit: float = 60.0,
    processes: int = 0,
    folder: Path | None = None,
    breach: str = "",
) -> Comparison:
    """Run online policies on the same streams and hold each against the offline optimum of the same instance.

    Parameters
    ----------
    policies : sequence of str
        Such as ``main-algorithm:gamma=.3:gold=20``; greedy is added, because it stands beside every ratio.
    trials, seed : int
        Each trial is a random order of the workers with one label for each pair.
    record : LabelRecord, optional
        Replay these labels in place of simulated ones; ``gold_share`` of the tasks of known truth serve as gold.
    time_limit : float
        Seconds for the offline plan; its bound needs milliseconds.
    processes : int
        Spawned processes; 0: in this one.
    folder : Path, optional
        Where finished rows are kept, so that a second call goes on from them.
    breach : str
        How simulated workers break the model, as in ``difficulty=.3,clique=.2,drift=.1``
        (crowdopt.online.misspecified).

    Raises
    ------
    InputError
        If a policy or option is unknown, or the campaign has limits that no online policy knows.
    """
    refuse_average(instance.the_rule, "compare")
    if trials < 1:
        raise InputError(f"the number of trials must be at least 1, not {trials}")
    wanted = texts(policies)
    instance, held = with_gold(instance, record, gold_share, seed)
    offline = attainable(instance, record)
    linear = _whole(assign(offline, program="lp", time_limit=time_limit))
    optimum, prices = _optimum(offline, linear, time_limit), None if linear.duals is None else linear.duals.task
    setting = Setting(instance, record, held, prices if linear.found else None, str(named_breach(breach)))
    setting.stream(seed, 0, 0)  # refuses what cannot be streamed before anything is computed
    with TemporaryDirectory() as spare:
        least = _least(instance) if record is None else None
        return play(setting, wanted, trials, seed, optimum, folder or Path(spare), processes, least)


def _least(instance: AssignmentInstance) -> Least | None:
    """What is possible by the model of two classes and independent errors; nothing is known of other campaigns."""
    if instance.classes != 2 or (instance.collected.size and not instance.observed):
        return None
    return least(instance, solve_whole)


def _optimum(instance: AssignmentInstance, linear: Plan, time_limit: float) -> Optimum:
    """The best bound that multipliers prove; a branch-and-bound bound only where there is no other."""
    if not linear.found:
        return Optimum(None, None, None)
    plan = _whole(assign(instance, time_limit=time_limit))
    certified = max(plan.certified_bound, linear.bound if linear.proof == "certificate" else 0.0)
    bound, proof = (plan.bound, plan.proof) if plan.proof == "certificate" else (certified, "certificate")
    return Optimum(float(bound), linear.objective, plan.objective, proof)


def _whole(plan: Plan) -> Plan:
    """The plan; an interrupted one would be a weaker bound than another run's, and nothing would tell."""
    if plan.interrupted:
        raise KeyboardInterrupt
    return plan


def write_comparison(comparison: Comparison, folder: Path, trials: int, seed: int) -> list[str]:
    """Write tables, page and charts of a comparison; returns what could not be drawn, as sentences."""
    optimum = asdict(comparison.optimum)
    possible = None if comparison.least is None else possible_facts(comparison.least)
    beside = {"possible": possible, "constant_error": comparison.constant_error, "breach": comparison.breach}
    page = markdown(comparison.title, optimum, comparison.summary, comparison.timings, trials, beside)
    facts = {"title": comparison.title, "trials": trials, "seed": seed, "reference": comparison.reference}
    facts |= {"optimum": optimum, **beside, "failed": comparison.failed, "version": __version__}
    said = []
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for name, chart in charts(comparison.summary, optimum, possible).items():
            save(chart, folder / f"{name}.png")
    except InputError as error:
        said.append(str(error))
    write_comparison_tables(folder, facts, comparison.rows, comparison.summary, comparison.timings, page)
    return said


def possible_facts(found: Least) -> dict[str, Any]:
    """The lower bounds as plain numbers; None where no policy at all gets there with the labels there are."""
    numbers = {**asdict(found), "cost": found.cost}
    return {key: None if value == float("inf") else value for key, value in numbers.items()}
