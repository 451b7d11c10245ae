"""Every policy with options that make it do something else, on the small streams of crowdopt.testing."""

from __future__ import annotations

import crowdopt
from crowdopt.online.arrivals import Stream
from crowdopt.online.policies import named, policies
from crowdopt.online.replay import Replay
from crowdopt.testing.policy_contract import crowd, stream

__all__ = ["EVERY", "crowd", "start", "stream"]

OPTIONS = {  # every policy there is, and the options that make it do something else
    **{name: [""] for name in policies()},
    "greedy": ["", ":gold=5"],
    "kos": [":labels=200", ":labels=200:inference=majority"],
    "main-algorithm": [":gold=5", ":gold=5:stop:ties=least-covered:repair"],
    "sampled-lp": ["", ":stop:repair:infeasible=drop", ":gold=3:estimate=averaged"],
    "budget": [":each=2", ":gold=3:each=6:money=60", ":each=3:adaptive=no:ties=random"],
    "adaptive": [":gold=3:block=2:stop=mean", ":gold=5"],
    "sequential": ["", ":stop=each", ":block=4:bootstrap=2:gold=3:most-gold=2"],
    "primal-approximation": ["", ":repair:stop"],
}
EVERY = [name + options for name in sorted(OPTIONS) for options in OPTIONS[name]]


def start(text: str, of: Stream, seed: int = 0) -> Replay:
    """A replay of a policy by name."""
    return Replay(named(text), of, seed, crowdopt.solve_program)
