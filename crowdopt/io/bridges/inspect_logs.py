"""Inspect: the scores in its logs, each grader a worker; and a panel of graders that votes by the plan's weights.

A score without a value, or of NaN, is an abstention: it comes back as skipped, and counts as no label.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crowdopt.documents import Each, Keys, Maybe
from crowdopt.errors import InputError
from crowdopt.io.bridges import inspect_panel
from crowdopt.io.bridges.exchange.annotations import Annotation, Annotations, with_gold
from crowdopt.io.bridges.exchange.bridge import Bridge, Wishes
from crowdopt.io.bridges.exchange.foreign_json import BYTES, ID, check, parsed, read_json, refuse, scalar, seconds
from crowdopt.io.bridges.exchange.pushed_round import PushedRound

REMEDY = "give a log of Inspect, or convert it: inspect log convert LOG --to json --output-dir FOLDER"
SCORE = Keys(optional={"metadata": Maybe(Keys(open=True))}, open=True)
SAMPLE = Keys(required={"id": ID}, optional={"scores": Maybe(Each(SCORE, dict))}, open=True)
LOG = Keys(required={"samples": Each(SAMPLE)}, open=True)
PANEL = Each(Keys(open=True), dict)


def read_logs(path: Path, wishes: Wishes) -> Annotations:
    """The scores of one log, or of every log in a folder."""
    logs = sorted([*path.rglob("*.json"), *path.rglob("*.eval")]) if path.is_dir() else [path]
    if not logs:
        raise InputError(f"{path} has no log (.eval or .json); {REMEDY}")
    rows = [row for log in logs for place, sample in _samples(log) for row in _rows(sample, log.name, place, wishes)]
    return with_gold(rows, path.name or str(path))


def _samples(log: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    if log.suffix == ".eval":
        yield from _packed(log)
        return
    for number, sample in enumerate(read_json(log, LOG, REMEDY)["samples"]):
        yield f"samples[{number}]", sample


def _packed(log: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The samples of a packed log: JSON files in a zip."""
    try:
        with zipfile.ZipFile(log) as packed:
            for name in sorted(packed.namelist()):
                if name.startswith("samples/") and name.endswith(".json"):
                    if packed.getinfo(name).file_size > BYTES:
                        raise InputError(f"{log.name}, {name} is larger than {BYTES >> 30} GiB; {REMEDY}")
                    sample = parsed(packed.read(name).decode("utf-8", errors="replace"), f"{log.name}, {name}")
                    check(sample, SAMPLE, f"{log.name}, {name}", REMEDY)
                    yield name, sample
    except FileNotFoundError:
        raise InputError(f"{log.name}: there is no such file; {REMEDY}") from None
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{log.name} cannot be unpacked ({' '.join(str(error).split())[:100]}); {REMEDY}") from None


def _rows(sample: dict[str, Any], source: str, place: str, wishes: Wishes) -> Iterator[Annotation]:
    """What each grader said of a sample: those of a panel one by one, any other scorer as one grader."""
    epoch = sample.get("epoch", 1)
    task = scalar(sample["id"]) or ""
    task = task if epoch in (1, None) else f"{task} (epoch {epoch})"
    for scorer, score in (sample.get("scores") or {}).items():
        panel = (score.get("metadata") or {}).get(inspect_panel.KEY)
        if panel is not None:
            where = f"{place}.scores.{scorer}.metadata.{inspect_panel.KEY}"
            check(panel, PANEL, f"{source}, {where}", REMEDY)
            for grader, said in panel.items():
                yield _row(task, grader, said.get("value"), said.get("seconds"), source, f"{where}.{grader}")
        elif wishes.field in (None, scorer):
            yield _row(task, scorer, score.get("value"), None, source, f"{place}.scores.{scorer}.value")


def _row(task: str, grader: str, value: Any, spent: Any, source: str, place: str) -> Annotation:
    label = scalar(value) if inspect_panel.is_answer(value) else ""  # Inspect writes NaN for a reply it cannot read
    if label is None or not grader.strip():
        raise refuse(source, place, "must be one value", value, "choose a scorer with --field")
    return Annotation(task, grader.strip(), label, seconds(spent), cancelled=not label, place=place)


def write_panel(handed: PushedRound, folder: Path) -> dict[str, str]:
    """``panel.json``, sample -> grader -> weight, and the module ``panel.py`` that reads it."""
    return {
        "panel.json": json.dumps(handed.weights, indent=1, ensure_ascii=False) + "\n",
        "panel.py": Path(inspect_panel.__file__).read_text(encoding="utf-8"),
    }


BRIDGE = Bridge(
    name="inspect",
    what="a log (.eval or .json), or a folder of logs",
    read=read_logs,
    write=write_panel,
    advice=("in the task: scorer=panel.panel({'GRADER': scorer, ...}), with `import panel` from this folder",),
)
