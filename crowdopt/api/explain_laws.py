"""What gold votes tell of dependence: laws of votes, their held-out losses, and what plans by each cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from crowdopt.api.binding import SOLVERS, options_of
from crowdopt.assign.cascade.cheapest_policy import LawPrice, law_price, with_law
from crowdopt.assign.cascade.panels import ManyStates, vote_panel
from crowdopt.assign.cascade.policy import Cascade
from crowdopt.core.clock import Clock
from crowdopt.crowd.doubt import gold_of
from crowdopt.crowd.error_correlation import EffectiveVotes, effective_votes
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.law_fits import FITS


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
                f"{one.name:{width}}  {loss}: promises cost {one.promised:.6g}, errors {one.times:.2f}; "
                f"comes to cost {one.cost:.6g}, errors {one.errs:.2f}"
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
