"""Synthetic campaigns: ``R10:1000x300``, or ``R10:1000x300:priced`` with a price for each worker."""

from __future__ import annotations

import re
from functools import partial

from crowdopt.bench.sources import Problem, Source
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.linear_rule import linear_of, named_rule
from crowdopt.crowd.recipes import recipe
from crowdopt.programs import assignment

FORM = re.compile(r"((?!SELECT)[A-Z]+\d*:\d+x\d+)(:priced)?")


def of_instance(name: str, instance: AssignmentInstance) -> Problem:
    """The assignment program of an instance; every method solves that of the linear rule which implies its own."""
    linear = linear_of(instance)
    build = partial(assignment.build, instance)
    return Problem(name, build, linear, about="" if linear is instance else f"by {named_rule(instance)}")


def draw(name: str, seed: int) -> Problem:
    """The recipe's instance."""
    match = FORM.fullmatch(name)
    assert match is not None
    return of_instance(name, recipe(match[1], seed, priced=match[2] is not None))


SOURCE = Source("a recipe KIND:TASKSxWORKERS[:priced]", lambda name: FORM.fullmatch(name) is not None, draw)
