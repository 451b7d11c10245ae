"""Lines of code by room: ``python -m tests.size``. Formatted at 120 columns; no docstrings, comments, blank lines."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter
from pathlib import Path

NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
REMARK = re.compile(r"<!--.*?-->|/\*.*?\*/|^\s*(?://|--)[^\n]*$", re.DOTALL | re.MULTILINE)  # of .html, .js, .sql


def lines_of(path: Path) -> int:
    """Lines on which code begins: a text over several lines counts once, a docstring not at all."""
    if path.suffix != ".py":
        return sum(bool(line.strip()) for line in REMARK.sub("", path.read_text(encoding="utf-8")).splitlines())
    with path.open("rb") as file:
        code = {token.start[0] for token in tokenize.tokenize(file.readline) if token.type not in NO_CODE} - {0}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if documented and ast.get_docstring(node, clean=False) is not None:
            code -= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(code)


def main() -> None:
    """Each room of the package (its own files are ``crowdopt/*``), the tests, the benchmarks, the package whole."""
    count: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as copy:
        for top in ("crowdopt", "tests", "benchmarks"):
            shutil.copytree(Path(__file__).parents[1] / top, Path(copy, top))
        subprocess.run(
            [sys.executable, "-m", "ruff", "format", "-q", "--isolated", "--line-length=120", copy], check=True
        )
        for path in Path(copy).rglob("*.*"):
            top, *rest = path.relative_to(copy).parts
            if path.suffix == ".py" or (top == "crowdopt" and path.suffix in (".html", ".js", ".sql")):
                count[f"crowdopt/{rest[0] if len(rest) > 1 else '*'}" if top == "crowdopt" else top] += lines_of(path)
    count["crowdopt"] = sum(count[room] for room in count if room.startswith("crowdopt/"))
    print("\n".join(f"{number:6} {room}" for room, number in sorted(count.items())))


if __name__ == "__main__":
    main()
