"""The verb generate: a synthetic campaign by its recipe."""

from __future__ import annotations

from crowdopt.api.binding import AnyPath
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.recipes import recipe
from crowdopt.io.campaign_writing import write_campaign


def generate(
    name: str, seed: int = 0, *, priced: bool = False, output: AnyPath | None = None, force: bool = False
) -> AssignmentInstance:
    """Draw a synthetic instance: HS, U, K<types>, R1, R10, T<types>, B5 or L3, as KIND:TASKSxWORKERS.

    Parameters
    ----------
    name : str
        Such as ``R10:1000x300``.
    seed : int
        Of the draw.
    priced : bool
        Whether each worker has a price of 1 to 5.
    output : path, optional
        Campaign folder, or .npz file, to write.
    force : bool
        Whether what is there may be replaced.

    Returns
    -------
    AssignmentInstance

    Raises
    ------
    InputError
        If there is no such recipe, or the target cannot be written.
    """
    instance = recipe(name, seed, priced=priced)
    if output is not None:
        write_campaign(instance, output, force=force)
    return instance
