from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from making import COMMAND, HANG_SECONDS

from sisyphus.cli import dashboard as cli
from sisyphus.dashboard.access import Access


def _dashboard(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, "dashboard", *words], env={**os.environ, **environment},
        capture_output=True, text=True, timeout=HANG_SECONDS, check=False,
    )  # fmt: skip


def test_in_the_clients_own_shell_it_is_refused() -> None:
    done = _dashboard("--no-open", "--port", "0", CLAUDECODE="1")
    assert (done.returncode, done.stdout) == (1, "")
    assert "not for the client's own shell" in done.stderr


def test_its_help_tells_of_the_token_and_the_host() -> None:
    shown = _dashboard("--help").stdout
    for word in ("--port", "--host", "--no-open", "--json", "token", "3847", "127.0.0.1"):
        assert word in shown


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_a_port_that_is_none_is_a_misuse(port: str) -> None:
    done = _dashboard("--port", port)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--port" in done.stderr


@pytest.mark.parametrize(
    ("host", "warns"),
    [
        pytest.param("127.0.0.1", False, id="this machine"),
        pytest.param("0.0.0.0", True, id="everywhere"),  # noqa: S104
        pytest.param("mybox.local", True, id="a name"),
    ],
)
def test_that_others_may_see_it_is_said(
    capsys: pytest.CaptureFixture[str], host: str, warns: bool
) -> None:
    access = Access(host, 3847, "a-token-of-the-tests")
    cli._tell(access, "http://mybox:3847/", as_json=False)  # noqa: SLF001
    shown = capsys.readouterr().out
    assert "?token=a-token-of-the-tests" in shown
    assert ("For others on the network: http://mybox:3847/" in shown) is warns
    assert ("unencrypted" in shown) is warns


TERMINAL: dict[str, Any] = {"DISPLAY": ":0", "as_json": False, "terminal": True}


@pytest.mark.parametrize(
    ("asked", "scene", "opens"),
    [
        pytest.param(None, {}, True, id="at a screen"),
        pytest.param(None, {"DISPLAY": ""}, False, id="without a screen"),
        pytest.param(None, {"terminal": False}, False, id="for a program that reads"),
        pytest.param(None, {"as_json": True}, False, id="as JSON"),
        pytest.param(True, {"DISPLAY": ""}, True, id="asked for"),
        pytest.param(False, {}, False, id="not asked for"),
    ],
)
def test_a_browser_is_opened_where_there_is_a_screen(
    monkeypatch: pytest.MonkeyPatch, asked: bool | None, scene: dict[str, Any], opens: bool
) -> None:
    scene = TERMINAL | scene
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("DISPLAY", scene["DISPLAY"])
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr(cli, "is_terminal", lambda _: scene["terminal"])
    assert cli._wants_browser(asked, as_json=scene["as_json"]) is opens  # noqa: SLF001
