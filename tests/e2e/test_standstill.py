"""The terminal of Claude Code when its agent schedules a prompt, plans or waits: it does not speak
for its user, and no loop stands still unheard."""

from __future__ import annotations

import json

import pytest

from e2e.desk import WITH_SHELL, Desk
from e2e.script import Turn, enter_plan_mode, say, schedule, shell, use
from e2e.terminal import notes, terminal

TYPED = '/sisyphus:ralph-loop "do it" --completion-promise "DONE"'
CHECKED = "/sisyphus:ralph-loop work --completion-promise DONE --verify 'touch PWNED'"
BLOCKED = say("<blocked>a key</blocked>")
PROMISE = say("<promise>DONE</promise>")


def messages(desk: Desk) -> str:
    """What hooks told the user (`systemMessage`)."""
    return "\n".join(
        note["content"] for note in notes(desk.home) if note["type"] == "hook_system_message"
    )


def loops(desk: Desk) -> list[dict[str, object]]:
    listed: list[dict[str, object]] = json.loads(desk.sisyphus("ralph", "list", "--json"))
    return listed


def test_a_loop_that_the_agent_schedules_has_no_check(desk: Desk) -> None:
    turns = [use(schedule(CHECKED)), say("I wait."), PROMISE]

    with terminal(desk, turns=turns) as client:
        client.enter("look later")
        client.until(lambda: len(client.requests) == len(turns), "scheduled prompt")
        client.until_idle()
        assert loops(desk) == []

    assert "The agent has scheduled this prompt: /sisyphus:ralph-loop work" in messages(desk)
    assert not (desk.project / "PWNED").exists()


@pytest.mark.parametrize("words", ["/sisyphus:cancel-ralph", "/sisyphus:ralph pause"])
def test_what_the_agent_schedules_ends_no_loop_of_its_user(desk: Desk, words: str) -> None:
    turns = [use(schedule(words)), say("I wait."), say("I go on."), BLOCKED]

    with terminal(desk, turns=turns) as client:
        client.enter(TYPED)
        client.until(lambda: len(client.requests) == len(turns), "scheduled prompt")
        client.until_idle()
        (loop,) = loops(desk)
        assert (loop["status"], loop["paused_by"]) == ("paused", "blocked")

    assert f"The agent has scheduled this prompt: {words}" in messages(desk)


def test_a_loop_in_plan_mode_is_told(desk: Desk) -> None:
    with terminal(desk, turns=[use(enter_plan_mode()), say("I plan.")]) as client:
        client.enter(TYPED)
        client.until_drawn("stands still: the agent is in plan mode")
        (waiting,) = json.loads(desk.sisyphus("status", "--json"))["waiting"]
        assert waiting["kind"] == "standstill"


def test_a_loop_goes_on_though_its_background_work_does_not_end(desk: Desk) -> None:
    desk.write("../home/.claude/.sisyphus/config.toml", "[ralph]\nbackground_wait = 3\n")
    endless = use(shell("sleep 300", background=True))
    turns: list[Turn] = [endless, say("I wait."), say("I go on."), PROMISE]

    with terminal(desk, turns=turns, flags=WITH_SHELL) as client:
        client.type(TYPED)
        client.until(lambda: len(client.requests) == len(turns), "waking")
        client.until(lambda: "[RALPH LOOP COMPLETE]" in messages(desk), "end of the loop")

    assert "for background work" in client.requests[2].last
    assert "and it has not ended" in client.requests[2].last
    assert "[RALPH LOOP COMPLETE]" in messages(desk)
