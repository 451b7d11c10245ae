"""Adding a policy is one file: it is found, takes options, and is held to what every policy is held to."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from crowdopt.core.registry import completed
from crowdopt.errors import InputError
from crowdopt.online.policies import named, policies
from crowdopt.online.policy import BasePolicy
from tests.online import example_policy, five_methods
from tests.online.streams import scrambled, start, stream

EXAMPLES = {"picky": example_policy, "evenly": five_methods}
RUN = """
from crowdopt.online.policies import named, policies
assert {"picky", "evenly"} <= set(policies()) and named("picky:least=.4").least == .4
import crowdopt
wanted = ["picky:least=.1", "evenly"]
picky, evenly = crowdopt.compare(crowdopt.recipe("HS:40x60"), wanted, trials=1, time_limit=5).summary[:2]
assert picky["policy"] == "picky:least=.1" and picky["ratio_bound"] >= 1
assert evenly["labels"] == evenly["labels_work"] > 0 and evenly["error_realised"] < .5
print("found")
"""


def test_the_examples_are_found_as_entry_points(tmp_path):
    """From another package, they take part in a comparison without a line of ours; five methods are enough."""
    for name, example in EXAMPLES.items():
        (tmp_path / f"{name}.py").write_text(Path(example.__file__).read_text(encoding="utf-8"), encoding="utf-8")
    info = tmp_path / "picky-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: picky\nVersion: 1.0\n", encoding="utf-8")
    points = "".join(f"{name} = {name}:POLICY\n" for name in EXAMPLES)
    (info / "entry_points.txt").write_text(f"[crowdopt.online.policies]\n{points}", encoding="utf-8")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{RUN}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "found\n", done.stderr


def test_five_methods_get_the_defaults_for_the_rest():
    """What a policy does not say has a default, what it says stays, and a class that inherits is left as it is."""
    evenly = completed(five_methods.POLICY, BasePolicy)
    assert evenly.start is five_methods.POLICY.start and evenly.name == "evenly"
    assert evenly().answers() == "majority" and evenly().skills() is None and not evenly().shows_skill
    told = completed(type("Told", (five_methods.POLICY,), {"shows_skill": True}), BasePolicy)
    assert told().shows_skill is True
    assert completed(example_policy.POLICY, BasePolicy) is example_policy.POLICY


def test_the_example_is_causal(monkeypatch):
    """The tests of every policy hold for it too."""
    monkeypatch.setitem(policies(), "picky", example_policy.POLICY)
    of = stream()
    one, other = start("picky", of).advance(9), start("picky", scrambled(of, 9)).advance(9)
    np.testing.assert_array_equal(one.ledger.arrays()["task"], other.ledger.arrays()["task"])


def test_options_are_read_and_refused_in_a_sentence():
    """What is written is what runs; a typing error is told what there is."""
    policy = named("main-algorithm:gamma=.5:gold=7:stop:ties=least-covered")
    assert (policy.gamma, policy.gold, policy.stop, policy.ties) == (0.5, 7, True, "least-covered")
    for text, said in {
        "re-slove": "there are",
        "re-solve:evry=3": "its options are",
        "re-solve:every=soon": "must be a whole number",
        "re-solve:every": "needs a value",
        "greedy:stop=maybe": "yes or no",
        "greedy:ties=best": "one of",
        "sampled-lp:gamma=2": "gamma",
        "kos:inference=guess": "one of",
        "main-algorithm:gold=0": "gold",
    }.items():
        with pytest.raises(InputError, match=said):
            named(text)
