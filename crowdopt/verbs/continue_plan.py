"""The verb aggregate with a plan: answers, what is not yet sure, what is missing, the next campaign."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from pathlib import Path

from crowdopt.arrays import places
from crowdopt.assign.cascade.adaptive_plan import class_labels
from crowdopt.assign.cascade.cheapest_policy import asks_more, onward_orders, onward_targets, policy_answers
from crowdopt.assign.cascade.panels import skill_panel, vote_panel
from crowdopt.errors import InputError, public
from crowdopt.io.answers import MARK, Answered, Onward, read_answers, write_answers
from crowdopt.io.folders import check_target
from crowdopt.io.plan import read_claims
from crowdopt.io.policy import is_policy, order_shares, policy_rows, read_policy
from crowdopt.verbs.binding import AnyPath, InstanceLike, PlanLike, TableLike, on_disk


@public
def answers(
    labels: TableLike,
    plan: PlanLike,
    *,
    campaign: InstanceLike,
    skipped: TableLike | None = None,
    accept: bool = False,
    output: AnyPath | None = None,
    force: bool = False,
) -> Answered:
    """Answers from the labels of a plan: weighted votes, exact posteriors, what is missing; and the next campaign.

    Parameters
    ----------
    labels : path or frame
        Columns task, worker, label: what came back.
    plan : Plan or path
        A plan, or its folder.
    campaign : AssignmentInstance or path
        What it was made for: an instance, or the folder of a campaign.
    skipped : path or frame, optional
        Columns task, worker: who was asked and gave no label, such as the table that ``pull`` writes. Errors are those
        without them, and the next campaign does not ask the same worker again.
    accept : bool
        Whether tasks that no labels left can bring to their target are taken as they are: the next campaign has
        targets of their own for them, so that it serves the others.
    output : path, optional
        Where to write answers.csv, missing.csv and ``campaign/``, the campaign with these labels in, ready to solve.
    force : bool
        Whether answers that are there may be replaced.

    Returns
    -------
    Answered

    Raises
    ------
    InputError
        If something cannot be read, or the folder cannot be written.
    """
    if output is not None:
        check_target(Path(output), MARK, force)
    with on_disk(campaign, plan, tables=True) as (given, planned):
        answered = replace(read_answers(labels, planned, given, skipped), accept=accept)
        onward = _onward(answered, planned)
        answered = replace(answered, onward=onward)
        if onward is not None and onward.answer is not None:
            answered = replace(answered, answers=replace(answered.answers, answer=onward.answer))
        if output is not None:
            write_answers(answered, output, force)
    return answered


def _onward(answered: Answered, folder: Path) -> Onward | None:
    claims = read_claims(folder)
    if not is_policy(claims):
        return None
    if answered.accept:
        raise InputError(
            "an adaptive plan promises errors before votes are seen and accepts no single task; drop --accept"
        )
    instance, labels = (
        answered.instance,
        answered.campaign.indices(answered.labels[len(answered.campaign.collected_labels) :]),
    )
    rounds = claims.get("rounds")
    now = replace(instance, collected=answered.pairs, class_names=answered.names)
    stored = read_policy(folder, claims, replace(instance, class_names=answered.names))
    spent = float(instance.prices(answered.new).sum())
    left = inf if instance.budget is None else max(0.0, instance.budget - spent)
    options = "adaptive" if rounds is None else f"adaptive:rounds={rounds - 1}" if rounds > 1 else ""
    if options and claims.get("expert") is not None:
        options += f":expert={claims['expert']:g}"
    if stored.steps is not None:
        kinds = places(stored.types["type"])
        orders = [one.order for one in order_shares(stored.policy, stored.steps, kinds, now)]
        targets, asks = onward_orders(skill_panel(now, labels), orders, stored.tasks.counts("order"))
        return Onward(targets, options, asks, left)
    panel = vote_panel(now, labels)
    rows = policy_rows(stored, now)
    asks = asks_more(panel, rows, rounds)
    if claims.get("given_votes") is True:
        return Onward(now.epsilon, options + ":given-votes" * bool(options), asks, left)
    targets, missed = onward_targets(panel, rows, rounds)
    if not isinstance(claims.get("class_error"), dict):
        return Onward(targets, options, asks, left)
    shares = dict(zip(class_labels(now), missed.tolist(), strict=True))
    limits = ":class-error=" + ",".join(f"{name}={shares[name]:.12g}" for name in claims["class_error"])
    answer = policy_answers(panel, rows, rounds, answered.answers.answer, int(claims.get("seed", 0)))
    return Onward(targets, options + limits * bool(options), asks, left, answer)
