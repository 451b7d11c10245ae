"""A policy of one's own, in a package of one's own: the best workers only, the neediest tasks first."""

from dataclasses import dataclass

from crowdopt.arrays import Floats
from crowdopt.online.covering import Covering, Here


@dataclass
class Picky(Covering):
    least: float = 0.3
    name = "picky"

    def value(self, here: Here) -> Floats:
        return here.evidence - self.least


POLICY = Picky
