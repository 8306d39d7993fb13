"""What only the terminal of Codex shows: answers without the model, keys, and being woken."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path

import pytest

from e2e.codex import Json
from e2e.codex_terminal import CodexTerminal, codex_terminal
from e2e.desk import CODEX, Desk
from e2e.script import say, shell, use

pytestmark = pytest.mark.parametrize("desk", [CODEX], indirect=True)

PLAN = "# Shop\n\n- [x] one\n- [ ] two\n"
TYPED = '$ralph-loop "do it" --completion-promise "DONE"'
BLOCK = "[RALPH LOOP ENFORCEMENT]"
COMPLETE = "[RALPH LOOP COMPLETE]"
HEADING = "[CONTINUOUS ENFORCEMENT]"
IDLE = "You have been idle for"
BLOCKED = say("<blocked>a key</blocked>")
NOT_YET = say("Not yet.")
PROMISE = say("<promise>DONE</promise>")
LOOKED = say("I had a look at the parser.")
ASKED = say("Which file do you mean?")


def test_boulder_status_is_answered_without_the_model(desk: Desk) -> None:
    desk.write("PLAN.md", PLAN)

    with codex_terminal(desk, turns=[]) as client:
        client.type("$boulder-status")
        client.press("\r")  # the first Enter takes the name out of a list
        client.until_drawn("Progress: 1/2 tasks, 50%")
        client.until_idle()

    assert client.requests == []


def test_a_loop_starts_by_its_skill_and_ends_with_its_promise(desk: Desk) -> None:
    with codex_terminal(desk, turns=[NOT_YET, PROMISE]) as client:
        client.enter(TYPED)
        client.until_drawn(COMPLETE)

    assert [BLOCK in request.last for request in client.requests] == [False, True]
    assert client.requests[0].last.count("<skill>") == 1


def test_a_loop_continues_after_a_clear(desk: Desk) -> None:
    with codex_terminal(desk, turns=[BLOCKED, NOT_YET, PROMISE]) as client:
        client.enter(TYPED)
        first = client.session
        client.clear()
        client.enter("here is the key")
        client.until_drawn(COMPLETE)
        assert client.session != first

    assert [BLOCK in request.last for request in client.requests] == [False, False, True]
    assert "do it" in client.requests[2].last


def test_escape_lets_a_loop_stop_until_the_next_prompt(desk: Desk) -> None:
    with codex_terminal(
        desk, turns=[use(shell("touch started; sleep 60")), NOT_YET, PROMISE]
    ) as client:
        client.type(TYPED)
        client.until((desk.project / "started").exists, "command")
        client.press("\x1b")
        client.until_idle()
        client.until(lambda: kinds_of_waiting(desk) == ["prompt"], "interruption")
        stays_quiet(client, 2)
        why = desk.sisyphus("why", "--session", client.session)
        assert "you interrupted the turn" in why
        client.enter("go on")
        client.until_drawn(COMPLETE)
        assert kinds_of_waiting(desk) == []

    assert [BLOCK in request.last for request in client.requests] == [False, False, True]


def test_an_idle_session_is_woken_and_the_cooldown_holds(desk: Desk) -> None:
    enforce(desk, idle_seconds=1, cooldown_seconds=600)

    with codex_terminal(desk, turns=[LOOKED, LOOKED]) as client:
        client.enter("work")
        client.until(lambda: len(client.requests) == 2, "wake")
        client.until(lambda: client.ends == 2, "end of the turn")
        time.sleep(2.5)  # the client takes up to ten seconds for what is queued: see what was
        assert state(desk)["iteration"] == 1

    assert HEADING in client.requests[1].last
    assert IDLE in client.requests[1].last


def test_escape_wakes_nobody(desk: Desk) -> None:
    enforce(desk, idle_seconds=1, cooldown_seconds=0)

    with codex_terminal(desk, turns=[use(shell("touch started; sleep 60"))]) as client:
        client.type("work")
        client.until((desk.project / "started").exists, "command")
        client.press("\x1b")
        client.until_idle()
        time.sleep(2.5)

    assert state(desk)["iteration"] == 0


def test_nobody_is_woken_whose_terminal_is_closed(desk: Desk) -> None:
    """The client would take up what is queued when the session is resumed."""
    enforce(desk, idle_seconds=2, cooldown_seconds=0)

    with codex_terminal(desk, turns=[LOOKED]) as client:
        client.enter("work")
    time.sleep(2.5)

    assert state(desk)["iteration"] == 0
    (row,) = json.loads(desk.sisyphus("sessions", "--json"))["sessions"]
    assert row["state"] == "ended"


def test_nobody_is_woken_whom_the_terminal_does_not_show(desk: Desk) -> None:
    leave_session(desk, has_server=False)


def leave_session(desk: Desk, *, has_server: bool) -> None:
    """Fails if somebody waits on beside a session when its user has gone on in another one. The
    client ends it only a minute later."""
    enforce(desk, idle_seconds=500, cooldown_seconds=0)

    with codex_terminal(desk, turns=[LOOKED, ASKED], has_server=has_server) as client:
        client.enter("work")
        first = client.session
        client.until(lambda: has_waiter(desk), "waiter beside the first session")
        client.clear()
        client.enter("work")
        assert client.session != first
        client.until(lambda: not has_waiter(desk), "end of the waiter")
        assert "session ended" not in desk.sisyphus("why", "--session", first)

    assert state(desk)["iteration"] == 0


def has_waiter(desk: Desk) -> bool:
    """Tells whether a process waits beside an idle session."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            variables = (folder / "environ").read_bytes().split(b"\0")
            if b"idle" in words and f"HOME={desk.home}".encode() in variables:
                return True
    return False


def state(desk: Desk) -> Json:
    """What is exported of enforcement."""
    (file,) = (desk.home / ".claude" / ".sisyphus" / "projects").glob("*/enforce.json")
    content: Json = json.loads(file.read_text(encoding="utf-8"))
    return content


def kinds_of_waiting(desk: Desk) -> list[str]:
    """What waits for the user."""
    return [each["kind"] for each in json.loads(desk.sisyphus("status", "--json"))["waiting"]]


def enforce(desk: Desk, **settings: int) -> None:
    lines = [f"{name} = {value}" for name, value in settings.items()]
    text = "\n".join(["[enforce]", *lines, ""])
    desk.write("../home/.claude/.sisyphus/config.toml", text)
    desk.sisyphus("enforce", "on")


def stays_quiet(client: CodexTerminal, seconds: float) -> None:
    """Fails if the client asks the model again by itself."""
    before = len(client.requests)
    time.sleep(seconds)
    assert len(client.requests) == before
