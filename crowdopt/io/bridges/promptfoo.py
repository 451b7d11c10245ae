"""promptfoo's results: each assertion a judge of an output, or each model a labeler whose output is the label."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from crowdopt.documents import COUNT, Each, Keys, Maybe
from crowdopt.errors import InputError
from crowdopt.io.bridges.annotations import (
    Annotation,
    Annotations,
    Usage,
    passed,
    told_apart,
    usage_of,
    verdict,
    with_gold,
)
from crowdopt.io.bridges.pushed import Bridge, Wishes
from crowdopt.io.foreign_json import read_rows, refuse, scalar

REMEDY = "give what `promptfoo eval -o results.json` or `-o results.jsonl` wrote"
OPEN = Keys(open=True)
PARTS = dict.fromkeys(("assertion", "metadata", "tokensUsed"), Maybe(OPEN))
PART = Keys(optional={**PARTS, "componentResults": Maybe(Each(OPEN))}, open=True)
GRADING = Keys(optional={"componentResults": Maybe(Each(Maybe(PART)))}, open=True)
RESULT = Keys(
    required={"testIdx": COUNT, "provider": OPEN},
    optional={
        "promptIdx": COUNT,
        "vars": Maybe(OPEN),
        "testCase": Maybe(OPEN),
        "response": Maybe(OPEN),
        "gradingResult": Maybe(GRADING),
    },
    open=True,
)
OUTPUT = "output"  # the field that asks for the models' own outputs
GRADED = (  # types of assertions that a model judges: that of the test's options, where they name none themselves
    *("llm-rubric", "model-graded-closedqa", "factuality", "model-graded-factuality", "g-eval", "search-rubric"),
    *("answer-relevance", "context-recall", "context-relevance", "context-faithfulness", "agent-rubric"),
    *("conversation-relevance", "trajectory:goal-success"),
)
Place = tuple[str, dict[str, Any]]


class Asserted(NamedTuple):
    """An assertion on an output, and what it found."""

    judge: str  # its metric, else the model that it asks, else its type; the model or type where a metric is chosen
    grader: str  # the model that it asks, where the log says
    value: str
    part: dict[str, Any]
    place: str


def read_results(path: Path, wishes: Wishes) -> Annotations:
    """The votes on each output; with ``field`` "output", the outputs as votes of the models that gave them.

    Any other ``field`` is an assertion's metric, type or value; the graders of a metric are then the judges. ``key``
    names a variable of the test that holds its id. An assertion whose grader failed abstains.
    """
    results = list(read_rows(path, RESULT, REMEDY, _inside))
    if wishes.field == OUTPUT:
        return with_gold(_outputs(results, path.name, wishes), path.name)
    asserted = [list(_asserted(result, place, wishes.field)) for place, result in results]
    several = _several(asserted, path.name)
    rows = []
    for item, (_, result), found in zip(_items(results, path.name, wishes), results, asserted, strict=True):
        shown = json.dumps([(result.get("testCase") or {}).get("vars"), (result.get("response") or {}).get("output")])
        for one in found:
            failed = (one.part.get("metadata") or {}).get("graderError") is True
            value, spent = None if failed else passed(one.part.get("pass")), _usage(one.part.get("tokensUsed"), None)
            judge = f"{one.judge} ({one.value})" if one.judge in several and one.value else one.judge
            vote = verdict(item, judge, value, one.place, spent=spent)
            rows.append(replace(vote, shown=shown, model=one.grader))
    return with_gold(rows, path.name)


def _inside(found: Any) -> tuple[str, Any]:
    for _ in range(2):  # results.results, or one of them for older files
        found = found.get("results", found) if isinstance(found, dict) else found
    return "results", found


def _answerer(result: dict[str, Any]) -> str:
    return scalar(result["provider"].get("label") or result["provider"].get("id")) or ""


def _prompt(result: dict[str, Any]) -> int:
    return int(result.get("promptIdx", 0))


def _tasks(results: list[Place], source: str, key: str | None) -> list[str]:
    """Each result's test: the variable of that name, else its description where one test has it, else its number."""
    if key is None:
        told = [
            (scalar((result.get("testCase") or {}).get("description")) or "", f"test {result['testIdx']}")
            for _, result in results
        ]
        names = told_apart(told)
        return [names[pair] if pair[0] else pair[1] for pair in told]
    tasks = [scalar((result.get("vars") or {}).get(key)) for _, result in results]
    for task, (place, _) in zip(tasks, results, strict=True):
        if not task:
            where = f"{place}.vars.{key}"
            raise refuse(source, where, "must be the id of the test", task, "name another variable by --key")
    return [task or "" for task in tasks]


def _items(results: list[Place], source: str, wishes: Wishes) -> list[str]:
    """What is judged: each test's output, named by model and prompt where there are several of them."""
    models, prompts = ({one(result) for _, result in results} for one in (_answerer, _prompt))
    return [
        " / ".join(
            [task, *[_answerer(result)] * (len(models) > 1), *[f"prompt {_prompt(result)}"] * (len(prompts) > 1)]
        )
        for task, (_, result) in zip(_tasks(results, source, wishes.key), results, strict=True)
    ]


def _asserted(result: dict[str, Any], place: str, field: str | None) -> Iterator[Asserted]:
    """The assertions on an output; what a set of them or a script sums up is one verdict, not several."""
    parts = (result.get("gradingResult") or {}).get("componentResults") or ()
    options = (result.get("testCase") or {}).get("options")
    default = options.get("provider") if isinstance(options, dict) else None
    inner = [
        {**one, "assertion": part["assertion"]}
        for part in parts
        if part and part.get("assertion")
        for one in part.get("componentResults") or ()
        if not one.get("assertion")
    ]
    for k, part in enumerate(parts):
        assertion = (part or {}).get("assertion") or {}
        if part is None or part in inner or (part.get("componentResults") and not assertion):
            continue
        metric, kind = (scalar(assertion.get(name)) or "" for name in ("metric", "type"))
        value = assertion.get("value")
        text = "" if value is None else scalar(value) or json.dumps(value)
        if field in (None, metric, kind, text):
            graded = kind.removeprefix("not-") in GRADED
            grader = _grader(assertion.get("provider")) or (_grader(default) if graded else "")
            judge = ("" if field == metric else metric) or grader or kind or "assertion"
            yield Asserted(judge, grader, text, part, f"{place}.gradingResult.componentResults[{k}]")


def _several(asserted: list[list[Asserted]], source: str) -> set[str]:
    """Judges that assertions' values tell apart: those with several on one output; a model with several is refused."""
    several = set()
    for found in asserted:
        first: dict[tuple[str, str], Asserted] = {}
        for one in found:
            other = first.setdefault((one.judge, one.grader), one)
            if other.value != one.value and one.grader:
                raise InputError(
                    f"{source}, {one.place}: {one.judge} judged {other.value!r} and {one.value!r}; choose one of them "
                    "with --field, or give each assertion a metric of its own"
                )
            if other.value != one.value:
                several.add(one.judge)
            elif other.part.get("assertion") != one.part.get("assertion"):
                raise InputError(
                    f"{source}, {one.place}: {one.judge} judges this output twice; give each assertion a metric"
                )
    return several


def _grader(provider: Any) -> str:
    """The model that an assertion asks: an id, or an options table that has a label, an id, or a model for texts."""
    if not isinstance(provider, dict):
        return scalar(provider) or ""
    config = provider.get("config")
    named = config.get("name") if isinstance(config, dict) else None
    texts = (provider.get("label"), named, provider.get("id"), provider.get("text"))
    return next((text for one in texts if (text := scalar(one))), "")


def _outputs(results: list[Place], source: str, wishes: Wishes) -> Iterator[Annotation]:
    """Outputs as labels; a model that was asked by several prompts is a worker with each of them."""
    prompts = Counter(model for model, _ in {(_answerer(result), _prompt(result)) for _, result in results})
    for task, (place, result) in zip(_tasks(results, source, wishes.key), results, strict=True):
        response, model = result.get("response") or {}, _answerer(result)
        value = None if response.get("error") else response.get("output")
        spent = _usage(response.get("tokenUsage"), response.get("cost"))
        worker = f"{model or 'model'} / prompt {_prompt(result)}" if prompts[model] > 1 else model or "model"
        shown = json.dumps((result.get("testCase") or {}).get("vars"))
        yield replace(verdict(task, worker, value, f"{place}.response.output", spent=spent), shown=shown)


def _usage(tokens: Any, cost: Any) -> Usage | None:
    """Counts of a call; those of promptfoo's own cache are none, a provider's cache is in the details."""
    counts = tokens if isinstance(tokens, dict) else {}
    details = counts.get("completionDetails")
    cached = details if isinstance(details, dict) else {}
    read, written = cached.get("cacheReadInputTokens"), cached.get("cacheCreationInputTokens")
    total = counts.get("total")
    return usage_of(counts.get("prompt"), counts.get("completion"), read, written, total=total, cost=cost)


BRIDGE = Bridge(name="promptfoo", what="results of an eval (.json or .jsonl)", read=read_results)
