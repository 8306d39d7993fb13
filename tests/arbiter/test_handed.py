"""What a Stop means for handoffs, and what the user's own command is told of it."""

from __future__ import annotations

import json
import shlex
import sys
import time
from typing import TYPE_CHECKING

import pytest
from making import HANG_SECONDS, configure, debug_log, notify_by, put
from ralph import lines

from arbiter.desk import PROMISE
from arbiter.plans import DONE, Enforced
from sisyphus.arbiter import handed
from sisyphus.arbiter.judge import Case
from sisyphus.arbiter.situation import PAUSE, Verdict
from sisyphus.checkpoint import handoffs
from sisyphus.clients import claude_code
from sisyphus.paths import project_root
from sisyphus.ralph.loop import BY_BREAKER
from sisyphus.ralph.store import LoopStore
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from arbiter.desk import Desk
    from sisyphus._types import Checkpoint, Json

KEEP = """
import os, sys
text = sys.stdin.read()
name = os.path.join(sys.argv[1], str(os.getpid()))
with open(name + ".tmp", "w") as file:
    file.write(text)
os.rename(name + ".tmp", name + ".json")
"""


class Told:
    """What the user's command was told, in the order of its files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.command = shlex.join([sys.executable, "-c", KEEP, str(folder)])

    def wait(self, number: int, seconds: float = HANG_SECONDS) -> list[Json]:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = [json.loads(path.read_text()) for path in self._folder.glob("*.json")]
            if len(found) >= number:
                return found
            time.sleep(0.02)
        raise AssertionError(f"{number} messages were waited for")


@pytest.fixture
def told(tmp_path: Path) -> Told:
    folder = tmp_path / "told"
    folder.mkdir()
    found = Told(folder)
    notify_by(found.command)
    return found


def _entries(desk: Desk) -> list[Checkpoint]:
    return handoffs.read(desk.ours, project_root(str(desk.project)))


def _index(desk: Desk, text: str) -> None:
    path = handoffs.path(desk.ours, project_root(str(desk.project)))
    put(desk.home.joinpath(path), text)


@pytest.fixture
def stuck(desk: Desk) -> Desk:
    """Its breaker opens at the second Stop."""
    configure("ralph.no_progress", 2)
    desk.begin()
    return desk


def _get_stuck(desk: Desk) -> str:
    """What the user reads of the Stop that pauses the loop."""
    assert desk.answer("still thinking").reason is not None
    outcome = desk.answer("still thinking")
    assert outcome.reason is None
    assert desk.loop.is_paused
    return "\n\n".join(outcome.messages)


def test_a_loop_that_gets_nowhere_is_handed_over(stuck: Desk) -> None:
    read = _get_stuck(stuck)

    [entry] = _entries(stuck)
    assert (entry["occasion"], entry["loop_id"]) == ("breaker", stuck.loop.loop_id)
    assert f"Handoff: {entry['handoff_file']}" in read
    text = (stuck.project / entry["handoff_file"]).read_text("utf-8")
    assert "2 iterations without progress" in text


def test_switched_off_it_is_not(stuck: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SISYPHUS_CHECKPOINT_ENABLED", "0")
    assert "Handoff: " not in _get_stuck(stuck)
    assert _entries(stuck) == []


def test_it_is_paused_although_it_cannot_be_handed_over(stuck: Desk, home: Path) -> None:
    _index(stuck, '{"version": 2}')
    assert "Handoff: " not in _get_stuck(stuck)
    assert "newer sisyphus" in debug_log(home)


def test_a_pause_ahead_of_the_clients_cap_is_no_handing_over(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "2")
    desk.begin()
    assert "Handoff: " not in _get_stuck(desk)
    assert _entries(desk) == []


def _hand_over(desk: Desk, session: str = "s1") -> None:
    root = project_root(str(desk.project))
    handoffs.add(desk.ours, root, {"active": True, "handoff_file": "a.md", "session_id": session})


def test_a_promise_that_is_kept_closes_the_handoffs_of_its_session(desk: Desk) -> None:
    desk.begin()
    _hand_over(desk)
    _hand_over(desk, "s2")
    desk.answer(PROMISE)
    assert [entry["active"] for entry in _entries(desk)] == [False, True]
    assert _entries(desk)[0]["closed"] == handoffs.DONE


def test_a_plan_that_is_complete_closes_them_as_well(desk: Desk) -> None:
    plan = Enforced(desk)
    desk.add(lines.prompt("go on"))
    assert desk.answer("working").reason is not None
    _hand_over(desk)
    _hand_over(desk, "s2")
    plan.write(DONE)
    assert desk.answer("all done").reason is None
    assert [entry["active"] for entry in _entries(desk)] == [False, True]
    assert _entries(desk)[0]["closed"] == handoffs.DONE


def test_a_limit_that_is_reached_leaves_them_open(desk: Desk) -> None:
    desk.begin("--max-iterations 1")
    _hand_over(desk)
    assert desk.answer("not done").reason is None
    assert _entries(desk)[0]["active"]


def test_another_loop_that_follows_leaves_them_open(desk: Desk) -> None:
    desk.begin()
    _hand_over(desk)
    desk.add(lines.said(PROMISE), lines.skill('"part" --completion-promise "OTHER"', call="t7"))
    desk.add(lines.result("Launching skill", "t7"))
    desk.answer("working")
    assert _entries(desk)[0]["active"]


def test_a_loop_that_goes_on_around_it_leaves_them_open(desk: Desk) -> None:
    desk.begin()
    desk.nest()
    _hand_over(desk)
    desk.answer("<promise>INNER</promise>")
    assert _entries(desk)[0]["active"]


def test_a_promise_counts_although_they_cannot_be_closed(desk: Desk, home: Path) -> None:
    desk.begin()
    _index(desk, '{"version": 2, "handoffs": [{"active": true, "session_id": "s1"}]}')
    outcome = desk.answer(PROMISE)
    assert "[RALPH LOOP COMPLETE]" in outcome.messages[0]
    assert "checkpoint: " in debug_log(home)


def test_a_session_without_a_loop_has_nothing_to_hand_over(desk: Desk) -> None:
    payload = claude_code.read("stop", {"session_id": "s1", "cwd": str(desk.project)})
    with LoopStore(desk.ours, "s1") as held:
        case = Case(payload, Workspace(str(desk.project), now=desk.now), held, {})
        assert handed.checkpointed(case) == []
        assert handed.paused(case, Verdict(PAUSE, "stuck", by=BY_BREAKER)) == []


# --- what the user's command is told ------------------------------------------------------------


def test_it_is_told_of_a_pause_and_its_handoff(stuck: Desk, told: Told) -> None:
    _get_stuck(stuck)
    found = {message["event"]: message for message in told.wait(2)}
    assert found.keys() == {"pause", "checkpoint"}
    for message in found.values():
        assert message["loop_id"] == stuck.loop.loop_id
        assert message["session_id"] == "s1"
        assert "2 iterations without progress" in message["reason"]
    assert found["pause"]["task"] == "do it"
    assert found["checkpoint"]["handoff_file"] == _entries(stuck)[0]["handoff_file"]


def test_it_is_told_of_a_promise_that_was_kept(desk: Desk, told: Told) -> None:
    loop_id = desk.begin()
    desk.answer(PROMISE)
    [message] = told.wait(1)
    assert (message["event"], message["loop_id"]) == ("completion", loop_id)
    assert message["reason"] == "promise DONE kept"


def test_it_is_told_of_a_limit_that_was_reached(desk: Desk, told: Told) -> None:
    desk.begin("--max-iterations 1")
    desk.answer("not done")
    [message] = told.wait(1)
    assert (message["event"], message["iteration"]) == ("failure", 1)
    assert "the limit of 1 iterations is reached" in message["reason"]


def test_it_is_told_of_a_pause_ahead_of_the_clients_cap(
    desk: Desk, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "2")
    desk.begin()
    _get_stuck(desk)
    [message] = told.wait(1)
    assert message["event"] == "pause"
    assert "2 Stops in a row" in message["reason"]


def test_it_is_told_of_a_promise_that_was_kept_before_another_loop_began(
    desk: Desk, told: Told
) -> None:
    desk.begin()
    desk.add(lines.said(PROMISE), lines.skill('"part" --completion-promise "OTHER"', call="t7"))
    desk.add(lines.result("Launching skill", "t7"))
    outcome = desk.answer("working")
    assert "[RALPH LOOP COMPLETE]" in outcome.messages[0]
    [message] = told.wait(1)
    assert (message["event"], message["reason"]) == ("completion", "promise DONE kept")


def test_it_is_told_of_a_plan_that_was_done(desk: Desk, told: Told) -> None:
    plan = Enforced(desk)
    desk.add(lines.prompt("go on"))
    assert desk.answer("working").reason is not None
    plan.write(DONE)
    assert desk.answer("all done").reason is None
    [message] = told.wait(1)
    assert message["event"] == "completion"
    assert "promise" not in message["reason"]


def test_it_is_told_of_each_promise_of_one_turn(desk: Desk, told: Told) -> None:
    desk.begin()
    desk.nest()
    desk.add(lines.said("<promise>INNER</promise>"))
    desk.answer(PROMISE)
    reasons = sorted(message["reason"] for message in told.wait(2))
    assert reasons == ["promise DONE kept", "promise INNER kept"]
