"""The verb init: a campaign to start from."""

from __future__ import annotations

from crowdopt.api.binding import AnyPath
from crowdopt.io.campaign.panel import write_panel
from crowdopt.io.campaign.sample import write_sample


def init(folder: AnyPath, *, panel: bool = False, force: bool = False) -> None:
    """Write a small campaign, with comments, to start from.

    Parameters
    ----------
    folder : path
    panel : bool
        Whether to write a panel of language-model judges of three families rather than the photographs.
    force : bool
        Whether a campaign that is there may be replaced.

    Raises
    ------
    InputError
        If the folder exists and is not forced, or cannot be written.
    """
    (write_panel if panel else write_sample)(folder, force)
