"""Label Studio's API: who asks, and what it lists."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from crowdopt.documents import Each, Keys, Shape
from crowdopt.errors import InputError
from crowdopt.io.bridges.exchange.addresses import TOKEN, checked_url, token_of
from crowdopt.io.bridges.exchange.bridge import Address
from crowdopt.io.bridges.exchange.web import LISTING, PAGES, Refused, Web
from crowdopt.io.tables.foreign_json import ID, check

VARIABLE = "LABEL_STUDIO_API_KEY"
BATCH = 100  # tasks of one import, and of one page
PROJECT = Keys(required={"id": ID, "title": ID}, open=True)
TASK = Keys(required={"id": ID, "data": Keys(open=True)}, open=True)
USER = Keys(required={"id": ID, "email": ID}, open=True)
ANSWER = "this is no answer of Label Studio; see that --url is its address"
EXPORT = "export the project to a file, and name that in place of --url"
MARK = "made by crowdopt for the campaign "  # of a project's description, before the title it was made with
TITLE = (3, 50)  # letters that a project's title may have


def connect(address: Address) -> Web:
    """The server with the token of the environment; a personal access token is exchanged for a short-lived one."""
    url = checked_url(address.url, address.insecure)
    token = token_of(VARIABLE, "in Label Studio: Account & Settings, Access Token; then export it under that name")
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if token.count(".") == 2:
        web = Exchanged(url, "Label Studio", headers, (token,), token)
        web.exchange()
        return web
    return Web(url, "Label Studio", {**headers, "Authorization": f"Token {token}"}, (token,))


@dataclass
class Exchanged(Web):
    """Calls with a token that lives for minutes, renewed when it has run out."""

    long_lived: str = field(default="", repr=False)
    _renewing: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def exchange(self) -> None:
        """Get a new short-lived token."""
        self.headers = {name: value for name, value in self.headers.items() if name != "Authorization"}
        answer = super().call("POST", "/api/token/refresh/", {"refresh": self.long_lived})
        access = answer.get("access") if isinstance(answer, dict) else None
        if not isinstance(access, str) or not access.isascii() or not access.isprintable() or len(access) < TOKEN:
            raise InputError(f"{self.url} gives no token in exchange; {ANSWER}")
        self.secrets = tuple(dict.fromkeys((*self.secrets, self.long_lived, access)))
        self.headers = {**self.headers, "Authorization": f"Bearer {access}"}

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """One call; a 401 is answered with a new token once."""
        refused = self.headers
        try:
            return super().call(method, path, body)
        except Refused as error:
            if error.status != 401:
                raise
        with self._renewing:
            if self.headers is refused:  # no other call has renewed it meanwhile
                self.exchange()
        return super().call(method, path, body)


def title_of(address: Address, own: str) -> str:
    """The project's title; InputError without one that Label Studio takes."""
    title = (address.project or own).strip()
    if not TITLE[0] <= len(title) <= TITLE[1]:
        raise InputError(
            f"a project's title has {TITLE[0]} to {TITLE[1]} letters, and {title!r} has {len(title)}; name it with "
            "--project, or give the campaign a title in campaign.toml"
        )
    return title


def listed(web: Web, path: str, shape: Shape, entries: str, **query: Any) -> Iterator[tuple[Any, list[Any]]]:
    """Each page of a listing and its entries, until there are no more.

    shape: of an entry; it has an id; entries: the key of a page's entries; **query: what is asked for beside the page.
    Raises InputError if an answer is none of Label Studio's, or the listing does not end: a page brings nothing new, or
    there are too many pages or seconds.
    """
    known: set[str] = set()
    began = time.monotonic()
    for page in range(1, PAGES + 1):
        try:
            answer = web.get(path, page=page, page_size=BATCH, **query)
        except Refused as error:
            if error.status == 404 and page > 1:
                return
            raise
        check(answer, Keys(required={entries: Each(shape)}, open=True), f"{web.url}{path}", ANSWER)
        ids = {str(entry["id"]) for entry in answer[entries]}
        if not ids:
            return
        if ids <= known and (len(answer[entries]) >= BATCH or answer.get("next")):
            raise InputError(f"{web.url}{path} lists on page {page} what it listed before; {ANSWER}")
        if time.monotonic() - began > LISTING:
            raise InputError(f"{web.url}{path} does not come to an end: {page} pages in {LISTING} s; {EXPORT}")
        known |= ids
        yield answer, answer[entries]
    raise InputError(f"{web.url}{path} does not come to an end: {PAGES} pages; {EXPORT}")


def find_project(web: Web, title: str) -> dict[str, Any] | None:
    """The project of that title, or the one made with it and renamed since; InputError if there are two."""
    named: list[dict[str, Any]] = []
    marked: list[dict[str, Any]] = []
    for answer, projects in listed(web, "/api/projects/", PROJECT, "results"):
        named += [project for project in projects if str(project["title"]).strip() == title]
        marked += [project for project in projects if project.get("description") == MARK + title]
        if not answer.get("next"):
            break
    found = named or marked
    if len(found) > 1:
        numbers = ", ".join(str(project["id"]) for project in found)
        raise InputError(
            f"{web.url} has several projects {title!r} (numbers {numbers}); give one of them another title"
        )
    return found[0] if found else None


def accounts(web: Web) -> list[dict[str, Any]]:
    """All who have an account."""
    users = web.get("/api/users/")
    check(users, Each(USER), f"{web.url}/api/users/", ANSWER)
    return [user for user in users if type(user["id"]) is int]


def tasks_of(web: Web, project: int) -> list[dict[str, Any]]:
    """Every task of a project, with its data and predictions."""
    tasks: list[dict[str, Any]] = []
    for _, page in listed(web, "/api/tasks/", TASK, "tasks", project=project, fields="all"):
        tasks += page
        if len(page) < BATCH:
            break
    return tasks
