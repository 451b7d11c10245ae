"""Answers from labels: vectorised, deterministic, for any number of classes and sparse tables."""

from crowdopt.crowd.aggregation.answers import Answers as Answers
from crowdopt.crowd.aggregation.em import dawid_skene as dawid_skene
from crowdopt.crowd.aggregation.em import one_coin as one_coin
from crowdopt.crowd.aggregation.kos import kos as kos
from crowdopt.crowd.aggregation.votes import majority as majority
from crowdopt.crowd.aggregation.votes import wmv_linear as wmv_linear
from crowdopt.crowd.aggregation.votes import wmv_log as wmv_log

FROM_LABELS = {"majority": majority, "one-coin": one_coin, "dawid-skene": dawid_skene, "kos": kos}
"""Methods that need nothing but labels."""
FROM_ACCURACIES = {"wmv-linear": wmv_linear, "wmv-log": wmv_log}
"""Methods that need the workers' accuracies."""
