from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from sisyphus.dashboard.api.common import EVERYWHERE
from sisyphus.dashboard.api.document import PATH
from sisyphus.dashboard.pages.show import show
from sisyphus.dashboard.views import operations

router = APIRouter(include_in_schema=False)

_COMMON = {answer["description"].replace("`", "") for answer in EVERYWHERE.values()}


@router.get("/api")
def page(request: Request) -> Response:
    document = request.app.openapi()
    return show(
        request,
        "api.html",
        title="API",
        path=PATH,
        server=str(request.base_url),
        about=operations.paragraphs(document),
        groups=operations.by_tag(document, _COMMON).items(),
    )
