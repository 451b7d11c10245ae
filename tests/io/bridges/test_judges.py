"""Logs that promptfoo, deepeval, MLflow, Langfuse and Inspect wrote: every vote accounted for, and what calls cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdopt import InputError, import_labels
from crowdopt.io.bridges import bridge_named
from crowdopt.io.bridges.annotations import Annotations, Usage, accounted, prices_of_labels, usage_of
from crowdopt.io.bridges.inspect_logs import precomputed
from crowdopt.io.bridges.pushed import Wishes
from tests.io import write_table

LOGS = Path(__file__).with_name("logs")  # written by the tools themselves; texts and spans are cut


def read(name: str, tool: str, **wishes: str) -> Annotations:
    """One of them."""
    return bridge_named(tool).reader()(LOGS / name, Wishes(**wishes))


def votes(found: Annotations) -> dict[tuple[str, str], str]:
    """Task, worker -> label."""
    return {(row.task, row.worker): row.label for row in accounted(found.rows, False)[0]}


ACCOUNTS = {  # what became of each vote: used, abstained, refused, marks of the truth
    ("promptfoo.json", "promptfoo"): (8, 1, 0, 0),
    ("deepeval.json", "deepeval"): (8, 1, 0, 0),
    ("mlflow.jsonl", "mlflow"): (9, 1, 4, 1),
    ("langfuse.json", "langfuse"): (8, 0, 1, 0),
    ("langfuse_v3.json", "langfuse"): (2, 0, 0, 0),
    ("inspect_tokens.json", "inspect"): (5, 1, 0, 0),
}


@pytest.mark.parametrize(("name", "tool"), ACCOUNTS)
def test_every_vote_is_accounted_for(name, tool):
    """Each is counted once; what is refused is said with its place."""
    found = read(name, tool)
    _, account = accounted(found.rows, gold_votes=False)
    assert (account.used, account.abstained, account.refused, account.gold) == ACCOUNTS[name, tool]
    parts = (account.used, account.abstained, account.refused, account.replaced, account.repeated, account.gold)
    assert sum(parts) == account.read == len(found.rows)
    assert len(account.refusals) == account.refused and all(row.place for row in found.rows)


def test_a_judge_is_the_metric_or_with_a_field_the_model_behind_it():
    """By its own name where several judges are asked; with the field ``output`` models are labelers."""
    assert votes(read("promptfoo.json", "promptfoo", key="id"))["q2", "mild"] == "pass"
    models = votes(read("promptfoo.json", "promptfoo", key="id", field="strict"))
    assert models == {("q1", "judge:gpt-x"): "pass", ("q2", "judge:gpt-x"): "fail"}
    models = votes(read("deepeval.json", "deepeval", field="strict"))
    assert models == {("q1", "gpt-x"): "pass", ("q2", "gpt-x"): "fail"}
    labels = votes(read("promptfoo.json", "promptfoo", key="id", field="output"))
    assert labels == {("q1", "model-a"): "Paris", ("q2", "model-a"): "Lyon", ("q3", "model-a"): "Lima"}


def test_expectations_are_truth_and_errors_abstain():
    """Of a question that feedback answers; MLflow's other expectations are refused by name."""
    found = read("mlflow.jsonl", "mlflow", key="question")
    assert found.truth == {"Capital of Chile?": "yes"}
    assert {row.worker for row in found.rows if row.cancelled} == {"broken"}
    refused = [row.refused for row in found.rows if row.refused]
    assert "a table of 2 entries is no single value" in refused
    assert sum("which no feedback answers" in why for why in refused) == 3
    asked = votes(read("mlflow.jsonl", "mlflow", key="question", field="strict"))
    assert asked["Capital of Chile?", "ada@example.org"] == "no" and asked["Capital of France?", "gpt-x"] == "yes"


def test_tokens_are_priced_with_cache_reads_and_batches(tmp_path):
    """By hand: 100 sent at 3, 200 read at .3, 20 returned at 15 a million; half as a batch; of 1000 calls."""
    head, given = "worker,input,output,cache_read,batch", {"tool": "inspect", "epsilon": 0.3, "trust_gold": True}
    prices = write_table(tmp_path / "t.csv", head, "strict,3,15,.3,", "mild,3,15,.3,yes")
    made = import_labels(LOGS / "inspect_tokens.json", token_prices=prices, **given)
    cost = dict(zip(made.instance.workers, made.instance.cost[0].tolist(), strict=True))
    assert cost["strict"] == pytest.approx((100 * 3 + 200 * 0.3 + 20 * 15) / 1000)
    assert cost["mild"] == pytest.approx((100 * 3 + 20 * 15) / 1000 / 2)
    with pytest.raises(InputError, match="one price"):
        import_labels(LOGS / "inspect_tokens.json", token_prices=prices, time_as_price=True, **given)
    with pytest.raises(InputError, match="does not say what each call of strict cost; give prices with --token-prices"):
        import_labels(LOGS / "inspect_tokens.json", cost_as_price=True, **given)


def test_what_a_call_cost_is_a_mean_of_all_calls_and_a_cached_token_is_counted_once():
    """Also of those without an answer; within the input where the total says so, beside it otherwise."""
    calls = {"a": [Usage(cost=0.01), Usage(cost=0.03)]}
    assert prices_of_labels(calls, ["a"], None) == pytest.approx(20)
    with pytest.raises(InputError, match="what each call of b cost"):
        prices_of_labels(calls, ["a", "b"], None)
    assert usage_of(300, 20, 200, total=320) == usage_of(100, 20, 200, total=320) == Usage(100, 20, 200)
    assert usage_of("100", "20", None, cost="0.5") == Usage(100, 20, cost=0.5) and usage_of(0, 0) is None


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (["worker,input,output", "strict,3,15"], "no row for mild"),
        (["worker,input,output", "strict,3,15", "mild,-1,0"], "line 3, column input: -1 is negative"),
        (["worker,input,output,batch", "strict,3,15,half", "mild,1,1,no"], "'half' is neither yes nor no"),
    ],
)
def test_a_table_of_token_prices_is_checked(tmp_path, lines, complaint):
    """In a sentence."""
    prices = write_table(tmp_path / "tokens.csv", *lines)
    with pytest.raises(InputError, match=complaint):
        import_labels(LOGS / "inspect_tokens.json", tool="inspect", trust_gold=True, token_prices=prices)


def test_answers_are_precomputed_scores():
    """Records as Inspect's scorer reads them; later epochs by their number."""
    records = precomputed({"q1": ("yes", 0.9), "q1 (epoch 2)": ("no", 0.8)})
    assert [(one["id"], one["epoch"], one["value"]) for one in records] == [("q1", 1, "yes"), ("q1", 2, "no")]
    assert records[0]["metadata"] == {"chance_right": 0.9}
