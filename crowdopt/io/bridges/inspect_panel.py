"""A panel of graders for Inspect: each sample is graded by those whom the plan names, and their votes are weighed.

This file stands beside ``panel.json`` (sample -> grader -> weight) and needs Inspect alone. In a task:
``scorer=panel({"gpt": model_graded_qa(model=...), "opus": ...})`` asks only the graders of the plan and keeps what each
of them said, for ``crowdopt pull``; ``reducer=weighted_vote([...])`` weighs graders who are all asked anyway.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

WEIGHTS = Path(__file__).with_name("panel.json")
KEY = "crowdopt_panel"  # in a score's metadata: grader -> what it said, and how long it took


def weights() -> dict[str, dict[str, float]]:
    """Sample -> grader -> weight of its vote."""
    read: dict[str, dict[str, float]] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return read


def winner(votes: list[tuple[Any, float]]) -> Any:
    """The value with the most weight, ``argmax_v sum_j w_j [value_j = v]``; of equal ones the one that came first."""
    sums: dict[str, float] = {}
    for value, weight in votes:
        sums[str(value)] = sums.get(str(value), 0.0) + weight
    best = max(sums, key=lambda key: sums[key])
    return next(value for value, _ in votes if str(value) == best)


def panel(graders: dict[str, Any]) -> Any:
    """A scorer that asks the plan's graders of each sample.

    Parameters
    ----------
    graders : dict
        Name in the plan -> scorer of Inspect.

    Returns
    -------
    Scorer
        Its value is the weighted vote; a sample that the plan does not know is not scored.
    """
    from inspect_ai.scorer import Score, scorer

    plan = weights()

    @scorer(metrics=[], name="panel")  # type: ignore[untyped-decorator]
    def crowdopt_panel() -> Any:
        async def score(state: Any, target: Any) -> Any:
            said: dict[str, Any] = {}
            votes = []
            for name, weight in plan.get(str(state.sample_id), {}).items():
                began = time.monotonic()
                graded = await graders[name](state, target)
                if graded is not None:
                    said[name] = {"value": graded.value, "seconds": round(time.monotonic() - began, 3)}
                    votes.append((graded.value, weight))
            return Score(value=winner(votes), metadata={KEY: said}) if votes else None

        return score

    return crowdopt_panel()


def weighted_vote(graders: list[str]) -> Any:
    """A reducer of scores that all graders gave, in their order; each weighs what it does in the plan on average.

    Parameters
    ----------
    graders : list of str
        Names in the plan, in the order of the scorers.

    Returns
    -------
    ScoreReducer
    """
    from inspect_ai.scorer import Score, score_reducer

    plan = weights()
    given = {name: [votes[name] for votes in plan.values() if name in votes] for name in graders}
    mean = [sum(given[name]) / len(given[name]) if given[name] else 0.0 for name in graders]

    @score_reducer(name="weighted_vote")  # type: ignore[untyped-decorator]
    def crowdopt_vote() -> Any:
        def reduce(scores: list[Any]) -> Any:
            return Score(value=winner([(score.value, mean[k]) for k, score in enumerate(scores)]))

        return reduce

    return crowdopt_vote()
