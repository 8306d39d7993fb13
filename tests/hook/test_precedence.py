"""Which of several wirings answers, seen at the door: by whether a rule is sent for a file."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

import pytest
from making import COMMAND, put

from sisyphus.hook import precedence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from world import World

    from sisyphus._types import Json

USER, SHARED, LOCAL = "user", "project", "local"
EVERYWHERE = ("user", "project", "local", "plugin")
ADVICE = "Annotate every function."

BARE = "sisyphus hook post-tool-use"
OURS = f"{COMMAND} hook post-tool-use"
PROJECTS = "sisyphus hook post-tool-use --scope project"
LOCALS = f"'{COMMAND}' hook post-tool-use --scope local"


def _wired(command: str, event: str = "PostToolUse", kind: str = "command") -> Json:
    return {"hooks": {event: [{"hooks": [{"type": kind, "command": command}]}]}}


def _lay(world: World, files: dict[str, Json | str]) -> None:
    places = {
        USER: world.home / ".claude" / "settings.json",
        SHARED: world.folder / ".claude" / "settings.json",
        LOCAL: world.folder / ".claude" / "settings.local.json",
    }
    for name, content in files.items():
        put(places[name], content if isinstance(content, str) else json.dumps(content))


def _start(world: World, scopes: Iterable[str] = EVERYWHERE) -> None:
    """The session begins, with a hook of each of these wirings."""
    world.write(".github/instructions/a.instructions.md", f'---\napplyTo: "**"\n---\n\n{ADVICE}\n')
    world.write("a.py", "1")
    for scope in scopes:
        world.wired(scope).start()


def _is_silent(world: World, scope: str) -> bool:
    return ADVICE not in world.wired(scope).tool("Read", file_path="a.py").text


SILENT = [
    pytest.param("project", {USER: _wired(OURS)}, id="the user's own come first"),
    pytest.param("local", {USER: _wired(OURS)}, id="before the local ones, too"),
    pytest.param("plugin", {USER: _wired(OURS)}, id="and before a plugin"),
    pytest.param("local", {SHARED: _wired(PROJECTS)}, id="the shared ones before the local ones"),
    pytest.param("plugin", {SHARED: _wired(PROJECTS)}, id="and before a plugin as well"),
    pytest.param("plugin", {LOCAL: _wired(LOCALS)}, id="a plugin comes last"),
    pytest.param("project", {USER: "\ufeff" + json.dumps(_wired(OURS))}, id="a byte order mark"),
    pytest.param("plugin", {SHARED: _wired("sisyphus hook post-tool-use")}, id="copied by hand"),
    pytest.param("plugin", {USER: _wired("sisyphus  hook  post-tool-use ")}, id="more blanks"),
    pytest.param("plugin", {USER: _wired("'/a b/sisyphus' hook post-tool-use")}, id="quoted"),
    pytest.param(
        "plugin", {USER: _wired("'/o'\"'\"'n/sisyphus' hook post-tool-use")}, id="a quote"
    ),
    pytest.param("plugin", {USER: _wired("sisyphus hook post-tool-batch")}, id="an earlier name"),
]


@pytest.mark.parametrize(("scope", "files"), SILENT)
def test_another_wiring_that_works_answers(
    world: World, scope: str, files: dict[str, Json | str]
) -> None:
    _lay(world, files)
    _start(world)
    assert _is_silent(world, scope)


SPEAKS = [
    pytest.param("project", {}, id="no settings at all"),
    pytest.param("user", {USER: _wired(OURS), SHARED: _wired(PROJECTS)}, id="the user's own"),
    pytest.param("project", {SHARED: _wired(PROJECTS)}, id="itself alone"),
    pytest.param("project", {USER: _wired(PROJECTS)}, id="the home folder is the project"),
    pytest.param("project", {LOCAL: _wired(LOCALS)}, id="what comes behind"),
    pytest.param("plugin", {USER: _wired(OURS, "SubagentStop")}, id="another event"),
    pytest.param("plugin", {USER: _wired("sisyphus hook stop")}, id="another hook"),
    pytest.param("plugin", {USER: _wired("other hook post-tool-use")}, id="another program"),
    pytest.param("plugin", {USER: _wired(OURS, kind="prompt")}, id="no command of the client's"),
    pytest.param("plugin", {SHARED: _wired(f": {BARE}")}, id="a word in front"),
    pytest.param("plugin", {SHARED: _wired(f"echo {BARE}")}, id="said, not called"),
    pytest.param("plugin", {USER: _wired(f"{OURS} || true")}, id="a line of somebody's own"),
    pytest.param("plugin", {USER: "{" + json.dumps(_wired(OURS))}, id="no file the client reads"),
    pytest.param("plugin", {USER: json.dumps([_wired(OURS)])}, id="no object"),
    pytest.param("plugin", {USER: {"hooks": {"PostToolUse": BARE}}}, id="no list"),
    pytest.param("plugin", {USER: {"hooks": {"PostToolUse": [OURS, {}]}}}, id="no groups"),
    pytest.param("plugin", {USER: " " * 1_100_000 + json.dumps(_wired(OURS))}, id="too large"),
    pytest.param("galaxy", {USER: _wired(OURS)}, id="a scope of a later version"),
]


@pytest.mark.parametrize(("scope", "files"), SPEAKS)
def test_it_answers_itself(world: World, scope: str, files: dict[str, Json | str]) -> None:
    _lay(world, files)
    _start(world, (*EVERYWHERE, scope))
    assert not _is_silent(world, scope)


STARTS = [
    pytest.param(["project"], id="the other's program is not found, or its settings not loaded"),
    pytest.param([], id="no start was seen"),
    pytest.param(["user"], id="it was itself not there at the start"),
]


@pytest.mark.parametrize("scopes", STARTS)
def test_what_a_file_alone_says_silences_nobody(world: World, scopes: list[str]) -> None:
    _lay(world, {USER: _wired(OURS)})
    _start(world, scopes)
    assert not _is_silent(world, "project")


def test_nor_does_what_worked_at_an_earlier_start_alone(world: World) -> None:
    _lay(world, {USER: _wired(OURS)})
    _start(world)
    database = sqlite3.connect(world.ours / "sisyphus.db")
    with database:
        database.execute("UPDATE wiring SET started_at = started_at - 3600 WHERE scope = 'user'")
    database.close()
    assert not _is_silent(world, "project")


def test_local_settings_of_the_root_count_in_a_folder_below_it(world: World) -> None:
    _lay(world, {LOCAL: _wired(LOCALS)})
    _start(world)
    (world.folder / "src").mkdir()
    answer = world.wired("plugin").hook(
        "post-tool-use", cwd=str(world.folder / "src"),
        tool_input={"file_path": str(world.folder / "a.py")},
    )  # fmt: skip
    assert ADVICE not in answer.text


def test_a_fault_of_this_look_silences_nobody(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no idea")

    _lay(world, {USER: _wired(OURS)})
    _start(world)
    monkeypatch.setattr(precedence, "silence", fail)
    assert not _is_silent(world, "project")
