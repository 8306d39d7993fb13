"""`sisyphus doctor --live` with the real client, in a home that it must leave as it was."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from e2e.client import CLIENT, COMMANDS, environment, plugin_folder
from e2e.desk import install_plugin
from e2e.model import serving
from e2e.script import Script

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.desk import Desk

SHIPPED = (plugin_folder() / "hooks.json").read_text(encoding="utf-8")
CALLED = (
    "the client was run, and called sisyphus at SessionStart, UserPromptSubmit, PostToolBatch, "
    "Stop, SessionEnd"
)
HEARD = "what sisyphus says reaches the model"
WELL = [("ok", CALLED), ("ok", HEARD)]


@pytest.fixture
def bare(desk: Desk) -> Desk:
    """A desk without the plugin; the client is on the PATH as `claude`."""
    desk.plugins.clear()
    (desk.home / "bin").mkdir()
    (desk.home / "bin/claude").symlink_to(CLIENT)
    return desk


def _live(desk: Desk) -> list[tuple[str, str]]:
    """State and text of what the run proves."""
    variables = environment(desk.home)
    path = f"{desk.home}/bin{os.pathsep}{variables['PATH']}"
    done = subprocess.run(
        [COMMANDS / "sisyphus", "doctor", "--live", "--json"],
        cwd=desk.project,
        env={**variables, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    found = json.loads(done.stdout)["findings"]
    return [(one["state"], one["text"]) for one in found if one["group"] == "Live"]


def _files(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_hooks_of_the_settings_are_called(bare: Desk) -> None:
    bare.sisyphus("install")

    assert _live(bare) == WELL


def test_hooks_of_the_project_are_called(bare: Desk) -> None:
    bare.write(".claude/settings.json", SHIPPED)

    assert _live(bare) == WELL


def test_hooks_of_the_installed_plugin_are_called(bare: Desk, tmp_path: Path) -> None:
    install_plugin(bare, tmp_path / "market")

    assert _live(bare) == WELL


def test_nothing_of_the_users_changes(bare: Desk) -> None:
    bare.sisyphus("install")
    before = _files(bare.home)

    _live(bare)

    after = _files(bare.home)
    ours = {
        path for path in after if "/.sisyphus/sisyphus.db" in path
    }  # settings as they were read
    assert {path: data for path, data in after.items() if path not in ours} == before


def test_without_hooks_nothing_is_called(bare: Desk) -> None:
    assert _live(bare) == [
        ("problem", "the client was run, and sisyphus was not reached at any event")
    ]


def test_a_plugin_beside_the_settings_leaves_the_answer_to_them(bare: Desk, tmp_path: Path) -> None:
    bare.sisyphus("install")
    install_plugin(bare, tmp_path / "market")

    assert _live(bare) == WELL


def test_hooks_that_are_wired_twice_are_called_twice(bare: Desk) -> None:
    once = json.loads(SHIPPED)["hooks"]
    again = json.loads(SHIPPED.replace("sisyphus hook", "sisyphus  hook"))["hooks"]
    both = {event: [*groups, *again[event]] for event, groups in once.items()}
    bare.write_home("settings.json", json.dumps({"hooks": both}))

    [found, *others] = _live(bare)

    assert found[0] == "problem"
    assert "called more than once for one UserPromptSubmit" in found[1]
    assert others == WELL


def test_a_script_that_is_gone_is_not_found(bare: Desk) -> None:
    bare.write_home("settings.json", SHIPPED.replace("sisyphus hook", "/gone/sisyphus hook"))

    [(state, text)] = _live(bare)

    assert state == "problem"
    assert text.startswith(
        "SessionStart, UserPromptSubmit, PostToolBatch, Stop, SessionEnd: "
        "`/gone/sisyphus hook session-start` ended with exit code 127 "
    )


def test_hooks_that_are_switched_off_are_not_called(bare: Desk) -> None:
    bare.write_home("settings.json", json.dumps({**json.loads(SHIPPED), "disableAllHooks": True}))

    assert _live(bare) == [
        ("problem", "the client was run, and sisyphus was not reached at any event")
    ]


def test_what_the_client_drops_of_a_file_is_told(bare: Desk) -> None:
    hooks = json.loads(SHIPPED)["hooks"]
    bare.write_home("settings.json", json.dumps({"hooks": {**hooks, "Notification": "x"}}))

    [(state, text), *others] = _live(bare)

    assert (state, "hooks.Notification" in text) == ("warning", True)
    assert others == WELL


def test_settings_lead_no_request_elsewhere(bare: Desk) -> None:
    with serving(Script([])) as elsewhere:
        led = {"env": {"ANTHROPIC_BASE_URL": elsewhere.url}, "apiKeyHelper": "touch key"}
        bare.write_home("settings.json", json.dumps({**json.loads(SHIPPED), **led}))
        bare.write(".claude/settings.json", json.dumps(led))

        assert _live(bare) == WELL

    assert elsewhere.script.told
    assert not (bare.project / "key").exists()
