"""Tokens of a campaign that runs: whose they are, and what is kept of them."""

from __future__ import annotations

import secrets
from hashlib import sha256

from crowdopt.serving.stores import SQLLedgerbook

MANAGER = "manager"
EXPERT = "expert"  # who looks at answers
WORKER = "worker:"


def new_token(store: SQLLedgerbook, owner: str) -> str:
    """A token for ``manager``, ``expert`` or ``worker:NAME``; one that the owner had before ends."""
    with store.hold() as book:
        return entitled(book, owner)


def entitled(book: SQLLedgerbook, owner: str) -> str:
    """The same, of a store that is held."""
    token = secrets.token_urlsafe(24)
    book.entitle(digest_of(token), owner)
    return token


def digest_of(token: str) -> str:
    """What is kept of a token: enough to know it again, and no way back."""
    return sha256(token.encode()).hexdigest()
