"""Logs of other tools: a judge is what the log names, a task is what was shown, a no is a no."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.typed import rows, run

NAMES = {"mlflow": "log.jsonl", "crowd-kit": "log.csv"}  # log.json of others
TWO = "test 0, test 1"


def laid(folder: Path, tool: str, log: Any) -> Path:
    """A log: text as it is, other things as JSON; several in a tuple as the files of a folder."""
    several = isinstance(log, tuple)
    path = folder / ("logs" if several else NAMES.get(tool, "log.json"))
    if several:
        path.mkdir(exist_ok=True)
    for k, one in enumerate(log if several else [log]):
        file = path / f"{k}.json" if several else path
        file.write_text(one if isinstance(one, str) else json.dumps(one), encoding="utf-8")
    return path


def votes(folder: Path, tool: str, log: Any, *words: str) -> dict[tuple[str, str], str]:
    """Task, worker -> label of a log, by a pull into a campaign that an import of the same log made."""
    given = [laid(folder, tool, log), "--from", tool, *words, "--force"]
    made, back = folder / "made", folder / "back"
    for verb in (["import", "--epsilon", 0.4, "--trust-gold", "-o", made], ["pull", made, "-o", back]):
        done = run(*verb, *given)
        assert done.exit_code == 0, done.output
    return {(row["task"], row["worker"]): row["label"] for row in rows(back / "labels.csv")}


def told(tasks: str, **said: str) -> dict[tuple[str, str], str]:
    """The same, from tasks in order and what each worker said of them; ``-`` where they said nothing."""
    pairs = {worker: zip(tasks.split(", "), words.split(), strict=True) for worker, words in said.items()}
    return {(task, worker): label for worker, every in pairs.items() for task, label in every if label != "-"}


def refusal(folder: Path, tool: str, log: Any, *words: str) -> str:
    """The one sentence that an import says no with; nothing is written."""
    done = run("import", laid(folder, tool, log), "--from", tool, "-o", folder / "refused", *words)
    assert done.exit_code == 2 and not (folder / "refused").exists(), done.output
    assert done.output.startswith("crowdopt: ") and done.output.count("\n") == 1, done.output
    return done.output


def lines(rows: list[dict[str, Any]]) -> str:
    """JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


# promptfoo ----------------------------------------------------------------------------------------------------------


def rubric(passed: bool, provider: Any = None, **assertion: Any) -> dict[str, Any]:
    """One assertion of a model, and what it found."""
    named = {"provider": provider} if provider else {}
    return {"pass": passed, "score": float(passed), "assertion": {"type": "llm-rubric", **named, **assertion}}


def outputs(*tests: list[Any], **more: list[Any]) -> dict[str, Any]:
    """What promptfoo writes of tests of a model's output, each with its parts and its entry of whatever more."""
    found = []
    for k, parts in enumerate(tests):
        row = {"testIdx": k, "promptIdx": 0, "provider": {"id": "bot", "label": ""}, "vars": {"q": f"q{k}"}}
        row |= {"testCase": {"vars": {"q": f"q{k}"}, "options": {}}, "response": {"output": f"answer {k}"}}
        row |= {"gradingResult": {"componentResults": parts}}
        found.append(row | {key: values[k] for key, values in more.items()})
    return {"results": {"version": 3, "results": found}}


ONE_EACH = [rubric(True, "gpt")], [rubric(False, "gpt")]
POLITE, SHORT = {"value": "polite"}, {"value": "short"}


def test_a_grader_is_the_model_that_the_log_names_wherever_it_stands_in_a_test(tmp_path):
    """A place says nothing: strict stands second, alone and first; a label goes before a file's name."""
    strict, mild = rubric(False, {"id": "strict"}), rubric(True, {"id": "file://judge.py", "label": "mild"})
    log, wanted = outputs([mild, strict], [strict], [strict, mild]), {"strict": "fail fail fail", "mild": "pass - pass"}
    for words in ([], ["--field", "llm-rubric"]):
        assert votes(tmp_path, "promptfoo", log, *words) == told(f"{TWO}, test 2", **wanted)


def test_a_test_can_name_the_grader_of_all_its_rubrics(tmp_path):
    """``options.provider`` is that of assertions that name none; it judges no ``contains``."""
    contains = {"pass": True, "assertion": {"type": "contains", "value": "x"}}
    options = [{"options": {"provider": grader}} for grader in ("strict", {"id": "mild"})]
    log = outputs(*([rubric(kept, value="is so"), contains] for kept in (True, False)), testCase=options)
    assert votes(tmp_path, "promptfoo", log) == told(TWO, strict="pass -", mild="- fail", contains="pass pass")


def test_what_has_no_grader_and_no_metric_is_told_apart_by_its_value(tmp_path):
    """Two rubrics of a test are two judges in whatever order; one rubric of each test is one judge of them all."""
    both = [rubric(True, **POLITE), rubric(False, **SHORT)]
    wanted = {"llm-rubric (polite)": "pass pass", "llm-rubric (short)": "fail fail"}
    assert votes(tmp_path, "promptfoo", outputs(both, both[::-1])) == told(TWO, **wanted)
    one = outputs([rubric(True, value="names Paris")], [rubric(False, value="names Rome")])
    assert votes(tmp_path, "promptfoo", one) == told(TWO, **{"llm-rubric": "pass fail"})


def test_a_metric_of_two_models_is_two_judges(tmp_path):
    """By the metric and the model."""
    both = [rubric(True, "gpt", metric="tone"), rubric(False, "opus", metric="tone")]
    found = votes(tmp_path, "promptfoo", outputs(both, both[::-1]))
    assert found == told(TWO, **{"tone (gpt)": "pass pass", "tone (opus)": "fail fail"})


def test_one_model_that_answers_two_questions_of_a_test_is_asked_which(tmp_path):
    """Its votes on one are none on the other; a value chooses. What only settings tell apart has one name."""
    short = rubric(False, "gpt", **SHORT)
    log = outputs([rubric(True, "gpt", **POLITE), short], [short, rubric(False, "gpt", **POLITE)])
    assert "gpt judged 'polite' and 'short'; choose one of them with --field" in refusal(tmp_path, "promptfoo", log)
    assert votes(tmp_path, "promptfoo", log, "--field", "polite") == told(TWO, gpt="pass fail")
    parts = [rubric(heat == 0, {"id": "gpt", "config": {"temperature": heat}}) for heat in (0, 1)]
    said = refusal(tmp_path, "promptfoo", outputs(parts, parts))
    assert "componentResults[1]: gpt judges this output twice; give each assertion a metric" in said


def test_what_a_set_of_assertions_sums_up_is_no_further_judge(tmp_path):
    """A set's own outcome is listed before those of its members, and a script's before its parts."""
    members = [rubric(True, "a"), rubric(False, "b")]
    parts = [{"pass": True, "reason": "one"}, {"pass": False, "reason": "two"}]
    script = {"assertion": {"type": "python", "value": "file://check.py"}}
    checks = [{**part, **script} for part in parts]
    every = [{"pass": False, "score": 0.5, "componentResults": members}, *members]
    log = outputs(*([*every, {"pass": kept, **script, "componentResults": parts}, *checks] for kept in (True, False)))
    assert votes(tmp_path, "promptfoo", log) == told(TWO, a="pass pass", b="fail fail", python="pass fail")


def test_each_output_is_a_task_and_each_prompt_of_a_model_a_labeler(tmp_path):
    """Tests of one description are several; two outputs of one key are refused; prompts replace no other's votes."""
    cases = [{"description": "capitals", "vars": {"q": f"q{k}"}} for k in range(2)]
    found = votes(tmp_path, "promptfoo", outputs(*ONE_EACH, testCase=cases))
    assert found == told("capitals (test 0), capitals (test 1)", gpt="pass fail")
    said = refusal(tmp_path, "promptfoo", outputs(*ONE_EACH, vars=[{"id": "q"}] * 2), "--key", "id")
    assert "what task q shows differs from results[0]" in said and "--key" in said
    more = {"testIdx": [0, 0, 1, 1], "promptIdx": [0, 1, 0, 1], "vars": [{"q": "q0"}] * 2 + [{"q": "q1"}] * 2}
    said = [{"output": word} for word in ("yes", "no", "no", "yes")]
    prompts = outputs(*[[]] * 4, **more, testCase=[{"vars": shown} for shown in more["vars"]], response=said)
    found = votes(tmp_path, "promptfoo", prompts, "--field", "output")
    assert found == told(TWO, **{"bot / prompt 0": "yes no", "bot / prompt 1": "no yes"})


# deepeval -----------------------------------------------------------------------------------------------------------


def judged(kept: str, model: str = "gpt", **more: Any) -> dict[str, Any]:
    """Test cases q0, q1, ... of deepeval: what a model found of each by a metric, + or -."""
    found = [{"name": "Right [GEval]", "success": one == "+", "evaluationModel": model} for one in kept]
    shown = {"actualOutput": "x"} | more
    cases = [{"name": f"q{k}", "input": f"q{k}", "metricsData": [one], **shown} for k, one in enumerate(found)]
    return {"testCases": cases}


def test_cases_of_one_function_are_told_apart_by_their_inputs(tmp_path):
    """The name is the test function's; a name of one case stays as it is."""
    cases = judged("+--", name="test_bot")["testCases"] + judged("+", name="test_other", input="q9")["testCases"]
    found = votes(tmp_path, "deepeval", {"testCases": cases})
    wanted = {"Right [GEval]": "pass fail fail pass"}
    assert found == told("test_bot (q0), test_bot (q1), test_bot (q2), test_other", **wanted)
    talk = {"name": "test_talk", "turns": []}
    talks = [{**talk, "scenario": f"talk {k}", "metricsData": cases[k]["metricsData"]} for k in range(2)]
    found = votes(tmp_path, "deepeval", {"conversationalTestCases": talks})
    assert {task for task, _ in found} == {"test_talk (talk 0)", "test_talk (talk 1)"}


def test_the_models_of_one_metric_are_judges_of_their_own_in_whatever_files(tmp_path):
    """A second run replaces votes of the same model on the same output, and no others; another output is refused."""
    gpt, opus = {"Right [GEval] (gpt)": "pass fail"}, {"Right [GEval] (opus)": "pass pass"}
    runs = judged("--"), judged("++", "opus"), judged("+-")
    assert votes(tmp_path, "deepeval", runs) == told("q0, q1", **gpt, **opus)
    pull = ["pull", tmp_path / "made", "--from", "deepeval", "--force", "-o", tmp_path / "again"]
    second, third = (tmp_path / "logs" / f"{k}.json" for k in (1, 2))
    for files, wanted in (([third], gpt), ([third, second], gpt | opus)):
        assert run(*pull, *files).exit_code == 0
        table = rows(tmp_path / "again" / "labels.csv")
        assert {(row["task"], row["worker"]): row["label"] for row in table} == told("q0, q1", **wanted)
    done = run(*pull, third, laid(tmp_path, "deepeval", judged("++", "opus", actualOutput="y")))
    assert done.exit_code == 2 and "what task q0 shows differs from testCases[0]" in done.output


# Prodigy ------------------------------------------------------------------------------------------------------------


def asked(task: int, who: str, answer: str, **more: Any) -> dict[str, Any]:
    """A line of ``prodigy db-out``."""
    row = {"text": f"t{task}", "_input_hash": task, "_task_hash": -task, "answer": answer, "_session_id": f"d-{who}"}
    return row | more


def test_a_rejected_question_is_a_no_and_a_rejected_choice_none(tmp_path):
    """Yes, no and skip of a question; a choice that is rejected discards the item."""
    answers = {"ada": "accept", "bo": "reject", "cy": "reject", "di": "ignore"}
    log = lines([asked(task, who, answer, label="SPORT") for task in (1, 2) for who, answer in answers.items()])
    found = votes(tmp_path, "prodigy", log, "--key", "_task_hash")
    assert found == told("-1, -2", ada="yes yes", bo="no no", cy="no no")
    options = [{"id": "a", "text": "A"}, {"id": "b", "text": "B"}]
    chosen = {"ada": ("accept", ["a"]), "bo": ("reject", ["b"]), "cy": ("accept", ["b"]), "di": ("reject", [])}
    rows = [asked(1, who, answer, options=options, accept=accept) for who, (answer, accept) in chosen.items()]
    bare = [{**row, "options": None, "accept": row["accept"] or None, "_view_id": "choice"} for row in rows]
    for log in (lines(rows), lines(bare)):
        assert votes(tmp_path, "prodigy", log, "--key", "_task_hash") == told("-1", ada="a", cy="b")


def test_one_text_asked_about_two_labels_is_two_questions(tmp_path):
    """By the task's hash they are two tasks; by the input's they would be one; ``--field`` takes one label."""
    words = {("ada", 7): "accept", ("bo", 7): "reject", ("ada", 8): "reject", ("bo", 8): "accept"}
    labels = {7: "SPORT", 8: "NEWS"}
    log = lines([asked(1, who, word, label=labels[k], _task_hash=k) for (who, k), word in words.items()])
    assert votes(tmp_path, "prodigy", log, "--key", "_task_hash") == told("7, 8", ada="yes no", bo="no yes")
    assert "what task 1 shows differs from line 1" in refusal(tmp_path, "prodigy", log, "--key", "_input_hash")
    found = votes(tmp_path, "prodigy", log, "--key", "_input_hash", "--field", "NEWS")
    assert found == told("1", ada="no", bo="yes")


# Label Studio, MLflow, Langfuse, Inspect, what is refused -----------------------------------------------------------


def studio(*answers: dict[str, Any], data: list[dict[str, Any]] | None = None) -> list[dict[str, Any]]:
    """Two tasks of Label Studio, each with these parts of an answer by one worker each."""
    given = [{"completed_by": k, "result": [{"from_name": "a", "to_name": "t", **a}]} for k, a in enumerate(answers, 1)]
    shown = data or [{"text": f"item {k}"} for k in range(2)]
    return [{"id": k, "data": one, "annotations": given} for k, one in enumerate(shown, 1)]


def taxonomy(*paths: list[str]) -> dict[str, Any]:
    """An answer to Label Studio's taxonomy."""
    return {"type": "taxonomy", "value": {"taxonomy": list(paths)}}


CHOICES = [{"type": "choices", "value": {"choices": [label]}} for label in ("yes", "no")]
SENTIMENT = studio(*CHOICES, data=[{"task": "sentiment", "text": f"item {k}", "id": f"i{k}"} for k in range(2)])


def test_left_and_right_are_classes_and_so_is_a_path(tmp_path):
    """Of Label Studio's pairs, and of its taxonomy."""
    pairs = [{"type": "pairwise", "value": {"selected": side}} for side in ("left", "right", "left")]
    assert sorted(votes(tmp_path, "label-studio", studio(*pairs)).values()) == ["left"] * 4 + ["right"] * 2
    paths = studio(taxonomy(["animal", "bird"]), taxonomy(["animal"]), taxonomy(["animal", "bird"]))
    assert sorted(votes(tmp_path, "label-studio", paths).values()) == ["animal"] * 2 + ["animal / bird"] * 4


def test_tasks_go_by_a_key_that_tells_them_apart(tmp_path):
    """``task`` is taken for the id unasked, unless it is that of tasks which show other things."""
    assert {task for task, _ in votes(tmp_path, "label-studio", SENTIMENT, "--key", "id")} == {"i0", "i1"}
    copies = studio(*CHOICES, data=[{"task": "one", "text": "item", "queue": f"|{k}|"} for k in range(2)])
    assert {task for task, _ in votes(tmp_path, "label-studio", copies)} == {"one"}


def feedback(model: str, **given: Any) -> dict[str, Any]:
    """What a model's judge said, in MLflow."""
    return {"assessment_name": "right", "source": {"source_type": "LLM_JUDGE", "source_id": model}, "feedback": given}


def test_the_models_behind_one_score_are_judges_of_their_own(tmp_path):
    """MLflow's and Langfuse's by their source; an error is no answer, whatever stands beside it."""
    said = [feedback("gpt", value="yes"), feedback("opus", value="no"), feedback("bad", value="no", error={"a": 1})]
    traces = [{"info": {"trace_id": f"t{k}", "assessments": said, "trace_metadata": {}}} for k in range(2)]
    wanted = {"right (gpt)": "yes yes", "right (opus)": "no no"}
    assert votes(tmp_path, "mlflow", lines(traces)) == told("t0, t1", **wanted)
    score = {"name": "right", "dataType": "CATEGORICAL"}
    given = [("EVAL", "yes"), ("API", "no")]
    scores = [{**score, "traceId": f"t{k}", "source": s, "stringValue": label} for k in range(2) for s, label in given]
    wanted = {"right (EVAL)": "yes yes", "right (API)": "no no"}
    assert votes(tmp_path, "langfuse", scores) == told("t0, t1", **wanted)


def inspected(model: str, graders: list[str], **scores: str) -> dict[str, Any]:
    """A log of Inspect: two samples by a model, graded by these models."""
    sample = {"epoch": 1, "output": {"model": model}, "scores": {n: {"value": v} for n, v in scores.items()}}
    scorers = [{"name": "graded", "options": {"model": grader}} for grader in graders]
    samples = [{"id": k, "input": f"q{k}", **sample} for k in range(2)]
    return {"version": 2, "eval": {"scorers": scorers}, "samples": samples}


INSPECTED = inspected("bot", ["gpt", "opus"], graded="C", graded1="I"), inspected("bot", ["opus"], graded="I")


def test_graders_of_inspect_are_told_apart_by_their_models(tmp_path):
    """It numbers those of one name by their place, which differs from log to log."""
    wanted = {"graded (gpt)": "C C", "graded (opus)": "I I"}
    assert votes(tmp_path, "inspect", INSPECTED) == told("0, 1", **wanted)


MIXED = [studio(*CHOICES)[0], studio({**CHOICES[0], "from_name": "b"}, CHOICES[1])[1]]
SPANS = lines([asked(1, who, "accept", spans=[]) for who in ("ada", "bo")])
SEVERAL = studio(taxonomy(["animal"], ["plant", "tree"]))
REFUSED = {  # tool, log, further words, and the words of the sentence
    "marks in a text": ("prodigy", SPANS, "--key _task_hash", "line 1: holds spans and no choice"),
    "tasks without a key": ("prodigy", SPANS, "", "--key _task_hash"),
    "several paths": ("label-studio", SEVERAL, "", "value.taxonomy: must be one class, not a list of 2 entries"),
    "unlike tasks of one name": (
        "label-studio",
        SENTIMENT,
        "",
        "[1].data: its task is that of [0], but they show diff",
    ),
    "answers to several questions": ("label-studio", MIXED, "", "answers a, b; choose one of them with --field"),
    "samples of two models": (
        *("inspect", (*INSPECTED, inspected("another bot", ["gpt"], graded="I")), ""),
        "what task 0 shows differs from samples[0]",
    ),
    "classes where a mark of the truth stands": (
        *("crowd-kit", "task,worker,label,gold\na,ada,cat,cat\nb,ada,dog,cat\n", ""),
        "line 2, column gold: 'cat' is neither yes nor no",
    ),
}


@pytest.mark.parametrize(("tool", "log", "words", "said"), REFUSED.values(), ids=REFUSED)
def test_what_has_two_readings_is_refused(tool, log, words, said, tmp_path):
    """With the place, and what to say to have one of them."""
    assert said in refusal(tmp_path, tool, log, *words.split())
