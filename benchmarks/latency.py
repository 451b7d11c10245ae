"""How quickly a campaign that runs answers over HTTP, beside a service that only writes a row, and how soon it is back.

    python benchmarks/latency.py [--seconds 300] [--rate 200] [--events 100000] [--policy NAME ...]

10,000 tasks, 300 workers, 50 clients that ask and tell in turn over connections that stay open, SQLite with a flush for
each answer; clients and service share the machine. The aim: a 99th percentile of ask and of tell of at most 50 ms at
200 calls a second. A process that is started again replays the history: every decision is made anew and held against
the one that is written. The bare service takes a call
by FastAPI and inserts a row in a transaction of its own, with the same journal: what disk and framework cost.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter, process_time

import numpy as np

import crowdopt
from crowdopt.io.campaign import write_campaign
from crowdopt.serving.live_rows import LiveSettings
from crowdopt.serving.running import Live
from crowdopt.serving.stores import MEMORY, SQLiteStore
from crowdopt.verbs.live import LiveTables, token

SIZE, CLIENTS = "R10:10000x300", 50
WARM = 5.0  # seconds at the beginning that do not count: all clients come at once, and code is compiled or read
BARE = """
import sqlite3, sys
from threading import Lock
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
class Body(BaseModel):
    lease: int = 0
    label: str = ""
base, lock, app = sqlite3.connect(sys.argv[1], isolation_level=None, check_same_thread=False), Lock(), FastAPI()
for word in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "CREATE TABLE told (lease INTEGER, label TEXT)"):
    base.execute(word)
def insert(body: Body):
    with lock:
        base.execute("BEGIN IMMEDIATE")
        base.execute("INSERT INTO told VALUES (?, ?)", (body.lease, body.label))
        base.execute("COMMIT")
    return {"lease": 1}
app.post("/api/next")(insert)
app.post("/api/label")(insert)
config = uvicorn.Config(app, "127.0.0.1", 0, log_level="warning", access_log=False)
place = config.bind_socket()
place.listen(128)
print(f"page http://127.0.0.1:{place.getsockname()[1]}/", flush=True)
uvicorn.Server(config).run(sockets=[place])
"""


class Connection:
    """One that stays open."""

    def __init__(self, port: int) -> None:
        self.port = port

    async def post(self, path: str, token: str, body: object) -> tuple[int, dict]:
        """Status and JSON of an answer."""
        if not hasattr(self, "writer"):
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        content = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        self.writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        answered = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(answered.split("content-length:")[1].split("\r\n")[0])
        return int(answered.split(" ")[1]), json.loads(await self.reader.readexactly(length))


async def labelled(port: int, tokens: list[str], seconds: float, rate: float) -> dict[str, list[float]]:
    """Milliseconds of every call of the clients, by what was called; each client has some of the workers."""
    spent: dict[str, list[float]] = {"next": [], "label": []}
    begin = monotonic()

    async def client(k: int) -> None:
        line, mine, pause = Connection(port), tokens[k::CLIENTS], CLIENTS / rate
        rng, due, lease = np.random.default_rng(k), begin + pause * k / CLIENTS, None
        while (now := monotonic()) < begin + WARM + seconds and mine:
            await asyncio.sleep(max(0.0, due - now))
            due += pause
            name = "next" if lease is None else "label"
            body = {} if lease is None else {"lease": lease, "label": str(int(rng.random() < 0.3))}
            started, started_at = perf_counter(), monotonic() - begin
            status, answer = await line.post(f"/api/{name}", mine[0], body)
            if started_at >= WARM:
                spent[name].append(1000 * (perf_counter() - started))
            assert status == 200, answer
            lease = answer["lease"] if name == "next" else None
            if name == "next" and lease is None:
                mine.append(mine.pop(0))

    await asyncio.gather(*(client(k) for k in range(CLIENTS)))
    return spent


def served(command: list[str]) -> tuple[subprocess.Popen[str], int]:
    """A service that answers, and its port."""
    process = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    assert process.stdout is not None
    return process, int(process.stdout.readline().split("127.0.0.1:")[1].split("/")[0])


def measured(name: str, command: list[str], tokens: list[str], seconds: float, rate: float) -> None:
    """Run a service under load, and print a row."""
    process, port = served(command)
    try:
        spent = asyncio.run(labelled(port, tokens, seconds, rate))
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    cells = [name, f"{sum(map(len, spent.values())) / seconds:.0f}"]
    for times in spent.values():
        cells += [f"{np.percentile(times, share):.1f}" for share in (50, 99)] + [f"{max(times):.0f}"]
    print(f"| {' | '.join(cells)} |", flush=True)


def history(policy: str, events: int, path: Path) -> tuple[LiveTables, LiveSettings]:
    """Write a history of so many events."""
    instance = crowdopt.recipe(SIZE, 0)
    many = np.full(instance.n_workers, instance.n_tasks)
    instance = replace(instance, capacity=many, epsilon=np.full(instance.n_tasks, 1e-6))
    tables = LiveTables.of(instance)
    settings = LiveSettings(policy, crew=CLIENTS, campaign=tables.digest)
    live = Live(tables.state, SQLiteStore(MEMORY), settings)
    with live.together() as turn:
        workers = cycle(instance.worker_ids[: 2 * CLIENTS])
        while turn.state.seen < events:
            lease = turn.asked(next(workers))
            if lease is not None:
                turn.told(lease.id, str(lease.id % 3 % 2))
    with SQLiteStore(path).hold() as book:
        book.append(live.events())
    return tables, settings


def restarted(policy: str, events: int, path: Path) -> None:
    """Open a long history again, and print a row."""
    tables, settings = history(policy, events, path)
    wall, processor = perf_counter(), process_time()
    Live(tables.state, SQLiteStore(path), settings).ask("0")
    spent = f"{perf_counter() - wall:.1f} | {process_time() - processor:.1f}"
    print(f"| {policy} | {events} | {path.stat().st_size / 1e6:.0f} | {spent} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--rate", type=float, default=200)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--policy", action="append")
    asked = parser.parse_args()
    print("| service | calls a second | ask: median ms | 99 % | most | tell: median ms | 99 % | most |")
    print("|---|---|---|---|---|---|---|---|")
    with TemporaryDirectory() as folder:
        campaign = Path(folder) / "campaign"
        instance = crowdopt.recipe(SIZE, 0)
        write_campaign(instance, campaign)
        workers, bare = instance.worker_ids, ["-c", BARE, str(Path(folder) / "bare.db")]
        measured("a bare insert", bare, ["x"] * CLIENTS, asked.seconds, asked.rate)
        for k, policy in enumerate(asked.policy or ["greedy", "sequential"]):
            store = Path(folder) / f"{k}.db"
            tokens = [token(store, worker) for worker in workers]
            command = ["-m", "crowdopt.cli", "live", str(campaign), "--store", str(store), "--port", "0"]
            command += ["--policy", policy, "--crew", str(CLIENTS)]
            measured(policy, command, tokens, asked.seconds, asked.rate)
        print("\n| policy | events | MB | seconds until it answers | of the processor |")
        print("|---|---|---|---|---|")
        for policy in ("least-covered:stop=no", "sequential:bootstrap=0"):
            restarted(policy, asked.events, Path(folder) / f"{policy[:5]}.db")


if __name__ == "__main__":
    main()
