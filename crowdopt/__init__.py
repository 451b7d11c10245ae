"""Decide who labels what: provably cheap crowdsourcing plans with guaranteed accuracy.

>>> import crowdopt
>>> plan = crowdopt.solve(crowdopt.recipe("R10:10x20", seed=0))
>>> plan.proven, plan.objective == plan.bound
(True, True)

Nothing is loaded before it is used: each name below, and each folder (``crowdopt.crowd``), is imported the first
time that somebody asks for it.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from crowdopt import interrupts as _interrupts  # noqa: F401  before all else: from here on Ctrl-C is a sentence
from crowdopt.version import __version__ as __version__

if _TYPE_CHECKING:
    from crowdopt import programs as programs
    from crowdopt.assign.plan import Plan as Plan
    from crowdopt.core.certificate import certify as certify
    from crowdopt.core.program import relax as relax
    from crowdopt.core.solution import Options as Options
    from crowdopt.core.solution import Status as Status
    from crowdopt.crowd.groups import Group as Group
    from crowdopt.crowd.groups import OwnRows as OwnRows
    from crowdopt.crowd.instance import AssignmentInstance as AssignmentInstance
    from crowdopt.crowd.recipes import recipe as recipe
    from crowdopt.errors import InputError as InputError
    from crowdopt.io.campaign import read_campaign as read_campaign
    from crowdopt.io.campaign import write_campaign as write_campaign
    from crowdopt.io.programs import read_program as read_program
    from crowdopt.solvers import BackendFailed as BackendFailed
    from crowdopt.solvers import BackendMissing as BackendMissing
    from crowdopt.solvers import solve_program as solve_program
    from crowdopt.verbs.aggregate import aggregate as aggregate
    from crowdopt.verbs.at_hand import campaign as campaign
    from crowdopt.verbs.at_hand import read_plan as read_plan
    from crowdopt.verbs.audit import audit as audit
    from crowdopt.verbs.bench import backends as backends
    from crowdopt.verbs.bench import bench as bench
    from crowdopt.verbs.bench import report as report
    from crowdopt.verbs.binding import write_plan as write_plan
    from crowdopt.verbs.budget import budget as budget
    from crowdopt.verbs.check import check as check
    from crowdopt.verbs.compare import compare as compare
    from crowdopt.verbs.exchange import pull as pull
    from crowdopt.verbs.exchange import push as push
    from crowdopt.verbs.explain import explain as explain
    from crowdopt.verbs.export import export as export
    from crowdopt.verbs.generate import generate as generate
    from crowdopt.verbs.generate import init as init
    from crowdopt.verbs.generate import rehearse as rehearse
    from crowdopt.verbs.import_labels import import_labels as import_labels
    from crowdopt.verbs.judges import judges as judges
    from crowdopt.verbs.learn import learn as learn
    from crowdopt.verbs.listing import list_of as list_of
    from crowdopt.verbs.live import live as live
    from crowdopt.verbs.methods import Adaptive as Adaptive
    from crowdopt.verbs.modelling import to_cvxpy as to_cvxpy
    from crowdopt.verbs.modelling import to_highspy as to_highspy
    from crowdopt.verbs.modelling import to_pulp as to_pulp
    from crowdopt.verbs.plan_gold import plan_gold as plan_gold
    from crowdopt.verbs.rules import rules as rules
    from crowdopt.verbs.select import select as select
    from crowdopt.verbs.solve import solve as solve
    from crowdopt.verbs.verify import verify as verify
    from crowdopt.verbs.worker_skills import skills as skills

_HOMES = {  # of each public name: the module that has it
    name: f"crowdopt.{home}"
    for home, names in {
        "verbs.aggregate": "aggregate",
        "verbs.at_hand": "campaign read_plan",
        "verbs.solve": "solve",
        "verbs.audit": "audit",
        "verbs.bench": "backends bench report",
        "verbs.binding": "write_plan",
        "verbs.budget": "budget",
        "verbs.check": "check",
        "verbs.compare": "compare",
        "verbs.exchange": "pull push",
        "verbs.explain": "explain",
        "verbs.export": "export",
        "verbs.generate": "generate init rehearse",
        "verbs.import_labels": "import_labels",
        "verbs.judges": "judges",
        "verbs.learn": "learn",
        "verbs.listing": "list_of",
        "verbs.live": "live",
        "verbs.methods": "Adaptive",
        "verbs.modelling": "to_cvxpy to_highspy to_pulp",
        "verbs.plan_gold": "plan_gold",
        "verbs.rules": "rules",
        "verbs.select": "select",
        "verbs.verify": "verify",
        "verbs.worker_skills": "skills",
        "assign.plan": "Plan",
        "solvers": "BackendFailed BackendMissing solve_program",
        "core.certificate": "certify",
        "core.program": "relax",
        "core.solution": "Options Status",
        "crowd.groups": "Group OwnRows",
        "crowd.instance": "AssignmentInstance",
        "crowd.recipes": "recipe",
        "errors": "InputError",
        "io.campaign": "read_campaign write_campaign",
        "io.programs": "read_program",
    }.items()
    for name in names.split()
}
__all__ = ["programs", *_HOMES]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> _Any:
    """The public name, or the folder of that name, loaded now."""
    if name == "programs":
        _import_module("crowdopt.programs.assignment")  # crowdopt.programs.assignment.build is public
    elif name in _HOMES:
        value = getattr(_import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    try:
        return _import_module(f"crowdopt.{name}")
    except ModuleNotFoundError as error:
        if name.startswith("_") or error.name == f"crowdopt.{name}":
            raise AttributeError(f"module 'crowdopt' has no attribute {name!r}") from None
        raise
