from __future__ import annotations

import json
import re
import socket
from typing import TYPE_CHECKING

import pytest

from notify.linear_stub import CREATED, Linear, linear_stub
from sisyphus.errors import SisyphusError
from sisyphus.notify.linear import body, comment
from sisyphus.notify.words import message

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = "lin_api_0123456789abcdef"
UUID = "590a1127-f98b-49fc-ba74-2df8751c089e"


@pytest.fixture
def linear() -> Iterator[Linear]:
    with linear_stub() as stub:
        yield stub


def _one_space(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("issue", ["ENG-123", UUID])
def test_a_comment_is_appended_to_an_issue(linear: Linear, issue: str) -> None:
    assert comment(issue, "**Iteration 5** done", KEY, linear.url) == "c-1"
    (asked,) = linear.asked
    query = _one_space(asked["body"].pop("query"))
    assert query == (
        "mutation Comment($input: CommentCreateInput!) "
        "{ commentCreate(input: $input) { success comment { id } } }"
    )
    assert asked == {
        "method": "POST",
        "path": "/graphql",
        "key": KEY,
        "type": "application/json",
        "body": {"variables": {"input": {"issueId": issue, "body": "**Iteration 5** done"}}},
    }


def test_keys_are_masked_in_a_comment() -> None:
    told = body({"event": "failure", "task": "use sk-ant-api03-AbCdEfGhIjKlMnOp now"})
    assert told == "Failed: use [masked] now"


def test_the_comment_begins_with_the_iteration() -> None:
    known = message(
        "checkpoint",
        "/p/shop",
        0.0,
        {"iteration": 5, "level": "L2", "percent": 87, "task": "Migrate", "loop_id": "ab3de"},
    )
    assert body(known) == (
        "**Iteration 5** Checkpoint L2 at 87%: Migrate\n\nProject `/p/shop`, loop `ab3de`"
    )


def test_outside_a_loop_there_is_no_iteration() -> None:
    assert body({"event": "pause", "reason": "no\nprogress"}) == "Paused. Why: no progress"


REFUSED = [
    pytest.param(
        {"errors": [{"message": "x", "extensions": {"userPresentableMessage": "No such issue."}}]},
        "it refused: No such issue. Check that the issue ENG-1 exists",
        id="words for people",
    ),
    pytest.param(
        {"data": None, "errors": [{"message": "one"}, {"message": "two\x1b[2J"}, 3]},
        "it refused: one; two [2J; unknown. Check",
        id="errors",
    ),
    pytest.param(
        {"data": {"commentCreate": {"success": False}}},
        "it refused: it does not say why. Check",
        id="no success",
    ),
    pytest.param({"data": {}}, "it refused: it does not say why. Check", id="nothing"),
    pytest.param([1], "its answer is no JSON (the answer is no JSON object). Check", id="a list"),
    pytest.param(b"<html>", "its answer is no JSON (Expecting value", id="a page"),
]


@pytest.mark.parametrize(("answer", "told"), REFUSED)
def test_a_refusal_says_why(linear: Linear, answer: object, told: str) -> None:
    linear.answers(answer)
    with pytest.raises(SisyphusError, match=re.escape(f"no comment on Linear: {told}")):
        comment("ENG-1", "x", KEY, linear.url)


STATUSES = [
    pytest.param(401, {"errors": []}, "the key was not accepted. Make a personal", id="401"),
    pytest.param(
        400,
        {"errors": [{"message": f"bad key {KEY}", "extensions": {"code": "AUTHENTICATION_ERROR"}}]},
        "HTTP 400: bad key KEY. Try again later.",
        id="400 with the key in it",
    ),
    pytest.param(429, b"slow down", "HTTP 429. Try again later.", id="429"),
    pytest.param(500, {}, "HTTP 500. Try again later.", id="500"),
]


@pytest.mark.parametrize(("status", "answer", "told"), STATUSES)
def test_a_failure_of_http_is_told_without_the_key(
    linear: Linear, status: int, answer: object, told: str
) -> None:
    linear.answers(answer, status)
    with pytest.raises(SisyphusError) as raised:
        comment("ENG-1", "x", KEY, linear.url)
    assert str(raised.value).startswith(f"no comment on Linear: {told}")
    assert KEY not in str(raised.value)


def test_the_key_does_not_follow_a_redirect(linear: Linear) -> None:
    with linear_stub() as elsewhere:
        linear.answers({}, 302, Location=elsewhere.url)
        with pytest.raises(SisyphusError, match="HTTP 302"):
            comment("ENG-1", "x", KEY, linear.url)
        assert elsewhere.asked == []


def test_without_a_network_that_is_said() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}/"
        with pytest.raises(SisyphusError, match=r"no answer: .*refused.* Check the network"):
            comment("ENG-1", "x", KEY, url)


MISSING = [
    pytest.param("ENG-1", "", "", "LINEAR_API_KEY is not set. Make", id="no key"),
    pytest.param("ENG-1", "a\nb", "", "LINEAR_API_KEY is no key. Make", id="a key of two lines"),
    pytest.param("", KEY, "", "no issue is named. Give --issue", id="no issue"),
    pytest.param("ENG-1", KEY, "file:///etc/passwd", "LINEAR_API_URL is neither", id="a file"),
    pytest.param("ENG-1", KEY, "http://[", "LINEAR_API_URL is neither", id="half an address"),
    pytest.param("ENG-1", KEY, "https://x.org/", "LINEAR_API_URL is neither", id="another host"),
    pytest.param(
        "ENG-1", KEY, "http://api.linear.app/graphql", "LINEAR_API_URL is neither", id="in clear"
    ),
    pytest.param(
        "ENG-1", KEY, "https://api.linear.app@x.org/", "LINEAR_API_URL is neither", id="disguised"
    ),
]


@pytest.mark.parametrize(("issue", "key", "url", "told"), MISSING)
def test_what_is_missing_is_said(issue: str, key: str, url: str, told: str) -> None:
    with pytest.raises(SisyphusError) as raised:
        comment(issue, "x", key, url)
    assert str(raised.value).startswith(f"no comment on Linear: {told}")
    assert KEY not in str(raised.value)


def test_a_comment_without_an_id_is_one_all_the_same(linear: Linear) -> None:
    answer = json.loads(json.dumps(CREATED))
    answer["data"]["commentCreate"]["comment"] = None
    linear.answers(answer)
    assert comment("ENG-1", "x", KEY, linear.url) == ""
