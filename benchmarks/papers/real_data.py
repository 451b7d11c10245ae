"""Where real label sets are: a folder each in CROWDOPT_DATA or CROWDOPT_MORE_DATA (data.md says how to get them)."""

from __future__ import annotations

import os
from pathlib import Path

FILES = ("labels.csv", "truth.csv")
PLACES = ("CROWDOPT_DATA", "CROWDOPT_MORE_DATA")


def folder_of(dataset: str) -> Path:
    """The folder of a label set; where it is not there the command ends with a sentence that says what to do."""
    roots = [Path(root) for name in PLACES if (root := os.environ.get(name))]
    if not roots:
        raise SystemExit(f"{dataset}: CROWDOPT_DATA names no folder of label sets; {_remedy(dataset)}")
    folder = next((root / dataset for root in roots if (root / dataset).is_dir()), roots[0] / dataset)
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise SystemExit(f"{folder} has no {' and no '.join(missing)}; {_remedy(dataset)}")
    return folder


def _remedy(dataset: str) -> str:
    return f"benchmarks/papers/data.md says where {dataset} comes from and how to convert it"
