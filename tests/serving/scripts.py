"""Scripts of what workers do, and how they are played: ask, tell, come back late, go away."""

from __future__ import annotations

import numpy as np

from crowdopt.serving.live_rows import LiveSettings
from crowdopt.serving.running import Live
from crowdopt.serving.stores import MEMORY, SQLiteStore
from crowdopt.verbs.live import LiveTables
from tests.serving.people import People, gold_table, small

LEASE = 60.0


def script(length: int, seed: int, changes: bool = True) -> list[tuple[str, int, float]]:
    """What is done, by which worker, after how many seconds; changes: of labels that are in, and of the target."""
    rng = np.random.default_rng(seed)
    verbs = rng.choice(
        ["ask", "tell", "skip", "late", "slip", "retarget"], length, p=[0.5, 0.34, 0.04, 0.04, 0.06, 0.02]
    )
    verbs = np.where(changes | (verbs != "slip") & (verbs != "retarget"), verbs, "ask")
    waits = np.where(rng.random(length) < 0.03, 2 * LEASE, rng.uniform(0, 2, length))
    return list(zip(verbs.tolist(), rng.integers(0, 20, length).tolist(), waits.tolist(), strict=True))


class Clock:
    """Seconds that the script sets."""

    def __init__(self) -> None:
        self.now = 1e9

    def __call__(self) -> float:
        return self.now


def begun(instance, policy: str, store, gold=None, clock=lambda: 1e9, **settings) -> Live:
    """A campaign over a store, begun or gone on with."""
    tables = LiveTables.of(instance, gold)
    return Live(tables.state, store, LiveSettings(policy, campaign=tables.digest, **settings), clock)


def played(policy: str, calls, every: int = 10**9) -> Live:
    """Play a script; the process is started again after every so many calls."""
    instance, stream = small()
    people, leases, store, clock = People(stream), [], SQLiteStore(MEMORY), Clock()
    for k, (verb, who, wait) in enumerate(calls):
        clock.now += wait
        if k % every == 0:
            live = begun(instance, policy, store, gold_table(2), clock, lease=LEASE)
        do(live, people, leases, verb, str(who))
    return live


def do(live: Live, people: People, leases: list, verb: str, worker: str) -> None:
    """One call of a script."""
    mine = [lease for lease in leases if lease.worker == worker]
    if verb == "retarget":
        live.retarget(0.03 if int(worker) % 2 else 0.3)
    elif verb == "ask" or not mine:
        lease = live.ask(worker)
        if lease is not None and lease not in leases:
            leases.append(lease)
    elif verb == "skip":
        live.skip(mine[-1])
    else:
        lease = mine[0] if verb == "late" else mine[-1]
        leases.remove(lease)
        label = people.say(lease)
        if verb == "slip":
            live.tell(lease, "10"[int(label)])
            live.correct(lease, label)
        else:
            live.tell(lease, label)
