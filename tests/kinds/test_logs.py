"""Logs of other tools: a judge is what the log names, a task is what was shown, a no is a no."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.typed import run


def write(path: Path, log: Any) -> Path:
    """A log: JSON, or JSON lines of a list for Prodigy and MLflow; a text as it is."""
    path.write_text(log if isinstance(log, str) else json.dumps(log), encoding="utf-8")
    return path


def votes(folder: Path, tool: str, log: Any, *words: str, name: str = "log.json") -> dict[tuple[str, str], str]:
    """Task, worker -> label of a log, by a pull into a campaign that an import of the same log made."""
    path = write(folder / name, log) if log is not None else folder / name
    made, back = folder / "made", folder / "back"
    given = [str(path), "--from", tool, *words]
    done = run("import", *given, "--epsilon", "0.4", "--trust-gold", "-o", made, "--force")
    assert done.exit_code == 0, done.output
    done = run("pull", made, *given, "-o", back, "--force")
    assert done.exit_code == 0, done.output
    lines = (back / "labels.csv").read_text(encoding="utf-8").splitlines()[1:]
    return {(task, worker): label for task, worker, label in (line.split(",")[:3] for line in lines)}


def refusal(folder: Path, tool: str, log: Any, *words: str, name: str = "log.json") -> str:
    """The one sentence that an import says no with; nothing is written."""
    path = write(folder / name, log) if log is not None else folder / name
    made = folder / "refused"
    done = run("import", path, "--from", tool, "-o", made, *words)
    assert done.exit_code == 2 and not made.exists(), done.output
    assert done.output.startswith("crowdopt: ") and done.output.count("\n") == 1, done.output
    return done.output


def lines(rows: list[dict[str, Any]]) -> str:
    """JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


# promptfoo ----------------------------------------------------------------------------------------------------------


def rubric(passed: bool, **assertion: Any) -> dict[str, Any]:
    """One assertion of a model, and what it found."""
    return {"pass": passed, "score": float(passed), "assertion": {"type": "llm-rubric", **assertion}}


def result(number: int, parts: list[Any], **more: Any) -> dict[str, Any]:
    """A promptfoo test of a model's output."""
    return {
        "testIdx": number,
        "promptIdx": 0,
        "provider": {"id": "bot", "label": ""},
        "vars": {"q": f"q{number}"},
        "testCase": {"vars": {"q": f"q{number}"}, "options": {}},
        "response": {"output": f"answer {number}"},
        "gradingResult": {"componentResults": parts},
        **more,
    }


def results(*rows: dict[str, Any]) -> dict[str, Any]:
    """What promptfoo writes."""
    return {"results": {"version": 3, "results": list(rows)}}


@pytest.mark.parametrize(
    "provider",
    [lambda name: {"id": name}, lambda name: {"id": "file://judge.py", "label": name}],
    ids=["options", "label"],
)
def test_a_grader_is_the_model_that_the_log_names_wherever_it_stands_in_a_test(tmp_path, provider):
    """A place says nothing: strict stands second, alone and first."""
    strict, mild = {"provider": provider("strict")}, {"provider": provider("mild")}
    log = results(
        result(0, [rubric(True, **mild), rubric(False, **strict)]),
        result(1, [rubric(False, **strict)]),
        result(2, [rubric(False, **strict), rubric(True, **mild)]),
    )
    found = votes(tmp_path, "promptfoo", log)
    assert {worker for _, worker in found} == {"strict", "mild"}
    assert {label for (_, worker), label in found.items() if worker == "strict"} == {"fail"}
    assert votes(tmp_path, "promptfoo", log, "--field", "llm-rubric") == found


def test_a_test_can_name_the_grader_of_all_its_rubrics(tmp_path):
    """``options.provider`` is that of assertions that name none; it judges no ``contains``."""
    contains = {"pass": True, "assertion": {"type": "contains", "value": "x"}}
    rows = [
        result(k, [rubric(k == 0, value=f"is {k}"), contains], testCase={"options": {"provider": grader}})
        for k, grader in enumerate(["strict", {"id": "mild"}])
    ]
    found = votes(tmp_path, "promptfoo", results(*rows))
    assert found == {
        ("test 0", "strict"): "pass",
        ("test 1", "mild"): "fail",
        ("test 0", "contains"): "pass",
        ("test 1", "contains"): "pass",
    }


def test_what_has_no_grader_and_no_metric_is_told_apart_by_its_value(tmp_path):
    """Two rubrics of a test are two judges in whatever order; one rubric of each test is one judge of them all."""
    polite, short = {"value": "polite"}, {"value": "short"}
    log = results(
        result(0, [rubric(True, **polite), rubric(False, **short)]),
        result(1, [rubric(False, **short), rubric(True, **polite)]),
    )
    found = votes(tmp_path, "promptfoo", log)
    assert {worker: label for (_, worker), label in found.items()} == {
        "llm-rubric (polite)": "pass",
        "llm-rubric (short)": "fail",
    }
    assert len(found) == 4
    one = results(result(0, [rubric(True, value="names Paris")]), result(1, [rubric(False, value="names Rome")]))
    assert {worker for _, worker in votes(tmp_path, "promptfoo", one)} == {"llm-rubric"}


def test_a_metric_of_two_models_is_two_judges(tmp_path):
    """By the metric and the model; one model of it goes by the metric alone."""
    both = [rubric(True, metric="tone", provider="gpt"), rubric(False, metric="tone", provider="opus")]
    found = votes(tmp_path, "promptfoo", results(result(0, both), result(1, both[::-1])))
    assert {worker: label for (_, worker), label in found.items()} == {"tone (gpt)": "pass", "tone (opus)": "fail"}


def test_one_model_that_answers_two_questions_of_a_test_is_asked_which(tmp_path):
    """Its votes on one are none on the other; a value chooses."""
    log = results(
        result(0, [rubric(True, value="polite", provider="gpt"), rubric(False, value="short", provider="gpt")]),
        result(1, [rubric(False, value="short", provider="gpt"), rubric(False, value="polite", provider="gpt")]),
    )
    assert "gpt judged 'polite' and 'short'; choose one of them with --field" in refusal(tmp_path, "promptfoo", log)
    assert votes(tmp_path, "promptfoo", log, "--field", "polite") == {
        ("test 0", "gpt"): "pass",
        ("test 1", "gpt"): "fail",
    }


def test_graders_that_only_their_settings_tell_apart_are_refused(tmp_path):
    """They have one name, so that one's vote would replace the other's."""
    parts = [rubric(heat == 0, provider={"id": "gpt", "config": {"temperature": heat}}) for heat in (0, 1)]
    said = refusal(tmp_path, "promptfoo", results(result(0, parts), result(1, parts)))
    assert "componentResults[1]: gpt judges this output twice; give each assertion a metric" in said


def test_what_a_set_of_assertions_sums_up_is_no_further_judge(tmp_path):
    """A set's own outcome is listed before those of its members, and a script's before its parts."""
    members = [rubric(True, provider="a"), rubric(False, provider="b")]
    script = {"type": "python", "value": "file://check.py"}
    parts = [{"pass": True, "reason": "one"}, {"pass": False, "reason": "two"}]
    rows = [
        result(
            k,
            [
                {"pass": False, "score": 0.5, "componentResults": members},
                *members,
                {"pass": k == 0, "assertion": script, "componentResults": parts},
                *({**part, "assertion": script} for part in parts),
            ],
        )
        for k in range(2)
    ]
    found = votes(tmp_path, "promptfoo", results(*rows))
    assert {worker for _, worker in found} == {"a", "b", "python"}
    assert [found[f"test {k}", "python"] for k in range(2)] == ["pass", "fail"]


def test_tests_of_one_description_are_not_one_test(tmp_path):
    """As where a test has a list for a variable."""
    rows = [
        result(k, [rubric(k == 0, provider="gpt")], testCase={"description": "capitals", "vars": {"q": f"q{k}"}})
        for k in range(2)
    ]
    found = votes(tmp_path, "promptfoo", results(*rows))
    assert sorted(found.items()) == [(("capitals (test 0)", "gpt"), "pass"), (("capitals (test 1)", "gpt"), "fail")]


def test_two_outputs_of_one_key_are_refused(tmp_path):
    """A repeated test is judged on what it said then: a vote on the second output is none on the first."""
    rows = [result(k, [rubric(k == 0, provider="gpt")], vars={"id": "q"}) for k in range(2)]
    said = refusal(tmp_path, "promptfoo", results(*rows), "--key", "id")
    assert "what task q shows differs from results[0]" in said and "--key" in said


def test_a_model_with_two_prompts_is_two_labelers(tmp_path):
    """Its output to the second prompt replaces none to the first."""
    rows = [
        result(k, [], promptIdx=prompt, response={"output": ("yes", "no")[(k + prompt) % 2]})
        for k in range(2)
        for prompt in range(2)
    ]
    found = votes(tmp_path, "promptfoo", results(*rows), "--field", "output")
    assert {worker for _, worker in found} == {"bot / prompt 0", "bot / prompt 1"} and len(found) == 4


# deepeval -----------------------------------------------------------------------------------------------------------


def metric(passed: bool, model: str = "gpt", name: str = "Right [GEval]", **more: Any) -> dict[str, Any]:
    """One metric of a test case."""
    return {"name": name, "success": passed, "score": float(passed), "evaluationModel": model, **more}


def case(question: str, *metrics: dict[str, Any], name: str = "test_bot", **more: Any) -> dict[str, Any]:
    """A test case of deepeval."""
    return {"name": name, "input": question, "actualOutput": "x", "metricsData": list(metrics), **more}


def test_cases_of_one_function_are_told_apart_by_their_inputs(tmp_path):
    """The name is the test function's; a name of one case stays as it is."""
    log = {"testCases": [case(f"q{k}", metric(k == 0), metric(False, name="Kind")) for k in range(3)]}
    log["testCases"].append(case("q9", metric(True), name="test_other"))
    found = votes(tmp_path, "deepeval", log)
    assert {task for task, _ in found} == {"test_bot (q0)", "test_bot (q1)", "test_bot (q2)", "test_other"}
    assert len(found) == 7
    talks = [
        {"name": "test_talk", "scenario": f"talk {k}", "turns": [], "metricsData": [metric(k == 0)]} for k in range(2)
    ]
    found = votes(tmp_path, "deepeval", {"conversationalTestCases": talks})
    assert {task for task, _ in found} == {"test_talk (talk 0)", "test_talk (talk 1)"}


def test_the_models_of_one_metric_are_judges_of_their_own_in_a_second_run_too(tmp_path):
    """A second run replaces votes of the same model on the same output, and no others."""
    (tmp_path / "runs").mkdir()
    for k, model in enumerate(["gpt", "opus", "gpt"]):
        cases = [case(f"q{n}", metric(model == "opus" or (k == 2 and n == 0), model), name=f"q{n}") for n in range(2)]
        write(tmp_path / "runs" / f"test_run_{k}.json", {"testCases": cases})
    found = votes(tmp_path, "deepeval", None, name="runs")
    assert found == {
        ("q0", "Right [GEval] (gpt)"): "pass",
        ("q1", "Right [GEval] (gpt)"): "fail",
        ("q0", "Right [GEval] (opus)"): "pass",
        ("q1", "Right [GEval] (opus)"): "pass",
    }


def test_files_of_two_runs_are_read_together(tmp_path):
    """One model's votes are its own whichever files are read beside them; another output is another task."""
    (tmp_path / "runs").mkdir()
    for model, right in (("gpt", 0), ("opus", 1)):
        cases = [case(f"q{n}", metric(n == right, model), name=f"q{n}") for n in range(2)]
        write(tmp_path / "runs" / f"{model}.json", {"testCases": cases})
    found = votes(tmp_path, "deepeval", None, name="runs")
    gpt, opus = (str(tmp_path / "runs" / f"{model}.json") for model in ("gpt", "opus"))
    fresh = [case(f"q{n}", metric(True, "opus"), name=f"q{n}", actualOutput="y") for n in range(2)]
    other = str(write(tmp_path / "other.json", {"testCases": fresh}))
    pull = ["pull", str(tmp_path / "made"), "--from", "deepeval", "--force", "-o", str(tmp_path / "again")]
    for files in ([gpt], [gpt, opus]):
        done = run(*pull, *files)
        assert done.exit_code == 0, done.output
        table = (tmp_path / "again" / "labels.csv").read_text(encoding="utf-8").splitlines()[1:]
        assert len(table) == 2 * len(files)
        assert all(found[task, worker] == label for task, worker, label in (line.split(",")[:3] for line in table))
    done = run(*pull, gpt, other)
    assert done.exit_code == 2 and "what task q0 shows differs from testCases[0]" in done.output


# Prodigy ------------------------------------------------------------------------------------------------------------


def asked(task: int, who: str, answer: str, **more: Any) -> dict[str, Any]:
    """A line of ``prodigy db-out``."""
    return {
        "text": f"t{task}",
        "_input_hash": task,
        "_task_hash": -task,
        "answer": answer,
        "_session_id": f"d-{who}",
        **more,
    }


def test_a_rejected_question_is_a_no_and_a_rejected_choice_none(tmp_path):
    """Yes, no and skip of a question; a choice that is rejected discards the item."""
    answers = {"ada": "accept", "bo": "reject", "cy": "reject", "di": "ignore"}
    rows = [asked(task, who, answer, label="SPORT") for task in (1, 2) for who, answer in answers.items()]
    found = votes(tmp_path, "prodigy", lines(rows), "--key", "_task_hash")
    assert {who: label for (_, who), label in found.items()} == {"ada": "yes", "bo": "no", "cy": "no"}
    options = [{"id": "a", "text": "A"}, {"id": "b", "text": "B"}]
    chosen = {"ada": ("accept", ["a"]), "bo": ("reject", ["b"]), "cy": ("accept", ["b"]), "di": ("reject", [])}
    rows = [asked(1, who, answer, options=options, accept=accept) for who, (answer, accept) in chosen.items()]
    found = votes(tmp_path, "prodigy", lines(rows), "--key", "_task_hash")
    assert found == {("-1", "ada"): "a", ("-1", "cy"): "b"}
    rows = [{**row, "options": None, "accept": row["accept"] or None, "_view_id": "choice"} for row in rows]
    assert votes(tmp_path, "prodigy", lines(rows), "--key", "_task_hash") == found


def test_one_text_asked_about_two_labels_is_two_questions(tmp_path):
    """By the task's hash they are two tasks; by the input's they would be one; ``--field`` takes one label."""
    rows = [
        asked(1, who, answer, label=label, _task_hash=number)
        for number, label, answers in ((7, "SPORT", ("accept", "reject")), (8, "NEWS", ("reject", "accept")))
        for who, answer in zip(("ada", "bo"), answers, strict=True)
    ]
    found = votes(tmp_path, "prodigy", lines(rows), "--key", "_task_hash")
    assert found == {("7", "ada"): "yes", ("7", "bo"): "no", ("8", "ada"): "no", ("8", "bo"): "yes"}
    assert "what task 1 shows differs from line 1" in refusal(tmp_path, "prodigy", lines(rows), "--key", "_input_hash")
    found = votes(tmp_path, "prodigy", lines(rows), "--key", "_input_hash", "--field", "NEWS")
    assert found == {("1", "ada"): "no", ("1", "bo"): "yes"}


def test_marks_in_a_text_are_no_class(tmp_path):
    """As ``ner.manual`` writes them, also where nothing was marked."""
    log = lines([asked(1, "ada", "accept", spans=[]), asked(1, "bo", "accept", spans=[])])
    assert "line 1: holds spans and no choice" in refusal(tmp_path, "prodigy", log, "--key", "_task_hash")
    assert "--key _task_hash" in refusal(tmp_path, "prodigy", log)


# Label Studio, Potato, MLflow, Langfuse, Inspect, crowd-kit ---------------------------------------------------------


def studio(*answers: dict[str, Any], data: list[dict[str, Any]] | None = None) -> list[dict[str, Any]]:
    """Two tasks of Label Studio, each with these parts of an answer by one worker each."""
    return [
        {
            "id": number + 1,
            "data": {"text": f"item {number}"} if data is None else data[number],
            "annotations": [
                {"completed_by": worker + 1, "result": [{"from_name": "a", "to_name": "t", **part}]}
                for worker, part in enumerate(answers)
            ],
        }
        for number in range(2)
    ]


def taxonomy(*paths: list[str]) -> dict[str, Any]:
    """An answer to Label Studio's taxonomy."""
    return {"type": "taxonomy", "value": {"taxonomy": list(paths)}}


def test_left_and_right_are_classes_and_so_is_a_path(tmp_path):
    """Of several paths no one is the class."""
    pairs = [{"type": "pairwise", "value": {"selected": side}} for side in ("left", "right", "left")]
    assert sorted(votes(tmp_path, "label-studio", studio(*pairs)).values()) == ["left"] * 4 + ["right"] * 2
    paths = [taxonomy(["animal", "bird"]), taxonomy(["animal"]), taxonomy(["animal", "bird"])]
    found = votes(tmp_path, "label-studio", studio(*paths))
    assert sorted(found.values()) == ["animal"] * 2 + ["animal / bird"] * 4
    several = studio(taxonomy(["animal"], ["plant", "tree"]))
    assert "value.taxonomy: must be one class, not a list of 2 entries" in refusal(tmp_path, "label-studio", several)


def test_a_key_that_names_unlike_tasks_alike_is_asked_about(tmp_path):
    """``task`` is taken for the id unasked, unless it is that of tasks which show other things."""
    choices = [{"type": "choices", "value": {"choices": [label]}} for label in ("yes", "no")]
    data = [{"task": "sentiment", "text": f"item {k}", "id": f"i{k}"} for k in range(2)]
    assert "[1].data: its task is that of [0], but they show different" in refusal(
        tmp_path, "label-studio", studio(*choices, data=data)
    )
    found = votes(tmp_path, "label-studio", studio(*choices, data=data), "--key", "id")
    assert {task for task, _ in found} == {"i0", "i1"}
    copies = [{"task": "one", "text": "item", "queue": f"|{k}|"} for k in range(2)]
    assert {task for task, _ in votes(tmp_path, "label-studio", studio(*choices, data=copies))} == {"one"}


def test_answers_to_several_questions_are_not_mixed(tmp_path):
    """Also where no annotation answers more than one of them."""
    log = studio({"type": "choices", "value": {"choices": ["yes"]}}, {"type": "choices", "value": {"choices": ["no"]}})
    log[1]["annotations"][0]["result"][0]["from_name"] = "b"
    assert "answers a, b; choose one of them with --field" in refusal(tmp_path, "label-studio", log)


def trace(number: int, *assessments: dict[str, Any], **metadata: str) -> dict[str, Any]:
    """A trace of MLflow."""
    return {"info": {"trace_id": f"t{number}", "assessments": list(assessments), "trace_metadata": metadata}}


def feedback(model: str, **given: Any) -> dict[str, Any]:
    """What a model's judge said."""
    return {"assessment_name": "right", "source": {"source_type": "LLM_JUDGE", "source_id": model}, "feedback": given}


def test_the_models_behind_one_score_are_judges_of_their_own(tmp_path):
    """MLflow's by their source; an error is no answer, whatever stands beside it."""
    traces = [
        trace(
            k, feedback("gpt", value="yes"), feedback("opus", value="no"), feedback("bad", value="no", error={"a": 1})
        )
        for k in range(2)
    ]
    found = votes(tmp_path, "mlflow", lines(traces), name="traces.jsonl")
    assert {worker: label for (_, worker), label in found.items()} == {"right (gpt)": "yes", "right (opus)": "no"}
    scores = [
        {"traceId": f"t{k}", "name": "right", "source": source, "dataType": "CATEGORICAL", "stringValue": label}
        for k in range(2)
        for source, label in (("EVAL", "yes"), ("API", "no"))
    ]
    found = votes(tmp_path, "langfuse", scores)
    assert {worker: label for (_, worker), label in found.items()} == {"right (EVAL)": "yes", "right (API)": "no"}


def inspected(model: str, graders: list[str], **scores: str) -> dict[str, Any]:
    """A log of Inspect: two samples by a model, graded by these models."""
    scorers = [{"name": "graded", "options": {"model": grader}} for grader in graders]
    samples = [
        {
            "id": k,
            "epoch": 1,
            "input": f"q{k}",
            "output": {"model": model},
            "scores": {n: {"value": v} for n, v in scores.items()},
        }
        for k in range(2)
    ]
    return {"version": 2, "eval": {"scorers": scorers}, "samples": samples}


def test_graders_of_inspect_are_told_apart_by_their_models(tmp_path):
    """It numbers those of one name by their place, which differs from log to log."""
    (tmp_path / "logs").mkdir()
    write(tmp_path / "logs" / "1.json", inspected("bot", ["gpt", "opus"], graded="C", graded1="I"))
    write(tmp_path / "logs" / "2.json", inspected("bot", ["opus"], graded="I"))
    found = votes(tmp_path, "inspect", None, name="logs")
    assert {worker: label for (_, worker), label in found.items()} == {"graded (gpt)": "C", "graded (opus)": "I"}
    write(tmp_path / "logs" / "3.json", inspected("another bot", ["gpt"], graded="I"))
    assert "what task 0 shows differs from samples[0]" in refusal(tmp_path, "inspect", None, name="logs")


def test_a_true_label_is_no_mark(tmp_path):
    """crowd-kit's ``gold`` says whether a label is the truth; what holds classes would be passed over."""
    table = "task,worker,label,gold\na,ada,cat,cat\nb,ada,dog,cat\n"
    assert "line 2, column gold: 'cat' is neither yes nor no" in refusal(tmp_path, "crowd-kit", table, name="t.csv")
