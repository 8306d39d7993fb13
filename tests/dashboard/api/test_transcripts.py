from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dashboard.api import stand
from sisyphus.paths import our_home
from sisyphus.ralph import iterations

if TYPE_CHECKING:
    from starlette.testclient import TestClient

HERE = "/api/transcript/aaaaa"


def test_nothing_was_said_yet(program: TestClient) -> None:
    stand.active()
    found = program.get(HERE).json()
    assert (found["hasIterations"], found["hasFullTranscript"]) == (False, False)
    rows = program.get(f"{HERE}/iterations").json()
    assert (rows["iterations"], rows["total"], rows["next_from"]) == ([], 0, None)
    full = program.get(f"{HERE}/full")
    assert (full.status_code, full.json()["error"]) == (404, "NOT_FOUND")


def test_which_transcripts_there_are(program: TestClient) -> None:
    stand.speaks(stand.active(), "one", "two!")
    found = program.get(HERE).json()
    assert (found["hasIterations"], found["hasFullTranscript"]) == (True, True)
    assert (found["iterations"], found["iterations_bytes"]) == (2, len("one\ntwo!\n"))
    assert found["full_characters"] == len(iterations.full_text(our_home(), "aaaaa"))


def test_iterations_come_with_their_texts(program: TestClient) -> None:
    stand.speaks(stand.active(), "one", "two")
    first, second = program.get(f"{HERE}/iterations").json()["iterations"]
    assert (first["iteration"], first["output"]) == (1, "one\n")
    assert (second["iteration"], second["output"]) == (2, "two\n")
    assert (first["timestamp"], first["seconds"]) == ("2026-11-20T15:01:00.000Z", 60)
    assert (first["why"], first["tools"], first["edits"]) == ("the promise was not made", 3, None)


@pytest.mark.parametrize(
    ("query", "numbers", "after"),
    [
        pytest.param("", [1, 2, 3], None, id="all"),
        pytest.param("count=2", [1, 2], 3, id="the first ones"),
        pytest.param("from=3&count=2", [3], None, id="the rest"),
        pytest.param("from=2&count=1", [2], 3, id="one"),
        pytest.param("from=9", [], None, id="behind the last one"),
    ],
)
def test_iterations_come_in_pages(
    program: TestClient, query: str, numbers: list[int], after: int | None
) -> None:
    stand.speaks(stand.active(), "one", "two", "three")
    found = program.get(f"{HERE}/iterations?{query}").json()
    assert [row["iteration"] for row in found["iterations"]] == numbers
    assert (found["next_from"], found["total"]) == (after, 3)


def test_the_whole_text_is_that_of_its_pages(program: TestClient) -> None:
    stand.speaks(stand.active(), "one ä", "two\n\nthree")
    whole = iterations.full_text(our_home(), "aaaaa")
    offset, parts = 0, []
    while offset is not None:
        page = program.get(f"{HERE}/full?offset={offset}&limit=7").json()
        assert (page["offset"], page["total"]) == (offset, len(whole))
        parts.append(page["text"])
        offset = page["next_offset"]
    assert "".join(parts) == whole


@pytest.mark.parametrize(
    ("query", "accept", "is_text"),
    [
        pytest.param("", "*/*", False, id="by itself"),
        pytest.param("", "text/plain", True, id="asked for by a header"),
        pytest.param("?format=text", "*/*", True, id="asked for by the query"),
        pytest.param("?format=json", "text/plain", False, id="the query counts"),
        pytest.param("", "application/json, text/plain", False, id="JSON first"),
    ],
)
def test_plain_text_is_given_to_whoever_asks_for_it(
    program: TestClient, query: str, accept: str, is_text: bool
) -> None:
    stand.speaks(stand.active(), "<script>one</script>")
    reply = program.get(f"{HERE}/full{query}", headers={"accept": accept})
    kind = reply.headers["content-type"]
    assert kind == ("text/plain; charset=utf-8" if is_text else "application/json")
    assert "<script>one</script>" in (reply.text if is_text else reply.json()["text"])
    assert reply.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("rest", ["", "/iterations", "/full"])
@pytest.mark.parametrize(("named", "code"), [("zzzzz", "NOT_FOUND"), ("a%20b", "INVALID_LOOP_ID")])
def test_no_such_loop(program: TestClient, named: str, code: str, rest: str) -> None:
    assert program.get(f"/api/transcript/{named}{rest}").json()["error"] == code


@pytest.mark.parametrize(
    "query",
    ["iterations?count=0", "iterations?count=101", "iterations?from=-1", "full?limit=0",
     "full?offset=-1", "full?limit=99999999999", "full?format=html"],
)  # fmt: skip
def test_what_is_out_of_bounds_is_refused(program: TestClient, query: str) -> None:
    stand.active()
    reply = program.get(f"{HERE}/{query}")
    assert (reply.status_code, reply.json()["error"]) == (400, "INVALID_REQUEST")
