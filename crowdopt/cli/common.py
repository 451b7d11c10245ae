"""What the verbs share: exit statuses, options, sentences, progress.

What help adds to a verb's options: an example to paste, files read and written, exit status; verbs by question.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import ExitStack, suppress
from shutil import get_terminal_size
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from crowdopt.bars import WHILE, Latest, ticking
from crowdopt.documents import finite
from crowdopt.errors import InputError
from crowdopt.interrupts import INTERRUPTED as INTERRUPTED
from crowdopt.notebooks import number, percent

if TYPE_CHECKING:
    from crowdopt.core.solution import Progress

NO, BAD_INPUT, FAULT = 1, 2, 3


def say(as_json: bool, facts: dict[str, Any], *sentences: str) -> None:
    """Print the sentences, each on a line, or the facts as one JSON object."""
    try:
        for line in [_json(facts)] if as_json else map(one_line, sentences):
            click.echo(line)
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        print_nowhere()
        if not isinstance(error, BrokenPipeError):  # then nobody reads on; the exit status still tells
            raise InputError(f"the answer cannot be printed: {error.strerror}; nothing else is wrong with it") from None


def one_line(text: str) -> str:
    """A text without line breaks: those in it are shown as escapes."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def print_nowhere() -> None:
    """Send the rest of standard output to nowhere, so that ending does not stumble over it again."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _json(facts: dict[str, Any]) -> str:
    """One JSON object; a number that JSON does not have (an infinite bound) is null."""
    letters = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "")
    return json.dumps(finite(facts), ensure_ascii=letters != "utf8", allow_nan=False)


class ProgressLine:
    """One line on a terminal that follows a search, with the seconds running; in a pipe one at the end."""

    def __init__(self) -> None:
        self.live = sys.stderr is not None and sys.stderr.isatty()
        self.started = perf_counter()
        self._latest, self._clock, self._lock = Latest(), ExitStack(), Lock()

    def __enter__(self) -> ProgressLine:
        if self.live:
            self._clock.enter_context(ticking(self._tick))
        return self

    def show(self, moment: Progress) -> None:
        """Write over the line what is known now."""
        self._latest.show(moment)
        self._draw()

    def _tick(self) -> None:
        self._latest.look()
        self._draw()

    def _draw(self) -> None:
        if self.live:
            said = f"{perf_counter() - self.started:.0f} s: {self._said()}"
            self._write(said[: get_terminal_size().columns - 1])

    def _write(self, text: str) -> None:
        with self._lock:
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()

    def _said(self) -> str:
        moment, note = self._latest.moment, self._latest.note
        if moment is None or (moment.value is None and moment.bound is None):
            return note or "looking for a plan"
        best = "no plan yet" if moment.value is None else f"best plan {number(moment.value)}"
        bound = "" if moment.bound is None else f", none below {number(moment.bound)}"
        gap = "" if moment.gap is None else f", gap {percent(moment.gap)}"
        return f"{best}{bound}{gap}" + (f" ({note})" if note else "")

    def __exit__(self, *_: object) -> None:
        self._clock.close()
        seconds = perf_counter() - self.started
        if self.live:
            self._write("")
        elif seconds >= WHILE and self._latest.moment is not None and sys.stderr is not None:
            print(f"{seconds:.0f} s: {self._said()}", file=sys.stderr, flush=True)


QUESTIONS: dict[str, dict[str, str]] = {
    "A campaign to start from": {
        "init": "Write a small campaign, with comments.",
        "generate": "Draw a synthetic campaign by a recipe.",
        "import": "Make a campaign of labels that you have.",
        "judges": "Say whether judges are any good, and on what.",
    },
    "Who labels what": {
        "solve": "Find the cheapest labels that keep the promise.",
        "verify": "Recompute everything that a plan claims.",
        "explain": "Say why there is no plan, or what a limit costs.",
        "budget": "Spend so many labels, or so much money.",
        "rules": "Price a rule of thumb, and better it.",
    },
    "Whom to hire": {
        "select": "Decide whom to hire by control questions.",
        "plan-gold": "Say how much gold a target needs.",
    },
    "Where people label": {
        "push": "Hand a plan to a labelling tool.",
        "pull": "Get the labels back from it.",
    },
    "What the answers are": {
        "rehearse": "Simulate the labels of a plan.",
        "aggregate": "Turn labels into answers.",
        "audit": "Prove how many answers are wrong at most.",
    },
    "Workers or tasks that arrive": {
        "compare": "Compare online policies with the optimum.",
        "learn": "Learn whom to ask while tasks arrive.",
        "live": "Run a campaign while people label.",
    },
    "Programs and solvers": {
        "export": "Write the program for another solver.",
        "backends": "Try which solvers work here.",
        "list": "List methods, policies, backends or formats.",
        "bench": "Run solvers side by side.",
        "check": "Hold a solution of any model against it.",
    },
    "Pages to look at": {
        "report": "Write the page of a plan or of results.",
    },
}
"""The verbs by question, in the order of work, and what each does: said without loading it."""

SENTENCES = {verb: sentence for verbs in QUESTIONS.values() for verb, sentence in verbs.items()}
OURS = tuple(SENTENCES)
FILES = {  # of verbs/, where the name is not the verb's
    "import": "import_labels",
    "solve": "plans_said",
    "list": "listing",
    **dict.fromkeys(("init", "rehearse"), "generate"),
    **dict.fromkeys(("push", "pull"), "exchange"),
    **dict.fromkeys(("backends", "report"), "bench"),
}

ELSE = "Others"  # what other packages add
STATUS = "Exit status: 0 an answer, 1 no, 2 bad input, 3 our fault, 130 interrupted."
FIRST = "crowdopt init my-campaign"


def manual(*example: str, reads: str, writes: str) -> str:
    """The text below a verb's options.

    *example: commands to paste, one after another, after ``crowdopt init my-campaign``; the last one shows the verb;
    reads, writes: files and folders, as a reader finds them.
    """
    after = "Example:" if example[0].startswith(FIRST) else f"Example, after {FIRST}:"
    return "\n\n".join(
        [after, "\b\n" + "\n".join(f"  {line}" for line in example), f"Reads {reads}.", f"Writes {writes}.", STATUS]
    )


def file_of(verb: str) -> str:
    """The file of verbs/ in which a verb of ours is."""
    return FILES.get(verb, verb.replace("-", "_"))


def by_question(verbs: list[str]) -> dict[str, list[str]]:
    """Verbs under their questions, in order; those that no question names come last."""
    known = {question: [verb for verb in named if verb in verbs] for question, named in QUESTIONS.items()}
    placed = {verb for named in known.values() for verb in named}
    known[ELSE] = [verb for verb in verbs if verb not in placed]
    return {question: named for question, named in known.items() if named}
