"""The verb audit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crowdopt.api.audit import CONFIDENCE, METHODS, TARGET, Audit, Escalation, is_escalation
from crowdopt.api.audit import audit as call
from crowdopt.cli.common import ANSWERED, PATH, PLANNED, REHEARSED, as_json, manual, say


@click.command(
    epilog=manual(
        PLANNED,
        REHEARSED,
        ANSWERED,
        "crowdopt audit answers --target 0.1 -o audit",
        reads="a table or folder of answers; with --checked what the expert says, task,label",
        writes="the folder: draw.json, check.csv (the tasks to look at); then audit.json, answers.csv with corrections",
    )
)
@click.argument("answers", type=PATH)
@click.option("--checked", type=PATH, help="The expert's answers: columns task, label.")
@click.option("--target", type=float, help=f"The share of wrong answers to certify.  [default: {TARGET}]")
@click.option("--confidence", type=float, help=f"How sure all claims together are.  [default: {CONFIDENCE}]")
@click.option(
    "--method",
    type=click.Choice(METHODS),
    help="How answers are drawn; default: assisted where errors are claimed, else sequential.",
)
@click.option("--checks", type=int, help="Tasks to draw first.  [default: as many as the target should take]")
@click.option(
    "--seed", type=click.IntRange(0, 10**18 - 1), help="Seed of the draw.  [default: from the operating system]"
)
@click.option("--least-sure", default=0, help="How many of the least sure answers the expert sees first.")
@click.option("--expert-error", default=0.0, help="The largest share of tasks on which the expert errs.")
@click.option("--after", multiple=True, type=PATH, help="An earlier audit of these answers.")
@click.option("--share", default=1.0, help="The share of the chance of a false claim that this audit spends.")
@click.option("--show-answers", is_flag=True, help="Show the answers to the expert, whom they may influence.")
@click.option("--escalate", help="Say which answers stand and which go up a tier, by prices: expert=40,next=3,tiers=2.")
@click.option("-o", "--output", type=PATH, required=True, help="Folder of the audit.")
@click.option("--force", is_flag=True, help="Draw anew where an audit stands; the new one counts as --after it.")
@as_json
def audit(answers: Path, output: Path, as_json: bool, escalate: str | None, **options: Any) -> None:
    """Prove how many of the answers are wrong at most, whatever the workers did: an expert looks at a random few.

    The first call draws the tasks to look at (draw.json, check.csv). The call with --checked says what the expert's
    answers show (audit.json, and answers.csv with the corrections). With --escalate it says which answers may stand
    and which go up a tier (up.csv).
    """
    if escalate is not None or (options["checked"] is not None and is_escalation(output)):
        done = call(answers, output, **options, escalate=escalate or True)
        say(as_json, escalation_facts(done, output), *escalation_said(done, output))
        return
    done = call(answers, output, **options)
    say(as_json, _facts(done, output), *(_drawn(done, output) if done.audited is None else _shown(done, output)))


def _facts(done: Audit, output: Path) -> dict[str, Any]:
    facts: dict[str, Any] = {"audit": str(output), "commitment": done.commitment, "checks": done.checks}
    if done.audited is None:
        return {**facts, "seed": done.draw.terms.seed}
    audited = done.audited
    claim = {"wrong_at_most": audited.wrong_at_most, "certified": audited.certified, "checked": audited.checked}
    return {**facts, **claim, "corrected": audited.corrected, "sentence": audited.sentence}


def _drawn(done: Audit, output: Path) -> list[str]:
    terms, first = done.draw.terms, done.draw.certain.size
    least = f", the {first} least sure first" if first else ""
    stop = "look at all of them" if done.draw.fixed else "look from the top, stop when it is enough"
    return [
        f"{done.checks} of {done.draw.answers} answers drawn{least}, {terms.method}, seed {terms.seed}: {stop}",
        f"that should certify {terms.target:g} if a share of {done.draw.assumed:.3g} is wrong",
        f"commitment {done.commitment}: hand it on before the expert begins",
        f"wrote {output}; the expert's answers: crowdopt audit ANSWERS --checked CHECKED.csv -o {output}",
    ]


def _shown(done: Audit, output: Path) -> list[str]:
    assert done.audited is not None
    audited, terms = done.audited, done.draw.terms
    said = [audited.sentence]
    if audited.certified:
        said.append(f"so the target of {terms.target:g} is reached")
    elif done.draw.fixed:
        said.append(f"the target of {terms.target:g} is not reached; correct more answers, or draw anew with --after")
    else:
        more = done.checks - audited.checked
        said.append(f"the target of {terms.target:g} is not reached; {more} more to look at in {output}/check.csv")
    return [*said, f"wrote {output}: audit.json, answers.csv with the corrections"]


VERBS = (audit,)


def escalation_facts(done: Escalation, output: Path) -> dict[str, Any]:
    """The escalation in facts."""
    planned = done.draw.planned._asdict()
    facts: dict[str, Any] = {"escalation": str(output), "commitment": done.commitment, "checks": done.checks}
    if done.escalated is None:
        return {**facts, "seed": done.draw.terms.seed, "allowed": done.draw.terms.allowed, "planned": planned}
    made = done.escalated
    claim = {"stand": made.stand, "up": done.up, "wrong_at_most": made.left, "checked": made.wrong.size}
    return {**facts, **claim, "cost": done.cost, "finished": made.finished, "sentence": made.sentence}


def escalation_said(done: Escalation, output: Path) -> list[str]:
    """The escalation in sentences."""
    return _tiers_drawn(done, output) if done.escalated is None else _tiers_shown(done, output)


def _tiers_drawn(done: Escalation, output: Path) -> list[str]:
    planned, terms = done.draw.planned, done.draw.terms
    return [
        f"{done.checks} of {done.draw.answers} answers drawn, seed {terms.seed}: look from the top",
        f"planned by the claims: {planned.stand} answers stand, {planned.up} go up, the expert looks at "
        f"{planned.checks}, cost {planned.cost:.6g}",
        f"at most {terms.allowed} of those that stand may be wrong",
        f"commitment {done.commitment}: hand it on before the expert begins",
        f"wrote {output}; the expert's answers: crowdopt audit ANSWERS --checked CHECKED.csv -o {output}",
    ]


def _tiers_shown(done: Escalation, output: Path) -> list[str]:
    assert done.escalated is not None
    made = done.escalated
    said = [made.sentence, f"cost so far {done.cost:.6g}, {done.up} that go up included"]
    if made.finished:
        said.append("no further look is expected to save money")
    elif done.checks > made.wrong.size:
        onward = made.planned
        said.append(
            f"{done.checks - made.wrong.size} more to look at in {output}/check.csv: by what was seen {onward.stand} "
            f"may stand in the end, at a cost of {onward.cost:.6g}"
        )
    return [*said, f"wrote {output}: standing.json, answers.csv, up.csv (the tasks that go up)"]
