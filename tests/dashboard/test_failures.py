from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from fastapi import FastAPI
from making import debug_log
from starlette.exceptions import HTTPException
from starlette.testclient import TestClient

from sisyphus.dashboard import failures
from sisyphus.errors import SisyphusError
from sisyphus.paths import project_id

if TYPE_CHECKING:
    from pathlib import Path

SAID = "<b>the plan</b> cannot be read: it is gone. Choose another."


@pytest.fixture
def failing() -> TestClient:
    """An application whose every page fails in its own way, named by its path."""
    app = FastAPI()
    errors = {
        "known": SisyphusError(SAID),
        "not-there": failures.not_found("there is no such loop."),
        "state": failures.FailedError(409, failures.INVALID_STATE, "the loop has ended."),
        "http": HTTPException(405, headers={"retry-after": "5"}),
        "fault": ValueError("secret\nof the inside"),
    }

    def fail(name: str) -> None:
        if name == "deep":
            project_id("\ud800")  # fails in the library below us
        raise errors[name]

    def count(n: int) -> int:
        return n

    for prefix in ("", "/api"):
        app.get(prefix + "/count/{n}")(count)
        app.get(prefix + "/{name}")(fail)
    failures.answer_with(app)
    return TestClient(app, raise_server_exceptions=False)


CASES = [
    pytest.param("known", 400, "INVALID_REQUEST", id="what is known to go wrong"),
    pytest.param("not-there", 404, "NOT_FOUND", id="what is not there"),
    pytest.param("state", 409, "INVALID_STATE", id="what cannot be done now"),
    pytest.param("http", 405, "METHOD_NOT_ALLOWED", id="another method"),
    pytest.param("a/b/c", 404, "NOT_FOUND", id="no page"),
    pytest.param("count/many", 400, "INVALID_REQUEST", id="no number"),
    pytest.param("fault", 500, "INTERNAL_ERROR", id="a fault of ours"),
]


@pytest.mark.parametrize(("path", "status", "code"), CASES)
def test_a_program_is_told_by_a_code(
    failing: TestClient, path: str, status: int, code: str
) -> None:
    reply = failing.get(f"/api/{path}")
    assert (reply.status_code, reply.json()["error"]) == (status, code)
    assert set(reply.json()) == {"error", "message"}


@pytest.mark.parametrize(("path", "status", "code"), CASES)
def test_a_person_is_told_by_a_page(failing: TestClient, path: str, status: int, code: str) -> None:
    reply = failing.get(f"/{path}")
    assert reply.status_code == status
    assert reply.headers["content-type"].startswith("text/html")
    assert code not in reply.text


def test_what_is_known_is_said_as_a_sentence_and_escaped(failing: TestClient) -> None:
    assert failing.get("/api/known").json()["message"] == SAID
    page = failing.get("/known").text
    assert "&lt;b&gt;the plan&lt;/b&gt; cannot be read" in page
    assert "There is no such loop." in failing.get("/not-there").text


def test_what_http_adds_stays(failing: TestClient) -> None:
    assert failing.get("/http").headers["retry-after"] == "5"


@pytest.mark.parametrize(
    ("path", "title"),
    [
        pytest.param("known", "Not understood", id="a wrong request"),
        pytest.param("state", "Not now", id="a wrong moment"),
        pytest.param("http", "Not this way", id="a wrong method"),
        pytest.param("not-there", "Nothing here", id="nothing"),
    ],
)
def test_a_page_of_a_failure_says_what_it_is_and_leads_on(
    failing: TestClient, path: str, title: str
) -> None:
    page = failing.get(f"/{path}").text
    assert f"<h1>{title}</h1>" in page
    assert '<a href="/loops">Loops</a>' in page


def test_who_asked_for_a_loop_is_led_to_all_of_them(failing: TestClient) -> None:
    link = '<a class="button" href="/loops?state=all">All loops</a>'
    assert link in failing.get("/loops/x/y").text


def test_another_method_is_answered_by_those_that_are_known(failing: TestClient) -> None:
    said = failing.post("/api/count/5").json()["message"]
    assert said == "This address is not asked by POST, but by GET, HEAD."


def test_values_are_named_that_cannot_be_understood(failing: TestClient) -> None:
    assert failing.get("/api/count/many").json()["message"].endswith("understood: n.")


def test_a_fault_is_in_the_debug_log_and_not_on_the_page(failing: TestClient, home: Path) -> None:
    assert "secret" not in failing.get("/fault").text
    said = r"dashboard: /fault: ValueError: secret of the inside \(.*test_failures\.py:[0-9]+\)"
    assert re.search(said, debug_log(home))


def test_a_fault_is_told_by_the_last_line_of_ours(failing: TestClient, home: Path) -> None:
    assert failing.get("/deep").status_code == 500
    assert re.search(r"UnicodeEncodeError: .*sisyphus.paths\.py:[0-9]+\)", debug_log(home))
