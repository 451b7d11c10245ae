"""What an expert's audit would have certified of a run's answers, by their own truth."""

from __future__ import annotations

import numpy as np

from crowdopt.answers.audit.exact_bound import most_left
from crowdopt.answers.audit.tariff import Tariff
from crowdopt.arrays import Bools
from crowdopt.crowd.instance import COVERAGE
from crowdopt.online.crowds import AUDIT
from crowdopt.online.ledger import Run
from crowdopt.online.run_score import answers_of


def certified(run: Run, terms: Tariff, seed: int) -> dict[str, float | None]:
    """The share of wrong answers that an audit of a fixed size leaves at most, and the run's cost with it.

    The tasks of known truth are the population; so many of them are drawn, the wrong ones corrected, and the bound is
    exact (crowdopt.answers.audit.exact_bound). A task without an answer counts as wrong.

    terms: size of the audit (all answers, if there are fewer), price of a look, confidence; -> ``certified`` and
    ``cost_audited``; None where no truth is known.
    """
    truth = run.stream.truth
    judged = (truth >= 0) & (run.stream.instance.need > COVERAGE)
    count = int(judged.sum())
    if not count:
        return {"certified": None, "cost_audited": None}
    wrong = (answers_of(run) != truth)[judged]
    return after_audit(wrong, run.total_cost, terms, seed)


def after_audit(wrong: Bools, cost: float, terms: Tariff, seed: int) -> dict[str, float | None]:
    """``certified`` and ``cost_audited`` of answers (answers,) of which it is known whether they are wrong."""
    checks = min(int(terms.checks), wrong.size)
    drawn = np.random.default_rng([seed, AUDIT]).choice(wrong.size, checks, replace=False)
    left = most_left(wrong.size, checks, int(wrong[drawn].sum()), terms.delta)
    return {"certified": left / wrong.size, "cost_audited": cost + terms.price * checks}
