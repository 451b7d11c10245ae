"""The verb explain: why there is no plan and what would help, or what one more unit is worth.

What gold votes tell of dependence: laws of votes, their held-out losses, and what plans by each cost.

The cost of adaptive plans over the number of rounds, and over the error targets.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.cascade.adaptive_plan import AdaptivePlan
from crowdopt.assign.cascade.cheapest_policy import LawPrice, cheapest_policy, law_price, with_law
from crowdopt.assign.cascade.panels import ManyStates, vote_panel
from crowdopt.assign.cascade.policy import Cascade
from crowdopt.assign.explain import CostCurve, Margins, Remedy
from crowdopt.assign.explain import curve as curve_of
from crowdopt.assign.explain import margins as margins_of
from crowdopt.assign.plan import Plan
from crowdopt.assign.shortage import Shortage, shortage
from crowdopt.core.clock import Clock
from crowdopt.crowd.doubt import gold_of
from crowdopt.crowd.error_correlation import EffectiveVotes, effective_votes
from crowdopt.crowd.gold import FITS
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.documents import finite
from crowdopt.errors import InputError
from crowdopt.io.folders import check_target
from crowdopt.io.plan import read_claims, read_overrides
from crowdopt.io.policy import is_policy
from crowdopt.io.results import EXPLANATION, write_explanation
from crowdopt.io.settings import overridden, overrides
from crowdopt.kernels import for_small
from crowdopt.notebooks import InNotebooks, number
from crowdopt.pages.charts import Undrawn, drawn
from crowdopt.pages.explanation_page import charts, rounds_in_words
from crowdopt.said import Said, Verb
from crowdopt.verbs.binding import SOLVERS, AnyPath, InstanceLike, PlanLike, instance_of, keywords, options_of
from crowdopt.verbs.plans_said import headline, ways_as_facts, ways_out, ways_said, what_falls_short, what_lacks
from crowdopt.verbs.solve import by_class, probe, solve, with_labels


@dataclass(frozen=True, eq=False)
class LawsExplained:
    """The laws that gold votes were fitted by, the chosen one, and what plans by each cost if that one holds."""

    chosen: str
    loss: dict[str, float]  # by law: mean -ln P of a held-out item
    prices: list[LawPrice]  # of plans by each law
    worth: EffectiveVotes

    @property
    def sentences(self) -> list[str]:
        """A table in words."""
        width = max(map(len, self.loss))
        said = [
            f"gold votes: {self.worth}",
            f"plans by each law of votes, followed under the chosen one ({self.chosen}); errors over their targets",
        ]
        for one in self.prices:
            loss = f"held-out loss {self.loss[one.name]:.4f}"
            said.append(
                f"{one.name:{width}}  {loss}: promises cost {number(one.promised)}, errors {one.times:.2f}; "
                f"comes to cost {number(one.cost)}, errors {one.errs:.2f}"
            )
        return said

    @property
    def facts(self) -> dict[str, Any]:
        """The same as plain JSON."""
        return {
            "chosen": self.chosen,
            "loss": self.loss,
            "effective_votes": asdict(self.worth),
            "plans": [asdict(one) for one in self.prices],
        }


def explain_laws(
    instance: AssignmentInstance,
    clock: Clock,
    *,
    rounds: int | None,
    expert: float | None,
    given_votes: bool,
    class_error: tuple[float, ...],
) -> LawsExplained | None:
    """The laws of a campaign whose gold has answers of several to an item, and no labels yet; None for any other.

    Nor of gold that tells types apart, or workers of more different skills than states of votes can be listed for.
    """
    gold = gold_of(instance)
    if gold is None or gold.choice is None or instance.classes != 2 or len(instance.collected):
        return None
    choice, votes = gold.choice, gold.rows
    assert votes is not None
    if votes.shape[0] > 1:
        return None
    try:
        panel = vote_panel(with_law(instance, choice.law))
    except ManyStates:
        return None
    options = options_of(max(1.0, clock.left), 0)
    terms: dict[str, Any] = {"rounds": rounds, "expert": expert, "given_votes": given_votes, "class_error": class_error}
    plans = [law_price(Cascade(panel, **terms), FITS[n](votes), SOLVERS.solve, options) for n in choice.loss]
    known = [one for one in plans if one is not None]
    return LawsExplained(choice.law.name, choice.loss, known, effective_votes(votes.table))


ROUNDS = (1, 2, 3, 5, None)  # None: one vote at a time, without limit
FACTORS = (0.8, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)  # of all targets, for the curve
HIGHEST = 0.49  # a target lies below 1/2
TERMS = ("expert", "given_votes", "class_error", "each_task")


@dataclass(frozen=True)
class CostOfRounds:
    """The cheapest plan of so many rounds at so many times the targets; None where there is none."""

    rounds: int | None
    factor: float
    cost: float | None
    labels: float
    bound: float

    @property
    def name(self) -> str:
        """The rounds in words."""
        return rounds_in_words(self.rounds)


@dataclass(frozen=True, eq=False)
class RoundsExplained:
    """The cost over rounds at the plan's own targets, over targets too where asked for, and what was too large."""

    instance: AssignmentInstance
    rows: list[CostOfRounds]
    curve: list[CostOfRounds]
    too_large: list[str]
    laws: LawsExplained | None = None

    @property
    def sentences(self) -> list[str]:
        """The table in words."""
        width = max(len(row.name) for row in self.rows)
        said = ["expected cost over rounds, a set of votes asked at once in each; errors and limits are the same"]
        for row in self.rows:
            none = "no plan keeps the targets"
            what = (
                none
                if row.cost is None
                else f"{number(row.cost):>10}  ({number(row.labels)} labels; bound {number(row.bound)})"
            )
            said.append(f"{row.name:{width}}  {what}")
        return said + self.too_large + ([] if self.laws is None else self.laws.sentences)

    @property
    def facts(self) -> dict[str, Any]:
        """The same as plain JSON."""
        table = [
            {"rounds": row.rounds, "cost": row.cost, "labels": row.labels, "bound": finite(row.bound)}
            for row in self.rows
        ]
        facts = {"feasible": any(row.cost is not None for row in self.rows), "cost_over_rounds": table}
        return facts if self.laws is None else {**facts, "laws": self.laws.facts}

    @property
    def tables(self) -> dict[str, dict[str, Any]]:
        """rounds.csv: every plan of the curve."""
        rows, mean = [row for row in self.curve if row.cost is not None], float(self.instance.epsilon.mean())
        return {
            "rounds": {
                "rounds": ["" if row.rounds is None else row.rounds for row in rows],
                "times_targets": [row.factor for row in rows],
                "epsilon": [mean * row.factor for row in rows],
                "cost": [row.cost for row in rows],
                "labels": [row.labels for row in rows],
                "bound": [row.bound for row in rows],
            }
        }


def is_adaptive(plan: PlanLike | None) -> TypeGuard[AdaptivePlan | str | Path]:
    """Whether a plan, or the one in a folder, is adaptive."""
    return isinstance(plan, AdaptivePlan) or (isinstance(plan, str | Path) and is_policy(read_claims(plan)))


def explain_rounds(
    campaign: InstanceLike, plan: AdaptivePlan | AnyPath, *, trust_gold: bool, time_limit: float, with_curve: bool
) -> RoundsExplained:
    """The cost of 1, 2, 3, 5 rounds and of no limit, with the settings and terms of an adaptive plan."""
    clock = Clock(time_limit)
    settings = overrides(plan.instance) if isinstance(plan, AdaptivePlan) else read_overrides(plan)
    asked = instance_of(campaign, trust_gold=trust_gold)
    instance, labels = with_labels(campaign, overridden(asked, settings) if settings else asked)
    terms = _terms(plan, instance)
    rows: list[CostOfRounds] = []
    curve: list[CostOfRounds] = []
    too_large: list[str] = []
    for rounds in ROUNDS:
        try:
            rows.append(_row(instance, labels, rounds, 1.0, terms, clock))
            curve += [_row(instance, labels, rounds, factor, terms, clock) for factor in FACTORS if with_curve]
        except InputError as error:
            if rounds is None:
                raise
            too_large.append(str(error))
    rows, curve = at_most(rows), at_most(curve)
    of_laws = {name: terms[name] for name in TERMS if name != "each_task"}
    laws = explain_laws(instance, clock, rounds=None, **of_laws)
    return RoundsExplained(instance, rows, curve, too_large, laws)


def at_most(rows: list[CostOfRounds]) -> list[CostOfRounds]:
    """A plan of fewer rounds is one of more as well, and what none of more undercuts none of fewer does."""
    known: dict[float, CostOfRounds] = {}
    for k, row in enumerate(rows):
        best = known.get(row.factor)
        if best is not None and best.cost is not None and (row.cost is None or best.cost < row.cost):
            rows[k] = replace(row, cost=best.cost, labels=best.labels)
        known[row.factor] = rows[k]
    least: dict[float, float] = {}
    for k, row in reversed(list(enumerate(rows))):
        least[row.factor] = max(row.bound, least.get(row.factor, -np.inf))
        rows[k] = replace(row, bound=least[row.factor])
    return rows


def _terms(plan: AdaptivePlan | AnyPath, instance: AssignmentInstance) -> dict[str, Any]:
    """What an adaptive plan goes by beside its campaign."""
    if isinstance(plan, AdaptivePlan):
        return {name: getattr(plan, name) for name in TERMS}
    claims = read_claims(plan)
    said = {name: bool(claims.get(name)) for name in ("given_votes", "each_task")}
    return {"expert": claims.get("expert"), "class_error": by_class(instance, claims.get("class_error", {})), **said}


def _row(
    instance: AssignmentInstance,
    labels: Ints | None,
    rounds: int | None,
    factor: float,
    terms: dict[str, Any],
    clock: Clock,
) -> CostOfRounds:
    scaled = replace(instance, epsilon=np.minimum(HIGHEST, instance.epsilon * factor))
    options = options_of(max(1.0, clock.left), 0)
    of_rounds = {**terms, "each_task": terms["each_task"] and rounds == 1}
    plan = cheapest_policy(scaled, labels, SOLVERS, options, rounds=rounds, strict=True, **of_rounds)
    return CostOfRounds(rounds, factor, plan.objective, plan.calls, plan.bound)


SHOWN = 5  # types or workers in sentences
SEARCH = 2 / 3  # of the time: for a plan, where it takes so long
WORTH = 1e-9  # of a label more; less is nothing


@dataclass(frozen=True, eq=False)
class Explanation(InNotebooks):
    """Why there is no plan or, where there is one, what one more unit of each limit is worth.

    Parameters
    ----------
    instance : AssignmentInstance
    feasible : bool
        Whether a plan of whole labels was found.
    sentences : list of str
        The explanation in words.
    facts : dict
        The same as plain JSON.
    shortage, ways
        Without a plan: what is missing; ways out, each with a plan.
    margins, curve
        With one: prices of tasks and values of capacities; what each error target costs, where it was asked for.
    """

    instance: AssignmentInstance
    feasible: bool
    sentences: list[str]
    facts: dict[str, Any]
    shortage: Shortage | None = None
    ways: list[Remedy] = field(default_factory=list)
    margins: Margins | None = None
    curve: CostCurve | None = None
    undrawn: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class ExplainOptions:
    """Options of an explanation: its plan, rule and target, and where it is written.

    Parameters
    ----------
    plan : Plan or path, optional
        A plan, or its folder, whose rule, target and other settings are taken.
    rule : str, optional
        Rule of evidence, in place of the campaign's, and of the plan's.
    epsilon : float, optional
        Error probability of every task, in place of the campaign's, and of the plan's.
    trust_gold : bool
        Take gold as it is, below chance too.
    time_limit : float
        Seconds in all.
    output : path, optional
        Folder to write: tables, and the cost of each error target as a curve. The shortage; or prices, capacities and
        costs, with a chart where the extra ``plots`` is installed.
    force : bool
        Replace the output if it exists.
    """

    plan: PlanLike | None = field(default=None, kw_only=False)
    rule: str | None = None
    epsilon: float | None = None
    trust_gold: bool = False
    time_limit: float = 60.0
    output: AnyPath | None = None
    force: bool = False


@keywords(ExplainOptions)
def explain(campaign: InstanceLike, asked: ExplainOptions) -> Explanation:
    """Say why there is no plan and the cheapest ways out; where there is one, what one more unit of anything is worth.

    Raises
    ------
    InputError
        If something cannot be read or written, or the time is over before anything is known.

    Reads
    -----
    a campaign

    Writes
    ------
    with -o a folder of tables and charts

    Examples
    --------
    ::

        crowdopt explain my-campaign --time-limit 20 -o why
    """
    if asked.output is not None:
        check_target(Path(asked.output), EXPLANATION, asked.force)
    options_of(asked.time_limit, 0)  # refuses a limit that is none
    if asked.plan is not None and is_adaptive(asked.plan):
        if asked.rule is not None or asked.epsilon is not None:
            raise InputError("for an adaptive plan explain says what rounds cost; leave --rule and --epsilon out")
        return _of_rounds(campaign, asked.plan, asked)
    settings = {} if asked.plan is None else _settings_of(asked.plan)
    instance = instance_of(campaign, trust_gold=asked.trust_gold)
    instance = instance_of(overridden(instance, settings) if settings else instance, asked.rule, asked.epsilon)
    with for_small(instance.n_tasks, instance.n_workers):
        explanation = _explained(instance, asked.output is not None, asked.time_limit)
    return explanation if asked.output is None else _written(explanation, _tables(explanation), asked)


def _written(found: Explanation, tables: dict[str, dict[str, Any]], asked: ExplainOptions) -> Explanation:
    """The explanation, whose tables and pictures are in the folder, and what could not be drawn."""
    assert asked.output is not None
    facts, pictures, undrawn = {**found.facts, "said": found.sentences}, {}, []
    try:
        pictures = drawn({f"{name}.svg": chart for name, chart in charts(tables, facts).items()})
    except Undrawn as why:
        undrawn = [str(why)]
    write_explanation(found.instance, facts, tables, Path(asked.output), asked.force, pictures)
    return replace(found, undrawn=undrawn)


def _explained(instance: AssignmentInstance, tables: bool, time_limit: float) -> Explanation:
    """Why there is no plan, or what more of anything is worth; the cost of targets where tables are written."""
    if instance.the_rule.average:
        return _of_average(solve(instance, time_limit=time_limit))
    clock = Clock(time_limit)
    known = solve(instance, gap=1.0, time_limit=SEARCH * time_limit, require="served")  # any plan, as solve finds it
    if not known.found:
        return _no_plan(known, max(clock.left, (1 - SEARCH) * time_limit))
    margins = margins_of(instance, probe(clock.left / 2))
    curve = cost_of_targets(instance, time_limit=max(clock.left, time_limit / 4)) if tables else None
    return _worth(known, margins, curve)


def _of_average(known: Plan) -> Explanation:
    sentences = [headline(known)]
    facts: dict[str, Any] = {"feasible": known.found, "status": known.status.value}
    if known.found:
        sentences = [f"a plan exists; none{known.of_rule} costs less than {number(known.bound)}"]
        facts["bound"] = known.bound
    elif known.pairs is not None:
        sentences += what_falls_short(known)
    return Explanation(known.instance, known.found, sentences, facts)


def _of_rounds(campaign: InstanceLike, plan: AdaptivePlan | AnyPath, asked: ExplainOptions) -> Explanation:
    curve = asked.output is not None
    rounds = explain_rounds(campaign, plan, trust_gold=asked.trust_gold, time_limit=asked.time_limit, with_curve=curve)
    found = Explanation(rounds.instance, rounds.facts["feasible"], rounds.sentences, rounds.facts)
    return found if asked.output is None else _written(found, rounds.tables, asked)


def cost_of_targets(instance: AssignmentInstance, *, time_limit: float = 60.0) -> CostCurve:
    """What each error target costs: the LP's optimum, and plans that were found."""
    asked = probe(time_limit)
    lack = shortage(instance, asked)
    least = lack.no_epsilon_below if lack is not None and lack.no_epsilon_below else instance.epsilon.min()
    return curve_of(instance, asked, max(1e-6, 1.001 * float(least)))


def _no_plan(known: Plan, seconds: float) -> Explanation:
    """Why solve has no plan for every task: its answer, in its words, and what would help."""
    instance = known.instance
    lack = shortage(instance, probe(seconds / 3))
    if lack is None:
        raise InputError("the time limit passed before anything was known; allow more time")
    ways = ways_out(instance, lack.epsilon_within_reach)
    sentences = [headline(known), *what_lacks(known, lack)]
    sentences += ways_said(ways)
    facts = {
        "feasible": False,
        "status": known.status.value,
        "missing": lack.total,
        "no_epsilon_below": lack.no_epsilon_below,
        "ways": ways_as_facts(ways),
    }
    if lack.joint is not None:
        limits = lack.joint.blocked or []
        facts["limits"] = [
            {"limit": one.limit, "name": one.name, "amount": one.amount, "tasks": list(one.tasks)} for one in limits
        ]
    return Explanation(instance, False, sentences, facts, shortage=lack, ways=ways)


def _worth(known: Plan, margins: Margins | None, curve: CostCurve | None) -> Explanation:
    instance = known.instance
    if margins is None:
        words = ["a plan exists; what one more unit is worth was not found out in the time"]
        return Explanation(instance, True, words, {"feasible": True, "bound": known.bound}, curve=curve)
    price, value = margins.task_price, margins.capacity_value
    by = "by the fewest labels that exact errors allow" if instance.the_rule.checked else "by the LP"
    sentences = [f"a plan exists; none costs less than {number(margins.cost)} ({by})"]
    kinds = [(float(price[instance.task_type == k].mean()), k) for k in np.unique(instance.task_type)]
    dear = sorted(kinds, reverse=True)[:SHOWN]
    sentences += [
        f"one more task of type {instance.type_id(int(k))} costs about {cost:.4g}" for cost, k in dear if cost > 0
    ]
    for j in np.argsort(-value, kind="stable")[:SHOWN].tolist():
        if value[j] > WORTH:
            sentences.append(f"one more label by worker {instance.worker_id(j)} saves at most {value[j]:.4g}")
    worth = sorted(margins.limit_value.items(), key=lambda one: (-one[1], one[0]))
    sentences += [f"{limit}: saves at most {saves:.4g}" for limit, saves in worth[:SHOWN] if saves > WORTH]
    facts: dict[str, Any] = {
        "feasible": True,
        "bound": margins.cost,
        "dearest_types": [instance.type_id(int(k)) for _, k in dear],
    }
    if worth:
        facts["limits"] = dict(worth)
    return Explanation(instance, True, sentences, facts, margins=margins, curve=curve)


def _settings_of(plan: PlanLike) -> dict[str, Any]:
    """What a plan has in place of its campaign's settings."""
    return read_overrides(plan) if isinstance(plan, str | Path) else overrides(plan.instance)


def _tables(found: Explanation) -> dict[str, dict[str, Any]]:
    tables: dict[str, dict[str, Any]] = {}
    if found.shortage is not None:
        lack = found.shortage
        tables["shortage"] = {"task": None, "missing_evidence": lack.evidence, "missing_labels": lack.labels}
    if found.margins is not None:
        worth = found.margins
        tables["tasks"] = {"task": None, "price": worth.task_price}
        tables["workers"] = {"worker": None, "value": worth.capacity_value}
    if found.curve is not None:
        curve = found.curve
        tables["curve"] = {"epsilon": curve.epsilon, "bound": curve.bound, "plan": _blank(curve.plan)}
    return tables


def _blank(values: Floats) -> list[Any]:
    return ["" if value != value else value for value in values.tolist()]


def _said(found: Explanation, output: AnyPath | None) -> Said:
    told = list(found.sentences)
    if output is not None:
        what = (
            "what is missing, task by task"
            if not found.feasible
            else "prices, capacities, and what each error target costs"
        )
        if "cost_over_rounds" in found.facts:
            what = "what each number of rounds costs, target by target"
        told += [*found.undrawn, f"wrote {output}: {what}; crowdopt report {output} makes a page of it"]
    return Said(found.facts, told, int(not found.feasible))


VERBS = (Verb("explain", explain, _said, follows=True),)
