"""What the files of a benchmark's folder must look like to be read again."""

from __future__ import annotations

from typing import Any

from crowdopt.bench.harness.subject import LIMITS
from crowdopt.documents import NUMBER, TEXT, Each, Keys, Maybe, Value, misfit, number
from crowdopt.errors import InputError
from crowdopt.jobs import Row

SUBJECT = Value(
    "a list of problem, program, seed and method",
    lambda value: isinstance(value, list) and [type(one) for one in value] == [str, str, int, str],
)
PLAN = Keys(  # bench.json
    required={
        "kind": TEXT,
        "title": TEXT,
        "subjects": Each(SUBJECT),
        "limits": Keys(dict.fromkeys(LIMITS, NUMBER)),
        "versions": Each(TEXT, dict),
    }
)
CIRCUMSTANCES = Keys({"libraries": Each(TEXT, dict)}, open=True)  # run.json
FIGURES = ("value", "bound", "violation", "fraction", "gap", "megabytes")
MEASURED = Keys(  # the result of a row
    required={
        **dict.fromkeys(FIGURES, Maybe(NUMBER)),
        **dict.fromkeys(("outcome", "why", "proof"), TEXT),
        "claimed": Maybe(TEXT),
        "timings": Each(Maybe(number("a number of seconds", 0)), dict),
    },
    optional={"family": Maybe(TEXT), "about": TEXT, "reference": Maybe(NUMBER)},
    open=True,
)
BESIDE = Keys(dict.fromkeys(("violation", "fraction"), NUMBER), open=True)  # what a value comes with


def check_plan(known: dict[str, Any]) -> None:
    """Refuse a bench.json whose subjects have methods of no known version."""
    missing = {"crowdopt", *(subject[-1] for subject in known["subjects"])} - set(known["versions"])
    if missing:
        raise InputError(f"bench.json: versions.{min(missing)} is missing")


def check_row(row: Row) -> None:
    """Refuse a row that no measurement has written."""
    complaint = misfit(row.error, TEXT, "error") if row.error is not None else misfit(row.result, MEASURED)
    if complaint is None and row.error is None and row.result["value"] is not None:
        complaint = misfit(row.result, BESIDE)
    if complaint is not None:
        subject = f"{row.arguments['problem']} by {row.arguments['method']}"
        raise InputError(f"the row of {subject}: {complaint}; delete the folder's rows, and run the same command again")
