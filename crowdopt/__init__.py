"""Decide who labels what: provably cheap crowdsourcing plans with guaranteed accuracy.

>>> import crowdopt
>>> plan = crowdopt.assign(crowdopt.recipe("R10:10x20", seed=0))
>>> plan.proven, plan.objective == plan.bound
(True, True)

The calls ``assign``, ``answers``, ``bench`` and ``report`` bear the names of the folders behind them: as attributes
they are the calls, and ``from crowdopt.assign.plan import Plan`` still finds the folder.
"""

from crowdopt import interrupts as _interrupts  # noqa: F401  before all else: from here on Ctrl-C is a sentence
from crowdopt import programs
from crowdopt.api.aggregate import aggregate
from crowdopt.api.answers import answers
from crowdopt.api.assign import assign
from crowdopt.api.audit import audit
from crowdopt.api.bench import bench
from crowdopt.api.budget import budget
from crowdopt.api.compare import compare, replay
from crowdopt.api.explain import explain
from crowdopt.api.export import export
from crowdopt.api.import_labels import import_labels
from crowdopt.api.learn import learn
from crowdopt.api.modelling import from_solution, to_cvxpy, to_highspy, to_pulp, to_scipy
from crowdopt.api.rehearse import rehearse
from crowdopt.api.report import report
from crowdopt.api.select import select
from crowdopt.api.verify import verify
from crowdopt.assign.plan import Plan
from crowdopt.backends import BackendFailed, BackendMissing, solve
from crowdopt.backends.session import session
from crowdopt.core.certificate import certify, lagrangian_bound
from crowdopt.core.program import relax
from crowdopt.core.solution import Options, Status
from crowdopt.crowd.groups import Group, OwnRows
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.recipes import recipe
from crowdopt.errors import InputError
from crowdopt.io.campaign import read_campaign
from crowdopt.io.campaign_writing import write_campaign
from crowdopt.io.plan_folder import write_plan
from crowdopt.io.program_files import read_program
from crowdopt.programs import assignment as _assignment  # noqa: F401  crowdopt.programs.assignment.build is public
from crowdopt.version import __version__

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
    "bench",
    "budget",
    "certify",
    "compare",
    "explain",
    "export",
    "from_solution",
    "import_labels",
    "lagrangian_bound",
    "learn",
    "programs",
    "read_campaign",
    "read_program",
    "recipe",
    "rehearse",
    "relax",
    "replay",
    "report",
    "select",
    "session",
    "solve",
    "to_cvxpy",
    "to_highspy",
    "to_pulp",
    "to_scipy",
    "verify",
    "write_campaign",
    "write_plan",
]


def __dir__() -> list[str]:
    return sorted(__all__)
