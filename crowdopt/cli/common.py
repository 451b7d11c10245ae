"""What the verbs share: exit statuses, options, sentences, progress."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from crowdopt.api.binding import BackendMissing
from crowdopt.core.solution import Progress
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError

NO, BAD_INPUT, INTERRUPTED = 1, 2, 130


class Verbs(click.Group):
    """A group whose verbs turn bad input into one sentence and exit 2, and Ctrl-C into exit 130."""

    def invoke(self, context: click.Context) -> Any:
        """Run the verb."""
        try:
            return super().invoke(context)
        except (InputError, BackendMissing) as error:
            click.echo(f"crowdopt: {error}", err=True)
            context.exit(BAD_INPUT)
        except KeyboardInterrupt:
            click.echo("crowdopt: interrupted", err=True)
            context.exit(INTERRUPTED)
        except MemoryError:
            click.echo("crowdopt: there is not enough memory for an instance of this size", err=True)
            context.exit(BAD_INPUT)


def target(what: str) -> Callable[[Any], Any]:
    """The options -o and --force of a verb that writes."""
    place = click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help=f"{what} to write.")
    force = click.option("--force", is_flag=True, help="Replace the output if it exists.")
    return lambda verb: place(force(verb))


def lists(policies: Callable[[], Mapping[str, type[Any]]]) -> Callable[[Any], Any]:
    """The option ``--list``: print every policy with its options and leave."""

    def listed(context: click.Context, _: click.Parameter, wanted: bool) -> None:
        if wanted:
            for name, policy in policies().items():
                options = ", ".join(f"{field.name.replace('_', '-')}={field.default}" for field in fields(policy))
                click.echo(f"{name}: {policy.what}\n    {options or 'no options'}")
            context.exit()

    return click.option(
        "--list", is_flag=True, is_eager=True, expose_value=False, callback=listed, help="Show all policies."
    )


as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of sentences.")


def say(as_json: bool, facts: dict[str, Any], *sentences: str) -> None:
    """Print the sentences, or the facts as one JSON object."""
    lines = [json.dumps(facts, ensure_ascii=False)] if as_json else sentences
    try:
        for line in lines:
            click.echo(line)
        sys.stdout.flush()
    except BrokenPipeError:  # nobody reads on; the exit status still tells
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class ProgressLine:
    """One line on a terminal that follows the search; silent in a pipe."""

    def __init__(self) -> None:
        self.live = sys.stderr.isatty()

    def __enter__(self) -> ProgressLine:
        return self

    def show(self, moment: Progress) -> None:
        """Write over the line what is known now."""
        if self.live:
            best = "none yet" if moment.value is None else f"{moment.value:g}"
            bound = "none yet" if moment.bound is None else f"{moment.bound:g}"
            gap = "" if moment.gap is None else f", gap {percent(moment.gap)}"
            note = f" ({moment.note})" if moment.note else ""
            sys.stderr.write(f"\r\x1b[K{moment.seconds:.0f} s: best {best}, bound {bound}{gap}{note}")
            sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        if self.live:
            sys.stderr.write("\r\x1b[K")


def size_of(instance: AssignmentInstance) -> dict[str, int]:
    """How much there is of everything."""
    return {"tasks": instance.n_tasks, "workers": instance.n_workers, "types": instance.n_types}


def percent(ratio: float) -> str:
    """Three digits of a ratio, as a percentage."""
    return f"{100 * ratio:.3g} %"
