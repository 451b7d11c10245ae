"""Decide who labels what: provably cheap crowdsourcing plans with guaranteed accuracy.

>>> import crowdopt
>>> plan = crowdopt.assign(crowdopt.recipe("R10:10x20", seed=0))
>>> plan.proven, plan.objective == plan.bound
(True, True)

The calls ``assign``, ``answers``, ``backends``, ``bench``, ``live`` and ``report`` bear the names of the folders behind
them: as attributes they are the calls, and ``from crowdopt.assign.plan import Plan`` still finds the folder.

Nothing is loaded before it is used: each name below, and each folder (``crowdopt.crowd``), is imported the first
time that somebody asks for it.
"""

import sys as _sys
from importlib import import_module as _import_module
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from crowdopt import interrupts as _interrupts  # noqa: F401  before all else: from here on Ctrl-C is a sentence
from crowdopt.version import __version__

if _TYPE_CHECKING:
    from crowdopt import programs
    from crowdopt.api.aggregate import aggregate
    from crowdopt.api.answers import answers
    from crowdopt.api.assign import assign
    from crowdopt.api.audit import audit
    from crowdopt.api.backends import backends
    from crowdopt.api.bench import bench
    from crowdopt.api.budget import budget
    from crowdopt.api.compare import compare, replay
    from crowdopt.api.explain import explain
    from crowdopt.api.export import export
    from crowdopt.api.generate import generate
    from crowdopt.api.import_labels import import_labels
    from crowdopt.api.init import init
    from crowdopt.api.learn import learn
    from crowdopt.api.live import live
    from crowdopt.api.modelling import to_cvxpy, to_highspy, to_pulp
    from crowdopt.api.plan_gold import plan_gold
    from crowdopt.api.pull import pull
    from crowdopt.api.push import push
    from crowdopt.api.rehearse import rehearse
    from crowdopt.api.report import report
    from crowdopt.api.select import select
    from crowdopt.api.solve import solve
    from crowdopt.api.verify import verify
    from crowdopt.api.worker_skills import skills
    from crowdopt.api.write_plan import write_plan
    from crowdopt.assign.plan import Plan
    from crowdopt.backends import BackendFailed, BackendMissing
    from crowdopt.backends.session import session
    from crowdopt.core.certificate import certify, lagrangian_bound
    from crowdopt.core.program import relax
    from crowdopt.core.solution import Options, Status
    from crowdopt.crowd.groups import Group, OwnRows
    from crowdopt.crowd.instance import AssignmentInstance
    from crowdopt.crowd.recipes import recipe
    from crowdopt.errors import InputError
    from crowdopt.io.campaign import read_campaign, write_campaign
    from crowdopt.io.programs import read_program
    from crowdopt.programs import assignment as _assignment  # noqa: F401  crowdopt.programs.assignment.build is public

_HOMES = {  # of names that are not of a verb; a verb's is crowdopt.api.<verb>
    "AssignmentInstance": "crowdopt.crowd.instance",
    "BackendFailed": "crowdopt.backends",
    "BackendMissing": "crowdopt.backends",
    "Group": "crowdopt.crowd.groups",
    "InputError": "crowdopt.errors",
    "Options": "crowdopt.core.solution",
    "OwnRows": "crowdopt.crowd.groups",
    "Plan": "crowdopt.assign.plan",
    "Status": "crowdopt.core.solution",
    "certify": "crowdopt.core.certificate",
    "lagrangian_bound": "crowdopt.core.certificate",
    "read_campaign": "crowdopt.io.campaign",
    "read_program": "crowdopt.io.programs",
    "recipe": "crowdopt.crowd.recipes",
    "relax": "crowdopt.core.program",
    "replay": "crowdopt.api.compare",
    "session": "crowdopt.backends.session",
    "skills": "crowdopt.api.worker_skills",
    "to_cvxpy": "crowdopt.api.modelling",
    "to_highspy": "crowdopt.api.modelling",
    "to_pulp": "crowdopt.api.modelling",
    "write_campaign": "crowdopt.io.campaign",
}

__all__ = [
    "AssignmentInstance",
    "BackendFailed",
    "BackendMissing",
    "Group",
    "InputError",
    "Options",
    "OwnRows",
    "Plan",
    "Status",
    "__version__",
    "aggregate",
    "answers",
    "assign",
    "audit",
    "backends",
    "bench",
    "budget",
    "certify",
    "compare",
    "explain",
    "export",
    "generate",
    "import_labels",
    "init",
    "lagrangian_bound",
    "learn",
    "live",
    "plan_gold",
    "programs",
    "pull",
    "push",
    "read_campaign",
    "read_program",
    "recipe",
    "rehearse",
    "relax",
    "replay",
    "report",
    "select",
    "session",
    "skills",
    "solve",
    "to_cvxpy",
    "to_highspy",
    "to_pulp",
    "verify",
    "write_campaign",
    "write_plan",
]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> _Any:
    """The public name, or the folder of that name, loaded now."""
    if name == "programs":
        _import_module("crowdopt.programs.assignment")  # crowdopt.programs.assignment.build is public
    elif name in __all__:
        value = getattr(_import_module(_HOMES.get(name, f"crowdopt.api.{name}")), name)
        globals()[name] = value
        return value
    try:
        return _import_module(f"crowdopt.{name}")
    except ModuleNotFoundError as error:
        if name.startswith("_") or error.name == f"crowdopt.{name}":
            raise AttributeError(f"module 'crowdopt' has no attribute {name!r}") from None
        raise


class _Face(_ModuleType):
    """The package itself, whose calls are not overwritten by folders of the same name when those are imported."""

    def __setattr__(self, name: str, value: _Any) -> None:
        if not (name in __all__ and name != "programs" and isinstance(value, _ModuleType)):
            super().__setattr__(name, value)


_sys.modules[__name__].__class__ = _Face
