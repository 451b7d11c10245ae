"""Adding a policy is one file: it is found, takes options, and is held to what every policy is held to."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from crowdopt.errors import InputError
from crowdopt.online.policy import named, policies
from tests.online import example_policy
from tests.online.streams import scrambled, start, stream

EXAMPLE = Path(example_policy.__file__)
RUN = """
from crowdopt.online.policy import named, policies
assert "picky" in policies() and named("picky:least=.4").least == .4
import crowdopt
line = crowdopt.compare(crowdopt.recipe("HS:90x60"), ["picky:least=.1"], trials=2).summary[0]
assert line["policy"] == "picky:least=.1" and line["ratio_bound"] >= 1
print("found")
"""


def test_the_example_is_found_as_an_entry_point(tmp_path):
    """Installed by somebody else, it takes part in a comparison without a line of ours."""
    (tmp_path / "picky.py").write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    info = tmp_path / "picky-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: picky\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[crowdopt.online.policies]\npicky = picky:POLICY\n", encoding="utf-8")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{RUN}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "found\n", done.stderr


def test_the_example_is_causal(monkeypatch):
    """The tests of every policy hold for it too."""
    monkeypatch.setitem(policies(), "picky", example_policy.POLICY)
    of = stream()
    one, other = start("picky", of).advance(9), start("picky", scrambled(of, 9)).advance(9)
    np.testing.assert_array_equal(one.ledger.arrays()["ledger.tasks"], other.ledger.arrays()["ledger.tasks"])


def test_options_are_read_and_refused_in_a_sentence():
    """What is written is what runs; a typing error is told what there is."""
    policy = named("main-algorithm:gamma=.5:gold=7:stop:ties=least-covered")
    assert (policy.gamma, policy.gold, policy.stop, policy.ties) == (0.5, 7, True, "least-covered")
    for text, said in {
        "re-slove": "the policies are",
        "re-solve:evry=3": "its options are",
        "re-solve:every=soon": "must be a whole number",
        "re-solve:every": "needs a value",
        "greedy:stop=maybe": "yes or no",
        "greedy:ties=best": "one of",
        "sampled-lp:gamma=2": "gamma",
        "kos:inference=guess": "one of",
        "greedy:ties=rotating": "stop=no",
        "main-algorithm:gold=0": "gold",
    }.items():
        with pytest.raises(InputError, match=said):
            named(text)
