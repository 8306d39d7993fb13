from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from making import put

from doctor.scene import hooks
from sisyphus.doctor.sources import LOCAL, MANAGED, PROJECT, USER

if TYPE_CHECKING:
    from doctor.scene import Scene

ENTRY = {"type": "command", "command": "sisyphus hook stop"}
STOP = {"Stop": [{"hooks": [ENTRY]}]}


def test_settings_are_read_the_weakest_first(scene: Scene) -> None:
    scene.settings({})
    scene.settings({}, scene.project / ".claude/settings.local.json")
    scene.settings({}, scene.project / ".claude/settings.json")
    scene.settings({}, scene.managed / "managed-settings.json")
    scene.settings({}, scene.managed / "managed-settings.d/10-more.json")

    kinds = [one.kind for one in scene.case().settings]

    assert kinds == [USER, PROJECT, LOCAL, MANAGED, MANAGED]


MANIFESTS = [
    pytest.param({"hooks": "./mine.json"}, id="another file"),
    pytest.param({"hooks": ["./mine.json"]}, id="a list of files"),
    pytest.param({"hooks": STOP}, id="in the manifest"),
    pytest.param({"hooks": {"hooks": STOP}}, id="in the manifest, as in a file"),
]


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_a_manifest_says_where_a_plugins_hooks_are(
    scene: Scene, manifest: dict[str, object]
) -> None:
    scene.settings({"enabledPlugins": {"x@market": True}})
    folder = scene.plugin("x")
    put(folder / "mine.json", json.dumps({"hooks": STOP}))
    put(folder / ".claude-plugin/plugin.json", json.dumps(manifest))

    assert [hook.key for hook in scene.case().hooks] == [("Stop", "stop")]


HOSTILE = [
    pytest.param("plugins/installed_plugins.json", '{"plugins": []}', id="no object"),
    pytest.param("plugins/installed_plugins.json", '{"plugins": {"x@market": 3}}', id="no list"),
    pytest.param("plugins/installed_plugins.json", '{"plugins": {"x@market": [3]}}', id="no row"),
    pytest.param("plugins/installed_plugins.json", "{", id="half"),
    pytest.param("plugins/known_marketplaces.json", '{"market": 3}', id="no marketplace"),
    pytest.param(
        "plugins/known_marketplaces.json", '{"market": {"source": "directory"}}', id="no source"
    ),
]


@pytest.mark.parametrize(("name", "text"), HOSTILE)
def test_what_is_of_another_shape_is_passed_over(scene: Scene, name: str, text: str) -> None:
    scene.settings({"enabledPlugins": {"x@market": True}})
    put(scene.claude / name, text)

    assert [plugin.folder for plugin in scene.case().plugins] == [""]
    assert scene.case().hooks == []


def test_of_several_installations_that_of_the_project_counts(scene: Scene) -> None:
    scene.settings({"enabledPlugins": {"x@market": True}})
    rows = [
        {"scope": "user", "installPath": "/user"},
        {"scope": "project", "installPath": "/other", "projectPath": "/elsewhere"},
        {"scope": "project", "installPath": "/here", "projectPath": str(scene.project)},
    ]
    path = scene.claude / "plugins/installed_plugins.json"
    put(path, json.dumps({"plugins": {"x@market": rows}}))

    assert [plugin.folder for plugin in scene.case().plugins] == ["/here"]


def test_one_that_is_installed_for_another_project_runs_here_as_well(scene: Scene) -> None:
    """Measured: what switches a plugin on is the settings, not the row."""
    scene.settings({"enabledPlugins": {"x@market": True}})
    row = {"scope": "project", "installPath": "/other", "projectPath": "/elsewhere"}
    path = scene.claude / "plugins/installed_plugins.json"
    put(path, json.dumps({"plugins": {"x@market": [row]}}))

    assert [plugin.folder for plugin in scene.case().plugins] == ["/other"]


def test_a_plugin_switched_on_by_a_project_is_a_strangers(scene: Scene) -> None:
    scene.plugin("x", hooks(scene.program("elsewhere/sisyphus")))
    values = {"enabledPlugins": {"x@market": True}}
    scene.settings(values, scene.project / ".claude/settings.json")

    case = scene.case()

    assert len(case.hooks) == 10
    assert case.trusted == []
