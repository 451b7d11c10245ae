"""benchmarks/papers/statements.md names every statement of the papers, with code, tests and a place that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "benchmarks" / "papers" / "statements.md"
ROOT = PAGE.parents[2]
NAME = re.compile(r"`([\w/]+\.py)::(\w+)`")
LINK = re.compile(r"\]\(([^)#]+)(?:#([\w-]+))?\)")
ERRATUM = re.compile(r"\b(?:erratum|errata) (\d+(?:, \d+)*)")


def named(theorems: int = 0, lemmas: int = 0, figures: int = 0, tables: int = 0) -> set[str]:
    """``Theorem 1`` and so on, up to these numbers."""
    upto = {"Theorem": theorems, "Lemma": lemmas, "Figure": figures, "Table": tables}
    return {f"{kind} {number}" for kind, most in upto.items() for number in range(1, most + 1)}


NUMBERED = {  # what each paper numbers: theorems, lemmas, algorithms, figures, tables; the last equation
    "Ho, Jabbari & Vaughan 2013": (
        named(theorems=5, lemmas=3, figures=2) | {"Algorithm 1", "Algorithm 2"},
        3,
    ),
    "Li & Liu 2015": (
        {"Theorem 1", "Lemma 2", "Theorem 3", "Theorem 4", "Algorithm 1"} | named(figures=4),
        26,
    ),
    "Liu & Liu 2015": (
        named(theorems=5, lemmas=8, figures=8, tables=3),
        41,
    ),
}


def rows() -> list[tuple[str, list[str]]]:
    """(paper, cells) of every row."""
    found, paper = [], ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            paper = line[3:]
        elif line.startswith("| ") and not line.startswith("| statement"):
            found.append((paper, [cell.strip() for cell in line.strip("|").split(" | ")]))
    return found


@pytest.mark.parametrize("paper", NUMBERED)
def test_nothing_that_is_numbered_is_missing(paper):
    """A mathematician looks a number up; equations may stand as a span."""
    statements = [cells[0] for of, cells in rows() if of == paper]
    wanted, last = NUMBERED[paper]
    whole = ", ".join(statements)
    for name in wanted:
        assert re.search(rf"\b{name}\b", whole), name
    equations: set[int] = set()
    for first, end in re.findall(r"\((\d+)\)(?: to \((\d+)\))?", whole):
        equations |= set(range(int(first), int(end or first) + 1))
    assert equations == set(range(1, last + 1))


def test_code_and_tests_are_there():
    """Every row has some of both; every name is defined in its file."""
    for paper, (statement, _, code, tests, shown) in rows():
        assert NAME.search(code) and NAME.search(tests) and shown, f"{paper}: {statement}"
        for file, name in NAME.findall(code + tests):
            text = (ROOT / file).read_text(encoding="utf-8")
            assert re.search(rf"^(def|class) {name}\b", text, re.MULTILINE), f"{statement}: {file}::{name}"
        assert all(name.startswith("test_") for _, name in NAME.findall(tests)), statement


def test_links_and_errata_are_there():
    """Pages, headings in them, pictures, and the numbers of errata."""
    errata = (ROOT / "models" / "README.md").read_text(encoding="utf-8").partition("\n## 9. Errata")[2]
    numbers = {int(number) for number in re.findall(r"^(\d+)\. ", errata, re.MULTILINE)}
    for _, (statement, _, _, _, shown) in rows():
        for target, heading in LINK.findall(shown):
            path = (PAGE.parent / target).resolve()
            assert path.exists(), f"{statement}: {target}"
            if heading:
                heads = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
                assert heading in {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in heads}, heading
        for several in ERRATUM.findall(shown):
            assert {int(number) for number in several.split(", ")} <= numbers, statement
