"""A task router for Prodigy: each task goes to the workers whom the plan names, and to no other.

This file stands beside ``plan.json`` (task -> its workers) and needs neither crowdopt nor anything else; in a recipe:
``return {..., "task_router": router.task_router}``. Sessions are called DATASET-WORKER: ``?session=WORKER`` makes them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PLAN = Path(__file__).with_name("plan.json")


def task_router(ctrl: Any, session_id: str, item: dict[str, Any]) -> list[str]:
    """Sessions that are to see an item, whichever asked for it first; none for an item that the plan does not know."""
    plan = json.loads(PLAN.read_text(encoding="utf-8"))
    task = item.get("task_id", item.get("meta", {}).get("task"))
    return [f"{ctrl.dataset}-{worker}" for worker in plan.get(str(task), [])]
