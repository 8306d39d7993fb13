from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from doctor.scene import told
from sisyphus.doctor.live.opinion import of_settings
from sisyphus.doctor.trial import Tried

if TYPE_CHECKING:
    from pathlib import Path

    from doctor.scene import Scene

INTO = " \u203a "  # as the client prints it
COPY, SHOWN = "HOME/settings.json", "~/.claude/settings.json"

OUTPUTS = [
    pytest.param("No installation issues found.\n", [], id="nothing"),
    pytest.param(
        f"Invalid settings\n- {COPY}{INTO}model: Expected string\n\nMore\n- x\n",
        [
            (
                "problem",
                f"Claude Code does not accept {SHOWN}: model: Expected string",
            )
        ],
        id="a file that it drops",
    ),
    pytest.param(
        f"Invalid settings\n- {COPY}{INTO}hooks.Stop: It was ignored.\n",
        [
            ("warning", f"Claude Code passes over a part of {SHOWN}: hooks.Stop: It was ignored."),
        ],
        id="an entry that it drops",
    ),
    pytest.param(
        f"Invalid settings\n- {COPY}: Invalid or malformed JSON\n",
        [("problem", f"Claude Code does not accept {SHOWN}: Invalid or malformed JSON")],
        id="no JSON",
    ),
    pytest.param(
        f"Invalid settings\n- /etc/x.json{INTO}a: b\n", [], id="a file that is not the user's"
    ),
    pytest.param(f"Remote Control\n- {COPY}{INTO}a: b\n", [], id="another list"),
]


@pytest.mark.parametrize(("output", "expected"), OUTPUTS)
def test_what_the_client_says_is_told(
    scene: Scene, tmp_path: Path, output: str, expected: list[tuple[str, str]]
) -> None:
    path = scene.settings({"model": "opus"})
    text = output.replace("HOME", str(tmp_path / "stage/home"))
    scene.trials.answers["doctor"] = Tried(0, text)

    found = of_settings(scene.case(), "claude", str(tmp_path / "stage"))

    assert told(found.findings) == expected
    is_dropped = any(state == "problem" for state, _ in expected)
    assert found.dropped == ([str(path)] if is_dropped else [])


def test_it_is_asked_about_copies_that_lead_nowhere(scene: Scene, tmp_path: Path) -> None:
    scene.settings({"env": {"A": "b"}, "enabledPlugins": {"x@y": True}, "model": "opus"})
    scene.settings({"extraKnownMarketplaces": {"m": {}}}, scene.project / ".claude/settings.json")

    of_settings(scene.case(), "claude", str(tmp_path / "stage"))

    [home, project] = [
        (tmp_path / "stage" / place / "settings.json").read_text(encoding="utf-8")
        for place in ("home", "project/.claude")
    ]
    assert home == '{"env": {}, "enabledPlugins": {}, "model": "opus"}'
    assert project == '{"extraKnownMarketplaces": {}}'
    assert scene.trials.ran == ["claude doctor"]


def test_no_command_line_is_in_the_copies(scene: Scene, tmp_path: Path) -> None:
    told = {
        "apiKeyHelper": "beep",
        "awsAuthRefresh": "beep",
        "awsCredentialExport": "beep",
        "statusLine": {"type": "command", "command": "beep"},
        "hooks": {"Stop": [{"matcher": "x", "hooks": [{"type": "command", "command": "beep"}]}]},
        "otelHeadersHelper": 3,
    }
    scene.settings(told, scene.project / ".claude/settings.json")

    of_settings(scene.case(), "claude", str(tmp_path / "stage"))

    copy = tmp_path / "stage/project/.claude/settings.json"
    assert copy.read_text(encoding="utf-8") == json.dumps(told).replace("beep", ":")


def test_a_client_that_fails_has_no_opinion(scene: Scene, tmp_path: Path) -> None:
    scene.settings({"model": "opus"})
    copy = tmp_path / "stage/home/settings.json"
    scene.trials.answers["doctor"] = Tried(1, f"Invalid settings\n- {copy}{INTO}model: no\n")

    assert of_settings(scene.case(), "claude", str(tmp_path / "stage")) == ([], [])
