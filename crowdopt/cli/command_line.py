"""From the words of a command to its exit status: whatever happens on the way is one sentence."""

from __future__ import annotations

import atexit
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

from crowdopt.api.binding import BackendFailed, BackendMissing
from crowdopt.cli.common import BAD_INPUT, NO, one_line, print_nowhere
from crowdopt.cli.manual import STATUS, by_question
from crowdopt.errors import InputError
from crowdopt.interrupts import INTERRUPTED, Interrupts
from crowdopt.jobs import JobsError

LONGEST = 800  # letters of a sentence; what is quoted in it may be a whole file
MEMORY = "there is not enough memory for an instance of this size"


class Verbs(click.Group):
    """A group whose verbs turn bad input into one sentence and exit 2, and Ctrl-C into one and exit 130."""

    _interrupts: Interrupts | None = None

    def main(self, *args: Any, standalone_mode: bool = True, **options: Any) -> Any:
        """Run a command as a process does; never returns."""
        if not standalone_mode:
            return super().main(*args, standalone_mode=False, **options)  # type: ignore[call-overload]
        with Interrupts() as interrupts, _streams(interrupts.of_the_process):
            self._interrupts = interrupts
            status = self._status(interrupts, *args, **options)
            if interrupts.seen and status not in (0, INTERRUPTED):  # a library made another error of it
                complain("interrupted")
                status = INTERRUPTED
        if interrupts.seen and interrupts.of_the_process:
            _end(status)
        sys.exit(status)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs under the questions that they answer."""
        room = formatter.width - 6 - max(map(len, self.commands))
        for question, verbs in by_question(self.list_commands(context)).items():
            with formatter.section(question):
                formatter.write_dl([(verb, self.commands[verb].get_short_help_str(room)) for verb in verbs])

    def format_epilog(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Say where to begin, and what the exit status means."""
        formatter.write_paragraph()
        formatter.write_text("Begin with: crowdopt init my-campaign. An example of each verb: crowdopt VERB --help.")
        formatter.write_text(STATUS)

    def _status(self, interrupts: Interrupts, *args: Any, **options: Any) -> Any:
        try:
            super().main(*args, standalone_mode=True, **options)  # type: ignore[call-overload]
            return 0
        except SystemExit as ended:
            return ended.code or 0
        except OSError as error:  # of standard output, while help is printed
            print_nowhere()
            complain(_of_system(error))
            return BAD_INPUT
        except BaseException:
            if not interrupts.seen:
                raise
            return BAD_INPUT

    def invoke(self, context: click.Context) -> Any:
        """Run the verb."""
        try:
            return super().invoke(context)
        except (InputError, BackendMissing, JobsError) as error:
            self._blame(error)
        except BackendFailed as error:
            self._blame(error)
            context.exit(NO)
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


def _end(status: int) -> None:
    """End the process without unloading libraries: one whose threads were cut short may abort while it is unloaded.

    What Python has to tidy up, such as what processes share, is tidied up before.
    """
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
    """What the system objected to, and in what file."""
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
