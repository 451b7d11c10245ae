"""The draw of an escalation: thresholds, rates and order, before any answer is looked at."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.answers.audit.audited import Strata
from crowdopt.answers.audit.escalated import Escalated, EscalationDraw, EscalationTerms, Planned
from crowdopt.answers.audit.escalation_cost import cheapest_threshold
from crowdopt.answers.audit.prediction import mixture
from crowdopt.answers.audit.strata import LEAST, groups_between, rates_of
from crowdopt.answers.audit.threshold_test import certified_groups
from crowdopt.arrays import Bools, Floats
from crowdopt.errors import InputError

THRESHOLDS = 24  # beside the one below which answers stand without a look
FEWEST = 10  # looks at a time, at least
NOTHING = np.zeros(0, np.bool_)


def draw_escalation(claims: Floats, terms: EscalationTerms) -> EscalationDraw:
    """Sort by claimed error, cut into groups, and order all answers by ``-ln(1 - u_i) / rate_i``.

    Rates are those that refute quickest at the threshold that claims make the cheapest; answers above it are looked
    at as often as its last group where going up costs as much as a look, and the less often the less it costs.

    claims (answers,): claimed probability that each is wrong.
    """
    _check(claims, terms)
    by_claim = np.argsort(claims, kind="stable")
    strata = _groups(claims[by_claim], terms)
    versions = mixture(strata.claim, (terms.allowed + 1) / (claims.size + 1))
    member = np.zeros(claims.size, np.int64)
    member[by_claim] = np.repeat(np.arange(strata.size.size), strata.size)
    every, none = np.arange(claims.size), Planned(0, 0, 0, 0, 0.0)
    draft = EscalationDraw(terms, strata, every, member, versions, 0, none)
    strata = _rated(draft)
    chance = np.random.default_rng(terms.seed).random(claims.size)
    order = np.argsort(-np.log1p(-chance) / strata.rate[member], kind="stable")
    drawn = replace(draft, strata=strata, order=order, stratum=member[order])
    planned = cheapest_threshold(drawn, NOTHING)
    return replace(drawn, planned=planned, checks=next_looks(drawn, 0, planned))


def escalate(draw: EscalationDraw, wrong: Bools) -> Escalated:
    """What the first looks, (k,) in the order of the draw, show, and what is the cheapest way on."""
    if not 1 <= wrong.size <= draw.answers:
        raise InputError(f"{wrong.size} of {draw.answers} drawn answers were looked at; at least one is needed")
    return Escalated(draw, wrong, certified_groups(draw, wrong), cheapest_threshold(draw, wrong))


def next_looks(draw: EscalationDraw, seen: int, planned: Planned) -> int:
    """Looks to list: half of what the plan still asks for, as what they show may change it, and 10 at least."""
    more = max(FEWEST, (planned.checks - seen + 1) // 2)
    return min(draw.answers, seen + more)


def _groups(ordered: Floats, terms: EscalationTerms) -> Strata:
    """Groups between thresholds: as many answers as may be wrong in any case, then alike in number and in claims."""
    surely = np.cumsum(np.sqrt(np.maximum(ordered, LEAST)))
    height = surely / surely[-1] + np.arange(1, ordered.size + 1) / ordered.size
    cuts = np.searchsorted(height, 2 * np.arange(1, THRESHOLDS) / THRESHOLDS)
    edges = np.unique(np.concatenate([[0, min(terms.allowed, ordered.size)], cuts, [ordered.size]]))
    size, claim = groups_between(ordered, edges)
    return Strata(size, claim, np.ones(size.size))


def _rated(draft: EscalationDraw) -> Strata:
    strata, terms = draft.strata, draft.terms
    groups = cheapest_threshold(draft, NOTHING).groups
    size, claim = strata.size[:groups], strata.claim[:groups]
    if size.sum() <= terms.allowed:
        return strata
    rate = np.ones(strata.size.size)
    rate[:groups] = rates_of(size, claim, (terms.allowed + 1) / size.sum())
    rate[groups:] = rate[groups - 1] * min(1.0, terms.next_price / terms.expert_price)
    return replace(strata, rate=rate)


def _check(claims: Floats, terms: EscalationTerms) -> None:
    if claims.size < 1:
        raise InputError("there is no answer to escalate")
    if not ((claims >= 0) & (claims <= 1)).all():
        raise InputError("claims needs probabilities in [0, 1]")
    if not 0 < terms.delta < 1:
        raise InputError(f"the chance of a false claim must lie strictly between 0 and 1, not {terms.delta:g}")
    if terms.allowed < 0:
        raise InputError(f"the number of wrong answers allowed must be at least 0, not {terms.allowed}")
    for name, price in (("expert", terms.expert_price), ("next", terms.next_price)):
        if not 0 < price < float("inf"):
            raise InputError(f"the price {name} must lie above 0, not {price:g}")
