"""The verb backends."""

from __future__ import annotations

from dataclasses import asdict

import click

from crowdopt import backends
from crowdopt.backends.probe import Available
from crowdopt.cli.common import as_json, say


@click.command("backends", epilog="Example: crowdopt backends")
@as_json
def backends_(as_json: bool) -> None:
    """Which solver backends work here (each is tried, in a process of its own) and how to get the others."""
    found = backends.available()
    say(as_json, {"backends": [asdict(one) for one in found]}, *_backend_table(found))


def _backend_table(found: list[Available]) -> list[str]:
    """Name, version and what it handles; for one that does not work, why, and what to type."""
    line = "{:16} {:14} {:>3} {:>3} {:>6}  {}"
    said = [line.format("backend", "version", "LP", "IP", "duals", "")]
    for one in found:
        able = ["yes" if yes else "-" for yes in (one.linear, one.integers, one.duals)]
        said.append(line.format(one.name, one.version or "-", *able, one.why).rstrip())
    return said


VERBS = (backends_,)
