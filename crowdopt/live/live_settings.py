"""What is settled when a campaign begins and never changes: the first event of its history."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from crowdopt.errors import InputError

MORE = (
    "for more tasks or capacity run `crowdopt live export` with the tables as they were, edit the campaign that it "
    "writes, and serve that with a new --store; tokens and pay start anew"
)


@dataclass(frozen=True)
class LiveSettings:
    """Settings of a campaign that runs, as its first event has them."""

    policy: str  # name and options, as in ``sequential:stop=each``
    seed: int = 0
    lease: float = 600.0  # seconds a worker has for a task
    newcomers: int = 0  # workers who are not in the campaign's workers.csv and may come all the same
    money: float | None = None  # the most that labels may cost; None: no limit
    horizon: int = 10_000  # tasks that will arrive, for policies that learn whom to ask
    crew: int = 3  # workers at work from which on one who never came waits while these are expected to do all
    campaign: str = ""  # digest of the campaign's tables: another campaign's history is refused

    def __post_init__(self) -> None:
        if not 0 < self.lease < 1e9:
            raise InputError(f"a lease lasts a positive number of seconds, not {self.lease}")
        if min(self.newcomers, self.seed, self.crew) < 0 or self.horizon < 1:
            raise InputError("newcomers, seed and crew must be at least 0, and the horizon at least 1")
        if self.money is not None and not self.money >= 0:
            raise InputError(f"the money for labels must be at least 0, not {self.money}")

    @property
    def text(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self), sort_keys=True)

    @staticmethod
    def of(text: str) -> LiveSettings:
        """From JSON."""
        return LiveSettings(**json.loads(text))
