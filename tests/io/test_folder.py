"""Writing: a whole result or none."""

from __future__ import annotations

import os

import pytest

from crowdopt import InputError
from crowdopt.io.folder import new_folder, write_text


def test_a_failed_write_leaves_nothing(tmp_path):
    """An error in the middle leaves neither the target nor a temporary folder."""
    with pytest.raises(RuntimeError), new_folder(tmp_path / "out") as new:
        (new / "half.csv").write_text("half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_is_kept_unless_forced(tmp_path):
    """What is there may be somebody's work; forced, it is replaced as a whole."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").write_text("old")
    with (
        pytest.raises(InputError, match="already exists; choose another name or pass --force"),
        new_folder(tmp_path / "out"),
    ):
        pass
    with pytest.raises(RuntimeError), new_folder(tmp_path / "out", force=True):
        raise RuntimeError
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["old"]
    with new_folder(tmp_path / "out", force=True) as new:
        (new / "fresh").write_text("fresh")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["fresh"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_place_that_cannot_be_written(tmp_path):
    """Said before any work is done: a file in the way, or no permission."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is not a folder"), new_folder(tmp_path / "file" / "out"):
        pass
    if os.geteuid() != 0:
        (tmp_path / "closed").mkdir(mode=0o500)
        with pytest.raises(InputError, match="no permission"), new_folder(tmp_path / "closed" / "out"):
            pass


def test_parents_are_made(tmp_path):
    """-o results/today/plan works in a fresh place."""
    with new_folder(tmp_path / "a" / "b") as new:
        write_text(new / "x.txt", "x\n")
    assert (tmp_path / "a" / "b" / "x.txt").read_bytes() == b"x\n"
