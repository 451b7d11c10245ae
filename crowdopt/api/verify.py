"""The verb verify: a second opinion on a plan, or on an audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from crowdopt import jobs
from crowdopt.api.audit import drawn_again, is_escalation, stands_again
from crowdopt.api.binding import AnyPath, InstanceLike, PlanLike, on_disk, two_ways
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan
from crowdopt.assign.plan import Plan
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.io.answers import read_answered
from crowdopt.io.audits import DRAW
from crowdopt.io.parts import is_in_parts
from crowdopt.recheck import audits, part_check, verification
from crowdopt.recheck.audits import AuditReport as AuditReport
from crowdopt.recheck.findings import Report as Report


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
    commitment, after
        Of an audit, as for :func:`verify_audit`.
    processes, cluster
        Of a campaign in parts, as for :func:`verify_parts`.
    """

    plan: PlanLike = field(kw_only=False)
    commitment: str | None = None
    after: Sequence[AnyPath] = ()
    processes: int = 0
    cluster: str | None = None


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
            return verify_parts(*folders, processes=asked.processes, cluster=asked.cluster)
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
