"""The verb init: a campaign to start from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crowdopt.errors import public
from crowdopt.io.samples import write_panel, write_sample


@public
def init(folder: str | Path, *, panel: bool = False, classes: Sequence[str] = (), force: bool = False) -> None:
    """Write a small campaign, with comments, to start from.

    Parameters
    ----------
    folder : path
    panel : bool
        Whether to write a panel of language-model judges of three families rather than the photographs.
    classes : sequence of str
        What a label can say, such as ``cat``, ``dog``; default: ``yes``, ``no``, or for a panel ``pass``, ``fail``.
    force : bool
        Whether a campaign that is there may be replaced.

    Raises
    ------
    InputError
        If the folder exists and is not forced, cannot be written, or the classes are not at least two, each once.
    """
    (write_panel if panel else write_sample)(folder, force, classes)
