from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from boulder.scene import PLAN, Scene
from ralph.past.log import AT, a_loop, lives, ran, starts

from dashboard.contexts import Sessions
from sisyphus.paths import our_home
from sisyphus.ralph import iterations
from sisyphus.ralph import loop as lp
from sisyphus.ralph.checklists import checklist_store, criteria
from sisyphus.state.files import write_text
from sisyphus.text import fingerprint
from sisyphus.times import epoch, iso, local

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.testclient import TestClient

HOSTILE = '</pre><script>alert(1)</script>"'


def _note(number: int, text: str = "I looked.", **more: object) -> None:
    row = {"iteration": number, "started_at": AT, "ended_at": iso(1_795_000_000 + 60 * number),
           "decision": "blocked", "why": "not yet", "tokens": 900, **more}  # fmt: skip
    iterations.note(our_home(), "aaaaa", row, text)


def test_a_loop_is_shown_with_what_may_be_done(browser: TestClient) -> None:
    lives(starts(a_loop()))
    _note(1)
    text = browser.get("/loops/aaaaa").text
    for part in ("make the tests pass", "Iteration 1", "not yet", "/loops/aaaaa/cancel",
                 "/loops/aaaaa/pause", 'data-topics="loops transcripts history"',
                 "/loops/aaaaa/transcript?iteration=1"):  # fmt: skip
        assert part in text
    assert "/loops/aaaaa/delete" not in text


def test_a_curve_is_drawn_where_there_is_something_to_see(browser: TestClient) -> None:
    ran(a_loop())
    _note(1, context=20.5)
    _note(2, context=30)
    assert "<svg" not in browser.get("/loops/aaaaa").text
    _note(3, context=40)
    text = browser.get("/loops/aaaaa").text
    assert "Context at the end of each iteration" in text
    assert ">1</text>" in text
    assert "<title>iteration 2: 30 %</title>" in text
    assert "Tokens of each iteration" in text


def test_a_curve_is_of_the_latest_iterations(browser: TestClient) -> None:
    ran(a_loop())
    for number in range(1, 502):
        _note(number, "", context=90 if number == 501 else 10)
    said = browser.get("/loops/aaaaa").text
    drawn = "Context at the end of each iteration: 500 values from 10 % to 90 %, the last one 90 %"
    assert drawn in said


def test_the_buttons_follow_the_state(browser: TestClient) -> None:
    lives(starts(a_loop()))
    text = browser.get("/loops/aaaaa").text
    buttons = text.partition('<p class="buttons" id="actions" data-topics="')[2].partition("</p>")[
        0
    ]
    assert "/loops/aaaaa/pause" in buttons


def test_an_iteration_leads_to_its_text_where_it_has_one(browser: TestClient) -> None:
    ran(a_loop())
    _note(1)
    _note(2, "")
    text = browser.get("/loops/aaaaa").text
    assert "/transcript?iteration=1" in text
    assert "/transcript?iteration=2" not in text


def test_many_iterations_are_shown_page_by_page_the_latest_first(browser: TestClient) -> None:
    ran(a_loop())
    for number in range(1, 52):
        _note(number, "")
    first, second = (browser.get(f"/loops/aaaaa?page={n}").text for n in (1, 2))
    assert "Iteration 51<" in first
    assert "Iteration 1<" not in first
    assert "Iteration 1<" in second


def test_what_its_check_printed_stands_above_the_iterations(browser: TestClient) -> None:
    ran(a_loop())
    _note(1)
    write_text(iterations.verify_path(our_home(), "aaaaa"), "1 failed")
    text = browser.get("/loops/aaaaa").text
    assert text.index("1 failed") < text.index("Iteration 1<")


def test_a_loop_that_is_paused_says_since_when(browser: TestClient) -> None:
    loop = a_loop()
    loop.pause(lp.BY_BREAKER, epoch(AT) + 30)
    lives(starts(loop))
    text = browser.get("/loops/aaaaa").text
    assert f"at work; paused since {local(epoch(AT) + 30, '%Y-%m-%d %H:%M')}" in text
    assert "<strong>30 s</strong>" in text


def test_a_paused_loop_whose_client_lives_asks_for_a_prompt_and_for_no_second_client(
    browser: TestClient,
) -> None:
    loop = a_loop()
    loop.pause(lp.BY_USER, epoch(AT))
    lives(starts(loop))
    text = browser.get("/loops/aaaaa").text
    assert "it needs a prompt in its session, which is open" in text
    assert "Go on with its session" not in text


def test_a_loop_that_the_limit_holds_is_not_said_to_work(browser: TestClient) -> None:
    loop = a_loop()
    loop.waiting = {"for": "usage limit", "since": int(epoch(AT)) + 30, "until": 0}
    lives(starts(loop))
    text = browser.get("/loops/aaaaa").text
    assert "at work; held by the limit" in text
    assert "<strong>30 s</strong>" in text


def test_a_loop_leads_to_its_plan_and_to_what_was_handed_over(
    home: Path, project: Path, browser: TestClient
) -> None:
    scene, made = Scene(home, project), Sessions(home, project)
    path = scene.write(PLAN)
    scene.start()
    made.hand_over(loop_id="aaaaa", next_step="Write the tests")
    made.hand_over(loop_id="bbbbb", next_step="Another loop's")
    loop = a_loop()
    loop.project, loop.options = str(project), {"verify_plan": True}
    lives(starts(loop))
    text = browser.get("/loops/aaaaa").text
    assert f'href="/boulders/{fingerprint(str(path))}"' in text
    assert "Write the tests</a>" in text
    assert "Another loop" not in text


@pytest.mark.parametrize("place", ["", "/transcript", "/transcript?q=script", "/cancel"])
def test_texts_of_strangers_do_nothing(browser: TestClient, place: str) -> None:
    loop = a_loop()
    loop.prompt = loop.completion_promise = HOSTILE
    loop.options = {"verify": HOSTILE}
    lives(starts(loop))
    head = {"loop_id": "aaaaa", "session_id": "s1", "project": HOSTILE}
    checklist_store.update(our_home(), head, AT, lambda f: criteria.added(f, [HOSTILE], AT))
    _note(1, HOSTILE, decision=HOSTILE, why=HOSTILE)
    write_text(iterations.verify_path(our_home(), "aaaaa"), HOSTILE)
    reply = browser.get(f"/loops/aaaaa{place}")
    assert reply.status_code == 200
    assert "<script>alert" not in reply.text
    assert "alert(1)" in reply.text or "script" in place


def test_a_search_marks_its_hits(browser: TestClient) -> None:
    ran(a_loop())
    _note(1, "one cart\ntwo Carts <b>")
    text = browser.get("/loops/aaaaa/transcript?iteration=1&q=cart").text
    assert '<mark id="hit-2">Cart</mark>s &lt;b&gt;' in text
    assert 'href="/loops/aaaaa/transcript?iteration=1&amp;q=cart#hit-1"' in text


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        pytest.param("", 200, "=== iteration 1", id="all iterations"),
        pytest.param("?iteration=2", 200, "second", id="one"),
        pytest.param("?iteration=9", 200, "Nothing was kept", id="one without a text"),
        pytest.param("?q=nowhere", 200, "Nothing like this", id="no hit"),
        pytest.param("?page=9", 200, "=== iteration 1", id="behind the last page"),
        pytest.param("?page=-9", 200, "=== iteration 1", id="before the first one"),
        pytest.param("?iteration=-1", 200, "Nothing was kept", id="a number below zero"),
        pytest.param("?iteration=x", 400, "iteration", id="no number"),
    ],
)
def test_a_transcript_is_of_one_iteration_or_of_all(
    browser: TestClient, query: str, status: int, said: str
) -> None:
    ran(a_loop())
    _note(1, "first")
    _note(2, "second")
    reply = browser.get(f"/loops/aaaaa/transcript{query}")
    assert (reply.status_code, said in reply.text) == (status, True)


def test_an_export_is_a_file_of_markdown(browser: TestClient) -> None:
    ran(a_loop())
    _note(1, "```\nI looked.\n```")
    reply = browser.get("/loops/aaaaa/export.md")
    assert reply.headers["content-type"] == "text/markdown; charset=utf-8"
    assert reply.headers["content-disposition"] == 'attachment; filename="loop-aaaaa.md"'
    assert "````text\n```\nI looked.\n```\n````" in reply.text


@pytest.mark.parametrize("place", ["", "/transcript", "/export.md", "/cancel"])
@pytest.mark.parametrize(
    ("loop_id", "status"), [("zzzzz", 404), ("a%20b", 400), ("..%5Cx", 400), ("x" * 300, 400)]
)
def test_what_is_no_loop_has_no_page(
    browser: TestClient, loop_id: str, status: int, place: str
) -> None:
    assert browser.get(f"/loops/{loop_id}{place}").status_code == status
