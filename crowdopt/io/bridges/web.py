"""Where a server is and who asks: addresses and tokens that can be used without showing the token to others.

HTTP with a token: the only file of the package that speaks to a network, and only where a user names a server.

The token comes from the environment, is sent to that server alone (redirects are not followed) and is written nowhere.
"""

from __future__ import annotations

import ipaddress
import json
import os
import threading
import time
from collections.abc import Sequence
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


@dataclass
class Web:
    """A server that is called with a header of authorization."""

    url: str  # as :func:`checked_url` gives it
    name: str  # of the tool, for messages
    headers: dict[str, str]  # sent with every call
    secrets: tuple[str, ...] = ()  # what no message may repeat
    _client: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        try:
            import httpx
        except ImportError:
            raise InputError(
                f"calls of {self.name} need httpx: pip install 'crowdopt[label-studio]'; or hand files to and fro, "
                "without --url"
            ) from None
        # no proxy to this machine; redirects are not followed, for one would carry the token elsewhere
        there = on_this_machine(urlsplit(self.url).hostname or "")
        self._client = httpx.Client(timeout=PATIENCE, trust_env=not there, limits=httpx.Limits(max_connections=AT_ONCE))

    def get(self, path: str, **query: Any) -> Any:
        """The answer to a question."""
        return self.call("GET", f"{path}?{urlencode(query)}" if query else path)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """One call and its answer, tried again where that cannot do harm."""
        for pause in (*PAUSES, None):
            answer = self._asked(method, path, body)
            if isinstance(answer, Exception):
                complaint, again = self._silence(answer), "Timeout" not in type(answer).__name__
            else:
                status, reason, content = answer
                if status < 300:
                    return self._value(content)
                complaint, again = self._refusal(status, reason, content), status in BUSY
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

    def _asked(self, method: str, path: str, body: Any) -> tuple[int, str, bytes] | Exception:
        """Status, its words and the answer, or why there is none; within the limits of all its bytes and seconds."""
        found: list[tuple[int, str, bytes] | Exception] = []
        data = None if body is None else json.dumps(body).encode("utf-8")
        ends = time.monotonic() + SECONDS

        def read() -> None:
            pieces, size = [], 0
            try:
                with self._client.stream(method, self.url + path, content=data, headers=self.headers) as answer:
                    for piece in answer.iter_bytes(PIECE):
                        pieces.append(piece)
                        size += len(piece)
                        if size > BYTES or time.monotonic() > ends:
                            break
                found.append((answer.status_code, answer.reason_phrase, b"".join(pieces)))
            except Exception as error:  # of the network, of the server, or of what it sends
                found.append(error)

        # waited for in a thread of its own: no timeout of a socket ends what drips, body, header or name server
        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        thread.join(SECONDS)
        if thread.is_alive() or time.monotonic() > ends:
            raise InputError(
                f"{self.there} did not end its answer within {SECONDS} s; see what keeps it, then run the "
                "same command again: what is done is not done twice"
            )
        if not isinstance(found[0], Exception) and len(found[0][2]) > BYTES:
            raise InputError(
                f"{self.there} answers with more than {BYTES} bytes; export it to files, in parts, and "
                "name these in place of --url"
            )
        return found[0]

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

    def _refusal(self, status: int, reason: str, content: bytes) -> Refused:
        said = content[:COMPLAINT].decode("utf-8", errors="replace")
        said = self._masked(" ".join(_reason(said).split()))
        if len(content) >= COMPLAINT:  # it may end within a token
            said = said[: -max(map(len, self.secrets), default=1)]
        if "<html" in said.lower():
            said = ""
        if status in (301, 302, 303, 307, 308):
            said = "it sends on to another address, which is not followed; give that address as --url"
        return Refused(status, f"{self.there} said no ({status}): {said[:SHOWN] or self._masked(reason)[:SHOWN]}")

    def _silence(self, error: Exception) -> InputError:
        said = self._masked(" ".join(str(error).split()))[:SHOWN] or type(error).__name__
        return InputError(
            f"{self.there} did not answer: {said}; see that it runs, then run the same command again: "
            "what is done is not done twice"
        )


def _reason(said: str) -> str:
    try:
        value = parsed(said, "")
    except InputError:
        return said
    known = value if isinstance(value, dict) else {}
    words = [known.get(key) for key in ("detail", "validation_errors", "error") if known.get(key)]
    return ", ".join(map(str, words)) or said
