"""Continuous enforcement in the real client: at its Stops, and beside a session that is idle."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from e2e.claude_code import Json
from e2e.desk import Desk
from e2e.scenario import Scenario, Step, play, rows
from e2e.script import read, say, use
from e2e.terminal import Terminal, notes, terminal

HEADING = "[CONTINUOUS ENFORCEMENT]"
DONE = say("All tests pass. The parser is done.")
LOOKED = say("I had a look at the parser.")
IDLE = "You have been idle for"
CONFIG = "../home/.claude/.sisyphus/config.toml"
QUIET_SECONDS = 5.0
"""Several times the idle time below."""


@pytest.fixture(autouse=True)
def enforced(desk: Desk) -> None:
    desk.write("one.py", "1")
    desk.sisyphus("enforce", "on")


def configure(desk: Desk, **settings: int) -> None:
    lines = [f"{name} = {value}" for name, value in settings.items()]
    desk.write(CONFIG, "\n".join(["[enforce]", *lines, ""]))


def state(desk: Desk) -> Json:
    """What is exported for other programs."""
    (file,) = (desk.home / ".claude" / ".sisyphus" / "projects").glob("*/enforce.json")
    content: Json = json.loads(file.read_text())
    return content


def messages(desk: Desk) -> str:
    """What hooks told the user."""
    return "\n".join(
        note["content"] for note in notes(desk.home) if note["type"] == "hook_system_message"
    )


def stays_quiet(client: Terminal) -> None:
    """Fails if the client asks the model again by itself."""
    before = len(client.requests)
    time.sleep(QUIET_SECONDS)
    assert len(client.requests) == before


# ---------------------------------------------------------------- completion words


@rows(
    Scenario("completion words make it go on, and the cooldown holds",  {},
             [Step(["work"], [DONE, use(read("one.py")), DONE])],
             last={HEADING: [0, 2, 0],
                   'You say: "All tests pass. The parser is done."': [0, 2, 0]},
             user=["Enforcement is on here", "Enforcement 1 of 50: the agent says"]),
    Scenario("work indicators do not", {},
             [Step(["work"], [say("Let me complete the function.")])],
             silent=[HEADING]),
    Scenario("nor does a question", {},
             [Step(["work"], [say("The parser is done. Shall I push it?")])],
             silent=[HEADING]),
    Scenario("without a cooldown, until it fails five times",
             {CONFIG: "[enforce]\ncooldown_seconds = 0\n"},
             [Step(["work"], [DONE] * 6)],
             last={HEADING: [0, 2, 2, 2, 2, 2]}),
    Scenario("a typed stop lasts until the next prompt", {},
             [Step(["/sisyphus:enforce stop", "work"], [DONE, DONE])],
             last={HEADING: [0, 2]}),
    Scenario("a typed off ends it", {},
             [Step(["/sisyphus:enforce off", "work"], [DONE])],
             silent=[HEADING]),
)  # fmt: skip
def test_in_print_mode(desk: Desk, scenario: Scenario) -> None:
    """Nobody waits there beside an idle session: that would take 500 seconds."""
    settings = scenario.files.get(CONFIG, "[enforce]\n") + "idle_seconds = 500\n"
    started = time.monotonic()
    play(desk, replace(scenario, files={**scenario.files, CONFIG: settings}))
    assert time.monotonic() - started < 400


# ---------------------------------------------------------------- idle time


def test_an_idle_session_is_woken_and_the_cooldown_holds(desk: Desk) -> None:
    configure(desk, idle_seconds=1, cooldown_seconds=600)

    with terminal(desk, turns=[LOOKED, use(read("one.py")), LOOKED]) as client:
        client.enter("work")
        client.until(lambda: len(client.requests) == 3, "wake")
        stays_quiet(client)

    assert HEADING in client.requests[1].last
    assert IDLE in client.requests[1].last
    assert "1. Verify: run the tests" in client.requests[1].last
    assert "Enforcement 1 of 50: the agent was idle, and is woken." in messages(desk)
    assert (state(desk)["iteration"], state(desk)["failureCount"]) == (1, 0)


def test_it_is_woken_again_until_it_fails_too_often(desk: Desk) -> None:
    configure(desk, idle_seconds=1, cooldown_seconds=0, max_failures=2)

    with terminal(desk, turns=[LOOKED] * 3) as client:
        client.enter("work")
        client.until(lambda: len(client.requests) == 3, "second wake")
        stays_quiet(client)

    assert state(desk)["status"] == "RECOVERING"


def test_a_message_of_the_user_starts_the_idle_time_again(desk: Desk) -> None:
    configure(desk, idle_seconds=4, cooldown_seconds=600)

    with terminal(desk, turns=[LOOKED, LOOKED, LOOKED]) as client:
        client.enter("work")
        time.sleep(2)
        client.enter("and now?")
        asked = time.monotonic()
        client.until(lambda: len(client.requests) == 3, "wake")
        assert time.monotonic() - asked > 3

    assert [IDLE in request.last for request in client.requests] == [False, False, True]


def test_nobody_is_woken_where_it_is_off(desk: Desk) -> None:
    configure(desk, idle_seconds=1)
    desk.sisyphus("enforce", "off")

    with terminal(desk, turns=[DONE]) as client:
        client.enter("work")
        stays_quiet(client)


def test_a_typed_stop_is_lifted_by_the_next_prompt(desk: Desk) -> None:
    configure(desk, idle_seconds=1, cooldown_seconds=600)

    with terminal(desk, turns=[LOOKED, LOOKED]) as client:
        client.enter("/sisyphus:enforce stop")
        client.until_drawn("is left alone until your next prompt there.")
        stays_quiet(client)
        client.enter("work")
        client.until(lambda: len(client.requests) == 2, "wake")

    assert IDLE in client.requests[1].last
