"""A campaign folder: plain tables in, one validated instance out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.arrays import Ints, coded
from crowdopt.crowd.gold import Gold
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.documents import quoted
from crowdopt.errors import GoldWarning, InputError, TableWarning, meant, public, tell
from crowdopt.io.campaign import archive
from crowdopt.io.campaign.campaign_limits import read_cost, read_epsilon, read_limits
from crowdopt.io.campaign.campaign_settings import read_settings
from crowdopt.io.campaign.campaign_skills import read_accuracy
from crowdopt.io.campaign.campaign_tables import Ids, needed_table, optional_table, refuse_empty, tell_unread
from crowdopt.io.campaign.gold_table import ALIKE, gold_classes, heed_gold, listed, refuse_unlike
from crowdopt.io.campaign.own_rows import read_groups, read_own, with_families
from crowdopt.io.tables.table_columns import Table, find_table, is_folder


@public
def read_campaign(folder: str | Path, *, trust_gold: bool = False) -> AssignmentInstance:
    """Read a campaign folder, or an ``.npz`` archive of a large one, into an instance.

    What the labels in collected.csv say becomes each task's prior, where rule and law of votes allow; with
    ``collected = "evidence"`` in campaign.toml they count as labels of such workers, whatever they say.
    A warning (:class:`crowdopt.errors.GoldWarning`) names workers whose gold is below chance, or who have none, and the
    classes that gold names where campaign.toml names none; another (``TableWarning``) names tables that are not read.

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
        return instance
    return instance.given(instance.posterior(instance.collected, campaign.indices())).as_read(campaign.gold)


@dataclass(frozen=True, eq=False)
class Campaign:
    """A campaign as its tables have it: the instance, and what the labels already in say."""

    instance: AssignmentInstance
    collected_labels: list[str] = field(default_factory=list)
    observed: bool = False
    gold: Gold | None = None
    trusts_gold: bool = False

    def indices(self, more: Sequence[str] = ()) -> Ints:
        """Classes of the collected labels, and of more, by the campaign's class names, else by those that occur."""
        every = [*self.collected_labels, *more]
        names = self.class_names(more)
        strange = next((name for name in dict.fromkeys(every) if name not in names), None)
        if strange is not None:
            near = meant(strange, names)
            hint = f" (did you mean {near!r}?)" if near else ""
            remedy = "correct the label, or name every class in campaign.toml"
            said = f"the label {strange!r} is no class of this campaign{hint}; they are {', '.join(names)}"
            raise InputError(f"{said}; {remedy}")
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
        return Campaign(archive.read_archive(path).as_read())
    if not is_folder(path):
        raise InputError(f"there is no campaign folder {path}; `crowdopt init {path}` makes one to start from")
    settings = read_settings(path / "campaign.toml")
    tell_unread(path)
    tasks, workers = needed_table(path, "tasks"), needed_table(path, "workers")
    names = tasks.unique_ids("task"), workers.unique_ids("worker")
    refuse_empty(tasks, workers)
    kinds = tasks.ids("type") if "type" in tasks else ["all"] * tasks.rows
    ids = Ids(*names, list(dict.fromkeys(kinds)))
    collected = optional_table(path, "collected")
    settings |= _agreed_classes(path, collected, settings) | {"groups": with_families(workers, settings)}
    skills = read_accuracy(path, ids, settings)
    prior = settings.get("prior")
    class_names = settings.get("class_names", skills.names)
    instance = AssignmentInstance(
        accuracy=skills.told.accuracy,
        task_type=np.array([ids.type[kind] for kind in kinds]),
        epsilon=read_epsilon(tasks, settings),
        cost=read_cost(path, workers, ids),
        **read_limits(path, tasks, workers, ids),
        rule=settings.get("rule"),
        classes=len(class_names or ()) or settings.get("classes", 2),
        prior=None if prior is None else np.array([*prior.values()], dtype=np.float64),
        class_names=class_names,
        confusion=skills.confusion,
        vote_law=skills.told.vote_law,
        difficulty=skills.told.difficulty,
        budget=settings.get("budget"),
        groups=read_groups(path, workers, ids, settings),
        own_rows=read_own(path, ids),
        tasks=ids.tasks,
        workers=ids.workers,
        types=ids.types,
        title=settings.get("title", ""),
        skills_source=skills.told.source,
    )
    labels = [] if collected is None else collected.ids("label")
    by_votes = instance.the_rule.heeds_prior and not instance.errs_together and (instance.dependence == 1).all()
    observed = settings.get("collected", "observed" if labels and by_votes else "evidence") == "observed"
    known = instance.as_read(skills.gold)  # whoever puts a plan's settings in force needs gold
    return Campaign(known, labels, observed, skills.gold, settings.get("trust_gold", False))


def _agreed_classes(folder: Path, collected: Table | None, settings: dict[str, Any]) -> dict[str, Any]:
    """The classes that gold and the labels in name, where campaign.toml names none; InputError where they disagree."""
    home = find_table(folder, "gold")
    columns = {} if home is None else gold_classes(home)
    truths, in_gold = next(iter(columns.values()), set()), set().union(*columns.values())
    tables = {home.name: in_gold} if home is not None and in_gold else {}
    if collected is not None:
        tables[collected.path.name] = set(collected.ids("label"))
    names, stated, count = sorted(set().union(*tables.values())), settings.get("class_names"), settings.get("classes")
    sources = " and ".join(tables)
    if stated is not None:
        _refuse_others("campaign.toml", stated, tables)
        if in_gold and not in_gold.issuperset(stated):
            rest = listed(set(stated) - in_gold)
            says = f"{next(iter(tables))}: no label and no truth is {rest}, which campaign.toml names"
            if not settings.get("trust_gold"):
                raise InputError(f"{says}; leave it out, ask gold of it, or say trust_gold = true where it is rare")
            tell(says, GoldWarning)
        return {}
    refuse_unlike(columns, tables)
    if count is not None and (len(names) > count or (in_gold and len(names) < count)):
        remedy = f"name all of them in campaign.toml: classes = [{', '.join(map(quoted, names[:10]))}]"
        raise InputError(f"{sources} names {len(names)} classes, the campaign has {count}; {remedy}")
    if count is None and len(in_gold) > 1:
        _refuse_others(next(iter(tables)), in_gold, tables)
    if len(names) < (2 if in_gold else 3) or count not in (None, len(names)):
        return {}  # two classes, whatever they are called, are what campaign.toml has by default
    if count is None:
        never = f" (no truth is {listed(in_gold - truths)})" if in_gold - truths else ""
        said = f"{sources}: the classes are taken to be {listed(names)}{never}; campaign.toml names none"
        tell(said, GoldWarning if in_gold else TableWarning)
    return {"class_names": tuple(names)}


def _refuse_others(source: str, classes: Collection[str], tables: dict[str, set[str]]) -> None:
    """InputError where a table names classes beside those of the source."""
    others = {table: sorted(names.difference(classes)) for table, names in tables.items() if names.difference(classes)}
    if others:
        said = ", ".join(f"{table} says {listed(names)}" for table, names in others.items())
        near = meant(next(iter(others.values()))[0], classes)
        hint = f" (did you mean {near!r}?)" if near else ""
        raise InputError(f"{source} has the classes {listed(classes)}, but {said}{hint}; {ALIKE}")
