"""An adaptive plan as a tool follows it: what is asked after which votes, sample by sample."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.states.asking_orders import ANSWER, ASK
from crowdopt.io.bridges.exchange.inspect_panel import state_of
from crowdopt.io.campaign.campaign_reading import Campaign
from crowdopt.io.plan.stored_plan import read_claims
from crowdopt.io.plan.stored_policy import StoredPolicy, is_policy, policy_rows, read_policy


def read_pushed_policy(plan: str | Path, known: Campaign, classes: tuple[str, ...]) -> dict[str, Any] | None:
    """``policy.json`` of an adaptive plan over states of votes; None for any other plan.

    classes: what a judge says, which may be other names than the plan's.
    """
    claims, names = read_claims(plan), known.class_names()
    if not is_policy(claims):
        return None
    instance, strangers = replace(known.instance, class_names=names), [one for one in classes if one not in names]
    stored = read_policy(plan, claims, instance)
    if stored.steps is not None:
        return None
    label = [name if name in classes else strangers.pop(0) for name in names]
    kind_of = dict(zip(stored.tasks["task"], stored.tasks["type"], strict=True))
    votes: dict[str, dict[str, str]] = {}
    for (task, worker), said in zip(instance.collected.tolist(), known.indices().tolist(), strict=True):
        votes.setdefault(instance.task_id(task), {})[instance.worker_id(worker)] = label[said]
    prices = {
        kind_of[task]: dict(zip(instance.worker_ids, instance.cost[instance.task_type[i]].tolist(), strict=True))
        for i, task in reversed(list(enumerate(instance.task_ids)))
    }
    return {
        "kinds": kind_of,
        "votes": votes,
        "classes": list(classes),
        "askers": {one: of for one, of in zip(stored.workers["worker"], stored.workers["asker"], strict=True) if of},
        "prices": prices,
        "rounds": claims.get("rounds"),
        "seed": claims.get("seed", 0),
        "moves": _moves(stored, instance, label),
    }


def _moves(
    stored: StoredPolicy, instance: AssignmentInstance, label: list[str]
) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Of each kind of task and each state of its votes, what is done, and with which share; label: of each class."""
    kinds, askers = stored.types["type"], list(dict.fromkeys(filter(None, stored.workers["asker"])))
    moves: dict[str, dict[str, list[dict[str, Any]]]] = {kind: {} for kind in kinds}
    for row in policy_rows(stored, instance):
        state = state_of(row.round, {(askers[g], label[k]): number for g, k, number in row.votes})
        what = {askers[g]: number for g, number in enumerate(row.what) if number} if row.action == ASK else {}
        answer = label[row.what[0]] if row.action == ANSWER else None
        move = {"action": row.action, "ask": what, "answer": answer, "share": row.share}
        moves[kinds[row.kind]].setdefault(state, []).append(move)
    return moves
