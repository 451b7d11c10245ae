"""What the calls share: which solvers serve the methods, instances from folders, options from arguments.

Calls take the fields of their options as keywords; a frozen type states names, defaults and meanings once.

The call write_plan: a plan of any kind as a folder.

Instances and plans in Python, written as the folders that a verb reads.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar, overload

from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan
from crowdopt.assign.plan import Plan
from crowdopt.assign.standing import Solvers
from crowdopt.core.solution import INTERIOR, Options
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError, public
from crowdopt.io.campaign import read_campaign, write_campaign
from crowdopt.io.cells import TableLike as TableLike
from crowdopt.io.plan import write_plan as write_folder
from crowdopt.io.policy import write_policy
from crowdopt.io.settings import overridden
from crowdopt.io.tables import spare_columns
from crowdopt.solvers import BackendFailed as BackendFailed
from crowdopt.solvers import BackendMissing as BackendMissing
from crowdopt.solvers import solve_program, solve_whole
from crowdopt.solvers.highs import HighsMaster

A = TypeVar("A")
OptionsClass = TypeVar("OptionsClass")
R = TypeVar("R")
S = TypeVar("S")
First = TypeVar("First", contravariant=True)
Found = TypeVar("Found", covariant=True)
Other = TypeVar("Other", covariant=True)
P = ParamSpec("P")
Q = ParamSpec("Q")

ENTRIES, RETURNS, RAISES = "Parameters\n----------\n", "\n\nReturns\n", "\n\nRaises\n"
CAMPAIGN = "campaign : AssignmentInstance or path\n    An instance, or the folder of a campaign."


class TwoWays(Protocol[First, P, Found, Q, Other]):
    """A verb whose result is of another kind where an option says so."""

    @overload
    def __call__(self, first: First, /, *given: P.args, **named: P.kwargs) -> Found: ...

    @overload
    def __call__(self, first: First, /, *given: Q.args, **named: Q.kwargs) -> Other: ...


def keywords(
    options: Callable[P, OptionsClass],
) -> Callable[[Callable[[A, OptionsClass], R]], Callable[Concatenate[A, P], R]]:
    """A verb of one thing and its options takes the fields of these as arguments, and their descriptions as its own."""

    def dressed(verb: Callable[[A, OptionsClass], R]) -> Callable[Concatenate[A, P], R]:
        call: Callable[Concatenate[A, P], R] = _dressed(verb, options)
        return call

    return dressed


def keywords_alone(options: Callable[P, OptionsClass]) -> Callable[[Callable[[OptionsClass], R]], Callable[P, R]]:
    """As :func:`keywords`, for a verb of options alone."""

    def dressed(verb: Callable[[OptionsClass], R]) -> Callable[P, R]:
        call: Callable[P, R] = _dressed(verb, options)
        return call

    return dressed


def two_ways(
    special: Callable[P, Any], found: type[R], options: Callable[Q, OptionsClass], other: type[S]
) -> Callable[[Callable[[A, OptionsClass], R | S]], TwoWays[A, P, R, Q, S]]:
    """As :func:`keywords`; arguments that make ``special`` give what ``found`` says, others ``other``."""

    def dressed(verb: Callable[[A, OptionsClass], R | S]) -> TwoWays[A, P, R, Q, S]:
        call: TwoWays[A, P, R, Q, S] = _dressed(verb, options)
        return call

    return dressed


def _dressed(verb: Callable[..., Any], options: Callable[..., Any]) -> Any:
    own = inspect.signature(verb)
    *first, _options = own.parameters.values()
    face = own.replace(parameters=[*first, *inspect.signature(options).parameters.values()])

    @wraps(verb)
    def call(*given: Any, **named: Any) -> Any:
        bound = face.bind(*given, **named).arguments
        places = [bound.pop(one.name) for one in first]
        return verb(*places, options(**bound))

    vars(call).update(__signature__=face, options=options)  # what inspect, help, notebooks and errors look for
    text = inspect.getdoc(verb) or ""
    if RETURNS not in text:
        text = text.replace(RAISES, f"{RETURNS}-------\n{own.return_annotation}{RAISES}")
    takes = [CAMPAIGN] if ENTRIES not in text and "campaign" in own.parameters else []
    call.__doc__ = _described(text, takes, options)
    return public(call)


def _described(text: str, takes: list[str], options: Any) -> str:
    entries = takes + [
        document.partition(ENTRIES)[2].rstrip()
        for kind in options.__mro__
        if ENTRIES in (document := inspect.cleandoc(kind.__dict__.get("__doc__") or ""))
    ]
    end = min(at for mark in (RETURNS, RAISES) if (at := text.find(mark)) >= 0)
    head = text[:end] if ENTRIES in text else f"{text[:end]}\n\n{ENTRIES.strip()}"
    return "\n".join([head, *entries]) + text[end:]


SEARCH = "highs"  # who searches the full program where the exact method needs it
SOLVERS = Solvers(solve_program, HighsMaster, SEARCH)
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
        if len(difficulty) != 2:
            raise InputError("difficulty is two numbers: the share of tasks that are hard, and of skill left on them")
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


@public
def write_plan(plan: Plan | AdaptivePlan, folder: AnyPath, *, force: bool = False) -> None:
    """Write a plan as a folder, whole or not at all.

    Parameters
    ----------
    plan : Plan or AdaptivePlan
    folder : path
        What to write; it must not be there yet.
    force : bool
        Whether a plan that is there may be replaced.

    Raises
    ------
    ValueError
        If there is no plan to write.
    InputError
        If the target exists and is not forced, or cannot be written.
    """
    if isinstance(plan, AdaptivePlan):
        write_policy(plan, folder, force=force)
    else:
        write_folder(plan, folder, force=force)


def content_of(campaign: InstanceLike) -> Mapping[str, Sequence[str]]:
    """What a campaign's folder has of its tasks beside what a plan is made of: texts, addresses."""
    if isinstance(campaign, AssignmentInstance) or not Path(campaign).is_dir():
        return {}
    return spare_columns(Path(campaign), "tasks")


PlanLike: TypeAlias = Plan | AdaptivePlan | str | Path  # a plan, or its folder


@contextmanager
def on_disk(campaign: InstanceLike, plan: PlanLike, tables: bool = False) -> Iterator[tuple[Path, Path]]:
    """Campaign and plan as folders, temporary ones for objects; tables: write tables, no archive."""
    with TemporaryDirectory() as spare:
        yield _campaign(campaign, Path(spare), tables), _plan(plan, Path(spare))


def _campaign(campaign: InstanceLike, spare: Path, tables: bool) -> Path:
    if not isinstance(campaign, AssignmentInstance):
        return Path(campaign)
    if len(campaign.collected):
        raise InputError("an instance does not hold what the labels already in say; give the campaign's folder")
    place = spare / ("campaign" if tables else "campaign.npz")
    write_campaign(campaign, place)
    return place


def _plan(plan: PlanLike, spare: Path) -> Path:
    if not isinstance(plan, Plan | AdaptivePlan):
        return Path(plan)
    if plan.pairs is None:
        raise InputError("there is no plan to go by; crowdopt.explain says why")
    write_plan(plan, spare / "plan")
    return spare / "plan"


def refuse_of_parts(processes: int | None, cluster: str | None) -> None:
    """InputError where words are given that only campaigns in parts have."""
    for name, value in (("processes", processes), ("cluster", cluster)):
        if value is not None:
            raise InputError(f"{name} is for a campaign in parts (`crowdopt generate --parts`); leave it out")


def size_of(instance: AssignmentInstance) -> dict[str, int]:
    """How much there is of everything."""
    return {"tasks": instance.n_tasks, "workers": instance.n_workers, "types": instance.n_types}
