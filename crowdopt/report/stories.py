"""Two kinds of things that are tied, tasks and workers: the story of each is its figures, and what it is tied to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Stories:
    """What the page tells of any one of them when it is asked; the page's script writes it.

    Parameters
    ----------
    names : dict
        Kind -> name of each of that kind: the first kind's things are tied to the second's.
    columns : dict
        Kind -> key -> figure of each, or the figure of all of them.
    heads : dict
        Kind -> key -> heading.
    tied : sequence of sequence of int
        Of each of the first kind the things of the second kind, as places among their names.
    why : dict
        Kind -> sentence under the heading of its stories.
    hint : str
    """

    names: Mapping[str, Sequence[str]]
    columns: Mapping[str, Mapping[str, Sequence[float | None] | float]]
    heads: Mapping[str, Mapping[str, str]]
    tied: Sequence[Sequence[int]]
    why: Mapping[str, str]
    hint: str

    def html(self) -> str:
        """A field to ask in, a place for the answer, and what is known, as data."""
        known = {"kinds": list(self.names), **{name: value for name, value in vars(self).items() if name != "hint"}}
        text = json.dumps(known, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
        kinds = " or ".join(self.names)
        return (
            f"<p>{escape(self.hint)}</p>\n"
            f'<form id="ask"><label>Name of a {kinds} <input name="asked" autocomplete="off" list="known"></label>'
            ' <button>Show</button><datalist id="known"></datalist></form>\n'
            '<div id="story" aria-live="polite"></div>\n'
            f'<script type="application/json" id="stories">{text}</script>\n'
        )
