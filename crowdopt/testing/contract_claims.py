"""The contract of backends, claim by claim; each is judged by recomputation alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from crowdopt.core.certificate import INTEGRALITY
from crowdopt.core.solution import Status
from crowdopt.testing.conformance import need
from crowdopt.testing.contract_cases import INTEGER, LIMITED, LINEAR, ContractCase
from crowdopt.testing.contract_facts import Facts

LEFT = 1e-4  # rows that a point which a limit left behind may miss
Judge: TypeAlias = Callable[[Facts, ContractCase, float | None, float], None]


@dataclass(frozen=True)
class ContractClaim:
    """A sentence about backends, the cases it is about, and who judges it.

    ``judge(facts, case, best, accuracy)``: best is the case's optimum, None where there is none; accuracy is relative
    to ``max(1, |best|)`` for values, absolute for rows.
    """

    says: str
    cases: tuple[str, ...]
    judge: Judge
    needs_duals: bool = False


def _named(cases: dict[str, ContractCase], *truths: Status) -> tuple[str, ...]:
    return tuple(name for name, case in cases.items() if not truths or case.truth in truths)


def _margin(best: float | None, accuracy: float) -> float:
    return accuracy * max(1.0, abs(best or 0.0))


def _is(facts: Facts, truth: Status) -> None:
    need(facts["status"] == truth.value, f"it said {facts['raw']!r}, {facts['status']}; true is {truth.value}")


def an_optimum(facts: Facts, case: ContractCase, best: float | None, accuracy: float) -> None:
    """Value, violation and integrality come from the point: a claim of optimality has to survive that."""
    _is(facts, Status.OPTIMAL)
    need(facts["violation"] <= accuracy, f"a row is missed by {facts['violation']:.3g}")
    need(facts["fraction"] <= INTEGRALITY, f"an integer column is off by {facts['fraction']:.3g}")
    off = abs(facts["value"] - (best or 0.0))
    need(off <= _margin(best, accuracy), f"the point is worth {facts['value']!r}, the optimum is {best!r}")


def multipliers(facts: Facts, case: ContractCase, best: float | None, accuracy: float) -> None:
    """The Lagrangian bound holds for any multipliers; it meets the optimum only for optimal ones of the right sign."""
    _is(facts, Status.OPTIMAL)
    need(facts["has_dual"], "there are no multipliers, though the backend says that it gives them")
    off = abs(facts["dual_bound"] - (best or 0.0))
    need(off <= _margin(best, accuracy), f"the multipliers prove {facts['dual_bound']!r}, the optimum is {best!r}")


def signs(facts: Facts, case: ContractCase, best: float | None, accuracy: float) -> None:
    """Each row of this program holds one column at one side: its multiplier is 1 at a lower, -1 at an upper."""
    _is(facts, Status.OPTIMAL)
    off = np.abs(np.array(facts["dual"]) - [1, -1, 1, -1, 1, -1]).max()
    need(bool(off <= 100 * accuracy), f"the multipliers are {facts['dual']}, not 1 and -1 in turn")


def infeasible(facts: Facts, case: ContractCase, best: float | None, accuracy: float) -> None:
    """There is no point and no bound but infinity; a ray is a proof or it is not handed out."""
    _is(facts, Status.INFEASIBLE)
    need(facts["value"] is None and not facts["has_dual"], "there is a point, or multipliers, of what has none")
    need(facts["bound"] == np.inf, f"the bound is {facts['bound']!r}")
    need(facts["has_ray"] == facts["ray_proves"], "the ray does not prove that there is no point")
    proof = "certificate" if facts["has_ray"] else "solver"
    need(facts["proof"] == proof, f"the proof is called {facts['proof']}, not {proof}")


def unbounded(facts: Facts, case: ContractCase, best: float | None, accuracy: float) -> None:
    """Presolvers know only that it is one of the two; to say infeasible of a program with points would be false."""
    _is(facts, Status.UNBOUNDED)
    need(facts["value"] is None and facts["bound"] == -np.inf, f"value {facts['value']!r}, bound {facts['bound']!r}")


def left_behind(facts: Facts, case: ContractCase, best: float | None, accuracy: float) -> None:
    """Libraries leave zeros or fractional points when time runs out: a point is feasible or it is absent."""
    known = (Status.OPTIMAL.value, Status.FEASIBLE.value, Status.UNDECIDED.value)
    need(facts["status"] in known, f"it said {facts['raw']!r}, {facts['status']}")
    there = facts["value"] is not None
    need(there == (facts["status"] != Status.UNDECIDED.value), f"{facts['status']} with the value {facts['value']!r}")
    if not there:
        return
    need(facts["violation"] <= LEFT, f"a row is missed by {facts['violation']:.3g}")
    need(facts["fraction"] <= INTEGRALITY, f"an integer column is off by {facts['fraction']:.3g}")
    if case.optimum is not None:
        least = case.optimum * (1 - accuracy)
        need(facts["value"] >= least, f"the value {facts['value']!r} is below the optimum {case.optimum!r}")
    if facts["proof"] != "none":
        most = facts["value"] * (1 + accuracy)
        need(facts["bound"] <= most, f"the bound {facts['bound']!r} is above the value {facts['value']!r}")


def within_a_gap(facts: Facts, case: ContractCase, best: float | None, accuracy: float) -> None:
    """A search may stop at a relative gap: the value is then at most that far above the optimum."""
    if facts["status"] == Status.OPTIMAL.value and case.optimum is not None:
        most = case.optimum / (1 - case.options.gap) + 1e-6
        need(facts["value"] <= most, f"the value {facts['value']!r} is above {most!r}, which the gap allows")


def a_lower_bound(facts: Facts, case: ContractCase, best: float | None, accuracy: float) -> None:
    """In a minimum a bound above the optimum would call a better plan impossible; absent is allowed, wrong is not."""
    bound = facts["claimed_bound"]
    if bound is None:
        return
    need(case.truth is Status.OPTIMAL, f"a bound of {bound!r} is claimed where there is no optimum")
    if best is not None:
        need(bound <= best + _margin(best, accuracy), f"the bound {bound!r} is above the optimum {best!r}")
    elif facts["value"] is not None:
        most = facts["value"] * (1 + accuracy)
        need(bound <= most, f"the bound {bound!r} is above the value {facts['value']!r}")


def no_multipliers(facts: Facts, case: ContractCase, best: float | None, accuracy: float) -> None:
    """Libraries fill them with 0.0 there; what is absent is None, never zero."""
    need(not facts["has_dual"], "a search over integers handed out multipliers")


DECIDED = LINEAR | INTEGER
CLAIMS = (
    ContractClaim("an optimum is a feasible point of the optimal value", _named(DECIDED, Status.OPTIMAL), an_optimum),
    ContractClaim("multipliers prove the optimum", _named(LINEAR, Status.OPTIMAL), multipliers, True),
    ContractClaim("a multiplier has the sign of the side it pulls on", ("signs",), signs, True),
    ContractClaim("infeasible leaves nothing but a ray that proves it", _named(DECIDED, Status.INFEASIBLE), infeasible),
    ContractClaim("unbounded is not taken for infeasible", _named(DECIDED, Status.UNBOUNDED), unbounded),
    ContractClaim("what a limit leaves behind is true", tuple(LIMITED), left_behind),
    ContractClaim("a gap is kept", ("within-gap",), within_a_gap),
    ContractClaim("a claimed bound is a lower bound", tuple(DECIDED | LIMITED), a_lower_bound),
    ContractClaim("a search over integers has no multipliers", tuple(INTEGER), no_multipliers),
)
