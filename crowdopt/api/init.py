"""The verb init: a campaign to start from."""

from __future__ import annotations

from crowdopt.api.binding import AnyPath
from crowdopt.io.sample import write_sample


def init(folder: AnyPath, *, force: bool = False) -> None:
    """Write a small campaign, with comments, to start from.

    Parameters
    ----------
    folder : path
    force : bool
        Whether a campaign that is there may be replaced.

    Raises
    ------
    InputError
        If the folder exists and is not forced, or cannot be written.
    """
    write_sample(folder, force)
