"""The decision that the package carries, and what it says of an instance: ``solve --method auto``.

``assets/decision.json`` is made by ``python -m benchmarks.decide FOLDER …`` out of measurements, never by hand.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

import numpy as np

from crowdopt.backends import named
from crowdopt.bench.figures.traits import Condition, traits_of
from crowdopt.bench.harness.ours import OWN
from crowdopt.crowd.group_limits import has_joint_limits
from crowdopt.crowd.instance import AssignmentInstance

FILE, VERSION = "decision.json", 1
DEFAULT = "exact"  # where nothing was measured


@dataclass(frozen=True)
class Advice:
    """A method, and in a sentence why."""

    method: str
    why: str


@cache
def stored() -> dict[str, Any]:
    """The decision as the file has it: ``made`` from what, ``rows`` in order, their losses."""
    text = (files("crowdopt.bench") / "assets" / FILE).read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    assert content["version"] == VERSION
    return content


def advised(instance: AssignmentInstance, program: str) -> Advice:
    """The method for an instance's program, by the one row of the decision that holds for it.

    The row ranks methods by their losses; the first of which the library is installed is taken. Rules that are no
    linear programs, and limits on groups or own rows, were not measured: they take ``exact``.

    program: ``ip`` or ``lp``.
    """
    rule = instance.the_rule
    if rule.checked or rule.average or has_joint_limits(instance):
        what = f"the rule {instance.rule}" if rule.checked or rule.average else "limits on groups or own rows"
        return Advice(DEFAULT, f"method {DEFAULT}: {what} was not among the measurements that auto follows")
    decision = stored()
    numbers = np.array(traits_of(instance, program).numbers())
    number, row = next(
        (k, row)
        for k, row in enumerate(decision["rows"], 1)
        if all(Condition(*condition).holds(numbers) for condition in row["conditions"])
    )
    method = next((method for method in row["use"] if is_installed(method)), DEFAULT)
    best = "" if method == row["use"][0] else f", {row['use'][0]} is not installed"
    made = decision["made"]
    measured = (
        f"measured {made['date']} on {row['instances']} of {made['instances']} programs, {made['seconds']:g} s each"
    )
    return Advice(
        method, f"method {method}, by row {number} of the decision table ({row['when'] or 'all'}; {measured}{best})"
    )


def is_installed(method: str) -> bool:
    """Whether the method is our own, or its library is there; whether it works is not tried."""
    return method in OWN or find_spec(named(method).library) is not None
