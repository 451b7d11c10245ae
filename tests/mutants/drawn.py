"""Mutants that chance draws: one token of the formulas' files made wrong, and the tests of its folder.

python -m tests.mutants.drawn [--first K] [--count N] [--seed S] [--folders A,B]

The same seed draws the same mutants of the same files, in one order: those from the K-th on are tried. Test files that
name the module run first, and the first test that fails ends it. A survivor is a line to look at: no test would have
noticed it, or it changes nothing. Exit status 1 if there is any.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tempfile
import token
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from tests.mutants.test_mutants import ROOT, Copy

FOLDERS = {
    "crowdopt/crowd": ("tests/crowd", "tests/pins"),
    "crowdopt/answers": ("tests/answers", "tests/pins"),
    "crowdopt/online/beliefs": ("tests/online",),
    "crowdopt/recheck": ("tests/recheck",),
}
"""Where formulas are, and the tests that are to notice."""
OPERATORS = {"+": "-", "-": "+", "*": "/", "/": "*", "**": "*", "@": "*", "&": "|", "|": "&", "~": ""} | {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+=": "-=", "-=": "+=", "*=": "/="
}  # fmt: skip
WORDS = {"and": "or", "or": "and", "not": "", "min": "max", "max": "min", "True": "False", "False": "True"} | {
    "minimum": "maximum", "maximum": "minimum", "log": "exp", "exp": "log", "break": "pass", "continue": "pass"
}  # fmt: skip
PASSED = (0, 5)  # pytest's exit status where all tests passed, or none was left to run
SPOKEN = re.compile(r"\s*(from|import|raise)\b")  # lines of names and messages


@dataclass(frozen=True)
class Drawn:
    """A token of a file and what it becomes."""

    file: str
    line: int
    column: int
    old: str
    new: str

    def __str__(self) -> str:
        """Where, and what."""
        return f"{self.file}:{self.line}:{self.column} {self.old} -> {self.new or 'nothing'}"

    def of(self, text: str) -> str:
        """The file with that token changed."""
        lines = text.splitlines(keepends=True)
        line = lines[self.line - 1]
        lines[self.line - 1] = line[: self.column] + self.new + line[self.column + len(self.old) :]
        return "".join(lines)


def sites(file: str, text: str) -> Iterator[Drawn]:
    """Each token that may be made wrong, where something runs; constants are one more."""
    spans = [((one.lineno, one.col_offset), (one.end_lineno, one.end_col_offset)) for one in _types(ast.parse(text))]
    for one in tokenize.generate_tokens(io.StringIO(text).readline):
        made = Drawn(file, *one.start, one.string, _wrong(one))
        is_type = any(first <= one.start < last for first, last in spans)
        if made.new != made.old and not is_type and not SPOKEN.match(one.line):
            yield made


def _types(tree: ast.AST) -> Iterator[ast.expr]:
    """Annotations: they are text."""
    for node in ast.walk(tree):
        for field in ("annotation", "returns"):
            if (found := getattr(node, field, None)) is not None:
                yield found


def changes(mutant: Drawn) -> bool:
    """Whether the file is still Python, and something else."""
    text = (ROOT / mutant.file).read_text(encoding="utf-8")
    made = mutant.of(text)
    try:
        compile(made, mutant.file, "exec")  # a star before an expression alone parses, and is refused here
        return ast.dump(ast.parse(made)) != ast.dump(ast.parse(text))
    except SyntaxError:
        return False


def _wrong(one: tokenize.TokenInfo) -> str:
    if one.type == token.NUMBER:
        return f"({one.string} + 1)"
    table = {token.OP: OPERATORS, token.NAME: WORDS}.get(one.type, {})
    return table.get(one.string, one.string)


def drawn(first: int, count: int, seed: int, folders: tuple[str, ...]) -> list[Drawn]:
    """So many mutants from the first on, each token as likely as any other."""
    files = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    found = [one for path in files for one in sites(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))]
    order = np.random.default_rng(seed).permutation(len(found)).tolist()
    return list(islice((found[k] for k in order if changes(found[k])), first, first + count))


def noticing(file: str) -> tuple[list[str], list[str]]:
    """Test files of its folder that name its module, and the others."""
    module = re.compile(rf"\b{file.removesuffix('.py').rpartition('/')[2]}\b")
    folders = next(tests for folder, tests in FOLDERS.items() if file.startswith(folder))
    paths = sorted(path for folder in folders for path in (ROOT / folder).rglob("test_*.py"))
    named = [str(path.relative_to(ROOT)) for path in paths if module.search(path.read_text(encoding="utf-8"))]
    return named, [name for path in paths if (name := str(path.relative_to(ROOT))) not in named]


def main() -> None:
    """A line for each as it ends, and how many were killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folders", default=",".join(FOLDERS))
    given = parser.parse_args()
    folders = tuple(given.folders.split(","))
    if unknown := [folder for folder in folders if folder not in FOLDERS]:
        parser.error(f"--folders: there are no formulas in {unknown[0]!r}; there are {', '.join(FOLDERS)}")
    mutants, survivors = drawn(given.first, given.count, given.seed, folders), 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder))
        with copy.process:
            for mutant in mutants:
                killed = _tried(copy, mutant)
                survivors += not killed
                print(f"{'killed' if killed else 'survived'} {mutant}", flush=True)
            assert copy.process.stdin is not None
            copy.process.stdin.close()
    print(f"{len(mutants) - survivors} of {len(mutants)} killed, seed {given.seed}")
    sys.exit(survivors > 0)


def _tried(copy: Copy, mutant: Drawn) -> bool:
    """Whether a test fails, or cannot run, on the copy with the mutant in."""
    path = copy.folder / mutant.file
    text = path.read_text(encoding="utf-8")
    path.write_text(mutant.of(text), encoding="utf-8")
    try:
        _forget(path, copy.folder)
        return any(copy.run(some) not in PASSED for some in noticing(mutant.file) if some)
    finally:
        path.write_text(text, encoding="utf-8")
        _forget(path, copy.folder)


def _forget(path: Path, folder: Path) -> None:
    """Kernels that call one of this file have it inside, compiled, and are kept by the date of their own file alone."""
    texts = {one: one.read_text(encoding="utf-8") for one in (folder / "crowdopt").rglob("*.py")}
    kernels = {one: text for one, text in texts.items() if "njit" in text}
    waiting, known = [path] if path in kernels else [], set[Path]()
    while waiting:
        one = waiting.pop()
        known.add(one)
        waiting += [by for by, text in kernels.items() if re.search(rf"\b{one.stem}\b", text) and by not in known]
        for kept in (one.parent / "__pycache__").glob(f"{one.stem}.*.nb[ic]"):
            kept.unlink()


if __name__ == "__main__":
    main()
