"""Exported files: other readers see the same program, under names that lead back to tasks and workers."""

from __future__ import annotations

import io
import json
import re
from contextlib import redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

import crowdopt
from crowdopt.core.program import Program, dualize, relax, stack
from crowdopt.io.programs import LONGEST, LP, MPS, ids_of, names_of, write_program
from crowdopt.programs import assignment, assignment_dual, elastic
from tests.models import highs
from tests.models.reading import MODELS, assert_same, described, read_by
from tests.models.tiny import facts_of, instance_of

DIALECTS = {"mps": MPS, "lp": LP}
READERS = ["highs", pytest.param("glpk", marks=pytest.mark.skipif(find_spec("swiglpk") is None, reason="needs GLPK"))]
INSTANCE = instance_of(facts_of(MODELS / "tiny" / "everything.json"))
PLAIN = instance_of(facts_of(MODELS / "tiny" / "priced.json"))
IP = assignment.build(INSTANCE)
PROGRAMS = {"ip": IP, "lp": relax(IP), "dual": assignment_dual.build(PLAIN), "mechanical dual": dualize(relax(IP))}
PROGRAMS["missing"] = elastic.build(INSTANCE)
ENDS = (".lower", ".upper")  # of a row with two sides, which are two rows in an LP file


def odd() -> Program:
    """Every kind of row, bound and column that a program may have, under the names that formats like least."""
    inf = np.inf
    row, column = (0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 4), (0, 1, 0, 2, 1, 4, 1, 2, 5, 0, 6)
    value = 1.0, 1, 1 / 3, 1, -1, 1e6, 1, 1, 1, 1.0, 1
    columns, rows = ("2x", "free", "inf"), ("objective", "end", ".5", "E1", "loose", "rhs")
    return Program(
        name="odd one",
        cost=np.array([1.5, -2.0, 0.0, 0.0, 1e-7, 3.0, 1.0]),
        matrix=sparse.csc_array((value, (row, column)), shape=(6, 7)),
        row_lower=np.array([1.0, -inf, -5.0, 2 / 3, -inf, -inf]),
        row_upper=np.array([inf, 4.0, 7.25, 2 / 3, inf, 1.0]),
        lower=np.array([0.0, -inf, -inf, 0, -3.0, 0.0, 2.0]),
        upper=np.array([inf, 10.0, inf, inf, -1.0, inf, 2.0]),
        integer=np.array([True, False, False, False, True, False, False]),
        columns=stack([("e", (2,)), *((name, (1,)) for name in columns), ("a b,c]", (2,))]),
        rows=stack([(name, (1,)) for name in rows]),
    )


def ids(name: str) -> dict:
    """Of the tasks and workers of a program by name; an odd one has none."""
    return {} if name == "odd" else ids_of(PROGRAMS[name], PLAIN if name == "dual" else INSTANCE)


def as_file(program: Program, ids: dict, dialect: str) -> dict:
    """What a reader of the file must see: in LP files a row with two sides is two rows, one without sides is none."""
    seen = described(program, ids, DIALECTS[dialect])
    loose = {name for name, row in seen["rows"].items() if row["lower"] is None and row["upper"] is None}
    rows = {name: row for name, row in seen["rows"].items() if name not in loose}
    if dialect == "lp":
        rows = {new: row for name, one in rows.items() for new, row in _sides(name, one)}
    return {**seen, "rows": rows}


def _sides(name: str, row: dict) -> list[tuple[str, dict]]:
    if row["lower"] is None or row["upper"] is None or row["lower"] == row["upper"]:
        return [(name, row)]
    head, bracket, rest = name.partition("(")
    lower, upper = (head + end + bracket + rest for end in ENDS)
    return [(lower, {**row, "upper": None}), (upper, {**row, "lower": None})]


PROGRAMS["odd"] = odd()


def read_back(reader: str, path: Path) -> dict:
    """By GLPK in a process of its own, which it can abort, or by HiGHS."""
    if reader == "glpk":
        return read_by("glpk", path.suffix[1:], path)
    with redirect_stdout(io.StringIO()) as out:
        highs.main(str(path))
    return json.loads(out.getvalue())


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_another_solver_reads_the_same_program(name: str, dialect: str, reader: str, tmp_path: Path) -> None:
    """Entry for entry under the names we gave, and so with the same optimum."""
    program, path = PROGRAMS[name], tmp_path / f"x.{dialect}"
    write_program(program, path, ids(name))
    found = read_back(reader, path)
    assert_same(found, as_file(program, ids(name), dialect))
    if name != "odd":
        optimum = found["optimum"] if reader == "highs" else found["ip"]
        assert optimum == pytest.approx(crowdopt.certify(crowdopt.solve_program(program)).value, abs=1e-6)


WORDS = ["a b", "a_b", "a,b", "a[b", "a]b", "e", "e1", "1", "", "é", "工人", "a%20b", "a-b", "a~b", "$x", "*", "\n"]
NASTY = [*WORDS, "x" * 90]
TEXTS = st.text('aAeE19 _,[]()%~$*+-/^<>=:;\\"\n\té工\x00\U0001f408', max_size=12)


@settings(max_examples=15)
@given(tasks=st.lists(TEXTS, min_size=1, max_size=6, unique=True), workers=st.lists(TEXTS, max_size=4, unique=True))
@example(tasks=NASTY, workers=NASTY)
@example(tasks=["a,b", "a"], workers=["c", "b,c"])
@example(tasks=["工" * 40, "c"], workers=["b"])  # 255 characters at most: the block is numbered, others keep their ids
@pytest.mark.parametrize("dialect", DIALECTS)
def test_names_lead_back_to_ids(dialect: str, tasks: list[str], workers: list[str]) -> None:
    """Percent-encoding is injective, and a comma inside an id is encoded: names are unique and can be read."""
    form = DIALECTS[dialect]
    blocks = stack([("y", (len(tasks), len(workers))), ("cover", (len(tasks),))])
    names = names_of(blocks, {"y": [tasks, workers], "cover": [tasks]}, form)
    assert len(set(names)) == len(names)
    for name in names:
        assert len(name) <= LONGEST
        assert re.fullmatch(r"[A-Za-z][!-~]*", name)
        assert dialect == "mps" or not set(name) & set("+-*/^<>=:[]\\;")
    wanted = [[t, w] for t in tasks for w in workers] + [[t] for t in tasks]
    inner = [name[name.index(form.opening) + 1 : -1].split(",") for name in names]
    plain = [[unquote(one.replace("~", "-") if dialect == "lp" else one) for one in each] for each in inner]
    assert plain == wanted or any(len(form.spell(one)) > 60 for one in tasks + workers)


@settings(max_examples=5)
@given(ids=st.lists(TEXTS, min_size=2, max_size=5, unique=True))
@example(ids=NASTY)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_any_ids_pass_through_other_readers(tmp_path_factory, dialect: str, ids: list[str]) -> None:
    """The names are legal where it counts: in the readers."""
    n = len(ids)
    instance = crowdopt.AssignmentInstance([[0.9] * n], [0] * n, n, 0.3, tasks=ids, workers=ids[::-1])
    program = relax(assignment.build(instance))
    path = tmp_path_factory.mktemp("export") / f"x.{dialect}"
    write_program(program, path, ids_of(program, instance))
    for reader in ["highs", "glpk"] if ids == NASTY and find_spec("swiglpk") else ["highs"]:
        assert_same(read_back(reader, path), as_file(program, ids_of(program, instance), dialect))
