"""Verbs that take a type of options as keywords: what Python, help and a type checker see of them."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields

import pytest

import crowdopt
from crowdopt.api.assign_options import AdaptiveOptions, AssignOptions
from crowdopt.api.audit_options import AuditOptions
from crowdopt.api.bench import BenchOptions
from crowdopt.api.budget import BudgetOptions
from crowdopt.api.compare import CompareOptions
from crowdopt.api.explain import ExplainOptions
from crowdopt.api.import_labels import ImportOptions
from crowdopt.api.learn import LearnOptions
from crowdopt.api.live import LiveOptions
from crowdopt.api.pull import PullOptions
from crowdopt.api.push import PushOptions

VERBS = {
    "assign": AssignOptions,
    "audit": AuditOptions,
    "bench": BenchOptions,
    "budget": BudgetOptions,
    "compare": CompareOptions,
    "explain": ExplainOptions,
    "import_labels": ImportOptions,
    "learn": LearnOptions,
    "live": LiveOptions,
    "pull": PullOptions,
    "push": PushOptions,
}


@pytest.mark.parametrize("name", VERBS)
def test_every_option_is_an_argument_with_its_description(name):
    """What a call takes is what the type has: nothing is passed on by hand, so nothing can be left out."""
    verb, names = getattr(crowdopt, name), {one.name for one in fields(VERBS[name])}
    first = set(inspect.signature(verb).parameters) - names
    assert len(first) == (name != "bench")
    assert all(re.search(rf"^(\w+, )*{option}\b", inspect.getdoc(verb), re.MULTILINE) for option in names)


def test_an_argument_that_is_none_is_named_with_the_verb():
    """As Python does for a call whose arguments are written out."""
    with pytest.raises(TypeError, match=r"assign\(\): there is no 'metod'; did you mean 'method'"):
        crowdopt.assign(crowdopt.recipe("HS:6x9"), metod="exact")


def test_what_an_adaptive_plan_has_are_those_of_its_type():
    """Every setting that both kinds of plan know gets there; the others are refused unless they are as by default."""
    given = AssignOptions(epsilon=0.2, rounds=2, seed=3, adaptive=True)
    own = given.of_adaptive()
    assert own == AdaptiveOptions(adaptive=True, epsilon=0.2, rounds=2, seed=3)
    with pytest.raises(crowdopt.errors.InputError, match="--gap and --option is about plans of fixed sets"):
        AssignOptions(gap=0.1, solver_options=["a=b"], adaptive=True).of_adaptive()
