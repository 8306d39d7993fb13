"""Continuous enforcement in the real client: at Stop, and beside a session that rests."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from e2e.script import Tool, Turn, read, say, use
from e2e.terminal import ESCAPE, terminal

if TYPE_CHECKING:
    from e2e.desk import Desk
    from e2e.terminal import Terminal

HEAD = "[CONTINUOUS ENFORCEMENT]"
IDLE = "The session has been idle for "
DONE = say("All tests pass, I am done.")
LOOKED = say("I had a look at the parser.")
SOON = {"idle_seconds": 1, "stability_seconds": 0, "cooldown_seconds": 600}
AT_ONCE = {"cooldown_seconds": 0}
SLOWLY = Turn("Slowly.", meanwhile=lambda: time.sleep(1.5))
SHIFT_TAB = "\x1b[Z"
QUIET_SECONDS = 4.0
"""Several times the idle threshold, and a look or two of who waits."""


def done_again(count: int) -> Turn:
    """No two alike: one that says the same within a second would be the same Stop."""
    return say(f"All tests pass, I am done. ({count})")


def limit(desk: Desk, **settings: int) -> None:
    """In the user's own file, which alone may."""
    lines = [f"{name} = {value}" for name, value in settings.items()]
    file = desk.home / ".claude/.sisyphus/config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(["[enforce]", *lines, ""]))


def enforce(desk: Desk, *words: str) -> str:
    """In another terminal."""
    return desk.sisyphus("enforce", *words, "--project", str(desk.project))


def status(desk: Desk) -> Any:
    return json.loads(enforce(desk, "status", "--json"))


def whats(desk: Desk) -> list[str]:
    rows = json.loads(enforce(desk, "log", "-n", "999", "--json"))
    return [row["what"] for row in rows if row["what"] != "on"]


def stays_quiet(client: Terminal, asked: int) -> None:
    client.until_idle()
    time.sleep(QUIET_SECONDS)
    assert len(client.requests) == asked


# --- layer 1 --------------------------------------------------------------------------------------


def test_who_says_it_is_done_goes_on_and_the_cooldown_holds(desk: Desk) -> None:
    file = desk.write("one.py", "1")
    enforce(desk, "on")

    run = desk.run("work", turns=[DONE, use(read(file)), DONE])

    assert HEAD in run.requests[1].last
    assert 'You said: "All tests pass, I am done."' in run.requests[1].last
    assert "Enforcement 1 of 50: the session was told to go on." in run.told
    assert whats(desk) == ["enforced", "worked", "held back"]
    assert status(desk)["state"]["iteration"] == 1


def test_who_works_on_is_told_again(desk: Desk) -> None:
    file = desk.write("one.py", "1")
    enforce(desk, "on")
    limit(desk, **AT_ONCE)
    turns = [DONE, use(read(file)), DONE, use(read(file)), DONE, use(read(file)), LOOKED]

    run = desk.run("work", turns=turns)

    assert [HEAD in request.last for request in run.requests] == [
        False, True, False, True, False, True, False,
    ]  # fmt: skip
    assert status(desk)["state"] | {"lastActivity": 0, "lastEnforcement": 0} == {
        "iteration": 3,
        "lastActivity": 0,
        "lastEnforcement": 0,
        "failureCount": 0,
        "stopRequested": False,
        "status": "CONTINUOUS",
    }


def test_the_fifth_failure_stops_it(desk: Desk) -> None:
    enforce(desk, "on")
    limit(desk, **AT_ONCE)

    run = desk.run("work", turns=[done_again(n) for n in range(6)])

    assert [HEAD in request.last for request in run.requests] == [False, *[True] * 5]
    assert status(desk)["state"]["failureCount"] == 5
    assert status(desk)["status"] == "RECOVERING"
    assert whats(desk)[-1] == "held back"


def test_the_client_never_overrides_it(desk: Desk) -> None:
    enforce(desk, "on")
    limit(desk, **AT_ONCE, max_failures=0)

    run = desk.run("work", turns=[done_again(n) for n in range(8)])

    assert sum(HEAD in request.last for request in run.requests) == 7


def test_a_question_is_left_to_the_user(desk: Desk) -> None:
    enforce(desk, "on")

    run = desk.run("work", turns=[say("All tests pass, I am done. Shall I commit it?")])

    assert len(run.requests) == 1


def test_in_print_mode_nobody_waits(desk: Desk) -> None:
    enforce(desk, "on")
    limit(desk, idle_seconds=3_600)

    desk.run("work", turns=[LOOKED])  # within the time limit of a run

    assert not list((desk.home / ".claude/.sisyphus/enforce").glob("*.waiter*"))


def test_switched_off_it_leaves_nothing(desk: Desk) -> None:
    file = desk.write("one.py", "1")

    run = desk.run("work", turns=[use(read(file)), DONE])

    assert HEAD not in run.requests[-1].text
    ours = desk.home / ".claude/.sisyphus"
    assert not (ours / "enforce").exists()
    assert not list(ours.rglob("enforce*.json*"))


# --- layer 2 --------------------------------------------------------------------------------------


def test_a_session_that_rests_is_woken_once(desk: Desk) -> None:
    enforce(desk, "on")
    limit(desk, **SOON)

    with terminal(desk, turns=[LOOKED, LOOKED]) as client:
        client.enter("look at it")
        client.until_asked(2)
        stays_quiet(client, 2)

    assert HEAD in client.requests[1].last
    assert IDLE in client.requests[1].last
    assert whats(desk) == ["held back", "enforced", "failed", "held back"]


def test_who_works_on_is_woken_again(desk: Desk) -> None:
    file = desk.write("one.py", "1")
    enforce(desk, "on")
    limit(desk, **(SOON | {"cooldown_seconds": 2}))

    with terminal(desk, turns=[LOOKED, use(read(file)), LOOKED, LOOKED]) as client:
        client.enter("look at it")
        client.until_asked(4)
        enforce(desk, "off")
        client.until_idle()

    assert [IDLE in request.last for request in client.requests] == [False, True, False, True]


def test_nobody_outlives_the_client(desk: Desk) -> None:
    enforce(desk, "on")
    limit(desk, **(SOON | {"idle_seconds": 3_600}))
    token = desk.home / ".claude/.sisyphus/enforce"

    with terminal(desk, turns=[LOOKED]) as client:
        client.enter("look at it")
        client.until(lambda: list(token.glob("*.waiter")), "waiting hook")
        [waiting] = [int(path.read_text().partition("-")[0]) for path in token.glob("*.waiter")]
        client.until_idle()
        client.process.kill()
        client.process.wait()

    end = time.monotonic() + 60
    while _is_there(waiting):
        assert time.monotonic() < end
        time.sleep(0.1)


def _is_there(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"sisyphus" in file.read()
    except OSError:
        return False


def test_the_users_message_begins_the_rest_anew(desk: Desk) -> None:
    enforce(desk, "on")
    limit(desk, **(SOON | {"idle_seconds": 6}))

    with terminal(desk, turns=[LOOKED, LOOKED, LOOKED]) as client:
        client.enter("look at it")
        client.until_asked(1)
        client.until_idle()
        client.enter("and at this")
        client.until_asked(2)
        client.until_idle()
        client.until_asked(3)
        client.until_idle()

    assert [IDLE in request.last for request in client.requests] == [False, False, True]


def test_who_presses_escape_is_left_alone(desk: Desk) -> None:
    enforce(desk, "on")
    limit(desk, **(SOON | {"idle_seconds": 3}))
    sleeps = desk.project / "sleeps"
    at_work = use(Tool("Bash", {"command": f"touch {sleeps}; sleep 60"}))

    with terminal(desk, turns=[LOOKED, at_work]) as client:
        client.enter("look at it")
        client.until_asked(1)
        client.until_idle()
        client.enter("and at this")
        client.until(sleeps.exists, "command")
        client.press(ESCAPE)
        stays_quiet(client, 2)

    assert whats(desk) == ["held back"]


def test_the_turn_of_a_waking_is_the_users_to_end(desk: Desk) -> None:
    """Escape in the turn that enforcement began: the session stays quiet."""
    enforce(desk, "on")
    limit(desk, **(SOON | {"cooldown_seconds": 0}))

    with terminal(desk, turns=[LOOKED, SLOWLY]) as client:
        client.enter("look at it")
        client.until_asked(2)
        client.press(ESCAPE)
        stays_quiet(client, 2)


def test_who_turns_to_plan_mode_is_left_alone(desk: Desk) -> None:
    enforce(desk, "on")
    limit(desk, **(SOON | {"idle_seconds": 6}))

    with terminal(desk, turns=[LOOKED]) as client:
        client.enter("look at it")
        client.until_asked(1)
        client.until_idle()
        client.press(SHIFT_TAB)  # from accepted edits
        told = "not woken: the session is in plan mode"
        client.until(lambda: told in desk.sisyphus("why", "--all", "-n", "99"), "answer")
        stays_quiet(client, 1)


def test_the_user_stops_it_until_he_speaks(desk: Desk) -> None:
    enforce(desk, "on")
    limit(desk, **(SOON | {"idle_seconds": 5}))

    with terminal(desk, turns=[LOOKED, DONE, LOOKED]) as client:
        client.enter("look at it")
        client.until_asked(1)
        client.until_idle()
        client.enter("/sisyphus:enforce stop")
        client.until(lambda: status(desk)["status"] == "STOPPED", "stop")
        time.sleep(5 + QUIET_SECONDS)
        assert len(client.requests) == 1
        client.enter("go on")
        client.until_asked(3)
        client.until_idle()

    assert HEAD in client.requests[2].last
    assert [what for what in whats(desk) if what in ("stopped", "lifted")] == ["stopped", "lifted"]


def test_its_command_asks_no_model(desk: Desk) -> None:
    with terminal(desk, turns=[LOOKED]) as client:
        client.enter("/sisyphus:enforce on")
        client.until(lambda: status(desk)["on"], "switch")
        client.enter("/sisyphus:enforce off")
        client.until(lambda: not status(desk)["on"], "switch")
        client.enter("look at it")
        client.until_asked(1)
        client.until_idle()
