"""The tests' own world: what it plays is what the doors do."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest
    from world import World


def test_a_hook_in_this_process_answers_as_the_installed_command_does(world: World) -> None:
    world.write("README.md", "# Ours\n")

    here = world.start()
    there = world.process(
        "hook", "session-start", stdin=world.session("s2").payload("session-start")
    )

    assert "# Ours" in here.text
    assert (here.exit, here.text, here.stderr) == (there.exit, there.text, there.stderr)


def test_a_session_a_project_and_a_client_of_its_own(world: World) -> None:
    world.project("other").write("README.md", "# Theirs\n")

    assert world.start().text == ""
    assert "# Theirs" in world.project("other").session("s2").start().text
    assert "# Theirs" in world.project("other").session("s3").client("opencode").start().text


def test_commands_pages_and_the_line_are_answered(world: World) -> None:
    assert world.sisyphus("--version").stdout.startswith("sisyphus ")
    assert world.sisyphus("no-such-command").exit == 2
    assert world.sisyphus("ralph cancel nothing").exit == 1
    assert world.browse("/loops").status_code == 200
    assert world.statusline().exit == 0


def test_nothing_of_it_is_left(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    before = os.getcwd()
    world.start()
    sys.stdout.write("heard\n")

    assert os.getcwd() == before
    assert capsys.readouterr().out == "heard\n"
