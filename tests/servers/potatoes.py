"""Potato as it is run and used: a server in a project's folder, and what its page sends."""

from __future__ import annotations

import json
import urllib.error
from pathlib import Path
from typing import Any

from tests.servers.environments import Server, executable, free_port
from tests.servers.studio import Visitor


def potato(folder: Path) -> Server:
    """A server of the project in a folder."""
    port = free_port()
    return Server([str(executable("potato")), "start", "config.yaml", "-p", str(port)], folder, port, "/")


class Annotator(Visitor):
    """A worker who logs in by name and labels what is shown."""

    def __init__(self, url: str, name: str) -> None:
        super().__init__(url)
        self.name = name
        self.form("/auth", email=name, action="login", **{"pass": ""})

    def item(self) -> dict[str, Any] | None:
        """What is shown now; nothing where all is done, or there is nothing for them."""
        self.open("/annotate")
        try:
            item: dict[str, Any] = self.call("GET", "/api/current_instance")
        except urllib.error.HTTPError as error:
            with error:
                assert error.code in (401, 404), error.read()  # 401: not in this round
            return None
        return item

    def hand_in(self, item: str, label: str, seconds: float) -> None:
        """Choose an option, as the page does, and go on."""
        body = {"instance_id": item, "annotations": {f"label:{label}": label}, "span_annotations": []}
        self.call("POST", "/updateinstance", body)
        moments = [("instance_load", 1_000_000.0), ("click", 1_000_000.0 + 1000 * seconds)]
        events = [{"event_type": kind, "target": "", "client_timestamp": when} for kind, when in moments]
        self.call("POST", "/api/track_interactions", {"instance_id": item, "events": events})
        self.call("POST", "/annotate", {"action": "next_instance", "instance_id": item})


def spent(folder: Path, name: str, item: str) -> float | None:
    """Seconds that Potato itself noted for an item."""
    for state in folder.glob(f"annotation_output/*/{name}/user_state.json"):
        times = json.loads(state.read_text(encoding="utf-8"))["instance_id_to_behavioral_data"]
        if item in times:
            return (times[item].get("total_time_ms") or 0) / 1000 or None
    return None
