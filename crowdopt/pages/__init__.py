"""Tables and charts for readers: renders, computes nothing.

A kind of page is one file that ends in ``KIND``: the file that tells its folders, and how to draw them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdopt.core.registry import discover
from crowdopt.documents import Keys, from_disk, read_json
from crowdopt.errors import InputError
from crowdopt.files import write_text

if TYPE_CHECKING:
    from crowdopt.pages.page import Page

NAME = "report.html"


@dataclass(frozen=True)
class Kind:
    """A kind of folder that has a page."""

    name: str  # what such a folder holds
    mark: str  # the file that tells it
    # the JSON file that holds everything that is shown; None where that is in tables, so that it has to be given
    summary: str | None
    page: Callable[[dict[str, Any]], Page]  # ``page(facts) -> Page``


def kind_of(folder: Path) -> Kind:
    """The kind of a folder."""
    kinds: list[Kind] = discover(sys.modules[__name__], "KIND")
    found = next((kind for kind in kinds if (folder / kind.mark).is_file()), None)
    if found is None:
        if (folder / "draw.json").is_file():
            raise InputError(
                f"{folder}: the expert's answers are not in yet; crowdopt audit ANSWERS --checked takes them"
            )
        known = ", ".join(f"{kind.name} ({kind.mark})" for kind in kinds)
        raise InputError(f"{folder} holds nothing that a page can be made of; there are pages of: {known}")
    return found


def write_page(folder: Path, facts: dict[str, Any] | None = None, kind: Kind | None = None) -> Path:
    """Write ``report.html``, whole or not at all.

    facts: what is shown; default: the folder's summary; kind: default: what the folder's mark says it is.
    """
    from crowdopt.pages.page import html

    kind = kind or kind_of(folder)
    if facts is None:
        assert kind.summary is not None, f"what is shown of {kind.name} has to be given"
        facts = read_json(folder / kind.summary, Keys(open=True))
    with from_disk(folder):
        text = html(kind.page(facts))
    write_text(folder / NAME, text)
    return folder / NAME
