"""The files of models/tiny: as facts, as instances, and what their optima are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from tests.checkers.exact import integer_optimum, is_clear, linear_optimum, program_of
from tests.models.reading import MODELS

FILES = sorted((MODELS / "tiny").glob("*.json"))
GIVEN = ("task_type", "capacity", "tasks", "workers", "min_labels", "min_load")


def optima(facts: dict[str, Any]) -> dict[str, str]:
    """The optima of program and relaxation as text, such as ``17/4``, or ``infeasible``."""
    program = program_of(facts)
    assert is_clear(program), "a sum of evidence is within 1e-6 of a need; floats could decide it otherwise"
    found = {"ip": integer_optimum(program), "lp": linear_optimum(program)}
    return {name: "infeasible" if value is None else str(value) for name, value in found.items()}


def facts_of(path: Path) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return facts


def instance_of(facts: dict[str, Any]) -> AssignmentInstance:
    """The instance under rule hoeffding whose need, 2 ln(1/epsilon), is the given rational up to rounding."""
    place = {name: k for names in (facts["tasks"], facts["workers"]) for k, name in enumerate(names)}
    pairs = {key: [[place[t], place[w]] for t, w in facts.get(key, [])] for key in ("forbidden", "fixed", "collected")}
    most = [UNLIMITED if k is None else k for k in facts.get("max_labels", [None])]
    return AssignmentInstance(
        accuracy=np.array(facts["accuracy"], dtype=np.float64),
        epsilon=np.exp(-np.array(facts["need"], dtype=np.float64) / 2),
        rule="hoeffding",
        cost=np.array(facts.get("cost", 1.0), dtype=np.float64),
        max_labels=most if len(most) > 1 else most[0],
        budget=float(facts["budget"]) if "budget" in facts else None,
        title=facts["title"],
        **{key: facts[key] for key in GIVEN if key in facts},
        **pairs,
    )
