"""Kinds of labels, by what they are asked for; runs count and pay them apart."""

from __future__ import annotations

GOLD = "gold"  # on a task whose answer is known, to learn a worker's skill
EXPLORATION = "exploration"  # gold of preliminary workers, before the stream
WORK = "work"  # on a task whose answer is wanted
REPAIR = "repair"  # the same, after the last arrival
CHECK = "check"  # by an expert, on a finished answer: what claims are held against
TESTER = "tester"  # by all labelers, to learn their skills from the majority
REPEAT = "repeat"  # on an earlier tester once more

REFUSED = -1  # in place of a label that cannot be had
