"""How participants of Prolific come in: by the link of their study."""

from __future__ import annotations

from hmac import compare_digest

from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse, Response

from crowdopt.live.running import LiveTurn
from crowdopt.live.service.callers import LONGEST, NotAllowed, done
from crowdopt.live.service.front_desk import FrontDesk
from crowdopt.live.service.tokens import WORKER, digest_of, entitled

TAKEN = "this participant has a place here already; come back in the same browser, or ask for a token of your own"
MONTH = 30 * 24 * 3600  # seconds that a participant's browser knows them by


def participants(app: FastAPI, desk: FrontDesk, secret: str) -> None:
    """Add the link to an application; secret: what it has that lets people in, empty: none comes by it."""

    @app.get("/join")
    async def join(request: Request, key: str = "", PROLIFIC_PID: str = "") -> Response:
        """A participant of Prolific is sent to the labelling page with a token of their own, once.

        The browser that got it keeps it as a cookie for this path, with which the same link leads back. The names of
        other workers are no secret: the link gives no token of theirs.
        """
        if not secret or not compare_digest(key.encode(), secret.encode()):
            raise NotAllowed(403, "this link lets no one in; use the one of your study")
        if not 0 < len(PROLIFIC_PID) <= LONGEST:
            raise NotAllowed(422, "PROLIFIC_PID: who are you?")
        owner, token = WORKER + PROLIFIC_PID, request.cookies.get("token", "")

        def seat(turn: LiveTurn) -> str:
            if turn.book.owner(digest_of(token)) == owner:
                return token
            turn.may_come(PROLIFIC_PID)
            came = PROLIFIC_PID in turn.state.enrolled or turn.book.entitled(owner)
            if came or PROLIFIC_PID in turn.state.course.place_of:
                raise NotAllowed(403, TAKEN)
            return entitled(turn.book, owner)

        given = await done(desk, seat)
        seated = RedirectResponse(f"/#{given}", 303)
        safe = request.url.scheme == "https"
        seated.set_cookie("token", given, MONTH, path="/join", secure=safe, httponly=True, samesite="lax")
        return seated
