"""What a command printed, in the pages that show it: between two marks, with the day, load and versions.

    <!-- printed by learning 1, as text -->
    <!-- end of printed -->

The mark names a figure of figures.toml and the number of its command; ``as text`` keeps the columns, without it the
command prints Markdown. A block may be given in part: ``printed by li-liu 2, from Figure 2(b)`` begins at the first
line that holds these words, ``to`` ends before one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from crowdopt.files import write_text

MARK = re.compile(
    r"<!-- printed by (?P<figure>[\w-]+) (?P<command>\d+)(?P<text>, as text)?"
    r"(, from (?P<first>.+?))?(, to (?P<last>.+?))? -->\n(?P<shown>.*?)<!-- end of printed -->\n",
    re.DOTALL,
)


@dataclass(frozen=True)
class Printed:
    """A block of a page: whose it is, and what stands there."""

    figure: str
    command: int  # from 1
    shown: str

    def hash(self) -> str:
        """Of what stands there; states.json has it, so that a number typed over is seen."""
        return sha256(self.shown.encode()).hexdigest()[:16]


def blocks(page: Path) -> Iterator[Printed]:
    """The blocks of a page, from top to bottom."""
    for found in MARK.finditer(page.read_text(encoding="utf-8")):
        yield Printed(found["figure"], int(found["command"]), found["shown"])


def paste(page: Path, figure: str, outputs: Sequence[str], made: str) -> int:
    """Put what the commands printed where the page shows it; returns in how many places.

    page: a Markdown file with marks, written only if it has some of this figure; outputs: what each of the figure's
    commands printed; made: a sentence on when and by what, that goes below each block.
    """
    count = 0

    def renewed(found: re.Match[str]) -> str:
        nonlocal count
        if found["figure"] != figure:
            return found[0]
        count += 1
        head = found[0].partition("\n")[0]
        text = part(outputs[int(found["command"]) - 1], found["first"], found["last"])
        body = f"```text\n{text}\n```" if found["text"] else text
        return f"{head}\n{body}\n\n*{made}*\n<!-- end of printed -->\n"

    before = page.read_text(encoding="utf-8")
    after = MARK.sub(renewed, before)
    if count:
        write_text(page, after, replace=True)
    return count


def part(text: str, first: str | None, last: str | None) -> str:
    """The lines from the first that holds ``first`` up to before the next that holds ``last``."""
    lines = text.strip("\n").splitlines()
    begin = 0 if first is None else next(k for k, line in enumerate(lines) if first in line)
    later = [k for k, line in enumerate(lines) if k > begin and last is not None and last in line]
    return "\n".join(line.rstrip() for line in lines[begin : later[0] if later else None]).strip("\n")
