"""Files of proof: a checker that shares nothing with the writer accepts each, and refuses whatever claims more."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import crowdopt
from crowdopt import assign, solve, verify
from crowdopt.api.proof_files import write_program_proof
from crowdopt.core.certificate import certify
from crowdopt.core.program import Program, relax, stack
from crowdopt.io.programs.naming import MPS, names_of
from crowdopt.programs import assignment
from crowdopt.proofs import case_proof, set_search
from crowdopt.proofs.assignment_proof import Multipliers
from crowdopt.proofs.proof import Claim, write_proof
from crowdopt.proofs.set_search import LeastSet, answer, prove
from crowdopt.proofs.unproven import Unproven
from tests.proofs.forgeries import FORGERIES, LET_THROUGH
from tests.proofs.written import (
    accepted,
    by_sets,
    candidates,
    instance,
    plan_file,
    selection_file,
    sets_file,
    with_every_row,
    with_limits,
    with_pairs,
    with_prices,
)
from tests.sampled import first_of

KINDS = {"plain": instance, "prices": with_prices, "pairs": with_pairs, "limits": with_limits}


@pytest.fixture(autouse=True)
def few_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that does not end soon is given up soon."""
    monkeypatch.setattr(case_proof, "CASES", 60)


@pytest.fixture(scope="module")
def cased(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with every kind of reason."""
    path = by_sets(8, tmp_path_factory.mktemp("proofs") / "cased.vipr").path
    assert accepted(path)
    return path


@pytest.mark.parametrize("seed", range(12))
def test_least_sets_are_shown_by_cases(seed, tmp_path):
    """Cases within tasks, at the linear program's prices: the bound is that of the sets, and no more than the best."""
    file = by_sets(seed, tmp_path / "a.vipr")
    assert accepted(file.path) and file.how == "sets" and file.low <= file.high
    assert all(f"{{ {reason} " in file.path.read_text() for reason in ("asm", "lin", "uns", "rnd"))


@pytest.mark.parametrize("seed", range(4))
def test_rows_of_every_kind_are_paid_by_their_multipliers(seed, tmp_path):
    """Least sets where groups, shares, money and loads have prices: no less than the linear program, no more than all.

    Costs that are left are no whole numbers: they are rounded down, and sides of columns make up for it.
    """
    made = with_every_row(seed)
    file = sets_file(made, tmp_path / "a.vipr")
    assert accepted(file.path) and file.low <= file.high
    assert float(file.low) >= certify(solve(relax(assignment.build(made)))).bound - 1e-6


def test_few_and_many_labels_may_have_cases_of_their_own(tmp_path, monkeypatch):
    """A search given up at once goes on by halves; what they show is still no more than the best, and is accepted."""
    monkeypatch.setattr(set_search, "FEW", 1)
    found = [by_sets(seed, tmp_path / f"{seed}.vipr") for seed in range(4)]
    assert all(accepted(file.path) and file.low <= file.high for file in found)
    counted = re.compile(r"(?m)^d\d+ [LG] \d+ 12( \d+ 1){12} \{ asm ")  # of all twelve labels of a task
    assert any(counted.search(file.path.read_text()) for file in found)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", first_of(range(3)))
def test_a_plan_s_bound_is_shown_in_fractions(kind, seed, tmp_path):
    """What the file shows is the plan's bound, and the plan is its point."""
    made = KINDS[kind](seed)
    plan = assign(made, time_limit=20)
    report = verify(made, plan, vipr=tmp_path / "a.vipr")
    assert report.holds
    if report.no_file is not None:
        assert report.proof == "solver", report.no_file
        return
    file = report.proof_file
    assert accepted(file.path)
    assert float(file.low) == pytest.approx(plan.bound) and float(file.high) == pytest.approx(plan.objective)
    numbers = re.sub(r"\S*[\[\]]\S*", "", file.path.read_text().partition("VAR")[2])  # without names
    assert "." not in numbers and "e-" not in numbers


def test_shares_of_labels_and_selections_have_files_too(tmp_path):
    """A linear program's multipliers are its proof; money makes a selection's a tree of cases."""
    lp = plan_file(instance(0), tmp_path / "lp.vipr", program="lp")
    assert accepted(lp.path) and lp.how == "rows"
    chosen = [selection_file(candidates(seed), tmp_path / f"{seed}.vipr") for seed in range(3)]
    assert all(accepted(one.path) for one in chosen)
    assert all(Fraction(0) <= one.high - one.low <= Fraction(1, 10**8) for one in chosen if one.high is not None)


def test_exact_errors_have_a_file_of_what_every_plan_keeps(tmp_path):
    """The fewest labels by exact errors are rows of the program; the comment says so."""
    made = crowdopt.AssignmentInstance(np.full((1, 6), 0.9), np.zeros(4, int), np.full(6, 4), 0.05, rule="exact-error")
    file = plan_file(made, tmp_path / "a.vipr")
    assert accepted(file.path) and file.path.read_text().startswith("% assignment, what every plan by rule exact-error")


def test_cases_go_as_deep_as_a_program_asks(tmp_path, monkeypatch):
    """``2x - 2y = 1`` below 400: each case cuts one value off, and only the last one of a chain of 800 ends it."""
    monkeypatch.setattr(case_proof, "CASES", 10_000)
    box = {"lower": np.zeros(3), "upper": np.array([400.0, 400.0, 1.0]), "integer": np.ones(3, bool)}
    rows = {"row_lower": np.array([1.0]), "row_upper": np.array([1.0])}
    matrix = sparse.csc_array(np.array([[2.0, -2.0, 2.0]]))
    blocks = {"columns": stack([("x", (2,)), ("e", (1,))]), "rows": stack([("even", (1,))])}
    program = Program("strip", np.ones(3), matrix, **box, **rows, **blocks)
    names = names_of(program.columns, {}, MPS), names_of(program.rows, {}, MPS)
    claim = Claim(program, 900.0, Multipliers(np.zeros(1), np.zeros(0)), None)
    file = write_proof(claim, names, tmp_path / "a.vipr", solve, True)
    assert file.how == "cases" and file.steps > 2000 and accepted(file.path)


def test_no_name_is_read_as_a_comment(tmp_path):
    """A block named e, which MPS files spell %65: at the head of a line it is a name, here as there."""
    program = relax(assignment.build(instance(3)))
    rows = [replace(block, name={"cover": "e", "capacity": "1é"}[block.name]) for block in program.rows]
    columns = [replace(block, name="Ende") for block in program.columns]
    named = replace(program, name="named", columns=tuple(columns), rows=tuple(rows))
    file = write_program_proof(named, {}, tmp_path / "a.vipr")
    assert accepted(file.path) and re.search(r"(?m)^\$65\[0\]> G", file.path.read_text())


def test_no_file_where_a_bound_is_beyond_every_derivation(tmp_path):
    """A claim that no derivation reaches leaves no file."""
    made = instance(1)
    plan = assign(made, time_limit=20)
    crowdopt.write_plan(plan, tmp_path / "plan")
    crowdopt.write_campaign(made, tmp_path / "campaign")
    claims = tmp_path / "plan" / "plan.json"
    claims.write_text(re.sub(r'"bound": [\d.]+', f'"bound": {plan.bound + 1}', claims.read_text()))
    with pytest.raises(Unproven, match="no derivation"):
        crowdopt.api.proof_files.write_plan_proof(tmp_path / "campaign", tmp_path / "plan", tmp_path / "a.vipr")
    assert not (tmp_path / "a.vipr").exists()


@pytest.mark.parametrize("forgery", [*FORGERIES, *LET_THROUGH])
def test_the_checker_refuses_forgeries(forgery, cased, tmp_path):
    """Whatever is changed so that the file claims more than it shows is found; as it is the file is accepted."""
    forged = {**FORGERIES, **LET_THROUGH}[forgery](cased.read_text().splitlines())
    (tmp_path / "forged.vipr").write_text("\n".join(forged) + "\n")
    assert not accepted(tmp_path / "forged.vipr")


def test_the_least_set_is_that_of_all_sets(monkeypatch):
    """Against every set of nine labels: the search finds the minimum, and proves it, with items in and out."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        cost, worth = rng.integers(-3, 30, 9), rng.integers(0, 50, 9)
        low, high = (rng.random(9) < 0.1).astype(np.int64), (rng.random(9) < 0.9).astype(np.int64)
        high = np.maximum(low, high)
        sets = (np.arange(512)[:, None] >> np.arange(9)) & 1
        sets = sets[(sets >= low).all(axis=1) & (sets <= high).all(axis=1)]
        need = int(rng.integers(1, 200))
        enough = sets[sets @ worth >= need]
        question = LeastSet(cost, worth, need, low, high)
        monkeypatch.setattr(set_search, "FEW", 1 if seed % 2 else 200)
        if not len(enough):
            with pytest.raises(ValueError, match="not worth enough"):
                answer(question)
            continue
        found, best = answer(question), (enough @ cost).min()
        assert found.value <= best and (found.halves or found.value == best)
        assert prove(question, found.value, found.halves).target == found.value


@pytest.fixture(scope="module")
def viprchk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The format's own checker, built from its source."""
    folder = os.environ.get("CROWDOPT_SERVERS")
    sources = sorted(Path(folder).resolve().rglob("viprchk.cpp")) if folder else []
    if not sources or shutil.which("g++") is None:
        pytest.skip("no viprchk.cpp, or no g++: see tests/servers/README.md")
    built = tmp_path_factory.mktemp("viprchk") / "viprchk"
    done = subprocess.run(
        ["g++", "-O2", "-DNDEBUG", "-std=c++17", "-o", str(built), str(sources[0]), "-lgmpxx", "-lgmp"],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        pytest.skip(f"viprchk is not built, for want of gmp perhaps: {done.stderr[-200:]}")
    return built


@pytest.mark.servers
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_the_format_s_own_checker_accepts_files(kind, seed, viprchk, tmp_path):
    """A program that others wrote agrees."""
    try:
        file = plan_file(KINDS[kind](seed), tmp_path / "a.vipr")
    except Unproven:
        return
    assert accepted(file.path, (str(viprchk),))


@pytest.mark.servers
@pytest.mark.parametrize("forgery", FORGERIES)
def test_the_format_s_own_checker_refuses_forgeries(forgery, viprchk, cased, tmp_path):
    """So it does with each forgery."""
    (tmp_path / "forged.vipr").write_text("\n".join(FORGERIES[forgery](cased.read_text().splitlines())) + "\n")
    assert accepted(cased, (str(viprchk),)) and not accepted(tmp_path / "forged.vipr", (str(viprchk),))
