"""Tests that draw say by which law they count: no tolerance out of the air, no chosen seed."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
FILES = sorted(path for path in TESTS.rglob("*.py") if not path.name.startswith("test_chance"))
BOUNDS = {"between", "binomial", "fewest", "hoeffding", "mean_is_at_most", "most"}
DRAWS = {
    "default_rng",
    "recipe",
    "rehearse",
    "replay",
    "rng",
    "simulated",
    "simulated_stream",
    "simulated_tasks",
    "play",
}
AVERAGES = {"mean", "median", "std", "var", "average", "quantile", "percentile"}
SMALL = 1e-3  # a tolerance below it is one of arithmetic
DRAWN_PEOPLE = {"answers", "crowd", "hire", "labelers", "online", "studies"}  # rooms whose seeds make crowds
EXEMPT = {  # test: why its tolerance is no bound on chance
    "test_a_second_round_is_planned_to_the_optimum": "how much of one named instance is open, not a law",
    "test_rounded_skills_bound_the_optimum_from_both_sides": "exact errors against their target",
    "test_a_campaign_with_hard_tasks_from_gold_to_answers": "gold by hand; what is drawn has its bounds",
    "test_priced_sets_against_all_sets": "a quantile is the target of a search, which is exact",
}


@cache
def trees() -> dict[str, ast.Module]:
    """Every file of the tests with a seed in it, but for these two, by its place."""
    texts = ((path.relative_to(TESTS).as_posix(), path.read_text(encoding="utf-8")) for path in FILES)
    return {place: ast.parse(text) for place, text in texts if "seed" in text or "rng" in text}


def imported(tree: ast.Module) -> set[str]:
    """What a file takes from tests/chance.py."""
    froms = (node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "tests.chance")
    return {one.name for node in froms for one in node.names}


def names(node: ast.AST) -> set[str]:
    """Every name and attribute in a piece of code."""
    found = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    return found | {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}


def found_in(tree: ast.Module) -> list[ast.FunctionDef]:
    """The tests of a file."""
    return [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]


def marked(test: ast.FunctionDef) -> bool:
    """Whether a test carries the marker ``chance``."""
    return any(ast.unparse(one) == "pytest.mark.chance" for one in test.decorator_list)


def draws(test: ast.FunctionDef, tree: ast.Module) -> bool:
    """Whether a test draws at random, itself or by a function of its own file."""
    own = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    seen, left = set(), {test.name}
    while left:
        name = left.pop()
        seen.add(name)
        used = names(own[name])
        if used & DRAWS:
            return True
        left |= (used & set(own)) - seen
    return False


def averaged(test: ast.FunctionDef) -> set[str]:
    """Names that were given an average in a test."""
    made = [node for node in ast.walk(test) if isinstance(node, ast.Assign) and names(node.value) & AVERAGES]
    return {one.id for node in made for goal in node.targets for one in ast.walk(goal) if isinstance(one, ast.Name)}


def tolerance(node: ast.AST) -> bool:
    """Whether something is compared with a number that is no whole one, nor one of arithmetic."""
    for one in ast.walk(node):
        if isinstance(one, ast.Constant) and isinstance(one.value, float) and one.value % 1 and abs(one.value) >= SMALL:
            return True
    return bool(names(node) & {"sqrt"})


def without_law(test: ast.FunctionDef) -> list[int]:
    """Lines of assertions that hold an average to a tolerance, without a bound."""
    loose = AVERAGES | averaged(test)
    asserts = [node for node in ast.walk(test) if isinstance(node, ast.Assert)]
    compared = [one for one in asserts if any(isinstance(node, ast.Compare) for node in ast.walk(one.test))]
    return [one.lineno for one in compared if names(one) & loose and tolerance(one.test) and not names(one) & BOUNDS]


def chosen(node: ast.AST) -> bool:
    """Whether a loop or a parametrisation takes seeds that are not 0 to k - 1: a list, or a range from elsewhere."""
    if isinstance(node, ast.For | ast.comprehension):
        goal, given = ast.unparse(node.target), node.iter
    elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("parametrize") and len(node.args) > 1:
        goal, given = ast.unparse(node.args[0]).strip("'\""), node.args[1]
    else:
        return False
    if goal not in ("seed", "seeds"):
        return False
    if isinstance(given, ast.Tuple | ast.List):
        fixed = {one.value for one in given.elts if isinstance(one, ast.Constant)}
        return bool(fixed) and fixed != set(range(len(fixed)))
    called = isinstance(given, ast.Call) and ast.unparse(given.func) == "range"
    return called and len(given.args) > 1 and ast.unparse(given.args[0]) != "0"


def test_averages_of_what_is_drawn_have_a_law():
    """An average of what is drawn, held to a number, is a bet; tests/chance.py says how often it is lost."""
    loose = [
        f"{place}:{line} {test.name}"
        for place, tree in trees().items()
        for test in found_in(tree)
        if test.name not in EXEMPT and (lines := without_law(test)) and draws(test, tree)
        for line in lines
    ]
    assert not loose


def test_bounds_go_with_the_marker_and_its_seeds():
    """``-m chance`` finds every statistical test, and none of them has a seed of its own."""
    for place, tree in trees().items():
        taken = imported(tree)
        for test in found_in(tree):
            own = {one.id for one in ast.walk(test) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
            assert marked(test) == bool(names(test) & taken - own), (place, test.name)
            if marked(test):
                assert not [node for node in ast.walk(test) if own_seed(node)], (place, test.name)


def own_seed(node: ast.AST) -> bool:
    """Whether a generator is made of a number."""
    made = isinstance(node, ast.Call) and ast.unparse(node.func).endswith("default_rng")
    return made and isinstance(node.args[0], ast.Constant)


def test_seeds_are_all_of_them_from_nought():
    """Seeds that were looked through for those that pass look like ``(1, 3)`` or ``range(40, 44)``."""
    for place, tree in trees().items():
        for test in found_in(tree):
            if marked(test) or place.split("/")[0] in DRAWN_PEOPLE:
                assert not any(chosen(node) for node in ast.walk(test)), (place, test.name)


# what must be found: a tolerance out of the air, and seeds that are not 0 to k - 1
PLANTED = """
def test_a():
    rng = default_rng(0)
    share = np.mean(rng.random(9) < 0.5)
    assert abs(share - 0.5) < 0.1

def test_b():
    for seed in (1, 3):
        assert crowd(seed)
"""


def test_what_is_looked_for_is_found():
    """A tolerance out of the air and chosen seeds, planted; every exempted test is there."""
    tree = ast.parse(PLANTED)
    first, second = found_in(tree)
    assert draws(first, tree) and without_law(first) == [5] and not without_law(second)
    assert [chosen(node) for node in ast.walk(second)].count(True) == 1
    assert set(EXEMPT) <= {test.name for tree in trees().values() for test in found_in(tree)}
