"""The likelihood of a law of scales: compiled loops, imported where they run."""

from math import exp

import numpy as np

from crowdopt.compiled_kernels import njit


@njit(cache=True, nogil=True)
def log_products(easy, hard, share, rows):
    """``ln prod_i ((1 - h) exp(a_i) + h exp(b_i))``, the larger of the two taken out, over every rows-th task.

    easy, hard (tasks,): a and b; share (shares,): h; -> (rows, shares): of tasks r, r + rows, r + 2 rows and so on.
    """
    found = np.ones((rows, share.size))
    for i in range(easy.size):
        lead = easy[i] - hard[i]
        rest = exp(-abs(lead))
        begin = rest if lead < 0.0 else 1.0
        change = (1.0 if lead < 0.0 else rest) - begin
        row = found[i % rows]
        for k in range(share.size):
            row[k] *= begin + share[k] * change
    for row in found:
        for k in range(share.size):
            row[k] = np.log(row[k])  # may be -inf
    return found
