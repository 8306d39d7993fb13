from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from making import put

from sisyphus.doctor.live.stage import Stage, settings
from sisyphus.programs import Programs

if TYPE_CHECKING:
    from pathlib import Path

    from doctor.scene import Scene
    from sisyphus._types import Json

URL = "http://127.0.0.1:12345"


def _kept(scene: Scene, values: Json, path: Path | None = None) -> Json:
    scene.settings(values, path)
    case = scene.case()
    [source] = case.settings
    return settings(source, case)


def _hook(command: str, **fields: Any) -> Json:
    entry = {"type": "command", "command": command, **fields}
    return {"hooks": {"Stop": [{"hooks": [entry]}]}}


def _commands(kept: Json) -> list[str]:
    return [
        hook["command"]
        for groups in kept["hooks"].values()
        for group in groups
        for hook in group["hooks"]
    ]


LEFT_BEHIND = [
    pytest.param({"apiKeyHelper": "cat key"}, id="a program that tells a key"),
    pytest.param({"env": {"ANTHROPIC_BASE_URL": "https://example.com"}}, id="another host"),
    pytest.param({"env": {"HTTPS_PROXY": "https://example.com"}}, id="a proxy"),
    pytest.param({"env": {"CLAUDE_CODE_USE_BEDROCK": "1"}}, id="another provider"),
    pytest.param({"env": {"NO_PROXY": "*"}}, id="a way around our proxy"),
    pytest.param({"mcpServers": {"x": {"command": "x"}}}, id="servers"),
    pytest.param({"statusLine": {"type": "command", "command": "x"}}, id="a status line"),
    pytest.param({"extraKnownMarketplaces": {"m": {}}}, id="where plugins come from"),
    pytest.param({"enabledPlugins": {"other@market": True}}, id="the plugin of others"),
    pytest.param(_hook("curl https://example.com"), id="the hook of others"),
    pytest.param({"hooks": {"Stop": [{"hooks": [{"type": "http", "url": "x"}]}]}}, id="http"),
    pytest.param(_hook("sisyphus hook stop", type="http", url="x"), id="http that looks like ours"),
    pytest.param(_hook("sisyphus hook stop", args=["x"]), id="another program that does"),
    pytest.param({"hooks": "x", "enabledPlugins": [1]}, id="wrong types"),
]


@pytest.mark.parametrize("values", LEFT_BEHIND)
def test_what_could_lead_elsewhere_stays_behind(scene: Scene, values: Json) -> None:
    kept = _kept(scene, values)

    assert kept == {"hooks": {}, "enabledPlugins": {}} | ({"env": {}} if "env" in kept else {})


TAKEN = [
    pytest.param({"disableAllHooks": True}, id="what switches hooks off"),
    pytest.param({"enabledPlugins": {"sisyphus@anywhere": False}}, id="whether our plugin is on"),
    pytest.param({"env": {"PATH": "/opt/bin", "CLAUDE_CODE_SIMPLE": "1"}}, id="how we are found"),
    pytest.param({"env": {"CLAUDE_CODE_SAFE_MODE": "1"}}, id="safe mode"),
]


@pytest.mark.parametrize("values", TAKEN)
def test_what_decides_whether_our_hooks_run_is_taken(scene: Scene, values: Json) -> None:
    kept = _kept(scene, values)

    assert {name: kept[name] for name in values} == values


def test_an_entry_of_ours_is_taken_as_it_is(scene: Scene) -> None:
    fields = {"type": "command", "timeout": 7, "async": True, "asyncRewake": True}

    kept = _kept(scene, _hook(f"{scene.sisyphus} hook idle", headers={}, **fields))

    [group] = kept["hooks"]["Stop"]
    assert group["hooks"] == [{"command": f"{scene.sisyphus} hook idle", **fields}]


PROJECT_COMMANDS = [
    pytest.param("sisyphus hook stop", True, id="the one on the PATH"),
    pytest.param("./sisyphus hook stop", False, id="one of its own"),
    pytest.param("sisyphus hook stop; curl example.com", False, id="one word more"),
    pytest.param("PATH=. sisyphus hook stop", False, id="one variable more"),
    pytest.param("sisyphus\nhook\nbeep", False, id="lines"),
    pytest.param('"$(beep)/sisyphus" hook stop', False, id="a command in it"),
]


@pytest.mark.parametrize(("command", "is_taken"), PROJECT_COMMANDS)
def test_of_a_project_only_our_own_program_is_started(
    scene: Scene, command: str, is_taken: bool
) -> None:
    put(scene.project / "sisyphus", "#!/bin/sh\n").chmod(0o755)

    kept = _kept(scene, _hook(command), scene.project / ".claude/settings.json")

    assert _commands(kept) == ([f"{scene.sisyphus} hook stop"] if is_taken else [])


def test_a_project_sets_no_variable(scene: Scene) -> None:
    kept = _kept(scene, {"env": {"PATH": "/evil"}}, scene.project / ".claude/settings.json")

    assert "env" not in kept


def test_folders_of_the_project_are_on_no_path(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"{scene.project}/bin:relative::{scene.bin}"
    monkeypatch.setenv("PATH", path)

    kept = _kept(scene, {"env": {"PATH": path}})

    assert kept["env"] == {"PATH": str(scene.bin)}
    assert Stage("/stage", scene.case().programs).environment(URL)["PATH"] == str(scene.bin)


def test_each_file_has_its_copy(scene: Scene, tmp_path: Path) -> None:
    scene.wire()
    for name in ("settings.json", "settings.local.json"):
        scene.wire(scene.project / ".claude" / name, program="sisyphus")
    stage = Stage(str(tmp_path / "stage"), scene.case().programs)

    stage.set_up(scene.case())

    copies = ["home/settings.json"]
    copies += [f"project/.claude/{name}" for name in ("settings.json", "settings.local.json")]
    texts = [(tmp_path / "stage" / copy).read_text(encoding="utf-8") for copy in copies]
    assert ["hook session-start" in text for text in texts] == [True, True, True]


def test_a_file_that_the_client_drops_has_none(scene: Scene, tmp_path: Path) -> None:
    put(scene.claude / "settings.json", "// no\n{}")
    stage = Stage(str(tmp_path / "stage"), scene.case().programs)

    stage.set_up(scene.case())

    assert not (tmp_path / "stage/home/settings.json").exists()


def test_the_plugin_is_found_where_it_is(scene: Scene, tmp_path: Path) -> None:
    rows = {"sisyphus@m": [{"scope": "project", "installPath": "/p", "projectPath": "/here"}]}
    told = {"version": 2, "plugins": {**rows, "other@n": [{"installPath": "/q"}]}}
    put(scene.claude / "plugins/installed_plugins.json", json.dumps(told))
    markets = {"m": {"installLocation": "/m"}, "n": {"installLocation": "/n"}}
    put(scene.claude / "plugins/known_marketplaces.json", json.dumps(markets))
    stage = Stage(str(tmp_path / "stage"), scene.case().programs)

    stage.set_up(scene.case())

    def read(name: str) -> Any:
        return json.loads((tmp_path / "stage/home/plugins" / name).read_text(encoding="utf-8"))

    assert read("known_marketplaces.json") == {"m": {"installLocation": "/m"}}
    [row] = read("installed_plugins.json")["plugins"]["sisyphus@m"]
    assert (row["installPath"], row["projectPath"]) == ("/p", stage.project)
    assert "other@n" not in read("installed_plugins.json")["plugins"]


PLACES = [
    pytest.param({"installLocation": "{project}/m"}, {}, id="a marketplace"),
    pytest.param({"source": {"source": "directory", "path": "{project}"}}, {}, id="its source"),
    pytest.param({"installLocation": "m"}, {}, id="a relative one"),
    pytest.param({"installLocation": 3}, {}, id="none"),
    pytest.param({"installLocation": "/m"}, {"installPath": "{project}/p"}, id="a plugin"),
]


@pytest.mark.parametrize(("market", "row"), PLACES)
def test_a_plugin_that_lies_in_the_project_is_left_out(
    scene: Scene, tmp_path: Path, market: Json, row: Json
) -> None:
    def write(name: str, value: Json) -> None:
        text = json.dumps(value).replace("{project}", str(scene.project))
        put(scene.claude / "plugins" / name, text)

    write("known_marketplaces.json", {"m": market})
    write("installed_plugins.json", {"version": 2, "plugins": {"sisyphus@m": [row]}})
    stage = Stage(str(tmp_path / "stage"), scene.case().programs)

    stage.set_up(scene.case())

    folder = tmp_path / "stage/home/plugins"
    markets = json.loads((folder / "known_marketplaces.json").read_bytes())
    plugins = json.loads((folder / "installed_plugins.json").read_bytes())["plugins"]
    assert not markets or not plugins["sisyphus@m"]


@pytest.mark.parametrize("text", ["", "[]", '{"plugins": 3}', '{"plugins": {"sisyphus@m": 3}}'])
def test_rows_of_any_shape_are_no_fault(scene: Scene, tmp_path: Path, text: str) -> None:
    for name in ("installed_plugins.json", "known_marketplaces.json"):
        put(scene.claude / "plugins" / name, text)

    Stage(str(tmp_path / "stage"), scene.case().programs).set_up(scene.case())


NOT_PASSED_ON = [
    "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_VERTEX_BASE_URL", "AWS_ACCESS_KEY_ID", "CLAUDECODE",
    "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_OAUTH_TOKEN", "ALL_PROXY", "NODE_OPTIONS",
    "SISYPHUS_NOTIFY_COMMAND", "SSH_AUTH_SOCK", "XDG_CONFIG_HOME",
]  # fmt: skip


ASTRAY = {
    "ALL_PROXY": "http://example.com", "GIT_ALLOW_PROTOCOL": "https", "GIT_PROXY_COMMAND": "x",
    "HTTPS_PROXY": "http://example.com", "HTTP_PROXY": "http://example.com", "NO_PROXY": "*",
    "http_proxy": "http://example.com", "https_proxy": "http://example.com", "no_proxy": "*",
    "ANTHROPIC_API_KEY": "mine", "ANTHROPIC_BASE_URL": "http://example.com", "TMPDIR": "/mine",
    "CLAUDE_CONFIG_DIR": "/mine", "CLAUDE_CODE_TMPDIR": "/mine", "CLAUDE_CODE_USE_VERTEX": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "0", "DISABLE_TELEMETRY": "0",
    "DISABLE_AUTOUPDATER": "0", "DISABLE_ERROR_REPORTING": "0", "OTEL_EXPORTER": "x",
}  # fmt: skip
KEPT = {"HOME": "/home/ann", "PATH": "/bin", "CLAUDE_CODE_SAFE_MODE": "1"}


def test_of_an_environment_full_of_hosts_and_keys_none_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.environ", ASTRAY | KEPT)
    stage = Stage("/stage", Programs("/project"))

    assert stage.environment(URL) == KEPT | {
        **dict.fromkeys(("HTTPS_PROXY", "HTTP_PROXY", "http_proxy", "https_proxy"), URL),
        "ANTHROPIC_API_KEY": "sk-ant-of-no-account",
        "ANTHROPIC_BASE_URL": URL,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_TMPDIR": "/stage/tmp",
        "CLAUDE_CONFIG_DIR": "/stage/home",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_TELEMETRY": "1",
        "GIT_ALLOW_PROTOCOL": "file",
        "NO_PROXY": "127.0.0.1",
        "TMPDIR": "/stage/tmp",
        "no_proxy": "127.0.0.1",
    }


@pytest.mark.parametrize("name", NOT_PASSED_ON)
def test_nothing_that_names_a_host_or_an_account_is_passed_on(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "https://example.com")

    assert name not in Stage("/stage", Programs("/project")).environment(URL)


@pytest.mark.parametrize("name", ["ANTHROPIC_BASE_URL", "HTTPS_PROXY", "http_proxy"])
def test_whatever_the_environment_names_the_client_asks_our_model(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "https://example.com")

    assert Stage("/stage", Programs("/project")).environment(URL)[name] == URL


@pytest.mark.parametrize("name", ["PATH", "HOME", "PYENV_ROOT", "LC_ALL", "SISYPHUS_DISABLE"])
def test_what_finds_programs_is_passed_on(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "/somewhere")

    assert Stage("/stage", Programs("/project")).environment(URL)[name] == "/somewhere"


def test_the_clients_folder_is_the_stages_own(scene: Scene) -> None:
    assert scene.case().space.home == str(scene.claude)
    assert (
        Stage("/stage", Programs("/project")).environment(URL)["CLAUDE_CONFIG_DIR"] == "/stage/home"
    )
