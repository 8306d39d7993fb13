from __future__ import annotations

import http.client
import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from sisyphus.doctor.live.model import OVER, Model, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = "/project/note.txt"
TURN: dict[str, Any] = {"tools": [{}], "messages": [], "model": "m"}
AFTER_READING = {**TURN, "messages": [{"content": [{"type": "tool_result"}]}]}


@pytest.fixture
def model() -> Iterator[Model]:
    with serving(FILE) as model:
        yield model


def _ask(model: Model, method: str, path: str, body: object = None) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", model.server_port)
    with closing(connection):
        connection.request(method, path, json.dumps(body) if body is not None else None)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def _converse(model: Model, request: object) -> dict[str, Any]:
    _, text = _ask(model, "POST", "/v1/messages?beta=true", request)
    [block] = json.loads(text)["content"]
    return dict(block)


def test_it_has_one_file_read_and_is_done(model: Model) -> None:
    first, second = _converse(model, TURN), _converse(model, AFTER_READING)

    assert (first["name"], first["input"]) == ("Read", {"file_path": FILE})
    assert second["text"] == OVER
    assert len(model.heard) == 2


def test_what_is_no_turn_is_answered_and_not_counted(model: Model) -> None:
    assert _converse(model, {"messages": []})["text"] == "ok"
    assert _ask(model, "POST", "/v1/messages/count_tokens", {})[0] == 200
    assert _ask(model, "GET", "/v1/models")[0] == 200
    assert (model.heard, model.astray) == ([], [])


def test_a_streamed_answer_holds_the_same(model: Model) -> None:
    _, text = _ask(model, "POST", "/v1/messages", {**TURN, "stream": True})

    events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
    assert [event["type"] for event in events] == [
        "message_start", "content_block_start", "content_block_delta", "content_block_stop",
        "message_delta", "message_stop",
    ]  # fmt: skip
    assert json.loads(events[2]["delta"]["partial_json"]) == {"file_path": FILE}


UNHEARD = [
    pytest.param(b"", {}, id="empty"),
    pytest.param(b"{", {"content-length": "1"}, id="half"),
    pytest.param(b"[]", {"content-length": "2"}, id="no object"),
    pytest.param(b"[" * 100_000, {"content-length": "100000"}, id="very deep"),
    pytest.param(b"{}", {"content-length": "x"}, id="of no length"),
    pytest.param(b"{}", {"content-length": "-1"}, id="of less than none"),
    pytest.param(b"2\r\n{}\r\n0\r\n\r\n", {"transfer-encoding": "chunked"}, id="in pieces"),
]


@pytest.mark.parametrize(("body", "headers"), UNHEARD)
def test_what_it_does_not_understand_is_refused_without_a_word(
    model: Model, capfd: pytest.CaptureFixture[str], body: bytes, headers: dict[str, str]
) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", model.server_port)) as connection:
        connection.putrequest("POST", "/v1/messages")
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        assert connection.getresponse().status == 400

    assert (model.heard, capfd.readouterr()) == ([], ("", ""))


def test_a_client_that_goes_away_is_not_told_of(
    model: Model, capfd: pytest.CaptureFixture[str]
) -> None:
    model.handle_error(None, ("127.0.0.1", 1))

    assert capfd.readouterr() == ("", "")


ASTRAY = [
    pytest.param("GET", "http://example.com/a", id="http"),
    pytest.param("POST", "http://example.com/v1/messages", id="another model"),
    pytest.param("CONNECT", "example.com:443", id="https"),
]


@pytest.mark.parametrize(("method", "path"), ASTRAY)
def test_what_is_meant_for_another_host_is_refused_and_noted(
    model: Model, method: str, path: str
) -> None:
    status, _ = _ask(model, method, path, TURN if method == "POST" else None)

    assert status == 403
    assert model.astray == [path]
    assert model.heard == []
