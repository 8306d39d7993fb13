"""Into Copilot CLI's own folder `install` puts a file of hooks, and skills; `uninstall` takes them
out again."""

from __future__ import annotations

import json

from world import World

INSTALL = ("install", "--client", "copilot", "--yes")
UNINSTALL = ("uninstall", "--client", "copilot", "--yes")


def test_uninstall_leaves_no_file(world: World) -> None:
    world.cli(*INSTALL)
    folder = world.home / ".copilot"
    assert (folder / "hooks" / "sisyphus.json").is_file()

    world.cli(*UNINSTALL)

    assert not folder.exists()


def test_uninstall_leaves_a_hook_of_yours_and_the_version_of_its_file(world: World) -> None:
    world.cli(*INSTALL)
    file = world.home / ".copilot" / "hooks" / "sisyphus.json"
    content = json.loads(file.read_text())
    yours = {"hooks": [{"type": "command", "command": "true"}]}
    content["hooks"]["Stop"].append(yours)
    file.write_text(json.dumps(content))

    world.cli(*UNINSTALL)

    assert json.loads(file.read_text()) == {"version": 1, "hooks": {"Stop": [yours]}}
