"""Where a server is and who asks: addresses and tokens that can be used without showing the token to others.

HTTP with a token: the only file of the package that speaks to a network, and only where a user names a server.

The token comes from the environment, is sent to that server alone (redirects are not followed) and is written nowhere.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import os
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.pool import ThreadPool
from typing import Any, TypeAlias
from urllib.parse import urlencode, urlsplit

from crowdopt.errors import InputError
from crowdopt.io.foreign_json import parsed

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


PATIENCE = 120  # seconds of silence until an answer is given up
SECONDS = 900  # for a whole answer, however it drips; an export of a million labels takes minutes
BYTES = 2**30  # of an answer; an export of a million labels has half of it, and twice as many do not fit into memory
PIECE = 2**16  # bytes read at a time
PAGES = 10_000  # of a listing: at 100 on a page a million tasks, more than such a server holds
LISTING = 3600  # seconds for all pages of a listing
PAUSES = (0.5, 1.0, 2.0)  # seconds between tries of a call that may be repeated
BUSY = {502, 503, 504}  # a server that is starting or overloaded
REPEATABLE = {"GET", "PATCH"}  # what is the same done twice
AT_ONCE = 12  # calls under way at a time
COMPLAINT, SHOWN = 4000, 300  # bytes of a server's complaint that are read, letters that are shown


Call: TypeAlias = tuple[str, str, Any]  # method, path and body


class Refused(InputError):
    """A server's no: ``status`` is its number."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the token elsewhere."""

    def redirect_request(self, *args: Any) -> None:
        return None


@dataclass
class Web:
    """A server that is called with a header of authorization."""

    url: str  # as :func:`checked_url` gives it
    name: str  # of the tool, for messages
    headers: dict[str, str]  # sent with every call
    secrets: tuple[str, ...] = ()  # what no message may repeat
    _opener: urllib.request.OpenerDirector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._opener = _opener_to(self.url)

    def get(self, path: str, **query: Any) -> Any:
        """The answer to a question."""
        return self.call("GET", f"{path}?{urlencode(query)}" if query else path)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """One call and its answer, tried again where that cannot do harm."""
        data = None if body is None else json.dumps(body).encode("utf-8")
        for pause in (*PAUSES, None):
            request = urllib.request.Request(self.url + path, data, self.headers, method=method)
            try:
                asked = self._asked(request)
                if not isinstance(asked.error, urllib.error.HTTPError):
                    return self._value(asked.content)
                complaint: InputError = self._refusal(asked.error, asked.content)
                again = asked.error.code in BUSY
            except (OSError, http.client.HTTPException, ValueError) as error:
                if isinstance(error, InputError):
                    raise
                complaint, again = self._silence(error), _may_pass(error)
            if pause is None or not again or method not in REPEATABLE:
                raise complaint
            time.sleep(pause)
        raise AssertionError

    def call_all(self, calls: Sequence[Call]) -> list[Any]:
        """Answers to calls that need not wait for each other, several at a time; after a refusal no more begin."""
        refused = threading.Event()

        def answer(call: Call) -> Any:
            try:
                return None if refused.is_set() else self.call(*call)
            except BaseException:
                refused.set()
                raise

        with ThreadPool(AT_ONCE) as pool:  # of daemons: an interrupt waits for no server
            return pool.map(answer, calls, chunksize=1)

    @property
    def there(self) -> str:
        """What is called, in sentences."""
        return f"{self.name} at {self.url}"

    def _asked(self, request: urllib.request.Request) -> ServerCall:
        """The call when it has ended, within the limits of all its bytes and seconds."""
        # It is waited for in a thread of its own: no timeout of a socket ends what drips, body, header or name
        # server.
        asked = ServerCall(self._opener, request)
        asked.start()
        asked.join(SECONDS)
        if asked.is_alive():
            asked.given_up = True
            raise InputError(
                f"{self.there} did not end its answer within {SECONDS} s; see what keeps it, then run the "
                "same command again: what is done is not done twice"
            )
        if asked.error is not None and not isinstance(asked.error, urllib.error.HTTPError):
            raise asked.error
        if len(asked.content) > BYTES:
            raise InputError(
                f"{self.there} answers with more than {BYTES} bytes; export it to files, in parts, and "
                "name these in place of --url"
            )
        return asked

    def _value(self, content: bytes) -> Any:
        """The answer, in which the token is masked: whatever is shown, or written, of it cannot have it."""
        text, source = content.decode("utf-8", errors="replace"), f"the answer of {self.there}"
        try:
            return self._masked(parsed(text, source)) if text.strip() else None
        except RecursionError:
            raise InputError(f"{source} is nested too deeply; no tool writes such a file") from None

    def _masked(self, value: Any) -> Any:
        if isinstance(value, str):
            for secret in self.secrets:
                value = value.replace(secret, "***")
        elif isinstance(value, list):
            return [self._masked(entry) for entry in value]
        elif isinstance(value, dict):
            return {self._masked(key): self._masked(entry) for key, entry in value.items()}
        return value

    def _refusal(self, error: urllib.error.HTTPError, content: bytes) -> Refused:
        said = self._masked(" ".join(_reason(content.decode("utf-8", errors="replace")).split()))
        if len(content) >= COMPLAINT:  # it may end within a token
            said = said[: -max(map(len, self.secrets), default=1)]
        if "<html" in said.lower():
            said = ""
        if error.code in (301, 302, 303, 307, 308):
            said = "it sends on to another address, which is not followed; give that address as --url"
        said = said[:SHOWN] or self._masked(str(error.reason))[:SHOWN]
        return Refused(error.code, f"{self.there} said no ({error.code}): {said}")

    def _silence(self, error: Exception) -> InputError:
        reason = getattr(error, "reason", error)
        said = self._masked(" ".join(str(reason).split()))[:SHOWN] or type(error).__name__
        return InputError(
            f"{self.there} did not answer: {said}; see that it runs, then run the same command again: "
            "what is done is not done twice"
        )


class ServerCall(threading.Thread):
    """A call at work: its ``content``, or the ``error`` it ended with."""

    def __init__(self, opener: urllib.request.OpenerDirector, request: urllib.request.Request) -> None:
        super().__init__(daemon=True)
        self.opener, self.request, self.given_up = opener, request, False
        self.content = b""
        self.error: Exception | None = None

    def run(self) -> None:
        """Read until the answer ends, has too many bytes, or is no longer waited for."""
        pieces, size = [], 0
        try:
            with self.opener.open(self.request, timeout=PATIENCE) as answer:
                while size <= BYTES and not self.given_up and (piece := answer.read1(PIECE)):
                    pieces.append(piece)
                    size += len(piece)
                if answer.length and size <= BYTES:
                    raise http.client.IncompleteRead(b"", answer.length)
        except urllib.error.HTTPError as error:
            self.error = error
            with suppress(OSError, http.client.HTTPException), error:
                pieces = [error.read(COMPLAINT)]
        except Exception as error:
            self.error = error
        self.content = b"".join(pieces)


def _opener_to(url: str) -> urllib.request.OpenerDirector:
    """What opens addresses of a server: no redirects, and no proxy to this machine."""
    handlers: list[Any] = [_NoRedirect()]
    if on_this_machine(urlsplit(url).hostname or ""):
        handlers.append(urllib.request.ProxyHandler({}))
    return urllib.request.build_opener(*handlers)


def _reason(said: str) -> str:
    try:
        value = parsed(said, "")
    except InputError:
        return said
    known = value if isinstance(value, dict) else {}
    words = [known.get(key) for key in ("detail", "validation_errors", "error") if known.get(key)]
    return ", ".join(map(str, words)) or said


def _may_pass(error: Exception) -> bool:
    reason = getattr(error, "reason", error)
    return not isinstance(reason, ssl.SSLError | ValueError | TimeoutError)
