"""What one label more or less is worth where every set of labels is chosen with some chance: compiled loops.

A set S of labels with prices p is chosen with a chance that falls as ``exp(-sum p / T)``. Labels stand one after
another, their evidence in cells; ``ways[i, x]`` is the sum of ``exp(-sum p / T)`` over the sets of labels from i on
that bring x cells or more. Prices are taken less ``rate`` for each cell, so that the numbers stay near 1.
"""

import numpy as np

from crowdopt.compiled_kernels import njit


@njit(cache=True, nogil=True)
def softly(price, width, heat, rate, needs, tasks, ways, use):
    """``sum_k n_k (-T ln sum_S exp(-sum_S p / T))`` over sets that bring need k, and its gradient in the prices.

    price, width (labels,): of each, and its cells, at least 1; heat: T; rate: of a cell; needs, tasks (kinds,): cells,
    and tasks that need so many; ways (labels + 1, cells + 1): room; use (labels,): written, how often each label is
    in a set of those tasks; -> not a number where the chances are beyond what numbers hold.
    """
    n, cells = price.size, ways.shape[1] - 1
    fading = np.empty(cells + 1)  # what less is left for a label than it brings
    for x in range(cells + 1):
        fading[x] = np.exp(-rate * x / heat)
    chance = np.empty(n)
    ways[n, :] = 0.0
    ways[n, 0] = 1.0
    for i in range(n - 1, -1, -1):
        w = min(width[i], cells)
        a = chance[i] = np.exp(-(price[i] - rate * w) / heat)
        then, out = ways[i + 1], ways[i]
        whole = a * then[0]
        for x in range(w + 1):
            out[x] = then[x] + whole * fading[w - x]
        for x in range(w + 1, cells + 1):
            out[x] = then[x] + a * then[x - w]
    value, reach = 0.0, np.zeros(cells + 1)  # chance of being at i with x cells to go, over ways[i, x]
    for k in range(needs.size):
        sum_ = ways[0, needs[k]]
        if not 0.0 < sum_ < np.inf:
            return np.nan
        value += tasks[k] * (rate * needs[k] - heat * np.log(sum_))
        reach[needs[k]] += tasks[k] / sum_
    for i in range(n):
        w, a, then = min(width[i], cells), chance[i], ways[i + 1]
        near = 0.0
        for x in range(w + 1):
            near += reach[x] * fading[w - x]
        taken = near * then[0]
        for x in range(w + 1, cells + 1):
            taken += reach[x] * then[x - w]
        use[i] = a * taken
        reach[0] += a * near
        for x in range(w + 1, cells + 1):
            reach[x - w] += a * reach[x]
    return value
