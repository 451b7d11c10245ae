"""The house rules: imports point down, in no circle; an import is light; links lead somewhere; commands are typed.

The site is built without a warning, and nothing in it leads nowhere; the index and conda say what the wheel says.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from functools import cache
from graphlib import TopologicalSorter
from html import unescape
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from urllib.parse import unquote

import pytest

import crowdopt
from crowdopt.cli.common import OURS
from crowdopt.version import __version__
from tests import guides
from tests.guides import ROOT, anchors, links

FILES = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in ROOT.glob("crowdopt/**/*.py")}
FILES = {name.removesuffix(".__init__"): path for name, path in FILES.items()}
GROUND = {path.stem for path in ROOT.glob("crowdopt/[!_]*.py")}  # under everything
BELOW = """core
crowd core
programs core crowd
solvers core
assign core crowd programs
hire core crowd programs
answers core crowd programs
online core crowd programs assign hire answers
labelers core crowd programs hire answers
judging core crowd programs answers
ruling core crowd io
serving core crowd programs answers online labelers io
io core crowd
recheck core crowd io
pages core
studies core crowd programs assign hire answers online labelers io
benching core crowd programs assign hire answers online labelers io solvers recheck studies
verbs core crowd programs assign hire answers online labelers io solvers recheck studies benching serving pages \
judging ruling
cli core crowd io pages verbs
testing core crowd programs solvers online verbs
__main__ cli"""  # a room, and which rooms it may import beside itself and the ground: no method knows recheck
RESULTS = r"assign\.(plan|cascade\.adaptive_plan)|answers\.(planned|answers|audit\.(draws|escalation))"
RESULTS = re.compile(rf"crowdopt\.({RESULTS}|hire\.(candidates|ranking))\.")  # what methods are asked and answer
READERS = {"io", "pages", "cli"}  # with, which these know and recheck does not
SOLVERS = {"highspy", "pulp", "cvxpy", "ortools", "pyscipopt", "gurobipy"}  # known to these alone
UNSAFE = {"tests", "benchmarks", "pickle", "socket", "requests"}  # a stranger's campaign executes and calls nothing
HEAVY = SOLVERS | {"numba", "scipy.optimize", "scipy.stats", "pandas", "pyarrow", "matplotlib", "altair"}
FROM = re.compile(r"^\s*from ([\w.]+) import (?:\(([^)]*)\)|(.+))$", re.MULTILINE)
IMPORT, AS = re.compile(r"^\s*import ([\w., ]+)$", re.MULTILINE), re.compile(r"\s+as\s+\w+|#.*")
PLACES = ("", "crowdopt/**/", "models/", "benchmarks/**/", "tests/**/", ".github/**/")
PAGES = [page for place in PLACES for page in ROOT.glob(f"{place}*.md")]


@cache
def imported(name: str) -> set[str]:
    """Every name that a file imports, at its top or inside functions; parsing 700 files takes ten times as long."""
    text = FILES[name].read_text(encoding="utf-8")
    found = {part for plain in IMPORT.findall(text) for part in AS.sub("", plain).replace(" ", "").split(",")}
    for module, several, one in FROM.findall(text):
        found |= {f"{module}.{part.strip()}" for part in AS.sub("", several or one).split(",") if part.strip()}
    return found


@pytest.mark.parametrize("room", BELOW.splitlines())
def test_imports_point_down(room):
    """A bound that recheck itself had made was false, and ``verify`` agreed: it knows no method, and none knows it."""
    room, allowed = room.split()[0], {*room.split(), *GROUND}
    for name in (name for name in FILES if f"{name}.".startswith(f"crowdopt.{room}.")):
        for other in imported(name):
            top, _, rest = other.partition(".")
            assert top not in UNSAFE and (room == "solvers" or top not in SOLVERS), (name, other)
            result = room in READERS and RESULTS.match(other)
            assert top != "crowdopt" or not rest or rest.split(".")[0] in allowed or result, (name, other)


def test_every_room_is_held():
    """A room that the table does not know could import anything."""
    rooms = {name.split(".")[1] for name in FILES if name != "crowdopt"}
    assert rooms == {line.split()[0] for line in BELOW.splitlines()} | GROUND


@pytest.mark.parametrize("key", [str, lambda name: str(FILES[name].parent)], ids=["files", "folders"])
def test_nothing_runs_in_a_circle(key):
    """What imports each other cannot be read one after another; a package's face, and its own folder, hand names on."""
    graph = {}
    for name in FILES.keys() - {"crowdopt"}:
        for other in {one if one in FILES else one.rpartition(".")[0] for one in imported(name)} & FILES.keys():
            if key(name) not in (key(other), key("crowdopt")) and not other.startswith(f"{name}."):
                graph.setdefault(key(name), set()).add(key(other))
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("code", ["import crowdopt; crowdopt.assign", "from crowdopt.cli import main"])
def test_an_import_loads_nothing_heavy(code):
    """An import for one call, or a verb's help, does not wait for the others."""
    command = [sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"]
    loaded = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert not loaded & (HEAVY if "assign" in code else {"numpy", "crowdopt.verbs", *HEAVY})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page):
    """Files and headings both, and files named as code: they move and change their names."""
    for path, _, anchor in (link.partition("#") for link in links(page)):
        goal = page.parent / path if path else page
        assert goal.exists() and (not anchor or anchor in anchors(goal)), f"{path}#{anchor}"
    named = re.findall(r"`((?:crowdopt|tests|benchmarks)/[a-z\d_/]+\.py)", page.read_text(encoding="utf-8"))
    assert not [name for name in named if not (ROOT / name).exists()]


def test_the_commands_of_the_readme_are_typed():
    """By .ci/run, which takes them from the page by their marks."""
    script, page = ((ROOT / name).read_text(encoding="utf-8") for name in (".ci/run", "README.md"))
    marked = re.findall(r"^<!-- command: (\w+) -->\n```sh\n.+\n```$", page, re.MULTILINE)
    assert f"for name in {' '.join(marked)}; do\n  line=$(command_named" in script and marked == ["run", "test"]


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
    assert len(pages) > len(guides.PAGES)
    for page, text in pages.items():
        assert not re.search(r'<(?:script|img|link)[^>]+(?:src|href)="https?:', text), page
        for link in {unescape(link) for link in GOALS.findall(text) if not re.match(r"\w+:", link)}:
            path, _, anchor = link.partition("#")
            path = path.partition("?")[0]  # a digest, by which browsers know a file that changed
            goal = (page.parent / unquote(path)).resolve() if path else page
            assert goal.is_file() and (not anchor or anchor in anchors[goal]), (page, link)


def test_the_page_of_an_index_has_no_link_to_a_file_beside_it(monkeypatch):
    """Once a home is named every link begins there, pictures as they are; without one nothing changes."""
    plugin = SimpleNamespace(MetadataHookInterface=object)
    monkeypatch.setitem(sys.modules, "hatchling.metadata.plugin.interface", plugin)
    hook, address = run_path(str(ROOT / ".ci" / "home.py")), "https://example.org/crowdopt/blob/main"
    bare, told = {}, {}
    for home, facts in (("", bare), (address + "/", told)):
        monkeypatch.setenv("CROWDOPT_HOME", home)
        hook["Home"]().update(facts)
    assert bare["readme"]["text"] == (ROOT / "README.md").read_text(encoding="utf-8") and not bare["urls"]
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
    pages = ("models/index", "reference/index", "command_line", "crowdopt/assign/index")
    text, face, said, guide = ((site / f"{page}.html").read_text(encoding="utf-8") for page in pages)
    source = (ROOT / "models" / "README.md").read_text(encoding="utf-8")
    assert text.count("<math") == source.count("$`") + source.count("```math")
    assert "$`" not in text and "```" not in text and not re.search(r">\\[a-z]+<", text)
    calls = [name for name in crowdopt.__all__ if callable(getattr(crowdopt, name))]
    assert len(calls) > 40 and not [name for name in calls if f'id="crowdopt.{name}"' not in face]
    assert (site / "reference" / "crowdopt.programs.assignment.html").exists()
    assert all(f'id="crowdopt-{verb}"' in said for verb in OURS)
    assert all(word in guide for word in ("search-button", "left-prev", "right-next", "copybutton", "page-toc"))
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
