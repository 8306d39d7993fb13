"""The document of the API (OpenAPI): what FastAPI draws up, with what it cannot know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import FastAPI

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus._types import Json

PATH = "/api/openapi.json"

_TOLD = """\
What `sisyphus dashboard` shows, as JSON, and what people do there.

Every request proves that it may ask: by `Authorization: Bearer TOKEN`, where TOKEN is that of the \
printed address, or by the cookie of a browser that opened it. What changes something (POST, \
DELETE) and brings the cookie names its `Origin` as well, as browsers do. No other origin may ask: \
there is no CORS.

Every failure is answered `{"error": CODE, "message": TEXT}`. A method that a path does not know \
is answered 405 METHOD_NOT_ALLOWED, with `Allow`. HEAD is answered wherever GET is.
"""
_FROM_FASTAPI = ("HTTPValidationError", "ValidationError")
_CODE_FOR_VALUES = "422"
"""FastAPI's; ours is 400 INVALID_REQUEST."""

_FAILURE = "400"


class Application(FastAPI):
    """`cookie_name`: of the cookie that proves that a browser may ask.

    No path leads to the same without its last slash: `DELETE /api/sessions/`, to which no id was
    added, would delete every loop.
    """

    def __init__(self, cookie_name: str, **values: Any) -> None:
        super().__init__(
            description=_TOLD, openapi_url=PATH, servers=[{"url": "/"}], docs_url=None,
            redoc_url=None, redirect_slashes=False, **values,
        )  # fmt: skip
        self._cookie_name = cookie_name

    def openapi(self) -> Json:
        if self.openapi_schema is None:
            self.openapi_schema = _completed(super().openapi(), self._cookie_name)
        return self.openapi_schema


def _completed(document: Json, cookie_name: str) -> Json:
    parts = document.setdefault("components", {})
    for name in _FROM_FASTAPI:
        parts.get("schemas", {}).pop(name, None)
    parts["securitySchemes"] = {
        "bearer": {"type": "http", "scheme": "bearer"},
        "cookie": {"type": "apiKey", "in": "cookie", "name": cookie_name},
    }
    document["security"] = [{"bearer": []}, {"cookie": []}]
    for methods in document["paths"].values():
        for operation in methods.values():
            operation["responses"] = dict(_answers(operation["responses"]))
    return document


def _answers(found: Json) -> Iterator[tuple[str, Json]]:
    """Failures are JSON whatever the route answers else."""
    for status, answer in found.items():
        if status < _FAILURE:
            yield status, answer
        elif status != _CODE_FOR_VALUES:
            shape = next(iter(answer["content"].values()))
            yield status, {**answer, "content": {"application/json": shape}}
