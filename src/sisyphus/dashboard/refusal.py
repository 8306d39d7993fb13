"""What is said to whoever may not ask: JSON below /api, a page elsewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse, JSONResponse

from sisyphus.dashboard.pages.show import PLACES, place_of
from sisyphus.dashboard.rendering import TEMPLATES, segment

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import Scope

_STRANGERS = (401, 403)
"""They may see nothing, and no page that leads there."""

_OF_LOOP = re.compile(r"/loops/([^/]+)/[^/]+")
_OF_ALL = "/archived-loops/"
_KNOWN_LOOP = (409, 500)


def of_host(scope: Scope) -> Response:
    text = (
        "This name is not one of this server's. Open the address that `sisyphus dashboard` printed."
    )
    return say(scope, 403, "FOREIGN_HOST", text)


def of_origin(scope: Scope) -> Response:
    text = "Another site's page asked for this. Nothing was done."
    return say(scope, 403, "FOREIGN_ORIGIN", text)


def of_stranger(scope: Scope, place: str, *, goes_on: bool) -> Response:
    """`place`: what was asked for. `goes_on`: the page asks for it once more by itself."""
    text = (
        "This browser is not known here, or the dashboard was started anew. Open the address that "
        "`sisyphus dashboard` printed; programs send its token as `Authorization: Bearer TOKEN`."
    )
    reply = say(scope, 401, "UNAUTHORIZED", text, again=place, goes_on=goes_on)
    reply.headers["www-authenticate"] = "Bearer"
    return reply


def say(scope: Scope, status: int, code: str, text: str, **values: object) -> Response:
    """`code`: for programs; `text`: for people. `values`: what else the page has."""
    if is_for_programs(scope["path"]):
        return JSONResponse({"error": code, "message": text}, status)
    page = TEMPLATES.get_template("refusal.html")
    places = () if status in _STRANGERS else PLACES
    where = {"places": places, "here": place_of(scope["path"])}
    shown = {
        "status": status,
        "text": text,
        "again": "",
        "goes_on": False,
        "back": _back(scope, status),
        **where,
        **values,
    }
    return HTMLResponse(page.render(shown), status)


def _back(scope: Scope, status: int) -> tuple[str, str] | None:
    """Address and name of the page on which it was asked for."""
    if status not in _KNOWN_LOOP:
        return None
    if scope["path"].startswith(_OF_ALL):
        return "/loops?state=archived", "Archived loops"
    found = _OF_LOOP.fullmatch(scope["path"])
    return (f"/loops/{segment(found[1])}", f"Loop {found[1]}") if found else None


def is_for_programs(path: str) -> bool:
    return path.startswith(("/api/", "/metrics", "/events"))
