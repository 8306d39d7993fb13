from __future__ import annotations

import pytest

from sisyphus.errors import SisyphusError
from sisyphus.runner.client.command import client_argv, custom_argv

SESSION = "0dac214f-48f6-451e-bf36-07f8fb3150bb"
REPORT = ["-p", "--output-format", "stream-json", "--verbose", "--session-id", SESSION]


def test_the_client_reports_on_a_session_of_our_choice() -> None:
    flags = ["--model", "haiku", "--allowedTools", "Bash(git *) Edit", "--max-turns=40"]
    assert client_argv("/bin/claude", SESSION, flags) == ["/bin/claude", *REPORT, *flags]


REFUSED = [
    "-p", "--print", "--output-format", "--output-format=json", "--input-format=stream-json",
    "--session-id", f"--session-id={SESSION}", "--resume", "-r", f"-r{SESSION}", "-c", "--continue",
    "-cp", "--fork-session", "--from-pr", "--bg", "--background", "--no-session-persistence", "-h",
    "--help", "--version", "--",
]  # fmt: skip


@pytest.mark.parametrize("flag", REFUSED)
def test_a_flag_that_would_break_the_run_is_refused(flag: str) -> None:
    with pytest.raises(SisyphusError, match=r"cannot be given: .*\. Leave it out\."):
        client_argv("claude", SESSION, ["--model", "haiku", flag])


ALLOWED = ["--permission-mode", "--plugin-dir", "--add-dir", "--print-nothing", "-d", "--verbose"]


@pytest.mark.parametrize("flag", ALLOWED)
def test_other_flags_are_the_users_own(flag: str) -> None:
    assert client_argv("claude", SESSION, [flag])[-1] == flag


def test_a_command_line_is_run_by_the_shell() -> None:
    assert custom_argv("mine | tee log", "posix") == ["/bin/sh", "-c", "mine | tee log"]


def test_a_command_line_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COMSPEC", raising=False)
    assert custom_argv("mine.bat", "nt") == ["cmd.exe", "/d", "/s", "/c", "mine.bat"]
