"""A small campaign to start from: photographs of birds and plants, labelled by ten volunteers.

A panel of language-model judges to start from: six judges of three families, paid by the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crowdopt.documents import quoted
from crowdopt.errors import InputError
from crowdopt.io.folders import CAMPAIGN as MARK
from crowdopt.io.folders import new_folder

CAMPAIGN = """\
# A campaign is a folder of plain tables. This file holds its settings; the tables beside it are:
#
#   tasks.csv     task[,type][,epsilon][,min_labels][,max_labels]   what is to be labelled
#   workers.csv   worker,capacity[,price][,min_tasks][,family]      who can label, how much, for what pay
#   gold.csv      worker[,type],correct,asked                       how well each did on tasks with known answers
#                 (or each answer, worker,task,label,truth; or skills.csv: worker[,type],accuracy, if you know those)
#
# and, if you need them: prices.csv, forbidden.csv, fixed.csv, collected.csv (labels that are already in).

title = "birds and plants"

# Every task's answer shall be wrong with at most this probability.
epsilon = 0.1

# Labels are enough if their vote errs no more than that, exactly computed. Stricter rules, for programs that are
# linear: "bhattacharyya", "hoeffding" (as in Ho et al. 2013, two classes).
# rule = "bhattacharyya"

# What a label can say.
classes = ["yes", "no"]

# How likely each class is before any label; leave it out if you do not know.
# prior = { yes = 0.8, no = 0.2 }

# The most the labels may cost in all; leave it out for no limit.
# budget = 150.0
"""

WORKERS = (  # worker, capacity, then gold as (correct, asked) on birds and on plants
    ("ada", 16, (19, 20), (11, 20)),
    ("bo", 16, (18, 20), (18, 20)),
    ("chen", 16, (12, 20), (19, 20)),
    ("dana", 16, (17, 20), (19, 20)),
    ("emre", 16, (10, 20), (18, 20)),
    ("femi", 16, (14, 20), (18, 20)),
    ("gus", 16, (16, 20), (13, 20)),
    ("hana", 16, (9, 20), (10, 20)),
    ("ines", 16, (18, 20), (14, 20)),
    ("jo", 16, (15, 20), (19, 20)),
)
TYPES = ("bird", "plant")
PHOTOS = 24


def with_classes(text: str, classes: Sequence[str]) -> str:
    """A sample's campaign.toml with classes of one's own; InputError where they are not at least two, each once."""
    if not classes:
        return text
    if len(classes) < 2 or len(set(classes)) < len(classes) or not all(name.strip() for name in classes):
        raise InputError("classes must be at least two names, each once, as in cat,dog")
    line = f"classes = [{', '.join(map(quoted, classes))}]\n"
    return "".join(line if one.startswith("classes =") else one for one in text.splitlines(keepends=True))


def write_sample(folder: str | Path, force: bool = False, classes: Sequence[str] = ()) -> None:
    """Write the sample campaign; InputError if the folder exists or cannot be written."""
    with new_folder(Path(folder), MARK, force) as new:
        tasks = [f"photo-{k:02d},{TYPES[k % len(TYPES)]}" for k in range(1, PHOTOS + 1)]
        workers = [f"{name},{capacity}" for name, capacity, *_ in WORKERS]
        gold = [
            f"{name},{kind},{correct},{asked}"
            for name, _, *tallies in WORKERS
            for kind, (correct, asked) in zip(TYPES, tallies, strict=True)
        ]
        texts = {
            "campaign.toml": with_classes(CAMPAIGN, classes),
            "tasks.csv": "\n".join(["task,type", *tasks, ""]),
            "workers.csv": "\n".join(["worker,capacity", *workers, ""]),
            "gold.csv": "\n".join(["worker,type,correct,asked", *gold, ""]),
        }
        for name, text in texts.items():
            (new / name).write_text(text, encoding="utf-8", newline="\n")


PANEL = """\
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
JUDGED = ("safety", "facts")
ITEMS = 40


def write_panel(folder: str | Path, force: bool = False, classes: Sequence[str] = ()) -> None:
    """Write the sample panel; InputError if the folder exists or cannot be written."""
    with new_folder(Path(folder), MARK, force) as new:
        gold = [
            f"{name},{kind},{correct},{asked}"
            for name, _, _, _, *tallies in JUDGES
            for kind, (correct, asked) in zip(JUDGED, tallies, strict=True)
        ]
        texts = {
            "campaign.toml": [with_classes(PANEL, classes).rstrip("\n")],
            "tasks.csv": ["task,type", *(f"item-{k:02d},{JUDGED[k % len(JUDGED)]}" for k in range(1, ITEMS + 1))],
            "workers.csv": [
                "worker,capacity,price,family",
                *(f"{name},{room},{pay},{family}" for name, family, room, pay, *_ in JUDGES),
            ],
            "gold.csv": ["worker,type,correct,asked", *gold],
            "groups.csv": ["worker,group", *(f"{name},dear" for name in DEAR)],
        }
        for name, lines in texts.items():
            (new / name).write_text("\n".join([*lines, ""]), encoding="utf-8", newline="\n")
