"""Sizes that no machine holds: a sentence before anything is allocated."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from crowdopt import InputError, recipe
from crowdopt.cli import main
from crowdopt.labelers.arrivals import drawn_labelers
from crowdopt.memory import machine_memory, refuse_beyond_memory


def test_the_limit_is_the_machines(monkeypatch):
    """What fits is let through, what does not is refused with both sizes in it."""
    monkeypatch.setattr("crowdopt.memory.machine_memory", lambda: 8e9)
    refuse_beyond_memory(1e9, "a table")
    with pytest.raises(InputError, match=r"a table would take 16 GB of memory, and this machine has 8; ask for less"):
        refuse_beyond_memory(2e9, "a table")
    assert machine_memory() > 1e6


def test_a_crowd_beyond_memory_is_refused(monkeypatch):
    """The options accept it; allocating it would end the process."""
    monkeypatch.setattr("crowdopt.memory.machine_memory", lambda: 16e9)
    for name in ("R10:999999999x999999999", "T9999:9x999999999"):
        with pytest.raises(InputError, match="GB of memory"):
            recipe(name)
    with pytest.raises(InputError, match="GB of memory"):
        drawn_labelers(10**15, (0,))


def test_no_verb_tries_what_no_memory_holds(tmp_path, monkeypatch):
    """Exit 2, one line, nothing left."""
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(main, ["generate", "HS:6x60", "-o", "c"]).exit_code == 0
    for words in ("learn --draw 3 --policies ls-ol", "compare c --policies greedy"):
        result = CliRunner().invoke(main, [*words.split(), "--trials", "9999999999999", "-o", "new"])
        assert result.exit_code == 2 and "GB of memory" in result.stderr and result.stderr.count("\n") == 1
        assert [path.name for path in tmp_path.iterdir()] == ["c"]
