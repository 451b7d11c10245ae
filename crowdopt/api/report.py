"""The verb report: one HTML page of a folder that another verb wrote."""

from __future__ import annotations

from pathlib import Path

from crowdopt.api.binding import AnyPath
from crowdopt.documents import from_disk
from crowdopt.errors import public
from crowdopt.io.folders import PLAN
from crowdopt.io.policy import plan_overview
from crowdopt.report import kind_of, write_page


@public
def report(folder: AnyPath) -> Path:
    """Write the page of a plan, a comparison, a study of learn or a benchmark; a benchmark's anew from its raw rows.

    Parameters
    ----------
    folder : path

    Returns
    -------
    Path
        Of the page, report.html in the folder.

    Raises
    ------
    InputError
        If the folder is of no kind that has a page, something in it cannot be read, or the extra ``plots`` is missing.
    """
    from crowdopt.bench.run import MARK, summarise

    place = Path(folder)
    facts = {MARK: summarise, PLAN: plan_overview}.get(kind_of(place).mark)
    with from_disk(place):
        return write_page(place, None if facts is None else facts(place))
