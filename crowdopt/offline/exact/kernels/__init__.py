"""Compiled loops (numba, cached on disk), loaded only where they run."""

from crowdopt.offline.exact.kernels.amounts import shift
from crowdopt.offline.exact.kernels.hands import deal
from crowdopt.offline.exact.kernels.pricing import cheapest_set
from crowdopt.offline.exact.kernels.sharing import CLOSE, closest, escalate, finish, level, share_out
from crowdopt.offline.exact.kernels.trading import thin, top_up, trade

__all__ = [
    "CLOSE",
    "cheapest_set",
    "closest",
    "deal",
    "escalate",
    "finish",
    "level",
    "share_out",
    "shift",
    "thin",
    "top_up",
    "trade",
]
