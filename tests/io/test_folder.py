"""Writing: a whole result or none."""

from __future__ import annotations

import os

import pytest

from crowdopt import InputError
from crowdopt.files import write_text
from crowdopt.io.tables.folder import PLAN, new_folder


def test_a_failed_write_leaves_nothing(tmp_path):
    """An error in the middle leaves neither the target nor a temporary folder."""
    with pytest.raises(RuntimeError), new_folder(tmp_path / "out", PLAN) as new:
        (new / "half.csv").write_text("half", encoding="utf-8")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_is_kept_unless_forced(tmp_path):
    """What is there may be another's work; forced, it is replaced as a whole."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / PLAN).write_text("old", encoding="utf-8")
    with (
        pytest.raises(InputError, match="already exists; choose another name or pass --force"),
        new_folder(tmp_path / "out", PLAN),
    ):
        pass
    with pytest.raises(RuntimeError), new_folder(tmp_path / "out", PLAN, force=True):
        raise RuntimeError
    assert [path.name for path in (tmp_path / "out").iterdir()] == [PLAN]
    with new_folder(tmp_path / "out", PLAN, force=True) as new:
        (new / "fresh").write_text("fresh", encoding="utf-8")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["fresh"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_place_that_cannot_be_written(tmp_path):
    """Said before any work is done: a file in the way, or no permission."""
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="is not a folder"), new_folder(tmp_path / "file" / "out", PLAN):
        pass
    if os.geteuid() != 0:
        (tmp_path / "closed").mkdir(mode=0o500)
        with pytest.raises(InputError, match="no permission"), new_folder(tmp_path / "closed" / "out", PLAN):
            pass


def test_parents_are_made(tmp_path):
    """-o results/today/plan works in a fresh place."""
    with new_folder(tmp_path / "a" / "b", PLAN) as new:
        write_text(new / "x.txt", "x\n")
    assert (tmp_path / "a" / "b" / "x.txt").read_bytes() == b"x\n"


@pytest.mark.parametrize("there", ["a file", "somebody's folder", "a campaign"])
def test_only_a_plan_is_replaced_by_a_plan(tmp_path, there):
    """--force is for last week's plan: never for the label file, the campaign or whatever else has that name."""
    path = tmp_path / "out"
    if there == "a file":
        path.write_text("precious", encoding="utf-8")
    else:
        path.mkdir()
        (path / ("campaign.toml" if there == "a campaign" else "precious")).write_text("precious", encoding="utf-8")
    with pytest.raises(InputError, match="is not replaced, because it is not"), new_folder(path, PLAN, force=True):
        pass
    kept = path if path.is_file() else next(path.iterdir())
    assert kept.read_text(encoding="utf-8") == "precious" and len(list(tmp_path.iterdir())) == 1


def test_a_link_is_followed(tmp_path):
    """What a link points to is replaced, the link stays, and nothing is left beside it."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with new_folder(tmp_path / "link", PLAN, force=True) as new:
        (new / PLAN).write_text("new", encoding="utf-8")
    assert (tmp_path / "real" / PLAN).read_text(encoding="utf-8") == "new" and (tmp_path / "link").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real"]
