"""What each threshold is expected to cost: looks until it passes, and answers above it that go up."""

from __future__ import annotations

import numpy as np

from crowdopt.answers.audit.escalated import EscalationDraw, Planned
from crowdopt.answers.audit.hiding import least_pressure, share_wrong
from crowdopt.answers.audit.prediction import predictions
from crowdopt.answers.audit.threshold_test import certified_groups, log_products
from crowdopt.arrays import Bools, Floats, Ints

SLOWEST = 1e-9  # growth of a logarithm by one look: below, a threshold is out of reach


def cheapest_threshold(draw: EscalationDraw, wrong: Bools) -> Planned:
    """The threshold at which looks and answers that go up are expected to cost least, from where the draw stands.

    wrong (checks,): whether each of the first answers in the order of the draw was wrong.
    """
    size, terms = draw.strata.size, draw.terms
    free = int((np.cumsum(size) <= terms.allowed).sum())
    certified = int(certified_groups(draw, wrong)[-1]) if wrong.size else free
    looks = np.full(size.size + 1, float(wrong.size))
    predicted = _predicted(draw, wrong)
    for groups in range(certified + 1, size.size + 1):
        if np.isfinite(looks[groups - 1]):  # no threshold passes before those below it
            looks[groups] = max(looks[groups - 1], wrong.size + _more_looks(draw, wrong, predicted, groups))
        else:
            looks[groups] = np.inf
    looks[:certified] = np.inf  # what is certified costs no more
    seen = np.bincount(draw.stratum[: wrong.size], minlength=size.size)
    stand = np.concatenate([[0], np.cumsum(size)])
    up = _up(draw, looks, seen)
    cost = np.where(np.isfinite(looks), terms.expert_price * looks + terms.next_price * up, np.inf)
    best = int(np.argmin(cost))
    return Planned(best, int(stand[best]), int(np.ceil(looks[best])), int(up[best]), float(cost[best]))


def _up(draw: EscalationDraw, looks: Floats, seen: Ints) -> Floats:
    """Answers above each threshold that are not looked at: later looks fall in groups in proportion to rates."""
    size, rate = draw.strata.size, draw.strata.rate
    weight = (size - seen) * rate
    share = weight / max(float(weight.sum()), SLOWEST)
    later = np.where(np.isfinite(looks), looks, 0.0) - seen.sum()
    unseen = np.maximum(size - seen - later[:, None] * share, 0.0)
    above = np.arange(size.size) >= np.arange(looks.size)[:, None]
    return np.where(above, unseen, 0.0).sum(axis=1)


def _more_looks(draw: EscalationDraw, wrong: Bools, predicted: Floats, groups: int) -> float:
    """Looks until a threshold is expected to pass, those above it included; inf where it is not expected to."""
    # A look below it adds ``sum_s pi_s KL(r_s | theta_s)`` on average to the logarithm of its martingale, theta being
    # where the wrong answers would be hardest to find.
    size, rate, terms = draw.strata.size, draw.strata.rate, draw.terms
    seen = draw.stratum[: wrong.size]
    left = (size - np.bincount(seen, minlength=size.size)).astype(np.float64)
    inside, predicted, rates = left[:groups], predicted[:groups], rate[:groups]
    null = terms.allowed + 1.0 - float(wrong[seen < groups].sum())
    if null <= float(inside @ predicted) or not inside.sum():
        return np.inf
    if null > inside.sum():
        return 0.0
    pressure = least_pressure(inside[None], rates, predicted[None], np.array([null]))
    theta = np.minimum(share_wrong(pressure[:, None] / rates, predicted[None])[0], 1 - 1e-12)
    divergence = predicted * np.log(predicted / theta) + (1 - predicted) * np.log((1 - predicted) / (1 - theta))
    weight = inside * rates
    growth = float(weight @ divergence) / float(weight.sum())
    if not growth > SLOWEST:
        return np.inf
    product = log_products(draw, wrong, groups)[0] if wrong.size else np.zeros(0)
    lacking = float(-np.log(terms.delta)) - (float(product[-1]) if product.size else 0.0)
    needed = max(0.0, lacking / growth)
    share = float(weight.sum()) / float(left @ rate)  # of the looks that fall below the threshold
    return np.inf if needed > inside.sum() else needed / share


def _predicted(draw: EscalationDraw, wrong: Bools) -> Floats:
    seen = np.append(draw.stratum[: wrong.size], 0)
    return predictions(draw.versions, seen, np.append(wrong, False))[-1]
