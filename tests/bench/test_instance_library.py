"""Our instance library: drawn to the same bytes, each value and bound with its proof, results of others checked."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import highspy
import pytest
from click.testing import CliRunner

from crowdopt.api import instance_library as rooms
from crowdopt.api.instance_library import library, submit
from crowdopt.bench.harness.library_index import beats, checksum, counts, read_index, shipped, with_better, write_index
from crowdopt.bench.harness.suites import SUITES, cases_of
from crowdopt.bench.sources import open_problem
from crowdopt.bench.sources.kind_cases import KINDS
from crowdopt.cli import main
from crowdopt.core.certificate import certify
from crowdopt.errors import InputError
from crowdopt.io.programs.program_files import read_program

SMALL = ["R10:50x20", "exact-error:60x12", "cascade:100x4", "hire:40x12"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few of the library's programs with points and proofs."""
    folder = tmp_path_factory.mktemp("library") / "made"
    library(folder, problems=SMALL, time_limit=10.0)
    return folder


def test_what_is_in_the_repository_is_what_seeds_draw(made):
    """The index that comes with the package has every case, and the checksums are those of the programs drawn here."""
    known = shipped()
    assert list(known) == [f"{rooms.stem_of(case)}.mps" for case in cases_of(SUITES["library"].entries)]
    assert sum(counts(known.values()).values()) >= 60 and counts(known.values())["open"] >= 5
    for path in made.glob("*.mps"):
        assert checksum(path) == known[path.name]["sha256"], path.name


def test_every_value_and_bound_has_its_file(made):
    """Values are points' of the MPS file as anyone reads it; bounds are what the checker alone reads off the proof."""
    rows = read_index(made / "index.csv")
    assert len(rows) == 7 and {row["status"] for row in rows.values()} <= {"easy", "hard"}
    for name, row in rows.items():
        assert row["bound"] <= row["value"] + 1e-9 * abs(row["value"])
        found = submit(made / name.replace(".mps", ".sol"))
        assert found["value"] == pytest.approx(row["value"], abs=1e-12) and not found["better"]
        assert read_program(made / name).cost.size == row["columns"]
    proofs = sorted(map(str, made.glob("*.vipr")))
    done = subprocess.run([sys.executable, "-I", str(made / "check_vipr.py"), *proofs], capture_output=True, text=True)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == len(proofs) == 7, done.stdout
    assert "R10-50x20-ip-0.mps" in (made / "index.html").read_text(encoding="utf-8")


def test_a_second_start_goes_on(made):
    """Programs that are there are not solved again; another folder's things are left alone."""
    before = (made / "index.csv").read_bytes()
    assert library(made, problems=SMALL, time_limit=10.0)["other"] == []
    assert (made / "index.csv").read_bytes() == before
    with pytest.raises(InputError, match="not a library"):
        library(made.parent.parent, problems=SMALL)
    with pytest.raises(InputError, match="has no problem"):
        library(made, problems=["R1:5x5"])


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_are_drawn_alike_each_time(kind):
    """Name and seed say which program it is, and another seed is another one; names are unique."""
    size = {"cascade": "20x4", "hire": "20x6"}.get(kind, "20x9")
    programs = [open_problem(f"{kind}:{size}", seed) for seed in (0, 0, 1)]
    one, same, other = (problem.build("ip") for problem in programs)
    assert (one.cost == same.cost).all() and (one.matrix != same.matrix).nnz == 0
    assert one.matrix.shape != other.matrix.shape or (one.matrix != other.matrix).nnz or (one.cost != other.cost).any()
    rooms.names_of(one.columns, programs[0].ids(one), rooms.MPS)
    assert not open_problem(f"{kind}:{size}", 0).build("lp").integer.any()


def _worse(index: Path, name: str, **known: object) -> None:
    """A copy of the index that knows less of a program."""
    rows = shipped()
    rows[name] |= {"value": None, "bound": None, "vouched": None, "settled": "", "status": "open", **known}
    write_index(list(rows.values()), index)


def test_a_better_result_is_taken(made, tmp_path):
    """A point, then a proof, for a program of which nothing is known: open until they meet, and hard then."""
    _worse(tmp_path / "index.csv", "R10-50x20-ip-1.mps")
    first = submit(made / "R10-50x20-ip-1.sol", tmp_path / "index.csv")
    assert first["better"] and first["value"] == 403.0 and first["row"]["status"] == "open"
    second = submit(made / "R10-50x20-ip-1.vipr", tmp_path / "index.csv")
    assert second["better"] and second["bound"] == 403.0 and second["row"]["status"] == "hard"
    assert read_index(tmp_path / "index.csv")["R10-50x20-ip-1.mps"]["value"] == 403.0
    assert not submit(made / "R10-50x20-ip-1.vipr", tmp_path / "index.csv")["better"]


def _edited(made: Path, name: str, folder: Path, old: str, new: str) -> Path:
    text = (made / name).read_text(encoding="utf-8")
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    return folder / name


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("R10-50x20-ip-0.sol", "y[", "z[", "no column"),
        ("R10-50x20-ip-0.sol", "] 1\n", "] 0\n", r"cover\[\d+\] is missed by"),
        ("R10-50x20-ip-0.sol", "] 1\n", "] .5\n", "from whole"),
        ("R10-50x20-ip-0.sol", "] 1\n", "] nan\n", "not finite"),
        ("R10-50x20-ip-0.sol", "] 1\n", "] one\n", "is no number"),
        ("R10-50x20-ip-0.sol", "] 1\n", "] 2\n", "is missed by 1, and"),
        ("R10-50x20-ip-0.vipr", "RTP range 345", "RTP range 346", "proves no bound"),
        ("R10-50x20-ip-0.vipr", "cover[0]> G ", "cover[0]> G 1", "constraints are not the program's"),
        ("R10-50x20-ip-0.vipr", "OBJ min\n1000 0 1 ", "OBJ min\n1000 0 2 ", "its objective"),
        ("R10-50x20-ip-0.vipr", "OBJ min", "OBJ max", "no VIPR file of a minimum"),
        ("R10-50x20-ip-0.vipr", "VER 1.0", "VER 1.0 VAR x", "no VIPR file of a minimum"),
    ],
)
def test_a_false_result_is_refused(made, tmp_path, name, old, new, said):
    """A label less, half a label, another program's proof, a bound raised: one sentence each."""
    with pytest.raises(InputError, match=said):
        submit(_edited(made, name, tmp_path, old, new))


def test_a_proof_may_leave_constraints_out_but_not_add_any(made, tmp_path):
    """The same proof where a column need not be whole and rows are scaled is still one of this program."""
    text = (made / "cascade-100x4-lp-1.vipr").read_text(encoding="utf-8")
    words = next(line for line in text.splitlines() if line.startswith("capacity[0]<")).split()
    scaled = [words[0], words[1], f"{words[2]}0", words[3]]
    scaled += [word if k % 2 == 0 else f"{word}0" for k, word in enumerate(words[4:])]
    changed = _edited(made, "cascade-100x4-lp-1.vipr", tmp_path, " ".join(words), " ".join(scaled))
    assert rooms.foreign_part(rooms.read_head(changed), *_exact("cascade:100x4", "lp", 1)) == ""
    whole = _edited(made, "cascade-100x4-lp-1.vipr", tmp_path, "INT 0", "INT 1\n0")
    with pytest.raises(InputError, match="for whole"):
        submit(whole)


def _exact(problem: str, program: str, seed: int) -> tuple[rooms.ExactProgram, list[str]]:
    opened = open_problem(problem, seed)
    built = opened.build(program)
    return rooms.ExactProgram(built), rooms.names_of(built.columns, opened.ids(built), rooms.MPS)


def test_names_and_endings_that_are_none(made, tmp_path):
    """A result is named as its program, and ends in what it is."""
    shutil.copy(made / "R10-50x20-ip-0.sol", tmp_path / "other.sol")
    shutil.copy(made / "R10-50x20-ip-0.sol", tmp_path / "R10-50x20-ip-0.txt")
    for name, said in (("other.sol", "the library has no"), ("R10-50x20-ip-0.txt", "must end in"), ("x.sol", "has no")):
        with pytest.raises(InputError, match=said):
            submit(tmp_path / name)
    with pytest.raises(InputError, match="cannot be read"):
        submit(tmp_path / "R10-50x20-ip-1.sol")
    text = (made / "R10-50x20-ip-1.vipr").read_text(encoding="utf-8")
    for end in ("INT", "RTP"):
        (tmp_path / "R10-50x20-ip-1.vipr").write_text(text.partition(end)[0][:-40], encoding="utf-8")
        with pytest.raises(InputError, match="it ends early"):
            submit(tmp_path / "R10-50x20-ip-1.vipr")


def test_a_point_as_highs_writes_it(made, tmp_path):
    """Its file has headings, rows and multipliers as well."""
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel(str(made / "hire-40x12-ip-0.mps"))
    solver.run()
    solver.writeSolution(str(tmp_path / "hire-40x12-ip-0.sol"), 0)
    found = submit(tmp_path / "hire-40x12-ip-0.sol")
    assert found["value"] == pytest.approx(solver.getInfo().objective_function_value) and not found["better"]


@pytest.mark.slow
def test_every_program_is_what_its_seed_draws(tmp_path):
    """The checksums of the whole index, and what is known of each."""
    made = library(tmp_path / "made")
    assert made["other"] == [] and {row["file"]: row for row in made["rows"]} == shipped()


def test_the_command_says_what_came_of_it(made, tmp_path):
    """Programs alone by --export, and a result by submit."""
    run = CliRunner().invoke
    words = ["bench", "library", "R10:50x20", "--export", "mps", "-o", str(tmp_path / "new")]
    assert "wrote 2 programs" in run(main, words).output
    assert not list((tmp_path / "new").glob("*.sol")) and len(list((tmp_path / "new").glob("*.mps"))) == 2
    done = run(main, ["bench", "library", "submit", str(made / "R10-50x20-ip-0.sol"), "--json"])
    assert json.loads(done.output)["value"] == 345.0
    assert "takes one file" in run(main, ["bench", "library", "submit"]).output
    done = run(main, ["bench", "library", "submit", str(made / "R10-50x20-ip-0.vipr")])
    assert "bound 345, checked; no better" in done.output


def test_what_is_known_only_gets_better():
    """Of two rows the lower value and the higher bound, with their dates; who settled a worse value settles nothing."""
    old = {"value": 10.0, "bound": 7.0, "vouched": None, "by": "", "settled": "exact", "proof": "rows", "date": "1"}
    new = {"value": 9.0, "bound": 6.0, "vouched": 8.0, "by": "x", "settled": "highs", "proof": "sets", "date": "2"}
    both = with_better(old, new)
    assert both == {**new, "bound": 7.0, "proof": "rows", "status": "easy"}
    assert with_better(new, old)["settled"] == "highs"
    assert with_better(old, {**new, "value": 10.0})["settled"] == "exact highs"
    assert beats(1.0, None, 1) and not beats(None, 1.0, 1) and not beats(1.0 + 1e-9, 1.0, 1)


def test_every_point_that_is_known_is_one_of_the_program(made):
    """The relaxation's optimum bounds each value from below."""
    for name, row in read_index(made / "index.csv").items():
        opened = open_problem(row["problem"], row["seed"])
        best = certify(rooms.linear(opened.build("lp")))
        assert row["value"] >= best.bound - 1e-6 * abs(best.bound), name
