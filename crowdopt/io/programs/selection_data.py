"""Data for models/selection.mod: whom could be hired, as GNU MathProg reads it."""

from __future__ import annotations

from crowdopt.crowd.hiring.candidates import SelectionInstance
from crowdopt.errors import InputError
from crowdopt.io.programs.mathprog_text import section, set_of, symbol, vector


def selection_data(instance: SelectionInstance) -> str:
    """The data section: ``glpsol -m selection.mod -d FILE``. What is at its default is left out."""
    workers = [symbol(instance.worker_id(i)) for i in range(instance.n_workers)]
    if instance.limits_groups:
        raise InputError("models/selection.mod does not know the most workers of a group; export to .mps or .lp")
    lines = [set_of("WORKERS", workers), f"param L := {instance.classes};", f"param K := {instance.sizes};"]
    lines += [vector("n", workers, instance.asked), vector("correct", workers, instance.correct)]
    for name in ("required", "barred"):
        members = [workers[i] for i in getattr(instance, name).tolist()]
        lines += [set_of(name.upper(), members)] * bool(members)
    if instance.group is not None and instance.fewest.any():
        names = instance.groups or [str(g) for g in range(instance.n_groups)]
        groups = [symbol(name) for name in names]
        lines += [set_of("GROUPS", groups), vector("fewest", groups, instance.fewest)]
        for number, name in enumerate(groups):
            of = [worker for worker, g in zip(workers, instance.group.tolist(), strict=True) if g == number]
            lines.append(set_of(f"OF[{name}]", of))
    if instance.price is not None and instance.money is not None:
        lines += [vector("price", workers, instance.price), f"param money_limit := {float(instance.money)!r};"]
    return section(lines)
