"""Answers from labels: vectorised, deterministic, for any number of classes and sparse tables."""

from collections.abc import Callable

from crowdopt.answers.answers import Answers as Answers
from crowdopt.answers.em import dawid_skene as dawid_skene
from crowdopt.answers.em import one_coin as one_coin
from crowdopt.answers.kos import kos as kos
from crowdopt.answers.propagation import belief_propagation as belief_propagation
from crowdopt.answers.votes import majority as majority
from crowdopt.answers.votes import wmv_confusion as wmv_confusion
from crowdopt.answers.votes import wmv_linear as wmv_linear
from crowdopt.answers.votes import wmv_log as wmv_log

FROM_LABELS: dict[str, Callable[..., Answers]] = {
    "majority": majority,
    "one-coin": one_coin,
    "belief-propagation": belief_propagation,
    "dawid-skene": dawid_skene,
    "kos": kos,
}
"""Methods that need nothing but labels."""
FROM_ACCURACIES = {"wmv-linear": wmv_linear, "wmv-log": wmv_log}
"""Methods that need the workers' accuracies."""
FROM_CONFUSIONS = {"wmv-confusion": wmv_confusion}
"""Methods that need the workers' confusion tables."""
