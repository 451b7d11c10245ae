"""A campaign folder: plain tables in, one validated instance out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from crowdopt.arrays import Ints, coded
from crowdopt.crowd.difficulty.hard_tasks import NONE
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.posteriors import posteriors
from crowdopt.errors import InputError, public
from crowdopt.io.campaign import archive
from crowdopt.io.campaign.campaign_limits import read_cost, read_epsilon, read_limits
from crowdopt.io.campaign.campaign_settings import read_settings
from crowdopt.io.campaign.campaign_skills import read_accuracy
from crowdopt.io.campaign.campaign_tables import Ids, needed_table, optional_table, refuse_empty
from crowdopt.io.campaign.gold_table import GoldTally, heed_gold
from crowdopt.io.campaign.own_rows import read_groups, read_own
from crowdopt.io.campaign.stated_difficulty import stated_difficulty
from crowdopt.io.tables.table_columns import is_folder


@public
def read_campaign(folder: str | Path, *, trust_gold: bool = False) -> AssignmentInstance:
    """Read a campaign folder, or an ``.npz`` archive of a large one, into an instance.

    Where campaign.toml says ``collected = "observed"``, what the labels in collected.csv say becomes each task's prior.
    A warning (:class:`crowdopt.errors.GoldWarning`) names workers whose gold is below chance, or who have none.

    Parameters
    ----------
    folder : path
    trust_gold : bool
        Whether gold is taken as it is, even where the crowd is below chance. Default: what campaign.toml says.

    Returns
    -------
    AssignmentInstance

    Raises
    ------
    InputError
        At the first thing that cannot be used: file, line, column and remedy are in the sentence.
    """
    campaign = read_with_labels(folder)
    instance = campaign.instance
    if campaign.gold is not None and not (trust_gold or campaign.trusts_gold):
        heed_gold(campaign.gold, instance.classes, instance.worker_ids)
    if not campaign.observed:
        return instance.as_read()
    return instance.given(posteriors(instance, instance.collected, campaign.indices())).as_read()


@dataclass(frozen=True, eq=False)
class Campaign:
    """A campaign as its tables have it: the instance, and what the labels already in say."""

    instance: AssignmentInstance
    collected_labels: list[str] = field(default_factory=list)
    observed: bool = False
    gold: GoldTally | None = None
    trusts_gold: bool = False

    def indices(self, more: Sequence[str] = ()) -> Ints:
        """Classes of the collected labels, and of more, by the campaign's class names, else by those that occur."""
        every = [*self.collected_labels, *more]
        names = self.class_names(more)
        strange = next((name for name in dict.fromkeys(every) if name not in names), None)
        if strange is not None:
            near = get_close_matches(strange.casefold().strip(), [name.casefold() for name in names], n=1)
            hint = f" (did you mean {names[[name.casefold() for name in names].index(near[0])]!r}?)" if near else ""
            raise InputError(f"the label {strange!r} is no class of this campaign{hint}; they are {', '.join(names)}")
        return coded(every, names)

    def class_names(self, more: Sequence[str] = ()) -> tuple[str, ...]:
        """The campaign's class names; where it states none, the labels that occur, sorted."""
        if self.instance.class_names is not None:
            return tuple(self.instance.class_names)
        names, classes = sorted({*self.collected_labels, *more}), self.instance.classes
        if len(names) > classes:
            raise InputError(
                f"the labels name {len(names)} classes ({', '.join(names[:4])}), the campaign has {classes}"
            )
        if not names:
            return tuple(str(k) for k in range(classes))
        return (*names, *(f"(other {k})" for k in range(classes - len(names))))


def read_with_labels(folder: str | Path) -> Campaign:
    """Read a campaign with the labels already in; InputError as for :func:`read_campaign`."""
    path = Path(folder)
    if path.suffix == ".npz" and path.is_file():
        return Campaign(archive.read_archive(path))
    if not is_folder(path):
        raise InputError(f"there is no campaign folder {path}; `crowdopt init {path}` makes one to start from")
    settings = read_settings(path / "campaign.toml")
    tasks, workers = needed_table(path, "tasks"), needed_table(path, "workers")
    names = tasks.unique_ids("task"), workers.unique_ids("worker")
    refuse_empty(tasks, workers)
    kinds = tasks.ids("type") if "type" in tasks else ["all"] * tasks.rows
    ids = Ids(*names, list(dict.fromkeys(kinds)))
    skills = read_accuracy(path, ids, settings)
    collected = optional_table(path, "collected")
    prior = settings.get("prior")
    class_names = settings.get("class_names", skills.names)
    instance = AssignmentInstance(
        accuracy=skills.accuracy,
        task_type=np.array([ids.type[kind] for kind in kinds]),
        epsilon=read_epsilon(tasks, settings),
        cost=read_cost(path, workers, ids),
        **read_limits(path, tasks, workers, ids),
        rule=settings.get("rule"),
        classes=settings.get("classes", len(class_names or ()) or 2),
        prior=None if prior is None else np.array([*prior.values()], dtype=np.float64),
        class_names=class_names,
        confusion=skills.confusion,
        vote_law=skills.vote_law,
        difficulty=stated_difficulty(settings["difficulty"]) if "difficulty" in settings else skills.difficulty or NONE,
        budget=settings.get("budget"),
        groups=read_groups(path, ids, settings),
        own_rows=read_own(path, ids),
        tasks=ids.tasks,
        workers=ids.workers,
        types=ids.types,
        title=settings.get("title", ""),
        skills_source=skills.source,
    )
    labels = [] if collected is None else collected.ids("label")
    observed, trusts = settings.get("collected") == "observed", settings.get("trust_gold", False)
    return Campaign(instance, labels, observed, skills.gold, trusts)
