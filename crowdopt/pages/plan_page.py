"""The page of a plan: who labels what, how sure that makes each task, what it costs and how good it provably is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crowdopt.notebooks import how_good, number
from crowdopt.pages import Kind
from crowdopt.pages.charts import PALETTE, at, on, plot, sized
from crowdopt.pages.page import Chart, Folded, Page, PageTable, Part, Section, of_rule

MATRIX = 120, 60  # tasks and workers that fit one picture of who labels what
BARS = 60  # workers that get a bar each
NAMES = 25  # of workers in a cell
USED = ("load", "capacity")
LOW = 220  # pixels of a chart that says little
TASKS = {
    "task": "task",
    "labels": "labels",
    "error_bound": "error at most",
    "exact_error": "exact error",
    "evidence": "evidence",
    "need": "need",
    "who": "by",
}
WORKERS = {"worker": "worker", "load": "labels", "capacity": "capacity", "free": "free", "worth": "worth of one more"}
NOTES = {
    "error_bound": "the rule's bound on the chance that the task's weighted vote is wrong",
    "exact_error": "that chance itself, if skills are what the campaign says",
    "evidence": "what the labels add up to by the rule, those already in included",
    "need": "what the task's error target asks for",
    "worth": "what one more unit of the worker's capacity would save at most, by the linear relaxation",
}


def page(facts: dict[str, Any]) -> Page:
    """The page of what :func:`crowdopt.io.policy.plan_overview` tells."""
    claims = facts["claims"]
    tasks, workers = claims.get("tasks", len(facts["tasks"])), claims.get("workers", len(facts["workers"]))
    parts: list[Part] = []
    if tasks <= MATRIX[0] and workers <= MATRIX[1]:
        caption = "A square is a label to be given; plan/queues has one list per worker, ready to hand out."
        parts.append(Chart("Who labels what", _matrix(facts), caption))
    if workers <= BARS:
        parts.append(Chart("Labels and capacities", _bars(facts["workers"]), "The tick is the worker's capacity."))
    else:
        parts.append(Chart("Use of capacities", _use(facts["use_of_capacity"]), "Workers by the share that is used."))
    parts.append(_labels_per_task(facts["labels_per_task"]))
    parts.append(Chart("Errors", _errors(facts), _errors_caption(claims)))
    title = claims.get("title") or "who labels what"
    sections = [Section("At a glance", parts), _lists(facts)]
    return Page(f"Plan: {title}", _verdict(facts), sections, _footer(claims))


def _verdict(facts: Mapping[str, Any]) -> list[str]:
    claims, errors = facts["claims"], facts["errors"]
    sentences = [
        f"{number(claims['labels'])} labels for {claims['tasks']} tasks by {facts['busy']} of {claims['workers']} "
        f"workers ({facts['full']} at capacity), cost {number(claims['cost'])}.",
        _how_good(claims),
        _how_sure(claims, errors),
    ]
    if left_open := claims.get("left_open"):
        sentences.append(f"{left_open['says']}.")
    spending = claims.get("spending")
    if spending:
        least = (
            f"; no plan of that money expects fewer than {spending['wrong_bound']:.4g}"
            if "wrong_bound" in spending
            else ""
        )
        sentences.append(f"{spending['wrong']:.4g} answers are expected to be wrong{least}.")
    changed = claims.get("in_place_of_campaign")
    if changed:
        named = ", ".join(f"{key} = {_short(value)}" for key, value in changed.items())
        sentences.append(f"Made for {named}, in place of what the campaign says.")
    return sentences


def _short(value: Any) -> str:
    return f"a list of {len(value)}" if isinstance(value, list) else str(value)


def _how_good(claims: Mapping[str, Any]) -> str:
    """The proof in one sentence, with the rule whose optimum it is about where that is not the promise itself."""
    certified = claims["certified_bound"]
    own = "" if certified is None else f"; the plan's own multipliers prove {number(certified)}"
    if short := len(claims.get("short", ())):
        return f"{short} of {claims['tasks']} tasks miss their target; tasks.csv names them in its column short."
    figures = claims["proven"], claims["gap"], claims["bound"], claims["proof"]
    return how_good(*figures, rule=of_rule(claims["rule"]), word=f"on {claims['backend']}'s word{own}") + "."


def _how_sure(claims: Mapping[str, Any], errors: Mapping[str, float]) -> str:
    rule = f"by the rule {claims['rule']}"
    least, mean, most = (f"{100 * errors[key]:.3g} %" for key in ("least", "mean", "most"))
    if claims["rule"] == "mean-error":
        return f"Answers are wrong with a chance of {mean} on average, from {least} to {most} for a task, {rule}."
    return f"No task's answer is wrong with a chance above {most} {rule}; {mean} on average, {least} for the surest."


def _errors_caption(claims: Mapping[str, Any]) -> str:
    target = claims.get("epsilon")
    line = "" if not isinstance(target, float) else f" The line is the target, {100 * target:.3g} %."
    what = "Exact errors" if claims["rule"] in ("exact-error", "mean-error", "probit") else "The rule's bounds"
    return f"{what}, tasks in ascending order.{line}"


def _labels_per_task(counts: Sequence[Mapping[str, Any]]) -> Part:
    if len(counts) == 1:
        return f"Every task gets {counts[0]['labels']} label{'' if counts[0]['labels'] == 1 else 's'}."
    return Chart("Labels per task", _labels(counts), "How many tasks get how many labels.")


def _matrix(facts: Mapping[str, Any]) -> Any:
    tasks, workers = ([row[key] for row in facts[f"{key}s"]] for key in ("task", "worker"))
    x = on("task:N", domain=tasks, paddingInner=0.12, labelAngle=-90, labelLimit=90, labelOverlap=True)
    y = on("worker:N", domain=workers, paddingInner=0.12)
    tips = ("task:N", "worker:N")
    return sized(plot(facts["pairs"], "rect", {"x": x, "y": y}, cornerRadius=2, tips=tips), max(80, 18 * len(workers)))


def _bars(workers: Sequence[Mapping[str, Any]]) -> Any:
    y = on("worker:N", sort=[row["worker"] for row in workers], labelLimit=200)
    most = max([1.0, *(max(row["load"], row["capacity"]) for row in workers)])
    x, full = (on(f"{key}:Q", "labels", domain=[0, 1.02 * most], nice=False, tickMinStep=1, format="d") for key in USED)
    tips = ("worker:N", "load:Q", "capacity:Q")
    bars = plot(workers, "bar", {"x": x, "y": y}, height={"band": 0.6}, tips=tips)
    ticks = plot(workers, "tick", {"x": full, "y": y}, color=PALETTE[1], thickness=3, height={"band": 0.9}, tips=tips)
    return sized(bars + ticks, max(80, 18 * len(workers)))


def _use(counts: Sequence[Mapping[str, Any]]) -> Any:
    x = {**on("from:Q", "share of the capacity that is used", format="%", tickCount=10), "bin": "binned"}
    return sized(plot(counts, "bar", {"x": x, "x2": {"field": "to"}, "y": on("workers:Q", "workers")}), LOW)


def _labels(counts: Sequence[Mapping[str, Any]]) -> Any:
    x = on("labels:O", "labels of a task", labelAngle=0, labelOverlap=True)
    return sized(plot(counts, "bar", {"x": x, "y": on("tasks:Q", "tasks", tickMinStep=1)}), LOW)


def _errors(facts: Mapping[str, Any]) -> Any:
    x = on("place:Q", "tasks, the surest first", nice=False, tickMinStep=1, format="d", labelOverlap="parity")
    y = on("error:Q", "chance of a wrong answer", format="~%")
    drawn = plot(facts["curve"], "circle", {"x": x, "y": y}, size=40, opacity=1, tips=("task:N", "error:Q"))
    target = facts["claims"].get("epsilon")
    line = at(target, "y", color=PALETTE[1], strokeDash=[6, 4], strokeWidth=2) if isinstance(target, float) else None
    return sized(drawn if line is None else drawn + line, LOW)


def _lists(facts: Mapping[str, Any]) -> Section:
    who: dict[str, list[str]] = {}
    for pair in facts["pairs"]:
        who.setdefault(pair["task"], []).append(pair["worker"])
    tasks = [{**row, "who": _names(who.get(row["task"], []))} for row in facts["tasks"]]
    workers = [_worker(row) for row in facts["workers"]]
    parts: list[Part] = []
    for title, columns, rows, key in (("task", TASKS, tasks, "tasks"), ("worker", WORKERS, workers, "workers")):
        there = {name: head for name, head in columns.items() if name in rows[0]}
        total = facts["claims"].get(key, len(rows))
        cut = "" if total <= len(rows) else f"The first {len(rows)} of {total}; all are in {key}.csv."
        listed = PageTable(there, rows, NOTES, cut)
        parts.append(Folded(f"Every {title}" if not cut else f"The first {len(rows)} {title}s", listed))
    return Section("Lists", parts)


def _names(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMES]) + (f" and {len(names) - NAMES} more" if len(names) > NAMES else "")


def _worker(row: Mapping[str, Any]) -> dict[str, Any]:
    worth = {"worth": max(0.0, -row["dual"])} if "dual" in row else {}
    return {**row, "free": row["capacity"] - row["load"], **worth}


def _footer(claims: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in claims.get("versions", {}).items())
    made = f"Skills: {claims.get('skills')}. Method {claims.get('method')}, seed {claims.get('seed')}."
    return f"{made} Versions: {versions}"


KIND = Kind("a plan", "plan.json", None, page)
