"""What may be drawn as a mutant, and which tests are asked about it."""

from __future__ import annotations

from tests.mutants.drawn import FOLDERS, ROOT, changes, drawn, noticing, sites

TEXT = '''"""Words + numbers 3."""
from a import b
def f(x: int | None = None,
      y: float = 1.0) -> int | str:
    if x is None or y < 2:
        raise ValueError("x + y")
    return (x + y) ** 2  # 4 + 5
'''


def test_only_what_runs_is_made_wrong():
    """Not types, imports, messages, strings or comments; each token once."""
    found = [(one.line, one.old, one.new) for one in sites("f.py", TEXT)]
    assert found == [
        (4, "1.0", "(1.0 + 1)"),
        (5, "or", "and"),
        (5, "<", "<="),
        (5, "2", "(2 + 1)"),
        (7, "+", "-"),
        (7, "**", "*"),
        (7, "2", "(2 + 1)"),
    ]


def test_a_mutant_is_its_file_but_for_one_token():
    """The second and the first condition both."""
    mutant = list(sites("f.py", TEXT))[1]
    assert mutant.of(TEXT) == TEXT.replace("None or y", "None and y") and str(mutant) == "f.py:5:17 or -> and"


def test_one_seed_draws_one_order_and_a_part_of_it_is_a_part():
    """So that a run that was stopped goes on; every mutant means something else than its file."""
    some = drawn(0, 6, 3, ("crowdopt/answers",))
    assert drawn(2, 4, 3, ("crowdopt/answers",)) == some[2:] and drawn(0, 6, 4, ("crowdopt/answers",)) != some
    assert all(changes(one) for one in some) and len({str(one) for one in some}) == 6


def test_tests_that_name_the_module_come_first():
    """Together they are all of the folders', each once."""
    named, others = noticing("crowdopt/answers/choosing.py")
    assert "tests/answers/test_choosing.py" in named and not set(named) & set(others)
    everything = {path for folder in FOLDERS["crowdopt/answers"] for path in (ROOT / folder).rglob("test_*.py")}
    assert {ROOT / one for one in named + others} == everything
