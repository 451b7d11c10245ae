"""A panel of language-model judges to start from: six judges of three families, paid by the call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crowdopt.io.campaign.sample import with_classes
from crowdopt.io.tables.folder import CAMPAIGN as MARK
from crowdopt.io.tables.folder import new_folder

CAMPAIGN = """\
# A panel of judges. Judges of one family (the same base model, the same crib) may err together in any way, so no two
# of a family judge one item: then the votes of an item are independent, and the promise below holds as it stands.
#
#   tasks.csv     task,type          the items to be judged, and what they are judged for
#   workers.csv   worker,capacity,price,family    the judges; how many items each can do in the time; dollars per 1000
#                 calls; who may err together
#   gold.csv      worker,type,correct,asked    how each did on items whose verdict is known
#   groups.csv    worker,group       other groups of judges; several per judge may be

title = "a panel of judges"

# Every verdict shall be wrong with at most this probability.
epsilon = 0.05

# What a verdict can say.
classes = ["pass", "fail"]

# With max_per_task = 2 an item may have two judges of a family; it then needs more than twice the evidence.
# [groups.north]
# max_per_task = 2

# At most half of all verdicts from the dearest judges.
[groups.dear]
max_share = 0.5
"""

JUDGES = (  # judge, family, capacity, dollars per 1000 calls, then gold as (correct, asked) on safety and on facts
    ("north-large", "north", 60, 12.0, (193, 200), (190, 200)),
    ("north-small", "north", 60, 1.5, (180, 200), (176, 200)),
    ("south-large", "south", 40, 9.0, (190, 200), (194, 200)),
    ("south-small", "south", 60, 0.8, (172, 200), (182, 200)),
    ("west-large", "west", 60, 6.0, (186, 200), (188, 200)),
    ("west-small", "west", 60, 0.5, (176, 200), (168, 200)),
)
DEAR = ("north-large", "south-large")
TYPES = ("safety", "facts")
ITEMS = 40


def write_panel(folder: str | Path, force: bool = False, classes: Sequence[str] = ()) -> None:
    """Write the sample panel; InputError if the folder exists or cannot be written."""
    with new_folder(Path(folder), MARK, force) as new:
        gold = [
            f"{name},{kind},{correct},{asked}"
            for name, _, _, _, *tallies in JUDGES
            for kind, (correct, asked) in zip(TYPES, tallies, strict=True)
        ]
        texts = {
            "campaign.toml": [with_classes(CAMPAIGN, classes).rstrip("\n")],
            "tasks.csv": ["task,type", *(f"item-{k:02d},{TYPES[k % len(TYPES)]}" for k in range(1, ITEMS + 1))],
            "workers.csv": [
                "worker,capacity,price,family",
                *(f"{name},{room},{pay},{family}" for name, family, room, pay, *_ in JUDGES),
            ],
            "gold.csv": ["worker,type,correct,asked", *gold],
            "groups.csv": ["worker,group", *(f"{name},dear" for name in DEAR)],
        }
        for name, lines in texts.items():
            (new / name).write_text("\n".join([*lines, ""]), encoding="utf-8", newline="\n")
