"""Instances: validated once, and then never again; recipes: a name and a seed mean one instance."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import AssignmentInstance, InputError, recipe
from crowdopt.crowd.law import Law

GOOD = {"accuracy": [[0.9, 0.8], [0.6, 0.7]], "task_type": [0, 1, 1], "capacity": [3, 2], "epsilon": 0.1}
LAW = Law.votes("x", np.ones(1), np.full((1, 2), 0.7))
BAD = {
    "NaN accuracy": ({"accuracy": [[0.9, float("nan")], [0.6, 0.7]]}, r"accuracy .*nan for worker 1, type 0"),
    "accuracy above 1": (
        {"accuracy": [[1.2, 0.8], [0.6, 1]], "workers": ["ada", "bo"], "types": ["bird", "x"]},
        r"accuracy must lie in \[0, 1\]; it is 1.2 for worker ada, type bird",
    ),
    "no workers": ({"accuracy": np.zeros((2, 0))}, "with entries"),
    "negative capacity": ({"capacity": [3, -1]}, "capacity must be at least 0; it is -1 for worker 1"),
    "epsilon 0": ({"epsilon": [0.1, 0.0, 0.1]}, r"epsilon must lie strictly .* 0 and 1/2 .*; it is 0.0 for task 1"),
    "unknown type": ({"task_type": [0, 2, 1]}, "task_type must be a row of accuracy; it is 2 for task 1"),
    "no tasks": ({"task_type": []}, "there must be a task"),
    "unknown rule": ({"rule": "chernoff"}, "unknown rule 'chernoff'; the rules are hoeffding, bhattacharyya"),
    "one class": ({"classes": 1}, "classes must be a whole number from 2 to 10000"),
    "negative price": ({"cost": [1.0, -1.0]}, "cost must be finite and at least 0; it is -1.0 for worker 1"),
    "unknown worker": ({"forbidden": [(0, 2)]}, r"the pair \(0, 2\), but there are 3 tasks and 2 workers"),
    "pair twice": ({"fixed": [(0, 1), (0, 1)]}, r"the pair \(0, 1\) twice"),
    "fixed and forbidden": ({"fixed": [(0, 1)], "forbidden": [(0, 1)]}, "both fixed and forbidden"),
    "fixed and collected": ({"fixed": [(0, 1)], "collected": [(0, 1)]}, "both fixed and collected"),
    "fixed beyond capacity": ({"fixed": [(0, 1), (1, 1), (2, 1)]}, "worker 1 has 3 fixed tasks but capacity 2"),
    "min above max": ({"min_labels": [2, 0, 0], "max_labels": [1, 1, 1]}, "task 0 has 2 as min_labels"),
    "min load above capacity": ({"min_load": [0, 3]}, "worker 1 has 3 as min_tasks but capacity 2"),
    "negative budget": ({"budget": -1.0}, "budget must be finite and at least 0"),
    "ids twice": ({"tasks": ["a", "b", "a"]}, "tasks has the id 'a' twice"),
    "negative demand": ({"demand": -1.0}, "demand must be finite"),
    "lemma 1 among three classes": ({"rule": "hoeffding", "classes": 3}, "for 2 classes, not 3: .*use rule"),
    "a prior that is no chance": ({"prior": [0.7, 0.4]}, "prior"),
    "an impossible class": ({"prior": [1.0, 0.0]}, "prior"),
    "a prior of three": ({"prior": [0.5, 0.3, 0.2]}, "prior"),
    "nobody looks": ({"rule": "hoeffding", "observed": True}, "takes no notice"),
    "a law among three classes": ({"vote_law": LAW, "classes": 3}, "two classes"),
    "a law of one worker": ({"vote_law": Law.votes("x", np.ones(1), np.full((1, 1), 0.7))}, "law of votes of 1"),
    "a law and labels seen": ({"vote_law": LAW, "observed": True}, "observed"),
}


@pytest.mark.parametrize(("change", "sentence"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_one_sentence(change, sentence):
    """What, where, remedy: never a traceback from deep inside, never a wrong answer."""
    with pytest.raises(InputError, match=sentence):
        AssignmentInstance(**{**GOOD, **change})


def test_instances_are_frozen():
    """Arrays handed out cannot be changed, and what was handed in is copied."""
    accuracy = np.array(GOOD["accuracy"])
    instance = AssignmentInstance(**{**GOOD, "accuracy": accuracy})
    accuracy[0, 0] = 0.1
    assert instance.accuracy[0, 0] == 0.9
    with pytest.raises(ValueError, match="read-only"):
        instance.accuracy[0, 0] = 0.1
    with pytest.raises(AttributeError):
        instance.rule = "hoeffding"


def test_the_papers_crowds():
    """Ho et al. 2013, Section 6: 1000 tasks, 300 workers, capacity 200, epsilon .1; another name is refused."""
    hammers = recipe("HS:1000x300")
    assert sorted(set(hammers.accuracy[0])) == [0.5, 0.7] and (hammers.accuracy == 0.7).sum() == 150
    assert (hammers.capacity == 200).all() and (hammers.epsilon == 0.1).all()
    assert (recipe("U:1000x300").accuracy == 0.6414).all()
    assert (recipe("K3:1000x300").accuracy == 0.7).sum(axis=0).tolist() == [1] * 300
    for name in ("HS", "HS:10", "HS:0x5", "X:10x10", "K:10x10", "HS:10x10x10", "", "T0:9x9"):
        with pytest.raises(InputError, match="KIND:TASKSxWORKERS"):
            recipe(name)


def test_items_have_features():
    """I<k>: a row per task and always prices, the draws in the stated order, so that a name means one instance."""
    rng = np.random.default_rng(0)
    skill, difficulty = rng.normal(1.2, 0.6, 20), np.minimum(rng.normal(0.0, 0.8, 50), 1.5)
    loading = rng.normal(0.0, 0.3 / np.sqrt(2), (2, 20))
    cost = np.round(np.exp(rng.normal(0.0, 0.7, 20) + 0.5 * skill), 3)
    right = 1 / (1 + np.exp(-(skill - 0.7 * difficulty[:, None] + rng.normal(size=(50, 2)) @ loading)))
    instance = recipe("I2:50x20", 0)
    assert instance.accuracy == pytest.approx(np.clip(0.5 + 0.49 * right, 0.5, 0.99), abs=0.51e-10)
    assert np.array_equal(instance.cost[0], cost) and np.array_equal(instance.task_type, np.arange(50))
