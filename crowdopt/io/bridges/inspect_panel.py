"""A panel of graders for Inspect: each sample is graded by those whom the plan names, and their votes are weighed.

This file stands beside ``panel.json`` (sample -> grader -> weight) and needs Inspect alone. In a task:
``scorer=panel({"gpt": model_graded_qa(model=...), "opus": ...})`` asks only the graders of the plan and keeps what each
of them said, for ``crowdopt pull``; ``reducer=weighted_vote([...])`` weighs graders who are all asked anyway.

A grader that gives no score, none with a value, or NaN abstains: the others vote, and the log says who did not answer.
Where no judge answers, or two values weigh alike, the sample has no vote: its score is NaN, which Inspect takes for
unscored.
"""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

WEIGHTS = Path(__file__).with_name("panel.json")
SPAN = "grader"  # type of the log's span around a grader, by which its tokens are told from the others'
KEY = "crowdopt_panel"  # in a score's metadata: grader -> what it said (null: nothing), and how long it took
TIE = 1e-9  # relative to the largest weight; sums closer than this are equal


def weights() -> dict[str, dict[str, float]]:
    """Sample -> grader -> weight of its vote."""
    read: dict[str, dict[str, float]] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return read


def is_answer(value: Any) -> bool:
    """Whether a grader said anything."""
    return value is not None and not (isinstance(value, float) and math.isnan(value))


def winner(votes: list[tuple[Any, float]]) -> Any:
    """The value with the most weight, ``argmax_v sum_j w_j [value_j = v]``; None where none has more than the others.

    Abstentions weigh nothing.
    """
    answers = {str(value): value for value, _ in reversed(votes) if is_answer(value)}
    if not answers:
        return None
    sums = {key: sum(weight for value, weight in votes if str(value) == key) for key in answers}
    near = max(sums.values()) - TIE * max(abs(weight) for _, weight in votes)
    best = [key for key in answers if sums[key] >= near]
    return answers[best[0]] if len(best) == 1 else None


def summary(said: dict[str, Any], vote: Any) -> str:
    """What became of a sample, in a sentence: how many answered, who did not, whether there is a vote."""
    silent = [name for name, value in said.items() if not is_answer(value)]
    parts = [f"{len(said) - len(silent)} of {len(said)} graders answered"]
    parts += [f"no answer: {', '.join(silent)}"] * bool(silent)
    parts += ["their votes are a tie"] * (vote is None and len(silent) < len(said))
    return "; ".join(parts)


def panel(graders: dict[str, Any]) -> Any:
    """A scorer that asks the plan's graders of each sample.

    graders: name in the plan -> scorer of Inspect; -> its value is the weighted vote, NaN where there is none; a sample
    that the plan does not know is not scored.
    """
    from inspect_ai.scorer import Score, scorer
    from inspect_ai.util import span

    plan = weights()

    @scorer(metrics=[], name="panel")  # type: ignore[untyped-decorator]
    def crowdopt_panel() -> Any:
        async def score(state: Any, target: Any) -> Any:
            said: dict[str, Any] = {}
            votes = []
            for name, weight in plan.get(str(state.sample_id), {}).items():
                began = time.monotonic()
                async with span(name, type=SPAN):
                    graded = await graders[name](state, target)
                value = graded.value if graded is not None and is_answer(graded.value) else None
                said[name] = {"value": value, "seconds": round(time.monotonic() - began, 3)}
                votes.append((value, weight))
            if not votes:
                return None
            vote = winner(votes)
            told = summary({name: one["value"] for name, one in said.items()}, vote)
            return Score(value=math.nan if vote is None else vote, explanation=told, metadata={KEY: said})

        return score

    return crowdopt_panel()


def weighted_vote(graders: list[str]) -> Any:
    """A reducer of scores that all graders gave, in their order; each weighs what it does in the plan on average.

    graders: names in the plan, in the order of the scorers.
    """
    from inspect_ai.scorer import Score, score_reducer

    plan = weights()
    given = {name: [votes[name] for votes in plan.values() if name in votes] for name in graders}
    mean = [sum(given[name]) / len(given[name]) if given[name] else 0.0 for name in graders]

    @score_reducer(name="weighted_vote")  # type: ignore[untyped-decorator]
    def crowdopt_vote() -> Any:
        def reduce(scores: list[Any]) -> Any:
            vote = winner([(score.value, mean[k]) for k, score in enumerate(scores)])
            told = summary({name: score.value for name, score in zip(graders, scores, strict=True)}, vote)
            return Score(value=math.nan if vote is None else vote, explanation=told)

        return reduce

    return crowdopt_vote()
