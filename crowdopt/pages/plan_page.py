"""The page of a plan: who labels what, how sure that makes each task, what it costs and how good it provably is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crowdopt.notebooks import how_good
from crowdopt.pages import Kind
from crowdopt.pages.charts import PALETTE, altair
from crowdopt.pages.page import Chart, Folded, Page, PageTable, Part, Section, Stories, data, number, of_rule

MATRIX = 120, 60  # tasks and workers that fit one picture of who labels what
BARS = 60  # workers that get a bar each
NAMES = 25  # of workers in a cell
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
WORKER = {"load": "labels", "capacity": "capacity", "weight": "weight of the vote", "dual": "worth of one more"}
WEIGHED = "Votes are weighed: a larger weight is a more accurate worker, by what the campaign knows. "
WHY = {  # what a story says under its heading
    "task": "A worker who is at capacity, and whose next label is worth something, is wanted elsewhere too.",
    "worker": "Tasks that are theirs to label. What one more label is worth is what it would save at most.",
}
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
    sections = [Section("At a glance", parts), *_stories(facts), _lists(facts)]
    return Page(f"Plan: {title}", _verdict(facts), sections, _footer(claims))


def _stories(facts: Mapping[str, Any]) -> list[Section]:
    told = facts["stories"]
    if told is None:
        return []
    heads = {"task": {key: TASKS[key] for key in told["columns"]["task"]}, "worker": {}}
    heads["worker"] = {key: WORKER[key] for key in told["columns"]["worker"]}
    columns = {kind: dict(told["columns"][kind]) for kind in heads}
    if "dual" in columns["worker"]:
        dual = columns["worker"]["dual"]
        columns["worker"]["dual"] = [max(0.0, -value) for value in dual] if isinstance(dual, list) else max(0.0, -dual)
    why = {**WHY, "task": WEIGHED + WHY["task"]} if "weight" in columns["worker"] else WHY
    hint = "Type a task or a worker, or choose one in the lists below: the labels it has, and what speaks for them."
    return [Section("One task, one worker", [Stories(told["names"], columns, heads, told["by"], why, hint)])]


def _verdict(facts: Mapping[str, Any]) -> list[str]:
    claims, errors = facts["claims"], facts["errors"]
    sentences = [
        f"{number(claims['labels'])} labels for {claims['tasks']} tasks by {facts['busy']} of {claims['workers']} "
        f"workers ({facts['full']} at capacity), cost {claims['cost']:.10g}.",
        _how_good(claims),
        _how_sure(claims, errors),
    ]
    if left_open := claims.get("left_open"):
        sentences.append(f"{left_open['says'][:1].upper()}{left_open['says'][1:]}.")
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
    own = "" if certified is None else f"; the plan's own multipliers prove {certified:.10g}"
    figures = claims["proven"], claims["gap"], claims["bound"], claims["proof"]
    said = how_good(*figures, rule=of_rule(claims["rule"]), word=f"on {claims['backend']}'s word{own}")
    return f"{said[0].upper()}{said[1:]}."


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
    alt = altair()
    tasks = [row["task"] for row in facts["tasks"]]
    workers = [row["worker"] for row in facts["workers"]]
    x = alt.X(
        "task:N",
        sort=tasks,
        title=None,
        scale=alt.Scale(domain=tasks, paddingInner=0.12),
        axis=alt.Axis(labelAngle=-90, labelLimit=90, labelOverlap=True),
    )
    y = alt.Y("worker:N", sort=workers, title=None, scale=alt.Scale(domain=workers, paddingInner=0.12))
    marks = alt.Chart(data(facts["pairs"])).mark_rect(color=PALETTE[0], cornerRadius=2)
    drawn = marks.encode(x=x, y=y, tooltip=["task:N", "worker:N"])
    return drawn.properties(width="container", height=max(80, 18 * len(workers)))


def _bars(workers: Sequence[Mapping[str, Any]]) -> Any:
    alt = altair()
    y = alt.Y("worker:N", sort=[row["worker"] for row in workers], title=None, axis=alt.Axis(labelLimit=200))
    base = alt.Chart(data([dict(row) for row in workers])).encode(y=y, tooltip=["worker:N", "load:Q", "capacity:Q"])
    most = max([1.0, *(max(row["load"], row["capacity"]) for row in workers)])
    scale = alt.Scale(domain=[0, 1.02 * most], nice=False)
    x = alt.X("load:Q", title="labels", scale=scale, axis=alt.Axis(tickMinStep=1, format="d"))
    bars = base.mark_bar(color=PALETTE[0], height={"band": 0.6}).encode(x=x)
    ticks = base.mark_tick(color=PALETTE[1], thickness=3, height={"band": 0.9}).encode(x="capacity:Q")
    return (bars + ticks).properties(width="container", height=max(80, 18 * len(workers)))


def _use(counts: Sequence[Mapping[str, Any]]) -> Any:
    alt = altair()
    x = alt.X(
        "from:Q",
        bin="binned",
        title="share of the capacity that is used",
        axis=alt.Axis(format="%", tickCount=10),
    )
    bars = alt.Chart(data([dict(row) for row in counts])).mark_bar(color=PALETTE[0])
    return bars.encode(x=x, x2="to:Q", y=alt.Y("workers:Q", title="workers")).properties(width="container", height=220)


def _labels(counts: Sequence[Mapping[str, Any]]) -> Any:
    alt = altair()
    bars = alt.Chart(data([dict(row) for row in counts])).mark_bar(color=PALETTE[0])
    x = alt.X("labels:O", title="labels of a task", axis=alt.Axis(labelAngle=0, labelOverlap=True))
    drawn = bars.encode(
        x=x, y=alt.Y("tasks:Q", title="tasks", axis=alt.Axis(tickMinStep=1)), tooltip=["labels:O", "tasks:Q"]
    )
    return drawn.properties(width="container", height=220)


def _errors(facts: Mapping[str, Any]) -> Any:
    alt = altair()
    rows = facts["curve"]
    x = alt.X(
        "place:Q",
        title="tasks, the surest first",
        scale=alt.Scale(nice=False),
        axis=alt.Axis(tickMinStep=1, format="d", labelOverlap="parity"),
    )
    y = alt.Y("error:Q", title="chance of a wrong answer", axis=alt.Axis(format="~%"))
    dots = alt.Chart(data(rows)).mark_circle(size=40, color=PALETTE[0], opacity=1)
    drawn = dots.encode(x=x, y=y, tooltip=["task:N", alt.Tooltip("error:Q", format=".3g")])
    target = facts["claims"].get("epsilon")
    if isinstance(target, float):
        line = alt.Chart(data([{"target": target}])).mark_rule(color=PALETTE[1], strokeDash=[6, 4], strokeWidth=2)
        drawn = drawn + line.encode(y="target:Q")
    return drawn.properties(width="container", height=220)


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
        listed = PageTable(there, rows, NOTES, cut, link=title if facts["stories"] else "")
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
