"""Programs in the objects of the library that one models with, and the answers back.

>>> import crowdopt
>>> program = crowdopt.programs.assignment.build(crowdopt.recipe("R10:4x6", seed=0))
>>> handed = crowdopt.to_pulp(program)
>>> problem, y = handed.model, handed.columns["y"]  # a pulp.LpProblem; its variables, (tasks, workers)
>>> problem += sum(y[:, 0]) <= sum(y[:, 1])         # a wish that the program does not know
>>> solution = crowdopt.from_solution(handed, problem.solve())  # doctest: +SKIP
>>> crowdopt.certify(solution).proves_optimal()                 # doctest: +SKIP
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crowdopt.backends import BackendMissing
from crowdopt.backends.modelling import cvxpy_model, highspy_model, pulp_model, scipy_model
from crowdopt.backends.modelling.modelled import Modelled
from crowdopt.core.program import Program
from crowdopt.core.solution import Solution
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError, public
from crowdopt.io.programs.naming import LP, MPS, names_of
from crowdopt.io.programs.program_files import ids_of

INSTALL = {"highspy": "pip install highspy", "pulp": "pip install pulp", "cvxpy": "pip install cvxpy"}


@public
def to_highspy(program: Program, instance: AssignmentInstance | None = None) -> Modelled:
    """The program as a ``highspy.Highs``: ``model.model.addConstr(...)``, ``model.model.run()``.

    Parameters
    ----------
    program : Program
    instance : AssignmentInstance, optional
        Whose ids the names are made of, as in ``y[photo-01,ada]``; numbers otherwise.

    Returns
    -------
    Modelled
        ``model``; ``columns`` and ``rows`` by block: ``highs_var`` objects in the block's shape, and positions of rows.

    Raises
    ------
    BackendMissing
        If the library is not installed.
    """
    return _made("highspy", lambda: highspy_model.modelled(program, *_names(program, instance, MPS)))


@public
def to_pulp(program: Program, instance: AssignmentInstance | None = None) -> Modelled:
    """The program as a ``pulp.LpProblem``, of PuLP 3 or 4: ``problem = handed.model``, then ``problem += ...``.

    Parameters
    ----------
    program : Program
    instance : AssignmentInstance, optional
        Whose ids the names are made of, as in ``y(photo~01,ada)``; numbers otherwise.

    Returns
    -------
    Modelled
        ``model``; ``columns`` and ``rows`` by block: variables and constraints in the block's shape, a pair of
        constraints where a row has two sides, None where it has none.

    Raises
    ------
    BackendMissing
        If the library is not installed.
    """
    return _made("pulp", lambda: pulp_model.modelled(program, *_names(program, instance, LP)))


@public
def to_cvxpy(program: Program) -> Modelled:
    """The program as a ``cvxpy.Problem``: go on with ``cvxpy.Problem(model.model.objective, [..., *more])``.

    Parameters
    ----------
    program : Program

    Returns
    -------
    Modelled
        ``model``; ``columns``: a variable of each block's shape; ``rows``: the constraints of each block, at most three
        (equalities, lower sides, upper sides).

    Raises
    ------
    BackendMissing
        If the library is not installed.
    """
    return _made("cvxpy", lambda: cvxpy_model.modelled(program))


@public
def to_scipy(program: Program) -> Modelled:
    """The program as arguments: ``answer = scipy.optimize.linprog(**model.model)``.

    Rows are added below the given ones (``scipy.sparse.vstack``), columns behind the given ones.

    Parameters
    ----------
    program : Program

    Returns
    -------
    Modelled
        ``model``, a dict; ``columns``: positions in ``c``, in each block's shape.
    """
    return scipy_model.modelled(program)


@public
def from_solution(model: Modelled, answer: Any = None, *, gap: float = 0.0) -> Solution:
    """The solution of a model that was handed over, perhaps changed, and solved elsewhere.

    The solution is one of the program that the objects state *now*: rows and columns that were added stand in blocks
    ``added``, changed costs and sides count as they are. So ``certify`` holds the answer against what was asked.

    Parameters
    ----------
    model : Modelled
        From ``to_highspy``, ``to_pulp``, ``to_cvxpy`` or ``to_scipy``.
    answer : object, optional
        PuLP: what ``solve`` returned (PuLP 4 needs it). CVXPY: the problem that was solved, where it is another one.
        SciPy: what ``linprog`` returned.
    gap : float
        The gap that the solver was allowed: a search that names no bound claims its optimum up to that.

    Returns
    -------
    Solution
        Multipliers in the house's sign: of a ``>=`` row in a minimum at least 0.

    Raises
    ------
    InputError
        If the model is no linear minimum any more, or the answer is missing.
    """
    if model.library == "highspy":
        return highspy_model.solution_of(model, gap)
    if model.library == "pulp":
        return pulp_model.solution_of(model, answer, gap)
    if model.library == "cvxpy":
        return cvxpy_model.solution_of(model, answer, gap)
    if answer is None:
        raise InputError("SciPy keeps nothing of a solve: hand over what linprog(**model.model) returned")
    return scipy_model.solution_of(model, answer, gap)


def _names(program: Program, instance: AssignmentInstance | None, dialect: Any) -> tuple[Sequence[str], Sequence[str]]:
    ids = {} if instance is None else ids_of(program, instance)
    return names_of(program.columns, ids, dialect), names_of(program.rows, ids, dialect)


def _made(library: str, make: Any) -> Modelled:
    try:
        made: Modelled = make()
    except ImportError as error:
        raise BackendMissing(f"{library} is not installed here: {INSTALL[library]} ({error})") from error
    return made
