"""The verb verify: a second opinion on a plan, or on an audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from crowdopt import jobs
from crowdopt.api.audit import drawn_again
from crowdopt.api.binding import AnyPath
from crowdopt.errors import InputError
from crowdopt.io.answered import read_answered
from crowdopt.io.audit_draw import DRAW, read_draw
from crowdopt.recheck import audit_check, part_check, verification
from crowdopt.recheck.audit_check import AuditReport as AuditReport
from crowdopt.recheck.findings import Report as Report


def verify(campaign: AnyPath, plan: AnyPath) -> Report:
    """Hold a plan folder against a campaign folder: everything is recomputed from the two folders alone.

    Recomputed: who may label what, loads, labels, evidence, error bounds, vote weights, queues, cost, violation, gap,
    and the bound that the stored multipliers prove. A branch-and-bound bound above that stays the solver's word.

    Parameters
    ----------
    campaign, plan : path

    Returns
    -------
    Report
        ``holds``, and the ``problems`` if it does not.

    Raises
    ------
    InputError
        If one of the folders cannot be read.
    """
    return verification.verify(campaign, plan)


def verify_parts(campaign: AnyPath, plan: AnyPath, *, processes: int = 0, cluster: str | None = None) -> Report:
    """The same for a plan in parts, a part at a time.

    Parameters
    ----------
    campaign, plan : path
    processes : int
        Spawned here; 0 checks in this process.
    cluster : str, optional
        In place of them: a Dask scheduler's address, or a number of Dask workers to start here.

    Returns
    -------
    Report

    Raises
    ------
    InputError
        If one of the folders, or a part, cannot be read.
    JobsError
        If a part's process is lost, or nobody answers at the address.
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

    Parameters
    ----------
    answers : path
        The table that was drawn from, or a folder with such an answers.csv.
    folder : path
        Of the audit.
    commitment : str, optional
        As it was handed on before the expert began: nothing else shows that the draw was not made afterwards.
    after : sequence of paths
        Earlier audits that are known of: the draw must name them, with the chance of a false claim that they spent.

    Returns
    -------
    AuditReport
        ``holds``, and the ``problems`` if it does not.

    Raises
    ------
    InputError
        If a file cannot be read.
    """
    report = audit_check.verify_audit(answers, folder, commitment, after)
    if report.holds:
        try:
            drawn_again(read_answered(answers), read_draw(Path(folder)))
        except InputError as error:
            return replace(report, holds=False, problems=[str(error)], sentence="")
    return report


def is_audit(folder: AnyPath) -> bool:
    """Whether a folder is an audit's, which :func:`verify_audit` holds against its answers."""
    return (Path(folder) / DRAW).is_file()
