"""The runner's promises: nothing finished is lost, nothing depends on who computed it or when."""

from __future__ import annotations

import json
import os
import pty
import random
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from crowdopt import bars
from crowdopt.io.parts import read_parts_folder
from crowdopt.jobs import DIED, Fault, Job, JobsError, cluster, finished, run, seed_of
from tests import job_functions
from tests.dask_cluster import two_workers
from tests.guides import AT_THE_END
from tests.job_runner import table

DRAWS = [Job.of(job_functions.draw, seed=seed_of(0, k)) for k in range(12)]


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("expected")
    return table(run(DRAWS, folder, processes=0)), files(folder)


def test_any_number_of_processes_gives_the_same_bytes(expected, tmp_path):
    """Seeds are derived from the place of a row, texts are made where the row is, the order is the jobs'."""
    assert table(run(DRAWS, tmp_path, processes=3)) == expected[0]
    assert files(tmp_path) == expected[1]


def test_any_order_and_any_executor_give_the_same_bytes(expected, tmp_path):
    """Finished in reverse on threads, then collected in the order asked for: nothing is left to compute."""
    with ThreadPoolExecutor(4) as threads:
        run(DRAWS[::-1], tmp_path, executor=threads)
    assert files(tmp_path) == expected[1]
    with ThreadPoolExecutor(1) as threads:
        threads.shutdown()  # a job submitted now is an error
        assert table(run(DRAWS, tmp_path, executor=threads)) == expected[0]


def test_seeds_belong_to_places():
    """Another base, or another place, is another seed; the same ones are the same for good."""
    assert len({seed_of(base, k) for base in range(3) for k in range(500)}) == 1500
    assert seed_of(0, 1, 2) != seed_of(0, 2, 1)
    assert 0 <= seed_of(2**60, 5) < 2**63
    assert seed_of(0, 0) == 7896617691693857887


def test_the_key_knows_arguments_not_their_order():
    """A file is found again whatever order the arguments were written in; any other value is another file."""
    key = Job("m:f", {"a": 1, "b": [2, "x"]}).key
    assert key == Job("m:f", {"b": [2, "x"], "a": 1}).key
    assert len({key, Job("m:f", {"a": 1, "b": [2, "y"]}).key, Job("m:g", {"a": 1, "b": [2, "x"]}).key}) == 3


@pytest.mark.parametrize("processes", [0, 2])
def test_a_failed_row_is_a_row_with_its_error(tmp_path, processes):
    """The others are computed all the same; the trace says where, without a path of this machine."""
    rows = run([Job.of(job_functions.refuse, number=k) for k in range(6)], tmp_path, processes)
    assert [row.result for row in rows] == [0, None, 2, 3, None, 5]
    assert (rows[1].error, rows[1].fault, rows[1].refusal) == ("ValueError: 1 will not do", Fault.RAISED, None)
    assert [step.split(":")[0] for step in rows[1].trace] == ["tests.job_functions"]
    assert [row.error is None for row in rows] == [True, False, True, True, False, True]


def test_a_row_that_kills_its_process_is_a_row_with_its_error():
    """Only the row that dies by itself is blamed, not those that were in flight beside it."""
    rows = run([Job.of(job_functions.vanish, number=k) for k in range(4)], processes=2)
    assert [row.error for row in rows] == [DIED if k == 2 else None for k in range(4)]
    assert [row.fault for row in rows] == [Fault.DIED if k == 2 else None for k in range(4)]


def test_a_row_that_is_refused_tells_the_sentence(tmp_path):
    """Kept in a file and read again, it is refused for the same reason."""
    job = Job.of(read_parts_folder, path=str(tmp_path / "none"))
    for row in (*run([job], tmp_path / "rows", processes=0), *finished([job], tmp_path / "rows")):
        assert row.fault is Fault.REFUSED
        assert f"InputError: {row.refusal}" == row.error


def test_what_cannot_be_a_row_says_so():
    """SystemExit does not end the run, NaN is no JSON, an unknown function is named."""
    jobs = [Job.of(job_functions.leave, number=3), Job.of(job_functions.not_a_number), Job("tests.nowhere:f", {})]
    said = [row.error for row in run(jobs, processes=0)]
    assert said[0] == "SystemExit: 3"
    assert "not JSON compliant" in said[1]
    assert "tests.nowhere" in said[2]
    with pytest.raises(ValueError, match="no function at the top"):
        Job.of(lambda: None)


def test_failed_and_damaged_rows_can_be_computed_again(tmp_path):
    """A kept failure stays one until it is asked for again; half a file, or another row's, is none."""
    jobs = [Job.of(job_functions.refuse, number=k) for k in (0, 1)]
    run(jobs, tmp_path, processes=0)
    first, second = (tmp_path / f"{job.key}.json" for job in jobs)
    second.write_text(second.read_text(encoding="utf-8").replace("1 will not do", "yesterday"), encoding="utf-8")
    assert run(jobs, tmp_path, processes=0)[1].error == "ValueError: yesterday"
    assert run(jobs, tmp_path, processes=0, retry=True)[1].error == "ValueError: 1 will not do"
    whole = first.read_bytes()
    for damage in (whole[: len(whole) // 2], b"", second.read_bytes(), b"[]"):
        first.write_bytes(damage)
        run(jobs, tmp_path, processes=0)
        assert first.read_bytes() == whole


@contextmanager
def runner(*words: object) -> Iterator[subprocess.Popen]:
    command = [sys.executable, "-m", "tests.job_runner", *map(str, words)]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as running:
        try:
            yield running
        finally:
            children = psutil.Process(running.pid).children(recursive=True) if running.poll() is None else []
            running.kill()
            psutil.wait_procs(children, timeout=10)  # one that is at a row ends it


def test_kill_9_loses_nothing_finished(tmp_path):
    """Killed at some moment and started again: one table, and no row that was kept computed twice."""
    with runner("slow_draw", 40, tmp_path / "rows", tmp_path, 2):
        wait_for(lambda: list((tmp_path / "rows").glob("[!.]*.json")), 1)
        time.sleep(random.Random(0).uniform(0, 0.2))
    kept = {path.stem for path in (tmp_path / "rows").glob("[!.]*.json")}
    (tmp_path / "log").unlink(missing_ok=True)
    with runner("slow_draw", 40, tmp_path / "rows", tmp_path, 2) as running:
        said = running.communicate()[1].decode()
    assert not said or AT_THE_END.fullmatch(said)  # on a busy machine it takes a while
    jobs = [Job("tests.job_functions:slow_draw", {"seed": seed_of(7, k), "log": f"{tmp_path}/log"}) for k in range(40)]
    log = [int(line) for line in (tmp_path / "log").read_text(encoding="utf-8").split()] if len(kept) < 40 else []
    assert sorted(log) == sorted(job.arguments["seed"] for job in jobs if job.key not in kept)
    assert (tmp_path / "table").read_text(encoding="utf-8") == table(run(jobs, processes=0))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_their_parent(tmp_path, how):
    """No orphan goes on computing, however the parent ended."""
    pids, folder = tmp_path / "pids", tmp_path / "rows"
    pids.mkdir()
    with runner("wait_with", 2, folder, pids, 2) as running:
        workers = wait_for(lambda: [int(path.read_text(encoding="utf-8") or 0) for path in pids.iterdir()], 2)
        running.send_signal(how)
        running.wait(60)
    wait_for(lambda: [pid for pid in workers if not psutil.pid_exists(pid)], 2)
    assert not list(folder.iterdir())


def wait_for(look, count: int, seconds: float = 60) -> list[int]:
    end = time.monotonic() + seconds
    while len(found := [one for one in look() if one]) < count:
        assert time.monotonic() < end, found
        time.sleep(0.02)
    return found


@pytest.mark.parametrize("seconds", [0.0, 1e9])
def test_in_a_pipe_one_line_at_the_end_of_what_took_a_while(monkeypatch, capsys, seconds):
    """Without a letter that moves the cursor; and nothing of what is soon over."""
    monkeypatch.setattr(bars, "WHILE", seconds)
    with bars.counting("trials", 7, 4, "row") as bar:
        for _ in range(3):
            bar.update()
        assert capsys.readouterr().err == ""
    said = capsys.readouterr().err
    assert said == "" if seconds else AT_THE_END.fullmatch(said)


def test_a_bar_on_a_terminal(tmp_path):
    """A watcher sees how far it is and how long it will take; in a pipe it would be silent."""
    command = [sys.executable, "-m", "tests.job_runner", "slow_draw", "4", str(tmp_path / "rows"), str(tmp_path), "1"]
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(ours, (24, 80))
    subprocess.run(command, stderr=theirs, check=True)
    os.close(theirs)
    shown = read_all(ours)
    assert "4/4" in shown
    assert "row/s" in shown or "s/row" in shown


def read_all(terminal: int) -> str:
    """Everything written to a terminal that is no longer held open (Linux then says EIO)."""
    parts = []
    with suppress(OSError):
        while part := os.read(terminal, 65536):
            parts.append(part)
    os.close(terminal)
    return b"".join(parts).decode()


def test_processes_that_cannot_start_are_a_sentence(tmp_path):
    """A program read from a pipe cannot be spawned: said at once, blamed on no row."""
    code = "from crowdopt.jobs import *\nrun([Job('math:sqrt', {})], processes=1)"
    done = subprocess.run([sys.executable, "-"], input=code, capture_output=True, text=True, cwd=tmp_path)
    assert "JobsError: worker processes do not start" in done.stderr


@pytest.mark.slow
def test_two_dask_workers_one_killed_in_the_middle(tmp_path):
    """The rows of the lost worker move to the other one: the same table as in this process."""
    folder = tmp_path / "rows"
    with (
        two_workers(tmp_path / "dask") as (address, workers),
        runner("slow_draw", 60, folder, tmp_path, 2, address) as running,
    ):
        wait_for(lambda: [path.stem for path in folder.glob("*.json")], 10, 60)
        workers[0].kill()
        said = running.communicate(timeout=60)[1]
        assert running.returncode == 0, said
    jobs = [Job("tests.job_functions:slow_draw", {"seed": seed_of(7, k), "log": f"{tmp_path}/log"}) for k in range(60)]
    assert (tmp_path / "table").read_text(encoding="utf-8") == table(run(jobs, processes=0))
    assert len(list((tmp_path / "rows").iterdir())) == 60


def test_nobody_at_the_address_is_a_sentence(monkeypatch):
    """Also where the extra is missing."""
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    with pytest.raises(JobsError, match="crowdopt\\[cluster\\]"), cluster("tcp://127.0.0.1:1"):
        pass


def test_rows_are_strict_json(tmp_path):
    """Any reader of JSON reads them."""
    run(DRAWS[:2], tmp_path, processes=0)
    for path in tmp_path.iterdir():
        assert json.loads(path.read_text(encoding="utf-8"))["error"] is None
