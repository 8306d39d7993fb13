"""The application: every page as HTML and, below `/api`, the same query as JSON."""

from __future__ import annotations

import time
from functools import cache
from importlib import metadata
from typing import Any
from urllib.parse import parse_qsl

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from sisyphus import work
from sisyphus.dashboard import (
    actions,
    diff,
    enforcement,
    formats,
    guard,
    handoffs,
    last_visit,
    loop,
    loops,
    metrics,
    overview,
    plans,
    private_page,
    rules,
    sessions,
    stream,
    transcript,
)
from sisyphus.dashboard.guard import Guard
from sisyphus.dashboard.page import Desk, NotThereError, Page, Params
from sisyphus.ground import log
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.record import Record, asdict
from sisyphus.runner.report import short_cost, short_count

PAGES = (
    Page("/", "Overview", "overview.html", overview.query),
    Page("/loops", "Loops", "loops.html", loops.query),
    Page("/loops/{id}", "", "loop.html", loop.query),
    Page("/loops/{id}/transcript", "", "transcript.html", transcript.query),
    Page("/loops/{id}/diff", "", "diff.html", diff.query),
    Page("/plans", "Plans", "plans.html", plans.query),
    Page("/plans/{n}", "", "plan.html", plans.query_one),
    Page("/sessions", "Sessions", "sessions.html", sessions.query),
    Page("/sessions/{id}", "", "session.html", sessions.query_one),
    Page("/handoffs", "Handoffs", "handoffs.html", handoffs.query),
    Page("/handoffs/{n}", "", "handoff.html", handoffs.query_one),
    Page("/rules", "Rules", "rules.html", rules.query),
    Page("/enforcement", "Enforcement", "enforcement.html", enforcement.query),
)
"""In the order of the navigation."""

_API = "/api"
_FORM_BYTES = 100_000


def make(desk: Desk) -> ASGIApp:
    site = _Site(desk)
    routes: list[BaseRoute] = [route for page in PAGES for route in site.routes(page)]
    routes += [
        Route("/loops/{id}/{action}", site.act, methods=["POST"]),
        Route("/events", site.events),
        Route("/metrics", site.metrics),
        Route("/link", site.link, methods=["POST"]),
        Route(private_page.OPEN, site.open, methods=["POST"]),
        Mount("/static", StaticFiles(packages=[("sisyphus.dashboard", "static")])),
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={404: site.not_there, 405: site.not_there, 500: site.failed},
    )
    return Guard(app, desk.access, site.refuse)


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader("sisyphus.dashboard"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(formats.FILTERS)
    templates.globals.update(
        count_of=short_count,
        dollars_of=short_cost,
        nav=[page for page in PAGES if page.name],
        version=metadata.version("sisyphus-hooks"),
    )
    return templates


class _Site:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._told: dict[str, str] = {}  # what a browser's next page says, by its form key

    # ------------------------------------------------------------ pages

    def routes(self, page: Page) -> list[Route]:
        async def as_html(request: Request) -> Response:
            return self._answer(request, page)

        async def as_json(request: Request) -> Response:
            return self._answer(request, page)

        path = _API + ("/overview" if page.path == "/" else page.path)
        return [Route(page.path, as_html), Route(path, as_json)]

    def _answer(self, request: Request, page: Page) -> Response:
        params: Params = {**request.query_params, **request.path_params}
        shown = stream.version(self._desk)  # before the query, which may miss what comes after
        try:
            view = page.query(self._desk, params)
        except NotThereError as error:
            return self.refuse(request, 404, str(error))
        except SisyphusError as error:
            return self.refuse(request, 400, str(error))
        if _is_api(request):
            return JSONResponse(_plain(view))
        if request.method == "GET" and not self._desk.access.is_program(request):
            last_visit.note(self._desk.store, time.time())
        return self._page(request, page.template, view=view, current=page.path, version_shown=shown)

    def _page(self, request: Request, template: str, *, code: int = 200, **values: Any) -> Response:
        query = f"?{request.url.query}" if request.url.query else ""
        form_key = self._desk.access.form_key(request)
        is_new = request.method == "GET" and "hx-request" not in request.headers
        common = {
            "url": request.url.path + query,
            "form_key": form_key,
            "version_shown": stream.version(self._desk),
            "count": 0,
            "current": "",
            "told": self._told.pop(form_key, "") if is_new else "",
            "params": request.query_params,
            "now": time.time(),
        }
        if self._desk.access.is_known(request):
            common["count"] = len(work.needs(self._desk.store, time.time()))
        text = _templates().get_template(template).render(common | values)
        return HTMLResponse(text, code)

    # ------------------------------------------------------------ what goes wrong

    def refuse(self, request: Request, code: int, why: str) -> Response:
        is_page = not _is_api(request) and request.url.path not in ("/events", "/metrics", "/link")
        if "authorization" in request.headers or not is_page:
            return JSONResponse({"error": why}, code)
        return self._page(request, "refusal.html", code=code, why=why, status=code)

    async def not_there(self, request: Request, error: Exception) -> Response:
        return self.refuse(request, getattr(error, "status_code", 404), "There is no such page.")

    async def failed(self, request: Request, error: Exception) -> Response:
        return self.refuse(request, 500, log.failure(f"dashboard {request.url.path}", error))

    # ------------------------------------------------------------ all else

    async def act(self, request: Request) -> Response:
        """Does what a button says, and shows the page that it was on again."""
        fields = await _form(request)
        if not self._desk.access.accepts_form(request, fields.get("key", "")):
            return self.refuse(request, 403, "This form is not from an open page of the dashboard.")
        id, action = request.path_params["id"], request.path_params["action"]
        try:
            message = actions.act(self._desk, id, action, fields)
        except NotThereError as error:
            return self.refuse(request, 404, str(error))
        except SisyphusError as error:
            return self.refuse(request, 409, str(error))
        self._desk.changes += 1
        if self._desk.access.is_program(request):
            return JSONResponse({"message": message})
        self._told[self._desk.access.form_key(request)] = message
        return RedirectResponse(_back(fields, is_gone=action == "delete"), 303)

    async def events(self, request: Request) -> Response:
        return StreamingResponse(
            stream.changes(self._desk, request.query_params.get("shown", "")),
            media_type="text/event-stream",
        )

    async def metrics(self, request: Request) -> Response:
        text, kind = metrics.render(self._desk)
        return Response(text, media_type=kind)

    async def link(self, request: Request) -> Response:
        """Gives a program an address that opens the dashboard once."""
        if not self._desk.access.is_program(request):
            return self.refuse(request, 403, "Only a program may ask for this.")
        url = self._desk.access.new_link()
        private_page.remove_later(url, self._desk.our_home)
        return JSONResponse({"url": url})

    async def open(self, request: Request) -> Response:
        """Lets a browser in that has read a code in a file of ours."""
        code = (await _form(request)).get("code", "")
        link = self._desk.access.exchange(code)
        if not link:
            return self.refuse(request, 401, guard.UNKNOWN)
        private_page.remove(code, self._desk.our_home)
        return HTMLResponse(_templates().get_template("opening.html").render(link=link))


def _back(fields: Params, *, is_gone: bool) -> str:
    """Returns the page that a button was on."""
    back = fields.get("back", "")
    is_ours = back.startswith("/") and not back.startswith(("//", "/\\"))
    return back if is_ours and not is_gone else "/loops"


async def _form(request: Request) -> dict[str, str]:
    """Returns what a form sends; nothing of what is longer than any of ours."""
    data = b""
    async for chunk in request.stream():
        data += chunk
        if len(data) > _FORM_BYTES:
            return {}
    return dict(parse_qsl(data.decode("utf-8", "replace")))


def _is_api(request: Request) -> bool:
    return request.url.path.startswith(f"{_API}/")


def _plain(view: object) -> object:
    """Returns a view as JSON has it."""
    assert isinstance(view, Record)
    assert not isinstance(view, type)
    return asdict(view)
