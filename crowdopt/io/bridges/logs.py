"""Logs of judges: deepeval's test runs, Langfuse's scores, MLflow's traces, promptfoo's results.

Of each format: where its items, judges, outcomes, tokens and errors are in a record. Every vote is used, abstains, or
is refused with its place.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from crowdopt.documents import COUNT, TEXT, Each, Keys, Maybe
from crowdopt.errors import InputError
from crowdopt.io.bridges.annotations import (
    Annotation,
    Annotations,
    Usage,
    one_question,
    passed,
    told_apart,
    usage_of,
    verdict,
    with_gold,
)
from crowdopt.io.bridges.pushed import Bridge, Wishes
from crowdopt.io.foreign_json import check, parsed, read_rows, read_text, refuse, scalar

TEST_RUN = "give a test run that deepeval saved: DEEPEVAL_RESULTS_FOLDER names their folder"
METRIC = Keys(required={"name": TEXT}, open=True)
CASE = Keys(optional={"metricsData": Maybe(Each(METRIC)), "metadata": Maybe(Keys(open=True))}, open=True)
CASES = ("testCases", "conversationalTestCases")
SHOWN = ("input", "actualOutput", "expectedOutput", "context", "retrievalContext", "scenario", "turns")
RUN = Keys(optional=dict.fromkeys(CASES, Maybe(Each(CASE))), open=True)


def read_runs(path: Path, wishes: Wishes) -> Annotations:
    """The votes of one test run, or of every one in a folder.

    A metric that ended in an error abstains. Without ``field`` each metric is a judge, named with its model where
    several judge by it; with it the models that judged by the metric of that name are. ``key`` names a key of a test
    case's metadata. Cases of one name are told apart by their inputs.
    """
    runs = sorted(path.rglob("*.json")) if path.is_dir() else [path]
    cases = [(f"{run.name}, " * path.is_dir() + place, case) for run in runs for place, case in _cases(run, wishes.key)]
    tasks = told_apart((_case(case, wishes.key), _input(case)) for _, case in cases if not wishes.key)
    rows = []
    for place, case in cases:
        named = _case(case, wishes.key), _input(case)
        task, shown = tasks.get(named, named[0]), json.dumps([case.get(name) for name in SHOWN])
        seen: set[tuple[str, str]] = set()
        for k, metric in enumerate(case.get("metricsData") or ()):
            if wishes.field not in (None, metric["name"].strip(), metric["name"].strip().partition(" [")[0]):
                continue
            judge, where = _judge(metric, wishes.field), f"{place}.metricsData[{k}]"
            if judge in seen:
                raise InputError(
                    f"{path.name}, {where}: {judge[0]} judges this case twice; name its metrics differently"
                )
            seen.add(judge)
            rows.append(replace(_measured(task, judge[0], metric, where), shown=shown, model=judge[1]))
    return with_gold(rows, path.name or str(path))


def _cases(run: Path, key: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    found = parsed(read_text(run), run.name, TEST_RUN)
    found = found["testRunData"] if isinstance(found, dict) and "testRunData" in found else found
    check(found, RUN, run.name, TEST_RUN)
    if not any(isinstance(found.get(name), list) for name in CASES):
        raise refuse(run.name, "the whole", "must have testCases", found, TEST_RUN)
    for kind in CASES:
        for number, case in enumerate(found.get(kind) or ()):
            if not _case(case, key):
                raise refuse(
                    run.name, f"{kind}[{number}]", f"must have the {key or 'name'} of its task", None, TEST_RUN
                )
            yield f"{kind}[{number}]", case


def _case(case: dict[str, Any], key: str | None) -> str:
    return scalar((case.get("metadata") or {}).get(key) if key else case.get("name")) or ""


def _input(case: dict[str, Any]) -> str:
    """What tells cases of one name apart: the function that runs them names them all alike."""
    texts = (scalar(case.get(name)) for name in ("input", "scenario", "order"))
    return next((text for text in texts if text), "")


def _judge(metric: dict[str, Any], field: str | None) -> tuple[str, str]:
    """A metric's name and its model; the model alone where one metric is chosen."""
    name, model = metric["name"].strip(), scalar(metric.get("evaluationModel")) or ""
    return (model or name, "") if field else (name, model)


def _measured(task: str, judge: str, metric: dict[str, Any], place: str) -> Annotation:
    value = None if metric.get("error") else passed(metric.get("success"))
    spent = usage_of(metric.get("inputTokenCount"), metric.get("outputTokenCount"), cost=metric.get("evaluationCost"))
    return verdict(task, judge, value, place, spent=spent)


DEEPEVAL = Bridge(name="deepeval", what="a test run (.json), or a folder of them", read=read_runs)


SCORES = "give scores as the API has them (GET /api/public/v2/scores, or v3), or as the export of scores to JSON does"
OPEN = Keys(open=True)
SCORE = Keys(
    required={"name": TEXT},
    optional={"metadata": Maybe(OPEN), "subject": Maybe(OPEN)},
    open=True,
)
PERSON = "ANNOTATION"
NOT_A_CLASS = ("TEXT", "CORRECTION")
SUBJECTS = ("observationId", "traceId", "sessionId", "datasetRunId")  # the nearest thing that a score is of


def read_scores(path: Path, wishes: Wishes) -> Annotations:
    """The scores of a file: JSON of the API or of an export, or JSON lines.

    With ``field`` only scores of that name are read. ``key`` names a key of a score's metadata that holds the task's
    id; otherwise it is the observation's or trace's. Free texts are refused, for a label is one class.
    """
    every = read_rows(path, SCORE, SCORES, _scores_in)
    scores = [(place, one) for place, one in every if wishes.field in (None, one["name"].strip())]
    answers = [one for _, one in scores if _is_person(one) and one.get("dataType") not in NOT_A_CLASS]
    one_question(((_scorer(one), one["name"].strip()) for one in answers), path.name)
    return with_gold((_scored(one, place, path.name, wishes.key) for place, one in scores), path.name)


def _scores_in(found: Any) -> tuple[str, Any]:
    return ("data", found["data"]) if isinstance(found, dict) and "data" in found else ("", found)


def _is_person(score: dict[str, Any]) -> bool:
    return score.get("source") == PERSON


def _given_by(score: dict[str, Any]) -> str:
    """What gave a score, in the tool's word; nothing of people who are known by their own names."""
    return "" if _is_person(score) and scalar(score.get("authorUserId")) else scalar(score.get("source")) or ""


def _scorer(score: dict[str, Any]) -> str:
    return (scalar(score.get("authorUserId")) if _is_person(score) else None) or score["name"].strip()


def _scored(score: dict[str, Any], place: str, source: str, key: str | None) -> Annotation:
    task = _subject(score, key)
    if not task:
        raise refuse(source, place, f"must have the {key or 'trace'} that it is of", task, SCORES)
    when = scalar(score.get("timestamp")) or ""
    kind = score.get("dataType")
    why = f"a text ({kind}), and no class" if kind in NOT_A_CLASS else ""
    return replace(verdict(task, _scorer(score), _value(score), place, when=when, why=why), model=_given_by(score))


def _subject(score: dict[str, Any], key: str | None) -> str | None:
    if key is not None:
        return scalar((score.get("metadata") or {}).get(key))
    subject = score.get("subject") or {}
    return next((text for one in (subject.get("id"), *map(score.get, SUBJECTS)) if (text := scalar(one))), None)


def _value(score: dict[str, Any]) -> Any:
    """The category's name; true or false where the score is one, which older versions keep as 1 and 0."""
    value, kind = score.get("value"), score.get("dataType")
    if kind == "BOOLEAN" and value in (0, 1):
        return bool(value)
    text = score.get("stringValue")
    return text if kind == "CATEGORICAL" and text is not None else value


LANGFUSE = Bridge(name="langfuse", what="scores: JSON of its API, or an export", read=read_scores)


TRACES = "write each trace's to_json() on a line, or mlflow.search_traces().to_json(FILE, orient='records')"

ASSESSMENT = Keys(
    required={"assessment_name": TEXT, "source": Keys(required={"source_type": TEXT}, open=True)},
    optional={"feedback": Maybe(OPEN), "expectation": Maybe(OPEN), "metadata": Maybe(OPEN)},
    open=True,
)
INFO = Keys(
    required={"trace_id": TEXT},
    optional={"assessments": Maybe(Each(ASSESSMENT)), "trace_metadata": Maybe(OPEN), "tags": Maybe(OPEN)},
    open=True,
)
INPUTS, OUTPUTS = "mlflow.traceInputs", "mlflow.traceOutputs"  # keys of a trace's metadata: what was asked and said
JUDGED = ("InputTokens", "OutputTokens", "Cost")  # what the metadata of a judge's assessment counts
HUMAN = "HUMAN"
Row = tuple[str, dict[str, Any], str, str]  # the task, an assessment, its place, what was judged


def read_traces(path: Path, wishes: Wishes) -> Annotations:
    """The assessments of a file of traces.

    A scorer is a worker by its name, and by its source where several give that name; a person is one by their own. With
    ``field`` only assessments of that name are read, and each source is a worker. ``key`` names an input, a tag or a
    key of the trace's metadata that holds the task's id. Feedback with an error abstains; what another assessment
    overrode is refused.
    """
    rows = list(_assessments(path, wishes.key))
    if wishes.field is None:
        people = (
            (_origin(one), one["assessment_name"]) for _, one, _, _ in rows if _is_human(one) and one.get("feedback")
        )
        one_question(people, path.name)
    asked = {one["assessment_name"] for _, one, _, _ in rows if one.get("feedback")}
    votes = (
        replace(_assessed(task, one, place, _judge_named(one, wishes.field), asked), shown=shown, model=_model(one))
        for task, one, place, shown in rows
        if wishes.field in (None, one["assessment_name"])
    )
    return with_gold(votes, path.name)


def _assessments(path: Path, key: str | None) -> Iterator[Row]:
    for place, info in _infos(path):
        check(info, INFO, f"{path.name}, {place}", TRACES)
        task = _traced(info, key)
        if not task:
            raise refuse(path.name, place, f"must have {key!r} among its inputs, tags or metadata", task, TRACES)
        metadata = info.get("trace_metadata") or {}
        shown = json.dumps([metadata.get(INPUTS), metadata.get(OUTPUTS)])
        for k, one in enumerate(info.get("assessments") or ()):
            yield task, one, f"{place}.assessments[{k}]", shown


def _infos(path: Path) -> Iterator[tuple[str, Any]]:
    """What each trace says of itself: traces on lines, in a list, or the rows of a frame of them."""
    text = read_text(path)
    if path.suffix == ".jsonl":
        lines = ((f"line {number}", line) for number, line in enumerate(text.split("\n"), 1) if line.strip())
        found = [(place, parsed(line, f"{path.name}, {place}", TRACES)) for place, line in lines]
    else:
        whole = parsed(text, path.name, TRACES)
        found = [(f"[{k}]", one) for k, one in enumerate(whole if isinstance(whole, list) else [whole])]
    for place, trace in found:
        inner = trace.get("trace") if isinstance(trace, dict) else None
        trace = parsed(inner, f"{path.name}, {place}.trace") if isinstance(inner, str) else trace
        yield place, trace.get("info", trace) if isinstance(trace, dict) else trace


def _traced(info: dict[str, Any], key: str | None) -> str | None:
    if key is None:
        return scalar(info["trace_id"])
    metadata = info.get("trace_metadata") or {}
    try:
        inputs = json.loads(metadata.get(INPUTS) or "{}")
    except (TypeError, ValueError):  # long inputs are cut
        inputs = {}
    places = (inputs if isinstance(inputs, dict) else {}, info.get("tags") or {}, metadata)
    return next((text for place in places if (text := scalar(place.get(key)))), None)


def _is_human(one: dict[str, Any]) -> bool:
    return bool(one["source"]["source_type"] == HUMAN)


def _origin(one: dict[str, Any]) -> str:
    return scalar(one["source"].get("source_id")) or one["source"]["source_type"].lower()


def _model(one: dict[str, Any]) -> str:
    """What judged, where it is no person."""
    return "" if _is_human(one) or one.get("feedback") is None else _origin(one)


def _judge_named(one: dict[str, Any], field: str | None) -> str:
    return _origin(one) if field or _is_human(one) else one["assessment_name"].strip()


def _assessed(task: str, one: dict[str, Any], place: str, worker: str, asked: set[str]) -> Annotation:
    """A feedback as a vote, an expectation as gold; asked: what any feedback answers."""
    name = one["assessment_name"].strip()
    when = scalar(one.get("last_update_time")) or ""
    why = "overridden by a later assessment" if one.get("valid") is False else ""
    if one.get("expectation") is not None:
        why = why or (
            "" if one["assessment_name"] in asked else f"an expectation of {name!r}, which no feedback answers"
        )
        known = verdict(
            task, f"{_origin(one)} (expectation)", one["expectation"].get("value"), place, when=when, why=why
        )
        return replace(known, gold=True)
    why = why or ("" if one.get("feedback") is not None else "an issue, and no feedback")
    feedback = one.get("feedback") or {}
    value = None if feedback.get("error") else feedback.get("value")
    return verdict(task, worker, value, place, when=when, why=why, spent=_judge_usage(one.get("metadata") or {}))


def _judge_usage(metadata: dict[str, Any]) -> Usage | None:
    sent, returned, cost = (metadata.get(f"mlflow.assessment.judge{part}") for part in JUDGED)
    return usage_of(sent, returned, cost=cost)


MLFLOW = Bridge(name="mlflow", what="traces: JSON, or JSON lines", read=read_traces)


RESULTS = "give what `promptfoo eval -o results.json` or `-o results.jsonl` wrote"

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
    results = list(read_rows(path, RESULT, RESULTS, _results_in))
    if wishes.field == OUTPUT:
        return with_gold(_outputs(results, path.name, wishes), path.name)
    asserted = [list(_asserted(result, place, wishes.field)) for place, result in results]
    several = _several(asserted, path.name)
    rows = []
    for item, (_, result), found in zip(_items(results, path.name, wishes), results, asserted, strict=True):
        shown = json.dumps([(result.get("testCase") or {}).get("vars"), (result.get("response") or {}).get("output")])
        for one in found:
            failed = (one.part.get("metadata") or {}).get("graderError") is True
            value, spent = (
                None if failed else passed(one.part.get("pass")),
                _call_usage(one.part.get("tokensUsed"), None),
            )
            judge = f"{one.judge} ({one.value})" if one.judge in several and one.value else one.judge
            vote = verdict(item, judge, value, one.place, spent=spent)
            rows.append(replace(vote, shown=shown, model=one.grader))
    return with_gold(rows, path.name)


def _results_in(found: Any) -> tuple[str, Any]:
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
        spent = _call_usage(response.get("tokenUsage"), response.get("cost"))
        worker = f"{model or 'model'} / prompt {_prompt(result)}" if prompts[model] > 1 else model or "model"
        shown = json.dumps((result.get("testCase") or {}).get("vars"))
        yield replace(verdict(task, worker, value, f"{place}.response.output", spent=spent), shown=shown)


def _call_usage(tokens: Any, cost: Any) -> Usage | None:
    """Counts of a call; those of promptfoo's own cache are none, a provider's cache is in the details."""
    counts = tokens if isinstance(tokens, dict) else {}
    details = counts.get("completionDetails")
    cached = details if isinstance(details, dict) else {}
    read, written = cached.get("cacheReadInputTokens"), cached.get("cacheCreationInputTokens")
    total = counts.get("total")
    return usage_of(counts.get("prompt"), counts.get("completion"), read, written, total=total, cost=cost)


PROMPTFOO = Bridge(name="promptfoo", what="results of an eval (.json or .jsonl)", read=read_results)

BRIDGE = (DEEPEVAL, LANGFUSE, MLFLOW, PROMPTFOO)
