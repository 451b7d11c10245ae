"""The site is built without a warning, and nothing in it leads nowhere; the index and conda say what the wheel says."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from html import unescape
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from urllib.parse import unquote

import pytest

import crowdopt
from crowdopt.version import __version__
from tests.guides import PAGES, ROOT

GOALS = re.compile(r'(?:href|src)="([^"]*)"')
ANCHORS = re.compile(r'\bid="([^"]+)"')


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The whole site, built as CI builds it; a warning would have stopped it."""
    for library in ("sphinx", "myst_parser", "pydata_sphinx_theme", "sphinx_copybutton", "latex2mathml"):
        pytest.importorskip(library, reason="pip install -e '.[docs]'")
    folder = tmp_path_factory.mktemp("built") / "site"
    command = [sys.executable, str(ROOT / ".docs" / "build.py"), str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return folder


@pytest.mark.slow
def test_every_link_of_the_site_leads_somewhere(site):
    """Pages, pictures and anchors; and no page asks the network for anything but what a reader clicks on."""
    ours = (page for page in site.rglob("*.html") if "_static" not in page.parts)  # the theme's templates are there
    pages = {page: page.read_text(encoding="utf-8") for page in ours}
    anchors = {page: set(map(unescape, ANCHORS.findall(text))) for page, text in pages.items()}
    assert len(pages) > len(PAGES)
    for page, text in pages.items():
        assert not re.search(r'<(?:script|img|link)[^>]+(?:src|href)="https?:', text), page
        for link in {unescape(link) for link in GOALS.findall(text)}:
            if re.match(r"\w+:", link):
                continue
            path, _, anchor = link.partition("#")
            path = path.partition("?")[0]  # a digest, by which browsers know a file that changed
            goal = (page.parent / unquote(path)).resolve() if path else page
            assert goal.is_file(), (page, link)
            assert not anchor or anchor in anchors[goal], (page, link)


def test_the_page_of_an_index_has_no_link_to_a_file_beside_it(monkeypatch):
    """Once a home is named every link begins there, pictures as they are; without one nothing changes."""
    plugin = SimpleNamespace(MetadataHookInterface=object)
    monkeypatch.setitem(sys.modules, "hatchling.metadata.plugin.interface", plugin)
    hook, address = run_path(str(ROOT / ".ci" / "home.py")), "https://example.org/crowdopt/blob/main"
    for home in ("", address + "/"):
        monkeypatch.setenv("CROWDOPT_HOME", home)
        told: dict = {}
        hook["Home"]().update(told)
        if not home:
            assert told["readme"]["text"] == (ROOT / "README.md").read_text(encoding="utf-8") and not told["urls"]
    goals = re.findall(r"(!?)\[[^]]*\]\(([^)#][^)]*)\)", told["readme"]["text"])  # within the page links stay
    assert len(goals) > 20
    for picture, goal in goals:
        path = goal.partition("#")[0]
        assert path.startswith(address) and path.endswith("?raw=true") == bool(picture)
        assert (ROOT / path.removeprefix(address + "/").removesuffix("?raw=true")).is_file()
    assert told["urls"]["Changelog"] == f"{address}/CHANGELOG.md"
    assert told["urls"]["Issues"] == "https://example.org/crowdopt/issues"


@pytest.mark.slow
def test_a_reader_finds_what_a_page_names(site):
    """Every public name and every verb; formulas typeset; search, contents, the page before and after, a button."""
    from crowdopt.cli.common import OURS

    source = (ROOT / "models" / "README.md").read_text(encoding="utf-8")
    text = (site / "models" / "index.html").read_text(encoding="utf-8")
    assert text.count("<math") == source.count("$`") + source.count("```math")
    assert "$`" not in text and "```" not in text and not re.search(r">\\[a-z]+<", text)
    face = (site / "reference" / "index.html").read_text(encoding="utf-8")
    calls = [name for name in crowdopt.__all__ if callable(getattr(crowdopt, name))]
    assert len(calls) > 40 and not [name for name in calls if f'id="crowdopt.{name}"' not in face]
    assert (site / "reference" / "crowdopt.programs.assignment.html").exists()
    said = (site / "command_line.html").read_text(encoding="utf-8")
    assert all(f'id="crowdopt-{verb}"' in said for verb in OURS)
    for page in ("crowdopt/assign/index.html", "crowdopt/hire/index.html", "models/index.html"):
        text = (site / page).read_text(encoding="utf-8")
        assert all(word in text for word in ("search-button", "left-prev", "right-next", "copybutton", "page-toc"))
    assert "bhattacharyya" in (site / "searchindex.js").read_text(encoding="utf-8")


def test_the_recipe_has_the_dependencies_and_the_version_of_the_package():
    """Two lists of the same things drift apart unless they are compared."""
    recipe = (ROOT / ".ci" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {f"python {project['requires-python']}"}
    wanted |= {re.sub(r"(?=[<>=])", " ", text, count=1) for text in project["dependencies"]}
    run = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    assert set(re.findall(r"^    - (.+)$", run, re.MULTILINE)) == wanted
    assert f"version: {__version__}\n" in recipe and project["scripts"]["crowdopt"] in recipe
