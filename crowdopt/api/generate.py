"""The verb generate: a synthetic campaign by its recipe.

The verb init: a campaign to start from.

The verb rehearse: simulated labels of a plan, to try the whole loop.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from crowdopt.api.answers import answers
from crowdopt.api.assign import assign
from crowdopt.api.binding import AnyPath, InstanceLike, PlanLike, on_disk
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.recipes import recipe
from crowdopt.errors import InputError, public
from crowdopt.io.campaign import read_campaign, write_campaign
from crowdopt.io.folders import CAMPAIGN, new_folder
from crowdopt.io.plan import how_errors_are_drawn as how_errors_are_drawn
from crowdopt.io.plan import how_truth_is_drawn as how_truth_is_drawn
from crowdopt.io.plan import write_rehearsal
from crowdopt.io.samples import write_panel, write_sample


@public
def init(folder: str | Path, *, panel: bool = False, classes: Sequence[str] = (), force: bool = False) -> None:
    """Write a small campaign, with comments, to start from.

    Parameters
    ----------
    folder : path
    panel : bool
        Whether to write a panel of language-model judges of three families rather than the photographs.
    classes : sequence of str
        What a label can say, such as ``cat``, ``dog``; default: ``yes``, ``no``, or for a panel ``pass``, ``fail``.
    force : bool
        Whether a campaign that is there may be replaced.

    Raises
    ------
    InputError
        If the folder exists and is not forced, cannot be written, or the classes are not at least two, each once.
    """
    (write_panel if panel else write_sample)(folder, force, classes)


@public
def rehearse(
    campaign: InstanceLike,
    plan: PlanLike,
    *,
    output: AnyPath,
    truth: AnyPath | None = None,
    seed: int = 0,
    lost: float = 0.0,
    force: bool = False,
) -> int:
    """Simulate the labels of a plan by the campaign's own skills and write their table.

    The truth is drawn given the labels that are in, if any, so that a later round is of the same world as those before.
    Errors are drawn independently of one another, but for workers of one family, who err together as much as their
    skills allow: one number for a task and a family decides for all its members (crowdopt.crowd.recipes).

    Parameters
    ----------
    campaign : AssignmentInstance or path
        An instance, or the folder of a campaign.
    plan : Plan or path
        A plan, or its folder.
    output : path
        Table task, worker, label to write.
    truth : path, optional
        Where the drawn truth is written; a table that is there already is read instead, for a second round.
    seed : int
        Of the draw; each round has numbers of its own.
    lost : float
        Share of the labels that do not come.
    force : bool
        Whether a table that is there may be replaced.

    Returns
    -------
    int
        Number of labels.

    Raises
    ------
    InputError
        If something cannot be read or written.
    """
    with on_disk(campaign, plan) as folders:
        return write_rehearsal(*folders, output, truth, seed, lost, force)


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
