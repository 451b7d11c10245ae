"""The verb backends."""

from __future__ import annotations

from dataclasses import asdict

import click

from crowdopt.api.bench import Available
from crowdopt.api.bench import backends as call
from crowdopt.cli.common import as_json, manual, say


@click.command(epilog=manual("crowdopt backends", reads="nothing", writes="nothing"))
@as_json
def backends(as_json: bool) -> None:
    """Try which solver backends work here, each in a process of its own, and say how to install the others."""
    tried = call()
    say(as_json, {"backends": [asdict(backend) for backend in tried]}, *_table(tried))


def _table(tried: list[Available]) -> list[str]:
    line = "{:16} {:14} {:>3} {:>3} {:>6}  {}"
    said = [line.format("backend", "version", "LP", "IP", "duals", "")]
    for backend in tried:
        able = ["yes" if yes else "-" for yes in (backend.linear, backend.integers, backend.duals)]
        said.append(line.format(backend.name, backend.version or "-", *able, backend.why).rstrip())
    return said


VERBS = (backends,)
