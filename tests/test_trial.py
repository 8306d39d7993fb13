"""`doctor.trial`: what it finds when a client, wired as the user has it, is started once.

The client here is a small program that reads settings, runs hooks and asks the model as Claude
Code does; `e2e/test_doctor_live.py` has the real ones.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from patience import wait_for
from world import PAYLOADS, SISYPHUS, World

from sisyphus import clients
from sisyphus.clients import installer
from sisyphus.clients.finding import Finding, Level
from sisyphus.clients.installation import Installation
from sisyphus.doctor import trial
from sisyphus.ground import processes
from sisyphus.ground.record import replace
from sisyphus.setup import plugin
from sisyphus.terminal import show

Json = dict[str, Any]

EVENTS = ("SessionStart.startup", "UserPromptSubmit", "PostToolBatch", "Stop")

CLAUDE = f"""\
#!{sys.executable} -S
import json, os, pathlib, socket, subprocess, sys, time

home, project = pathlib.Path(os.environ["CLAUDE_CONFIG_DIR"]), pathlib.Path.cwd()
payloads = json.loads(pathlib.Path(__file__).with_name("payloads.json").read_text())
files = [home / "settings.json", *(project / ".claude").glob("settings*.json")]
settings = [json.loads(file.read_text()) for file in files if file.exists()]
settings = [each for each in settings if isinstance(each.get("hooks", {{}}), dict)]
is_off = any(each.get("disableAllHooks") for each in settings)
if "--plugin-dir" in sys.argv:
    plugin = pathlib.Path(sys.argv[sys.argv.index("--plugin-dir") + 1])
    settings.append(json.loads((plugin / "hooks.json").read_text()))
commands = [file.stem for file in home.glob("commands/*.md")]
if "--plugin-dir" in sys.argv:
    commands += [f"sisyphus:{{file.stem}}" for file in plugin.glob("commands/*.md")]

def tell(**event):
    print(json.dumps({{"type": "system", "session_id": "s1", **event}}), flush=True)

def hook(name, **fields):
    payload = {{**payloads[name], "session_id": "s1", "cwd": str(project), **fields}}
    replies, event = [], name.partition(".")[0]
    for entry in [] if is_off else settings:
        for group in entry.get("hooks", {{}}).get(event, []):
            for each in group["hooks"]:
                done = subprocess.run(each["command"], shell=True, input=json.dumps(payload),
                                      capture_output=True, text=True)
                tell(subtype="hook_response", hook_event=event, exit_code=done.returncode,
                     stderr=done.stderr)
                replies.append(json.loads(done.stdout) if done.stdout.strip() else {{}})
    texts = [r.get("hookSpecificOutput", {{}}).get("additionalContext", "") for r in replies]
    return "\\n".join(texts), [r["reason"] for r in replies if r.get("decision") == "block"]

def ask(text):
    body = json.dumps({{"stream": True, "tools": [{{}}], "messages": [text]}}).encode()
    host, port = os.environ["ANTHROPIC_BASE_URL"].removeprefix("http://").split(":")
    head = f"POST /v1/messages?beta=true HTTP/1.0\\r\\ncontent-length: {{len(body)}}\\r\\n\\r\\n"
    with socket.create_connection((host, port)) as model:  # `urllib` takes long to load
        model.sendall(head.encode() + body)
        lines = model.makefile(encoding="utf-8").read().splitlines()
    events = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
    pieces = [e["delta"] for e in events if e["type"] == "content_block_delta"]
    return pieces[0].get("text"), json.loads(pieces[0].get("partial_json", "null"))

# MISCHIEF
tell(subtype="init", slash_commands=commands)
started, _ = hook("SessionStart.startup")
prompted, _ = hook("UserPromptSubmit", prompt=sys.argv[2])
_, call = ask(started + prompted + sys.argv[2])
read = {{"tool_name": "Read", "tool_input": call}}
sent, _ = hook("PostToolBatch", tool_calls=[read])
last, _ = ask(sent + pathlib.Path(call["file_path"]).read_text())
_, reasons = hook("Stop", last_assistant_message=last)
for reason in reasons[:1]:
    ask(reason)
"""


@pytest.fixture
def wired(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A user who has the client and has installed sisyphus, and whose folder for temporary files
    has a blank in its name."""
    folder = world.root / "tmp folder"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    program(world, "")
    world.setenv("PATH", f"{world.root / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert world.cli("install", "--yes", "--client", "claude-code").code == 0
    return world


def program(world: World, mischief: str) -> Path:
    """Puts the client there. mischief: what it does before all else."""
    file = world.root / "bin" / "claude"
    file.parent.mkdir(exist_ok=True)
    payloads = {name: json.loads((PAYLOADS / f"{name}.json").read_text()) for name in EVENTS}
    file.with_name("payloads.json").write_text(json.dumps(payloads))
    file.write_text(CLAUDE.replace("# MISCHIEF", mischief))
    file.chmod(0o755)
    return file


def settings_file(world: World) -> Path:
    return world.claude / "settings.json"


def edit(world: World, change: Callable[[Json], object]) -> None:
    """Changes the user's settings."""
    settings = json.loads(settings_file(world).read_text())
    change(settings)
    settings_file(world).write_text(json.dumps(settings))


def play(seconds: float = 30.0, client: str = "claude-code") -> list[Finding]:
    return trial.play(client, show.place(), seconds)


def problems(found: list[Finding]) -> list[Finding]:
    return [each for each in found if each.level is not Level.GOOD]


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file below a folder, with the time of its last change. The store's own files change
    when a command opens it."""
    return {
        str(file): (file.read_bytes(), file.stat().st_mtime_ns)
        for file in sorted(folder.rglob("*"))
        if file.is_file() and "sisyphus.db" not in file.name
    }


def test_a_whole_wiring_is_good_and_everything_is_as_before(wired: World) -> None:
    place = show.place()
    before = snapshot(wired.root)
    tables = [place.store.all(f"SELECT * FROM {name}") for name in ("session", "event", "enforced")]

    found = trial.play("claude-code", place)

    assert [each.level for each in found] == [Level.GOOD], found
    assert "a session started, the agent read a file and the agent stopped." in found[0].text
    assert snapshot(wired.root) == before
    for name, rows in zip(("session", "event", "enforced"), tables, strict=True):
        assert place.store.all(f"SELECT * FROM {name}") == rows
    assert not list((wired.root / "tmp folder").iterdir())


def drop(*names: str) -> Callable[[Json], object]:
    return lambda settings: [settings["hooks"].pop(name) for name in names]


def start_with(program: str) -> Callable[[Json], object]:
    def change(settings: Json) -> None:
        for groups in settings["hooks"].values():
            for hook in (hook for group in groups for hook in group["hooks"]):
                hook["command"] = hook["command"].replace(shlex.quote(sys.executable), program)

    return change


@pytest.mark.parametrize(
    ("change", "text", "mend"),
    [
        (
            drop("SessionStart"),
            "it did not call sisyphus when a session started.",
            "`sisyphus install --client claude-code`",
        ),
        (
            drop("PostToolBatch"),
            "when the agent read a file.",
            "`sisyphus install --client claude-code`",
        ),
        (drop("Stop"), "when the agent stopped.", "`sisyphus install --client claude-code`"),
        (
            drop("SessionStart", "Stop"),
            "a session started or the agent stopped.",
            "`sisyphus install --client claude-code`",
        ),
        (lambda s: s.update(disableAllHooks=True), '.claude/settings.json sets "disable', "out"),
        (
            start_with("/gone/sisyphus"),
            "does not start: ",
            "`sisyphus install --client claude-code`",
        ),
        (
            start_with(f"{shutil.which('true')} sisyphus"),
            "not tried: nothing else calls sisyphus.",
            "--client cl",
        ),
        (lambda s: s.pop("hooks"), "not tried: nothing calls sisyphus.", "--client cl"),
        (
            lambda s: s["hooks"].update(Stop=3),
            "when the agent stopped.",
            "`sisyphus install --client claude-code`",
        ),
    ],
)
def test_what_is_missing_is_named(
    wired: World, change: Callable[[Json], object], text: str, mend: str
) -> None:
    edit(wired, change)

    [problem] = problems(play())

    assert text in problem.text
    assert mend in problem.mend


def test_a_slash_command_that_the_client_does_not_know_is_named(wired: World) -> None:
    (wired.claude / "commands" / "start-work.md").unlink()

    [problem] = problems(play())

    assert "does not know the slash command /start-work" in problem.text


def test_what_the_client_drops_is_named(wired: World) -> None:
    """It calls us, and our answers do not arrive."""
    file = program(wired, "")
    file.write_text(file.read_text().replace("ask(started + ", "ask("))

    [problem] = problems(play())

    assert problem.text == "a README.md that sisyphus sent did not reach the model."


def test_nothing_of_others_is_run_and_no_secret_is_copied(wired: World) -> None:
    mark = wired.root / "ran"
    other = {"hooks": [{"type": "command", "command": f"touch {mark}"}]}

    def change(settings: Json) -> None:
        settings["hooks"]["Stop"].insert(0, other)
        settings["hooks"]["PreToolUse"] = [other, "odd", {"hooks": 7}, {"hooks": [None]}]
        settings["apiKeyHelper"] = f"touch {mark}"
        settings["fileSuggestion"] = {"type": "command", "command": f"touch {mark}"}
        settings["env"] = {"ANTHROPIC_AUTH_TOKEN": "tok-secret", "ANTHROPIC_BASE_URL": "http://x"}
        settings["enabledPlugins"] = {"other@market": True}

    edit(wired, change)
    (wired.claude / ".credentials.json").write_text("tok-secret")
    wired.setenv("ANTHROPIC_AUTH_TOKEN", "tok-secret")
    wired.setenv("HTTPS_PROXY", "http://tok-secret@127.0.0.1:1")
    copies = wired.root / "copies.json"
    program(
        wired,
        "files = [f for f in home.parent.rglob('*') if f.is_file()]\n"
        f"pathlib.Path({str(copies)!r}).write_text(json.dumps([[dict(os.environ)],\n"
        "    {str(f): f.read_text(errors='replace') for f in files}]))",
    )

    found = play()

    assert not problems(found)
    assert found[0].text == "left out: 3 hooks of others."
    assert not mark.exists()
    seen = copies.read_text()
    assert "tok-secret" not in seen
    assert "touch" not in seen
    assert "other@market" not in seen


def test_a_project_can_start_nothing(wired: World) -> None:
    """A stranger's settings name a program of ours, as it looks."""
    mark = wired.root / "ran"
    script = wired.write("bin/sisyphus", f"#!/bin/sh\ntouch '{mark}'\n")
    script.chmod(0o755)
    hook = {"type": "command", "command": f"{script} hook stop"}
    chain = {"type": "command", "command": f"sisyphus hook stop; touch {mark}"}
    stops = {"hooks": {"Stop": [{"hooks": [hook, chain]}]}}
    wired.write(".claude/settings.json", json.dumps(stops))
    wired.write(".claude/settings.local.json", json.dumps(stops))

    found = play()

    assert not problems(found)
    assert not mark.exists()


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 900 + "1" + "}" * 900, "[]", '{"hooks": [{"Stop": 1}]}']
)
def test_hostile_settings_of_a_project_hinder_nothing(wired: World, text: str) -> None:
    wired.write(".claude/settings.json", text)
    assert not problems(play())


def test_hooks_that_install_wrote_into_the_project_are_tried(wired: World) -> None:
    file = wired.project / ".claude" / "settings.local.json"
    file.parent.mkdir()
    settings_file(wired).rename(file)

    assert not problems(play())


def put_on_path(world: World) -> None:
    """By an environment, so that what is the user's own starts us by our path all the same."""
    world.setenv("PATH", f"{SISYPHUS.parent}{os.pathsep}{os.environ['PATH']}")
    assert plugin.start_command() != installer.NAME


def test_hooks_that_everybody_shares_are_tried(wired: World) -> None:
    """`install --scope project` names the bare program, wherever this one is."""
    put_on_path(wired)
    wired.cli("uninstall", "--yes", "--client", "claude-code")
    wired.cli("install", "--yes", "--client", "claude-code", "--scope", "project")

    found = play()

    assert not problems(found)
    assert not any("left out" in each.text for each in found), found


@pytest.mark.parametrize(
    ("client", "file"),
    [("claude-code", ".claude/settings.json"), ("opencode", ".opencode/plugins/sisyphus.js")],
)
@pytest.mark.parametrize(
    ("is_edited", "is_on_path"), [(False, True), (False, False), (True, True), (True, False)]
)
def test_a_shared_install_is_mended_for_everybody(
    wired: World, client: str, file: str, is_edited: bool, is_on_path: bool
) -> None:
    shutil.rmtree(wired.project / ".git")
    subprocess.run(["git", "init", "-q", wired.project], check=True)
    wired.cli("uninstall", "--yes")
    wired.cli("install", "--yes", "--client", client, "--scope", "project")
    subprocess.run(["git", "-C", wired.project, "add", "-A"], check=True)
    if is_edited:  # it starts another program, so it is not tried
        shared = wired.project / file
        for old, new in (
            ("= sisyphus ", "= /gone/sisyphus "),
            ('["sisyphus"]', '["/gone/sisyphus"]'),
        ):
            shared.write_text(shared.read_text().replace(old, new))
    if is_on_path:
        put_on_path(wired)
    place = show.place()

    checked = Installation(
        place.home, place.project, plugin.hooks(), plugin.commands(), plugin.start_command()
    )
    wiring = clients.trial(client).wiring(checked)

    assert wiring.is_wired is not is_edited
    mend = f"Run `sisyphus install --client {client} --scope project`."
    assert wiring.mend == (mend if is_edited or is_on_path else installer.ON_PATH)


def test_a_plugin_that_the_settings_enable_is_tried_from_its_folder(wired: World) -> None:
    folder = wired.cli("plugin-path").out.strip()
    (wired.root / "bin" / "sisyphus").symlink_to(SISYPHUS)
    wired.cli("uninstall", "--yes", "--client", "claude-code")
    wired.write(settings_file(wired), json.dumps({"enabledPlugins": {"sisyphus@lab": True}}))
    rows = {"sisyphus@lab": [{"scope": "user", "installPath": folder}]}
    wired.write(wired.claude / "plugins" / "installed_plugins.json", json.dumps({"plugins": rows}))

    assert [each.level for each in play()] == [Level.GOOD]

    rows["sisyphus@lab"][0]["installPath"] = str(wired.project)  # nothing of a project is run
    wired.write(wired.claude / "plugins" / "installed_plugins.json", json.dumps({"plugins": rows}))

    [note, finding] = play()

    assert note.text == "left out: the plugin sisyphus@lab, whose folder was not found."
    assert finding.level is Level.WARNING
    assert "`claude plugin update sisyphus@lab`" in finding.mend


@pytest.mark.parametrize(
    ("mischief", "text"),
    [
        (
            "sys.stderr.write('no such flag\\n'); sys.exit(3)",
            "exit code 3 before it asked a model: no such",
        ),
        ("sys.exit(0)", "exit code 0 before it asked a model: it said nothing"),
    ],
)
def test_a_client_that_fails_is_named(wired: World, mischief: str, text: str) -> None:
    program(wired, mischief)

    found = problems(play())

    assert text in found[0].text
    assert str(wired.root / "bin" / "claude") in found[0].mend


def test_a_client_that_hangs_is_ended_with_its_children(wired: World) -> None:
    pids = wired.root / "pids"
    child = "subprocess.Popen(['sleep', '60'], process_group=0)"
    program(
        wired,
        f"child = {child}\n"
        f"pathlib.Path({str(pids)!r}).write_text(f'{{os.getpid()}} {{child.pid}}')\n"
        "time.sleep(60)",
    )

    [problem] = problems(play(seconds=0.7))

    assert "it did not end within 1 seconds" in problem.text
    assert not [pid for pid in pids.read_text().split() if is_running(int(pid))]
    assert not list((wired.root / "tmp folder").iterdir())


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_after_a_signal_nothing_is_left(wired: World, number: signal.Signals) -> None:
    pids = wired.root / "pids"
    program(wired, f"pathlib.Path({str(pids)!r}).write_text(str(os.getpid()))\ntime.sleep(60)")
    script = textwrap.dedent(
        """
        from sisyphus.terminal import show
        from sisyphus.doctor import trial
        trial.play("claude-code", show.place())
        """
    )
    wired.setenv("TMPDIR", str(wired.root / "tmp folder"))
    with subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL) as process:
        wait_for(lambda: pids.exists() and pids.read_text())
        process.send_signal(number)

    assert process.returncode
    assert not is_running(int(pids.read_text()))
    assert not list((wired.root / "tmp folder").iterdir())


def test_parts_that_are_off_are_not_missed(wired: World) -> None:
    wired.write(
        wired.ours / "config.toml",
        "context.enabled = false\nrules.enabled = false\n[notify]\ncommand = 'touch ran'\n",
    )

    assert not problems(play())


@pytest.mark.parametrize(
    ("variable", "value", "text"),
    [
        ("SISYPHUS_DISABLE", "1", "SISYPHUS_DISABLE is set"),
        ("PATH", "/usr/bin:/bin", "its program is not here"),
    ],
)
def test_where_nothing_can_be_tried_it_says_why(
    wired: World, variable: str, value: str, text: str
) -> None:
    wired.setenv(variable, value)

    [finding] = play()

    assert finding.text.startswith("not tried: ")
    assert text in finding.text


def is_running(pid: int) -> bool:
    return processes.key(pid) != ""


# ---------------------------------------------------------------- what the command says


def live(world: World, *options: str) -> str:
    return world.cli("doctor", "--live", "--client", "claude-code", *options).out


def test_it_says_what_was_tried_and_how_it_went(wired: World) -> None:
    out = live(wired)

    first, last = out.splitlines()[-2:]
    assert first.startswith("✓ Claude Code live: tried, 3 of 3 hooks arrived (")
    assert first.endswith(" s): a session started, the agent read a file and the agent stopped.")
    assert last.startswith("All is well") or "warning" in last
    assert live(wired, "-v").count("hooks arrived") == 1


def test_a_part_that_is_off_is_not_among_the_hooks_that_were_tried(wired: World) -> None:
    wired.cli("config", "rules.enabled", "false")

    assert "2 of 2 hooks arrived" in live(wired)


def test_what_went_wrong_is_said_in_place_of_what_arrived(wired: World) -> None:
    edit(wired, drop("Stop"))

    out = live(wired)

    assert "✗ Claude Code live: it did not call sisyphus when the agent stopped." in out
    assert "arrived" not in out


def test_what_the_client_asks_for_outside_of_the_trial_is_said(
    wired: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Codex asks whether hooks are trusted."""
    here = clients.trial("claude-code")
    copy = here.wiring
    monkeypatch.setattr(here, "wiring", lambda place: replace(copy(place), until="once trusted"))

    assert "✓ Claude Code live: would work once trusted. Tried, 3 of 3 hooks" in live(wired)
