"""Proofs as files for a checker that others wrote: of a plan's bound, and of any program that is exported."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crowdopt.api.at_hand import PlanLike, on_disk
from crowdopt.api.binding import AnyPath, InstanceLike
from crowdopt.arrays import Floats
from crowdopt.backends import solve
from crowdopt.core.certificate import certify
from crowdopt.core.program import Program, relax
from crowdopt.core.solution import Options, Solution
from crowdopt.crowd.exactness import relaxation
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.io.campaign.campaign_reading import read_campaign
from crowdopt.io.campaign.overrides import overridden
from crowdopt.io.campaign.recorded_settings import RECORD
from crowdopt.io.plan.stored_plan import StoredPlan, read_claims, read_plan
from crowdopt.io.plan.stored_policy import is_policy
from crowdopt.io.programs.naming import MPS, Ids, names_of
from crowdopt.io.programs.program_files import ids_of
from crowdopt.io.tables.folder import check_target
from crowdopt.programs import assignment
from crowdopt.proofs.assignment_proof import Multipliers
from crowdopt.proofs.proof import Claim, write_proof
from crowdopt.proofs.proof import ProofFile as ProofFile
from crowdopt.proofs.unproven import Unproven
from crowdopt.proofs.vipr_file import Names

VIPR = ".vipr"
PROOFS = ("vipr",)
LIMIT = {
    "per_task": "group",
    "max_share": "most_share",
    "min_share": "least_share",
    "row": "own",
}  # block by limits.csv
SEARCHER = "highs"
ENOUGH = 60.0  # seconds for a linear program


def check_proof_file(path: Path, force: bool) -> None:
    """Refuse a place that cannot be written, before any work is done."""
    if path.suffix.lower() != VIPR:
        raise InputError(f"{path} must end in {VIPR}: the ending says the format")
    if path.is_dir():
        raise InputError(f"{path} is a folder; choose another name")
    check_target(path, None, force)


def write_plan_proof(campaign: InstanceLike, plan: PlanLike, path: AnyPath, force: bool = False) -> ProofFile:
    """Write the program, the plan and the plan's bound with its derivation as a VIPR file, in fractions.

    The derivation comes from the stored multipliers: a combination of rows that is rounded up, or the least set of each
    task by cases; where neither reaches the bound, cases of a small program.

    path: ends in ``.vipr``. Raises InputError where the bound is a solver's word, or stands on what is no row of a
    program, and no derivation is found.
    """
    check_proof_file(Path(path), force)
    with on_disk(campaign, plan) as (campaign_folder, plan_folder):
        claims = read_claims(plan_folder)
        if is_policy(claims):
            raise Unproven("an adaptive plan's bound is one of expectations, and no file is written")
        bound = claims.get("bound")
        if bound is None:
            raise Unproven("the plan has no bound, and no file is written")
        instance = overridden(read_campaign(campaign_folder, trust_gold=True), claims.get(RECORD, {}))
        stored = read_plan(plan_folder, claims, instance)
    program = _program_of(instance, whole=stored.amounts is None)
    claim = Claim(program, float(bound), _multipliers(program, instance, stored), _point(program, stored))
    return write_proof(claim, _names(program, ids_of(program, instance)), Path(path), linear, force)


def write_program_proof(
    program: Program, ids: Ids, path: AnyPath, force: bool = False, time_limit: float = ENOUGH
) -> ProofFile:
    """Solve a program, and write it with the point, the bound and its derivation as a VIPR file.

    path: ends in ``.vipr``; time_limit: seconds. Raises InputError where no point is proven optimal within the limit,
    or no derivation is found.
    """
    check_proof_file(Path(path), force)
    relaxed = solve(relax(program), SEARCHER, Options(time_limit))
    best = solve(program, SEARCHER, Options(time_limit)) if program.integer.any() else relaxed
    held = certify(best)
    if held.value is None or not held.proves_optimal():
        raise Unproven(f"{SEARCHER} settles the program not within {time_limit:g} s, and no file is written")
    rows = np.zeros(program.row_lower.size) if relaxed.dual is None else relaxed.dual
    bound = held.value if program.integer.any() else held.bound
    claim = Claim(program, float(bound), Multipliers(rows, np.zeros(0)), _near(best.primal))
    return write_proof(claim, _names(program, ids), Path(path), linear, force)


def linear(program: Program) -> Solution:
    """A linear program's solution, as cases ask for it."""
    return solve(program, SEARCHER, Options(ENOUGH))


def _near(point: Floats | None) -> Floats | None:
    """A point without the noise of float64."""
    return None if point is None else np.round(point, 9) + 0.0


def _program_of(instance: AssignmentInstance, whole: bool) -> Program:
    rule = instance.the_rule
    if rule.checked and rule.average:
        raise Unproven(
            f"rule {rule.name} asks nothing of a single task, so its bound is none of rows: no file is written"
        )
    if rule.checked and whole:
        about = f"what every plan by rule {rule.name} keeps: its least evidence, and its fewest labels by exact errors"
        return assignment.of_sums(relaxation(instance), about)
    program = assignment.build(instance)
    return program if whole else relax(program)


def _multipliers(program: Program, instance: AssignmentInstance, stored: StoredPlan) -> Multipliers:
    tasks, workers = stored.tasks, stored.workers
    if "" in tasks["dual"] or "" in workers["dual"]:
        raise Unproven("the plan has no multipliers; its bound is the solver's word, and no file is written")
    rows = np.zeros(program.row_lower.size)
    blocks = {block.name: block for block in program.rows}
    blocks["cover"].view(rows)[:] = np.maximum(tasks.numbers("dual"), 0.0)
    blocks["capacity"].view(rows)[:] = workers.numbers("dual")
    labels = tasks.numbers("labels_dual") if "labels_dual" in tasks else np.zeros(instance.n_tasks)
    if "labels" in blocks:
        checked = instance.the_rule.checked  # then the rows say already what the fewest labels are
        blocks["labels"].view(rows)[:] = labels if checked else np.minimum(labels, 0.0)
        labels = np.zeros(instance.n_tasks) if checked else labels
    if "budget" in blocks:
        rows[blocks["budget"].span] = min(float(stored.claims.get("budget_dual") or 0.0), 0.0)
    _joint(program, instance, stored, rows)
    return Multipliers(rows, labels)


def _joint(program: Program, instance: AssignmentInstance, stored: StoredPlan, rows: Floats) -> None:
    """The multipliers of groups, shares and own rows in limits.csv."""
    if stored.limits is None:
        return
    ids = ids_of(program, instance)
    blocks = {block.name: block for block in program.rows}
    table = stored.limits
    for limit, name, task, dual in zip(
        table["limit"], table["name"], table["task"], table.numbers("dual"), strict=True
    ):
        block = blocks.get(LIMIT.get(limit, ""))
        if block is None or name not in ids[block.name][0]:
            raise Unproven(f"limits.csv has a multiplier of {limit} {name}, which the campaign does not have")
        place = [one.index(word) for one, word in zip(ids[block.name], (name, task), strict=False)]
        block.view(rows)[tuple(place)] = dual


def _point(program: Program, stored: StoredPlan) -> Floats:
    point = np.zeros(program.cost.size)
    program.column("y").view(point)[tuple(stored.pairs.T)] = stored.shares
    return point


def _names(program: Program, ids: Ids) -> Names:
    return names_of(program.columns, ids, MPS), names_of(program.rows, ids, MPS)
