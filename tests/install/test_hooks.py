from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from making import put, run_hook

from sisyphus import shipped

if TYPE_CHECKING:
    from pathlib import Path

PLUGIN = "CLAUDE_PLUGIN_ROOT"

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


def _told(project: Path, *words: str, **raw: Any) -> str:
    """What the user reads of it as a session starts."""
    payload = {"session_id": "s1", "cwd": str(project), "source": "startup", **raw}
    _, reply = run_hook("session-start", payload, words=words)
    said = reply.get("systemMessage", "").split("\n\n")
    return "\n\n".join(one for one in said if "wired twice" in one or "an earlier" in one)


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


def test_nor_are_the_settings_alone(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(home / ".claude/settings.json", json.dumps(HOOK))
    monkeypatch.delenv(PLUGIN)
    assert _told(project) == ""


def _calls(*entries: tuple[str, str]) -> str:
    """Settings with these entries: the client's event and the command."""
    hooks: dict[str, list[object]] = {}
    for event, command in entries:
        group = {"matcher": "Read", "hooks": [{"type": "command", "command": command}]}
        hooks.setdefault(event, []).append(group)
    return json.dumps({"hooks": hooks})


SINGLE, BATCH = ("PostToolUse", "sisyphus hook post-tool-use"), ("PostToolBatch", "sisyphus hook ")
WIRINGS = [
    pytest.param([SINGLE, (BATCH[0], f"{BATCH[1]}post-tool-batch")], True, id="the earlier one"),
    pytest.param([SINGLE, (BATCH[0], f"{BATCH[1]}post-tool-use")], True, id="both in one file"),
    pytest.param(
        [SINGLE, ("PostToolUseFailure", "sisyphus hook post-tool-use-failure")], True,
        id="failures by a name of their own",
    ),
    pytest.param([SINGLE], False, id="that of an older client"),
    pytest.param([(BATCH[0], f"{BATCH[1]}post-tool-use")], False, id="that of today"),
    pytest.param([(BATCH[0], f"{BATCH[1]}post-tool-use")] * 2, False, id="that of today, doubled"),
]  # fmt: skip


@pytest.mark.parametrize(("entries", "is_earlier"), WIRINGS)
def test_a_wiring_of_earlier_versions_is_told_with_the_way_out(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch,
    entries: list[tuple[str, str]], is_earlier: bool,
) -> None:  # fmt: skip
    monkeypatch.delenv(PLUGIN)
    put(home / ".claude/settings.json", _calls(*entries))
    told = _told(project)
    assert told.startswith("The hooks in ~/.claude/settings.json are") is is_earlier
    assert ("`sisyphus install` in a terminal" in told) is is_earlier
    assert _told(project, source="resume") == ""


def test_each_wiring_tells_of_itself(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(PLUGIN)
    whose = " --scope project"
    entries = [SINGLE, (BATCH[0], f"{BATCH[1]}post-tool-batch")]
    put(home / ".claude/settings.json", _calls((BATCH[0], f"{BATCH[1]}post-tool-use")))
    put(project / ".claude/settings.json", _calls(*((e, f"{c}{whose}") for e, c in entries)))
    assert _told(project) == ""
    assert f"`sisyphus install{whose}`" in _told(project, "--scope", "project")
