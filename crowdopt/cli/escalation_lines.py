"""What the verb audit says of an escalation."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from crowdopt.api.escalation import Escalation


def escalation_facts(done: Escalation, output: Path) -> dict[str, Any]:
    """The escalation in facts."""
    planned = asdict(done.draw.planned)
    facts: dict[str, Any] = {"escalation": str(output), "commitment": done.commitment, "checks": done.checks}
    if done.escalated is None:
        return {**facts, "seed": done.draw.terms.seed, "allowed": done.draw.terms.allowed, "planned": planned}
    made = done.escalated
    claim = {"stand": made.stand, "up": done.up, "wrong_at_most": made.left, "checked": made.wrong.size}
    return {**facts, **claim, "cost": done.cost, "finished": made.finished, "sentence": made.sentence}


def escalation_said(done: Escalation, output: Path) -> list[str]:
    """The escalation in sentences."""
    return _drawn(done, output) if done.escalated is None else _shown(done, output)


def _drawn(done: Escalation, output: Path) -> list[str]:
    planned, terms = done.draw.planned, done.draw.terms
    return [
        f"{done.checks} of {done.draw.answers} answers drawn, seed {terms.seed}: look from the top",
        f"planned by the claims: {planned.stand} answers stand, {planned.up} go up, the expert looks at "
        f"{planned.checks}, cost {planned.cost:.6g}",
        f"at most {terms.allowed} of those that stand may be wrong",
        f"commitment {done.commitment}: hand it on before the expert begins",
        f"wrote {output}; the expert's answers: crowdopt audit ANSWERS --checked CHECKED.csv -o {output}",
    ]


def _shown(done: Escalation, output: Path) -> list[str]:
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
