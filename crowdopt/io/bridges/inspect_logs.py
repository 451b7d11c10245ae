"""Inspect: the scores in its logs, each grader a worker; and a panel of graders that votes by the plan's weights.

A score without a value, or of NaN, is an abstention: it comes back as skipped, and counts as no label. One that is no
single value is refused with its place; the others are read.
"""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from crowdopt.documents import TEXT, Each, Keys, Maybe
from crowdopt.errors import InputError
from crowdopt.io.bridges import inspect_panel
from crowdopt.io.bridges.annotations import Annotation, Annotations, Usage, usage_of, verdict, with_gold
from crowdopt.io.bridges.pushed import Bridge, PushedRound, Wishes
from crowdopt.io.foreign_json import BYTES, ID, check, parsed, read_json, scalar, seconds

REMEDY = "give a log of Inspect, or convert it: inspect log convert LOG --to json --output-dir FOLDER"
SCORE = Keys(optional={"metadata": Maybe(Keys(open=True))}, open=True)
EVENT = Keys(required={"event": TEXT}, open=True)
SAMPLE = Keys(
    required={"id": ID}, optional={"scores": Maybe(Each(SCORE, dict)), "events": Maybe(Each(EVENT))}, open=True
)
LOG = Keys(required={"samples": Each(SAMPLE)}, open=True)
GRADING = ("scorer", inspect_panel.SPAN)  # types of spans
EPOCH = re.compile(r"(.*) \(epoch (\d{1,9})\)", re.DOTALL)  # how a sample of a later epoch is called
PANEL = Each(Keys(open=True), dict)
Graders = Mapping[str, tuple[str, str]]  # scorer of a log -> its name, the model that it asks
Sample: TypeAlias = tuple[str, dict[str, Any], Graders]  # its place, itself, its log's scorers


def read_logs(path: Path, wishes: Wishes) -> Annotations:
    """The scores of one log, or of every log in a folder."""
    logs = sorted([*path.rglob("*.json"), *path.rglob("*.eval")]) if path.is_dir() else [path]
    if not logs:
        raise InputError(f"{path} has no log (.eval or .json); {REMEDY}")
    samples = ((log.name, *found) for log in logs for found in _samples(log))
    rows = [row for name, place, sample, graders in samples for row in _rows(sample, graders, name, place, wishes)]
    return with_gold(rows, path.name or str(path))


def _samples(log: Path) -> Iterator[Sample]:
    if log.suffix == ".eval":
        yield from _packed(log)
        return
    found = read_json(log, LOG, REMEDY)
    graders = _graders(found)
    for number, sample in enumerate(found["samples"]):
        yield f"samples[{number}]", sample, graders


def _packed(log: Path) -> Iterator[Sample]:
    try:
        with zipfile.ZipFile(log) as packed:
            names = packed.namelist()
            head = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
            told = parsed(packed.read(head).decode("utf-8", errors="replace"), f"{log.name}, {head}") if head else None
            graders = _graders(told)
            for name in sorted(names):
                if name.startswith("samples/") and name.endswith(".json"):
                    if packed.getinfo(name).file_size > BYTES:
                        raise InputError(f"{log.name}, {name} is larger than {BYTES >> 30} GiB; {REMEDY}")
                    sample = parsed(packed.read(name).decode("utf-8", errors="replace"), f"{log.name}, {name}")
                    check(sample, SAMPLE, f"{log.name}, {name}", REMEDY)
                    yield name, sample, graders
    except FileNotFoundError:
        raise InputError(f"{log.name}: there is no such file; {REMEDY}") from None
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{log.name} cannot be unpacked ({' '.join(str(error).split())[:100]}); {REMEDY}") from None


def _graders(head: Any) -> Graders:
    """What a log's head says of its scorers: Inspect numbers those of one name, which their models tell apart."""
    spec = head.get("eval") if isinstance(head, dict) else None
    scorers = spec.get("scorers") if isinstance(spec, dict) else None
    graders: dict[str, tuple[str, str]] = {}
    for one in scorers if isinstance(scorers, list) else ():
        if isinstance(one, dict) and isinstance(one.get("name"), str):
            options = one.get("options")
            model = scalar(options.get("model")) if isinstance(options, dict) else None
            count = sum(base == one["name"] for base, _ in graders.values())
            graders[f"{one['name']}{count or ''}"] = one["name"], model or ""
    twice = Counter(graders.values())
    return {name: pair if pair[1] and twice[pair] == 1 else (name, pair[1]) for name, pair in graders.items()}


def _rows(sample: dict[str, Any], graders: Graders, source: str, place: str, wishes: Wishes) -> Iterator[Annotation]:
    """What each grader said of a sample: those of a panel one by one, any other scorer as one grader."""
    epoch = sample.get("epoch", 1)
    task = scalar(sample["id"]) or ""
    task = task if epoch in (1, None) else f"{task} (epoch {epoch})"
    used = _usage(sample.get("events") or [])
    output = sample.get("output")
    model = output.get("model") if isinstance(output, dict) else None
    asked = sample.get("input")
    if isinstance(asked, list):  # of messages, whose ids are new in each run
        asked = [one.get("content") if isinstance(one, dict) else one for one in asked]
    shown = json.dumps([asked, model])  # logs of several models, or of several data sets, name samples alike
    for scorer, score in (sample.get("scores") or {}).items():
        panel = (score.get("metadata") or {}).get(inspect_panel.KEY)
        if panel is not None:
            where = f"{place}.scores.{scorer}.metadata.{inspect_panel.KEY}"
            check(panel, PANEL, f"{source}, {where}", REMEDY)
            for grader, said in panel.items():
                vote = verdict(task, grader.strip(), said.get("value"), f"{where}.{grader}", spent=used.get(grader))
                yield replace(vote, seconds=seconds(said.get("seconds")), shown=shown)
        elif wishes.field in (None, scorer):
            value, where = score.get("value"), f"{place}.scores.{scorer}.value"
            grader, judge = graders.get(scorer, (scorer, ""))
            vote = verdict(task, grader.strip() or "scorer", value, where, spent=used.get(scorer))
            yield replace(vote, shown=shown, model=judge)


def _usage(events: list[dict[str, Any]]) -> dict[str, Usage]:
    """Scorer or grader -> tokens of its calls: those within its span, which may have spans of its own in it."""
    spans = {one.get("id"): one for one in events if one["event"] == "span_begin" and isinstance(one.get("id"), str)}
    used: dict[str, Usage] = {}
    for one in events:
        output = one.get("output") if one["event"] == "model" else None
        counts = output.get("usage") if isinstance(output, dict) else None
        grader = _grader(one.get("span_id"), spans)
        if grader is not None and isinstance(counts, dict):
            keys = ("input_tokens", "output_tokens", "input_tokens_cache_read", "input_tokens_cache_write")
            call = usage_of(*map(counts.get, keys), cost=counts.get("total_cost"))
            if call is not None:
                used[grader] = used[grader] + call if grader in used else call
    return used


def _grader(span: Any, spans: dict[Any, dict[str, Any]]) -> str | None:
    seen: set[str] = set()
    while isinstance(span, str) and span in spans and span not in seen:
        if spans[span].get("type") in GRADING:
            return scalar(spans[span].get("name"))
        seen.add(span)
        span = spans[span].get("parent_id")
    return None


def write_panel(handed: PushedRound, folder: Path) -> dict[str, str]:
    """``panel.json``, sample -> grader -> weight, and the module ``panel.py`` that reads it.

    Of an adaptive plan ``policy.json`` too. Answers that are known already are ``scores.json``, for Inspect's
    ``precomputed_scores``.
    """
    policy = {} if handed.policy is None else {"policy.json": json.dumps(handed.policy, ensure_ascii=False) + "\n"}
    scores = {"scores.json": json.dumps(precomputed(handed.answers), indent=1, ensure_ascii=False) + "\n"}
    return {
        **(scores if handed.answers else {}),
        **policy,
        "panel.json": json.dumps(handed.weights, indent=1, ensure_ascii=False) + "\n",
        "panel.py": Path(inspect_panel.__file__).read_text(encoding="utf-8"),
    }


def precomputed(answers: Mapping[str, tuple[str, float]]) -> list[dict[str, Any]]:
    """Records of answers as ``inspect_ai.scorer.precomputed_scores`` reads them; answers: task -> label, its chance."""
    records = []
    for task, (label, chance) in answers.items():
        epoch = EPOCH.fullmatch(task)
        record = {"id": epoch[1], "epoch": int(epoch[2])} if epoch else {"id": task, "epoch": 1}
        records.append({**record, "value": label, "metadata": {"chance_right": chance}})
    return records


BRIDGE = Bridge(
    name="inspect",
    what="a log (.eval or .json), or a folder of logs",
    read=read_logs,
    write=write_panel,
    advice=(
        "in the task: scorer=panel.panel({'GRADER': scorer, ...}), with `import panel` from this folder; "
        "panel.cascade({...}) follows an adaptive plan",
        "scores.json, where there is one: inspect score LOG --scorer precomputed_scores -S scores=scores.json",
    ),
)
