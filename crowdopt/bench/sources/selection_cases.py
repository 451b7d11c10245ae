"""Whom to hire, as a program: ``SELECT:120x40`` chooses up to 40 of 120 workers; ``:priced`` within a sum of money."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

import numpy as np

from crowdopt.bench.sources import Problem, Source
from crowdopt.hire.candidates import SelectionInstance
from crowdopt.hire.program import build

FORM = re.compile(r"SELECT:([1-9]\d{0,4})x([1-9]\d{0,4})(:priced)?")
ASKED = 10  # control questions for each worker, as in Li & Liu 2015, Section 4


def draw(name: str, seed: int) -> Problem:
    """The crowd of Li & Liu 2015, Fig. 1: reliabilities beta(2.3, 2), then correct answers, then, if priced, prices.

    Prices are ``rng.integers(1, 6, workers)``; the money is half a unit for each of the ``most``.
    """
    match = FORM.fullmatch(name)
    assert match is not None
    workers, most = int(match[1]), int(match[2])
    rng = np.random.default_rng(seed)
    correct = rng.binomial(ASKED, rng.beta(2.3, 2, workers))
    instance = SelectionInstance(correct=correct, asked=np.full(workers, ASKED), most=most)
    if match[3]:
        price = rng.integers(1, 6, workers).astype(np.float64)
        instance = replace(instance, price=price, money=most / 2)
    family = "hiring" if match[3] else "selection"
    return Problem(name, partial(build, instance), selection=instance, family=family)


def own(name: str) -> tuple[str, ...]:
    """Our own methods for a case: Algorithm 1, unless there is money, which it does not know."""
    return () if name.endswith(":priced") else ("algorithm1",)


SOURCE = Source("a selection SELECT:WORKERSxMOST[:priced]", lambda name: FORM.fullmatch(name) is not None, draw, own)
