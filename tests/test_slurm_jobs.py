"""Rows through SLURM: what is handed in comes back as if it were computed here."""

from __future__ import annotations

import sys
from concurrent.futures import Future

import pytest

from crowdopt.jobs import Fault, Job, JobsError, cluster, run, table
from crowdopt.slurm_jobs import SlurmJobs
from tests.job_functions import refuse

ROWS = [Job.of(refuse, number=number) for number in range(4)]


class Prompt:
    """A SLURM of our own: it does each job when it is handed in, but loses some."""

    def __init__(self, executor, mock, lost=()):
        self.executor, self.mock, self.lost, self.jobs = executor, mock, lost, []

    def submit(self, call, *arguments):
        from submitit.core import submission

        job = self.executor.submit(call, *arguments)
        job._results_timeout_s = 0
        with self.mock.job_context(job.job_id):
            if len(self.jobs) in self.lost:
                self.mock.set_job_state(job.job_id, "NODE_FAIL")
            else:
                submission.process_job(job.paths.folder)
        self.jobs.append(job)
        return job


def test_rows_come_back_from_a_mocked_slurm(tmp_path):
    """Submitit's own mock of sbatch and sacct: the table of this process; a job that is lost is a row that says so."""
    slurm = pytest.importorskip("submitit.slurm.slurm", reason="the extra slurm is not installed")
    from submitit.slurm.test_slurm import mocked_slurm

    with mocked_slurm() as mock:
        queue = Prompt(slurm.SlurmExecutor(folder=tmp_path), mock, lost=(2,))
        with SlurmJobs(queue, look=0.01) as executor:
            rows = run(ROWS, executor=executor)
        assert "#SBATCH" in (tmp_path / f"{queue.jobs[0].job_id}_submission.sh").read_text(encoding="utf-8")
    assert rows[2].fault is Fault.LOST
    assert table([*rows[:2], rows[3]]) == table(run([*ROWS[:2], ROWS[3]], processes=0))


class Waiting:
    """A job in the queue."""

    ended = False

    def done(self):
        return False

    def cancel(self, check):
        self.ended = True


def test_a_row_nobody_waits_for_any_more_leaves_the_queue():
    """A run that is stopped does not go on in the cluster."""
    job = Waiting()
    queue = type("Queue", (), {"submit": lambda self, call, *arguments: job})()
    with SlurmJobs(queue, look=0.01) as executor:
        future = executor.submit(refuse, 1)
        assert isinstance(future, Future) and future.cancel()
    assert job.ended


def test_where_there_is_no_slurm_a_sentence_says_so(tmp_path, monkeypatch):
    """Also where the extra is missing."""
    monkeypatch.setitem(sys.modules, "submitit", None)
    with pytest.raises(JobsError, match="crowdopt\\[slurm\\]"), cluster(f"slurm:{tmp_path}"):
        pass
