"""What a solver claims about a program, in one vocabulary and one sign rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from math import copysign, inf, isfinite
from typing import Protocol, TypeAlias

from crowdopt.arrays import Floats
from crowdopt.core.program import Program
from crowdopt.errors import public
from crowdopt.notebooks import InNotebooks

PROVEN = 1e-9  # relative; a plan whose value and bound are at most this far apart is called optimal


class Status(Enum):
    """A solver's claim. There is no default: each Solution says which."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    UNDECIDED = "undecided"


Settings: TypeAlias = tuple[tuple[str, str], ...]  # a solver's own options, key and value
# in place of a backend's name, what a linear program is solved for: backends says by which library and method
BY_SIZE = "by-size"  # what suits the program's size
WARM = "warm"  # goes on from its last basis
BRANCHING = "branching"  # searches for whole numbers
INTERIOR = "interior"  # up to nine times as fast on elastic programs


@public
@dataclass(frozen=True)
class Options:
    """Limits and settings of one solve; every backend obeys what its library allows.

    Parameters
    ----------
    time_limit : float
        Seconds, finite and positive.
    gap : float
        Gap at which a search may stop.
    nodes : int, optional
        Limit on branch-and-bound nodes; unlike seconds it keeps results reproducible.
    threads : int
        Threads the solver may use.
    seed : int
        The solver's own random seed.
    memory : float, optional
        Megabytes; enforced where the solver runs in a process of its own.
    presolve : bool
        Whether the solver may simplify first, where its library lets one choose; small programs solved by the hundred
        are faster without.
    settings : tuple of (str, str)
        The solver's own options by their own names, in force after all others; backends refuse those they do not know.
    start : (columns,) array, optional
        A feasible point to begin from, for libraries that take one.
    """

    time_limit: float = 60.0
    gap: float = 0.0
    nodes: int | None = None
    threads: int = 1
    seed: int = 0
    memory: float | None = None
    presolve: bool = True
    settings: Settings = ()
    start: Floats | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not 0 < self.time_limit < float("inf"):
            raise ValueError(f"time_limit must be a positive, finite number of seconds, not {self.time_limit}")
        if not 0 <= self.gap < float("inf"):
            raise ValueError(f"gap must be a finite number of at least 0, not {self.gap}")
        if self.nodes is not None and self.nodes < 0:
            raise ValueError(f"nodes must be at least 0, not {self.nodes}")
        if self.threads < 1:
            raise ValueError(f"threads must be at least 1, not {self.threads}")


@dataclass(frozen=True)
class Progress:
    """A moment of a running solve: seconds so far, best value and best bound known (None: none yet), what goes on."""

    seconds: float
    value: float | None
    bound: float | None
    note: str = ""

    @property
    def gap(self) -> float | None:
        """How far the value may be above the optimum, as a share of the bound, where both are known."""
        return None if self.value is None or self.bound is None else relative_gap(self.value, self.bound)


def relative_gap(value: float | None, bound: float) -> float:
    """``value / bound - 1``: how far a value may be above the optimum, as a share of it; 0 where the two meet.

    Infinite where one of them is missing, or where the bound is 0 and the value is not.
    """
    if value is None or not isfinite(bound):
        return inf
    if abs(value - bound) <= PROVEN * max(1.0, abs(value)):
        return 0.0
    return (value - bound) / abs(bound) if bound else copysign(inf, value - bound)


class Listener(Protocol):
    """Receives the moments of a running solve."""

    def __call__(self, moment: Progress) -> bool | None:
        """Take note of one moment; True stops the search, which then answers with the best that it has."""
        ...


def told_in(listener: Listener | None, change: Callable[[float], float]) -> Listener | None:
    """Who hears of values and bounds, changed so, what the listener hears."""

    def told(moment: Progress) -> None:
        assert listener is not None
        value, bound = (None if one is None else change(one) for one in (moment.value, moment.bound))
        listener(replace(moment, value=value, bound=bound))

    return None if listener is None else told


@dataclass(frozen=True, eq=False)
class Solution(InNotebooks):
    """The outcome of one solve, as claimed. What is absent is None, never zero.

    Parameters
    ----------
    status : Status
        The claim, translated; ``raw`` keeps the solver's own word.
    primal : (columns,) array, optional
        A point.
    dual : (rows,) array, optional
        Row multipliers in the house's sign: in a minimum a ``>=`` row's is >= 0, a ``<=`` row's is <= 0.
    ray : (rows,) array, optional
        Multipliers that prove infeasibility (Farkas), in the same sign.
    claimed_bound : float, optional
        Lower bound that the solver claims for the optimum.
    seconds : float
        Time inside the solver.
    interrupted : bool
        Whether the user stopped the solve.
    """

    program: Program
    backend: str
    status: Status
    primal: Floats | None
    dual: Floats | None
    ray: Floats | None
    claimed_bound: float | None
    seconds: float
    raw: str
    interrupted: bool = False


class Solve(Protocol):
    """``solve(program, backend, options, listener)``: what algorithms receive in place of a solver."""

    def __call__(
        self,
        program: Program,
        backend: str = "highs",
        options: Options = ...,
        listener: Listener | None = None,
    ) -> Solution:
        """Solve the program with the named backend."""
        ...
