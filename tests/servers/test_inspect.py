"""Inspect itself, with its mock model: a panel of graders by the plan, its log read back."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from crowdopt import Adaptive, InputError, pull, push, solve
from crowdopt.io.bridges.inspect_panel import SPENT, follow
from tests.servers.campaigns import TASKS, WORKERS, given, label_of, lay, queues
from tests.servers.environments import executable

pytestmark = pytest.mark.servers
GRADING = """
import json, sys
from pathlib import Path
sys.path.insert(0, "panel")
import panel
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, scorer

says = json.loads(Path("says.json").read_text())

def grader(name):
    @scorer(metrics=[], name=name)
    def fixed():
        async def score(state, target):
            said = says[f"{state.sample_id}/{name}"]
            return Score(value=float("nan") if said is None else said)
        return score
    return fixed()

names = sys.argv[1].split(",")
samples = [Sample(id=one, input=one) for one in json.loads(Path("samples.json").read_text())]
task = Task(dataset=samples, scorer=getattr(panel, sys.argv[3])({name: grader(name) for name in names}))

def said(*asked):  # with a usage, for which the mock model would otherwise ask the network
    output = ModelOutput.from_content("mockllm/model", "nothing")
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output

model = get_model("mockllm/model", custom_outputs=said)
(log,) = eval(task, model=model, log_dir="logs", log_format=sys.argv[2], display="none")
assert log.status == "success", log.error
votes = {sample.id: sample.scores[sys.argv[3]].value for sample in log.samples}
reducer = panel.weighted_vote(names)
same = reducer([Score(value="cat"), *(Score(value="dog") for _ in names[1:])])
print(json.dumps({"votes": votes, "reduced": same.value}))
"""


def graded(folder: Path, says: dict[str, str | None], samples: list[str], packing: str, scorer: str) -> dict:
    """What Inspect prints when graders say this of these samples."""
    files = {"says.json": json.dumps(says), "samples.json": json.dumps(samples), "grading.py": GRADING}
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    python = executable("inspect").with_name("python")
    command = [str(python), "grading.py", ",".join(WORKERS), packing, scorer]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("packing", ["json", "eval"])
def test_the_graders_of_the_plan_are_asked_and_read_back(tmp_path: Path, packing: str):
    """Only the planned pairs are graded; the vote is weighted; the log gives the labels back, and who is silent."""
    lay(tmp_path)
    push(tmp_path / "first", tmp_path / "plan-1", tool="inspect", output=tmp_path / "panel")
    says = {f"{task}/{name}": label_of(task, name) for task in TASKS for name in WORKERS}
    weights = json.loads((tmp_path / "panel" / "panel.json").read_text(encoding="utf-8"))
    silent = next((task, name) for task, graders in weights.items() if len(graders) > 2 for name in graders)
    said = graded(tmp_path, says | {"/".join(silent): None}, list(weights), packing, "panel")
    if packing == "eval" and sys.version_info < (3, 14):  # packed with zstd, which Python unpacks from 3.14 on
        with pytest.raises(InputError, match="inspect log convert LOG --to json --output-dir FOLDER"):
            pull(tmp_path / "first", [tmp_path / "logs"], tool="inspect", output=tmp_path / "back")
        convert = [str(executable("inspect")), "log", "convert", "logs", "--to", "json", "--output-dir", "converted"]
        subprocess.run(convert, cwd=tmp_path, check=True, capture_output=True)
        (tmp_path / "logs").rename(tmp_path / "packed")
        (tmp_path / "converted").rename(tmp_path / "logs")
    pulled = pull(tmp_path / "first", [tmp_path / "logs"], tool="inspect", output=tmp_path / "back")
    pairs = {(task, name) for name, tasks in queues(tmp_path / "plan-1").items() for task in tasks}
    assert given(pulled) == {pair: label_of(*pair) for pair in pairs - {silent}}
    assert [(row.task, row.worker) for row in pulled.skipped] == [silent]
    assert all(row.seconds is not None for row in pulled.labels)
    for task, vote in said["votes"].items():
        sums = dict.fromkeys(("cat", "dog"), 0.0)
        for name, weight in weights[task].items():
            sums[label_of(task, name)] += weight * ((task, name) != silent)
        assert sums[vote] == max(sums.values())
    assert said["reduced"] == "dog"


def test_an_adaptive_plan_is_followed_and_its_labels_come_back(tmp_path: Path):
    """The log has just the votes that the plan asks for, its answers, calls and spend; a silent grader has no vote."""
    lay(tmp_path)
    solve(tmp_path / "first", method=Adaptive(rounds=3), rule="exact-error", output=tmp_path / "plan")
    push(tmp_path / "first", tmp_path / "plan", tool="inspect", output=tmp_path / "panel")
    says = {f"{task}/{name}": label_of(task, name) for task in TASKS for name in WORKERS}
    says |= {f"{TASKS[0]}/{name}": None for name in WORKERS}
    graded(tmp_path, says, list(TASKS), "json", "cascade")
    (log,) = (tmp_path / "logs").glob("*.json")
    scores = {one["id"]: one["scores"]["cascade"] for one in json.loads(log.read_text(encoding="utf-8"))["samples"]}
    pulled = pull(tmp_path / "first", [tmp_path / "logs"], tool="inspect", output=tmp_path / "back")
    policy = json.loads((tmp_path / "panel" / "policy.json").read_text(encoding="utf-8"))
    followed = {task: asyncio.run(follow(policy, task, answering(says, task))) for task in TASKS}
    assert given(pulled) == {(task, name): vote for task, one in followed.items() for name, vote in one.votes.items()}
    assert {row.task for row in pulled.skipped} == {TASKS[0]}
    for task, one in followed.items():
        assert scores[task]["metadata"][SPENT] == one.facts
        assert scores[task]["value"] == one.answer or one.answer is None


def answering(says: dict[str, str | None], task: str):
    """What graders say of a task, as the policy asks it."""

    async def ask(names: list[str]) -> list[str | None]:
        return [says[f"{task}/{name}"] for name in names]

    return ask
