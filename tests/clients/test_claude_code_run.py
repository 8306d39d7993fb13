from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from making import put

from sisyphus.clients import running
from sisyphus.clients.claude_code_run import argv, events, find, kind_of_names, kind_of_words
from sisyphus.errors import SisyphusError

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json
    from sisyphus.clients.running import Event


def _events(*raw: Json) -> list[Event]:
    return [event for one in raw for event in events(json.dumps(one).encode(), is_report=False)]


SESSION = "0dac214f-48f6-451e-bf36-07f8fb3150bb"
REPORT = ["-p", "--output-format", "stream-json", "--verbose", "--session-id", SESSION]


def test_the_client_reports_on_a_session_of_our_choice() -> None:
    flags = ["--model", "haiku", "--allowedTools", "Bash(git *) Edit", "--max-turns=40"]
    assert argv("/bin/claude", SESSION, flags) == ["/bin/claude", *REPORT, *flags]


REFUSED = [
    "-p", "--print", "--output-format", "--output-format=json", "--input-format=stream-json",
    "--session-id", f"--session-id={SESSION}", "--resume", "-r", f"-r{SESSION}", "-c", "--continue",
    "-cp", "--fork-session", "--from-pr", "--bg", "--background", "--no-session-persistence", "-h",
    "--help", "--version", "--",
]  # fmt: skip


@pytest.mark.parametrize("flag", REFUSED)
def test_a_flag_that_would_break_the_run_is_refused(flag: str) -> None:
    with pytest.raises(SisyphusError, match=r"cannot be given: .*\. Leave it out\."):
        argv("claude", SESSION, ["--model", "haiku", flag])


ALLOWED = ["--permission-mode", "--plugin-dir", "--add-dir", "--print-nothing", "-d", "--verbose"]


@pytest.mark.parametrize("flag", ALLOWED)
def test_other_flags_are_the_users_own(flag: str) -> None:
    assert argv("claude", SESSION, [flag])[-1] == flag


def test_a_client_is_looked_for_where_the_user_has_programs(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (project / "bin", tmp_path / "first", tmp_path / "second"):
        put(folder / "claude", "#!/bin/sh\n").chmod(0o755)
    (tmp_path / "first" / "claude").chmod(0o644)
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "claude").symlink_to(project / "bin" / "claude")
    folders = [".", project / "bin", tmp_path / "link", tmp_path / "first", tmp_path / "second"]
    monkeypatch.setenv("PATH", os.pathsep.join(map(str, folders)))

    assert find(str(project)) == str(tmp_path / "second" / "claude")


COUNTS = [
    pytest.param(7, 7, id="a number"),
    pytest.param(7.9, 7, id="a broken number"),
    pytest.param(0, 0, id="nothing"),
    pytest.param(-1, 0, id="less than nothing"),
    pytest.param(True, 0, id="a truth"),
    pytest.param("7", 0, id="a text"),
    pytest.param(10**13, 0, id="too much"),
    pytest.param(float("nan"), 0, id="no number"),
    pytest.param(float("inf"), 0, id="without end"),
]


@pytest.mark.parametrize(("value", "expected"), COUNTS)
def test_a_count_is_a_number_above_zero(value: object, expected: int) -> None:
    raw = {"type": "system", "subtype": "compact_boundary"}
    [event] = _events({**raw, "compact_metadata": {"post_tokens": value}})
    assert event.compacted == expected


LINES = [
    pytest.param(b' {"session_id": "a"}\r\n', ["a"], id="an object"),
    pytest.param(b'[{"session_id": "a"}, 7, {"session_id": "b"}]', ["a", "b"], id="a list"),
    pytest.param(b"[7", [], id="half a list"),
    pytest.param(b'{"a": ', [], id="half an object"),
    pytest.param(b"words", [], id="a text"),
    pytest.param(b'] , "x": [', [], id="what would close our own brackets"),
    pytest.param(b'["x"], "list": {"session_id": "a"}, "y": [7]', [], id="what would say more"),
    pytest.param(b"", [], id="nothing"),
]


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_the_objects_in_a_line(line: bytes, expected: list[str]) -> None:
    assert [one.session for one in events(line, is_report=True)] == expected


def test_only_texts_are_problems() -> None:
    ends = [event.end for event in _events(*(
        {"type": "result", "errors": errors} for errors in (["a", 7, None, "b"], "ab")
    ))]  # fmt: skip
    assert [end.problems for end in ends if end] == [["a", "b"], []]


def test_what_is_no_word_of_the_clients_is_nothing_before_its_report_has_begun() -> None:
    line = b'{"type": "mine", "session_id": "a"}'
    assert events(line, is_report=False) == []
    assert len(events(line, is_report=True)) == 1


WORDS = [
    pytest.param("write failed: ENOSPC: no space left on device", running.DISK, id="disk"),
    pytest.param("OSError: [Errno 122] Disk quota exceeded", running.DISK, id="quota"),
    pytest.param("Prompt is too long", running.CONTEXT, id="too long"),
    pytest.param("input length and `max_tokens` exceed context limit", running.CONTEXT, id="limit"),
    pytest.param("Autocompact is thrashing: the context refilled", running.CONTEXT, id="thrashing"),
    pytest.param("Credit balance is too low", running.BILLING, id="credit"),
    pytest.param("Not logged in · Please run /login", running.AUTHENTICATION, id="no login"),
    pytest.param("Invalid API key · Fix external API key", running.AUTHENTICATION, id="bad key"),
    pytest.param("There's an issue with the selected model (x).", running.MODEL, id="model"),
    pytest.param("You've hit your 5-hour limit · resets 3am", running.LIMIT, id="account's limit"),
    pytest.param("Claude AI usage limit reached|1795239999", running.LIMIT, id="older limit"),
    pytest.param("API Error: Request rejected (429) · slow down", running.LIMIT, id="too fast"),
    pytest.param("connect ECONNREFUSED 127.0.0.1:9", running.NETWORK, id="refused"),
    pytest.param("getaddrinfo EAI_AGAIN api.example.com", running.NETWORK, id="no name"),
    pytest.param("curl: (6) Could not resolve host: x", running.NETWORK, id="no host"),
    pytest.param("API Error: 529 Overloaded.", running.OVERLOADED, id="overloaded"),
    pytest.param("502 Bad Gateway", running.OVERLOADED, id="gateway"),
    pytest.param("error: unknown option '--nonsense'", running.CLIENT, id="option"),
    pytest.param(
        "--dangerously-skip-permissions cannot be used with root/sudo privileges",
        running.CLIENT,
        id="root",
    ),
    pytest.param("Segmentation fault", "", id="something else"),
    pytest.param("5290 tests overloaded nothing", "", id="a number that looks like a status"),
]


@pytest.mark.parametrize(("words", "kind"), WORDS)
def test_words_show_a_kind(words: str, kind: str) -> None:
    assert kind_of_words(words) == kind


def test_the_first_known_name_counts() -> None:
    assert kind_of_names("api_error", "success", "connection_failed", "server_error") == "network"
    assert kind_of_names("completed", "") == ""
