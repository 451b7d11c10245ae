"""peerannot's JSON: task -> worker -> label."""

from __future__ import annotations

from pathlib import Path

from crowdopt.documents import Each, Value
from crowdopt.io.bridges.exchange.annotations import Annotation, Annotations, with_gold
from crowdopt.io.bridges.exchange.bridge import Bridge, Wishes
from crowdopt.io.tables.foreign_json import read_json, refuse, scalar

REMEDY = "peerannot writes task -> worker -> label"
VOTES = Each(Each(Value("a label", lambda value: isinstance(value, str | int | float)), dict), dict)


def read_votes(path: Path, wishes: Wishes) -> Annotations:
    """``answers.json``, or a folder with it."""
    place = path / "answers.json" if path.is_dir() else path
    rows = []
    for task, votes in read_json(place, VOTES, REMEDY).items():
        for worker, value in votes.items():
            label = scalar(value)
            if not label or not task.strip() or not worker.strip():
                raise refuse(
                    place.name, f"{task!r}.{worker!r}", "must be a label with a task and a worker", value, REMEDY
                )
            rows.append(Annotation(task.strip(), worker.strip(), label, place=f"{task}.{worker}"))
    return with_gold(rows, place.name)


BRIDGE = Bridge(name="peerannot", what="answers.json: task -> worker -> label", read=read_votes)
