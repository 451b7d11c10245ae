"""The verb verify: a second opinion on a plan, or on an audit."""

from __future__ import annotations

from pathlib import Path

from crowdopt.api.binding import AnyPath
from crowdopt.io.audit_draw import DRAW
from crowdopt.recheck import verification
from crowdopt.recheck.audit_check import AuditReport as AuditReport
from crowdopt.recheck.audit_check import verify_audit as verify_audit
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


def is_audit(folder: AnyPath) -> bool:
    """Whether a folder is an audit's, which :func:`verify_audit` holds against its answers."""
    return (Path(folder) / DRAW).is_file()
