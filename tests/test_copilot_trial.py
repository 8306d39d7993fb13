"""What `sisyphus doctor --live` finds for Copilot CLI, and what of its wiring it takes there.

The client here is a small program that reads files of hooks, runs hooks and asks the model as
Copilot CLI does; `e2e/test_doctor_live.py` starts the real one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from world import PAYLOADS, World

from sisyphus.clients.copilot import trial
from sisyphus.clients.finding import Finding, Level
from sisyphus.clients.installation import Installation
from sisyphus.clients.trial_folder import Stage, WiringCopy
from sisyphus.doctor import trial as doctor
from sisyphus.setup import plugin
from sisyphus.terminal import show

Json = dict[str, Any]

INSTALL = ("install", "--client", "copilot", "--yes")
EVENTS = ("SessionStart.new", "UserPromptSubmit", "PostToolUse.Read", "Stop")
HOOKS = 8
"""How many `install` writes: at `PreCompact` two."""

COPILOT = f"""\
#!{sys.executable}
import datetime, json, os, pathlib, subprocess, urllib.request

home, project = pathlib.Path(os.environ["COPILOT_HOME"]), pathlib.Path.cwd()
assert os.environ["COPILOT_OFFLINE"] == "true"
files = [json.loads(file.read_text()) for file in home.glob("hooks/*.json")]
payloads = json.loads(pathlib.Path(__file__).with_name("payloads.json").read_text())
events = home / "session-state/c1/events.jsonl"
events.parent.mkdir(parents=True)

def note(kind, **data):
    with events.open("a") as file:
        line = {{"type": kind, "data": data}}
        file.write(json.dumps(line, separators=(",", ":")) + "\\n")

def hook(name, **fields):
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
    at = round(datetime.datetime.fromisoformat(now).timestamp() * 1000)
    note("hook.start", input={{"timestamp": at}})
    here = {{"session_id": "c1", "cwd": str(project), "timestamp": now}}
    if name == "Stop":
        here["transcript_path"] = str(events)
    texts = []
    on = [file for file in files if not file.get("disableAllHooks")]
    for group in [g for f in on for g in f["hooks"].get(name.partition(".")[0], [])]:
        for each in group["hooks"]:
            done = subprocess.run(each["command"], shell=True, capture_output=True, text=True,
                                  input=json.dumps({{**payloads[name], **here, **fields}}))
            reply = json.loads(done.stdout) if done.stdout.strip() else {{}}
            texts.append(reply.get("additionalContext", ""))
    return "".join(texts)

def ask(text):
    body = json.dumps({{"stream": True, "tools": [{{}}], "messages": [text]}}).encode()
    url = os.environ["COPILOT_PROVIDER_BASE_URL"] + "/v1/messages"
    headers = {{"content-type": "application/json"}}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
        lines = answer.read().decode().splitlines()
    events = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
    pieces = [e["delta"] for e in events if e["type"] == "content_block_delta"]
    return pieces[0].get("text"), json.loads(pieces[0].get("partial_json", "null"))

names = [{{"name": file.parent.name}} for file in home.glob("skills/*/SKILL.md")]
print(json.dumps({{"type": "session.skills_loaded", "data": {{"skills": names}}}}), flush=True)
_, fields = ask(hook("SessionStart.new") + hook("UserPromptSubmit"))
last, _ = ask(hook("PostToolUse.Read", tool_input=fields))
note("assistant.message", content=last)
hook("Stop")
"""


@pytest.fixture
def copilot(world: World, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of Copilot CLI of a user who has it, and its program."""
    monkeypatch.setattr(tempfile, "tempdir", str(world.root))
    program = world.write(world.root / "bin" / "copilot", COPILOT)
    program.chmod(0o755)
    payloads = {
        name: json.loads((PAYLOADS / "copilot" / f"{name}.json").read_text()) for name in EVENTS
    }
    program.with_name("payloads.json").write_text(json.dumps(payloads))
    world.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    folder = world.home / ".copilot"
    folder.mkdir()
    return folder


def add_hook(file: Path, event: str, hook: Json) -> None:
    """Adds a hook to a file of hooks."""
    file.parent.mkdir(parents=True, exist_ok=True)
    content: Json = {"version": 1, "hooks": {}}
    if file.exists():
        content = json.loads(file.read_text())
    content["hooks"].setdefault(event, []).append({"hooks": [hook]})
    file.write_text(json.dumps(content))


def play() -> list[Finding]:
    return doctor.play("copilot", show.place(), 30.0)


def taken(world: World) -> WiringCopy:
    start, commands = plugin.start_command(), plugin.commands()
    place = Installation(str(world.claude), str(world.project), plugin.hooks(), commands, start)
    return trial.wiring(place)


def lines(wiring: WiringCopy) -> list[str]:
    """The command lines of the hooks that the stage has."""
    events = json.loads(wiring.files["copilot/hooks/sisyphus.json"])["hooks"]
    return [hook["command"] for groups in events.values() for g in groups for hook in g["hooks"]]


def test_a_whole_wiring_is_good(world: World, copilot: Path) -> None:
    world.cli(*INSTALL)

    [finding] = play()

    assert finding.level is Level.GOOD, finding
    assert "a session started, the agent read a file and the agent stopped." in finding.text


def test_an_event_that_does_not_arrive(world: World, copilot: Path) -> None:
    world.cli(*INSTALL)
    file = copilot / "hooks/sisyphus.json"
    content = json.loads(file.read_text())
    del content["hooks"]["PostToolUse"]
    file.write_text(json.dumps(content))

    [finding] = play()

    assert finding.level is Level.PROBLEM
    assert finding.mend == "Run `sisyphus install --client copilot`."


def test_a_skill_that_is_gone(world: World, copilot: Path) -> None:
    world.cli(*INSTALL)
    (copilot / "skills/start-work/SKILL.md").unlink()

    [finding] = play()

    assert finding.text == "it does not know the slash command /start-work."
    assert finding.mend == "Run `sisyphus install --client copilot`."


def test_without_our_hooks_nothing_is_tried(world: World, copilot: Path) -> None:
    add_hook(copilot / "hooks/sisyphus.json", "Stop", {"type": "command", "command": "say done"})

    [finding] = play()

    assert finding.level is Level.WARNING
    assert finding.mend == "Run `sisyphus install --client copilot`."


@pytest.mark.parametrize("name", ["~/.copilot/hooks/sisyphus.json", ".claude/settings.json"])
def test_hooks_that_are_switched_off(world: World, copilot: Path, name: str) -> None:
    world.cli(*INSTALL)
    config = json.dumps({"trustedFolders": [str(world.project)]})
    world.write(copilot / "config.json", config)
    file = world.project / name.replace("~", str(world.home))
    before = json.loads(file.read_text()) if file.exists() else {}
    world.write(file, json.dumps({**before, "disableAllHooks": True}))

    [finding] = play()

    assert finding.level is Level.PROBLEM
    assert f'{name} sets "disableAllHooks".' in finding.text


def test_nothing_of_others_is_taken(world: World, copilot: Path) -> None:
    world.cli(*INSTALL)
    foreign = {"type": "command", "command": "touch /tmp/foreign", "env": {"TOKEN": "secret"}}
    add_hook(copilot / "hooks/sisyphus.json", "Stop", foreign)
    add_hook(copilot / "hooks/other.json", "Stop", foreign)
    world.write(copilot / "skills/mine/SKILL.md", "secret")

    wiring = taken(world)

    assert len(lines(wiring)) == HOOKS
    assert not [line for line in lines(wiring) if "foreign" in line]
    assert b"secret" not in b"".join(wiring.files.values())
    assert wiring.left_out == ["1 hooks in ~/.copilot/hooks/sisyphus.json, which are not ours."]


@pytest.mark.parametrize(
    "changes",
    [
        {"command": "/evil/sisyphus hook stop --client copilot"},
        {"command": "sisyphus hook stop --client copilot; touch /tmp/evil"},
        {"command": "sisyphus hook stop $(touch /tmp/evil)"},
        {"shell": "evil"},
    ],
)
def test_a_strangers_hook_in_the_project_is_not_taken(
    world: World, copilot: Path, changes: Json
) -> None:
    ours = {"type": "command", "command": "sisyphus hook stop --client copilot", "timeout": 900}
    add_hook(world.project / ".github/hooks/sisyphus.json", "Stop", {**ours, **changes})

    assert not taken(world).is_wired


def test_a_shared_install_is_taken(world: World, copilot: Path) -> None:
    (world.project / ".git/config").unlink()
    (world.project / ".git").rmdir()
    subprocess.run(["git", "init", "-q", world.project], check=True)
    world.cli(*INSTALL, "--scope", "project")

    wiring = taken(world)

    assert len(lines(wiring)) == HOOKS
    subprocess.run(["git", "-C", world.project, "add", "."], check=True)
    assert taken(world).mend == "Run `sisyphus install --client copilot --scope project`."


@pytest.mark.parametrize("scope", ["user", "local", "project"])
def test_the_skills_come_from_where_they_are(world: World, copilot: Path, scope: str) -> None:
    world.cli(*INSTALL, "--scope", scope)

    assert "copilot/skills/ralph-loop/SKILL.md" in taken(world).files


def test_it_asks_the_model_of_the_stage_alone(world: World, copilot: Path) -> None:
    world.setenv("GITHUB_TOKEN", "secret")
    world.setenv("COPILOT_GITHUB_TOKEN", "secret")
    world.setenv("COPILOT_PROVIDER_BASE_URL", "http://elsewhere")

    environment = trial.environment(Stage("/stage", "http://127.0.0.1:1"))

    assert environment["COPILOT_HOME"] == "/stage/copilot"
    assert environment["COPILOT_PROVIDER_BASE_URL"] == "http://127.0.0.1:1"
    assert environment["COPILOT_OFFLINE"] == "true"
    assert "secret" not in environment.values()
