"""Conformance tests to run on a backend or a policy of one's own; with pytest or without.

>>> import pytest
>>> from crowdopt.testing import backend_checks
>>>
>>> @pytest.mark.parametrize("check", backend_checks("milp"), ids=str)
... def test_the_contract(check):
...     check()

Each check is a claim that is recomputed: nothing counts because a solver or a policy says so.
"""

from __future__ import annotations

from crowdopt.testing.backend_contract import Check, backend_checks, failures
from crowdopt.testing.policy_contract import policy_checks

__all__ = ["Check", "backend_checks", "failures", "policy_checks"]


def __dir__() -> list[str]:
    return __all__
