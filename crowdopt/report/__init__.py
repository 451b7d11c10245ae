"""Tables and charts for readers: renders, computes nothing.

A kind of page is one file that ends in ``KIND``: the file that tells its folders, and how to draw them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdopt.core.registry import discover
from crowdopt.errors import InputError
from crowdopt.files import write_text

if TYPE_CHECKING:
    from crowdopt.report.page import Page

NAME = "report.html"


@dataclass(frozen=True)
class Kind:
    """A kind of folder that has a page.

    Parameters
    ----------
    name : str
        What such a folder holds.
    mark : str
        The file that tells it.
    summary : str
        The JSON file that holds everything that is shown.
    page : callable
        ``page(summary) -> Page``.
    """

    name: str
    mark: str
    summary: str
    page: Callable[[dict[str, Any]], Page]


def kind_of(folder: Path) -> Kind:
    """The kind of a folder.

    Raises
    ------
    InputError
        If it is none that has a page.
    """
    kinds: list[Kind] = discover(sys.modules[__name__], "KIND")
    found = next((kind for kind in kinds if (folder / kind.mark).is_file()), None)
    if found is None:
        known = ", ".join(f"{kind.name} ({kind.mark})" for kind in kinds)
        raise InputError(f"{folder} holds nothing that a page can be made of; there are pages of: {known}")
    return found


def write_page(folder: Path) -> Path:
    """Write ``report.html`` from the folder's summary, whole or not at all; returns its path.

    Raises
    ------
    InputError
        If the folder is of no known kind, its summary is missing, or the extra ``plots`` is.
    """
    from crowdopt.report.page import html

    kind = kind_of(folder)
    try:
        summary = json.loads((folder / kind.summary).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{folder / kind.summary} cannot be read: {error}") from None
    write_text(folder / NAME, html(kind.page(summary)))
    return folder / NAME
