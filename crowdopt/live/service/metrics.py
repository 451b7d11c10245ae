"""Counts of a campaign that runs, in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KNOWN = {  # key of the progress -> kind, what it counts
    "labels": ("counter", "Labels that were told, gold included."),
    "gold": ("counter", "Labels of gold tasks."),
    "looks": ("counter", "Answers that an expert looked at."),
    "late": ("counter", "Labels that came after their lease was over."),
    "paid": ("counter", "What labels and looks cost so far."),
    "events": ("counter", "Rows of the history."),
    "workers": ("gauge", "Workers who have come."),
    "out": ("gauge", "Leases that are live."),
    "tasks": ("gauge", "Tasks that want an answer."),
    "unsure": ("gauge", "Tasks that are not as sure as they are to be."),
    "claimed_error": ("gauge", "Mean chance of a wrong answer, as believed."),
}


def exposition(progress: Mapping[str, Any]) -> str:
    """The counts that are known, one metric each."""
    lines = []
    for key, (kind, what) in KNOWN.items():
        if progress.get(key) is not None:
            name = f"crowdopt_{key}" + "_total" * (kind == "counter")
            lines += [f"# HELP {name} {what}", f"# TYPE {name} {kind}", f"{name} {progress[key]}"]
    return "\n".join([*lines, ""])
