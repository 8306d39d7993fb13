"""`sisyphus status`, the first word that anybody types."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE
from world import SISYPHUS, World

from sisyphus.door import statusline


def test_where_there_is_nothing_each_thing_is_one_helpful_line(world: World) -> None:
    shown = world.cli("status")

    assert shown.code == 0
    assert shown.out.splitlines() == [
        str(world.project),
        "No plan is followed here. Write a PLAN.md with `- [ ] tasks`.",
        "No loop is running.",
        "No client is wired. `sisyphus install` does that.",
    ]


def test_it_shows_plan_loop_context_and_wiring(world: World) -> None:
    world.cli("install", "--yes")
    world.write("PLAN.md", "# Shop\n\n- [x] one\n- [ ] two\n")
    world.start()
    loop = world.loop("--max-iterations", "7")
    usage = {"input_tokens": 420_000}
    window = {"context_window_size": 1_000_000, "current_usage": usage}
    payload = {"session_id": "s1", "cwd": str(world.project), "context_window": window}
    statusline.run([], io.BytesIO(json.dumps(payload).encode()), io.StringIO(), io.StringIO())

    out, data = world.cli("status").out, world.cli("status", "--json").json

    assert "Shop\nPLAN.md, active\nProgress: 1/2 tasks, 50%\nNext: two\n" in out
    assert f"Loop {loop}: active, iteration 1 of 7, 0 min: Fix it.\n" in out
    assert "Context: 42 % of 1,000,000 tokens\n" in out
    assert "\nClaude Code is wired by ~/.claude/settings.json.\n" in out
    assert list(data) == [
        "project", "plan", "loops", "runs", "hold", "enforcement", "context", "wiring", "waiting",
        "notices",
    ]  # fmt: skip
    assert data["context"] == {
        "session": "s1", "tokens": 420_000, "window": 1_000_000, "percent": 42, "level": "L0",
    }  # fmt: skip
    (source,) = data["wiring"]["clients"]["claude-code"]["sources"]
    assert source == {
        "file": str(world.claude / "settings.json"), "plugin": None, "is_current": True,
        "problem": None,
    }  # fmt: skip
    assert data["wiring"]["last_event"].endswith("Z")


def test_a_client_that_has_not_called_is_named(world: World) -> None:
    world.cli("install", "--yes")
    hint = "It has not called sisyphus yet. Start a session of Claude Code."

    assert hint in world.cli("status").out
    assert not world.cli("status", "--json").json["wiring"]["clients"]["claude-code"]["has_called"]
    world.start()
    assert hint not in world.cli("status").out


def test_two_wirings_are_named(world: World) -> None:
    world.cli("install", "--yes")
    world.write(".claude/settings.json", '{"enabledPlugins": {"sisyphus@market": true}}')

    out = world.cli("status").out

    assert "Claude Code is wired by ~/.claude/settings.json and the plugin sisyphus@market." in out


def test_a_message_that_waits_for_the_next_start_is_shown_and_stays(world: World) -> None:
    world.write(world.ours / "sisyphus.db", "damaged")

    for _ in range(2):
        assert "could not use its database and started a new one" in world.cli("status").out
    assert "started a new one" in world.cli("status", "--json").json["notices"][0]
    assert "started a new one" in world.start().message
    assert "started a new one" not in world.cli("status").out


@pytest.mark.parametrize("client", ["claude-code", "codex", "qwen", "copilot"])
@pytest.mark.parametrize("command", ["status", "doctor"])
def test_a_key_of_a_wrong_type_in_a_wired_file(world: World, client: str, command: str) -> None:
    world.cli("install", "--yes", "--client", client)
    (source,) = wiring_of(world, client)
    content = json.loads(Path(source["file"]).read_text())
    content["hooks"]["PreToolUse"] = None
    Path(source["file"]).write_text(json.dumps(content))

    assert world.cli(command).code in (0, 1)
    (source,) = wiring_of(world, client)
    assert '"hooks" has an entry "PreToolUse" that is not a list' in source["problem"]


@pytest.mark.parametrize("scope", ["local", "project"])
def test_what_is_not_of_this_version_is_installed_again_in_its_place(
    world: World, scope: str
) -> None:
    world.cli("install", "--yes", "--client", "claude-code", "--scope", scope)
    (source,) = wiring_of(world, "claude-code")
    file = Path(source["file"])
    assert source["is_current"]
    file.write_text(file.read_text().replace("900", "901"))

    out = world.cli("status").out

    install = f"sisyphus install --client claude-code --scope {scope}"
    assert f"settings{'' if scope == 'project' else '.local'}.json is not as this version" in out
    assert f"run `{install}`." in out
    world.cli(*install.split()[1:], "--yes")
    assert wiring_of(world, "claude-code")[0]["is_current"]


def test_a_file_of_a_client_that_is_not_in_use_is_of_no_concern(world: World) -> None:
    """Qwen Code allows comments in its settings."""
    world.write(world.home / ".qwen/settings.json", "{ // mine\n}")
    assert "~/.qwen/settings.json: it is not valid JSON" in world.cli("status").out
    world.cli("install", "--yes", "--client", "claude-code")

    assert ".qwen" not in world.cli("status").out


@pytest.mark.parametrize("is_done", [True, False])
def test_a_plan_whose_file_is_deleted_is_shown_as_long_as_a_session_follows_it(
    world: World, is_done: bool
) -> None:
    plan = world.write("PLAN.md", "# Shop\n\n- [ ] cart\n")
    world.start()
    if is_done:
        world.edit("PLAN.md", "- [ ] cart", "- [x] cart")
    plan.unlink()
    assert "Shop" in world.cli("status").out

    world.hook("session-end", world.payload("SessionEnd.other"))

    assert "Shop" not in world.cli("status").out
    assert "Shop" not in world.cli("status", "--all").out
    assert world.cli("status", "--json").json["plan"]["state"] == "none"


def test_below_a_deleted_plan_the_other_files_are_seen(world: World) -> None:
    plan = world.write("docs/kord/plans/shop.md", "# Shop\n\n- [ ] cart\n")
    world.start()
    plan.unlink()
    world.hook("session-end", world.payload("SessionEnd.other"))
    world.write("PLAN.md", "# Boat\n\nFirst the hull.\n")

    shown = world.cli("status").out

    assert "PLAN.md cannot be followed: it has no boxes" in shown
    assert "Write a PLAN.md" not in shown


@pytest.mark.parametrize(
    ("plan", "progress", "percent"),
    [
        ("- [x] one\n- [ ] two\n- [ ] three\n", "1/3 tasks, 33%", 33),
        ("- [x] done\n" * 199 + "- [ ] last\n", "199/200 tasks, 99%", 99),
        ("- [x] one\n", "1/1 tasks, 100%", 100),
    ],
)
def test_the_plan_in_percent(world: World, plan: str, progress: str, percent: int) -> None:
    """Rounded down: 100 says that all is done."""
    file = str(world.write("list.md", f"# Shop\n\n{plan}"))

    assert f"Progress: {progress}\n" in world.cli("boulder", "status", "--plan", file).out
    data = world.cli("boulder", "status", "--plan", file, "--json").json
    assert data["progress"]["percent"] == percent


def test_a_context_is_shown_until_its_session_ends(world: World) -> None:
    world.start()
    usage = {"context_window_size": 1_000_000, "current_usage": {"input_tokens": 420_000}}
    payload = {"session_id": "s1", "cwd": str(world.project), "context_window": usage}
    statusline.run([], io.BytesIO(json.dumps(payload).encode()), io.StringIO(), io.StringIO())
    assert "Context: 42 %" in world.cli("status").out

    world.hook("session-end", world.payload("SessionEnd.other"))

    assert "Context" not in world.cli("status").out
    assert world.cli("status", "--json").json["context"] is None


def test_a_client_that_you_do_not_have_is_of_no_concern(world: World) -> None:
    """A project may have files for clients of others."""
    world.write(".qwen/settings.json", "{oops")
    assert ".qwen" not in world.cli("status").out

    world.cli("install", "--yes", "--client", "opencode", "--scope", "project")

    out = world.cli("status").out
    assert f"OpenCode is wired by {world.project}/.opencode" in out
    assert "not called" not in out


def wiring_of(world: World, client: str) -> Any:
    return world.cli("status", "--json").json["wiring"]["clients"][client]["sources"]


def test_settings_that_cannot_be_read_are_named(world: World) -> None:
    world.write(world.claude / "settings.json", "{oops")

    out = world.cli("status").out

    assert "~/.claude/settings.json: it is not valid JSON" in out
    assert "No client is wired" not in out
    (source,) = world.cli("status", "--json").json["wiring"]["clients"]["claude-code"]["sources"]
    assert source["problem"].startswith("it is not valid JSON")


def test_times_are_local(world: World) -> None:
    world.start()

    assert re.search(r"ran last at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d: by", world.cli("status").out)


def test_the_home_folder_is_never_a_project(world: World) -> None:
    world.write(world.home / "PLAN.md", "# Shop\n\n- [ ] one\n")

    out = world.cli("status", "--project", world.home).out

    assert "never a project" in out
    assert "Shop" not in out
    assert world.cli("boulder", "start", "--project", world.home).code == 1
    assert "Shop" not in world.start(cwd=str(world.home)).text


def test_a_context_that_is_all_but_empty_is_left_out(world: World) -> None:
    world.start()
    usage = {"context_window_size": 1_000_000, "current_usage": {"input_tokens": 110}}
    payload = {"session_id": "s1", "cwd": str(world.project), "context_window": usage}
    statusline.run([], io.BytesIO(json.dumps(payload).encode()), io.StringIO(), io.StringIO())

    assert "Context" not in world.cli("status").out


def test_settings_of_any_shape_are_read(world: World) -> None:
    for text in ('{"hooks": 3}', '{"hooks": {"Stop": 3}}', '{"hooks": {"Stop": [3, {}]}}', "[]"):
        world.write(".claude/settings.json", text)

        assert world.cli("status").code == 0


@pytest.mark.parametrize(
    "words",
    [["status"], ["boulder", "status"], ["boulder", "hold", "on"], ["boulder", "checkpoint", "x"],
     ["enforce", "on"]],
)  # fmt: skip
def test_where_no_project_can_be_commands_say_so(
    world: World, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir("/")

    answer = world.cli(*words)

    assert (
        "Your home folder is never a project, nor is a folder above it" in answer.out + answer.err
    )


def test_all_projects_at_once(world: World) -> None:
    assert "No plan is followed in any project" in world.cli("status", "--all").out
    world.write("PLAN.md", "# Shop\n\n- [x] cart\n- [ ] total\n")
    id = world.loop(prompt="Build the shop.")
    world.stop("<blocked>a key</blocked>")
    (world.root / "elsewhere").mkdir()

    out = world.cli("status", "--all", "--project", world.root / "elsewhere").out
    everything = world.cli("status", "--all", "--json").json

    assert "Plan Shop: 1/2 tasks, 50%, next: total" in out
    assert f"Loop {id}: blocked" in out
    assert "Waiting for you:" in out
    assert [each["project"] for each in everything["projects"]] == [str(world.project)]
    assert everything["projects"][0]["loops"][0]["loop_id"] == id
    assert [each["loop_id"] for each in everything["waiting"]] == [id]


def test_watch_shows_what_changes(world: World) -> None:
    world.write("PLAN.md", "# Shop\n\n- [ ] cart\n- [ ] total\n")
    world.start()
    process, terminal = pty.fork()
    if not process:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background job ignores it
        os.execv(SISYPHUS, ["sisyphus", "status", "--watch"])

    read_until(terminal, "Progress: 0/2")
    world.edit("PLAN.md", "- [ ] cart", "- [x] cart")
    read_until(terminal, "Progress: 1/2")
    os.write(terminal, b"\x03")
    _, status = os.waitpid(process, 0)

    assert os.waitstatus_to_exitcode(status) == 0


def read_until(terminal: int, text: str) -> None:
    """Reads what a terminal shows until a text is there, as long as we are patient."""
    shown, deadline = "", time.monotonic() + PATIENCE
    while text not in shown:
        assert time.monotonic() < deadline, shown
        shown += os.read(terminal, 10_000).decode("utf-8", "replace")


def test_watch_needs_a_terminal(world: World) -> None:
    assert "--watch needs a terminal" in world.cli("status", "--watch").err
    assert "is for people" in world.cli("status", "--watch", "--json").err


@pytest.mark.parametrize("words", [("status",), ("ralph", "list"), ("boulder", "status")])
def test_without_a_database_the_commands_say_so(world: World, words: tuple[str, ...]) -> None:
    world.loop()
    with closing(sqlite3.connect(world.ours / "sisyphus.db")) as database:
        database.execute("PRAGMA user_version = 9999")

    assert "warning: nothing is known here: " in world.cli(*words).err


@pytest.mark.parametrize("words", [("handoff",), ("enforce", "off"), ("boulder", "start")])
def test_without_a_database_nothing_is_changed(world: World, words: tuple[str, ...]) -> None:
    world.loop()
    with closing(sqlite3.connect(world.ours / "sisyphus.db")) as database:
        database.execute("PRAGMA user_version = 9999")

    done = world.cli(*words)

    assert done.code == 1
    assert done.err.startswith("error: Nothing can be noted: ")
    assert len(done.err.splitlines()) == 1
