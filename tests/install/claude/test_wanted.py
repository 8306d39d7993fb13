from __future__ import annotations

import json
from pathlib import Path

import pytest

from sisyphus import shipped
from sisyphus.install import wiring
from sisyphus.install.claude import versions, wanted
from sisyphus.install.claude.edits import Wanted
from sisyphus.install.claude.place import of_user
from sisyphus.install.wish import PARTS

SHIPPED = json.loads(Path(shipped.plugin_folder(), "hooks.json").read_bytes())["hooks"]

SCRIPTS = [
    pytest.param("sisyphus", "sisyphus hook stop", id="by name"),
    pytest.param("/opt/bin/sisyphus", "/opt/bin/sisyphus hook stop", id="by path"),
    pytest.param("/a b/sisyphus", "'/a b/sisyphus' hook stop", id="with a space"),
    pytest.param("/it's/sisyphus", "'/it'\"'\"'s/sisyphus' hook stop", id="with a quote"),
    pytest.param("/$HOME/`x`/sisyphus", "'/$HOME/`x`/sisyphus' hook stop", id="with more"),
]


@pytest.mark.parametrize(("script", "command"), SCRIPTS)
def test_the_hooks_are_the_shipped_ones_and_call_the_script(script: str, command: str) -> None:
    hooks = wanted.hooks(script, "user", None)
    assert hooks["Stop"][0]["hooks"][0]["command"] == command
    found = list(wiring.entries({"hooks": hooks}))
    assert {wiring.program(one.command) for one in found} == {script}
    for one in found:
        one.fields["command"] = f"sisyphus hook {wiring.called_event(one.command)}"
    assert hooks == SHIPPED


@pytest.mark.parametrize("scope", ["project", "local"])
def test_those_of_a_project_say_whose_they_are(scope: str) -> None:
    found = list(wiring.entries({"hooks": wanted.hooks("/a b/sisyphus", scope, None)}))

    assert found
    assert {wiring.scope(one.command) for one in found} == {scope}
    assert "'/a b/sisyphus' hook stop --scope " + scope in [one.command for one in found]


def test_an_older_client_is_asked_for_each_call_instead_of_a_batch() -> None:
    older = wanted.hooks("sisyphus", "user", (2, 1, 328))
    assert "PostToolBatch" not in older
    (group,) = older["PostToolUse"]
    assert {"Read", "Edit", "Write", "Skill", "TaskCreate"} <= set(group["matcher"].split("|"))
    assert group["hooks"] == SHIPPED["PostToolBatch"][0]["hooks"]
    assert list(older) == [e if e != "PostToolBatch" else "PostToolUse" for e in SHIPPED]
    assert wanted.hooks("sisyphus", "user", versions.LEAST_BATCH_VERSION) == SHIPPED


def test_what_is_not_wanted_is_not_there() -> None:
    user = of_user()
    assert wanted.settings(user, {}, (), "sisyphus", ["x"], None) == Wanted()
    full = wanted.settings(user, {}, PARTS, "/a b/sisyphus", ["x", "y", "x"], None)
    assert full.statusline == {"type": "command", "command": "'/a b/sisyphus' statusline"}
    assert full.excludes == ("x", "y")
    assert set(full.hooks or ()) == set(SHIPPED)


def test_a_statusline_of_the_users_is_left_to_them() -> None:
    theirs = {"statusLine": {"type": "command", "command": "mine"}}
    user = of_user()
    assert wanted.settings(user, theirs, PARTS, "sisyphus", [], None).statusline is None
    assert wanted.settings(user, {"statusLine": None}, PARTS, "sisyphus", [], None).statusline
