"""Workers' capacity dealt to parts: whole labels, each worker's sum at most their room, the same for the same loads."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats, Ints


def deal_room(room: Ints, loads: Ints, tasks: Ints) -> Ints:
    """What each part may use: what it asks for, plus its tasks' share of what is left, or less where all ask too much.

    room (workers,): labels that each worker can give; loads (parts, workers): what each part asks for; tasks (parts,):
    how many each has; -> (parts, workers): each column adds up to the worker's room.
    """
    asked = loads.sum(axis=0)
    spare = np.maximum(0, room - asked)
    share = np.broadcast_to((tasks / tasks.sum())[:, None], loads.shape)
    cut = loads * np.minimum(1.0, room / np.maximum(1, asked))
    return np.where(asked <= room, loads + _whole(share * spare, spare), _whole(cut, np.minimum(room, asked)))


def deal_rest(room: Ints, loads: Ints, some: Ints) -> Ints:
    """What parts that are not whole may use: what they have, and equal shares of what nobody has.

    room (workers,); loads (parts, workers): what each part has; what they have together is within the room; some (k,):
    the parts that need more; -> (k, workers).
    """
    rest = room - loads.sum(axis=0)
    return loads[some] + _whole(np.broadcast_to(rest / some.size, (some.size, room.size)), rest)


def _whole(amounts: Floats, total: Ints) -> Ints:
    """Amounts (parts, workers) rounded so that each column has its total: the largest remainders up."""
    down = np.floor(amounts + 1e-9).astype(np.int64)
    missing = total - down.sum(axis=0)
    order = np.argsort(-(amounts - down), axis=0, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(len(amounts))[:, None], axis=0)
    return np.asarray(down + (rank < missing))
