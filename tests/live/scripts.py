"""Scripts of what workers do, and how they are played: ask, tell, come back late, go away."""

from __future__ import annotations

import numpy as np

from crowdopt.api.live import LiveTables
from crowdopt.live.live_settings import LiveSettings
from crowdopt.live.running import Live
from crowdopt.live.stores.sql_ledgerbook import MEMORY, SQLiteStore
from tests.live.people import People, gold_table, small

LEASE = 60.0


def script(length: int, seed: int) -> list[tuple[str, int, float]]:
    """What is done, by which worker, after how many seconds; every kind of event comes of it."""
    rng = np.random.default_rng(seed)
    verbs = rng.choice(["ask", "tell", "skip", "late"], length, p=[0.55, 0.37, 0.04, 0.04])
    waits = np.where(rng.random(length) < 0.03, 2 * LEASE, rng.uniform(0, 2, length))
    return list(zip(verbs.tolist(), rng.integers(0, 20, length).tolist(), waits.tolist(), strict=True))


class Clock:
    """Seconds that the script sets."""

    def __init__(self) -> None:
        self.now = 1e9

    def __call__(self) -> float:
        return self.now


def played(policy: str, calls, every: int = 10**9, store=None, **settings) -> Live:
    """Play a script; the process is started again after every so many calls."""
    instance, stream = small()
    tables, store, clock = LiveTables.of(instance, gold_table(2)), store or SQLiteStore(MEMORY), Clock()
    given = LiveSettings(policy, lease=LEASE, campaign=tables.digest, **settings)
    people, leases, live = People(stream), [], None
    for k, (verb, who, wait) in enumerate(calls):
        clock.now += wait
        if live is None or k % every == 0:
            live = Live(tables.state, store, given, clock)
        do(live, people, leases, verb, str(who))
    return live


def do(live: Live, people: People, leases: list, verb: str, worker: str) -> None:
    """One call of a script."""
    mine = [lease for lease in leases if lease.worker == worker]
    if verb == "ask" or not mine:
        lease = live.ask(worker)
        if lease is not None and lease not in leases:
            leases.append(lease)
    elif verb == "skip":
        live.skip(mine[-1])
    else:
        lease = mine[-1] if verb == "tell" else mine[0]
        leases.remove(lease)
        live.tell(lease, people.say(lease))
