"""Explanations as a folder of tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.documents import write_json
from crowdopt.io.tables.cells import write_csv
from crowdopt.io.tables.folder import new_folder

EXPLANATION = "explain.json"  # the file that tells a folder of ours


def write_explanation(
    instance: AssignmentInstance,
    facts: dict[str, Any],
    tables: dict[str, dict[str, Any]],
    folder: Path,
    force: bool = False,
    pictures: Mapping[str, bytes] | None = None,
) -> None:
    """Write ``explain.json``, one CSV per table, and pictures, whole or not at all.

    Tables whose first column is ``task`` or ``worker`` are about all of them, and get the ids.

    facts: what ``explain.json`` says; tables: name -> column -> cells; ``task`` or ``worker`` without cells stands for
    all of them; pictures: file name -> content.
    """
    ids = {
        "task": instance.task_ids,
        "worker": instance.worker_ids,
    }
    with new_folder(folder, EXPLANATION, force) as new:
        for name, table in tables.items():
            columns = {ids_of: ids[ids_of] for ids_of in ids if table.get(ids_of, 0) is None}
            columns |= {column: values for column, values in table.items() if values is not None}
            write_csv(new / f"{name}.csv", list(columns), columns.values())
        for name, content in (pictures or {}).items():
            (new / name).write_bytes(content)
        write_json(new / EXPLANATION, facts)
