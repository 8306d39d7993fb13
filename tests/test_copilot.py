"""Copilot CLI: its payloads, and what it loads by itself."""

from __future__ import annotations

import pytest
from world import Json, World


def payload(world: World, event: str, **fields: object) -> Json:
    raw = {"hook_event_name": event, "session_id": "c1", "timestamp": "2026-01-02T03:04:05.678Z"}
    return {**raw, "cwd": str(world.project), **fields}


@pytest.mark.parametrize(("choice", "is_sent"), [("auto", False), ("always", True)])
def test_an_editor_gets_the_agents_md_below_if_you_say_so(
    world: World, choice: str, is_sent: bool
) -> None:
    """The client loads it when its agent views a file, but not over the Agent Client Protocol."""
    world.write("api/AGENTS.md", "MARK\n")
    file = world.write("api/cart.py")
    world.write(".claude/sisyphus.toml", f'[context]\nagents_md = "{choice}"\n')
    raw = payload(world, "PostToolUse", tool_name="Read", tool_input={"path": str(file)})

    reply = world.hook("post-tool-use", raw, "--client", "copilot")

    assert ("MARK" in reply.out) is is_sent


@pytest.mark.parametrize("kind", ["permission_prompt", "shell_completed", "agent_idle"])
def test_a_notification_of_any_type_is_no_failure(world: World, kind: str) -> None:
    raw = payload(world, "Notification", notification_type=kind, message="Run make test?")

    reply = world.hook("permission-request", raw, "--client", "copilot", "--strict")

    assert reply.is_silent, reply
