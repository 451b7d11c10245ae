"""The command line: one file per verb, ending in ``VERBS``, loaded when the verb is asked for; help lists them all."""

from __future__ import annotations

import click

from crowdopt.cli.command_line import Verbs
from crowdopt.version import __version__


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(__version__, prog_name="crowdopt")
def main() -> None:
    """Decide who labels what: provably cheap plans with guaranteed accuracy."""
