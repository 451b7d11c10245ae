"""Where as many wrong answers as a hypothesis says would be hardest to find."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats

STEPS = 60  # of Newton, kept between bounds; what error is left is divided out, so that it costs power and not truth
SHARES_AGREE = 1e-10  # of the answers left: the hidden shares add up to the number supposed
LEAST, MOST = 1e-12, 1e4  # pressure is kept between: next to nothing is hidden, or next to all, and rounding is far


def share_wrong(pressure: Floats, predicted: Floats) -> Floats:
    """``theta`` with ``(theta - r) / (theta (1 - theta)) = h``, in [r, 1): the share under pressure h >= 0.

    The root of ``h theta^2 + (1 - h) theta - r = 0``, written so that nothing cancels.

    pressure, predicted (cells, groups): h and r; -> (cells, groups).
    """
    middle = 1 - pressure
    root = np.sqrt(middle * middle + 4 * pressure * predicted)
    down = 2 * predicted / np.maximum(middle + root, LEAST)
    up = (root - middle) / np.maximum(2 * pressure, LEAST)
    share: Floats = np.where(middle >= 0, down, up)
    return np.clip(share, predicted, 1.0)


def least_pressure(sizes: Floats, rate: Floats, predicted: Floats, null: Floats) -> Floats:
    """``mu >= 0`` such that ``sum_s N_s theta(mu / rate_s)`` is about ``null``; 0 where no pressure is needed.

    ``min sum_s pi_s KL(r_s | theta_s)  s.t.  sum_s N_s theta_s >= m``, with ``pi_s`` in proportion to the rates, has
    its optimum where ``rate_s KL'(r_s | theta_s) = mu`` for all strata: the share hidden in each of them.

    sizes, predicted (cells, groups): answers not yet checked, and the predicted share of wrong ones; rate (groups,):
    relative chance of each answer to be drawn; null (cells,): wrong answers that are supposed to be there; -> (cells,).
    """
    total = np.maximum(sizes.sum(axis=-1), 1.0)
    expected = (sizes * predicted).sum(axis=-1)
    share, mean = np.clip(null / total, LEAST, 1 - 1e-11), np.clip(expected / total, LEAST, 1 - 1e-9)
    typical = (sizes * rate).sum(axis=-1) / total
    # start: the pressure that would suffice if all groups were one of mean share and typical rate
    low = np.maximum(typical * (share - mean) / (share * (1 - share)), LEAST)
    height = np.log(np.minimum(low, MOST))
    # Newton in ln mu, for mu spans decades; a step that leaves the bracket is replaced by its middle
    below, above = np.full(height.shape, np.log(LEAST)), np.full(height.shape, np.log(MOST))
    for _ in range(STEPS):
        pressure = np.exp(height)[..., None] / rate
        theta = share_wrong(pressure, predicted)
        short = null - (sizes * theta).sum(axis=-1)
        # d theta / d h = theta (1 - theta) / (2 h theta + 1 - h), from the quadratic
        slope = theta * (1 - theta) * pressure / np.maximum(2 * pressure * theta + 1 - pressure, LEAST)
        below, above = np.where(short > 0, height, below), np.where(short > 0, above, height)
        step = short / np.maximum((sizes * slope).sum(axis=-1), LEAST)
        far = (np.abs(short) > SHARES_AGREE * total) & (above - below > SHARES_AGREE)
        if not far.any():
            break
        inside = (height + step > below) & (height + step < above)
        height = np.where(far, np.where(inside, height + step, (below + above) / 2), height)
    return np.where(null > expected, np.exp(height), 0.0)
