from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import put

from install.claude.scene import install
from install.scene import MD, did, ours, tree, uninstalled
from sisyphus.errors import SisyphusError
from sisyphus.install.claude import place as claude
from sisyphus.install.wish import Wish

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus.install.place import Place


def test_a_command_of_the_users_stays_and_that_is_said(place: Place, home: Path) -> None:
    mine = put(home / ".claude/commands/ralph-loop.md", MD)
    put(home / ".claude/skills/checkpoint/SKILL.md", MD)
    done = did(install(place))
    assert done["commands/ralph-loop.md"] == done["commands/checkpoint.md"] == "skip"
    uninstalled(place)
    assert mine.read_text() == MD


def test_commands_are_upgraded_and_edited_ones_kept(project: Path) -> None:
    place = claude.of_project(str(project))
    put(project / ".claude/commands/ralph-loop.md", ours())
    put(project / ".claude/commands/checkpoint.md", ours() + b"mine")
    put(project / ".claude/commands/gone.md", ours())
    done = did(install(place))
    assert done["commands/ralph-loop.md"] == "update"
    assert done["commands/checkpoint.md"] == "keep"
    assert done["commands/gone.md"] == "remove"


def test_two_scopes_of_a_project_keep_their_own(project: Path) -> None:
    shared, own = claude.of_project(str(project)), claude.of_local(str(project))
    install(shared)
    before = tree(project)
    install(own)
    uninstalled(own)
    assert tree(project) == before
    install(own, Wish())
    uninstalled(shared)
    assert os.listdir(project / ".claude") == ["settings.local.json"]


@pytest.mark.parametrize("name", ["commands", "commands/x"])
def test_a_strange_folder_of_commands_is_refused(project: Path, tmp_path: Path, name: str) -> None:
    place = claude.of_project(str(project))
    if name == "commands":
        put(project / ".claude/commands", "a file")
    else:
        (project / ".claude").mkdir()
        (project / ".claude/commands").symlink_to(tmp_path)
    before = tree(project)
    with pytest.raises(SisyphusError, match=r"is no folder|which is not in"):
        install(place)
    assert tree(project) == before


def test_a_command_says_what_the_plugin_says_under_its_plain_name(place: Place) -> None:
    install(place)
    folder = claude.commands(place)
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            text = file.read()
        assert text.startswith("---\n# sisyphus ")
        assert "/sisyphus:" not in text
