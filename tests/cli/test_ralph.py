from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from making import COMMAND, configure, ours, put
from ralph.lines import add, prompt
from typer.testing import CliRunner

from sisyphus.cli.app import app
from sisyphus.paths import our_home
from sisyphus.ralph.loop import Loop
from sisyphus.ralph.store import LoopStore

if TYPE_CHECKING:
    from pathlib import Path

NO_TRANSCRIPT = b"note: the client has no session s1 yet\n"


@pytest.fixture
def _active() -> None:
    loop = Loop("s1", "abcde", "make the tests pass")
    loop.completion_promise, loop.max_iterations = "DONE", 50
    with LoopStore(our_home(), "s1") as held:
        held.save([loop])


def _run(*words: str) -> str:
    return CliRunner().invoke(app, ["ralph", *words], catch_exceptions=False).stdout


def _sisyphus(*words: str | bytes, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """The real command."""
    return subprocess.run([COMMAND, "ralph", *words], capture_output=True, check=False, **options)


def test_without_a_loop_the_list_says_how_one_starts() -> None:
    assert ":ralph-loop" in _run("list")


@pytest.mark.usefixtures("_active")
def test_the_list_shows_promise_and_iteration() -> None:
    shown = _run("list")

    assert "abcde  make the tests pass" in shown
    assert "active, iteration 1 of 50" in shown
    assert "promise: DONE" in shown


IN_S1 = ("--session-id", "s1")
KEYS = {
    "session_id", "loop_id", "project", "description", "iteration", "max_iterations",
    "completion_promise", "started_at", "status", "prompt", "state_file_path",
}  # fmt: skip


@pytest.mark.usefixtures("_active")
def test_the_list_is_a_list_and_the_status_one_loop() -> None:
    [listed] = json.loads(_run("list", "--json"))
    shown = json.loads(_run("status", "--json"))

    assert listed == shown
    assert shown.keys() >= KEYS
    assert (shown["session_id"], shown["loop_id"], shown["status"]) == ("s1", "abcde", "active")


def test_without_a_loop_the_list_is_empty_and_the_status_null() -> None:
    assert json.loads(_run("list", "--json")) == []
    assert json.loads(_run("status", "--json")) is None


@pytest.mark.usefixtures("_active")
def test_the_status_shows_the_loop_of_this_session(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "abcde  make the tests pass" in _run("status")
    assert "abcde  make the tests pass" in _run("status", *IN_S1)
    assert "No loop is active here." in _run("status", "--session-id", "s2")

    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s2")
    assert "No loop is active here." in _run("status")


@pytest.mark.usefixtures("_active")
def test_the_settings_say_when_a_loop_is_stale() -> None:
    configure("ralph.stale_hours", 0)

    assert "stale: its client has gone" in _run("list")
    assert "stale: its client has gone" in _run("status")


@pytest.mark.usefixtures("_active")
def test_a_loop_is_paused_and_resumed() -> None:
    assert _run("pause") == "Loop abcde paused: make the tests pass\n"
    assert "paused (user)" in _run("status")

    [row] = json.loads(_run("resume", "--json"))
    assert (row["loop_id"], row["status"]) == ("abcde", "active")


@pytest.mark.usefixtures("_active")
def test_a_loop_is_named_by_its_id_or_the_start_of_it() -> None:
    shown = json.loads(_run("status", "--json"))

    assert json.loads(_run("status", "abc", "--json")) == shown
    assert _run("pause", "abcde") == "Loop abcde paused: make the tests pass\n"
    assert b"no active loop has an id that begins with x" in _sisyphus("cancel", "x").stderr


@pytest.mark.usefixtures("_active")
def test_a_session_without_a_loop_is_shown_those_of_others() -> None:
    told = _run("status", "--session-id", "s2")

    assert told.startswith("No loop is active here. Elsewhere:\nabcde  make the tests pass")


UNKNOWN = [["cancel"], ["pause"], ["resume"]]


@pytest.mark.parametrize("words", UNKNOWN, ids=lambda words: words[0])
def test_what_cannot_be_done_says_why(words: list[str]) -> None:
    done = _sisyphus(*words, "--session-id", "s9")

    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"error: no loop is active in session s9. `sisyphus ralph log`")


@pytest.fixture
def _outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """No client stands above us, whoever runs the tests."""
    monkeypatch.setattr("sisyphus.session.process.ancestors", list)


# --- start --------------------------------------------------------------------------------------


def test_a_loop_is_started_from_any_terminal(tmp_path: Path) -> None:
    told = _run("start", *IN_S1, "--project", str(tmp_path), "--", "do", "it", "now")
    shown = json.loads(_run("status", "--json"))

    assert told.startswith(f"Loop {shown['loop_id']} started: do it now\n")
    assert "It holds from the next stop of session s1 on." in told
    assert (shown["prompt"], shown["project"]) == ("do it now", str(tmp_path))


def test_a_started_loop_is_shown_in_json() -> None:
    words = ["--completion-promise", "DONE", "--max-iterations", "5", "--max-tokens", "900"]
    [row] = json.loads(_run("start", *IN_S1, *words, "--json", "do it"))

    assert (row["completion_promise"], row["max_iterations"]) == ("DONE", 5)
    assert row["options"] == {"max_tokens": 900}


@pytest.mark.usefixtures("_outside")
def test_every_option_arrives() -> None:
    words = [
        "--max-minutes", "5", "--verify", "pytest -q", "--verify-plan", "--verify-checklist",
        "--wait-for-user", "--resume-after-limit",
    ]  # fmt: skip
    [row] = json.loads(_run("start", *IN_S1, *words, "--json", "--", "do it"))

    assert row["options"] == {
        "max_minutes": 5,
        "verify": "pytest -q",
        "verify_plan": True,
        "verify_checklist": True,
        "wait_for_user": True,
        "resume_after_limit": True,
    }


PROMPTS = [
    pytest.param(b"---\nversion: 9\n---\n", id="a header"),
    pytest.param(b"a\r\nb\r\n", id="CRLF"),
    pytest.param(b"$(touch here) `touch here` $HOME \"x\" 'y' \\", id="what a shell would run"),
    pytest.param("  日本語 😀 ".encode(), id="letters of other languages"),
    pytest.param(b"--verbose is no option here", id="dashes"),
    pytest.param(b"bytes \xff that are no text", id="bytes that are no text"),
]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_the_prompt_arrives_byte_for_byte(home: Path, prompt: bytes, tmp_path: Path) -> None:
    done = _sisyphus("start", *IN_S1, "--", prompt, cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, NO_TRANSCRIPT)
    assert list(tmp_path.iterdir()) == []
    path = ours(home, "ralph/loops/ralph-loop.s1.local.md")
    text = path.read_bytes().decode("utf-8", "surrogatepass")
    _, _, body = text.partition("\n---\n\n")
    assert os.fsencode(body) == prompt
    assert _sisyphus("list", "--json").returncode == 0


WRONG = [
    pytest.param(["do it"], 1, "which session is the loop for?", id="no session"),
    pytest.param(["--session-id", "../x", "do it"], 1, "is no session's id", id="none that can be"),
    pytest.param([*IN_S1], 1, "the loop has no prompt", id="no prompt"),
    pytest.param([*IN_S1, "--", " "], 1, "the loop has no prompt", id="a blank one"),
    pytest.param([*IN_S1, "--bad", "x"], 2, "No such option", id="an unknown option"),
    pytest.param([*IN_S1, "--max-iterations", "x", "y"], 2, "--max-it", id="no number"),
    pytest.param([*IN_S1, "--max-minutes", "-1", "y"], 2, "--max-min", id="below zero"),
    pytest.param([*IN_S1, "--max-tokens", "9" * 10, "y"], 1, "a whole number", id="too large"),
    pytest.param([*IN_S1, "--verify", "", "y"], 1, "is empty", id="no command"),
    pytest.param([*IN_S1, "--prompt-file", "none.md"], 1, "cannot be read", id="no file"),
    pytest.param([*IN_S1, "--project", "/no/such", "y"], 1, "no such folder", id="no folder"),
]


@pytest.mark.parametrize(("words", "code", "why"), WRONG)
def test_a_bad_command_line_starts_nothing(
    home: Path, words: list[str], code: int, why: str
) -> None:
    done = _sisyphus("start", *words)

    assert (done.returncode, done.stdout) == (code, b"")
    assert why in " ".join(done.stderr.decode().split())
    assert not ours(home, "ralph/loops/ralph-loop.s1.local.md").exists()


@pytest.mark.usefixtures("_active")
def test_a_loop_that_is_there_is_replaced_by_force_alone() -> None:
    done = _sisyphus("start", *IN_S1, "--", "do that")
    assert done.returncode == 1
    assert b"s1 has a loop already: make the tests pass (iteration 1 of 50)." in done.stderr

    _run("start", *IN_S1, "--force", "--", "do that")

    assert json.loads(_run("status", "--json"))["prompt"] == "do that"
    assert [row["outcome"] for row in json.loads(_run("log", "--json"))] == ["", "cancelled"]


def test_inside_the_clients_shell_a_line_is_the_models() -> None:
    environment = {**os.environ, "CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s1"}

    refused = _sisyphus("start", "--verify", "true", "--", "do it", env=environment)
    started = _sisyphus("start", "--max-iterations", "0", "--", "do it", env=environment)

    assert (refused.returncode, started.returncode) == (1, 0)
    assert b"--verify names a command" in refused.stderr
    assert b"note: the model asked for --max-iterations 0; it gets 100\n" in started.stderr
    assert json.loads(_run("status", "--json"))["max_iterations"] == 100


def test_the_loop_works_where_its_session_began(
    home: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    add(home / ".claude" / "projects" / "p" / "s1.jsonl", prompt("hello", cwd=str(project)))

    _run("start", *IN_S1, "--", "do it")
    assert json.loads(_run("status", "--json"))["project"] == str(project)

    _run("start", *IN_S1, "--force", "--project", ".", "--", "do it")
    assert json.loads(_run("status", "--json"))["project"] == str(tmp_path)


def test_a_prompt_file_is_one_of_the_current_folder(
    home: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "task.md", "do it")
    put(home / "task.md", "do that")

    _run("start", *IN_S1, "--project", str(project), "--prompt-file", "task.md")
    assert json.loads(_run("status", "--json"))["prompt"] == "do it"

    _run("start", *IN_S1, "--force", "--prompt-file", "~/task.md")
    assert json.loads(_run("status", "--json"))["prompt"] == "do that"


@pytest.mark.usefixtures("_active")
def test_a_cancelled_loop_is_named_and_gone() -> None:
    assert "Loop abcde cancelled: make the tests pass" in _run("cancel")
    assert json.loads(_run("list", "--json")) == []


@pytest.mark.usefixtures("_active")
def test_cancel_answers_in_json() -> None:
    [row] = json.loads(_run("cancel", "--json"))

    assert row["loop_id"] == "abcde"
