from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from making import a_space, a_start, put, run_hook

from sisyphus import shipped
from sisyphus.clients.base import PLUGIN
from sisyphus.hook.routes import ROUTES
from sisyphus.install import doubled, hooks, wiring

if TYPE_CHECKING:
    from pathlib import Path

HOOK = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/x/sisyphus hook stop"}]}]}}
FOREIGN = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "sisyphus-2 hook stop"}]}]}}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture(autouse=True)
def _a_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the session of who installed nothing, as a colleague with a clone of the project is."""
    monkeypatch.setenv(PLUGIN, shipped.plugin_folder())


def _told(project: Path, **raw: Any) -> str:
    outcome = hooks.on_session_start(a_start(**raw), a_space(project))
    return "\n".join(outcome.messages) if outcome else ""


FILES = [
    pytest.param("~/.claude/settings.json", "", id="the user's"),
    pytest.param(".claude/settings.json", " --scope project", id="a project's"),
    pytest.param(".claude/settings.local.json", " --scope local", id="the user's for a project"),
]


@pytest.mark.parametrize(("file", "scope"), FILES)
def test_hooks_in_settings_beside_the_plugin_are_told_with_the_way_out(
    home: Path, project: Path, file: str, scope: str
) -> None:
    put(home / file[2:] if file[0] == "~" else project / file, json.dumps(HOOK))
    assert _told(project) == (
        f"sisyphus is wired twice, as a plugin and by {file}: the plugin stays silent, at the "
        "price of a second process at every event. Take one "
        f"away: `sisyphus uninstall{scope}` in a terminal, or `claude plugin uninstall "
        "sisyphus@sisyphus`."
    )


def test_all_files_are_named(home: Path, project: Path) -> None:
    for folder in (home, project):
        put(folder / ".claude/settings.json", json.dumps(HOOK))
    assert "by ~/.claude/settings.json and .claude/settings.json:" in _told(project)


@pytest.mark.parametrize("source", ["resume", "clear", "compact", "fork"])
def test_it_is_said_once_in_a_session(home: Path, project: Path, source: str) -> None:
    put(home / ".claude/settings.json", json.dumps(HOOK))
    assert _told(project)
    assert _told(project, source=source) == ""
    assert _told(project, agent_id="a1") == ""


QUIET = [
    pytest.param(None, id="no settings"),
    pytest.param(json.dumps({}), id="no hooks in them"),
    pytest.param(json.dumps(FOREIGN), id="hooks of others"),
    pytest.param("{", id="broken ones"),
    pytest.param('{"hooks": [7]}', id="strange ones"),
    pytest.param('["sisyphus"]', id="a list"),
    pytest.param('["sisyphus", ' + "[" * 9_000, id="nested without end"),
    pytest.param(json.dumps({**HOOK, "pad": "x" * 1_000_000}), id="more than is read"),
]


@pytest.mark.parametrize("settings", QUIET)
def test_the_plugin_alone_is_no_news(home: Path, project: Path, settings: str | None) -> None:
    if settings is not None:
        put(home / ".claude/settings.json", settings)
    assert _told(project) == ""


def test_commands_of_strangers_are_not_taken_apart(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    called = wiring.called_event

    def looking(command: str) -> str:
        looked.append(command)
        return called(command)

    monkeypatch.setattr(wiring, "called_event", looking)
    hooks = [{"type": "command", "command": command} for command in ("a 'b", "sisyphus hook stop")]
    put(project / ".claude/settings.json", json.dumps({"hooks": {"Stop": [{"hooks": hooks}]}}))
    assert doubled.warning(a_space(project))
    assert looked == ["sisyphus hook stop"]


def test_nor_are_the_settings_alone(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(home / ".claude/settings.json", json.dumps(HOOK))
    monkeypatch.delenv(PLUGIN)
    assert _told(project) == ""


def test_the_user_reads_it_as_the_session_starts(home: Path, project: Path) -> None:
    assert "sisyphus.install.hooks:on_session_start" in ROUTES["session-start"]
    put(home / ".claude/settings.json", json.dumps(HOOK))
    payload = {"session_id": "s1", "cwd": str(project), "source": "startup"}
    _, reply = run_hook("session-start", payload)
    assert "sisyphus is wired twice" in reply["systemMessage"]
