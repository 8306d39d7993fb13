"""What of Codex's wiring `sisyphus doctor --live` takes into its stage; `e2e/test_doctor_live.py`
starts the real client."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import fake_codex
import pytest
from world import World

from sisyphus.clients.codex import trial
from sisyphus.clients.installation import Installation
from sisyphus.clients.trial_folder import Stage, WiringCopy
from sisyphus.setup import plugin

INSTALL = ("install", "--client", "codex", "--yes")


@pytest.fixture
def codex(world: World) -> Path:
    folder = world.home / ".codex"
    world.setenv("CODEX_HOME", str(folder))
    return folder


def taken(world: World) -> WiringCopy:
    start, commands = plugin.start_command(), plugin.commands()
    place = Installation(str(world.claude), str(world.project), plugin.hooks(), commands, start)
    return trial.wiring(place)


def lines(wiring: WiringCopy) -> list[str]:
    """The command lines of the hooks that the stage has."""
    events: dict[str, Any] = json.loads(wiring.files["codex/hooks.json"])["hooks"]
    return [hook["command"] for groups in events.values() for g in groups for hook in g["hooks"]]


def test_our_hooks_and_skills_are_taken(world: World, codex: Path) -> None:
    world.cli(*INSTALL)

    wiring = taken(world)

    assert wiring.is_wired
    assert len(lines(wiring)) == 9
    assert "codex/skills/ralph-loop/SKILL.md" in wiring.files
    assert not wiring.left_out


def test_nothing_of_others_is_taken(world: World, codex: Path) -> None:
    foreign = {"hooks": [{"type": "command", "command": "touch /tmp/foreign"}]}
    world.write(codex / "hooks.json", json.dumps({"hooks": {"Stop": [foreign]}}))
    world.write(codex / "config.toml", 'model = "theirs"\n')
    world.cli(*INSTALL)

    wiring = taken(world)

    assert not [line for line in lines(wiring) if "foreign" in line]
    assert b"theirs" not in b"".join(wiring.files.values())
    assert wiring.left_out == ["1 hooks in ~/.codex/hooks.json, which are not ours."]


@pytest.mark.parametrize(
    "command",
    [
        "/evil/sisyphus hook stop --client codex",
        "sisyphus hook stop --client codex; touch /tmp/evil",
        "sisyphus hook stop $(touch /tmp/evil)",
        "env CLAUDE_CONFIG_DIR=$(touch /tmp/evil) sisyphus hook stop; touch /tmp/evil",
    ],
)
def test_a_strangers_hook_in_the_project_is_not_taken(
    world: World, codex: Path, command: str
) -> None:
    evil = {"hooks": [{"type": "command", "command": command, "timeout": 900}]}
    world.write(".codex/hooks.json", json.dumps({"hooks": {"Stop": [evil]}}))

    assert not taken(world).is_wired


def test_a_shared_install_is_taken(world: World, codex: Path) -> None:
    world.cli(*INSTALL, "--scope", "project")

    wiring = taken(world)

    assert len(lines(wiring)) == 9
    assert wiring.mend == "Run `sisyphus install --client codex --scope local`."
    shutil.rmtree(world.project / ".git")
    subprocess.run(["git", "init", "-q", world.project], check=True)
    subprocess.run(["git", "-C", world.project, "add", "."], check=True)
    assert taken(world).mend == "Run `sisyphus install --client codex --scope project`."


def test_no_hook_takes_the_users_home_along(world: World, codex: Path) -> None:
    world.setenv("CLAUDE_CONFIG_DIR", str(world.home / "elsewhere"))
    world.cli(*INSTALL)
    assert "elsewhere" in (codex / "hooks.json").read_text()

    assert not [line for line in lines(taken(world)) if "elsewhere" in line]


def test_it_asks_the_model_of_the_stage_alone(world: World, codex: Path) -> None:
    world.setenv("OPENAI_API_KEY", "secret")
    stage = Stage("/stage", "http://127.0.0.1:1")

    environment = trial.environment(stage)
    words = trial.command("/bin/codex", taken(world), stage)

    assert environment["CODEX_HOME"] == "/stage/codex"
    assert "secret" not in environment.values()
    assert 'model_providers.trial.base_url="http://127.0.0.1:1/v1"' in words


@pytest.mark.parametrize(("state", "is_told"), [("untrusted", True), ("trusted", False)])
def test_that_codex_does_not_trust_the_hooks_yet_is_told(
    world: World, codex: Path, state: str, *, is_told: bool
) -> None:
    """The trial bypasses its trust."""
    programs = fake_codex.install(world.root / "client")
    world.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    world.setenv("FAKE_CLIENT", str(world.root / "client"))
    world.cli(*INSTALL)
    hook = {
        "command": "sisyphus hook stop --client codex", "trustStatus": state, "enabled": True,
        "sourcePath": str(codex / "hooks.json"),
    }  # fmt: skip
    fake_codex.answer(world.root / "client", "hooks", {"data": [{"hooks": [hook]}]})

    assert taken(world).until.startswith("once trusted") is is_told


def test_that_codex_drops_the_file_for_a_key_is_told(world: World, codex: Path) -> None:
    """The trial has a file of its own, without that key."""
    world.cli(*INSTALL)
    file = codex / "hooks.json"
    world.write(file, json.dumps(json.loads(file.read_text()) | {"foo": 1}))

    assert taken(world).until.startswith("once foo is taken out")
