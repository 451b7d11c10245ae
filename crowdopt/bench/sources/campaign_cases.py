"""Campaigns by path."""

from __future__ import annotations

from pathlib import Path

from crowdopt.bench.sources import Problem, Source
from crowdopt.bench.sources.recipe_cases import of_instance
from crowdopt.io.campaign import read_campaign
from crowdopt.io.programs import FORMATS, format_of


def read(name: str, seed: int) -> Problem:
    """The campaign in that folder or ``.npz`` file; the seed is the solver's alone."""
    return of_instance(name, read_campaign(Path(name), trust_gold=True))


def is_campaign(name: str) -> bool:
    """Whether something is there that is not a program's file."""
    path = Path(name)
    return path.exists() and format_of(path) not in FORMATS


SOURCE = Source("the path of a campaign", is_campaign, read)
