from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from boulder.scene import PLAN, Scene
from enforce.desk import Desk as Enforced

from sisyphus.boulder import actions as plans
from sisyphus.enforce import log
from sisyphus.paths import project_id
from sisyphus.state.files import append_line

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.testclient import TestClient

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.fixture
def world(home: Path, project: Path) -> Enforced:
    """A session "s1" at work in an enforced project, whose plan makes it known."""
    scene = Scene(home, project)
    scene.now = time.time()
    scene.write(PLAN)
    scene.start()
    found = Enforced(home, project)
    found.now = scene.now
    found.on()
    found.says()
    return found


def _page(browser: TestClient, path: str = "/enforcement") -> str:
    reply = browser.get(path)
    assert reply.status_code == 200, reply.text
    return str(reply.text)


def test_where_nothing_was_enforced_it_says_what_to_do(browser: TestClient) -> None:
    page = _page(browser)
    for sentence in (
        "Nothing was enforced yet", "No plan is enforced", "breaker is open",
        "no project ever had it", "there were none", "none came twice",
    ):  # fmt: skip
        assert sentence in page


def test_a_session_tells_its_gates(world: Enforced, browser: TestClient) -> None:
    world.stop()
    page = _page(browser)
    assert '<li class="shut"><span class="sr">closed: </span><strong>cooldown</strong>' in page
    assert '<li class="passed"><span class="sr">open: </span><strong>user</strong>' in page
    assert "not before it stops" in page or "not by itself" in page


def test_the_log_tells_what_was_said(world: Enforced, browser: TestClient) -> None:
    world.stop("All tests pass, I am done.")
    world.now += 1
    world.stop("Shall I go on?")
    page = _page(browser)
    assert "I am done" in page
    assert "held back" in page


def test_plans_that_are_enforced_are_linked(world: Enforced, browser: TestClient) -> None:
    plans.enforce(world.space(), on=True, limits={"max_iterations": 50})
    page = _page(browser)
    assert "Ship it" in page
    assert "50 iterations" in page
    assert 'href="/boulders/' in page


def test_one_project_can_be_chosen(world: Enforced, browser: TestClient) -> None:
    named = project_id(str(world.project))
    assert f'<option value="{named}" selected>' in _page(browser, f"/enforcement?project={named}")


@pytest.mark.parametrize(
    "named",
    [
        pytest.param("nowhere", id="no such project"),
        pytest.param("..%2F..", id="a path"),
        pytest.param("%3Cscript%3Ealert(1)", id="markup"),
    ],
)
def test_an_unknown_project_is_answered_404(
    named: str, world: Enforced, browser: TestClient
) -> None:
    world.stop()
    reply = browser.get(f"/enforcement?project={named}")
    assert reply.status_code == 404
    assert "<script>alert" not in reply.text


def test_a_state_that_cannot_be_read_is_told(world: Enforced, browser: TestClient) -> None:
    world.state_path.write_text("{")
    assert "its state cannot be read" in _page(browser)


def test_whatever_a_session_says_is_text(world: Enforced, browser: TestClient) -> None:
    world.stop(f"The task {HOSTILE} is done.")
    row = {"at": 1, "session_id": HOSTILE, "what": HOSTILE, "why": HOSTILE, "layer": 1}
    append_line(log.log_path(world.space()), row)
    held = {**row, "what": "held back"}
    append_line(log.log_path(world.space()), held)
    page = _page(browser)
    assert page.count("&lt;script&gt;alert(1)") >= 5
    assert "<script>alert" not in page
    assert "<img src=x" not in page


def test_a_stranger_is_told_nothing(world: Enforced, stranger: TestClient) -> None:
    world.stop()
    assert stranger.get("/enforcement").status_code == 401
