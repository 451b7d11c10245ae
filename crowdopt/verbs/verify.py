"""The verb verify: a second opinion on a plan, or on an audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from crowdopt import jobs
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan
from crowdopt.assign.plan import Plan
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.io.answers import read_answered
from crowdopt.io.audits import DRAW
from crowdopt.io.parts import is_in_parts
from crowdopt.notebooks import number
from crowdopt.recheck import audits, part_check, verification
from crowdopt.recheck.audits import AuditReport as AuditReport
from crowdopt.recheck.findings import Report as Report
from crowdopt.said import Processes, Said, Verb, Word
from crowdopt.verbs.audit import drawn_again, is_escalation, slices_said, stands_again
from crowdopt.verbs.binding import AnyPath, InstanceLike, PlanLike, on_disk, refuse_of_parts, two_ways
from crowdopt.verbs.plans_said import EACH, SO_APART, SO_SURE


@dataclass(frozen=True, kw_only=True)
class AuditVerified:
    """What an audit is verified against beside its answers; the report is then one of an audit."""

    plan: AnyPath = field(kw_only=False)
    commitment: str | None
    after: Sequence[AnyPath] = ()


@dataclass(frozen=True, kw_only=True)
class VerifyOptions:
    """Options of a verification: whose claims are checked, and with what.

    Parameters
    ----------
    plan : Plan or path
        A plan or its folder; or the folder of an audit.
    commitment : str, optional
        The audit's commitment, as it was handed on before the expert began.
    after : sequence of path
        An earlier audit that the audit must name; may be repeated.
    processes : int, optional
        Processes, for a campaign in parts. 0: in this one.
    cluster : str, optional
        Dask scheduler, for a campaign in parts. Such as tcp://host:8786.
    """

    plan: PlanLike = field(kw_only=False)
    commitment: str | None = None
    after: Sequence[AnyPath] = ()
    processes: Processes | None = None
    cluster: Annotated[str, Word(place="ADDRESS")] | None = None


@two_ways(AuditVerified, AuditReport, VerifyOptions, Report)
def verify(campaign: InstanceLike, asked: VerifyOptions) -> Report | AuditReport:
    """Hold a plan against its campaign, or an audit against its answers: everything is recomputed from folders alone.

    Recomputed: who may label what, loads, labels, evidence, error bounds, vote weights, queues, cost, violation, gap,
    and the bound that the stored multipliers prove. A branch-and-bound bound above that stays the solver's word.

    Parameters
    ----------
    campaign : AssignmentInstance or path
        An instance, or the folder of a campaign, in parts or not; of an audit the answers.

    Returns
    -------
    Report or AuditReport
        ``holds``, and the ``problems`` if it does not.

    Raises
    ------
    InputError
        If one of the folders cannot be read, or an option belongs to another kind.

    Reads
    -----
    campaign and plan, or answers and audit

    Writes
    ------
    nothing

    Examples
    --------
    ::

        crowdopt solve my-campaign -o my-plan
        crowdopt verify my-campaign my-plan
    """
    plan = asked.plan
    if not isinstance(plan, Plan | AdaptivePlan) and is_audit(plan):
        if isinstance(campaign, AssignmentInstance):
            raise InputError("an audit is held against answers; give their table or folder")
        return verify_audit(campaign, plan, asked.commitment, asked.after)
    if asked.commitment is not None or asked.after:
        what = "a plan in memory" if isinstance(plan, Plan | AdaptivePlan) else plan
        raise InputError(f"{what} is no audit; a plan has no commitment and no earlier audits")
    with on_disk(campaign, plan) as folders:
        if is_in_parts(folders[0]):
            return verify_parts(*folders, processes=asked.processes or 0, cluster=asked.cluster)
        refuse_of_parts(asked.processes, asked.cluster)
        return verification.verify(*folders)


def verify_parts(campaign: AnyPath, plan: AnyPath, *, processes: int = 0, cluster: str | None = None) -> Report:
    """The same for a plan in parts, a part at a time.

    processes: spawned here; 0 checks in this process; cluster: in place of them: a Dask scheduler's address.
    """
    if cluster is None:
        return part_check.verify_parts(campaign, plan, processes)
    with jobs.cluster(cluster) as executor:
        return part_check.verify_parts(campaign, plan, executor=executor)


def verify_audit(
    answers: AnyPath, folder: AnyPath, commitment: str | None = None, after: Sequence[AnyPath] = ()
) -> AuditReport:
    """Hold an audit folder against the answers: the draw, what was looked at, every number, the bound, the sentence.

    Recomputed with code of its own, from the answers, the seed and what the expert says; and the draw is made once more
    as :func:`crowdopt.audit` makes it, so that groups and predictions are not chosen.

    answers: the table that was drawn from, or a folder with such an answers.csv; commitment: as it was handed on before
    the expert began: nothing else shows that the draw was not made afterwards; after: earlier audits that are known
    of: the draw must name them, with the chance of a false claim that they spent; -> ``holds``, and the
    ``problems`` if it does not.
    """
    place = Path(folder)
    check = audits.verify_escalation if is_escalation(place) else audits.verify_audit
    report = check(answers, place, commitment, after)
    if report.holds:
        try:
            table = read_answered(answers)
            if is_escalation(place):
                stands_again(table, place)
            else:
                drawn_again(table, place)
        except InputError as error:
            return replace(report, holds=False, problems=[str(error)], sentence="")
    return report


def is_audit(folder: AnyPath) -> bool:
    """Whether a folder is an audit's or an escalation's, which :func:`verify_audit` holds against its answers."""
    return (Path(folder) / DRAW).is_file() or is_escalation(Path(folder))


def _audit(report: AuditReport, handed_on: bool, earlier_too: bool) -> Said:
    facts = {"holds": report.holds, "problems": report.problems, "commitment": report.commitment}
    said = [f"the audit holds: {report.sentence}", *slices_said(report.by, report.delta, report.slices, report.recall)]
    said.append("recomputed from the answers, the seed and what the expert says")
    if report.earlier:
        sure = f"all claims together hold with {100 * report.confidence:.10g} %"
        sure += "" if earlier_too else ", if what those spent is as it says: pass their folders as --after"
        said.append(f"the draw names {report.earlier} earlier audit(s); {sure}")
    if not handed_on:
        said.append(
            "not shown: that it was drawn before the expert began; pass the --commitment that was handed on then"
        )
    if not report.holds:
        said = [f"the audit does not hold: {len(report.problems)} problem(s)", *(f"- {one}" for one in report.problems)]
    by = {"slices": report.slices, "recall": report.recall} if report.slices else {}
    return Said({**facts, "sentence": report.sentence, **by}, said, int(not report.holds))


def _verified(report: Report) -> dict[str, Any]:
    return {
        "holds": report.holds,
        "problems": report.problems,
        "objective": report.objective,
        "bound": report.bound,
        "certified_bound": report.certified_bound,
        "proof": report.proof,
        "proven": report.proven,
        "labels": report.labels,
        "violation": report.violation,
        **({"short": report.short} if report.short else {}),
        **({} if report.rounds is None else {"rounds": report.rounds}),
        **({} if report.expert is None else {"expert": report.expert}),
        **({"given_votes": True} if report.given_votes else {}),
        **({"each_task": True} if report.each_task else {}),
        **({"class_error": report.class_error} if report.class_error else {}),
        **({"in_place_of_campaign": report.overrides} if report.overrides else {}),
        **({} if report.wrong is None else {"wrong": report.wrong, "wrong_bound": report.wrong_bound}),
    }


def _verdict(report: Report) -> list[str]:
    if not report.holds:
        count = len(report.problems)
        return [f"the plan does not hold: {count} problem(s)", *(f"- {problem}" for problem in report.problems[:20])]
    rule = report.of_rule
    if report.expected:
        return _policy_verdict(report)
    said = [f"the plan holds: {report.labels:g} labels, cost {number(report.objective)}, every limit kept"]
    if report.short:
        said[0] += f" but of {report.short} task(s), which get less than they ask for, as it says"
    if report.certified_bound is not None:
        least = report.certified_bound + 0.0  # not -0
        said.append(f"recomputed: no plan{rule} costs less than {number(least)}")
    if report.proof == "solver":
        said.append(f"only the solver vouches for: no plan{rule} costs less than {number(report.bound)}")
    if report.wrong is not None:
        fewer = "" if report.wrong_bound is None else f"; no plan of that money fewer than {number(report.wrong_bound)}"
        said.append(f"recomputed: {number(report.wrong)} answers expected to be wrong{fewer}")
    if report.overrides:
        changed = ", ".join(f"{key} = {value}" for key, value in report.overrides.items())
        said.append(f"this is for {changed}, in place of what the campaign says")
    if report.short:
        return [*said, "it is no plan for every task: the best that was found"]
    optimal = f"so it is optimal{rule}" + ", if the solver is right" * (report.proof == "solver")
    return [*said, optimal if report.proven else "it is not claimed to be optimal"]


def _policy_verdict(report: Report) -> list[str]:
    """Of an adaptive plan: its figures are expectations."""
    said = [
        f"the policy holds: {number(report.labels)} labels, cost {number(report.objective)} expected, all limits kept"
    ]
    if report.given_votes:
        said[0] += ", of each answer given its votes"
    if report.each_task:
        said[0] += ", targets by each task"
    if report.class_error:
        said[0] += ", and of " + ", ".join(f"{name} {limit:.4g}" for name, limit in report.class_error.items())
    if report.times > 1:
        said[0] += f" but targets: errors are within {report.times:.4g} times these, as it says"
    if report.certified_bound is not None:
        rounds = "" if report.rounds is None else f" of at most {report.rounds} round(s)"
        rounds += SO_SURE * report.given_votes + SO_APART * bool(report.class_error) + EACH * report.each_task
        said.append(f"recomputed: no adaptive plan{rounds} costs less than {number(report.certified_bound)}")
    if report.expert is not None:
        said.append(f"this is for an expert at {number(report.expert)} a task, as the plan states")
    if report.overrides:
        changed = ", ".join(f"{key} = {value}" for key, value in report.overrides.items())
        said.append(f"this is for {changed}, in place of what the campaign says")
    return [*said, "so it is optimal" if report.proven else "it is not claimed to be optimal"]


def _said(report: Report | AuditReport, commitment: str | None, after: Sequence[AnyPath]) -> Said:
    if isinstance(report, AuditReport):
        return _audit(report, commitment is not None, bool(after))
    return Said(_verified(report), _verdict(report), int(not report.holds))


VERBS = (Verb("verify", verify, _said),)
