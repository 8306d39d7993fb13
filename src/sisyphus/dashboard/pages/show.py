"""One page: a template, and what every page has."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from starlette.responses import HTMLResponse

from sisyphus.dashboard.rendering import TEMPLATES

if TYPE_CHECKING:
    from starlette.requests import Request


class Place(NamedTuple):
    path: str
    name: str


PLACES = (
    Place("/", "Overview"),
    Place("/loops", "Loops"),
    Place("/boulders", "Boulders"),
    Place("/context", "Context"),
    Place("/rules", "Rules"),
    Place("/enforcement", "Enforcement"),
    Place("/journal", "Journal"),
)


def show(
    request: Request, template: str, *, title: str, status: int = 200, **values: object
) -> HTMLResponse:
    text = TEMPLATES.get_template(template).render(
        title=title,
        places=PLACES,
        here=place_of(request.url.path),
        changes=request.state.changes,
        **values,
    )
    return HTMLResponse(text, status)


def place_of(path: str) -> str:
    """The place that a page belongs to; "" = to none."""
    return max((p.path for p in PLACES if is_below(path, p.path)), key=len, default="")


def is_below(path: str, place: str) -> bool:
    return path == place or (place != "/" and path.startswith(place + "/"))
