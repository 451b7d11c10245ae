"""Why there is no plan for every task, in the sentences of solve and explain."""

from __future__ import annotations

from math import isfinite
from shlex import quote
from typing import Any

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan, class_labels
from crowdopt.assign.explain import Remedy, remedies
from crowdopt.assign.plan import Plan
from crowdopt.assign.shortage import Shortage, shortage
from crowdopt.core.solution import Status
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.rules import RULES
from crowdopt.crowd.skills import AGREEMENT
from crowdopt.crowd.vote_errors import CERTAIN, least_errors
from crowdopt.interrupts import INTERRUPTED
from crowdopt.io.answers import Answered, Onward, facts
from crowdopt.io.plan import run_facts, summary
from crowdopt.io.policy import policy_summary
from crowdopt.notebooks import how_good, number
from crowdopt.said import Said, Verb
from crowdopt.verbs.binding import AnyPath
from crowdopt.verbs.methods import SECONDS
from crowdopt.verbs.parts import PartsPlan
from crowdopt.verbs.solve import LITTLE, probe, solve

NAMED = 5  # tasks in sentences
LOOKING = 60.0  # seconds at most for what is lacking where there is no plan
ASKING = 20.0  # seconds at most for ways out beside a plan that can be handed out
AGAINST = ("tasks",)  # ways out that are no news beside a plan without those tasks


def why_not(plan: Plan) -> list[str]:
    """Why there is no plan for every task, in sentences.

    plan: one without pairs, or one that leaves tasks short.
    """
    if plan.repaired is not None:
        return [what_it_lacked(plan), "mending it did not cover every task; use the method exact"]
    if plan.status is not Status.INFEASIBLE or plan.instance.the_rule.average:
        return [headline(plan)]
    return [headline(plan), *what_lacks(plan, shortage(plan.instance, probe(LOOKING)))]


def headline(plan: Plan) -> str:
    """Whether there is proven to be no plan for every task, or none was found: in one sentence.

    plan: one without pairs, or one that leaves tasks short.
    """
    if plan.status is Status.INFEASIBLE:
        vouched = "proven" if plan.proof == "certificate" else f"on {plan.backend}'s word"
        if plan.instance.the_rule.average:
            such = "no labels that can be had err so little on average; raise epsilon or add workers"
            return f"infeasible{plan.of_rule} ({vouched}): {such}"
        return f"infeasible{plan.of_rule} ({vouched}): no plan serves every task"
    if plan.interrupted:
        return "interrupted before any plan was found"
    word = f" (on {plan.backend}'s word)" if plan.proof == "solver" else ""
    known = f"; no plan{plan.of_rule} costs less than {number(plan.bound)}{word}" if isfinite(plan.bound) else ""
    if plan.gave_up:
        return f"no plan was found{known}; the search ended after {plan.seconds:.2g} s, so try another --method"
    return f"no plan was found within the limits{known}; allow more time"


def what_lacks(plan: Plan, lack: Shortage | None) -> list[str]:
    """What is missing at least, in sentences; nothing where that is not known."""
    proven = plan.status is Status.INFEASIBLE
    lines = _hard_tasks(plan.instance) + ([] if lack is None else lack.sentences(plan.instance, proven))
    if not plan.promise:
        return lines
    asks_less = f"all of this is{plan.of_rule}; rule {plan.promise} asks for less and may have a plan"
    return [*lines, f"{asks_less}: ask for whole labels"]


def _hard_tasks(instance: AssignmentInstance) -> list[str]:
    """Where tasks may be hard: which targets nobody's labels reach, and what these err with."""
    if not instance.difficulty.share:
        return []
    floor = least_errors(instance)
    short = np.flatnonzero(floor > instance.epsilon + CERTAIN)
    if not short.size:
        return []
    task = int(short[0])
    return [
        f"{instance.difficulty.stated()}: even with the labels of everybody task {instance.task_id(task)} errs with "
        f"{floor[task]:.4g}, above its target {instance.epsilon[task]:.4g} ({short.size} such tasks)"
    ]


def what_it_lacked(plan: Plan) -> str:
    """What an approximation took and lacked, and what mending changed, in a sentence."""
    repaired = plan.repaired
    assert repaired is not None
    took = f"at the linear program's prices the workers take {repaired.labels} labels"
    if not repaired.short:
        return f"{took}, which leave no task short"
    left = f"{took}, which leave {repaired.short} of {plan.instance.n_tasks} tasks short, {repaired.lacking:.4g} in all"
    moved = f" and {len(repaired.removed)} taken away" if len(repaired.removed) else ""
    return f"{left}; mended by {len(repaired.added)} labels more{moved}"


def what_falls_short(plan: Plan) -> list[str]:
    """The tasks that a plan leaves short, those that err most first, each in a sentence with how far off it is."""
    instance, short = plan.instance, plan.short
    error = instance.error_bound(plan.evidence) if plan.vote_error is None else plan.vote_error
    order = short[np.argsort(-(error - instance.epsilon)[short], kind="stable")]
    alike: dict[str, list[int]] = {}
    for task in order.tolist():
        alike.setdefault(_how_far(plan, task, error), []).append(task)
    served = instance.n_tasks - short.size
    if instance.the_rule.average and plan.exact_error is not None:
        mean, target = plan.exact_error[0].mean(), instance.epsilon.mean()
        return [f"the best that was found errs with {mean:.4g} on average, target {target:.4g}: raise epsilon to that"]
    lines = [f"{served} of {instance.n_tasks} tasks are served; for the others this is the best that was found:"]
    lines += [f"{_tasks(instance, tasks)}: {far}" for far, tasks in list(alike.items())[:NAMED]]
    if len(alike) > NAMED:
        more = sum(len(tasks) for tasks in list(alike.values())[NAMED:])
        lines.append(f"and {more} more tasks: tasks.csv has them, in the column short")
    kept = int((error <= instance.epsilon + CERTAIN)[short].sum())
    if kept and not instance.the_rule.checked and plan.vote_error is not None:
        lines.append(f"{kept} of these keep their target by the exact error of their vote: try --rule exact-error")
    return [*lines, *_idle(plan)]


def _idle(plan: Plan) -> list[str]:
    """Why tasks that are short get no label at all: skill, capacity, money, or limits of another kind."""
    instance, idle = plan.instance, plan.short[plan.task_labels[plan.short] == 0]
    able = instance.evidence[instance.task_type[idle]] > 0
    place = np.full(instance.n_tasks, -1)
    place[idle] = np.arange(idle.size)
    barred = instance.barred[place[instance.barred[:, 0]] >= 0]
    able[place[barred[:, 0]], barred[:, 1]] = False
    free = able & (plan.loads < instance.capacity)
    left = np.inf if instance.budget is None else instance.budget - plan.prices.sum()
    paid = free & (instance.cost[instance.task_type[idle]] <= left)
    budget = f"{left:.4g} of the budget of {instance.budget or 0.0:g} is left, which pays no label that would help {{}}"
    reasons = {
        "no worker may label {} whose labels say anything: ask an expert": ~able.any(axis=1),
        "no worker who may label {} has capacity left: more capacity or more workers would help": ~free.any(axis=1),
        f"{budget}: more money would help": ~paid.any(axis=1),
        "what is left of capacity and limits does not serve {}: more of either would help": np.ones(idle.size, bool),
    }
    said, open_ = [], np.ones(idle.size, bool)
    for reason, holds in reasons.items():
        if (open_ & holds).any():
            said.append(reason.format(_tasks(instance, idle[open_ & holds].tolist())))
        open_ &= ~holds
    return said


def _tasks(instance: AssignmentInstance, tasks: list[int]) -> str:
    more = f" and {len(tasks) - NAMED} more" if len(tasks) > NAMED else ""
    return f"task{'s' * (len(tasks) > 1)} {', '.join(instance.task_id(i) for i in tasks[:NAMED])}{more}"


def _how_far(plan: Plan, task: int, error: Floats) -> str:
    instance, labels = plan.instance, int(plan.task_labels[task])
    start, fewest = f"{labels} label{'s' * (labels != 1)}", int(instance.new_label_limits[0][task])
    if labels < fewest:
        return f"{start} of the {fewest} that it must have at least"
    target = f"target {instance.epsilon[task]:.4g}"
    if instance.the_rule.checked:
        return f"{start}, error {error[task]:.4g}, {target}"
    bound = float(instance.error_bound(plan.evidence)[task])
    exact = "" if plan.vote_error is None else f" (exactly {error[task]:.4g})"
    return f"{start}, error at most {bound:.4g} by rule {instance.rule}{exact}, {target}"


def ways_out(instance: AssignmentInstance, epsilon: float | None = None) -> list[Remedy]:
    """Ways to make an infeasible instance feasible, each with a plan of whole labels that proves it.

    A looser error target (``epsilon``, or the smallest found), more capacity, more workers, fewer tasks, more money.
    """
    asked = probe(LOOKING)
    if epsilon is None:
        lack = shortage(instance, asked)
        epsilon = None if lack is None else lack.epsilon_within_reach
    return remedies(instance, asked, epsilon)


def why_short(plan: Plan, *, time_limit: float = 60.0) -> tuple[list[str], list[Remedy]]:
    """Why a plan leaves tasks short, which and how far, in sentences; and ways to serve them, of fewest labels first.

    time_limit: seconds for all, those that the plan took among them; what is in the way and the ways out get the rest.
    """
    if plan.instance.the_rule.average:
        return [headline(plan), *what_falls_short(plan)], []
    asked = probe(max(LITTLE, min(ASKING, time_limit - plan.seconds)))
    lack = shortage(plan.instance, asked)
    limits = [] if lack is None else lack.limits_in_the_way(plan.instance)
    found = remedies(plan.instance, asked, None if lack is None else lack.epsilon_within_reach)
    ways = sorted((way for way in found if way.kind not in AGAINST), key=lambda way: len(way.pairs))
    return [headline(plan), *what_falls_short(plan), *limits], ways


def ways_said(ways: list[Remedy]) -> list[str]:
    """Ways out, a sentence each."""
    return [f"way out: {way.sentence} ({len(way.pairs)} labels)" for way in ways]


def ways_as_facts(ways: list[Remedy]) -> list[dict[str, Any]]:
    """Ways out as plain JSON."""
    return [{"kind": way.kind, "do": way.sentence, "amount": way.amount} for way in ways]


SO_SURE = " as sure of each answer given its votes"


SO_APART = " within the limits of classes"


EACH = " in which each task keeps its target"


SHOWN = 5  # types in a sentence


def policy_said(plan: AdaptivePlan, output: str) -> tuple[Any, ...]:
    """The plan in facts, and in sentences."""
    facts = {**policy_summary(plan), **run_facts(plan)}
    if plan.pairs is None:
        why = _why_no_policy(plan)
        return {**facts, "why": why}, *why
    tasks = plan.instance.n_tasks
    said = [
        *([plan.note] if plan.note else []),
        *([] if plan.found else [_out_of_reach(plan)]),
        f"{number(plan.calls)} labels expected for {tasks} tasks, cost {number(plan.objective)} expected"
        + _with_expert(plan),
        *_missed(plan),
        _how_good_of_policy(plan),
        f"first round: {len(plan.pairs)} labels in {output}/queues",
        f"wrote {output} in {plan.seconds:.2f} s",
    ]
    return {**facts, "plan": output}, *said


def _with_expert(plan: AdaptivePlan) -> str:
    tasks = float((plan.to_expert * np.bincount(plan.askers.kind)).sum())
    return f", {tasks:.4g} tasks by the expert" if tasks > 0 else ""


def _missed(plan: AdaptivePlan) -> list[str]:
    if not plan.class_error:
        return []
    every = zip(class_labels(plan.instance), plan.missed, plan.class_error, strict=True)
    shares = [
        f"{name} {100 * share:.3g} %" + (f" (limit {100 * limit:.3g})" if np.isfinite(limit) else "")
        for name, share, limit in every
    ]
    return [f"expected to be answered otherwise, by true class: {', '.join(shares)}"]


def _how_good_of_policy(plan: AdaptivePlan) -> str:
    rounds = "" if plan.rounds is None else f" of {plan.rounds} round{'s' * (plan.rounds > 1)}"
    rounds += SO_SURE * plan.given_votes + SO_APART * bool(plan.class_error) + EACH * plan.each_task
    return how_good(plan.proven, plan.gap, plan.bound, plans=f"adaptive plan{rounds}")


def _out_of_reach(plan: AdaptivePlan) -> str:
    help_of = (
        "more capacity or other judges"
        if plan.each_task
        else "more capacity, other judges or an expert (adaptive:expert=PRICE)"
    )
    if plan.status is not Status.INFEASIBLE:
        instance, sets = plan.instance, ""
        if instance.confusion is None and instance.vote_law is None and not (plan.given_votes or plan.class_error):
            all_label = max(1.0, float((least_errors(instance) / instance.epsilon).max()))
            if all_label < plan.times:
                sets = f"; where everybody labels (without --method adaptive) {all_label:.4g} times"
        return (
            f"no adaptive plan was found that keeps the targets within the limits; this one errs "
            f"{plan.times:.4g} times as much{sets}; {help_of} would help"
        )
    return (
        f"no adaptive plan keeps the targets within the limits (proven by multipliers); the least errors are "
        f"{plan.times:.4g} times these, which this plan has; {help_of} would help"
    )


def _why_no_policy(plan: AdaptivePlan) -> list[str]:
    if plan.status is not Status.INFEASIBLE:
        return ["no adaptive plan was found; nothing is known of the optimum"]
    return ["no adaptive plan keeps the targets within the limits (proven by multipliers)"]


def onward_said(answered: Answered, onward: Onward, output: AnyPath) -> list[str]:
    """What labels that came back say of an adaptive plan."""
    known, instance = facts(answered), answered.instance
    said = [
        f"{known['tasks']} answers from {known['labels']} labels ({known['new_labels']} of them new)",
        f"if you stop now about {known['expected_wrong']:.3g} of them are wrong",
    ]
    if known["missing"]:
        said.append(f"{known['missing']} labels that were asked for have not come; see {output}/missing.csv")
    if not onward.options or not onward.asks:
        last = "the plan asks nothing more" if onward.options else "that was the plan's last round"
        return [*said, f"wrote {output}; {last}"]
    pairs = sorted(
        {(instance.type_id(int(k)), float(t)) for k, t in zip(instance.task_type, onward.targets, strict=True)}
    )
    targets = ", ".join(f"{name} {100 * target:.3g} %" for name, target in pairs[:SHOWN]) + ", ..." * (
        len(pairs) > SHOWN
    )
    most = "at most " * (":given-votes" in onward.options)
    return [
        *said,
        f"if the next plan is carried out {most or 'about '}{onward.targets.sum():.3g} (its targets: {targets})",
        f"wrote {output}; to go on: crowdopt solve {output}/campaign --method {quote(onward.options)} -o NEXT-PLAN",
    ]


def _plan_sentences(plan: Plan, output: AnyPath) -> list[str]:
    busy = int((plan.loads > 0).sum())
    full = int((plan.loads >= plan.instance.capacity - 1e-9)[plan.loads > 0].sum())
    said = [
        f"{plan.labels:g} labels for {plan.instance.n_tasks} tasks by {busy} of {plan.instance.n_workers} workers "
        f"({full} at capacity), cost {number(plan.objective)}",
        *([] if plan.repaired is None else [what_it_lacked(plan)]),
        *([plan.in_words] if plan.found else []),
        *_skills_said(plan),
        f"wrote {output} in {plan.seconds:.2f} s",
    ]
    said = [plan.note, *said] if plan.note else said
    return ["interrupted; this is the best plan so far", *said] if plan.interrupted else said


def _skills_said(plan: Plan | AdaptivePlan) -> list[str]:
    if isinstance(plan, Plan) and plan.left_open is not None:
        return [str(plan.left_open)]
    said = "skills rest on the agreement of labels, with no known answers: errors that workers share are not in them"
    return [said] if AGREEMENT in plan.instance.skills_source else []


def _said(plan: Plan | AdaptivePlan | PartsPlan, output: AnyPath, require: str, time_limit: float | None) -> Said:
    """Facts and sentences of a plan of any kind; the answer is no where it does not do what was asked for."""
    if isinstance(plan, PartsPlan):
        missed = not plan.found or (require == "proof" and not plan.facts["proven"])
        return Said(*_parts_said(plan, output), int(missed))
    sure = isinstance(plan, AdaptivePlan) or plan.is_sure
    missed = not (plan.found and sure) or (require == "proof" and not plan.proven)
    status = INTERRUPTED if plan.interrupted else int(missed)
    if isinstance(plan, AdaptivePlan):
        known, *lines = policy_said(plan, str(output))
        return Said(known, [*lines, *_skills_said(plan)], status)
    known = {**summary(plan), **run_facts(plan)}
    if plan.pairs is None:
        why = why_not(plan)
        return Said({**known, "why": why}, why, status)
    known, said = {**known, "plan": str(output)}, _plan_sentences(plan, output)
    if plan.found:
        return Said(known, said, status)
    why, ways = why_short(plan, time_limit=time_limit or SECONDS)
    return Said({**known, "why": why, "ways": ways_as_facts(ways)}, [*why, *ways_said(ways), *said], status)


def _parts_said(plan: PartsPlan, output: AnyPath) -> tuple[dict[str, Any], list[str]]:
    facts = {**plan.facts, **plan.run}
    if not plan.found:
        return {**facts, "why": plan.why}, [plan.why]
    rule = RULES[facts["rule"]].of_rule
    lines = [
        *(f"{rule.strip()}, which implies {promise}'s promise" for promise in [facts.get("promise")] if promise),
        f"{facts['labels']} labels for {facts['tasks']} tasks in {facts['parts']} parts, "
        f"cost {number(facts['objective'])}",
        how_good(facts["proven"], facts["gap"], facts["bound"], rule=rule),
        f"wrote {output} in {facts['seconds']:.2f} s",
    ]
    return {**facts, "plan": str(output)}, lines


VERBS = (Verb("solve", solve, _said, needs=("output",), follows=True),)
