"""Types whose needs cannot be met together, none of which can be left out of that sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from crowdopt.assign.explain.questions import NOTICE, Probe, without_budget
from crowdopt.crowd.alike import classes_of
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.vote_errors import relaxation
from crowdopt.programs import aggregated, missing


def conflict(instance: AssignmentInstance, probe: Probe) -> list[int]:
    """An irreducible set of types whose needs cannot be met together: without any one of them the others can.

    Found by divide and conquer over elastic LPs (Junker 2004); capacities and all other limits stay in force, but for
    what groups owe to tasks of other types. Empty where shares of labels would do.
    """
    classes = classes_of(relaxation(without_budget(instance)), joint=True)
    base = missing.elastic(aggregated.of_classes(classes))
    kinds, ask = instance.task_type[classes.first_task], probe.again()

    def together(types: list[int]) -> bool:
        lower = base.row_lower.copy()
        for name in ("cover", "labels"):
            if any(block.name == name for block in base.rows):
                row = base.row(name)
                lower[row.span] = np.where(np.isin(kinds, types), lower[row.span], 0.0)
        if any(block.name == "group" for block in base.rows):
            group = base.row("group")
            lower[group.span] *= np.tile(np.isin(kinds, types), group.shape[0])
        solution = ask(replace(base, row_lower=lower))
        return solution is not None and solution.beyond <= NOTICE

    every = np.unique(kinds).tolist()
    types = [] if together(every) or not together([]) else _irreducible(together, [], [], every)
    return [] if probe.clock.over else types  # an answer that time cut short proves nothing


def _irreducible(
    together: Callable[[list[int]], bool], background: list[int], last: list[int], types: list[int]
) -> list[int]:
    if last and not together(background):
        return []
    if len(types) == 1:
        return types
    half = len(types) // 2
    left, right = types[:half], types[half:]
    second = _irreducible(together, background + left, left, right)
    first = _irreducible(together, background + second, second, left)
    return sorted(first + second)
