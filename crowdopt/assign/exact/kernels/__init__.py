"""Compiled loops (numba, cached on disk), loaded only where they run."""

from crowdopt.assign.exact.kernels.amounts import shift
from crowdopt.assign.exact.kernels.dealing import deal
from crowdopt.assign.exact.kernels.sharing import CLOSE, closest, share, share_out
from crowdopt.assign.exact.kernels.trading import thin, top_up, trade

__all__ = ["CLOSE", "closest", "deal", "share", "share_out", "shift", "thin", "top_up", "trade"]
