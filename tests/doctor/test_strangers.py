"""A project of a stranger: nothing that it holds chooses a program that `sisyphus doctor` runs."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from sisyphus.doctor import clients, machine, round_trip, skew
from sisyphus.doctor.case import Case
from sisyphus.doctor.live import prove
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from doctor.scene import Scene
    from sisyphus._types import Json

CLIENT = f"""#!{sys.executable}
import json, os, pathlib, subprocess
if os.sys.argv[1:] == ["--version"]:
    raise SystemExit(print("2.1.329 (Claude Code)"))
for folder in (os.environ["CLAUDE_CONFIG_DIR"], ".claude"):
    for path in pathlib.Path(folder).glob("settings*.json"):
        text = path.read_text(encoding="utf-8")
        for groups in json.loads(text).get("hooks", {{}}).values():
            for command in (hook["command"] for group in groups for hook in group["hooks"]):
                subprocess.run(["/bin/sh", "-c", command], input=b"{{}}", check=False)
"""
"""Runs every hook that it finds, whenever it is started."""

COMMANDS = [
    pytest.param("sisyphus\nhook\ncanary", id="lines"),
    pytest.param("sisyphus hook stop\ncanary", id="a second line"),
    pytest.param("sisyphus hook stop; canary", id="a second command"),
    pytest.param("sisyphus hook stop & canary", id="in the background"),
    pytest.param("sisyphus hook stop `canary`", id="a word more"),
    pytest.param('"$(canary)/sisyphus" hook stop', id="a relative folder"),
    pytest.param('"{project}/$(canary)/sisyphus" hook stop', id="a whole path"),
    pytest.param('"{project}/`canary`/sisyphus" hook stop', id="backticks"),
    pytest.param("{project}/'$(canary)'/sisyphus hook stop", id="a quoted path"),
    pytest.param("{project}/bin/sisyphus hook stop", id="a program of its own"),
    pytest.param("./bin/sisyphus hook stop", id="a relative program of its own"),
    pytest.param("bin/sisyphus hook stop", id="another relative one"),
    pytest.param("PATH={project}/bin sisyphus hook stop", id="another PATH"),
    pytest.param("sisyphus hook stop", id="by name"),
]
FILES = ("settings.json", "settings.local.json")


@pytest.fixture(autouse=True)
def canary(scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that comes into being where a program of the project's choice runs. Its programs
    stand before the user's on the PATH."""
    left = tmp_path / "canary-ran"
    sings = f"#!/bin/sh\n: > {shlex.quote(str(left))}\n"
    scene.program("canary", sings)
    for name in ("sisyphus", "claude", "opencode", "python3", "env"):
        scene.program(str(scene.project / "bin" / name), sings)
    for name in ("$(canary)", "`canary`"):
        (scene.project / name).mkdir()
        (scene.project / name / "sisyphus").symlink_to(scene.sisyphus)
    scene.program("claude", CLIENT)
    folders = ("bin", str(scene.project / "bin"), str(scene.bin))
    monkeypatch.setenv("PATH", os.pathsep.join(folders))
    monkeypatch.chdir(scene.project)
    return left


@pytest.fixture
def started(scene: Scene, tmp_path: Path) -> Path:
    """In it stands how the user's own `sisyphus` was called."""
    log = tmp_path / "started"
    scene.program("sisyphus", f'#!/bin/sh\necho "$@" >> {shlex.quote(str(log))}\n')
    return log


def _case(scene: Scene) -> Case:
    """With programs that do run."""
    return Case(Workspace(str(scene.project)), started=scene.sisyphus, managed=str(scene.managed))


def _wired(command: str, scene: Scene) -> Json:
    entry = {"type": "command", "command": command.format(project=scene.project)}
    return {"hooks": {"Stop": [{"hooks": [entry]}]}}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_a_project_is_not_run_as_it_stands(
    scene: Scene, canary: Path, command: str, name: str
) -> None:
    scene.settings(_wired(command, scene), scene.project / ".claude" / name)

    list(round_trip.check(_case(scene)))

    assert not canary.exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_nor_does_the_client_run_it(
    scene: Scene, canary: Path, started: Path, command: str
) -> None:
    scene.settings(_wired(command, scene), scene.project / ".claude/settings.json")
    scene.settings(_wired(f"{scene.sisyphus} hook idle", scene))

    prove.prove(_case(scene))

    assert not canary.exists()
    assert "hook idle\n" in started.read_text(encoding="utf-8")


def test_the_users_own_script_is_run_for_a_project(
    scene: Scene, canary: Path, started: Path
) -> None:
    scene.settings(_wired("sisyphus hook stop", scene), scene.project / ".claude/settings.json")

    list(round_trip.check(_case(scene)))

    assert started.read_text(encoding="utf-8") == "hook stop\n"
    assert not canary.exists()


@pytest.mark.parametrize("check", [machine.speed, machine.scripts, clients.check, skew.programs])
def test_programs_are_not_looked_for_in_the_project(
    scene: Scene, canary: Path, check: object
) -> None:
    scene.settings(_wired("sisyphus hook stop", scene))
    assert callable(check)

    found = list(check(_case(scene)))

    assert found
    assert str(scene.project) not in " ".join(one.text for one in found)
    assert not canary.exists()


def test_a_plugin_that_lies_in_the_project_is_not_tried(
    scene: Scene, canary: Path, started: Path
) -> None:
    scene.plugin("sisyphus", _wired("{project}/bin/sisyphus hook stop", scene))
    scene.settings({"enabledPlugins": {"sisyphus@market": True}})

    list(round_trip.check(_case(scene)))

    assert not canary.exists()
    assert not started.exists()
