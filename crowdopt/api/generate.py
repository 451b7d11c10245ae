"""The verb generate: a synthetic campaign by its recipe."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from crowdopt.api.answers import answers
from crowdopt.api.assign import assign
from crowdopt.api.binding import AnyPath
from crowdopt.api.rehearse import rehearse
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.recipes import recipe
from crowdopt.errors import InputError, public
from crowdopt.io.campaign import read_campaign, write_campaign
from crowdopt.io.folders import CAMPAIGN, new_folder

PLANNED = 15.0  # seconds for the plan of each earlier round
OBSERVING = "bhattacharyya"  # the rule of later rounds where none is asked for: it heeds what labels said


@public
def generate(
    name: str,
    seed: int = 0,
    *,
    priced: bool = False,
    round: int = 1,
    epsilon: float | None = None,
    output: AnyPath | None = None,
    force: bool = False,
) -> AssignmentInstance:
    """Draw a synthetic instance: HS, U, K<types>, R1, R10, T<types>, B5, L3 or I<features>, as KIND:TASKSxWORKERS.

    Parameters
    ----------
    name : str
        Such as ``R10:1000x300``.
    seed : int
        Of the draw.
    priced : bool
        Whether each worker has a price of 1 to 5.
    round : int
        From 2 on the campaign has the labels of the rounds before: each is planned (15 s), its labels drawn by the
        campaign's own skills, and counted as they fell; the rule is then bhattacharyya.
    epsilon : float, optional
        Error target, in place of the recipe's.
    output : path, optional
        Campaign folder, or .npz file, to write.
    force : bool
        Whether what is there may be replaced.

    Returns
    -------
    AssignmentInstance

    Raises
    ------
    InputError
        If there is no such recipe, a round before has no plan, or the target cannot be written.
    """
    if round < 1:
        raise InputError(f"the round must be at least 1, not {round}")
    instance = recipe(name, seed, priced=priced)
    if epsilon is not None:
        instance = replace(instance, epsilon=np.asarray(epsilon))
    if round > 1:
        return _later(replace(instance, rule=OBSERVING), round, seed, output, force)
    if output is not None:
        write_campaign(instance, output, force=force)
    return instance


def _later(
    instance: AssignmentInstance, number: int, seed: int, output: AnyPath | None, force: bool
) -> AssignmentInstance:
    with TemporaryDirectory() as place:
        folder = Path(place) / "campaign"
        write_campaign(instance, folder)
        for done in range(1, number):
            plan, labels, answered = (Path(place) / f"{what}-{done}" for what in ("plan", "labels", "answers"))
            if not assign(folder, time_limit=PLANNED, seed=seed, strict=True, output=plan).found:
                raise InputError(f"round {done} of {instance.title} has no plan; choose another recipe or target")
            rehearse(folder, plan, output=labels, truth=Path(place) / "truth.csv", seed=seed + done)
            answers(labels, plan, campaign=folder, output=answered)
            folder = answered / "campaign"
        if output is not None:
            with new_folder(Path(output), CAMPAIGN, force) as new:
                shutil.copytree(folder, new, dirs_exist_ok=True)
        return read_campaign(folder)
