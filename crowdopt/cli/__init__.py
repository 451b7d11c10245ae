"""The command line: one file per family of verbs, each ending in ``VERBS``; all are found and listed."""

from __future__ import annotations

import sys

import click

from crowdopt.cli.command_line import Verbs
from crowdopt.core.registry import discover
from crowdopt.version import __version__


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="crowdopt")
def main() -> None:
    """Decide who labels what: provably cheap plans with guaranteed accuracy."""


for _verbs in discover(sys.modules[__name__], "VERBS"):
    for _verb in _verbs:
        main.add_command(_verb)
