"""What became of one drawn campaign: cost, bound, time, and whatever was said that is not so."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from warnings import catch_warnings

from crowdopt import AssignmentInstance, InputError, Plan, Status, solve, verify, write_campaign, write_plan
from crowdopt.errors import TableWarning
from tests.checkers.folders import check
from tests.checkers.plans import broken, cost_of, least_cost
from tests.draw import Planned

NEAR = 1e-6  # of costs and bounds, relative beyond 1
LATE = 0.3  # seconds beyond the limit
EARLY, CLOSE = 0.8, 2e-3  # of the limit, within which nobody gives up at a wider gap
TINY, FEW = 24, 11  # pairs and workers up to which every plan is looked at


@dataclass(frozen=True)
class Row:
    """One campaign and what was said of it.

    Parameters
    ----------
    seed : int
    size, skills : str
    wishes : list of str
    feasible : bool
        Whether there is a plan.
    status : str
        The plan's; ``refused`` or ``raised`` where there is none.
    seconds, limit : float
    cost, bound : float, optional
    known : float, optional
        The least cost where every plan was looked at, else the hidden plan's.
    gap : float, optional
    false : list of str
        What was said that is not so.
    raised : str
        The sentence of an error, and where it was raised.
    method : str
        Who planned.
    """

    seed: int
    size: str
    skills: str
    wishes: list[str]
    feasible: bool
    status: str
    seconds: float
    limit: float
    cost: float | None = None
    bound: float | None = None
    known: float | None = None
    gap: float | None = None
    false: tuple[str, ...] = ()
    raised: str = ""
    method: str = "exact"

    @property
    def late(self) -> bool:
        """Whether the limit was not kept."""
        return self.seconds > self.limit + LATE

    @property
    def gave_up(self) -> bool:
        """Whether the search ended early at a gap that is worth closing."""
        open_gap = self.cost is None or self.gap is None or self.gap > CLOSE
        return self.feasible and not self.raised and open_gap and self.seconds < EARLY * self.limit

    @property
    def dear(self) -> bool:
        """Whether the hidden plan, which is made at random, costs less."""
        return self.cost is not None and self.known is not None and self.cost > self.known * (1 + NEAR)

    @property
    def lacking(self) -> bool:
        """Whether there is a plan and none was found."""
        return self.feasible and self.cost is None


def is_tiny(one: AssignmentInstance) -> bool:
    """Whether every plan is looked at."""
    return one.n_tasks * one.n_workers <= TINY and one.n_workers <= FEW


def measure(drawn: Planned, limit: float, *, seed: int = 0, folders: bool = True, method: str = "exact") -> Row:
    """Plan and check; an error becomes part of the row.

    Parameters
    ----------
    drawn : Planned
    limit : float
        Seconds.
    seed : int
        Of the campaign.
    folders : bool
        Whether the plan is written and held against its campaign by ``verify`` as well.
    method : str
        Who plans.
    """
    one, size = drawn.instance, f"{drawn.instance.n_tasks}x{drawn.instance.n_workers}"
    known = least_cost(one) if is_tiny(one) else inf if drawn.plan is None else cost_of(one, drawn.plan)
    about = {"seed": seed, "size": size, "skills": drawn.skills, "wishes": list(drawn.wishes), "method": method}
    about |= {"feasible": known < inf, "limit": limit, "known": known if isfinite(known) else None}
    started = perf_counter()
    try:
        plan = solve(one, method=method, time_limit=limit, gap=0.0, isolated=method != "exact")
        seconds = perf_counter() - started
        if plan.interrupted:
            raise KeyboardInterrupt
        false = [*_false_claims(plan, known), *(_folder_claims(plan) if folders and plan.found else [])]
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"[:400]
        status = "refused" if isinstance(error, InputError) else "raised"
        return Row(**about, status=status, seconds=perf_counter() - started, raised=said)
    cost, bound = plan.objective if plan.found else None, plan.bound if isfinite(plan.bound) else None
    gap = (cost - bound) / max(1.0, bound) if plan.found and bound is not None else None
    status = str(plan.status.value)
    return Row(**about, status=status, seconds=seconds, cost=cost, bound=bound, gap=gap, false=tuple(false))


def _false_claims(plan: Plan, known: float) -> list[str]:
    """What the plan says that is not so; ``known`` is the cost of some plan, or the least of all at a tiny size."""
    tiny, found = is_tiny(plan.instance), []
    near = NEAR * max(1.0, abs(known)) if known < inf else NEAR
    if plan.status is Status.INFEASIBLE and known < inf:
        found.append("infeasible, but there is a plan")
    if isfinite(plan.bound) and plan.bound > known + near:
        found.append(f"bound {plan.bound:.8g} above the cost {known:.8g} of a plan")
    if tiny and plan.status is Status.UNDECIDED:
        found.append("undecided at a tiny size")
    if not plan.found:
        return found
    own = cost_of(plan.instance, plan.pairs)
    if abs(own - plan.objective) > NEAR * max(1.0, own):
        found.append(f"cost {plan.objective:.8g}, but its labels cost {own:.8g}")
    if plan.bound > own + NEAR * max(1.0, own):
        found.append(f"bound {plan.bound:.8g} above its own cost {own:.8g}")
    if tiny and (own < known - near or (plan.status is Status.OPTIMAL and own > known + near)):
        found.append(f"cost {own:.8g}, but the least is {known:.8g}")
    return found + [f"the plan breaks: {limit}" for limit in broken(plan.instance, plan.pairs)]


def _folder_claims(plan: Plan) -> list[str]:
    """What ``verify`` says against the plan's folder, and the checker of folders where it knows the campaign."""
    one = plan.instance
    with TemporaryDirectory() as place:
        archive = one.prior.ndim > 1  # priors per task stand in no table
        campaign, folder = Path(place) / ("campaign.npz" if archive else "campaign"), Path(place) / "plan"
        write_campaign(one, campaign, collected_labels=["1"] * len(one.collected))
        write_plan(plan, folder)
        with catch_warnings(category=TableWarning, action="ignore"):  # groups are drawn before what they may limit
            report = verify(campaign, folder)
        known = one.rule in ("bhattacharyya", "hoeffding") and not (one.has_prior or one.groups or one.own_rows)
        known &= plan.duals is None or one.n_workers <= FEW
        again = check(campaign, folder)[0] if known else None
    found = [] if report.holds else [f"verify: {problem}" for problem in report.problems[:3]]
    found += [f"the checker of folders: {problem}" for problem in again or ()]
    proven = report.certified_bound
    if proven is not None and proven > plan.objective + NEAR * max(1.0, abs(plan.objective)):
        found.append(f"verify proves {proven:.8g}, above the plan's cost {plan.objective:.8g}")
    return found
