"""A published figure: what makes it, where it stands, the code it rests on, and what is known of when it was made."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.meaning import digest, used

ROOT = Path(__file__).parent.parent
LIST, STATES = ROOT / "benchmarks" / "figures.toml", ROOT / "benchmarks" / "states.json"
FRESH, STALE, UNKNOWN = "fresh", "stale", "no record"


@dataclass(frozen=True)
class Figure:
    """A table or picture: its commands, where it stands, the rooms of crowdopt that its figures rest on.

    ``{code}`` in a command or a picture's path is the hash of the code, so that what an older state left in build/ is
    not taken for new. Pictures that a command writes beside its results are copied to where pages show them.
    """

    name: str
    commands: tuple[str, ...]
    stands: tuple[str, ...]
    rooms: tuple[str, ...]
    pictures: dict[str, str] = field(default_factory=dict)

    @property
    def scripts(self) -> list[Path]:
        """The files in benchmarks/ that its commands run."""
        words = [word for command in self.commands for word in command.split()]
        files = [ROOT / word for word in words if word.endswith(".py")]
        modules = [ROOT / f"{word.replace('.', '/')}.py" for word in words if word.startswith("benchmarks.")]
        return list(dict.fromkeys([*files, *modules]))

    @property
    def files(self) -> list[Path]:
        """All code that it rests on: its scripts with what they share, and every module of its rooms."""
        places = [place for room in self.rooms for place in (ROOT / "crowdopt").glob(room)]
        found = {path for place in places for path in (place.rglob("*.py") if place.is_dir() else [place])}
        return [*used(self.scripts, ROOT), *sorted(found)]

    @property
    def pages(self) -> list[Path]:
        """The pages that show it."""
        return sorted({ROOT / place.partition("#")[0] for place in self.stands})

    def digest(self) -> str:
        """A hash of what that code means."""
        return digest(self.files, ROOT)


def figures() -> dict[str, Figure]:
    """All of them, by name."""
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))
    return {
        name: Figure(
            name, *(tuple(entry[key]) for key in ("commands", "stands", "rooms")), pictures=entry.get("pictures", {})
        )
        for name, entry in listed.items()
    }


def states() -> dict[str, dict[str, Any]]:
    """What is known of when each was made."""
    known: dict[str, dict[str, Any]] = json.loads(STATES.read_text(encoding="utf-8")) if STATES.exists() else {}
    return known


def state_of(figure: Figure, known: dict[str, dict[str, Any]]) -> str:
    """Fresh, stale or no record."""
    if figure.name not in known:
        return UNKNOWN
    return FRESH if known[figure.name]["code"] == figure.digest() else STALE


def text_of(content: Any) -> str:
    """How states.json is written."""
    return json.dumps(content, indent=2, sort_keys=True) + "\n"
