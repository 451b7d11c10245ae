"""The pages stay true: README, guide and walk-throughs print what they show, and their links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import chain
from pathlib import Path
from types import ModuleType

import pytest

import crowdopt
from tests.pages import FIGURES, GUIDES, PAGES, README, ROOT, STEP, anchors, links, name_of, python_blocks, type_page

BY_DEFAULT = (README,)  # the others take minutes together
MOST_LINES = {README: 150}
ELSEWHERE = 250
GOES_ON = re.compile(r"--checked|crowdopt push")  # a second call with the same -o


def cases(wanted: list[Path]) -> list[object]:
    """Pages as test cases; those that are not typed by default are slow."""
    marks = {True: (), False: (pytest.mark.slow,)}
    return [pytest.param(page, id=name_of(page), marks=marks[page in BY_DEFAULT]) for page in wanted]


@pytest.mark.parametrize(
    "page", cases([page for page in PAGES if "<!-- example -->\n```console" in page.read_text(encoding="utf-8")])
)
def test_what_a_page_shows_is_what_it_prints(page, tmp_path, monkeypatch):
    """From top to bottom in an empty folder, as a reader types it; only seconds may differ."""
    monkeypatch.chdir(tmp_path)
    type_page(page, in_shell=1 if page == README else 0)


@pytest.mark.parametrize("page", cases([page for page in PAGES if python_blocks(page)]))
def test_the_python_runs(page, tmp_path):
    """Each block pasted into a file and run; its own assertions hold."""
    for number, text in enumerate(python_blocks(page)):
        (tmp_path / str(number)).mkdir()
        subprocess.run([sys.executable, "-W", "error", "-c", text], cwd=tmp_path / str(number), check=True)


def test_nothing_typed_goes_untested():
    """A console block without the mark of an example would grow stale unseen."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        marked = [kind for kind, _, language, _ in STEP.findall(text) if (kind, language) == ("example", "console")]
        assert text.count("```console") == len(marked), name_of(page)


def test_every_verb_exists_and_has_a_page():
    """Each verb that a page shows is one, and each verb there is stands on the guide's first page."""
    from crowdopt.cli.manual import OURS

    shown = {
        verb
        for page in PAGES
        for verb in re.findall(r"(?:\$ |`|&& \S+/)crowdopt ([a-z][\w-]*)", page.read_text(encoding="utf-8"))
    }
    assert shown <= set(OURS)
    first = (ROOT / "crowdopt" / "README.md").read_text(encoding="utf-8")
    assert set(OURS) - {"init", "generate"} <= set(re.findall(r"`([\w-]+)", first))


def test_the_examples_of_a_page_can_be_typed_one_after_another():
    """One folder holds a page's examples: a name that is taken would stop a reader; audits and pushes go on."""
    for page in PAGES:
        consoles = [
            text for kind, _, language, text in STEP.findall(page.read_text(encoding="utf-8")) if language == "console"
        ]
        typed = [line for line in "".join(consoles).splitlines() if line.startswith("$ ") and not GOES_ON.search(line)]
        made = [name for line in typed for name in re.findall(r"(?: -o |crowdopt init )(\S+)", line)]
        assert len(made) == len(set(made)), (name_of(page), sorted(name for name in made if made.count(name) > 1))


@pytest.mark.parametrize("page", [*PAGES, *FIGURES], ids=name_of)
def test_every_link_leads_somewhere(page):
    """Files and headings both: sections move and change their names."""
    for link in links(page):
        path, _, anchor = link.partition("#")
        goal = page.parent / path if path else page
        assert goal.exists(), link
        assert not anchor or anchor in anchors(goal), link


def test_every_public_name_is_two_links_from_the_guide():
    """A reader of the page of a question finds each call, and the file with its docstring, in two clicks."""
    reached = {page.resolve() for page in GUIDES}
    for _ in range(2):
        pages = [page for page in reached if page.suffix == ".md"]
        reached |= set(
            chain.from_iterable(
                [(page.parent / link.partition("#")[0]).resolve() for link in links(page) if not link.startswith("#")]
                for page in pages
            )
        )
    lost = [name for name in dir(crowdopt) if file_of(name) not in reached]
    assert not lost


def file_of(name: str) -> Path:
    """The file that defines a public name."""
    public = getattr(crowdopt, name)
    if name == "__version__":
        public = sys.modules["crowdopt.version"]
    module = public if isinstance(public, ModuleType) else sys.modules[public.__module__]
    assert module.__file__ is not None
    return Path(module.__file__).resolve()


def test_pages_are_short():
    """A page that is not read to its end does not help."""
    for page in PAGES:
        lines = len(page.read_text(encoding="utf-8").splitlines())
        assert lines <= MOST_LINES.get(page, ELSEWHERE), name_of(page)


def test_the_backend_of_ones_own_is_the_tested_one():
    """The example in the text is the file that the entry-point test installs and solves with."""
    example = (ROOT / "tests" / "contract" / "example_backend.py").read_text(encoding="utf-8").strip()
    assert example in (ROOT / "crowdopt" / "backends" / "README.md").read_text(encoding="utf-8")


def test_the_policy_of_ones_own_is_the_tested_one():
    """As with backends: what stands in the text is what the extension test installs."""
    example = (ROOT / "tests" / "online" / "example_policy.py").read_text(encoding="utf-8").strip()
    assert example in (ROOT / "crowdopt" / "online" / "README.md").read_text(encoding="utf-8")
