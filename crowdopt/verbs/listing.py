"""The verb list: what methods, policies, backends and formats there are, and their options."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from typing import Annotated, Any, Literal, TypeAlias, get_args

from crowdopt.core.registry import options_of
from crowdopt.errors import public
from crowdopt.notebooks import InFrames
from crowdopt.said import Said, Verb, Word

What: TypeAlias = Literal["methods", "policies", "backends", "formats", "programs"]


@dataclass(frozen=True, eq=False)
class Listing(InFrames):
    """Names, what each is, and its options with their defaults."""

    rows: list[dict[str, Any]]

    def notebook_rows(self, most: int) -> tuple[list[dict[str, Any]], int]:
        """All of them."""
        return self.rows[:most], len(self.rows)


@public
def list_of(what: Annotated[What, Word(place="WHAT")]) -> Listing:
    """List what there is of a kind, with its options: methods of solve, policies of compare, learn and live, and so on.

    Parameters
    ----------
    what : str
        ``methods``, ``policies``, ``backends``, ``formats`` or ``programs``.

    Returns
    -------
    Listing

    Raises
    ------
    InputError
        If there is no such kind.

    Reads
    -----
    nothing

    Writes
    ------
    nothing

    Examples
    --------
    ::

        crowdopt list policies
    """
    return Listing(_LISTS[what]())


def _methods() -> list[dict[str, Any]]:
    from crowdopt.verbs.methods import METHODS

    return [_row(name, kind) for name, kind in METHODS.items()]


def _policies() -> list[dict[str, Any]]:
    from crowdopt.labelers.policies import policies as asking
    from crowdopt.online.policies import policies as online

    rows = [{**_row(name, kind), "of": "compare, live"} for name, kind in online().items()]
    return rows + [{**_row(name, kind), "of": "learn, live"} for name, kind in asking().items()]


def _backends() -> list[dict[str, Any]]:
    from crowdopt.solvers import registered

    return [{"name": name, "what": one.library, "options": {}} for name, one in registered().items()]


def _formats() -> list[dict[str, Any]]:
    from crowdopt.io.bridges import bridges

    return [{"name": name, "what": bridge.what, "options": {}} for name, bridge in bridges().items()]


def _programs() -> list[dict[str, Any]]:
    from crowdopt.verbs.export import EXPORTS

    return [_row(name, kind) for name, kind in EXPORTS.items()]


def _row(name: str, kind: type[Any]) -> dict[str, Any]:
    """A registered dataclass: its fields are its options."""
    options = {name: None if one.default is MISSING else one.default for name, one in options_of(kind).items()}
    return {"name": name, "what": getattr(kind, "what", ""), "options": options}


_LISTS = dict(zip(get_args(What), (_methods, _policies, _backends, _formats, _programs), strict=True))


def _said(found: Listing) -> Said:
    lines = []
    for row in found.rows:
        lines.append(f"{row['name']}: {row['what']}")
        lines += [f"    {', '.join(f'{key}={value}' for key, value in row['options'].items())}"] * bool(row["options"])
    return Said({"rows": found.rows}, lines)


VERBS = (Verb("list", list_of, _said),)
