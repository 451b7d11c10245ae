"""Label Studio as it is run and used: a server, an account for each worker, and what the label button does."""

from __future__ import annotations

import http.cookiejar
import json
import re
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from tests.servers.environments import Server, executable, free_port

TOKEN = "0123456789abcdef0123456789abcdef01234567"
PASSWORD = "a long password"


def studio(folder: Path) -> Server:
    """A server with a database of its own."""
    port = free_port()
    command = (
        f"{executable('label-studio')} start --init --no-browser --enable-legacy-api-token --internal-host 127.0.0.1"
    )
    options = ["--port", str(port), "--username", "boss@example.org", "--password", PASSWORD, "--user-token", TOKEN]
    environment = {
        "LABEL_STUDIO_BASE_DATA_DIR": str(folder),
        "COLLECT_ANALYTICS": "False",
        "LATEST_VERSION_CHECK": "False",
        "SECRET_KEY": "only for tests",
    }
    return Server([*command.split(), *options], folder, port, "/health", environment)


class Visitor:
    """A browser's session."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.cookies = http.cookiejar.CookieJar()
        handlers = urllib.request.HTTPCookieProcessor(self.cookies), urllib.request.ProxyHandler({})
        self.opener = urllib.request.build_opener(*handlers)

    def open(self, path: str, data: bytes | None = None, method: str | None = None, kind: str = "") -> str:
        """The page or answer at a path."""
        headers = {
            "Referer": self.url,
            "X-CSRFToken": {one.name: one.value for one in self.cookies}.get("csrftoken", ""),
        }
        headers |= {"Content-Type": kind} if kind else {}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        with self.opener.open(request, timeout=120) as answer:
            text: str = answer.read().decode()
        return text

    def form(self, path: str, **fields: str) -> str:
        """A form sent."""
        return self.open(path, urllib.parse.urlencode(fields).encode(), kind="application/x-www-form-urlencoded")

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """What the page's scripts ask."""
        data = None if body is None else json.dumps(body).encode()
        text = self.open(path, data, method, "application/json")
        return json.loads(text) if text.strip().startswith(("{", "[")) else text


class Worker(Visitor):
    """A worker with an account who opens the link they were sent."""

    def __init__(self, url: str, name: str, new: bool = True) -> None:
        super().__init__(url)
        self.name = name
        path = "/user/signup/" if new else "/user/login/"
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', self.open(path))
        assert token is not None
        fields = {"email": f"{name}@example.org", "password": PASSWORD, "csrfmiddlewaretoken": token[1]}
        self.form(path, **fields)
        assert self.call("GET", "/api/current-user/whoami")["email"] == f"{name}@example.org"

    def next_task(self, link: str) -> dict[str, Any] | None:
        """What the link's page shows next, or nothing more: it asks for the tab, and then by its filter and order."""
        asked = urllib.parse.parse_qs(urllib.parse.urlsplit(link).query)
        assert asked["labeling"] == ["1"]
        shown = self.call("GET", f"/api/dm/views/{asked['tab'][0]}/")["data"]
        body = {
            "filters": shown["filters"],
            "ordering": shown["ordering"],
            "selectedItems": {"all": False, "included": []},
        }
        project = project_of(link)
        try:
            task: dict[str, Any] = self.call("POST", f"/api/dm/actions?id=next_task&project={project}", body)
        except urllib.error.HTTPError as error:
            with error:
                assert error.code == 404, error.read()
            return None
        return task

    def hand_in(self, project: int, task: int, label: str, seconds: float) -> None:
        """Submit a label, or skip where it is empty."""
        value = {"from_name": "label", "to_name": "text", "type": "choices", "value": {"choices": [label]}}
        body = {"result": [value] if label else [], "was_cancelled": not label, "lead_time": seconds}
        self.call("POST", f"/api/tasks/{task}/annotations/?project={project}", body)


def project_of(link: str) -> int:
    """The project that a worker's link opens."""
    found = re.search(r"/projects/(\d+)/data", link)
    assert found is not None
    return int(found[1])
