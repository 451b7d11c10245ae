"""The grammar of rules, and where each stops: ``overlap 3``, ``agree 4 else 9``, ``lead 2 of at most 7``, stages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, islice, product
from typing import NamedTuple

import numpy as np

from crowdopt.arrays import Bools, Floats
from crowdopt.errors import InputError
from crowdopt.ruling.votes import VoteTree

FORMS = (
    "overlap 3; agree 4 else 9; lead 2 of at most 7; lead 2 for yes, 3 for no of at most 9; stage cheap settles at .9, "
    "stage dear settles at .95 else expert (or else answer; settles on yes)"
)
EXPERT, ANSWER = "expert", "answer"
TIE = 1e-12  # relative; classes whose votes, or chances, are this close share the answer
MOST = 99  # votes on a task
Needs = Mapping[str, float]  # of each class, or of all of them: the empty name


class Decided(NamedTuple):
    """What a rule does in each state."""

    stops: Bools  # (states,)
    answer: Floats  # (states, classes): chance of each to be the answer, where a task stops
    expert: Bools  # (states,): where it goes to the expert instead
    end: Bools  # (states,): where it has as many votes as the rule ever asks for


@dataclass(frozen=True)
class Rule:
    """A rule of thumb: when a task has votes enough.

    Parameters
    ----------
    shape : str
        ``overlap``, ``agree``, ``lead`` or ``stage``.
    most : int
        Votes on a task, at most; of stages, how many there are.
    needs : mapping
        How many votes of a class have to agree, or by how many it has to lead.
    stages : sequence of (str, mapping)
        Whom to ask, in order, and which chance of a class settles it, or which classes do.
    on_class : bool
        Whether stages settle on what they say; the answer is then what the last one that was asked says.
    last : str
        After the last stage: EXPERT, or ANSWER.
    """

    shape: str
    most: int
    needs: Needs = field(default_factory=dict)
    stages: Sequence[tuple[str, Needs]] = ()
    on_class: bool = False
    last: str = ANSWER

    def __str__(self) -> str:
        """As it is typed."""
        if self.shape == "overlap":
            return f"overlap {self.most}"
        if self.shape == "stage":
            how = "on" if self.on_class else "at"
            said = [f"stage {who} settles {how} {_typed(needs, self.on_class)}" for who, needs in self.stages]
            return f"{', '.join(said)} else {self.last}"
        needs = _typed(self.needs, False)
        return f"agree {needs} else {self.most}" if self.shape == "agree" else f"lead {needs} of at most {self.most}"

    def decided(self, tree: VoteTree, classes: Sequence[str]) -> Decided:
        """What it does in each state of the votes."""
        settled = self._staged(tree, classes) if self.shape == "stage" else self._counted(tree, classes)
        worth = tree.joint if self.shape == "stage" else tree.counts[:, : len(classes)].astype(np.float64)
        best = worth >= worth.max(axis=1, keepdims=True) * (1 - TIE)
        if self.on_class:
            best = np.arange(len(classes)) == np.maximum(tree.said_last, 0)[:, None]
        expert = tree.last & ~settled if self.last == EXPERT else np.zeros(settled.size, bool)
        answer = np.asarray(best / best.sum(axis=1, keepdims=True))
        return Decided(settled | tree.last, answer, expert, tree.level >= self.most)

    def _counted(self, tree: VoteTree, classes: Sequence[str]) -> Bools:
        over = tree.level >= self.most
        if self.shape == "overlap":
            return np.asarray(over)
        need = np.array([self.needs.get(name, self.needs.get("", np.inf)) for name in classes])
        counts = tree.counts[:, : len(classes)]
        if self.shape == "agree":  # so many, and nobody else; where some differ it goes on to the end
            enough = (counts >= need) & (counts == tree.level[:, None])
        else:
            second, top = np.sort(tree.counts, axis=1)[:, -2:].T[:, :, None]
            enough = counts - np.where(counts == top, second, top) >= need
        return np.asarray(over | enough.any(axis=1))

    def _staged(self, tree: VoteTree, classes: Sequence[str]) -> Bools:
        settled = np.zeros(tree.level.size, bool)
        chance = tree.joint / np.maximum(tree.joint.sum(axis=1, keepdims=True), 1e-300)
        for k, (_, needs) in enumerate(self.stages):
            need = np.array([needs.get(name, needs.get("", np.inf)) for name in classes])
            if not self.on_class:
                here = tree.levels[k + 1]
                settled[here] |= (chance[here] >= need - TIE).any(axis=1)
                continue
            for label in np.flatnonzero(need <= 1).tolist():  # what this stage says is the vote that leads there
                settled[tree.onward[tree.levels[k], label]] = True
        return settled

    def family(self, tree: VoteTree, classes: Sequence[str], most: int) -> Iterator[Rule]:
        """Rules of the same shape, this one first, so many at most."""
        return islice(chain([self], self._kin(tree, classes, most)), most)

    def _kin(self, tree: VoteTree, classes: Sequence[str], most: int) -> Iterator[Rule]:
        votes = int(tree.level.max())
        if self.shape == "overlap":
            return (replace(self, most=n) for n in range(1, votes + 1))
        if self.shape != "stage":
            names, sizes = list(self.needs), range(1, votes + 1)
            every = ((n, needs) for n in sizes for needs in product(range(1, n + 1), repeat=len(names)))
            return (replace(self, most=n, needs=dict(zip(names, map(float, needs), strict=True))) for n, needs in every)
        if self.on_class:
            size = range(1, len(classes) + 1)
            some = [dict.fromkeys(names, 1.0) for n in size for names in combinations(classes, n)]
            return map(self._with, product(some, repeat=self.most))
        chance = tree.joint / np.maximum(tree.joint.sum(axis=1, keepdims=True), 1e-300)
        steps, each = [], max(2, int(most ** (1 / self.most)))
        for here in tree.levels[1:]:
            level = np.unique(chance[here].max(axis=1).round(9))
            places = np.unique(np.linspace(0, level.size - 1, min(each, level.size)).round().astype(int))
            steps.append([{"": value} for value in level[places].tolist()])
        return map(self._with, product(*steps))

    def _with(self, needs: Sequence[Needs]) -> Rule:
        return replace(self, stages=[(who, one) for (who, _), one in zip(self.stages, needs, strict=True)])


def _typed(needs: Needs, on_class: bool) -> str:
    if on_class:
        return ", ".join(needs) or "nothing"
    return ", ".join(f"{value:.6g}{f' for {name}' if name else ''}" for name, value in needs.items())


def parsed(text: str, classes: Sequence[str], workers: Sequence[str]) -> Rule:
    """The rule that a text says; InputError that says what is not understood."""
    if not isinstance(text, str):
        raise InputError(f"a rule is a text such as 'agree 4 else 9', not {text!r}")
    words = " ".join(text.split())
    if found := _like(r"overlap (\S+)", words):
        return Rule("overlap", _whole(found[1], text))
    if found := _like(r"agree (.+) else (\S+)", words):
        return _counting("agree", found[1], found[2], text, classes)
    if found := _like(r"lead (.+) of at most (\S+)", words):
        return _counting("lead", found[1], found[2], text, classes)
    if found := _like(rf"(stage .+) else ({EXPERT}|{ANSWER})", words):
        return _staged(found[1], found[2].lower(), text, classes, workers)
    raise InputError(f"the rule {text!r} is not understood; write one such as {FORMS}")


def _like(form: str, words: str) -> re.Match[str] | None:
    return re.fullmatch(form, words, re.IGNORECASE)


def _counting(shape: str, needs: str, most: str, text: str, classes: Sequence[str]) -> Rule:
    rule = Rule(shape, _whole(most, text), _needs(needs, text, classes, lambda word: float(_whole(word, text))))
    if max(rule.needs.values()) > rule.most:
        raise InputError(f"the rule {text!r} asks for more votes of a class than for votes in all")
    return rule


def _staged(stages: str, last: str, text: str, classes: Sequence[str], workers: Sequence[str]) -> Rule:
    found, ways = list[tuple[str, Needs]](), set[str]()
    for part in re.split(r",? ?\bstage ", stages, flags=re.IGNORECASE)[1:]:
        said = _like(r"(.+?) settles (at|on) (.+)", part)
        if said is None:
            raise InputError(f"the stage {part!r} is not understood; write: stage WORKER settles at .9")
        who, how, needs = said[1], said[2].lower(), said[3]
        if who not in workers:
            raise InputError(
                f"there is no worker {who!r} in the rule's crowd; there are {', '.join(list(workers)[:8])}"
            )
        if who in (name for name, _ in found):
            raise InputError(f"the worker {who} has two stages, and labels a task once; leave one out")
        ways.add(how)
        if how == "at":
            found.append((who, _needs(needs, text, classes, lambda word: _chance(word, text))))
            continue
        on = [word.strip() for word in needs.split(",")]
        if strange := [word for word in on if word not in classes]:
            raise InputError(f"{strange[0]!r} is no class; there are {', '.join(classes)}")
        found.append((who, dict.fromkeys(on, 1.0)))
    if len(ways) > 1:
        raise InputError(f"the rule {text!r} settles at a chance and on a class; choose one of them")
    return Rule("stage", len(found), stages=tuple(found), on_class=ways == {"on"}, last=last)


def _needs(words: str, text: str, classes: Sequence[str], read: Callable[[str], float]) -> dict[str, float]:
    """``2``, or ``2 for yes, 3 for no``."""
    needs: dict[str, float] = {}
    for part in words.split(","):
        value, _, name = part.strip().partition(" for ")
        if name and name not in classes:
            raise InputError(f"{name!r} is no class; there are {', '.join(classes)}")
        if name in needs or (not name and "," in words):
            raise InputError(f"the rule {text!r} gives two numbers without a class each, or one class twice")
        needs[name] = read(value)
    return needs


def _whole(word: str, text: str) -> int:
    if not re.fullmatch(r"\d{1,2}", word) or not 1 <= int(word) <= MOST:
        raise InputError(f"{word!r} in the rule {text!r} is no number of votes from 1 to {MOST}")
    return int(word)


def _chance(word: str, text: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise InputError(f"{word!r} in the rule {text!r} is no probability above 0 and at most 1")
    return value
