"""A difficulty that a campaign states: its table in campaign.toml, in plan.json and in archives."""

from __future__ import annotations

from typing import Any

from crowdopt.crowd.difficulty.hard_tasks import Difficulty
from crowdopt.documents import Keys, number

DIFFICULTY = Keys(
    required={
        "share": number("a share of hard tasks from 0 to 0.99", 0, 0.99),
        "left": number("what is left of skill on hard tasks, from 0 to 1", 0, 1),
    }
)


def stated_difficulty(value: dict[str, Any]) -> Difficulty:
    """The difficulty of a table that DIFFICULTY fits."""
    return Difficulty(float(value["share"]), float(value["left"]))


def difficulty_table(difficulty: Difficulty) -> dict[str, float]:
    """Its table."""
    return {"share": difficulty.share, "left": difficulty.left}


def difficulty_text(difficulty: Difficulty) -> str:
    """Its table in TOML, on one line."""
    return f"{{ share = {float(difficulty.share)!r}, left = {float(difficulty.left)!r} }}"
