"""A panel of graders for Inspect: each sample is graded by those whom the plan names, and their votes are weighed.

This file stands beside ``panel.json`` (sample -> grader -> weight) and needs Inspect alone. In a task:
``scorer=panel({"gpt": model_graded_qa(model=...), "opus": ...})`` asks only the graders of the plan and keeps what each
of them said, for ``crowdopt pull``; ``reducer=weighted_vote([...])`` weighs graders who are all asked anyway.

Of an adaptive plan there is ``policy.json`` too: ``scorer=cascade({...})`` asks the next grader only where the plan
says so after the votes so far, all graders of a round at once, and keeps calls and spend of each sample.

A grader that gives no score, none with a value, or NaN abstains: the others vote, and the log says who did not answer.
Where no judge answers, or two values weigh alike, the sample has no vote: its score is NaN, which Inspect takes for
unscored.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

WEIGHTS, POLICY = (Path(__file__).with_name(name) for name in ("panel.json", "policy.json"))
SPAN = "grader"  # type of the log's span around a grader, by which its tokens are told from the others'
KEY = "crowdopt_panel"  # in a score's metadata: grader -> what it said (null: nothing), and how long it took
SPENT = "crowdopt_cascade"  # in a score's metadata: how the sample ended, its rounds, calls, and what they cost
GOLDEN = 0.6180339887498949  # multiples of it, modulo 1, fill [0, 1) evenly however many there are
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


def state_of(over: int, count: Mapping[tuple[str, str], int]) -> str:
    """The name of a state in ``policy.json``.

    over: rounds that are over, 0 where votes come one by one; count: of each asker and class, how many votes.
    """
    return json.dumps([over, sorted([asker, label, number] for (asker, label), number in count.items())])


def next_move(policy: dict[str, Any], sample: str, votes: dict[str, str], over: int) -> dict[str, Any] | None:
    """What the plan does with a sample of these votes; None where it never comes to them.

    Where it mixes moves, a lot decides that the plan's seed, the votes and the sample's place give: no clock does.
    """
    count: dict[tuple[str, str], int] = {}
    for grader, label in votes.items():
        place = policy["askers"][grader], label
        count[place] = count.get(place, 0) + 1
    kind = policy["kinds"][sample]
    state = state_of(over if policy["rounds"] else 0, count)
    moves: list[dict[str, Any]] = policy["moves"][kind].get(state, [])
    draw = hashlib.sha256(json.dumps([policy["seed"], kind, state]).encode()).digest()
    lot = (int.from_bytes(draw[:6], "big") / 2**48 + list(policy["kinds"]).index(sample) * GOLDEN) % 1.0
    for move in moves:
        lot -= move["share"]
        if lot < 0:
            return move
    return moves[-1] if moves else None


@dataclass
class Followed:
    """How a sample went through an adaptive plan: its votes, what was asked now, and how that ended."""

    votes: dict[str, str]
    said: dict[str, str | None] = field(default_factory=dict)  # grader asked now -> class; None: it abstained
    spent: float = 0.0
    rounds: int = 0
    end: str = "next plan"
    answer: str | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """For the log."""
        return {"end": self.end, "rounds": self.rounds, "calls": len(self.said), "spent": self.spent}

    def __str__(self) -> str:
        """In a sentence."""
        silent = [name for name, label in self.said.items() if label is None]
        parts = [f"{len(self.said)} graders asked in {self.rounds} rounds for {self.spent:g}"]
        parts += [f"no answer: {', '.join(silent)}"] * bool(silent)
        parts += [f"left to the {self.end}"] * (self.answer is None)
        return "; ".join(parts)


async def follow(policy: dict[str, Any], sample: str, ask: Callable[[list[str]], Awaitable[list[Any]]]) -> Followed:
    """Ask round by round what the plan asks, until it answers, hands the sample on, or knows nothing of its votes.

    ask: the graders of a round -> what each said. A grader that gives no class abstains: another one like them is asked
    where there is one, else the sample is left to the next plan.
    """
    done = Followed(dict(policy["votes"].get(sample, {})))
    kind = policy["kinds"][sample]
    while (move := next_move(policy, sample, done.votes, done.rounds)) is not None and move["action"] == "ask":
        graders: list[str] = []
        for asker, number in move["ask"].items():
            alike = [one for one, of in policy["askers"].items() if of == asker]
            graders += [one for one in alike if one not in done.votes and one not in done.said][:number]
        if len(graders) < sum(move["ask"].values()):
            return done
        for grader, value in zip(graders, await ask(graders), strict=True):
            label = class_of(value, policy["classes"])
            done.said[grader] = label
            done.spent += policy["prices"][kind][grader]
            if label is not None:
                done.votes[grader] = label
        done.rounds += 1
    if move is not None:
        done.end, done.answer = move["action"], move["answer"]
    return done


def class_of(value: Any, classes: list[str]) -> str | None:
    """The class that a grader says; None where it says none of them."""
    if not is_answer(value):
        return None
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
    text = text.lower() if isinstance(value, bool) else text
    return text if text in classes else None


def cascade(graders: dict[str, Any]) -> Any:
    """A scorer that asks of each sample whom the adaptive plan asks next, a round at a time.

    graders: name in the plan -> scorer of Inspect; -> its value is the plan's answer, NaN for a sample that goes to the
    expert or to the next plan; a sample that the plan does not know is not scored.
    """
    from inspect_ai.scorer import Score, scorer
    from inspect_ai.util import collect, span

    policy: dict[str, Any] = json.loads(POLICY.read_text(encoding="utf-8"))

    @scorer(metrics=[], name="cascade")  # type: ignore[untyped-decorator]
    def crowdopt_cascade() -> Any:
        async def score(state: Any, target: Any) -> Any:
            if str(state.sample_id) not in policy["kinds"]:
                return None
            took: dict[str, float] = {}

            async def one(name: str) -> Any:
                began = time.monotonic()
                async with span(name, type=SPAN):
                    graded = await graders[name](state, target)
                took[name] = round(time.monotonic() - began, 3)
                return None if graded is None else graded.value

            async def ask(names: list[str]) -> list[Any]:
                return list(await collect(*(one(name) for name in names)))

            done = await follow(policy, str(state.sample_id), ask)
            said = {name: {"value": label, "seconds": took[name]} for name, label in done.said.items()}
            value = math.nan if done.answer is None else done.answer
            return Score(value=value, explanation=str(done), metadata={KEY: said, SPENT: done.facts})

        return score

    return crowdopt_cascade()


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
