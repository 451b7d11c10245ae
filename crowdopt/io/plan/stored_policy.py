"""The reader of an adaptive plan's folder: claims, tables and policy as they are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdopt.arrays import Ints, places
from crowdopt.assign.cascade.adaptive_plan import PolicyRow, class_labels
from crowdopt.crowd.asking_orders import ANSWER, ASK
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.io.plan.order_tables import ORDER_FILE, ORDER_ROWS, ORDER_STEPS, ORDERS, STEP_FILE
from crowdopt.io.plan.policy_folder import CASCADE, LIMIT_ROWS, POLICY, TYPES, WORKERS
from crowdopt.io.plan.policy_text import named, read_counted, read_votes
from crowdopt.io.plan.stored_plan import LIMITS, read_pairs
from crowdopt.io.tables.table_columns import Table, read_table
from crowdopt.io.tables.table_kinds import TableKind


@dataclass(frozen=True, eq=False)
class StoredPolicy:
    """An adaptive plan as its folder has it; ``pairs`` (k, 2) are the first round's."""

    claims: dict[str, Any]
    policy: Table  # of orders: orders.csv
    types: Table
    tasks: Table
    workers: Table
    pairs: Ints
    folder: Path
    limits: Table | None = None  # multipliers of linear limits on labels
    steps: Table | None = None  # of orders: whom each asks, and when it stops


def _read(path: Path, columns: Sequence[str]) -> Table:
    return read_table(path, TableKind(",".join(columns)))


def is_policy(claims: dict[str, Any]) -> bool:
    """Whether plan.json is that of an adaptive plan."""
    return claims.get("program") == CASCADE


def read_policy(folder: str | Path, claims: dict[str, Any], instance: AssignmentInstance) -> StoredPolicy:
    """The tables of an adaptive plan; InputError at the first that cannot be read."""
    place, has_orders = Path(folder), claims.get("method") == ORDERS
    return StoredPolicy(
        claims=claims,
        policy=_read(place / ORDER_FILE, ORDER_ROWS) if has_orders else _read(place / "policy.csv", POLICY),
        types=_read(place / "types.csv", TYPES),
        tasks=_read(place / "tasks.csv", ("task", "type", "order") if has_orders else ("task", "type")),
        workers=_read(place / "workers.csv", WORKERS),
        pairs=read_pairs(place, instance)[0],
        folder=place,
        limits=_read(place / LIMITS, LIMIT_ROWS) if (place / LIMITS).exists() else None,
        steps=_read(place / STEP_FILE, ORDER_STEPS) if has_orders else None,
    )


def policy_rows(stored: StoredPolicy, instance: AssignmentInstance) -> list[PolicyRow]:
    """The rows of policy.csv by the places of types.csv's types and of workers.csv's askers; InputError for others."""
    kinds = places(stored.types["type"])
    asker = {name: g for g, name in enumerate(dict.fromkeys(filter(None, stored.workers["asker"])))}
    label = places(class_labels(instance))
    table, rounds, shares = stored.policy, stored.policy.counts("round"), stored.policy.numbers("share")
    tasks, found = stored.policy.numbers("tasks"), []
    for row in range(table.rows):
        action, text = table["action"][row], table["what"][row]
        try:
            votes = tuple(sorted(read_votes(table["votes"][row], asker, label)))
            what = _what(action, text, asker, label)
            kind = kinds[table["type"][row]]
        except (KeyError, ValueError) as error:
            raise table.error(row, "votes", f"cannot be read: {error}; solve the campaign again") from None
        found.append(PolicyRow(kind, int(rounds[row]), votes, action, what, float(shares[row]), float(tasks[row])))
    return found


def _what(action: str, text: str, asker: dict[str, int], label: dict[str, int]) -> tuple[int, ...]:
    if action == ANSWER:
        return (label[named(text)],)
    if action != ASK:
        return ()
    number = [0] * len(asker)
    for name, count in read_counted(text):
        number[asker[named(name)]] += count
    if not any(number):
        raise ValueError("it names neither a worker nor the expert to ask")
    return tuple(number)
