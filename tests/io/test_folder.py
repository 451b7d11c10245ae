"""Writing: a whole result or none."""

from __future__ import annotations

import os

import pytest

from crowdopt import InputError
from crowdopt.io.folders import PLAN, new_folder


def test_a_folder_is_there_whole_or_not_at_all(tmp_path):
    """An error in the middle leaves neither the target nor a temporary folder; parents are made."""
    out = tmp_path / "today" / "out"
    with pytest.raises(RuntimeError), new_folder(out, PLAN) as new:
        (new / "half.csv").write_text("half", encoding="utf-8")
        raise RuntimeError
    assert [path for path in tmp_path.rglob("*") if path.name != "today"] == []
    with new_folder(out, PLAN) as new:
        (new / PLAN).write_text("old", encoding="utf-8")
    with pytest.raises(InputError, match="already exists; choose another name or pass --force"), new_folder(out, PLAN):
        pass
    with pytest.raises(RuntimeError), new_folder(out, PLAN, force=True):
        raise RuntimeError
    assert [path.name for path in out.iterdir()] == [PLAN]
    with new_folder(out, PLAN, force=True) as new:
        (new / "fresh").write_text("fresh", encoding="utf-8")
    assert [path.name for path in out.iterdir()] == ["fresh"]
    assert [path.name for path in out.parent.iterdir()] == ["out"]


def test_a_place_that_cannot_be_written(tmp_path):
    """Said before any work is done: a file in the way, or no permission."""
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="is not a folder"), new_folder(tmp_path / "file" / "out", PLAN):
        pass
    if os.geteuid() != 0:
        (tmp_path / "closed").mkdir(mode=0o500)
        with pytest.raises(InputError, match="no permission"), new_folder(tmp_path / "closed" / "out", PLAN):
            pass


@pytest.mark.parametrize("there", ["out", "out/precious", "out/campaign.toml"])
def test_only_a_plan_is_replaced_by_a_plan(tmp_path, there):
    """--force is for last week's plan: never for the label file, the campaign or whatever else has that name."""
    (tmp_path / there).parent.mkdir(exist_ok=True)
    (tmp_path / there).write_text("precious", encoding="utf-8")
    refused = pytest.raises(InputError, match="is not replaced, because it is not")
    with refused, new_folder(tmp_path / "out", PLAN, force=True):
        pass
    assert (tmp_path / there).read_text(encoding="utf-8") == "precious" and len(list(tmp_path.iterdir())) == 1


def test_a_link_is_followed(tmp_path):
    """What a link points to is replaced, the link stays, and nothing is left beside it."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with new_folder(tmp_path / "link", PLAN, force=True) as new:
        (new / PLAN).write_text("new", encoding="utf-8")
    assert (tmp_path / "real" / PLAN).read_text(encoding="utf-8") == "new" and (tmp_path / "link").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real"]
