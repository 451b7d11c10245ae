"""The verb generate: a synthetic campaign by its recipe.

The verb init: a campaign to start from.

The verb rehearse: simulated labels of a plan, to try the whole loop.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np

from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.recipes import recipe
from crowdopt.errors import InputError, public
from crowdopt.io.campaign import read_campaign, write_campaign
from crowdopt.io.folders import CAMPAIGN, new_folder
from crowdopt.io.parts import PartsFolder, count_tasks
from crowdopt.io.plan import how_errors_are_drawn as how_errors_are_drawn
from crowdopt.io.plan import how_truth_is_drawn as how_truth_is_drawn
from crowdopt.io.plan import write_rehearsal
from crowdopt.io.samples import write_panel, write_sample
from crowdopt.said import Draw, Listed, Positive, Processes, Said, Verb, Word
from crowdopt.verbs.binding import AnyPath, InstanceLike, PlanLike, on_disk, size_of
from crowdopt.verbs.continue_plan import answers
from crowdopt.verbs.parts import generate_parts
from crowdopt.verbs.solve import solve


@public
def init(folder: str | Path, *, panel: bool = False, classes: Listed = (), force: bool = False) -> None:
    """Write a small campaign, with comments, to start from.

    Parameters
    ----------
    folder : path
    panel : bool
        Write a campaign of six language-model judges of three families, paid by the call.
    classes : sequence of str
        Classes of a label, as in cat,dog; at a terminal init asks for them. Default: yes, no, or for a panel pass,
        fail.
    force : bool
        Replace the folder if it exists.

    Raises
    ------
    InputError
        If the folder exists and is not forced, cannot be written, or the classes are not at least two, each once.

    Reads
    -----
    nothing

    Writes
    ------
    the folder: campaign.toml with comments, tasks.csv, workers.csv, gold.csv

    Examples
    --------
    ::

        crowdopt init my-campaign
    """
    (write_panel if panel else write_sample)(folder, force, classes)


@public
def rehearse(
    campaign: InstanceLike,
    plan: PlanLike,
    *,
    output: AnyPath,
    truth: AnyPath | None = None,
    seed: Draw = 0,
    lost: Annotated[float, Word(low=0, high=1)] = 0.0,
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
        Label table to write.
    truth : path, optional
        Table of the true answers: written, or read where it exists. A second round is then of the same truth.
    seed : int
        Seed of the draw. Each round has numbers of its own.
    lost : float
        Share of the labels that are not given.
    force : bool
        Replace the label table if it exists.

    Returns
    -------
    int
        Number of labels.

    Raises
    ------
    InputError
        If something cannot be read or written.

    Reads
    -----
    campaign and plan

    Writes
    ------
    labels task,worker,label; with --truth task,label

    Examples
    --------
    ::

        crowdopt solve my-campaign -o my-plan
        crowdopt rehearse my-campaign my-plan -o labels.csv --truth truth.csv
    """
    with on_disk(campaign, plan) as folders:
        return write_rehearsal(*folders, output, truth, seed, lost, force)


SECONDS = 15.0  # seconds for the plan of each earlier round
OBSERVING = "bhattacharyya"  # the rule of later rounds where none is asked for: it heeds what labels said


@public
def generate(
    name: Annotated[str, Word(place="RECIPE")],
    seed: Draw = 0,
    *,
    priced: bool = False,
    round: Annotated[int, Word(low=1, high=9)] = 1,
    epsilon: float | None = None,
    parts: Positive | None = None,
    processes: Processes = 0,
    output: AnyPath | None = None,
    force: bool = False,
) -> AssignmentInstance | PartsFolder:
    """Draw a synthetic instance: HS, U, K<types>, R1, R10, T<types>, B5, L3 or I<features>, as KIND:TASKSxWORKERS.

    Parameters
    ----------
    name : str
        Such as ``R10:1000x300``.
    seed : int
        Seed of the draw.
    priced : bool
        Draw a price of 1 to 5 for each worker.
    round : int
        Round of the campaign; the labels of earlier rounds are drawn too. Each is planned (15 s), its labels drawn by
        the campaign's own skills, and counted as they fell; the rule is then bhattacharyya.
    epsilon : float, optional
        Error probability of every task, in place of the recipe's.
    parts : int, optional
        Number of Parquet files for the tasks, which are read one at a time.
    processes : int
        Number of processes that draw parts; the files do not depend on it.
    output : path, optional
        Campaign folder, or .npz file, to write.
    force : bool
        Replace what is there.

    Returns
    -------
    AssignmentInstance, or PartsFolder with ``parts``

    Raises
    ------
    InputError
        If there is no such recipe, a round before has no plan, or the target cannot be written.

    Reads
    -----
    nothing

    Writes
    ------
    a campaign folder with skills.csv, or one .npz file

    Examples
    --------
    ::

        crowdopt generate R10:100x40 --seed 0 -o r10
    """
    if parts is not None:
        if round > 1 or output is None:
            raise InputError("parts are files of a campaign's first round: name its folder, and leave the round out")
        drawn: dict[str, Any] = {"priced": priced, "epsilon": epsilon, "processes": processes, "force": force}
        return generate_parts(name, seed, parts=parts, output=output, **drawn)
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
            if not solve(folder, time_limit=SECONDS, seed=seed, require="served", output=plan).found:
                raise InputError(f"round {done} of {instance.title} has no plan; choose another recipe or target")
            rehearse(folder, plan, output=labels, truth=Path(place) / "truth.csv", seed=seed + done)
            answers(labels, plan, campaign=folder, output=answered)
            folder = answered / "campaign"
        if output is not None:
            with new_folder(Path(output), CAMPAIGN, force) as new:
                shutil.copytree(folder, new, dirs_exist_ok=True)
        return read_campaign(folder)


def _truth_looked_for(_: bool, truth: AnyPath | None, **typed: Any) -> dict[str, Any]:
    return {**typed, "truth": truth, "drawn_anew": truth is None or not Path(truth).exists()}


def _said_rehearsed(count: int, campaign: AnyPath, output: AnyPath, drawn_anew: bool) -> Said:
    drawn, true = how_errors_are_drawn(campaign), how_truth_is_drawn(campaign) if drawn_anew else ""
    lines = [f"wrote {output}: {count} simulated labels", true, drawn if "families" in drawn else ""]
    return Said({"labels": count, "file": str(output), "errors": drawn, "truth": true}, [*filter(None, lines)])


def _asked(as_json: bool, classes: Sequence[str], panel: bool, **typed: Any) -> dict[str, Any]:
    """What a label can say, asked at a terminal where it was not typed."""
    names = ",".join(classes) or ("pass,fail" if panel else "yes,no")
    if not (classes or as_json) and all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        names = input(f"What can a label say? Names, with commas between [{names}]: ") or names
    return {**typed, "panel": panel, "classes": [name.strip() for name in names.split(",")]}


def _said_begun(_: None, folder: AnyPath, classes: Sequence[str]) -> Said:
    lines = [
        f"wrote the sample campaign {folder}, labels {' or '.join(classes)}; its campaign.toml explains the tables",
        f"next: crowdopt solve {folder} -o my-plan",
    ]
    return Said({"campaign": str(folder), "classes": [*classes]}, lines)


def _said_drawn(made: AssignmentInstance | PartsFolder, output: AnyPath, parts: int | None) -> Said:
    if isinstance(made, AssignmentInstance):
        return Said({"campaign": str(output), **size_of(made)}, [f"wrote {output}: {made.title}"])
    tasks = sum(count_tasks(made, part) for part in made.parts)
    size = {"tasks": tasks, "workers": len(made.workers), "parts": len(made.parts)}
    return Said(
        {"campaign": str(output), **size}, [f"wrote {output} in {parts} parts: {made.settings.get('title', '')}"]
    )


VERBS = (
    Verb("init", init, _said_begun, prepared=_asked),
    Verb("generate", generate, _said_drawn, needs=("output",)),
    Verb("rehearse", rehearse, _said_rehearsed, prepared=_truth_looked_for),
)
