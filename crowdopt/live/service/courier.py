"""Labels as messages to other services, by Standard Webhooks: each at least once, in order, also after a crash."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from threading import Event as Signal
from threading import Thread
from typing import Any

from crowdopt.errors import InputError
from crowdopt.io.bridges.exchange.web import posted
from crowdopt.live.running import Live
from crowdopt.live.service.signatures import signature
from crowdopt.live.stores import event as kinds
from crowdopt.live.stores.event import EXPERT, Event

TYPES = {kinds.TOLD: "label.created", kinds.BROUGHT: "label.created", kinds.CORRECTED: "label.updated"}
DATA = ("worker", "task", "label", "paid", "late", "gold")
BATCH = 100  # events that are looked at in one turn
EVERY = 1.0  # seconds between two looks where nothing is to be sent
PATIENCE = 15.0  # seconds that a receiver has
WAITS = (1.0, 300.0)  # seconds before a message is sent again: at first, and at most


class Courier:
    """One thread that sends; what was sent is noted in the store, so that it goes on there after a restart."""

    def __init__(self, live: Live, url: str, secret: str, say: Callable[[str], None]) -> None:
        if not url.startswith(("https://", "http://")):
            raise InputError(f"a webhook goes to an address that begins with https://, not to {url[:80]}")
        if not secret:
            raise InputError(
                "a webhook is signed: set CROWDOPT_WEBHOOK_SECRET to whsec_ and at least 24 bytes in base64"
            )
        self.live, self.url, self.secret, self.say = live, url, secret, say
        self.over, self.wait = Signal(), WAITS[0]
        self.thread = Thread(target=self._work, name="courier", daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self.thread.start()

    def close(self) -> None:
        """Stop; what was not sent yet is sent after the next start."""
        self.over.set()
        self.thread.join(PATIENCE)

    def _work(self) -> None:
        while not self.over.is_set():
            if not self._send_some():
                self.over.wait(EVERY)

    def _send_some(self) -> bool:
        """Send what is next; False: there is nothing, or it could not be sent and was waited for."""
        with self.live.together() as turn:
            sent = turn.book.sent(self.url)
            events = turn.book.after(sent, BATCH)
            messages = list(_messages(turn.state, events))
        for number, body in messages:
            if not self._posted(f"msg_{self.live.settings.campaign}_{number}", json.dumps(body).encode()):
                self.over.wait(self.wait)
                self.wait = min(2 * self.wait, WAITS[1])
                return False
            self.wait = WAITS[0]
            self._note(number)
        if events:
            self._note(events[-1].number)
        return bool(events)

    def _note(self, number: int) -> None:
        with self.live.store.hold() as book:
            book.note_sent(self.url, number)

    def _posted(self, message: str, body: bytes) -> bool:
        now = str(int(time.time()))
        headers = {"Content-Type": "application/json", "webhook-id": message, "webhook-timestamp": now}
        headers["webhook-signature"] = signature(self.secret, message, now, body)
        why = posted(self.url, headers, body, PATIENCE)
        if why:
            self.say(f"{self.url} did not take a message ({why}); it is sent again")
        return not why


def _messages(state: Any, events: list[Event]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number of an event and the message that tells it; of a label, as it stands now."""
    for event in events:
        if event.kind in TYPES and event.worker != EXPERT:
            row = state.label_row(event.number if event.kind == kinds.BROUGHT else event.lease)
            at = datetime.fromtimestamp(event.at, UTC).isoformat(timespec="milliseconds")
            data = {name: getattr(row, name) for name in DATA}
            yield event.number, {"type": TYPES[event.kind], "timestamp": at, "data": data}
