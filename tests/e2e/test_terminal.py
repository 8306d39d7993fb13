"""What only the interactive client shows: its status line, short command names, /clear by keys."""

from __future__ import annotations

import pytest

from e2e.desk import Desk
from e2e.script import read, say, use
from e2e.terminal import notes, terminal

PLAN = "# Shop\n\n- [x] one\n- [ ] two\n"
TYPED = '/ralph-loop "do it" --completion-promise "DONE"'
BLOCK = "[RALPH LOOP ENFORCEMENT]"
NOT_YET = say("Not yet.")
PROMISE = say("<promise>DONE</promise>")


@pytest.fixture
def installed(desk: Desk) -> Desk:
    """A desk without the plugin, after `sisyphus install`."""
    desk.plugins.clear()
    desk.sisyphus("install", "--yes")
    return desk


def messages(desk: Desk) -> str:
    """What hooks told the user (`systemMessage`)."""
    return "\n".join(
        note["content"] for note in notes(desk.home) if note["type"] == "hook_system_message"
    )


def test_the_status_line_shows_plan_loop_and_context(installed: Desk) -> None:
    installed.write("PLAN.md", PLAN)
    installed.write("one.py", "1")
    turns = [use(read("one.py"), tokens=430_000), say("<blocked>a key</blocked>", tokens=430_000)]

    with terminal(installed, turns=turns) as client:
        client.enter(TYPED)
        for part in ("Shop 1/2 50%", "| loop 1/100", "blocked | ctx 43%"):
            client.until_drawn(part)


def test_a_loop_starts_by_its_short_name_and_ends_with_its_promise(installed: Desk) -> None:
    with terminal(installed, turns=[NOT_YET, PROMISE]) as client:
        client.enter(TYPED)

    assert [BLOCK in request.last for request in client.requests] == [False, True]
    assert "[RALPH LOOP COMPLETE]" in messages(installed)


def test_a_loop_continues_after_a_clear(installed: Desk) -> None:
    turns = [say("<blocked>a key</blocked>"), NOT_YET, PROMISE]

    with terminal(installed, turns=turns) as client:
        client.enter(TYPED)
        client.clear()
        client.enter("here is the key")

    assert [BLOCK in request.last for request in client.requests] == [False, False, True]
    assert "[RALPH LOOP COMPLETE]" in messages(installed)


def test_boulder_status_is_answered_without_the_model(installed: Desk) -> None:
    installed.write("PLAN.md", PLAN)

    with terminal(installed, turns=[]) as client:
        client.enter("/boulder-status")
        client.until_drawn("Progress: 1/2 tasks, 50%")

    assert client.requests == []
