"""The verb report: one HTML page of a folder that another verb wrote."""

from __future__ import annotations

from pathlib import Path

from crowdopt.api.binding import AnyPath


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
    from crowdopt.report import kind_of, write_page

    if kind_of(Path(folder)).mark == MARK:
        summarise(Path(folder))
    return write_page(Path(folder))
