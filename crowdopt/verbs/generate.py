"""The verb generate: a synthetic campaign by its recipe.

The verb init: a campaign to start from.

The verb rehearse: simulated labels of a plan, to try the whole loop.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.recipes import recipe
from crowdopt.errors import InputError, public
from crowdopt.io.campaign import write_campaign
from crowdopt.io.parts import PartsFolder, count_tasks
from crowdopt.io.plan import how_errors_are_drawn as how_errors_are_drawn
from crowdopt.io.plan import how_truth_is_drawn as how_truth_is_drawn
from crowdopt.io.plan import write_rehearsal
from crowdopt.io.samples import write_panel, write_sample
from crowdopt.said import Draw, Listed, Positive, Processes, Said, Verb, Word
from crowdopt.verbs.binding import AnyPath, InstanceLike, PlanLike, on_disk, size_of
from crowdopt.verbs.parts import generate_parts


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


@public
def generate(
    name: Annotated[str, Word(place="RECIPE")],
    seed: Draw = 0,
    *,
    priced: bool = False,
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
        If there is no such recipe, or the target cannot be written.

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
        if output is None:
            raise InputError("parts are files of a campaign: name its folder with output")
        drawn: dict[str, Any] = {"priced": priced, "epsilon": epsilon, "processes": processes, "force": force}
        return generate_parts(name, seed, parts=parts, output=output, **drawn)
    instance = recipe(name, seed, priced=priced)
    if epsilon is not None:
        instance = replace(instance, epsilon=np.asarray(epsilon))
    if output is not None:
        write_campaign(instance, output, force=force)
    return instance


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
