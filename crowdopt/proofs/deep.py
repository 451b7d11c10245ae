"""Recursion of any depth: a function that yields calls of its own kind, and is sent what they return."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
Deep: TypeAlias = Generator[Any, Any, T]  # yields calls of the same kind, returns a T


def run(call: Deep[T]) -> T:
    """What the call returns; the stack is a list, so that no depth is too much for the interpreter."""
    stack: list[Deep[Any]] = [call]
    value: Any = None
    while stack:
        try:
            stack.append(stack[-1].send(value))
            value = None
        except StopIteration as end:
            stack.pop()
            value = end.value
    result: T = value
    return result
