from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from making import put

from sisyphus.install.claude import plugin

if TYPE_CHECKING:
    from pathlib import Path

USER, SHARED, LOCAL = "settings.json", ".claude/settings.json", ".claude/settings.local.json"
ON, OFF = {"sisyphus@sisyphus": True}, {"sisyphus@sisyphus": False}

FILES = [
    pytest.param({}, "", id="no settings"),
    pytest.param({USER: ON}, USER, id="on for the user"),
    pytest.param({SHARED: ON}, SHARED, id="on in the project"),
    pytest.param({USER: ON, LOCAL: OFF}, "", id="off again for the user here"),
    pytest.param({USER: OFF, SHARED: ON}, SHARED, id="on again in the project"),
    pytest.param({USER: {"sisyphus@mine": True}}, USER, id="of another marketplace"),
    pytest.param({USER: {"sisyphus2@x": True, "a": True}}, "", id="other plugins"),
    pytest.param({USER: {"sisyphus@x": "yes"}}, "", id="no boolean"),
    pytest.param({USER: ["sisyphus@x"]}, "", id="no object"),
]


@pytest.mark.parametrize(("files", "where"), FILES)
def test_the_file_that_switches_it_on_is_found(
    home: Path, project: Path, files: dict[str, object], where: str
) -> None:
    places = {USER: home / ".claude" / USER, SHARED: project / SHARED, LOCAL: project / LOCAL}
    for name, plugins in files.items():
        put(places[name], json.dumps({"enabledPlugins": plugins}))
    assert plugin.enabled_in(str(project)) == (str(places[where]) if where else "")
