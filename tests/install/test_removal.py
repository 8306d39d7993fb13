from __future__ import annotations

import pytest

from sisyphus.install import removal

HOME, ROOT = "/home/u/.claude", "/srv/my shop"
FILES = [
    pytest.param(f"{HOME}/settings.json", "", id="the user's"),
    pytest.param(f"{ROOT}/.claude/settings.json", " --scope project", id="a project's"),
    pytest.param(f"{ROOT}/.claude/settings.local.json", " --scope local", id="a local one"),
]


@pytest.mark.parametrize(("path", "options"), FILES)
def test_the_command_names_the_scope_of_the_file(path: str, options: str) -> None:
    assert removal.command(path, HOME) == f"sisyphus uninstall{options}"
