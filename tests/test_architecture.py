"""The house rules: who may import whom, names that stand once, which library lives where, what an import may load."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import defaultdict
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import crowdopt
from tests.sources import tree_of

ROOT = Path(crowdopt.__file__).parent
FILES = sorted(path for path in ROOT.rglob("*.py"))
GROUND = {
    "arrays",
    "bars",
    "compiled_kernels",
    "confine",
    "documents",
    "errors",
    "files",
    "interrupts",
    "jobs",
    "memory",
    "notebooks",
    "pauses",
    "plain_kernels",
    "stops",
    "version",
}
QUESTIONS = {"assign", "hire", "answers", "online", "labelers", "live"}

MAY_IMPORT = {  # a room, and the rooms that it may import beside the ground
    "core": {"core"},
    "crowd": {"core", "crowd"},
    "programs": {"core", "crowd", "programs"},
    "backends": {"core", "backends"},
    "proofs": {"core", "proofs"},
    "assign": {"core", "crowd", "programs", "assign"},
    "hire": {"core", "crowd", "programs", "hire"},
    "answers": {"core", "crowd", "programs", "answers"},
    "online": {"core", "crowd", "programs", "answers", "hire", "assign", "online"},
    "labelers": {"core", "crowd", "programs", "answers", "hire", "labelers"},
    "live": {"core", "crowd", "programs", "answers", "online", "labelers", "io", "live"},
    "io": {"core", "crowd", "io"},
    "recheck": {"core", "crowd", "io", "recheck"},
    "studies": {"core", "crowd", "programs", "io", "studies"} | QUESTIONS,
    "bench": {"core", "crowd", "programs", "backends", "io", "recheck", "studies", "bench"} | QUESTIONS,
    "report": {"core", "report"},
    "api": {
        "core",
        "crowd",
        "programs",
        "backends",
        "io",
        "recheck",
        "proofs",
        "studies",
        "bench",
        "report",
        "live",
        "api",
    }
    | QUESTIONS,
    "cli": {"core", "crowd", "io", "report", "api", "cli"},
    "testing": {"core", "crowd", "programs", "backends", "online", "api", "testing"},
    "__main__": {"cli"},
}
RESULTS = {  # what the questions answer with: read, written, rechecked and drawn by rooms that know no method
    "crowdopt.assign.plan",
    "crowdopt.assign.cascade.adaptive_plan",
    "crowdopt.hire.selected",
    "crowdopt.answers.planned",
    "crowdopt.answers.voted",
    "crowdopt.answers.audit.audited",
    "crowdopt.answers.audit.escalated",
}
ASKS_AGAIN = {"api/verify.py", "bench/harness/judge.py"}  # who may ask the second opinion
READS_RESULTS = {"io", "report", "cli"}  # and not recheck: the second opinion shares no code with any method
AT_HOME = {  # solver libraries, each in one file
    "highspy": "backends/highs.py",
    "pulp": "backends/pulp.py",
    "cvxpy": "backends/cvxpy.py",
    "ortools": "backends/ortools.py",
    "pyscipopt": "backends/scip.py",
    "gurobipy": "backends/gurobi.py",
}
NOT_LOADED = ["highspy", "pulp", "cvxpy", "numba", "pyarrow", "pandas", "altair"]
NOT_LOADED += ["scipy.stats", "scipy.optimize", "scipy.special"]
EACH_ITS_OWN = {"__init__.py", "__main__.py", "policy.py", "theorems.py"}  # names that every question may have


def room(path: Path) -> str:
    """The package or top-level module that a file belongs to."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def module(path: Path) -> str:
    """A file's dotted name."""
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Every node of a file's syntax."""
    return tuple(ast.walk(tree_of(path)))


@cache
def imported(path: Path) -> set[str]:
    """Every module a file imports, at its top or inside functions."""
    found = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute, so that they can be read"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def strangers(path: Path) -> list[str]:
    """What a file imports from a floor that it may not know."""
    outside = [name for name in imported(path) if name.split(".")[0] in ("tests", "benchmarks", "models")]
    if room(path) in ("__init__", *GROUND):
        return outside
    others = {name for name in imported(path) if name.startswith("crowdopt.")}
    if room(path) in READS_RESULTS:
        others = {name for name in others if not name.startswith(tuple(f"{result}." for result in RESULTS))}
    allowed = MAY_IMPORT[room(path)] | GROUND
    return outside + sorted(name for name in others if name.split(".")[1] not in allowed)


def test_imports_point_down():
    """A floor knows only the floors below it, and none imports the tests or the benchmarks."""
    wrong = {str(path.relative_to(ROOT)): strangers(path) for path in FILES}
    assert not {path: names for path, names in wrong.items() if names}


def test_the_second_opinion_knows_no_method_and_no_method_knows_it():
    """A bound that recheck itself had made was false, and ``verify`` agreed: one hand proves, another checks.

    Whatever recheck imports, directly or by others, is no method; the types of results are no methods.
    """
    known = {module(path): path for path in FILES}
    del known["crowdopt"]  # the face: it loads nothing
    reached, waiting = set(), [name for name in known if name.startswith("crowdopt.recheck")]
    while waiting:
        name = waiting.pop()
        if name not in reached and name not in RESULTS:
            reached.add(name)
            names = imported(known[name])
            waiting += [full for part in names for full in (part, part.rpartition(".")[0]) if full in known]
    rooms = {name: room(known[name]) for name in reached if known[name].name != "__init__.py"}
    assert not {name for name, where in rooms.items() if where in QUESTIONS}
    asking = {path.relative_to(ROOT).as_posix() for path in FILES if room(path) != "recheck" and _asks_again(path)}
    assert asking == ASKS_AGAIN


def _asks_again(path: Path) -> bool:
    return any(name.startswith("crowdopt.recheck.") for name in imported(path))


def imports_of(path: Path, known: set[str]) -> set[str]:
    """The files that a file imports, at its top or inside functions."""
    return {full if full in known else full.rpartition(".")[0] for full in imported(path)} & known - {module(path)}


def assert_no_circle(graph: dict[str, set[str]]) -> None:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_nothing_runs_in_a_circle():
    """Files that import each other cannot be read one after another."""
    known = {module(path) for path in FILES}
    graph = {}
    for path in FILES:
        name = module(path)
        graph[name] = imports_of(path, known)
        if path.name == "__init__.py":  # a package's face hands names on
            graph[name] = {other for other in graph[name] if not other.startswith(f"{name}.")}
    assert_no_circle(graph)


def test_no_folders_run_in_a_circle():
    """Rooms whose files import each other cannot be read one after another; the package's own folder is the ground."""
    home = {module(path): path.parent for path in FILES}
    graph = defaultdict(set)
    for path in FILES:
        graph[str(path.parent)] |= {str(home[name]) for name in imports_of(path, set(home))}
    assert_no_circle({one: others - {one, str(ROOT)} for one, others in graph.items() if one != str(ROOT)})


def test_no_file_name_stands_twice():
    """A reader who looks for a noun finds one file; a verb has its own in api/ and cli/."""
    places = defaultdict(set)
    for path in FILES:
        if path.name not in EACH_ITS_OWN:
            places[path.name].add("verb" if room(path) in ("api", "cli") else str(path.relative_to(ROOT)))
    assert not {name: where for name, where in places.items() if len(where - {"verb"}) > 1}
    noun_and_verb = {name for name, where in places.items() if "verb" in where and len(where) > 1}
    assert not noun_and_verb, f"a verb's file bears the name of another room: {noun_and_verb}"


def test_no_class_name_stands_twice():
    """A name in an error message or a signature leads to one definition."""
    places = defaultdict(list)
    for path in FILES:
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(ROOT)))
    assert not {name: where for name, where in places.items() if len(where) > 1}


def test_each_solver_library_lives_in_one_file():
    """Whatever a solver's interface does next year, one file changes."""
    for path in FILES:
        for name in imported(path):
            library = name.split(".")[0]
            assert library not in AT_HOME or path.relative_to(ROOT).as_posix() == AT_HOME[library], path


def test_compiled_code_lives_in_kernels():
    """A file or folder of that name where a floor needs one, loaded only when it runs; all the rest is plain numpy."""
    for path in FILES:
        libraries = {name.split(".")[0] for name in imported(path)}
        assert "numba" not in libraries or path.stem.endswith("kernels") or path.parent.name == "kernels", path


def test_core_and_crowd_know_no_third_party_but_numpy_and_scipy():
    """The ground floor stands by itself."""
    for path in FILES:
        if room(path) in ("core", "crowd") and not path.stem.endswith("kernels"):
            others = {name.split(".")[0] for name in imported(path)} - set(sys.stdlib_module_names) - {"crowdopt"}
            assert others <= {"numpy", "scipy"}, path


def test_importing_crowdopt_loads_no_solver():
    """A fast import, and no library loaded that another one cannot stand in the same process."""
    probe = f"import sys, crowdopt; crowdopt.assign; print([name for name in {NOT_LOADED} if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"


def test_importing_crowdopt_loads_nothing_but_its_face():
    """An import for one call does not wait for the others: modules are counted, because seconds vary."""
    probe = (
        "import sys, crowdopt; print([one for one in sys.modules if one.partition('.')[0] in ('crowdopt', 'numpy')])"
    )
    said = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout
    assert sorted(ast.literal_eval(said)) == ["crowdopt", "crowdopt.interrupts", "crowdopt.version"]


def test_a_first_campaign_waits_for_no_library(tmp_path):
    """``init`` writes texts, and needs no array for that."""
    probe = "import sys; from crowdopt.cli import main; main(['init', sys.argv[1]], standalone_mode=False);"
    probe += "print([one for one in sys.modules if one in ('numpy', 'scipy', 'numba', 'highspy', 'pulp', 'cvxpy')])"
    command = [sys.executable, "-c", probe, str(tmp_path / "birds")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.splitlines()[-1] == "[]"


def test_a_command_loads_its_own_verb_alone():
    """One verb typed, or a tab, does not wait for the other twenty: modules are counted, as above."""
    probe = (
        "import sys; from crowdopt.cli import main; before = set(sys.modules); main.get_command(None, 'init');"
        "print([one for one in sys.modules if one.startswith('crowdopt.cli.') or one in ('numpy', 'scipy')],"
        "[one for one in before if one in ('numpy', 'crowdopt.api')])"
    )
    said = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout
    verbs, heavy = ast.literal_eval(said.strip().replace("] [", "], ["))
    rooms = {one.removeprefix("crowdopt.cli.") for one in verbs if one.startswith("crowdopt.cli.")}
    assert rooms == {"command_line", "common", "manual", "init"}
    assert heavy == []


def test_equals_keep_their_order():
    """Other sorts of numpy order equals as the processor's vector unit does: plans would differ between machines.

    In compiled code numba sorts by itself, the same way everywhere.
    """
    for path in FILES:
        if path.stem.endswith("kernels") or path.parent.name == "kernels":
            continue
        for node in nodes_of(path):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                name, words = node.func.attr, {word.arg: ast.unparse(word.value) for word in node.keywords}
                assert name != "argpartition", (path, node.lineno)
                assert name != "argsort" or words.get("kind") == "'stable'", (path, node.lineno)


def test_no_pickle_no_eval_no_network():
    """Reading a stranger's campaign executes nothing and calls no server; one file calls a server that a user named."""
    for path in FILES:
        names = imported(path)
        assert not {name.split(".")[0] for name in names} & {"pickle", "socket", "requests"}, path
        calling = any(name.startswith(("urllib.request", "http.")) or name == "http" for name in names)
        assert not calling or path.relative_to(ROOT).as_posix() == "io/bridges/exchange/web.py", path
        calls = [node.func.id for node in nodes_of(path) if _is_call(node)]
        assert not set(calls) & {"eval", "exec"}, path


def _is_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
