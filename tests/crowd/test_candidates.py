"""What a selection instance refuses, each in one sentence that names who, what and the remedy."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import InputError
from crowdopt.crowd.hiring.candidates import SelectionInstance

GOOD = {"correct": [8, 5, 9], "asked": 10, "workers": ["ada", "bo", "chen"]}
BAD = {
    "one question": ({"correct": [1, 5, 9], "asked": [1, 10, 10]}, r"worker ada was asked one .* ask more"),
    "more than asked": ({"correct": [8, 11, 9]}, r"worker bo has more correct .* \(11 of 10\)"),
    "negative": ({"correct": [8, -1, 9]}, "worker bo has a negative number"),
    "without gold": ({"asked": [10, 10, 0], "correct": [8, 5, 0]}, "worker chen has no control questions; ask some"),
    "too many": ({"asked": 20_000}, "worker ada was asked more than 10000"),
    "one class": ({"classes": 1}, "number of classes must be a whole number from 2"),
    "half a class": ({"classes": 2.5}, "number of classes must be a whole number from 2"),
    "nan": ({"correct": [8, np.nan, 9]}, "correct must be whole numbers; entry 1 is nan"),
    "a fraction": ({"correct": [8, 0.5, 9]}, "correct must be whole numbers"),
    "text": ({"correct": ["a", "b", "c"]}, "correct must be numbers"),
    "nobody": ({"correct": [], "workers": None}, "correct must be a list"),
    "a table": ({"correct": [[8, 5, 9]], "workers": None}, "correct must be a list"),
    "two of three": ({"asked": [10, 10]}, "asked has shape"),
    "no room": ({"most": 0}, "largest number of workers must be a whole number from 1"),
    "true": ({"most": True}, "largest number of workers"),
    "no price": ({"money": 3.0}, "no price; give each worker a price"),
    "a negative price": ({"price": [1, -1, 1]}, "price must be finite and at least 0; it is -1.0 for bo"),
    "endless money": ({"price": 1.0, "money": float("inf")}, "money must be finite"),
    "in and out": ({"required": [1], "barred": [1]}, "worker bo is both required and barred"),
    "too many required": ({"required": [0, 1], "most": 1}, "2 workers are required but at most 1"),
    "all barred": ({"barred": [0, 1, 2]}, "every worker is barred"),
    "an unknown worker": ({"required": [3]}, "required has the worker 3, but there are 3"),
    "groups out of reach": ({"group": [0, 0, 1], "fewest": [0, 2]}, "group 1 has 1 workers to hire and is to have 2"),
    "groups beyond K": ({"group": [0, 0, 1], "fewest": 1, "most": 1}, "groups ask for 2 workers together"),
    "fewest of nothing": ({"fewest": 2}, "needs groups; give each worker a group"),
    "negative fewest": ({"group": [0, 0, 1], "fewest": -1}, "must be at least 0"),
    "the same id": ({"workers": ["ada", "ada", "bo"]}, "'ada' twice"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_its_sentence(name: str) -> None:
    """Nothing is guessed: an estimate from one answer, or of none, would silently be infinite or zero."""
    change, sentence = BAD[name]
    with pytest.raises(InputError, match=sentence) as caught:
        SelectionInstance(**{**GOOD, **change})
    assert "\n" not in str(caught.value)


def test_what_was_given_cannot_be_changed() -> None:
    """Frozen in: neither the caller's arrays nor ours are shared and writable."""
    correct = np.array([8, 5, 9])
    instance = SelectionInstance(correct, 10)
    correct[0] = 0
    assert instance.correct[0] == 8
    with pytest.raises(ValueError, match="read-only"):
        instance.correct[0] = 1


def test_a_worker_may_have_her_own_number_of_questions() -> None:
    """Lemma 2 asks only that each estimate be unbiased; the gain is each worker's own."""
    instance = SelectionInstance([3, 6], [4, 8])
    assert instance.gain.tolist() == [(2 * 0.75 - 1) ** 2 - 4 * 3 / (16 * 3), (2 * 0.75 - 1) ** 2 - 4 * 12 / (64 * 7)]
