"""A backend of one's own, in a package of one's own: SciPy's branch and bound."""

from scipy.optimize import Bounds, LinearConstraint, milp

from crowdopt.core.program import Program
from crowdopt.core.solution import Listener, Options, Solution, Status
from crowdopt.solvers import Backend


def run(program: Program, options: Options, listener: Listener | None) -> Solution:
    rows = LinearConstraint(program.matrix, program.row_lower, program.row_upper)
    box, limit = Bounds(program.lower, program.upper), {"time_limit": options.time_limit}
    found = milp(program.cost, integrality=program.integer, bounds=box, constraints=rows, options=limit)
    claim = {0: Status.OPTIMAL, 2: Status.INFEASIBLE, 3: Status.UNBOUNDED}.get(found.status, Status.UNDECIDED)
    point, bound = (found.x, found.fun) if claim is Status.OPTIMAL else (None, None)
    return Solution(program, "milp", claim, point, None, None, bound, 0.0, found.message)


BACKENDS = [Backend("milp", "scipy", "pip install scipy", integers=True, duals=False, run=run)]
