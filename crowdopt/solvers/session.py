"""One program asked again with other numbers: built once, solved warm where the library is, certified every time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from numpy.typing import ArrayLike

from crowdopt.core.master import Warm, with_numbers
from crowdopt.core.program import Program
from crowdopt.core.solution import Options, Solution
from crowdopt.errors import InputError, public
from crowdopt.solvers import held_to, named, solve_program
from crowdopt.solvers.lp_methods import played_by
from crowdopt.solvers.settings import taken_apart


class Session:
    """A program whose costs, sides and bounds change between solves; the matrix, integers and blocks stay.

    HiGHS keeps its basis, CVXPY its compiled problem, PuLP its objects; with other backends every solve is a cold one,
    and ``builds`` says so. What comes back is a solution of ``program`` as it is then: certify it as any other.

    Parameters
    ----------
    program : Program
    backend : str
        As for :func:`crowdopt.solve`, options in brackets included.
    options : Options, optional
        Limits of each solve; 60 seconds unless said.
    """

    def __init__(self, program: Program, backend: str = "highs", options: Options | None = None) -> None:
        backend = played_by(backend, program)
        chosen, settings = named(backend), taken_apart(backend)[1]
        given = options or Options()
        self.program, self.backend = program, backend
        self.options = replace(given, settings=(*given.settings, *settings))
        self.solves, self.builds = 0, 0
        make = chosen.warm if not chosen.isolated else None
        self._make: Callable[[Program], Warm] | None = None if make is None else partial(self._built, make)
        self._warm: Warm | None = None
        self._changed: set[str] = set()

    def set_cost(self, cost: ArrayLike) -> None:
        """Other costs.

        Parameters
        ----------
        cost : float or (columns,) array
        """
        self._change("cost", cost=cost)

    def set_sides(self, lower: ArrayLike | None = None, upper: ArrayLike | None = None) -> None:
        """Other sides of the rows; what is not given stays.

        Parameters
        ----------
        lower, upper : float or (rows,) array, optional
        """
        self._change("sides", sides=(lower, upper))

    def set_bounds(self, lower: ArrayLike | None = None, upper: ArrayLike | None = None) -> None:
        """Another box; what is not given stays.

        Parameters
        ----------
        lower, upper : float or (columns,) array, optional
        """
        self._change("bounds", bounds=(lower, upper))

    def solve(self) -> Solution:
        """Solve the program as it is now.

        Returns
        -------
        Solution

        Raises
        ------
        BackendMissing, BackendFailed
            As :func:`crowdopt.solve` does.
        """
        self.solves += 1
        program, whole = self.program, self.program.with_whole_sides()
        if self._make is None or not program.matrix.nnz or whole.has_crossed_sides:
            self.builds += not whole.has_crossed_sides
            return solve_program(program, taken_apart(self.backend)[0], self.options)
        answer = None if self._warm is None else self._warm.solve(whole, frozenset(self._changed))
        if answer is None:  # nothing there yet, or its objects cannot follow: rows have other sides than before
            self._warm = self._make(whole)
            answer = self._warm.solve(whole, frozenset())
        self._changed.clear()
        return held_to(program, self.backend, answer)

    def _built(self, make: Callable[[Program, Options], Warm], whole: Program) -> Warm:
        self.builds += 1
        return make(whole, self.options)

    def _change(self, what: str, **numbers: object) -> None:
        try:
            self.program = with_numbers(self.program, **numbers)  # type: ignore[arg-type]
        except (TypeError, ValueError) as error:
            raise InputError(f"session of {self.program.name}: {error}") from None
        self._changed.add(what)


@public
def session(program: Program, backend: str = "highs", *, options: Options | None = None) -> Session:
    """A session: ``set_cost``, ``set_sides``, ``set_bounds`` and ``solve``, again and again.

    Parameters
    ----------
    program : Program
    backend : str
    options : Options, optional
        Limits of each solve.

    Returns
    -------
    Session

    Raises
    ------
    BackendMissing
        If there is no such backend.
    """
    return Session(program, backend, options)
