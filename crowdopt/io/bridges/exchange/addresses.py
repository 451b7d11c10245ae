"""Where a server is and who asks: addresses and tokens that can be used without showing the token to others."""

from __future__ import annotations

import ipaddress
import os
from urllib.parse import urlsplit

from crowdopt.errors import InputError

TOKEN = 8  # letters of a token, at least: it is masked in all that a server says, and a word would be, too


def checked_url(url: str, insecure: bool) -> str:
    """The address, no slash at its end; InputError for none, a password in it, plain HTTP to other machines."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise InputError(f"{url!r} is no address: {error}; write one such as http://localhost:8080") from None
    if parts.scheme not in ("http", "https") or not host or not url.isascii() or not url.isprintable() or " " in url:
        raise InputError(f"{url!r} is no address; write one such as http://localhost:8080")
    if parts.username is not None or parts.query or parts.fragment:
        raise InputError("an address has no password, ? or # in it; the token comes from the environment")
    if parts.scheme == "http" and not insecure and not on_this_machine(host):
        raise InputError(
            f"{url} is plain HTTP to another machine, where anybody on the way reads the token; use https://, or say "
            "--insecure"
        )
    return url.rstrip("/")


def on_this_machine(host: str) -> bool:
    """Whether a host name is that of this machine's own loopback."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def token_of(variable: str, remedy: str) -> str:
    """The token in an environment variable; InputError without one."""
    token = os.environ.get(variable, "").strip()
    if not token:
        raise InputError(f"the environment has no {variable}; {remedy}")
    if not token.isascii() or not token.isprintable() or " " in token or len(token) < TOKEN:
        raise InputError(f"{variable} holds no token: it is too short, or has letters that none has; {remedy}")
    return token
