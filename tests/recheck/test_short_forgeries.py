"""Plans that leave tasks short, forged: no task is excused that is served, none left out, nothing proven."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from crowdopt import AssignmentInstance, InputError, assign, verify, write_campaign, write_plan
from tests.recheck.test_forgeries import Folder, Forgery

INSTANCE = AssignmentInstance(
    np.array([[0.9, 0.8, 0.85, 0.7]]), np.zeros(4, np.int64), np.full(4, 2), 0.1, rule="exact-error"
)
ALL = ["0", "1", "2", "3"]


def _unnamed(folder: Folder) -> Folder:
    del folder.claims["short"]
    return folder.says(status="feasible")


FORGERIES: dict[str, Forgery] = {
    "all are excused": lambda f: f.says(short=ALL).column("tasks", "short", "yes"),
    "none is named": lambda f: f.says(short=[]).column("tasks", "short", "no"),
    "it is no list": lambda f: f.says(short="1"),
    "a task that is not there": lambda f: f.says(short=[*f.claims["short"], "nowhere"]),
    "it is called feasible": _unnamed,
    "it is called optimal": lambda f: f.says(status="optimal", proven=True),
    "a bound of nothing": lambda f: f.says(bound=0.0, gap=1.0),
    "a solver's bound": lambda f: f.says(bound=f.claims["objective"], gap=0.0, proof="solver", proven=True),
    "a certified bound": lambda f: f.says(certified_bound=0.0),
    "another target": lambda f: f.column("tasks", "target", 0.3),
    "another column": lambda f: f.column("tasks", "short", ["no" if i in f.claims["short"] else "yes" for i in ALL]),
    "another error": lambda f: f.column("tasks", "vote_error", 0.001),
}


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign that cannot be served, and what is made of it, which holds."""
    place = tmp_path_factory.mktemp("short")
    plan = assign(INSTANCE, strict=False)
    assert 0 < len(plan.short) < INSTANCE.n_tasks
    write_campaign(INSTANCE, place / "campaign")
    write_plan(plan, place / "plan")
    report = verify(place / "campaign", place / "plan")
    assert report.holds and report.short == len(plan.short) and not report.proven
    return place


@pytest.mark.parametrize("name", FORGERIES)
def test_what_is_short_is_named_and_proves_nothing(name: str, honest: Path, tmp_path: Path) -> None:
    """Each of these folders is refused."""
    shutil.copytree(honest / "plan", tmp_path / "plan")
    try:
        report = verify(honest / "campaign", FORGERIES[name](Folder(tmp_path / "plan")).write())
    except InputError as error:
        assert "plan.json" in str(error) or "tasks.csv" in str(error)
        return
    assert not report.holds and not report.proven
