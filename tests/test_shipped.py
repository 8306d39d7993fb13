from __future__ import annotations

import os
from pathlib import Path

import pytest

from sisyphus.boulder.commands import NAMES
from sisyphus.documents import parse
from sisyphus.shipped import plugin_folder

COMMANDS = {path.stem: path.read_text() for path in Path(plugin_folder()).glob("commands/*.md")}


def test_the_plugin_has_its_manifest_hooks_and_commands() -> None:
    found = os.listdir(plugin_folder())

    assert {".claude-plugin", "hooks.json", "commands", "README.md"} <= set(found)


@pytest.mark.parametrize("name", NAMES)
def test_every_command_of_the_boulder_is_offered(name: str) -> None:
    assert name in COMMANDS


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_a_command_says_what_it_does_and_what_it_takes(name: str) -> None:
    fields, body = parse(COMMANDS[name])

    assert fields["description"]
    assert isinstance(fields.get("argument-hint", ""), str)
    assert ("argument-hint" in fields) is ("$ARGUMENTS" in body)
