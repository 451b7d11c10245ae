"""Where problems come from: campaigns and programs by path, recipes, selections; the first source that knows a name."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from pathlib import Path

import numpy as np

from crowdopt.core.program import Program, relax
from crowdopt.core.registry import others
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.linear_rule import linear_of, named_rule
from crowdopt.crowd.recipes import recipe
from crowdopt.errors import InputError
from crowdopt.hire.candidates import SelectionInstance
from crowdopt.hire.program import build
from crowdopt.io.campaign import read_campaign
from crowdopt.io.programs import FORMATS, format_of, read_program
from crowdopt.programs import assignment, sets

IP, LP = "ip", "lp"


@dataclass(frozen=True, eq=False)
class Problem:
    """Something to be solved."""

    whole: Callable[[], Program]  # its program
    instance: AssignmentInstance | None = None
    selection: SelectionInstance | None = None  # what methods of our own start from
    about: str = ""  # by which rule its programs are written, where that is not the instance's own
    over_sets: bool = False  # whether its programs choose among sets of workers

    def build(self, program: str) -> Program:
        """The whole program, ``ip``, or its linear relaxation, ``lp``."""
        return relax(self.whole()) if program == LP else self.whole()


@dataclass(frozen=True)
class Source:
    """A family of problems: how its names are written, whether it knows one, and what name and seed mean."""

    form: str
    knows: Callable[[str], bool]
    open: Callable[[str, int], Problem]


@cache
def sources() -> tuple[Source, ...]:
    """Every source, ours and those of other packages."""
    return (CAMPAIGNS, FILES, RECIPES, SELECTIONS, *others(sys.modules[__name__], "SOURCE", "knows"))


@lru_cache(maxsize=1)
def open_problem(name: str, seed: int) -> Problem:
    """The problem that a name and a seed mean."""
    found = next((source for source in sources() if source.knows(name)), None)
    if found is None:
        raise InputError(f"unknown problem {name!r}; write {', or '.join(source.form for source in sources())}")
    return found.open(name, seed)


def of_instance(instance: AssignmentInstance) -> Problem:
    """What ``solve`` solves, over sets where there are few; else that of the linear rule which implies its own."""
    if (found := sets.build(instance)) is not None:
        return Problem(lambda: found, instance, about=found.about, over_sets=True)
    linear = linear_of(instance)
    about = "" if linear is instance else f"by {named_rule(instance)}"
    return Problem(partial(assignment.build, instance), linear, about=about)


RECIPE = re.compile(r"((?!SELECT)[A-Z]+\d*:\d+x\d+)(:priced)?")


def of_recipe(name: str, seed: int) -> Problem:
    """The recipe's instance."""
    match = RECIPE.fullmatch(name)
    assert match is not None
    return of_instance(recipe(match[1], seed, priced=match[2] is not None))


def of_campaign(name: str, seed: int) -> Problem:
    """The campaign in that folder or ``.npz`` file; the seed is the solver's alone."""
    return of_instance(read_campaign(Path(name), trust_gold=True))


def of_file(name: str, seed: int) -> Problem:
    """The program in the file; the seed is the solver's alone."""
    whole = read_program(name)
    return Problem(lambda: whole)


SELECTION = re.compile(r"SELECT:([1-9]\d{0,4})x([1-9]\d{0,4})(:priced)?")
ASKED = 10  # control questions for each worker, as in Li & Liu 2015, Section 4


def of_selection(name: str, seed: int) -> Problem:
    """The crowd of Li & Liu 2015, Fig. 1: reliabilities beta(2.3, 2), then correct answers, then, if priced, prices.

    Prices are ``rng.integers(1, 6, workers)``; the money is half a unit for each of the ``most``.
    """
    match = SELECTION.fullmatch(name)
    assert match is not None
    workers, most = int(match[1]), int(match[2])
    rng = np.random.default_rng(seed)
    correct = rng.binomial(ASKED, rng.beta(2.3, 2, workers))
    instance = SelectionInstance(correct=correct, asked=np.full(workers, ASKED), most=most)
    if match[3]:
        price = rng.integers(1, 6, workers).astype(np.float64)
        instance = replace(instance, price=price, money=most / 2)
    return Problem(partial(build, instance), selection=instance)


CAMPAIGNS = Source(
    "the path of a campaign", lambda name: Path(name).exists() and format_of(Path(name)) not in FORMATS, of_campaign
)
FILES = Source(
    "the path of a program (.mps, also .mps.gz)",
    lambda name: format_of(Path(name)) in FORMATS and Path(name).is_file(),
    of_file,
)
RECIPES = Source("a recipe KIND:TASKSxWORKERS[:priced]", lambda name: RECIPE.fullmatch(name) is not None, of_recipe)
SELECTIONS = Source(
    "a selection SELECT:WORKERSxMOST[:priced]", lambda name: SELECTION.fullmatch(name) is not None, of_selection
)
