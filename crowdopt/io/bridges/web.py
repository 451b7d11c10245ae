"""HTTP with a token: the only file of the package that speaks to a network, and only where a user names a server.

The token comes from the environment, is sent to that server alone (redirects are not followed) and is written nowhere.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import os
import ssl
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from crowdopt.errors import InputError
from crowdopt.io.bridges.foreign_json import parsed

PATIENCE = 120  # seconds until an answer is given up
PAUSES = (0.5, 1.0, 2.0)  # seconds between tries of a call that may be repeated
BUSY = {502, 503, 504}  # a server that is starting or overloaded
REPEATABLE = {"GET", "PATCH"}  # what is the same done twice
SHOWN = 300  # letters of a server's complaint


class Refused(InputError):
    """A server's no: ``status`` is its number."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def checked_url(url: str, insecure: bool) -> str:
    """The address without a slash at its end.

    Raises
    ------
    InputError
        If it is none, has a password in it, or is plain HTTP to another machine.
    """
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
    if not token.isascii() or not token.isprintable() or " " in token:
        raise InputError(f"{variable} holds no token: it has letters that none has; {remedy}")
    return token


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the token elsewhere."""

    def redirect_request(self, *args: Any) -> None:
        return None


@dataclass
class Web:
    """A server that is called with a header of authorization.

    Parameters
    ----------
    url : str
        As :func:`checked_url` gives it.
    name : str
        Of the tool, for messages.
    headers : dict
        Sent with every call.
    secrets : tuple of str
        What no message may repeat.
    """

    url: str
    name: str
    headers: dict[str, str]
    secrets: tuple[str, ...] = ()
    _opener: urllib.request.OpenerDirector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        handlers: list[Any] = [_NoRedirect()]
        if on_this_machine(urlsplit(self.url).hostname or ""):
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)

    def get(self, path: str, **query: Any) -> Any:
        """The answer to a question."""
        return self.call("GET", f"{path}?{urlencode(query)}" if query else path)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """One call and its answer, tried again where that cannot do harm.

        Raises
        ------
        InputError
            If the server cannot be reached, says no (:class:`Refused`), or answers no JSON.
        """
        data = None if body is None else json.dumps(body).encode("utf-8")
        for pause in (*PAUSES, None):
            request = urllib.request.Request(self.url + path, data, self.headers, method=method)
            try:
                with self._opener.open(request, timeout=PATIENCE) as answer:
                    content = answer.read()
                return self._value(content)
            except urllib.error.HTTPError as error:
                complaint: InputError = self._refusal(error)
                again = error.code in BUSY
            except (OSError, http.client.HTTPException, ValueError) as error:
                if isinstance(error, InputError):
                    raise
                complaint, again = self._silence(error), _may_pass(error)
            if pause is None or not again or method not in REPEATABLE:
                raise complaint
            time.sleep(pause)
        raise AssertionError

    def _value(self, content: bytes) -> Any:
        text = content.decode("utf-8", errors="replace")
        return parsed(text, f"the answer of {self.name} at {self.url}") if text.strip() else None

    def _refusal(self, error: urllib.error.HTTPError) -> Refused:
        """What the server says, on one line and without the token."""
        try:
            said = error.read(4000).decode("utf-8", errors="replace")
        except (OSError, http.client.HTTPException):
            said = ""
        said = " ".join(_reason(said).split())
        for secret in self.secrets:
            said = said.replace(secret, "***")
        if "<html" in said.lower():
            said = ""
        if error.code in (301, 302, 303, 307, 308):
            said = "it sends on to another address, which is not followed; give that address as --url"
        return Refused(error.code, f"{self.name} at {self.url} said no ({error.code}): {said[:SHOWN] or error.reason}")

    def _silence(self, error: Exception) -> InputError:
        reason = getattr(error, "reason", error)
        said = " ".join(str(reason).split())[:SHOWN] or type(error).__name__
        for secret in self.secrets:
            said = said.replace(secret, "***")
        return InputError(
            f"{self.name} at {self.url} did not answer: {said}; see that it runs, then run the same command again: "
            "what is done is not done twice"
        )


def _reason(said: str) -> str:
    """What a complaint in JSON says in its words."""
    try:
        value = parsed(said, "")
    except InputError:
        return said
    known = value if isinstance(value, dict) else {}
    words = [known.get(key) for key in ("detail", "validation_errors", "error") if known.get(key)]
    return ", ".join(map(str, words)) or said


def _may_pass(error: Exception) -> bool:
    """Whether a try a moment later may go better."""
    reason = getattr(error, "reason", error)
    return not isinstance(reason, ssl.SSLError | ValueError | TimeoutError)
