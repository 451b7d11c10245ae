"""promptfoo's results: each assertion a judge of an output, or each model a labeler whose output is the label."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crowdopt.documents import COUNT, Each, Keys, Maybe
from crowdopt.io.bridges.exchange.annotations import Annotation, Annotations, with_gold
from crowdopt.io.bridges.exchange.bridge import Bridge, Wishes
from crowdopt.io.bridges.exchange.token_usage import Usage, usage_of
from crowdopt.io.bridges.exchange.verdicts import passed, verdict
from crowdopt.io.tables.foreign_json import check, parsed, read_lines, read_text, refuse, scalar

REMEDY = "give what `promptfoo eval -o results.json` or `-o results.jsonl` wrote"
OPEN = Keys(open=True)
PART = Keys(optional={"assertion": Maybe(OPEN), "metadata": Maybe(OPEN), "tokensUsed": Maybe(OPEN)}, open=True)
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
Place = tuple[str, dict[str, Any]]


def read_results(path: Path, wishes: Wishes) -> Annotations:
    """The votes on each output; with ``field`` "output", the outputs as votes of the models that gave them.

    Any other ``field`` is a metric: the graders that it names are then the judges. ``key`` names a variable of the test
    that holds its id. An assertion whose grader failed abstains.
    """
    results = list(_results(path))
    many = len({_answerer(result) for _, result in results}) > 1, len({_prompt(result) for _, result in results}) > 1
    rows = (
        row
        for place, result in results
        for row in (
            _output(result, place, path.name, wishes)
            if wishes.field == OUTPUT
            else _votes(result, place, _item(result, place, path.name, wishes, many), wishes.field)
        )
    )
    return with_gold(rows, path.name)


def _results(path: Path) -> Iterator[Place]:
    if path.suffix == ".jsonl":
        yield from read_lines(path, RESULT, REMEDY)
        return
    found = parsed(read_text(path), path.name)
    for _ in range(2):  # results.results, or one of them for older files
        found = found.get("results", found) if isinstance(found, dict) else found
    check(found, Each(RESULT), path.name, REMEDY)
    yield from ((f"results[{k}]", result) for k, result in enumerate(found))


def _answerer(result: dict[str, Any]) -> str:
    return scalar(result["provider"].get("label") or result["provider"].get("id")) or ""


def _prompt(result: dict[str, Any]) -> int:
    return int(result.get("promptIdx", 0))


def _task(result: dict[str, Any], place: str, source: str, key: str | None) -> str:
    """The test's id: the variable of that name, else its description, else its number."""
    if key is None:
        return scalar((result.get("testCase") or {}).get("description")) or f"test {result['testIdx']}"
    task = scalar((result.get("vars") or {}).get(key))
    if not task:
        raise refuse(
            source, f"{place}.vars.{key}", "must be the id of the test", task, "name another variable by --key"
        )
    return task


def _item(result: dict[str, Any], place: str, source: str, wishes: Wishes, many: tuple[bool, bool]) -> str:
    """What is judged: the test's output, named by model and prompt where there are several (``many``) of them."""
    parts = [_task(result, place, source, wishes.key)]
    parts += [_answerer(result)] * many[0] + [f"prompt {_prompt(result)}"] * many[1]
    return " / ".join(parts)


def _votes(result: dict[str, Any], place: str, item: str, field: str | None) -> Iterator[Annotation]:
    """What the assertions say of an output; those that one name holds for are numbered."""
    seen: dict[str, int] = {}
    for k, part in enumerate((result.get("gradingResult") or {}).get("componentResults") or ()):
        assertion = (part or {}).get("assertion") or {}
        metric = scalar(assertion.get("metric")) or ""
        if part is None or field not in (None, metric):
            continue
        name = (_grader(assertion) if field else metric) or scalar(assertion.get("type")) or "assertion"
        seen[name] = seen.get(name, 0) + 1
        judge = name if seen[name] == 1 else f"{name} {seen[name]}"
        failed = (part.get("metadata") or {}).get("graderError") is True
        value = None if failed else passed(part.get("pass"))
        where = f"{place}.gradingResult.componentResults[{k}]"
        yield verdict(item, judge, value, where, spent=_usage(part.get("tokensUsed"), None))


def _grader(assertion: dict[str, Any]) -> str:
    """The model that an assertion asks: an id, or an options table that has a label or an id."""
    provider = assertion.get("provider")
    if not isinstance(provider, dict):
        return scalar(provider) or ""
    config = provider.get("config")
    named = config.get("name") if isinstance(config, dict) else None
    return next((text for one in (provider.get("label"), named, provider.get("id")) if (text := scalar(one))), "")


def _output(result: dict[str, Any], place: str, source: str, wishes: Wishes) -> Iterator[Annotation]:
    response = result.get("response") or {}
    value = None if response.get("error") else response.get("output")
    spent = _usage(response.get("tokenUsage"), response.get("cost"))
    task = _task(result, place, source, wishes.key)
    yield verdict(task, _answerer(result) or "model", value, f"{place}.response.output", spent=spent)


def _usage(tokens: Any, cost: Any) -> Usage | None:
    """Counts of a call; those of promptfoo's own cache are none, a provider's cache is in the details."""
    counts = tokens if isinstance(tokens, dict) else {}
    details = counts.get("completionDetails")
    cached = details if isinstance(details, dict) else {}
    read, written = cached.get("cacheReadInputTokens"), cached.get("cacheCreationInputTokens")
    total = counts.get("total")
    return usage_of(counts.get("prompt"), counts.get("completion"), read, written, total=total, cost=cost)


BRIDGE = Bridge(name="promptfoo", what="results of an eval (.json or .jsonl)", read=read_results)
