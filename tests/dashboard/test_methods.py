from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from sisyphus.dashboard.methods import HeadAsGet

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send


def _sent(method: str, kind: str = "http") -> tuple[str, list[Any]]:
    """The method that an application hears, and what is sent of its answer in parts."""
    heard: list[str] = []
    sent: list[Any] = []

    async def streams(scope: Scope, _: Receive, send: Send) -> None:
        heard.append(scope["method"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for part in (b"a", b"b"):
            await send({"type": "http.response.body", "body": part, "more_body": True})

    async def receive() -> Message:
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message.get("body", message["type"]))

    asyncio.run(HeadAsGet(streams)({"type": kind, "method": method}, receive, send))
    return heard[0], sent


def test_an_answer_to_head_ends_with_its_headers() -> None:
    """A stream of events has no end of its own."""
    assert _sent("HEAD") == ("GET", ["http.response.start", b""])


@pytest.mark.parametrize(
    ("method", "kind"), [("GET", "http"), ("POST", "http"), ("HEAD", "websocket")]
)
def test_everything_else_is_left_alone(method: str, kind: str) -> None:
    assert _sent(method, kind) == (method, ["http.response.start", b"a", b"b"])
