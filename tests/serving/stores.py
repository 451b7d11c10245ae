"""Every kind of store, empty, for the contract that all of them keep; PostgreSQL's server where tests may start one."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from functools import cache
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path

import pytest

from crowdopt.verbs.live import store_of

ACCOUNTS = ("postgres", "nobody")  # who may own the server where the tests are root's: it refuses to be


class Server:
    """A PostgreSQL server of its own in a temporary folder, reached by a socket there, that outlives no test run."""

    def __init__(self, programs: Path) -> None:
        self.programs = programs
        self.folder = Path(tempfile.mkdtemp(prefix="crowdopt-pg-", dir="/tmp"))  # a socket's path has 100 letters
        self.data = self.folder / "data"
        import pwd

        known = {entry.pw_name for entry in pwd.getpwall()} if os.geteuid() == 0 else ()
        self.account = next((name for name in ACCOUNTS if name in known), None)
        if self.account is not None:
            shutil.chown(self.folder, self.account)
        self._do("initdb", "-D", self.data, "-U", "crowdopt", "-A", "trust", "-E", "UTF8", "--no-sync")
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-k {self.folder} -c listen_addresses=''"
        self._do("pg_ctl", "-D", self.data, "-l", self.folder / "log", "-o", options, "-w", "start")

    def kill(self) -> None:
        """End it without letting it finish anything, as a power cut does."""
        self._do("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop")

    def end(self) -> None:
        """Stop it and remove what it wrote."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, folder: Path) -> str:
        """The address of a store that belongs to a folder."""
        name = "s" + sha256(str(folder).encode()).hexdigest()[:16]
        return f"postgresql://crowdopt@/postgres?host={self.folder}&schema={name}"

    def _do(self, program: str, *words: object) -> None:
        command = [str(self.programs / program), *map(str, words)]
        if self.account is not None:
            command = ["runuser", "-u", self.account, "--", *command]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=self.folder)


@cache
def server() -> Server:
    """The server of this process; the test is skipped where PostgreSQL is not installed."""
    pytest.importorskip("psycopg")
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    there = shutil.which("initdb") or (str(debian[-1]) if debian else None)
    if there is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    running = Server(Path(there).resolve().parent)
    atexit.register(running.end)
    return running


PLACES = {
    "memory": lambda folder: ":memory:",
    "sqlite": lambda folder: folder / "campaign.db",
    "postgresql": lambda folder: server().url(folder),
}
STORES = {kind: lambda folder, place=place: store_of(place(folder)) for kind, place in PLACES.items()}
KINDS = ["memory", "sqlite", pytest.param("postgresql", marks=pytest.mark.servers)]

CHILDREN = get_context("forkserver")  # imports once
CHILDREN.set_forkserver_preload(["tests.serving.test_stores"])
