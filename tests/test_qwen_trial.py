"""What `sisyphus doctor --live` finds for Qwen Code, and what of its wiring it takes there.

The client here is a small program that reads settings, runs hooks and asks the model as Qwen Code
does; `e2e/test_doctor_live.py` starts the real one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from world import PAYLOADS, World

from sisyphus.clients.finding import Finding, Level
from sisyphus.clients.installation import Installation
from sisyphus.clients.qwen import trial
from sisyphus.clients.trial_folder import Stage, WiringCopy
from sisyphus.doctor import trial as doctor
from sisyphus.setup import plugin
from sisyphus.terminal import show

Json = dict[str, Any]

INSTALL = ("install", "--client", "qwen", "--yes")
EVENTS = ("SessionStart.startup", "PostToolBatch.read_file", "Stop")

QWEN = f"""\
#!{sys.executable}
import json, os, pathlib, subprocess, urllib.request

home, project = pathlib.Path(os.environ["QWEN_HOME"]), pathlib.Path.cwd()
system = json.loads(pathlib.Path(os.environ["QWEN_CODE_SYSTEM_SETTINGS_PATH"]).read_text())
assert system["security"]["auth"]["selectedType"] == "anthropic"
settings = json.loads((home / "settings.json").read_text())
payloads = json.loads(pathlib.Path(__file__).with_name("payloads.json").read_text())

def hook(name, **fields):
    payload = {{**payloads[name], "session_id": "q1", "cwd": str(project), **fields}}
    replies = []
    event = name.partition(".")[0]
    for group in [] if settings["disableAllHooks"] else settings["hooks"].get(event, []):
        for each in group["hooks"]:
            done = subprocess.run(each["command"], shell=True, input=json.dumps(payload),
                                  capture_output=True, text=True)
            replies.append(json.loads(done.stdout) if done.stdout.strip() else {{}})
    return "".join(r.get("hookSpecificOutput", {{}}).get("additionalContext", "") for r in replies)

def ask(text):
    body = json.dumps({{"stream": True, "tools": [{{}}], "messages": [text]}}).encode()
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    headers = {{"content-type": "application/json"}}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
        lines = answer.read().decode().splitlines()
    events = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
    pieces = [e["delta"] for e in events if e["type"] == "content_block_delta"]
    return pieces[0].get("text"), json.loads(pieces[0].get("partial_json", "null"))

names = [file.stem for file in home.glob("commands/*.md")]
print(json.dumps({{"type": "system", "subtype": "init", "slash_commands": names}}), flush=True)
_, fields = ask(hook("SessionStart.startup"))
batch = payloads["PostToolBatch.read_file"]["tool_calls"]
batch[0]["tool_input"] = fields
last, _ = ask(hook("PostToolBatch.read_file", tool_calls=batch))
hook("Stop", last_assistant_message=last)
"""


@pytest.fixture
def qwen(world: World, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of Qwen Code of a user who has it, and its program."""
    monkeypatch.setattr(tempfile, "tempdir", str(world.root))
    program = world.write(world.root / "bin" / "qwen", QWEN)
    program.chmod(0o755)
    payloads = {
        name: json.loads((PAYLOADS / "qwen" / f"{name}.json").read_text()) for name in EVENTS
    }
    program.with_name("payloads.json").write_text(json.dumps(payloads))
    world.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    folder = world.home / ".qwen"
    folder.mkdir()
    return folder


def edit(folder: Path, **keys: object) -> None:
    """Changes the settings in a folder of Qwen Code."""
    file = folder / "settings.json"
    file.parent.mkdir(exist_ok=True)
    settings = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps({**settings, **keys}))


def play() -> list[Finding]:
    return doctor.play("qwen", show.place(), 30.0)


def taken(world: World) -> WiringCopy:
    start, commands = plugin.start_command(), plugin.commands()
    place = Installation(str(world.claude), str(world.project), plugin.hooks(), commands, start)
    return trial.wiring(place)


def lines(wiring: WiringCopy) -> list[str]:
    """The command lines of the hooks that the stage has."""
    events = json.loads(wiring.files["qwen/settings.json"])["hooks"]
    return [hook["command"] for groups in events.values() for g in groups for hook in g["hooks"]]


def test_a_whole_wiring_is_good(world: World, qwen: Path) -> None:
    world.cli(*INSTALL)

    [finding] = play()

    assert finding.level is Level.GOOD, finding
    assert "a session started, the agent read a file and the agent stopped." in finding.text


def test_a_command_that_is_gone(world: World, qwen: Path) -> None:
    world.cli(*INSTALL)
    (qwen / "commands/start-work.md").unlink()

    [finding] = play()

    assert finding.text == "it does not know the slash command /start-work."
    assert finding.mend == "Run `sisyphus install --client qwen`."


@pytest.mark.parametrize(
    ("users", "projects", "where"),
    [
        (True, None, "~/.qwen/settings.json"),
        (None, True, ".qwen/settings.json"),
        (False, True, ".qwen/settings.json"),
        (True, False, ""),
        ("true", None, "~/.qwen/settings.json"),
    ],
)
def test_hooks_that_are_switched_off(
    world: World, qwen: Path, users: object, projects: object, where: str
) -> None:
    world.cli(*INSTALL)
    for folder, value in ((qwen, users), (world.project / ".qwen", projects)):
        if value is not None:
            edit(folder, disableAllHooks=value)

    [finding] = play()

    assert (finding.level is Level.PROBLEM) == bool(where)
    assert (
        f'{where} sets "disableAllHooks".' in finding.text if where else "off" not in finding.text
    )


def test_nothing_of_others_is_taken(world: World, qwen: Path) -> None:
    foreign = {"hooks": [{"type": "command", "command": "touch /tmp/foreign"}]}
    edit(qwen, hooks={"Stop": [foreign]}, env={"ANTHROPIC_AUTH_TOKEN": "secret"})
    world.cli(*INSTALL)

    wiring = taken(world)

    assert len(lines(wiring)) == 8
    assert not [line for line in lines(wiring) if "foreign" in line]
    assert b"secret" not in b"".join(wiring.files.values())
    assert wiring.left_out == ["1 hooks in ~/.qwen/settings.json, which are not ours."]


@pytest.mark.parametrize(
    "changes",
    [
        {"command": "/evil/sisyphus hook stop --client qwen"},
        {"command": "sisyphus hook stop --client qwen; touch /tmp/evil"},
        {"command": "sisyphus hook stop $(touch /tmp/evil)"},
        {"shell": "evil"},
    ],
)
def test_a_strangers_hook_in_the_project_is_not_taken(
    world: World, qwen: Path, changes: Json
) -> None:
    ours = {"type": "command", "command": "sisyphus hook stop --client qwen", "timeout": 900}
    edit(world.project / ".qwen", hooks={"Stop": [{"hooks": [{**ours, **changes}]}]})

    assert not taken(world).is_wired


def test_a_shared_install_is_taken(world: World, qwen: Path) -> None:
    world.cli(*INSTALL, "--scope", "project")

    wiring = taken(world)

    assert len(lines(wiring)) == 8
    assert "qwen/commands/ralph-loop.md" in wiring.files
    shutil.rmtree(world.project / ".git")
    subprocess.run(["git", "init", "-q", world.project], check=True)
    subprocess.run(["git", "-C", world.project, "add", "."], check=True)
    assert taken(world).mend == "Run `sisyphus install --client qwen --scope project`."


def test_it_asks_the_model_of_the_stage_alone(world: World, qwen: Path) -> None:
    world.setenv("OPENAI_API_KEY", "secret")
    world.setenv("QWEN_CODE_SIMPLE", "1")

    environment = trial.environment(Stage("/stage", "http://127.0.0.1:1"))

    assert environment["QWEN_HOME"] == "/stage/qwen"
    assert environment["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:1"
    assert environment["QWEN_CODE_SIMPLE"] == "1"  # with it no hooks run: the user should see that
    assert "secret" not in environment.values()
