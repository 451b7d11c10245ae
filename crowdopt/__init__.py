"""Decide who labels what: provably cheap crowdsourcing plans with guaranteed accuracy.

>>> import crowdopt
>>> plan = crowdopt.assign(crowdopt.recipe("R10:10x20", seed=0))
>>> plan.proven, plan.objective == plan.bound
(True, True)
"""

from crowdopt import backends as backends
from crowdopt import programs as programs
from crowdopt.api import aggregate as aggregate
from crowdopt.api import answers as answers
from crowdopt.api import assign as assign
from crowdopt.api import explain as explain
from crowdopt.api import export as export
from crowdopt.api import import_labels as import_labels
from crowdopt.api import read_campaign as read_campaign
from crowdopt.api import rehearse as rehearse
from crowdopt.api import select as select
from crowdopt.api import spend as spend
from crowdopt.api import verify as verify
from crowdopt.api import write_campaign as write_campaign
from crowdopt.api import write_plan as write_plan
from crowdopt.api.audit import audit as audit
from crowdopt.api.compare import compare as compare
from crowdopt.api.compare import replay as replay
from crowdopt.api.learn import learn as learn
from crowdopt.assign.plan import Plan as Plan
from crowdopt.backends import BackendMissing as BackendMissing
from crowdopt.backends import solve as solve
from crowdopt.core.certificate import Certificate as Certificate
from crowdopt.core.certificate import certify as certify
from crowdopt.core.certificate import lagrangian_bound as lagrangian_bound
from crowdopt.core.dual import dualize as dualize
from crowdopt.core.program import Program as Program
from crowdopt.core.program import relax as relax
from crowdopt.core.solution import Options as Options
from crowdopt.core.solution import Solution as Solution
from crowdopt.core.solution import Status as Status
from crowdopt.crowd.instance import AssignmentInstance as AssignmentInstance
from crowdopt.crowd.recipes import recipe as recipe
from crowdopt.errors import InputError as InputError
from crowdopt.hire.selected import Selection as Selection
from crowdopt.programs import assignment as _assignment  # noqa: F401  crowdopt.programs.assignment.build is public
from crowdopt.version import __version__ as __version__
