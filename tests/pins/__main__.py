"""Print where pins and the package differ: ``python -m tests.pins [NAME …]``; ``--write NAME …`` keeps what is found.

A name is that of a file, as in transcripts/live, or tables/plans-long:R10 for the rows that begin so. Pins of minutes
(-slow, -long) run only if they are named. Nothing is written but what is named: a pin changes by hand, with a reason.
"""

from __future__ import annotations

import argparse

from tests.pins.pinned import differences, names, write


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.pins", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME[:ROW]")
    parser.add_argument("--write", action="store_true", help="keep what is found, of the pins that are named")
    given, beyond = parser.parse_args(), 0
    if given.write and not given.names:
        parser.error("--write wants the names of the pins to write")
    for asked in given.names or [name for name in names() if not name.endswith(("-slow", "-long"))]:
        name, _, row = asked.partition(":")
        if name not in names():
            parser.error(f"there is no pin {name}; there are {', '.join(names())}")
        if given.write:
            write(name, row)
            continue
        for one in differences(name, row):
            beyond += 1
            print(f"{one.pin} | {one.place}\n  pinned {one.was.strip()!r}\n  now    {one.found.strip()!r}", flush=True)
    if not given.write:
        print(f"{beyond} differences")
    raise SystemExit(beyond > 0)


if __name__ == "__main__":
    main()
