"""The contract of a backend as checks that can be run anywhere the backend is registered."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache, partial

from crowdopt.backends import named, solve
from crowdopt.testing.conformance import Check
from crowdopt.testing.contract_cases import CASES, LIMITED, optimum
from crowdopt.testing.contract_claims import CLAIMS, ContractClaim
from crowdopt.testing.contract_facts import Facts, facts, suits

EXACT = 1e-6  # what simplex and branch and bound are good for


def backend_checks(backend: str, *, accuracy: float = EXACT, exclude: Collection[str] = ()) -> list[Check]:
    """Every claim of the contract with every case that the backend says it handles.

    The cases are solved in this process, each once, when its first check runs; the largest takes seconds.

    Parameters
    ----------
    backend : str
        Name of a backend that is installed: ours, or one under the entry point ``crowdopt.backends``.
    accuracy : float
        What its optima may be off by, relative to ``max(1, |optimum|)``; first-order methods need 1e-4 or so.
    exclude : collection of str
        Cases that are left out, such as those that the library does not come to an end with; names of ``CASES``.

    Returns
    -------
    list of Check

    Raises
    ------
    ValueError
        If a case to be left out is none.
    BackendMissing
        If there is no such backend.
    """
    strange = sorted(set(exclude) - set(CASES))
    if strange:
        raise ValueError(f"there is no case {strange[0]!r} to leave out; there are {', '.join(CASES)}")
    able = named(backend)
    chosen = {name for name, case in CASES.items() if name not in exclude and suits(able, case.build())}
    return [
        Check(f"{backend}: {name}: {claim.says}", partial(_judge, claim, backend, name, accuracy))
        for claim in CLAIMS
        if able.duals or not claim.needs_duals
        for name in claim.cases
        if name in chosen
    ]


def _judge(claim: ContractClaim, backend: str, name: str, accuracy: float) -> None:
    claim.judge(_facts(backend, name), CASES[name], best_of(name), accuracy)


def best_of(name: str) -> float | None:
    """The optimum that a claim is held against; None where a limit may leave anything, or there is none."""
    return None if name in LIMITED else optimum(name)


@cache
def _facts(backend: str, name: str) -> Facts:
    case = CASES[name]
    return facts(solve(case.build(), backend, case.options, isolated=False))
