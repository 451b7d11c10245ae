"""Where the real label sets are: one folder each under CROWDOPT_DATA (data.md says how to get them)."""

from __future__ import annotations

import os
from pathlib import Path

FILES = ("labels.csv", "truth.csv")


def folder_of(dataset: str) -> Path:
    """The folder of a label set; where it is not there the command ends with a sentence that says what to do."""
    root = os.environ.get("CROWDOPT_DATA")
    if not root:
        raise SystemExit(f"{dataset}: CROWDOPT_DATA names no folder of label sets; {_remedy(dataset)}")
    folder = Path(root) / dataset
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise SystemExit(f"{folder} has no {' and no '.join(missing)}; {_remedy(dataset)}")
    return folder


def _remedy(dataset: str) -> str:
    return f"benchmarks/papers/data.md says where {dataset} comes from and how to convert it"
