"""The programs whose MPS files are kept in models/golden."""

from __future__ import annotations

from collections.abc import Callable

from crowdopt.core.program import Program, dualize, relax
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.io.programs import ids_of, mps_text
from crowdopt.programs import assignment, assignment_dual, elastic
from tests.models.reading import MODELS
from tests.models.tiny import facts_of, instance_of

FOLDER = MODELS / "golden"
BUILT: dict[str, tuple[str, Callable[[AssignmentInstance], Program]]] = {
    "assignment": ("everything", assignment.build),
    "assignment-dual": ("capacity", assignment_dual.build),
    "assignment-lp-dual": ("everything", lambda instance: dualize(relax(assignment.build(instance)))),
    "missing": ("infeasible", elastic.build),
}


def text_of(name: str) -> str:
    """The file as the builder and the exporter make it today."""
    tiny, build = BUILT[name]
    instance = instance_of(facts_of(MODELS / "tiny" / f"{tiny}.json"))
    program = build(instance)
    return mps_text(program, ids_of(program, instance))
