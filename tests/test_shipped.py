from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from sisyphus.boulder.commands import NAMES
from sisyphus.checkpoint.hooks import COMMANDS as OF_THE_CONTEXT
from sisyphus.clients.claude_code import BATCH, CLIENT_EVENTS
from sisyphus.documents import parse
from sisyphus.hook.routes import ROUTES
from sisyphus.shipped import plugin_folder

COMMANDS = {path.stem: path.read_text() for path in Path(plugin_folder()).glob("commands/*.md")}


def test_the_plugin_has_its_manifest_hooks_and_commands() -> None:
    found = os.listdir(plugin_folder())

    assert {".claude-plugin", "hooks.json", "commands", "README.md"} <= set(found)


@pytest.mark.parametrize("event", ROUTES)
def test_every_event_that_is_answered_is_asked_for(event: str) -> None:
    """All calls of an answer at once, whichever tools those were."""
    entries = json.loads(Path(plugin_folder(), "hooks.json").read_text())["hooks"]
    asked = BATCH if event == "post-tool-use" else CLIENT_EVENTS[event]
    commands = [hook["command"] for entry in entries[asked] for hook in entry["hooks"]]
    assert commands.count(f"sisyphus hook {event}") == 1
    assert not any("matcher" in entry for entry in entries[asked])


@pytest.mark.parametrize("name", OF_THE_CONTEXT)
def test_every_command_of_the_context_is_offered(name: str) -> None:
    assert f"sisyphus {name.replace('-', ' ')}" in COMMANDS[name]


@pytest.mark.parametrize("name", NAMES)
def test_every_command_of_the_boulder_is_offered(name: str) -> None:
    assert name in COMMANDS


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_a_command_says_what_it_does_and_what_it_takes(name: str) -> None:
    fields, body = parse(COMMANDS[name])

    assert fields["description"]
    assert isinstance(fields.get("argument-hint", ""), str)
    assert ("argument-hint" in fields) is ("$ARGUMENTS" in body)
