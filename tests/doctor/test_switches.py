from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from making import put

from doctor.scene import hooks, told
from sisyphus.doctor import switches

if TYPE_CHECKING:
    from doctor.scene import Scene

USER, PROJECT, LOCAL = "user", "project", "local"
MANAGED = "managed"


def _path(scene: Scene, whose: str) -> Any:
    return {
        USER: scene.claude / "settings.json",
        PROJECT: scene.project / ".claude/settings.json",
        LOCAL: scene.project / ".claude/settings.local.json",
        MANAGED: scene.managed / "managed-settings.json",
    }[whose]


def _off(value: object = True) -> dict[str, object]:
    return {"disableAllHooks": value}


def _env(**values: str) -> dict[str, object]:
    return {"env": values}


IN_ENV = "is set in the env of ~/.claude/settings.json"
ALL = "says disableAllHooks: no hook runs"
SETTINGS = [
    pytest.param({USER: {}}, [], id="nothing"),
    pytest.param({USER: _off()}, [f"~/.claude/settings.json {ALL}"], id="all"),
    pytest.param({PROJECT: _off()}, [f".claude/settings.json {ALL}"], id="all, in the project"),
    pytest.param({USER: _off(), PROJECT: _off(False)}, [], id="all, but not in the project"),
    pytest.param(
        {USER: _off(False), LOCAL: _off()}, [f".claude/settings.local.json {ALL}"], id="all, here"
    ),
    pytest.param({USER: {"allowManagedHooksOnly": True}}, [], id="managed alone, by the user"),
    pytest.param(
        {USER: _env(SISYPHUS_DISABLE="1")},
        ["SISYPHUS_DISABLE is set in the env of ~/.claude/settings.json: every hook is silent"],
        id="us, by env",
    ),
    pytest.param({USER: _env(SISYPHUS_DISABLE="0")}, [], id="us, by env, not"),
    pytest.param(
        {PROJECT: _env(SISYPHUS_DISABLE="1")},
        ["SISYPHUS_DISABLE is set in the env of .claude/settings.json: every hook is silent"],
        id="us, by the project's env",
    ),
    pytest.param(
        {USER: _env(CLAUDE_CODE_SIMPLE="1")},
        [f"CLAUDE_CODE_SIMPLE {IN_ENV}: the client runs no hook"],
        id="simple, by env",
    ),
    pytest.param({PROJECT: _env(CLAUDE_CODE_SIMPLE="1")}, [], id="simple, by the project's env"),
    pytest.param(
        {USER: _env(CLAUDE_CODE_SAFE_MODE="on")},
        [f"CLAUDE_CODE_SAFE_MODE {IN_ENV}: the client runs no hook"],
        id="safe mode, by env",
    ),
    pytest.param({PROJECT: _env(CLAUDE_CODE_SAFE_MODE="1")}, [], id="safe, by the project's env"),
    pytest.param(
        {USER: {"env": {"CLAUDE_CODE_SIMPLE": True}}},
        [f"CLAUDE_CODE_SIMPLE {IN_ENV}: the client runs no hook"],
        id="a yes of JSON",
    ),
    pytest.param(
        {USER: _env(SISYPHUS_DISABLE="1"), PROJECT: _env(SISYPHUS_DISABLE="0")},
        [],
        id="us, by env, but not in the project",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("files", "expected"), SETTINGS)
def test_settings_that_keep_hooks_from_running(
    scene: Scene, files: dict[str, dict[str, object]], expected: list[str]
) -> None:
    for whose, values in files.items():
        scene.settings(values, _path(scene, whose))

    found = list(switches.check(scene.case()))

    assert told(found) == [("problem", text) for text in expected]
    assert all(one.hint for one in found if one.state != "ok")


@pytest.mark.parametrize("name", ["allowManagedHooksOnly", "disableAllHooks"])
def test_an_organisation_may_allow_its_own_hooks_alone(scene: Scene, name: str) -> None:
    path = scene.settings({name: True}, _path(scene, MANAGED))
    assert told(switches.check(scene.case())) == []
    scene.wire()

    text = f"{path} says {name}: no hook of yours runs"
    assert told(switches.check(scene.case())) == [("problem", text)]


def test_hooks_of_an_organisation_run_where_they_alone_are_allowed(scene: Scene) -> None:
    scene.settings({**hooks(scene.sisyphus), "allowManagedHooksOnly": True}, _path(scene, MANAGED))

    assert told(switches.check(scene.case())) == []


OF_CLIENT = ["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"]


@pytest.mark.parametrize("name", ["SISYPHUS_DISABLE", *OF_CLIENT])
def test_the_environment_switches_off(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "1")

    ((state, text),) = told(switches.check(scene.case()))

    assert (state, text.startswith(f"{name} is set in your environment: ")) == ("problem", True)


@pytest.mark.parametrize("value", ["1", "true", "TRUE", "Yes", "on", " 1 "])
@pytest.mark.parametrize("name", OF_CLIENT)
def test_what_the_client_takes_for_a_yes(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)

    assert len(told(switches.check(scene.case()))) == 1


@pytest.mark.parametrize("value", ["", "0", "false", "no", "off", "2", "x", " 0 "])
@pytest.mark.parametrize("name", OF_CLIENT)
def test_what_the_client_takes_for_a_no(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)

    assert told(switches.check(scene.case())) == []


@pytest.mark.parametrize("name", ["SISYPHUS_DISABLE", *OF_CLIENT])
def test_settings_come_before_the_environment(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "1")
    scene.settings(_env(**{name: "0"}))

    assert told(switches.check(scene.case())) == []


UNREADABLE = [
    pytest.param(b'{\n  "a": 1,,\n}', "line 2, column 10", id="two commas"),
    pytest.param(b'{"a": 1} // mine', "line 1, column 10", id="a comment"),
    pytest.param(b'{"a": NaN}', "line 1, column 7", id="no number of JSON"),
    pytest.param(b"[]", "it holds no object", id="a list"),
    pytest.param(b'{"model": 3}', "`model` is of a wrong type", id="a key of a wrong type"),
    pytest.param(b'{"disableAllHooks": "yes"}', "`disableAllHooks` is", id="a text for a switch"),
    pytest.param(b'{"model": null}', "`model` is of a wrong type", id="null"),
    pytest.param(b'{"cleanupPeriodDays": true}', "`cleanupPeriodDays` is", id="a switch for days"),
    pytest.param(b'{"cleanupPeriodDays": 1.5}', "`cleanupPeriodDays` is", id="half a day"),
    pytest.param(b'{"includeCoAuthoredBy": "x"}', "`includeCoAuthoredBy` is", id="co-author"),
    pytest.param(b'{"statusLine": "x"}', "`statusLine` is", id="a text for a status line"),
    pytest.param(b'{"apiKeyHelper": 3}', "`apiKeyHelper` is", id="a number for a helper"),
    pytest.param(b'{"enabledPlugins": [3]}', "`enabledPlugins` is", id="a list of plugins"),
    pytest.param(b'{"outputStyle": 3}', "`outputStyle` is", id="a number for a style"),
    pytest.param(b'{"permissions": {"allow": "x"}}', "`permissions.allow` is", id="permissions"),
    pytest.param(b'{"a": 1e400}', "1e400 is too large", id="no finite number"),
    pytest.param(b'{"hooks"', "line 1, column 9", id="half a file"),
    pytest.param(b"[" * 100_000, "line 1", id="very deep"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "where"), UNREADABLE)
def test_a_settings_file_that_the_client_cannot_read(
    scene: Scene, content: bytes, where: str
) -> None:
    put(scene.claude / "settings.json", content)

    ((state, text),) = told(switches.check(scene.case()))

    assert state == "problem"
    assert text.startswith(f"~/.claude/settings.json cannot be read: {where}")


READABLE = [
    pytest.param(b"", id="empty"),
    pytest.param(b"\xef\xbb\xbf{}\r\n", id="with a byte order mark"),
    pytest.param(b"\xff\xfe{\x00}\x00", id="UTF-16"),
    pytest.param(b'{"x": "\xe4"}', id="not UTF-8"),
    pytest.param(b'{"hooks": {}, "hooks": {}}', id="a key twice"),
    pytest.param(b'{"cleanupPeriodDays": 1}', id="a number of days"),
    pytest.param(b'{"cleanupPeriodDays": 30.0}', id="one with a point"),
    pytest.param(b'{"theme": 3, "effortLevel": null}', id="types that do not matter"),
    pytest.param(b'{"env": {"A": 1, "B": null}}', id="numbers in env"),
]


@pytest.mark.parametrize("content", READABLE)
def test_a_settings_file_that_the_client_reads(scene: Scene, content: bytes) -> None:
    put(scene.claude / "settings.json", content)

    assert told(switches.check(scene.case())) == []


def test_a_feature_that_is_off_is_named(scene: Scene) -> None:
    put(scene.ours / "config.toml", "[ralph]\nenabled = false\n")

    (found,) = [one for one in switches.check(scene.case()) if one.state == "warning"]

    assert found.text == "ralph.enabled is false"
    assert "`sisyphus config set ralph.enabled true`" in found.hint
