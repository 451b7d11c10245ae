"""Signatures of messages between services: Standard Webhooks (standardwebhooks.com), and those of Prolific's hooks."""

from __future__ import annotations

import hmac
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Mapping
from hashlib import sha256

from crowdopt.errors import InputError

PREFIX = "whsec_"
TOLERANCE = 300  # seconds between signing and arrival: an older message may be one that was recorded and sent again


def key_of(secret: str) -> bytes:
    """The key in ``whsec_`` and base64; InputError if it is none of at least 24 bytes."""
    try:
        key = b64decode(secret.removeprefix(PREFIX), validate=True)
    except NotBase64:
        key = b""
    if len(key) < 24:
        raise InputError(f"a secret of webhooks is {PREFIX} and at least 24 bytes in base64")
    return key


def signature(secret: str, message: str, timestamp: str, body: bytes) -> str:
    """``v1,`` and HMAC-SHA256 of id, time and body with dots between them."""
    return "v1," + _digest(key_of(secret), f"{message}.{timestamp}.".encode() + body)


def is_signed(secret: str, headers: Mapping[str, str], body: bytes, now: float) -> bool:
    """Whether one of the signatures in ``webhook-signature`` is right, and the message is new."""
    message, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not message or not _is_new(timestamp, now):
        return False
    right = signature(secret, message, timestamp, body).encode()
    given = headers.get("webhook-signature", "").encode().split(b" ")
    return any(hmac.compare_digest(right, one) for one in given)


def is_prolific(secret: str, headers: Mapping[str, str], body: bytes, now: float) -> bool:
    """Whether ``X-Prolific-Request-Signature`` is that of time and body, and the message is new."""
    timestamp = headers.get("x-prolific-request-timestamp", "")
    right = _digest(secret.encode(), timestamp.encode() + body).encode()
    given = headers.get("x-prolific-request-signature", "").encode()
    return _is_new(timestamp, now) and hmac.compare_digest(right, given)


def _digest(key: bytes, content: bytes) -> str:
    return b64encode(hmac.new(key, content, sha256).digest()).decode()


def _is_new(timestamp: str, now: float) -> bool:
    whole = timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 16
    return whole and abs(now - int(timestamp)) <= TOLERANCE
