"""The draw of an audit: by a seed, before any answer is looked at."""

from __future__ import annotations

import numpy as np

from crowdopt.answers.audit.audited import METHODS, AuditTerms, Draw, Strata
from crowdopt.answers.audit.exact_bound import checks_needed
from crowdopt.answers.audit.martingale import hypotheses
from crowdopt.answers.audit.prediction import mixture
from crowdopt.answers.audit.strata import one_stratum, strata_of
from crowdopt.arrays import Floats, Ints
from crowdopt.errors import InputError

TRUE_OVER_CLAIMED = 1.5  # realised over claimed error, where nothing better is known (recorded label sets: 1.1 to 1.9)
POWER = 0.9  # with which the number of checks that is proposed certifies the target


def draw(answers: int, terms: AuditTerms, claims: Floats | None = None, checks: int | None = None) -> Draw:
    """Order the answers by ``-ln(1 - u_i) / rate_i``, u_i uniform by the seed.

    So each next answer is drawn with a chance in proportion to its rate among those that are left.

    claims (answers,): claimed probability that each is wrong; ``assisted`` and ``least_sure`` need it; checks: how many
    to look at; default: what certifies the target with probability .9 if the errors are 1.5 times the claimed ones, or
    half of the target where nothing is claimed.
    """
    _check(answers, terms, claims, checks)
    certain, others, by_claim = _parts(answers, terms, claims)
    assumed = assumed_error(terms.target, None if claims is None else claims[others])
    strata = one_stratum(others.size, min(1.0, assumed))
    if terms.method == "assisted" and claims is not None:
        strata = strata_of(claims[by_claim], terms.target)
    order, stratum = _ordered(answers, terms, strata, others, by_claim)
    if checks is None:
        checks = certain.size + checks_needed(order.size, terms.target, assumed, terms.delta, POWER)
    versions, numbers = mixture(strata.claim, terms.target), hypotheses(order.size, terms.target)
    return Draw(terms, strata, certain, order, stratum, versions, numbers, min(checks, answers), assumed)


def _parts(answers: int, terms: AuditTerms, claims: Floats | None) -> tuple[Ints, Ints, Ints]:
    """The least sure answers, least sure first; all others; and these again, surest first."""
    by_claim = np.arange(answers) if claims is None else np.argsort(claims, kind="stable")
    if not terms.least_sure:
        return np.zeros(0, np.int64), np.arange(answers), by_claim
    rest = by_claim[: answers - terms.least_sure]
    return by_claim[answers - terms.least_sure :][::-1], np.sort(rest), rest


def _ordered(answers: int, terms: AuditTerms, strata: Strata, others: Ints, by_claim: Ints) -> tuple[Ints, Ints]:
    member = np.zeros(answers, np.int64)
    if strata.size.size > 1:
        member[by_claim] = np.repeat(np.arange(strata.size.size), strata.size)
    chance = np.random.default_rng(terms.seed).random(answers)[others]
    order = others[np.argsort(-np.log1p(-chance) / strata.rate[member[others]], kind="stable")]
    return order, member[order]


def assumed_error(target: float, claims: Floats | None) -> float:
    """Share of wrong answers that checks are planned for: 1.5 times the claimed; half the target where nothing is."""
    return target / 2 if claims is None else min(1.0, TRUE_OVER_CLAIMED * float(claims.mean()))


def _check(answers: int, terms: AuditTerms, claims: Floats | None, checks: int | None) -> None:
    if answers < 1:
        raise InputError("there is no answer to audit")
    if terms.method not in METHODS:
        raise InputError(f"the audit's method is one of {', '.join(METHODS)}, not {terms.method!r}")
    for name, value in (("target", terms.target), ("chance of a false claim", terms.delta)):
        if not 0 < value < 1:
            raise InputError(f"the {name} must lie strictly between 0 and 1, not {value:g}")
    if not 0 <= terms.expert_error < 1:
        raise InputError(f"the expert's error must lie in [0, 1), not {terms.expert_error:g}")
    if terms.expert_error >= terms.target:
        raise InputError(
            f"an expert who errs on {terms.expert_error:g} of the tasks cannot certify {terms.target:g}; "
            "raise the target or find a better expert"
        )
    if not 0 <= terms.least_sure < answers:
        raise InputError(f"{terms.least_sure} least sure answers of {answers}: leave at least one to draw from")
    if checks is not None and not terms.least_sure < checks <= answers:
        raise InputError(
            f"the number of checks must lie above {terms.least_sure} and be at most {answers}, not {checks}"
        )
    if claims is None and (terms.method == "assisted" or terms.least_sure):
        raise InputError(
            "assisted and least sure answers need a claimed error for each answer; choose sequential or exact"
        )
    if claims is not None and (claims.shape != (answers,) or not ((claims >= 0) & (claims <= 1)).all()):
        raise InputError(f"claims needs one probability in [0, 1] per answer, that is {answers}")
