"""What `python -m benchmarks.sequential` is asked for is looked at before anything runs."""

from __future__ import annotations

import sys

import pytest

from benchmarks import sequential


@pytest.mark.parametrize(
    ("option", "given", "why"),
    [
        ("--settings", "uniform,foo", "there is no crowd 'foo'"),
        ("--policies", "sequential,bar", "unknown policy 'bar'"),
        ("--epsilons", ".1,x", "give targets parted by commas"),
        ("--epsilons", "1.5", "targets lie between 0 and 1"),
    ],
)
def test_what_it_does_not_know_is_one_sentence(option, given, why, monkeypatch, capsys):
    """Exit status 2, and no table has begun."""
    monkeypatch.setattr(sys, "argv", ["sequential", option, given])
    with pytest.raises(SystemExit) as ended:
        sequential.main()
    said = capsys.readouterr()
    assert ended.value.code == 2 and why in said.err and not said.out
