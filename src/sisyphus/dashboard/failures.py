"""What a request that failed is answered: a code for programs, a sentence for people."""

from __future__ import annotations

import os
from traceback import walk_tb
from typing import TYPE_CHECKING

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from sisyphus.dashboard import refusal
from sisyphus.dashboard.methods import allowed
from sisyphus.errors import SisyphusError
from sisyphus.state import debug
from sisyphus.text import one_line

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.requests import Request
    from starlette.responses import Response

INVALID_REQUEST, INVALID_STATE, NOT_FOUND = "INVALID_REQUEST", "INVALID_STATE", "NOT_FOUND"
INVALID_LOOP_ID = "INVALID_LOOP_ID"

_WRONG_METHOD = 405
_CODES = {404: NOT_FOUND, _WRONG_METHOD: "METHOD_NOT_ALLOWED"}
_HTTP = {404: "There is no such page.", _WRONG_METHOD: "This address is asked in another way."}
_CHARACTERS = 300
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class FailedError(SisyphusError):
    """A known failure of a request. `status`: of HTTP; `code`: the word for programs."""

    def __init__(self, status: int, code: str, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.code = code


def not_found(text: str) -> FailedError:
    return FailedError(404, NOT_FOUND, text)


def answer_with(app: FastAPI) -> None:
    """Every failure of `app` is answered here."""
    app.add_exception_handler(SisyphusError, _known)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(RequestValidationError, _of_values)
    app.add_exception_handler(Exception, _unknown)


def _known(request: Request, error: Exception) -> Response:
    status, code = 400, INVALID_REQUEST
    if isinstance(error, FailedError):
        status, code = error.status, error.code
    return refusal.say(request.scope, status, code, _sentence(str(error)))


def _of_http(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    text = _HTTP.get(status, "The request cannot be understood.")
    known = allowed(request.app, request.scope) if status == _WRONG_METHOD else ""
    if known:
        text = f"This address is not asked by {one_line(request.method, 20)}, but by {known}."
    reply = refusal.say(request.scope, status, _CODES.get(status, INVALID_REQUEST), text)
    reply.headers.update(getattr(error, "headers", None) or {})
    if status == _WRONG_METHOD:
        reply.headers["allow"] = known
    return reply


def _of_values(request: Request, error: Exception) -> Response:
    found = error.errors() if isinstance(error, RequestValidationError) else []
    names = ", ".join(str(one["loc"][-1]) for one in found if one.get("loc"))
    text = f"What was asked for cannot be understood: {one_line(names, _CHARACTERS)}."
    return refusal.say(request.scope, 400, INVALID_REQUEST, text)


def _unknown(request: Request, error: Exception) -> Response:
    where = _place(error)
    debug.log(f"dashboard: {request.url.path}: {type(error).__name__}: {error} ({where})")
    text = f"A fault of ours: {type(error).__name__}. The debug log has more: {debug.log_path()}"
    return refusal.say(request.scope, 500, "INTERNAL_ERROR", text)


def _place(error: Exception) -> str:
    """The innermost file and line of ours, where there is one."""
    frames = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    ours = [one for one in frames if one[0].startswith(_PACKAGE + os.sep)]
    return ":".join(map(str, (ours or frames or [("", 0)])[-1]))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
