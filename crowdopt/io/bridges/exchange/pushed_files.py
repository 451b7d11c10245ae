"""A round as files in a folder: only files that differ are written, each whole or not at all, and none is removed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from crowdopt.errors import InputError
from crowdopt.files import write_text
from crowdopt.io.bridges.exchange.bridge import Bridge, Change, Changes
from crowdopt.io.bridges.exchange.pushed_round import PushedRound
from crowdopt.io.tables.folder import check_target
from crowdopt.io.tables.foreign_json import parsed, read_text

MARK = "crowdopt.json"  # tells a folder that a push may write into


def push_files(bridge: Bridge, handed: PushedRound, folder: Path, dry_run: bool) -> Changes:
    """Write a round's files into a folder, or only say which would be.

    folder: new, empty, or one that a push to the same tool wrote.
    """
    if bridge.write is None:
        raise InputError(f"{bridge.name} is a format that crowdopt reads and does not write; push to another tool")
    check_own(folder, bridge.name)
    wanted = {MARK: json.dumps({"tool": bridge.name}) + "\n", **bridge.write(handed, folder)}
    changes = list(_differing(folder, wanted))
    for change in [] if dry_run else changes:
        write_text(folder / change.what, wanted[change.what])
    advice = bridge.advice if changes else ()
    return Changes(tuple(changes), str(folder), advice)


def check_own(folder: Path, tool: str) -> None:
    """Refuse a folder that a push to this tool did not write."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        check_target(folder, MARK, True)
        return
    mark = folder / MARK
    if not folder.is_dir() or not mark.is_file():
        raise InputError(f"{folder} holds something else; choose a new folder, or one that a push to {tool} wrote")
    known = parsed(read_text(mark), str(mark))
    other = known.get("tool") if isinstance(known, dict) else None
    if other != tool:
        raise InputError(f"{folder} is of a push to {other!r}; choose another folder for {tool}")


def _differing(folder: Path, wanted: Mapping[str, str]) -> list[Change]:
    changes = []
    for name, text in wanted.items():
        path = folder / name
        try:
            same = path.read_bytes() == text.encode("utf-8", errors="surrogatepass")
        except FileNotFoundError:
            changes.append(Change("new file", name))
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}; choose another folder") from None
        else:
            changes += [] if same else [Change("changed file", name)]
    return changes
