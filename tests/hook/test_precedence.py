from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from making import COMMAND, a_payload, a_space, a_start, ours, put, stored

from sisyphus.clients import claude_code_files
from sisyphus.hook import precedence, run
from sisyphus.session.hooks import on_session_start
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from sisyphus._types import Json

USER, SHARED, LOCAL = "user", "project", "local"
EVERYWHERE = ("user", "project", "local", "plugin")

OURS = f"{COMMAND} hook stop"
PROJECTS = "sisyphus hook stop --scope project"
LOCALS = f"'{COMMAND}' hook stop --scope local"


def _wired(command: str, event: str = "Stop", kind: str = "command") -> Json:
    return {"hooks": {event: [{"hooks": [{"type": kind, "command": command}]}]}}


def _lay(home: Path, project: Path, files: dict[str, Json | str]) -> None:
    places = {
        USER: home / ".claude" / "settings.json",
        SHARED: project / ".claude" / "settings.json",
        LOCAL: project / ".claude" / "settings.local.json",
    }
    for name, content in files.items():
        put(places[name], content if isinstance(content, str) else json.dumps(content))


def _space(folder: Path, scope: str, now: float = 1_000_000.0) -> Workspace:
    return Workspace(str(folder), now=now, scope=scope)


def _start(folder: Path, scopes: Iterable[str] = EVERYWHERE, now: float = 1_000_000.0) -> None:
    """The session begins, with a hook of each of these wirings."""
    for scope in scopes:
        on_session_start(a_start(), _space(folder, scope, now))


def _is_silent(project: Path, scope: str, event: str = "stop", **raw: str) -> bool:
    return precedence.silence(a_payload(event, **raw), _space(project, scope)) is not None


SILENT = [
    pytest.param("project", {USER: _wired(OURS)}, id="the user's own come first"),
    pytest.param("local", {USER: _wired(OURS)}, id="before the local ones, too"),
    pytest.param("plugin", {USER: _wired(OURS)}, id="and before a plugin"),
    pytest.param("local", {SHARED: _wired(PROJECTS)}, id="the shared ones before the local ones"),
    pytest.param("plugin", {SHARED: _wired(PROJECTS)}, id="and before a plugin as well"),
    pytest.param("plugin", {LOCAL: _wired(LOCALS)}, id="a plugin comes last"),
    pytest.param("project", {USER: "\ufeff" + json.dumps(_wired(OURS))}, id="a byte order mark"),
    pytest.param("plugin", {SHARED: _wired("sisyphus hook stop")}, id="copied by hand"),
    pytest.param("plugin", {USER: _wired("sisyphus  hook  stop ")}, id="more blanks"),
    pytest.param("plugin", {USER: _wired("'/a b/sisyphus' hook stop")}, id="quoted"),
    pytest.param("plugin", {USER: _wired("'/o'\"'\"'n/sisyphus' hook stop")}, id="a quote"),
]


@pytest.mark.parametrize(("scope", "files"), SILENT)
def test_another_wiring_that_works_answers(
    home: Path, project: Path, scope: str, files: dict[str, Json | str]
) -> None:
    _lay(home, project, files)
    _start(project)

    assert _is_silent(project, scope)


SPEAKS = [
    pytest.param("project", {}, id="no settings at all"),
    pytest.param("user", {USER: _wired(OURS), SHARED: _wired(PROJECTS)}, id="the user's own"),
    pytest.param("project", {SHARED: _wired(PROJECTS)}, id="itself alone"),
    pytest.param("project", {USER: _wired(PROJECTS)}, id="the home folder is the project"),
    pytest.param("project", {LOCAL: _wired(LOCALS)}, id="what comes behind"),
    pytest.param("plugin", {USER: _wired(OURS, "SubagentStop")}, id="another event"),
    pytest.param("plugin", {USER: _wired("sisyphus hook stop-failure")}, id="another hook"),
    pytest.param("plugin", {USER: _wired("other hook stop")}, id="another program"),
    pytest.param("plugin", {USER: _wired(OURS, kind="prompt")}, id="no command of the client's"),
    pytest.param("plugin", {SHARED: _wired(": sisyphus hook stop")}, id="a word in front"),
    pytest.param("plugin", {SHARED: _wired("echo sisyphus hook stop")}, id="said, not called"),
    pytest.param("plugin", {USER: _wired(f"{OURS} || true")}, id="a line of somebody's own"),
    pytest.param("plugin", {USER: "{" + json.dumps(_wired(OURS))}, id="no file the client reads"),
    pytest.param("plugin", {USER: json.dumps([_wired(OURS)])}, id="no object"),
    pytest.param("plugin", {USER: {"hooks": {"Stop": "sisyphus hook stop"}}}, id="no list"),
    pytest.param("plugin", {USER: {"hooks": {"Stop": [OURS, {"hooks": 3}]}}}, id="no groups"),
    pytest.param("plugin", {USER: " " * 1_100_000 + json.dumps(_wired(OURS))}, id="too large"),
    pytest.param("galaxy", {USER: _wired(OURS)}, id="a scope of a later version"),
]


@pytest.mark.parametrize(("scope", "files"), SPEAKS)
def test_it_answers_itself(
    home: Path, project: Path, scope: str, files: dict[str, Json | str]
) -> None:
    _lay(home, project, files)
    _start(project, (*EVERYWHERE, scope))

    assert not _is_silent(project, scope)


STARTS = [
    pytest.param(["project"], id="the other's program is not found, or its settings not loaded"),
    pytest.param([], id="no start was seen"),
    pytest.param(["user"], id="it was itself not there at the start"),
]


@pytest.mark.parametrize("scopes", STARTS)
def test_what_a_file_alone_says_silences_nobody(
    home: Path, project: Path, scopes: list[str]
) -> None:
    _lay(home, project, {USER: _wired(OURS)})
    _start(project, scopes)

    assert not _is_silent(project, "project")


def test_nor_does_what_worked_at_an_earlier_start_alone(home: Path, project: Path) -> None:
    _lay(home, project, {USER: _wired(OURS)})
    _start(project)
    _start(project, ["project"], now=1_003_600.0)

    assert not _is_silent(project, "project")


def test_the_journal_is_told_once_a_session(home: Path, project: Path) -> None:
    _lay(home, project, {USER: _wired(OURS)})
    _start(project)
    told = [precedence.silence(a_payload("stop"), _space(project, "project")) for _ in range(2)]

    assert [outcome.notes if outcome else None for outcome in told] == [
        ["the hooks of the project stay silent here: those of the user answer"],
        [],
    ]
    assert stored(ours(home, "sessions/s1.json"))["silent"] == ["project"]


def test_local_settings_of_the_root_count_in_a_folder_below_it(home: Path, project: Path) -> None:
    _lay(home, project, {LOCAL: _wired(LOCALS)})
    below = project / "src"
    below.mkdir()
    _start(below)

    assert _is_silent(below, "plugin")


def test_the_files_are_those_that_the_client_reads(home: Path, project: Path) -> None:
    space = a_space(project / "src")
    paths = claude_code_files.settings_paths(str(home / ".claude"), space.cwd, space.root)
    for path in paths:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(_wired(f"{path} hook stop"), file)

    found = precedence._commands(space, "Stop")  # noqa: SLF001
    assert sorted(found) == sorted(f"{path} hook stop" for path in paths)


def test_an_idle_wait_belongs_to_the_event_that_it_follows(home: Path, project: Path) -> None:
    _lay(home, project, {USER: _wired("sisyphus hook idle", "StopFailure")})
    _start(project)

    assert _is_silent(project, "plugin", "idle", hook_event_name="StopFailure")
    assert not _is_silent(project, "plugin", "idle")


def _leaves_a_trace(home: Path, project: Path, options: list[str]) -> bool:
    """Whether a prompt's hook answers, where the user's own settings call us as well."""
    _lay(home, project, {USER: _wired("sisyphus hook user-prompt-submit", "UserPromptSubmit")})
    _start(project)
    payload = {"session_id": "s1", "cwd": str(project), "prompt": "hello"}
    told = put(home / "payload.json", json.dumps(payload))
    with told.open(encoding="utf-8") as file, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", file)
        assert run.run("user-prompt-submit", options) == 0
    lines = ours(home, "logs/journal-s1.jsonl").read_text(encoding="utf-8").splitlines()
    return "silent" not in json.loads(lines[-1])


WIRINGS = [
    pytest.param([], True, id="the user's settings"),
    pytest.param(["--scope", "project"], False, id="the project's settings"),
    pytest.param(["--scope", "project", "--client", "opencode"], True, id="another client"),
    pytest.param(["--scope"], True, id="an option without its value"),
]


@pytest.mark.parametrize(("options", "answers"), WIRINGS)
def test_the_hook_of_a_weaker_wiring_leaves_it_to_the_stronger(
    home: Path, project: Path, options: list[str], answers: bool
) -> None:
    assert _leaves_a_trace(home, project, options) == answers


def test_so_does_that_of_a_plugin(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_PLUGIN_ROOT", "/plugin")

    assert not _leaves_a_trace(home, project, [])


def test_a_fault_of_this_look_silences_nobody(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no idea")

    monkeypatch.setattr(precedence, "silence", fail)

    assert _leaves_a_trace(home, project, ["--scope", "project"])
