"""What the calls share: which solvers serve the methods, instances from folders, options from arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

from crowdopt.assign.standing import Solvers
from crowdopt.backends import BackendFailed as BackendFailed
from crowdopt.backends import BackendMissing as BackendMissing
from crowdopt.backends import solve, solve_whole
from crowdopt.backends.highs import HighsMaster
from crowdopt.core.solution import INTERIOR, Options
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.io.campaign import read_campaign
from crowdopt.io.cells import TableLike as TableLike
from crowdopt.io.settings import overridden

SEARCH = "highs"  # who searches the full program where the exact method needs it
SOLVERS = Solvers(solve, HighsMaster, SEARCH)
WHOLE = Solvers(solve_whole, HighsMaster, SEARCH)  # for questions whose answer cannot say that it was cut short
RELAXATIONS = INTERIOR  # solves auxiliary LPs

AnyPath: TypeAlias = str | Path
InstanceLike: TypeAlias = AssignmentInstance | str | Path  # an instance, or the folder of a campaign


def instance_of(
    given: InstanceLike,
    rule: str | None = None,
    epsilon: float | None = None,
    difficulty: tuple[float, float] | None = None,
    *,
    skills: str | None = None,
    trust_gold: bool = False,
) -> AssignmentInstance:
    """The instance itself, or as its campaign folder has it, with settings in place of its own.

    given: an instance, or the folder of a campaign; difficulty (float, float): share of hard tasks, and what is left of
    skill there; skills: how gold becomes accuracies; trust_gold: whether a folder's gold is taken as it is, even where
    workers are below chance.
    """
    instance = given if isinstance(given, AssignmentInstance) else read_campaign(given, trust_gold=trust_gold)
    settings: dict[str, Any] = {} if rule is None else {"rule": rule}
    if epsilon is not None:
        settings["epsilon"] = float(epsilon)
    if skills is not None:
        settings["skills"] = skills
    if difficulty is not None:
        settings["difficulty"] = dict(zip(("share", "left"), map(float, difficulty), strict=True))
    return overridden(instance, settings) if settings else instance


def options_of(time_limit: float, seed: int, **others: Any) -> Options:
    """The options of a solve; InputError says in a sentence what is wrong with them."""
    try:
        return Options(time_limit=time_limit, seed=seed, **others)
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from None
