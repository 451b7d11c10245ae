"""From the words of a command to its exit status: whatever happens on the way is one sentence."""

from __future__ import annotations

import atexit
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from crowdopt.cli.common import (
    BAD_INPUT,
    FAULT,
    NO,
    OURS,
    SENTENCES,
    STATUS,
    by_question,
    file_of,
    one_line,
    print_nowhere,
)
from crowdopt.core.registry import others
from crowdopt.errors import InputError, OutOfReach, OwnFault
from crowdopt.interrupts import INTERRUPTED, Interrupts
from crowdopt.said import Verb

WIDTH = 60  # letters of what another package's verb does
LONGEST = 800  # letters of a sentence; what is quoted in it may be a whole file
MEMORY = "there is not enough memory for an instance of this size"


class Verbs(click.Group):
    """A group whose verbs turn bad input into one sentence and exit 2, and Ctrl-C into one and exit 130."""

    _interrupts: Interrupts | None = None
    _complete = False

    def main(self, *args: Any, standalone_mode: bool = True, **options: Any) -> Any:
        """Run a command as a process does; never returns."""
        if not standalone_mode:
            return super().main(*args, standalone_mode=False, **options)  # type: ignore[call-overload]
        self._load(options.get("args", args[0] if args else None))
        with Interrupts() as interrupts, _streams(interrupts.of_the_process):
            self._interrupts = interrupts
            status = self._status(interrupts, *args, **options)
            if interrupts.seen and status not in (0, INTERRUPTED):  # a library made another error of it
                complain("interrupted")
                status = INTERRUPTED
        if interrupts.seen and interrupts.of_the_process:
            _end(status)
        sys.exit(status)

    def list_commands(self, context: click.Context) -> list[str]:
        """Names of our verbs and of those that other packages add."""
        self._add_others()
        return sorted({*OURS, *self.commands})

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """A verb, loaded now if it was not; None where there is none of this name."""
        if name not in self.commands:
            self._load([name])
        if name not in self.commands:
            self._add_others()
        return self.commands.get(name)

    def _load(self, words: Sequence[str] | None) -> None:
        # Before a command begins, Ctrl-C still ends the process at once, wherever a library that is loading may be.
        for name in (word for word in (sys.argv[1:] if words is None else words) if word in OURS):
            home = "crowdopt.cli.live" if name == "live" else f"crowdopt.verbs.{file_of(name)}"
            for verb in import_module(home).VERBS:
                self._add(verb)
            return

    def _add_others(self) -> None:
        if not self._complete:
            self._complete = True
            every = others(sys.modules["crowdopt.cli"], "VERBS", "__iter__")
            for verb in (verb for verbs in every for verb in verbs):
                self._add(verb)

    def _add(self, verb: click.Command | Verb) -> None:
        if isinstance(verb, Verb):
            from crowdopt.cli.command import command

            verb = command(verb)
        self.add_command(verb)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs under the questions that they answer; only those of other packages are loaded."""
        names = self.list_commands(context)
        for question, some in by_question(names).items():
            with formatter.section(question):
                formatter.write_dl([(name, self._sentence(name)) for name in some], col_max=max(map(len, names)))

    def _sentence(self, name: str) -> str:
        return SENTENCES.get(name) or self.commands[name].get_short_help_str(WIDTH)

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb; a word that is none is answered by the verb that it is most like."""
        name = args[0]
        if self.get_command(context, name) is None and not name.startswith("-"):
            near = get_close_matches(name.lower(), self.list_commands(context), n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise InputError(f"there is no verb {name!r}; {hint}crowdopt --help lists all")
        return super().resolve_command(context, args)

    def format_epilog(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Say where to begin, and what the exit status means."""
        formatter.write_paragraph()
        formatter.write_text("Begin with: crowdopt init my-campaign. An example of each verb: crowdopt VERB --help.")
        formatter.write_text(STATUS)

    def _status(self, interrupts: Interrupts, *args: Any, **options: Any) -> Any:
        try:
            return super().main(*args, standalone_mode=False, **options) or 0  # type: ignore[call-overload]
        except SystemExit as ended:
            return ended.code or 0
        except click.ClickException as error:
            error.show()
            return error.exit_code
        except (click.Abort, KeyboardInterrupt):  # before the verb began, or after it had ended
            complain("interrupted")
            return INTERRUPTED
        except OSError as error:  # of standard output, while help is printed
            print_nowhere()
            complain(_of_system(error))
            return BAD_INPUT
        except BaseException:
            if not interrupts.seen:
                raise
            return BAD_INPUT

    def invoke(self, context: click.Context) -> Any:
        """Run the verb; what it returns is nobody's exit status."""
        try:
            super().invoke(context)
            return None
        except OutOfReach as error:
            self._blame(error)
            context.exit(NO)
        except _bad_input() as error:
            self._blame(error)
        except _loaded("crowdopt.solvers", "BackendFailed") as error:
            self._blame(error)
            context.exit(NO)
        except OwnFault as error:
            self._blame(error)
            context.exit(FAULT)
        except KeyboardInterrupt:
            complain("interrupted")
            context.exit(INTERRUPTED)
        except MemoryError:
            complain(MEMORY)
        except BrokenPipeError:
            raise
        except OSError as error:
            complain(_of_system(error))
        context.exit(BAD_INPUT)

    def _blame(self, error: Exception) -> None:
        """Say what is wrong, unless it is only that a library was interrupted while it was loading or at work."""
        if not (self._interrupts and self._interrupts.seen):
            complain(str(error))


def _bad_input() -> tuple[type[Exception], ...]:
    missing, jobs = _loaded("crowdopt.solvers", "BackendMissing"), _loaded("crowdopt.jobs", "JobsError")
    return InputError, *missing, *jobs


def _loaded(module: str, name: str) -> tuple[type[Exception], ...]:
    """An error's class, if its module is loaded; otherwise nobody can have raised it."""
    kind = getattr(sys.modules.get(module), name, None)
    return () if kind is None else (kind,)


def _end(status: int) -> None:
    """End the process without unloading libraries: one whose threads were cut short may abort while it is unloaded."""
    # What Python has to tidy up, such as what processes share, is tidied up before.
    with suppress(Exception):
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(status)


def complain(text: str) -> None:
    """One line on standard error, cut where it is long; silent where nobody can hear it."""
    line = one_line(text)
    with suppress(OSError):
        click.echo(f"crowdopt: {line if len(line) <= LONGEST else line[:LONGEST] + '…'}", err=True)


def _of_system(error: OSError) -> str:
    where = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
    return f"{where}{error.strerror or error}; choose another place, or make room"


@contextmanager
def _streams(own: bool) -> Iterator[None]:
    """Streams that take every letter; where one was closed, nothing that is opened later takes its number."""
    if own:
        number = os.open(os.devnull, os.O_RDWR)
        while number < 3:
            number = os.open(os.devnull, os.O_RDWR)
        os.close(number)
        warnings.showwarning = _note  # type: ignore[assignment]
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    yield


def _note(message: Warning | str, *_: Any) -> None:
    complain(f"note: {message}")
