"""Files: a whole one or none, whatever else writes there."""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import pytest

from crowdopt import InputError
from crowdopt.files import draft, together, write_text
from crowdopt.io.folders import new_folder


def test_a_failed_write_leaves_what_was_there(tmp_path):
    """An error in the middle, or a full disk, leaves the old file and nothing beside it."""
    path = tmp_path / "a.txt"
    write_text(path, "old")
    for error, said in ((RuntimeError(), RuntimeError), (OSError(28, "No space left on device"), InputError)):
        with pytest.raises(said), draft(path) as file:
            file.write(b"half")
            raise error
        assert file.closed and path.read_text(encoding="utf-8") == "old" and os.listdir(tmp_path) == ["a.txt"]


def test_of_many_writers_one_wins(tmp_path):
    """Eight at once: one whole file, seven sentences."""
    path, said, gate = tmp_path / "a.txt", [], threading.Barrier(8)

    def write(k: int) -> None:
        try:
            with draft(path, replace=False) as file:
                file.write(str(k).encode() * 1000)
                gate.wait()
        except InputError as error:
            said.append(str(error))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(8)))
    whole = path.read_text(encoding="utf-8")
    assert len(said) == 7 and len(set(whole)) == 1 and len(whole) == 1000
    assert os.listdir(tmp_path) == ["a.txt"] and "written by another command meanwhile" in said[0]


def test_a_planted_link_is_not_followed(tmp_path, monkeypatch):
    """Even where the temporary name is guessed: the write fails, the victim stays as it is."""
    victim = tmp_path / "victim"
    victim.write_text("precious", encoding="utf-8")
    monkeypatch.setattr("crowdopt.files.secrets.token_hex", lambda size: "guess")
    (tmp_path / ".a.txt.guess.partial").symlink_to(victim)
    with pytest.raises(InputError, match="cannot be written"):
        write_text(tmp_path / "a.txt", "mine")
    assert victim.read_text(encoding="utf-8") == "precious" and not (tmp_path / "a.txt").exists()


def test_without_hard_links_the_name_is_claimed_first(tmp_path, monkeypatch):
    """Some file systems have none; the second writer is told all the same."""
    monkeypatch.setattr("crowdopt.files.os.link", Mock(side_effect=PermissionError(1, "Operation not permitted")))
    write_text(tmp_path / "a.txt", "first", replace=False)
    with pytest.raises(InputError, match="another command"):
        write_text(tmp_path / "a.txt", "second", replace=False)
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "first" and os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.skipif(sys.getfilesystemencoding() != "utf-8", reason="this locale has no ä in the name of a file")
def test_a_long_name_leaves_room_for_the_temporary_one(tmp_path):
    """255 bytes are a name; one more is a sentence."""
    write_text(tmp_path / ("ä" * 125 + ".txt"), "x")
    with pytest.raises(InputError, match="name too long"):
        write_text(tmp_path / ("x" * 256), "x")
    assert len(os.listdir(tmp_path)) == 1


def test_files_written_together_are_all_there_or_none(tmp_path):
    """The third cannot have its name: the first is taken back, what the second would replace stands as it was."""
    first, second, third = (tmp_path / name for name in "abc")
    second.write_text("old", encoding="utf-8")
    with pytest.raises(InputError, match="written by another command meanwhile"), together():
        write_text(second, "new")
        write_text(first, "1", replace=False)
        write_text(third, "3", replace=False)
        third.write_text("somebody else's", encoding="utf-8")
    assert sorted(os.listdir(tmp_path)) == ["b", "c"] and second.read_text(encoding="utf-8") == "old"
    with together():
        write_text(first, "1", replace=False)
        write_text(second, "new")
        assert not first.exists() and second.read_text(encoding="utf-8") == "old"
    assert [path.read_text(encoding="utf-8") for path in (first, second)] == ["1", "new"]


def test_one_file_is_not_written_twice_together(tmp_path):
    """The second table in the place of the first would be a table lost. Files of a new folder do not wait."""
    with pytest.raises(InputError, match="written twice"), together():
        write_text(tmp_path / "a", "1")
        write_text(tmp_path / "a", "2")
    assert os.listdir(tmp_path) == []
    with together(), new_folder(tmp_path / "new", "mark") as new:
        write_text(new / "mark", "1")
    assert os.listdir(tmp_path / "new") == ["mark"]
