"""A search that its listener stops: what is known by then is the answer, in this thread and in a solver's."""

from __future__ import annotations

import pytest

import crowdopt

LIMIT = 3600.0  # seconds: what ends was stopped


@pytest.mark.parametrize(("method", "name"), [("exact", "R10:1000x300"), ("highs", "R10:300x100")])
def test_a_listener_that_says_so_stops_the_search(method, name):
    """At the first incumbent: the plan is that one or better, it holds, and it is not called optimal for it."""
    instance = crowdopt.recipe(name, seed=0)
    heard = []

    def hear(moment):
        heard.append(moment)
        return moment.value is not None

    plan = crowdopt.solve(instance, method=method, rule="bhattacharyya", time_limit=LIMIT, listener=hear)
    first = next(moment.value for moment in heard if moment.value is not None)
    assert plan.found and plan.objective <= first + 1e-9
    assert plan.status is crowdopt.Status.FEASIBLE and not plan.proven


@pytest.mark.parametrize("method", ["exact", "highs"])
def test_what_a_listener_raises_reaches_the_caller(method, capfd):
    """Also where a solver's thread called it, and without that thread's traceback on standard error."""

    def hear(moment):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        crowdopt.solve(crowdopt.recipe("R10:300x100", seed=0), method=method, time_limit=LIMIT, listener=hear)
    assert capfd.readouterr().err == ""


def test_a_stop_is_of_one_search_alone():
    """The next search has all of its time."""
    instance = crowdopt.recipe("R10:60x20", seed=0)
    crowdopt.solve(instance, time_limit=LIMIT, listener=lambda moment: True)
    assert crowdopt.solve(instance, time_limit=LIMIT).proven
