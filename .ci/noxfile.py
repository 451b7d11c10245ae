"""The checks of .ci/run in parts: nox -f .ci/noxfile.py -l lists them."""

from __future__ import annotations

from pathlib import Path

import nox

TOP = Path(__file__).parents[1]
nox.options.sessions = ["style", "tests"]


def ready(session: nox.Session, *constraints: str) -> None:
    """An environment with the package and all its extras, in the repository's root."""
    session.chdir(TOP)
    session.install(*constraints, "-e", ".[test]")


@nox.session
def style(session: nox.Session) -> None:
    """Formatted, linted and typed."""
    ready(session)
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("mypy")


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def tests(session: nox.Session) -> None:
    """Everything short, with the newest versions."""
    ready(session)
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session
def slow(session: nox.Session) -> None:
    """Checks of minutes."""
    ready(session)
    session.run("python", "-m", "pytest", "-m", "slow", *session.posargs)


@nox.session(python="3.11")
def lowest(session: nox.Session) -> None:
    """The lowest versions that pyproject.toml allows."""
    session.chdir(TOP)
    bounds = Path(session.create_tmp()) / "lowest.txt"
    bounds.write_text(session.run("python", ".ci/lowest.py", silent=True))
    ready(session, "-c", str(bounds))
    rooms = ("core", "contract", "solvers", "programs", "crowd", "recheck", "hire")
    session.run("python", "-m", "pytest", "-q", *(f"tests/{room}" for room in rooms))


@nox.session
def mutants(session: nox.Session) -> None:
    """Faults planted in the code, each of which a test must find."""
    ready(session)
    session.run("python", "-m", "pytest", "-m", "mutants", *session.posargs)


@nox.session
def wheel(session: nox.Session) -> None:
    """Built twice to the same bytes, checked, every verb run from it, a bill of materials; and the conda recipe."""
    session.chdir(TOP)
    session.install("build", "twine", "cyclonedx-bom", "py-rattler-build")
    session.run("python", ".ci/wheel.py", str(Path(session.create_tmp()).resolve() / "wheel"))
    session.run("python", ".ci/conda/rendered.py")


@nox.session
def docs(session: nox.Session) -> None:
    """The site."""
    ready(session)
    session.run("python", ".docs/build.py", "site")
