"""The runner's promises: nothing finished is lost, nothing depends on who computed it or when."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

import psutil
import pytest

from crowdopt import bars
from crowdopt.io.parts import read_parts_folder
from crowdopt.jobs import DIED, Fault, Job, JobsError, cluster, finished, run, seed_of
from tests import job_functions
from tests.guides import AT_THE_END
from tests.job_functions import jobs, table

DRAWS = [Job.of(job_functions.draw, seed=seed_of(0, k)) for k in range(12)]


def test_any_number_of_processes_any_order_and_any_executor_give_the_same_bytes(tmp_path):
    """Seeds are derived from the place of a row, texts are made where the row is, the order is the jobs'.

    Finished in reverse on threads, then collected in the order asked for: nothing is left to compute.
    """
    here, processes, reverse = (tmp_path / name for name in ("here", "processes", "reverse"))
    expected = table(run(DRAWS, here, processes=0))
    assert table(run(DRAWS, processes, processes=3)) == expected
    with ThreadPoolExecutor(4) as threads:
        run(DRAWS[::-1], reverse, executor=threads)
    with ThreadPoolExecutor(1) as threads:
        threads.shutdown()  # a job submitted now is an error
        assert table(run(DRAWS, reverse, executor=threads)) == expected
    first, *others = ({path.name: path.read_bytes() for path in of.iterdir()} for of in (here, processes, reverse))
    assert others == [first, first]


def test_seeds_belong_to_places_and_keys_to_arguments():
    """Another base, or another place, is another seed; the same ones are the same for good.

    A file is found again whatever order the arguments were written in; any other value is another file.
    """
    assert len({seed_of(base, k) for base in range(3) for k in range(500)}) == 1500
    assert seed_of(0, 1, 2) != seed_of(0, 2, 1)
    assert 0 <= seed_of(2**60, 5) < 2**63 and seed_of(0, 0) == 7896617691693857887
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
    assert [(row.error, row.fault) for row in rows] == [(None, None), (None, None), (DIED, Fault.DIED), (None, None)]


def test_a_row_that_is_refused_tells_the_sentence(tmp_path):
    """Kept in a file and read again, it is refused for the same reason."""
    job = Job.of(read_parts_folder, path=str(tmp_path / "none"))
    for row in (*run([job], tmp_path / "rows", processes=0), *finished([job], tmp_path / "rows")):
        assert row.fault is Fault.REFUSED and f"InputError: {row.refusal}" == row.error


def test_what_cannot_be_a_row_says_so():
    """SystemExit does not end the run, NaN is no JSON, an unknown function is named."""
    wrong = [Job.of(job_functions.leave, number=3), Job.of(job_functions.not_a_number), Job("tests.nowhere:f", {})]
    for row, said in zip(
        run(wrong, processes=0), ("SystemExit: 3", "not JSON compliant", "tests.nowhere"), strict=True
    ):
        assert said in row.error
    with pytest.raises(ValueError, match="no function at the top"):
        Job.of(lambda: None)


def test_failed_and_damaged_rows_can_be_computed_again(tmp_path):
    """A kept failure stays one until it is asked for again; half a file, or another row's, is none."""
    both = [Job.of(job_functions.refuse, number=k) for k in (0, 1)]
    run(both, tmp_path, processes=0)
    first, second = (tmp_path / f"{job.key}.json" for job in both)
    second.write_text(second.read_text(encoding="utf-8").replace("1 will not do", "yesterday"), encoding="utf-8")
    assert run(both, tmp_path, processes=0)[1].error == "ValueError: yesterday"
    assert run(both, tmp_path, processes=0, retry=True)[1].error == "ValueError: 1 will not do"
    whole = first.read_bytes()
    for damage in (whole[: len(whole) // 2], b"", second.read_bytes(), b"[]"):
        first.write_bytes(damage)
        run(both, tmp_path, processes=0)
        assert first.read_bytes() == whole


@contextmanager
def runner(*words: object) -> Iterator[subprocess.Popen]:
    command = [sys.executable, "-m", "tests.job_functions", *map(str, words)]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as running:
        try:
            yield running
        finally:
            children = psutil.Process(running.pid).children(recursive=True) if running.poll() is None else []
            running.kill()
            psutil.wait_procs(children, timeout=10)  # one that is at a row ends it


def wait_for(look, count: int, seconds: float = 60) -> list[int]:
    end = time.monotonic() + seconds
    while len(found := [one for one in look() if one]) < count:
        assert time.monotonic() < end, found
        time.sleep(0.02)
    return found


def is_whole(folder: Path, count: int) -> bool:
    """Whether the table is that of this process."""
    return (folder / "table").read_text(encoding="utf-8") == table(run(jobs("slow_draw", count, folder), processes=0))


def test_kill_9_loses_nothing_finished(tmp_path):
    """Killed at some moment and started again: one table, and no row that was kept computed twice."""
    rows, log = tmp_path / "rows", tmp_path / "log"
    with runner("slow_draw", 30, rows, tmp_path, 2):
        wait_for(lambda: rows.glob("[!.]*.json"), 1)
        time.sleep(random.Random(0).uniform(0, 0.1))
    kept = {path.stem for path in rows.glob("[!.]*.json")}
    log.write_text("", encoding="utf-8")
    with runner("slow_draw", 30, rows, tmp_path, 2) as running:
        said = running.communicate()[1].decode()
    assert not said or AT_THE_END.fullmatch(said)  # on a busy machine it takes a while
    computed = sorted(map(int, log.read_text(encoding="utf-8").split()))
    assert computed == sorted(job.arguments["seed"] for job in jobs("slow_draw", 30, tmp_path) if job.key not in kept)
    assert is_whole(tmp_path, 30)


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


@contextmanager
def two_dask_workers(scratch: Path) -> Iterator[tuple[str, list[subprocess.Popen]]]:
    """The scheduler's address and the workers, each of one thread, without anybody who would start them again."""
    pytest.importorskip("dask.distributed", reason="the extra cluster is not installed")
    port = 20000 + os.getpid() % 20000
    address, place = f"tcp://127.0.0.1:{port}", ["--host", "127.0.0.1", "--no-dashboard"]
    worker = ["worker", address, *place, "--no-nanny", "--nthreads", "1", "--local-directory", str(scratch)]
    commands = [["scheduler", *place, "--port", str(port)], worker, worker]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = [subprocess.Popen([sys.executable, "-m", "dask", *words], **quiet) for words in commands]
    try:
        yield address, started[1:]
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.mark.slow
def test_two_dask_workers_one_killed_in_the_middle(tmp_path):
    """The rows of the lost worker move to the other one: the same table as in this process."""
    rows = tmp_path / "rows"
    with (
        two_dask_workers(tmp_path / "dask") as (address, workers),
        runner("slow_draw", 60, rows, tmp_path, 2, address) as running,
    ):
        wait_for(lambda: rows.glob("*.json"), 10)
        workers[0].kill()
        said = running.communicate(timeout=60)[1]
        assert running.returncode == 0, said
    assert len(list(rows.iterdir())) == 60 and is_whole(tmp_path, 60)


@pytest.mark.parametrize(("watched", "least"), [(False, 0.0), (False, 1e9), (True, 0.0)])
def test_a_bar_on_a_terminal_and_in_a_pipe_one_line_at_the_end_of_what_took_a_while(monkeypatch, watched, least):
    """A watcher sees how far it is; in a pipe no letter moves the cursor, and nothing is said of what is soon over."""
    monkeypatch.setattr(bars, "WHILE", least)
    monkeypatch.setattr(sys, "stderr", StringIO())
    sys.stderr.isatty = lambda: watched
    with bars.counting("trials", 7, 4, "row") as bar:
        for _ in range(3):
            bar.update()
        assert watched or sys.stderr.getvalue() == ""
    said = sys.stderr.getvalue()
    assert "7/7" in said if watched else AT_THE_END.fullmatch(said) if least == 0 else said == ""


def test_who_cannot_compute_is_a_sentence(tmp_path, monkeypatch):
    """A program read from a pipe cannot be spawned: said at once, blamed on no row. Without the extra no cluster."""
    code = "from crowdopt.jobs import *\nrun([Job('math:sqrt', {})], processes=1)"
    done = subprocess.run([sys.executable, "-"], input=code, capture_output=True, text=True, cwd=tmp_path)
    assert "JobsError: worker processes do not start" in done.stderr
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    with pytest.raises(JobsError, match="crowdopt\\[cluster\\]"), cluster("tcp://127.0.0.1:1"):
        pass
