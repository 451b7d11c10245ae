"""A checker's campaign as the package's instance."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdopt import AssignmentInstance, Group, OwnRows


def instance_of(c: dict[str, Any]) -> AssignmentInstance:
    """The package's instance; InputError where the options contradict one another."""
    more: dict[str, Any] = {}
    more["groups"] = [Group(f"g{k}", **group) for k, group in enumerate(c["groups"])]
    if c["row"] is not None and c["row"][0].any():  # a row without entries holds, and no table can state it
        pairs = np.argwhere(c["row"][0] != 0)
        values = c["row"][0][tuple(pairs.T)]
        sides = np.array([c["row"][1]]), np.array([c["row"][2]])
        more["own_rows"] = OwnRows(["r"], np.zeros(len(pairs), np.int64), pairs, values, *sides)
    fields = {"forbidden": "barred", "fixed": "fixed", "collected": "collected"}
    more |= {name: np.array(c[key], np.int64).reshape(-1, 2) for name, key in fields.items()}
    names = ("task_type", "capacity", "epsilon", "cost", "rule", "classes", "prior", "min_labels", "max_labels")
    more |= {name: c[name] for name in (*names, "min_load", "budget") if c[name] is not None}
    return AssignmentInstance(c["accuracy"], **more)
