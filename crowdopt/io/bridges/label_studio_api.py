"""Label Studio's API: who asks, and what it lists."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from crowdopt.documents import Each, Keys
from crowdopt.errors import InputError
from crowdopt.io.bridges.bridge import Address
from crowdopt.io.bridges.foreign_json import ID, check
from crowdopt.io.bridges.web import Refused, Web, checked_url, token_of

VARIABLE = "LABEL_STUDIO_API_KEY"
BATCH = 100  # tasks of one import, and of one page
PROJECT = Keys(required={"id": ID, "title": ID}, open=True)
TASK = Keys(required={"id": ID, "data": Keys(open=True)}, open=True)
USER = Keys(required={"id": ID, "email": ID}, open=True)
ANSWER = "this is no answer of Label Studio; see that --url is its address"
TITLE = (3, 50)  # letters that a project's title may have


def connect(address: Address) -> Web:
    """The server with the token of the environment; a personal access token is exchanged for a short-lived one.

    Raises
    ------
    InputError
        If the address or the token cannot be used.
    """
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

    def exchange(self) -> None:
        """Get a new short-lived token."""
        self.headers.pop("Authorization", None)
        answer = super().call("POST", "/api/token/refresh/", {"refresh": self.long_lived})
        access = answer.get("access") if isinstance(answer, dict) else None
        if not isinstance(access, str) or not access.isascii() or not access.isprintable():
            raise InputError(f"{self.url} gives no token in exchange; {ANSWER}")
        self.secrets = (self.long_lived, access)
        self.headers["Authorization"] = f"Bearer {access}"

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """One call; a 401 is answered with a new token once."""
        try:
            return super().call(method, path, body)
        except Refused as error:
            if error.status != 401:
                raise
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


def pages(web: Web, path: str, **query: Any) -> Iterator[Any]:
    """Pages of a listing until there are no more."""
    page = 1
    while True:
        try:
            answer = web.get(path, page=page, page_size=BATCH, **query)
        except Refused as error:
            if error.status == 404 and page > 1:
                return
            raise
        yield answer
        page += 1


def find_project(web: Web, title: str) -> dict[str, Any] | None:
    """The project of that title; InputError if there are two."""
    found: list[dict[str, Any]] = []
    for answer in pages(web, "/api/projects/", title=title):
        check(answer, Keys(required={"results": Each(PROJECT)}, open=True), f"{web.url}/api/projects/", ANSWER)
        found += [project for project in answer["results"] if str(project["title"]).strip() == title]
        if not answer.get("next"):
            break
    if len(found) > 1:
        numbers = ", ".join(str(project["id"]) for project in found)
        raise InputError(
            f"{web.url} has several projects {title!r} (numbers {numbers}); give one of them another title"
        )
    return found[0] if found else None


def accounts(web: Web) -> list[dict[str, Any]]:
    """Everybody who has an account."""
    users = web.get("/api/users/")
    check(users, Each(USER), f"{web.url}/api/users/", ANSWER)
    return [user for user in users if type(user["id"]) is int]


def tasks_of(web: Web, project: int) -> list[dict[str, Any]]:
    """Every task of a project, with its data and predictions."""
    tasks: list[dict[str, Any]] = []
    for answer in pages(web, "/api/tasks/", project=project, fields="all"):
        check(answer, Keys(required={"tasks": Each(TASK)}, open=True), f"{web.url}/api/tasks/", ANSWER)
        tasks += answer["tasks"]
        if len(answer["tasks"]) < BATCH:
            break
    return tasks
