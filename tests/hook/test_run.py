from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from making import (
    COMMAND,
    debug_log,
    finish,
    ours,
    put,
    run_hook,
    start_hook,
    without_coverage,
)

from sisyphus.clients.base import EVENTS, Payload, said_to_model
from sisyphus.hook.routes import ROUTES
from sisyphus.hook.run import run

if TYPE_CHECKING:
    from collections.abc import Callable

RECORDED = sorted((Path(__file__).parents[1] / "data" / "payloads").glob("*.json"))
OUR_NAMES = {theirs: name for name, theirs in EVENTS.items() if name != "idle"}


def _recorded(path: Path) -> tuple[str, dict[str, Any]]:
    raw = json.loads(path.read_text())
    return OUR_NAMES[raw["hook_event_name"]], raw


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_every_recorded_payload_is_understood(path: Path) -> None:
    event, raw = _recorded(path)
    payload = Payload(event, raw)
    assert payload.session == raw["session_id"]
    assert payload.cwd == raw["cwd"]
    assert payload.transcript == raw["transcript_path"]
    assert payload.key.startswith(raw["session_id"])
    assert payload.is_subagent == ("agent_id" in raw)


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_every_recorded_payload_is_answered_politely(project: Path, path: Path) -> None:
    put(project / "README.md", "# Ours\n")
    put(project / ".claude" / "PLAN.md", "- [ ] one\n")
    event, raw = _recorded(path)
    raw["cwd"] = str(project)
    code, reply = run_hook(event, raw)
    assert code == 0
    assert isinstance(reply, dict)


def test_every_routed_event_was_recorded() -> None:
    assert {_recorded(path)[0] for path in RECORDED} >= set(ROUTES) - {"idle"}


def test_every_route_is_an_event_of_ours() -> None:
    assert set(ROUTES) <= set(EVENTS)


@pytest.mark.parametrize("route", [route for routes in ROUTES.values() for route in routes])
def test_every_route_leads_to_a_handler(route: str) -> None:
    module, _, function = route.partition(":")
    __import__(module)
    assert callable(getattr(sys.modules[module], function))


@pytest.mark.parametrize("event", EVENTS)
def test_a_project_with_nothing_to_say_is_answered_with_silence(project: Path, event: str) -> None:
    raw = {"session_id": "s1", "cwd": str(project)}
    assert run_hook(event, raw) == (0, {})


@pytest.mark.parametrize(("plugin", "prefix"), [("/plugin", "/sisyphus:"), ("", "/")])
def test_our_commands_are_named_as_the_user_can_call_them(
    project: Path, monkeypatch: pytest.MonkeyPatch, plugin: str, prefix: str
) -> None:
    monkeypatch.setenv("CLAUDE_PLUGIN_ROOT", plugin)
    payload = {"session_id": "s1", "cwd": str(project), "prompt": "/ralph-help"}
    code, reply = run_hook("user-prompt-submit", payload)
    assert (code, reply["decision"]) == (0, "block")
    assert f"  {prefix}ralph-loop " in reply["reason"]
    assert ("/sisyphus:" in reply["reason"]) == bool(plugin)


def test_an_unknown_event_is_a_usage_error() -> None:
    done = subprocess.run([COMMAND, "hook", "stopp"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: no such event: 'stopp'. Events: session-start, ")


@pytest.mark.parametrize("value", ["1", "true", "yes"])
def test_off_means_off(home: Path, project: Path, value: str) -> None:
    put(project / "README.md", "# Ours\n")
    environment = {**os.environ, "SISYPHUS_DISABLE": value}
    raw = {"session_id": "s1", "cwd": str(project), "source": "startup"}
    assert run_hook("session-start", raw, env=environment) == (0, {})
    assert not (home / ".claude").exists()


@pytest.mark.parametrize("value", ["", "0"])
def test_not_off_is_on(project: Path, value: str) -> None:
    put(project / "README.md", "# Ours\n")
    environment = {**os.environ, "SISYPHUS_DISABLE": value}
    raw = {"session_id": "s1", "cwd": str(project), "source": "startup"}
    assert "# Ours" in said_to_model(run_hook("session-start", raw, env=environment)[1])


NO_PAYLOADS = [
    pytest.param(b"", "Expecting value", id="nothing"),
    pytest.param(b"hello", "Expecting value", id="no JSON"),
    pytest.param(b"[{}]", "list instead of an object", id="a list"),
    pytest.param(b"null", "NoneType instead of an object", id="null"),
    pytest.param(b"[" * 100_000, "recursion", id="100,000 brackets"),
    pytest.param(b"x" * 64_000_001, "more than 64,000,000 bytes", id="too much"),
]


@pytest.mark.parametrize(("stdin", "reason"), NO_PAYLOADS)
def test_no_payload_is_silence_and_a_line_in_the_log(home: Path, stdin: bytes, reason: str) -> None:
    assert run_hook("stop", stdin) == (0, {})
    (line,) = debug_log(home).splitlines()
    assert "stop: payload" in line
    assert reason in line


ODD_PAYLOADS = [
    pytest.param(b'\xef\xbb\xbf{"session_id": "s1"}', id="a byte order mark"),
    pytest.param(b'  \r\n{"session_id": "s1"}\r\n\n', id="blanks around it"),
    pytest.param(b'{"session_id": "s1", "prompt": "\xff\xfe"}', id="bytes that are no UTF-8"),
    pytest.param(b'{"session_id": "s1", "cwd": "\\ud800"}', id="half of a surrogate pair"),
    pytest.param(b'{"session_id": "s1", "x": NaN, "y": 1e999}', id="numbers that are none"),
]


@pytest.mark.parametrize("stdin", ODD_PAYLOADS)
def test_an_odd_payload_is_understood(home: Path, stdin: bytes) -> None:
    assert run_hook("notification", stdin) == (0, {})
    assert ours(home, "logs/journal-s1.jsonl").exists()
    assert debug_log(home) == ""


@settings(max_examples=25)
@given(st.binary(max_size=300))
def test_any_bytes_on_stdin_are_answered_politely(stdin: bytes) -> None:
    assert run_hook("stop", stdin, env=without_coverage())[0] == 0


def test_a_person_who_calls_a_hook_is_told_what_it_wants() -> None:
    ours_end, theirs = pty.openpty()
    command = [COMMAND, "hook", "stop"]
    done = subprocess.run(command, stdin=theirs, capture_output=True, text=True, check=False)
    os.close(ours_end)
    os.close(theirs)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "sisyphus hook stop reads its payload (JSON) from stdin\n"


@pytest.fixture
def start(project: Path) -> dict[str, str]:
    """The payload of a session start that has something to say."""
    put(project / "README.md", "# Ours\n")
    return {"session_id": "s1", "cwd": str(project), "source": "startup"}


CLOSED = [
    pytest.param([0], "session-start", 0, id="stdin"),
    pytest.param([1], "session-start", 0, id="stdout"),
    pytest.param([2], "session-start", 0, id="stderr"),
    pytest.param([0, 1, 2], "session-start", 0, id="all three"),
    pytest.param([2], "stopp", 2, id="stderr at a usage error"),
]


@pytest.mark.parametrize(("streams", "event", "code"), CLOSED)
def test_closed_streams_disturb_nobody(
    start: dict[str, str], streams: list[int], event: str, code: int
) -> None:
    words = "".join(f" {number}{'<' if number == 0 else '>'}&-" for number in streams)
    line = f"{COMMAND} hook {event}{words}"
    done = subprocess.run(line, shell=True, input=json.dumps(start).encode(), check=False)  # noqa: S602
    assert done.returncode == code


def _into(stdout: IO[bytes], start: dict[str, str]) -> int:
    command = [COMMAND, "hook", "session-start"]
    raw = json.dumps(start).encode()
    return subprocess.run(command, input=raw, stdout=stdout, check=False).returncode


def _refusing(start: dict[str, str]) -> int:
    with open(os.devnull, "rb") as cannot_be_written:
        return _into(cannot_be_written, start)


def _gone(start: dict[str, str]) -> int:
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb") as nobody:
        return _into(nobody, start)


def _closed(start: dict[str, str]) -> int:
    line = f"{COMMAND} hook session-start >&-"
    raw = json.dumps(start).encode()
    return subprocess.run(line, shell=True, input=raw, check=False).returncode  # noqa: S602


@pytest.mark.parametrize("lose", [_refusing, _gone, _closed], ids=["refusing", "gone", "closed"])
def test_what_nobody_read_is_sent_with_the_next_reply(
    home: Path, start: dict[str, str], lose: Callable[[dict[str, str]], int]
) -> None:
    assert lose(start) == 0
    assert "nobody read the reply" in debug_log(home)
    replies = [run_hook("user-prompt-submit", {**start, "prompt": "go"})[1] for _ in range(2)]
    assert [said_to_model(reply).count("# Ours") for reply in replies] == [1, 0]


def _no_room() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def test_a_full_disk_tells_an_empty_context_and_nobody_twice(start: dict[str, str]) -> None:
    options: dict[str, Any] = {"preexec_fn": _no_room, "env": without_coverage()}
    code, reply = run_hook("session-start", start, **options)
    assert (code, said_to_model(reply).count("# Ours")) == (0, 1)
    resume = {**start, "source": "resume"}
    assert said_to_model(run_hook("session-start", resume, **options)[1]) == ""


def test_a_file_in_the_place_of_our_folder_disturbs_nobody(
    home: Path, start: dict[str, str]
) -> None:
    place = put(ours(home, ""), "somebody's")
    assert "# Ours" in said_to_model(run_hook("session-start", start)[1])
    assert said_to_model(run_hook("session-start", {**start, "source": "resume"})[1]) == ""
    assert place.read_text() == "somebody's"


def test_each_hook_notes_what_it_decided(home: Path, start: dict[str, str]) -> None:
    run_hook("session-start", start)
    run_hook("stop", {**start, "agent_id": "a1"})
    lines = ours(home, "logs/journal-s1.jsonl").read_text().splitlines()
    first, second = (json.loads(line) for line in lines)
    assert (first["event"], first["blocked"]) == ("session-start", False)
    assert first["sent"] > 50
    assert "sent README.md" in first["notes"]
    assert first["texts"] == ["readme README.md"]
    assert (second["event"], second["agent"], second["sent"]) == ("stop", "a1", 0)
    assert not {"project", "texts"} & second.keys()


def test_the_start_of_a_session_notes_where_that_is(
    home: Path, project: Path, start: dict[str, str]
) -> None:
    run_hook("session-start", start)
    run = {**os.environ, "SISYPHUS_RUN": "run12"}
    run_hook("session-start", {**start, "source": "resume"}, env=run)
    lines = ours(home, "logs/journal-s1.jsonl").read_text().splitlines()
    first, second = (json.loads(line) for line in lines)
    told = {name: first.get(name) for name in ("project", "client", "source", "run")}
    assert told == {
        "project": str(project), "client": "claude", "source": "startup", "run": None,
    }  # fmt: skip
    assert (second["source"], second["run"]) == ("resume", "run12")


def test_a_payload_without_a_session_leaves_no_journal(home: Path, start: dict[str, str]) -> None:
    run_hook("session-start", {**start, "session_id": "../x"})
    assert not ours(home, "logs").exists()


FAILING = """
import sys
from sisyphus.hook import routes, run
routes.ROUTES["stop"] = ("hook.failing:on_stop", "hook.none:on_stop", "hook.failing:on_stop_too")
sys.exit(run.run("stop"))
"""


def test_a_failing_handler_is_skipped_and_the_others_answer(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FAILING],
        input=b'{"session_id": "s1", "cwd": "/"}',
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    assert json.loads(done.stdout) == {"decision": "block", "reason": "go on, s1 in /"}
    assert done.stderr == b""
    assert "stop: hook.failing:on_stop: RuntimeError: broken for s1 in /" in debug_log(home)
    assert "stop: hook.none:on_stop: ModuleNotFoundError" in debug_log(home)


def test_a_fault_behind_the_handlers_is_silence(home: Path) -> None:
    put(ours(home, "logs/journal-s1.jsonl") / "inside", "a folder in the place of the journal")
    assert run_hook("stop", {"session_id": "s1"}) == (0, {})
    assert "stop: IsADirectoryError" in debug_log(home)


WAITING = """
import sys
from sisyphus.hook import routes, run
routes.ROUTES["idle"] = ("hook.failing:on_stop", {route!r})
sys.exit(run.run("idle"))
"""


def _idle(route: str, payload: object, **environment: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a waiting hook that has this handler, too."""
    done = subprocess.run(
        [sys.executable, "-c", WAITING.format(route=route)],
        input=json.dumps(payload),
        capture_output=True,
        check=False,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), **environment},
    )
    return done.returncode, done.stdout, done.stderr


SESSION = {"session_id": "s1", "cwd": "/"}
WAKES = (2, "", "go on, s1 in /\n")
SLEEPS = (0, "", "")


def test_a_waiting_hook_wakes_its_session_by_its_exit_code_alone(home: Path) -> None:
    assert _idle("hook.failing:on_stop_too", SESSION) == WAKES
    (line,) = ours(home, "logs/journal-s1.jsonl").read_text().splitlines()
    assert (json.loads(line)["event"], json.loads(line)["blocked"]) == ("idle", True)


def test_a_journal_that_cannot_be_written_lets_nobody_sleep(home: Path) -> None:
    put(ours(home, "logs/journal-s1.jsonl") / "inside", "a folder in the place of the journal")

    assert _idle("hook.failing:on_stop_too", SESSION) == WAKES
    assert "idle: IsADirectoryError" in debug_log(home)


ASLEEP = [
    pytest.param("hook.none:on_idle", SESSION, {}, id="a handler that is not there"),
    pytest.param("hook.failing:on_stop", SESSION, {}, id="one that fails"),
    pytest.param("sisyphus.ralph.wake:on_idle", SESSION, {}, id="one that wants nothing"),
    pytest.param("hook.failing:on_stop_too", [SESSION], {}, id="no payload"),
    pytest.param("hook.failing:on_stop_too", SESSION, {"SISYPHUS_DISABLE": "1"}, id="switched off"),
]


@pytest.mark.parametrize(("route", "payload", "environment"), ASLEEP)
def test_a_waiting_hook_that_wakes_nobody_exits_0(
    route: str, payload: object, environment: dict[str, str]
) -> None:
    assert _idle(route, payload, **environment) == SLEEPS


def test_no_other_event_speaks_by_its_exit_code(home: Path) -> None:
    for event in ("stop", "session-end", "notification", "idle"):
        code = WAITING.format(route="hook.failing:on_stop_too").replace('"idle"', repr(event))
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=json.dumps(SESSION).encode(),
            capture_output=True,
            check=False,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        )
        assert done.returncode == (2 if event == "idle" else 0)
        assert bool(done.stderr) is (event == "idle")
    assert "Traceback" not in debug_log(home)


@pytest.mark.parametrize("client", ["opencode", "claude"])
def test_the_client_is_named_on_the_command_line(project: Path, client: str) -> None:
    put(project / "AGENTS.md", "# Agents\n")
    put(project / "CLAUDE.md", "# Claude\n")
    raw = {"session_id": "s1", "cwd": str(project), "source": "startup"}
    command = [COMMAND, "hook", "session-start", "--client", client, "--newer", "option"]
    done = subprocess.run(
        command, input=json.dumps(raw), capture_output=True, text=True, check=True
    )
    assert ("# Agents" in done.stdout) is (client == "claude")


MANY = 64


def test_a_document_is_sent_once_by_many_hooks_of_one_session_at_once(
    start: dict[str, str],
) -> None:
    resume = {**start, "source": "resume"}
    plain = without_coverage()
    running = [start_hook("session-start", resume, env=plain) for _ in range(MANY)]
    answers = [finish(process) for process in running]
    assert [code for code, _ in answers] == [0] * MANY
    assert sum(said_to_model(reply).count("# Ours") for _, reply in answers) == 1


class _Interrupted:
    """A stdin at which somebody presses Ctrl-C."""

    def isatty(self) -> bool:
        return False

    @property
    def buffer(self) -> _Interrupted:
        return self

    def read(self, size: int) -> bytes:
        raise KeyboardInterrupt(size)


def test_an_interrupted_hook_is_silent(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", _Interrupted())
    assert run("stop") == 0
    assert capfd.readouterr() == ("", "")
