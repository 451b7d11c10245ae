"""The tables of Zheng et al.'s comparison of truth inference: ``answer.csv`` and, beside it, ``truth.csv``."""

from __future__ import annotations

from pathlib import Path

from crowdopt.io.bridges.crowd_kit import rows_of
from crowdopt.io.bridges.exchange.annotations import Annotations, with_gold
from crowdopt.io.bridges.exchange.bridge import Bridge, Wishes
from crowdopt.io.tables.table_columns import read_table
from crowdopt.io.tables.table_kinds import QUESTIONS


def read_truth_inference(path: Path, wishes: Wishes) -> Annotations:
    """``answer.csv`` (question,worker,answer), or a folder with it; ``truth.csv`` (question,truth) is its gold."""
    place = path / "answer.csv" if path.is_dir() else path
    rows = rows_of(place, ("question",), ("worker",), ("answer",))
    truth = place.with_name("truth.csv")
    known = {}
    if truth.is_file() and truth != place:
        table = read_table(truth, QUESTIONS)
        known = dict(zip(table.unique_ids("question"), table.ids("truth"), strict=True))
    return with_gold(rows, place.name, known)


BRIDGE = Bridge(name="truth-inference", what="answer.csv with truth.csv beside it", read=read_truth_inference)
