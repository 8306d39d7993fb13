"""`sisyphus ralph decide`: whether a loop of somebody else's goes on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from world import SISYPHUS, Reply, World

from sisyphus.ground.store import open_store
from sisyphus.ground.text import iso
from sisyphus.sessions import retention

STOP, GO_ON, UNKNOWN = 0, 1, 2
STATE: dict[str, Any] = {
    "task_name": "kiln", "iteration": 2, "max_iterations": 50, "status": "running",
    "completion_promise": "ALL DONE", "todo_items": ["fire"], "completed_items": [],
}  # fmt: skip
SAID = "All is fired.\n\n<promise>ALL DONE</promise>\n"
SESSION = {"session_id": "5f1f6f6e-0000-4000-8000-000000000001"}


def set_state(world: World, name: str = ".claude/ralph-state.json", **fields: object) -> Path:
    file = world.write(name, json.dumps({**STATE, **fields}))
    age(file)
    return file


def age(file: Path) -> None:
    """Makes a file old: nothing has changed lately."""
    os.utime(file, (time.time() - 3600,) * 2)


def decide(world: World, output: str | bytes = "So far.\n", *options: str) -> Reply:
    file = world.root / "out"
    file.write_bytes(output if isinstance(output, bytes) else output.encode())
    return world.cli("ralph", "decide", "--output", file, *options)


def stream(*lines: dict[str, Any]) -> str:
    return "".join(json.dumps({**SESSION, **line}) + "\n" for line in lines)


def said(*blocks: object) -> dict[str, Any]:
    content = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
    return {"type": "assistant", "parent_tool_use_id": None, "message": {"content": content}}


def ended(text: str = "", **fields: object) -> dict[str, Any]:
    return {"type": "result", "subtype": "success", "is_error": False, "result": text, **fields}


FAILED = {"is_error": True, "api_error_status": 401, "api_error": "authentication_failed"}
OVERLOADED = {"is_error": True, "api_error_status": 529, "api_error": "overloaded"}
BROKEN = {"is_error": True, "subtype": "error_during_execution", "errors": ["It broke."]}


@pytest.mark.parametrize(
    ("output", "state", "code", "line"),
    [
        (SAID, {}, STOP, "Stop: the promise was said"),
        ("`<promise>ALL DONE</promise>` comes later.\n", {}, GO_ON, "Go on: the promise was not"),
        ("<promise>OTHER</promise>\n", {}, GO_ON, "does not contain the promise, but: OTHER"),
        (SAID, {"completion_promise": None}, GO_ON, "the state has no completion_promise"),
        (stream(ended(SAID)), {}, STOP, "Stop: the promise was said"),
        (json.dumps({**SESSION, **ended(SAID)}, indent=2), {}, STOP, "the promise was said"),
        (json.dumps([{**SESSION, **said(SAID)}, {**SESSION, **ended(SAID)}]), {}, STOP, "said"),
        (stream(said(SAID), said("That was it."), ended("That was it.")), {}, STOP, "was said"),
        (stream(said("So far."), ended("So far.")), {}, GO_ON, "the promise was not said"),
        ("<blocked>a key</blocked>\n", {}, STOP, "Stop: the agent needs you: a key"),
        (SAID + "<blocked>a key</blocked>\n", {}, STOP, "the promise was said"),
        (stream(ended("", **FAILED)), {}, STOP, "Stop: Claude Code is not logged in"),
        ("Invalid API key · Please run /login\n", {}, STOP, "not logged in"),
        ("Credit balance is too low\n", {}, STOP, "no credit"),
        ("API Error: 404 model: claude-foo not found\n", {}, STOP, "the model does not exist"),
        ("I wrote of it.\nCredit balance is too low\n", {}, GO_ON, "the promise was not said"),
        (stream(ended("", **OVERLOADED)), {}, GO_ON, "the client failed, which may pass: "),
        (stream(said("So")), {}, GO_ON, "which may pass: it ended without a result"),
        ("So far.\n", {"iteration": 50}, STOP, "Stop: iteration 50 was the last"),
        ("So far.\n", {"iteration": 49}, GO_ON, "the promise was not said"),
        ("So far.\n", {"iteration": 50, "max_iterations": 0}, GO_ON, "was not said"),
        ("So far.\n", {"iteration": 50, "max_iterations": None}, GO_ON, "was not said"),
        (SAID, {"iteration": 50}, STOP, "the promise was said"),
        (b"\xff\x00\xfe", {}, GO_ON, "the promise was not said"),
        ("[" * 100_000, {}, GO_ON, "the promise was not said"),
        ("{}\n[1, 2]\n", {}, GO_ON, "the promise was not said"),
    ],
)
def test_the_first_reason_counts(
    world: World, output: str | bytes, state: dict[str, Any], code: int, line: str
) -> None:
    set_state(world, **state)

    answer = decide(world, output)

    assert (answer.code, line in answer.out) == (code, True), answer
    assert len(answer.out.splitlines()) == 1
    assert not answer.err


def codex(*lines: dict[str, Any]) -> str:
    return stream({"type": "thread.started", "thread_id": SESSION["session_id"]}, *lines)


def message(text: str) -> dict[str, Any]:
    item = {"id": "item_1", "type": "agent_message", "text": text}
    return {"type": "item.completed", "item": item}


@pytest.mark.parametrize(
    ("output", "code", "line"),
    [
        (codex(message(SAID), {"type": "turn.completed"}), STOP, "the promise was said"),
        (codex(message("So far."), {"type": "turn.completed"}), GO_ON, "was not said"),
        (codex({"type": "turn.failed", "error": {"message": "status 401"}}), STOP, "not logged in"),
        (codex({"type": "turn.failed", "error": {"message": "status 503"}}), GO_ON, "may pass"),
        (SAID, STOP, "the promise was said"),
    ],
)
def test_a_loop_may_call_codex(world: World, output: str, code: int, line: str) -> None:
    set_state(world)

    answer = decide(world, output, "--client", "codex")

    assert (answer.code, line in answer.out) == (code, True), answer


CHECKPOINT = {"active": True, "handoff_file": ".claude/handoffs/a.md", "timestamp": "1"}


def test_a_checkpoint_goes_on_once_whatever_the_limit(world: World) -> None:
    set_state(world, context_checkpoint=CHECKPOINT, iteration=50)

    first, second = decide(world), decide(world)

    assert first.code == GO_ON
    assert first.out == "Go on: the session ended with the handoff .claude/handoffs/a.md\n"
    assert second.code == STOP
    assert "iteration 50 was the last" in second.out


@pytest.mark.parametrize("output", [SAID, "<blocked>a key</blocked>\n"])
def test_a_checkpoint_does_not_hide_the_end(world: World, output: str) -> None:
    set_state(world, context_checkpoint=CHECKPOINT)

    assert decide(world, output).code == STOP


@pytest.mark.parametrize("checkpoint", [None, {}, {"active": False}, {"active": "no"}, [], "x"])
def test_no_other_checkpoint_counts(world: World, checkpoint: object) -> None:
    set_state(world, context_checkpoint=checkpoint, iteration=50)

    assert decide(world).code == STOP


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "No such file"),
        ("", "it is not JSON"),
        ("{", "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ("[1]", "it is not a JSON object"),
        ('{"max_iterations": "50"}', "its max_iterations is not a whole number"),
        ('{"iteration": true}', "its iteration is not a whole number"),
        ('{"iteration": -1}', "its iteration is negative"),
        ('{"max_iterations": -1}', "its max_iterations is negative"),
        ('{"completion_promise": ["a"]}', "its completion_promise is not a text"),
        (b"\xff\xfe\x00", "it is"),
        ("x" * 1_000_001, "it is too large"),
    ],
)
def test_a_state_that_cannot_be_read_stops_the_loop(
    world: World, text: str | bytes | None, why: str
) -> None:
    if text is not None:
        world.write(".claude/ralph-state.json", text)

    answer = decide(world, SAID)

    assert answer.code == UNKNOWN
    assert answer.out.startswith("Cannot tell: .claude/ralph-state.json: ")
    assert why in answer.out


def test_what_cannot_be_opened_stops_the_loop(world: World) -> None:
    set_state(world)
    os.mkfifo(world.root / "pipe")

    for name in ("missing", ".", "pipe"):
        answer = world.cli("ralph", "decide", "--output", world.root / name)
        assert (answer.code, answer.out[:11]) == (UNKNOWN, "Cannot tell"), answer
    assert decide(world, SAID, "--project", "missing").code == UNKNOWN
    outside = world.root / "outside.json"
    outside.write_text("{}")
    state = world.project / ".claude" / "ralph-state.json"
    state.unlink()
    state.symlink_to(outside)
    assert decide(world, SAID).code == UNKNOWN
    assert decide(world, SAID, "--state", str(outside)).code == GO_ON


@pytest.mark.parametrize("output", ["", " \n\r\n"])
def test_an_empty_output_says_nothing_about_the_work(world: World, output: str) -> None:
    set_state(world)

    answer = decide(world, output)

    assert answer.code == UNKNOWN
    assert answer.out.endswith("out is empty: the client has printed nothing\n")


def test_a_failure_of_our_own_stops_the_loop(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = world.root / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()

    answer = decide(world, "So far.\n")

    assert answer.code == UNKNOWN
    assert answer.out.startswith("Cannot tell: ralph decide: FileNotFoundError")


def test_json_says_the_same(world: World) -> None:
    set_state(world)

    assert decide(world, SAID, "--json").json == {
        "decision": "stop", "kind": "completed", "reason": "the promise was said",
    }  # fmt: skip
    assert decide(world, "So far.", "--json").json == {
        "decision": "continue", "kind": "continue", "reason": "the promise was not said",
    }  # fmt: skip
    set_state(world, iteration="x")
    answer = decide(world, SAID, "--json")
    assert (answer.code, answer.json["decision"], answer.json["kind"]) == (2, "unknown", None)


def test_the_environment_says_where_the_state_lies(world: World) -> None:
    set_state(world)
    other = world.root / "elsewhere" / "state.json"
    other.parent.mkdir()
    other.write_text(json.dumps({**STATE, "iteration": 50}))
    world.setenv("RALPH_STATE_FILE", str(other))

    assert "iteration 50 was the last" in decide(world).out
    own = decide(world, "So far.\n", "--state", ".claude/ralph-state.json")
    assert own.code == GO_ON, "--state goes first"


def test_secrets_and_control_characters_are_not_shown(world: World) -> None:
    set_state(world)

    answer = decide(world, "<blocked>password=hunter22 \x1b[31m is wrong</blocked>\n")

    assert answer.code == STOP
    assert "hunter22" not in answer.out
    assert "\x1b" not in answer.out


# ---------------------------------------------------------------- the breaker


def codes(world: World, calls: int, *options: str) -> list[int]:
    return [decide(world, "So far.\n", *options).code for _ in range(calls)]


def git(world: World, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run(["git", "-C", world.project, *identity, *words], check=True, capture_output=True)


def test_five_calls_without_any_change_stop_the_loop(world: World) -> None:
    age(world.write("kiln.py"))
    set_state(world, started_at="2026-01-02T03:04:05Z")

    assert codes(world, 1) == [GO_ON]  # the file has changed since the loop began
    assert codes(world, 4) == [GO_ON] * 4
    answer = decide(world)
    assert answer.code == STOP
    assert answer.out == "Stop: 5 iterations without any change\n"


def test_a_loop_that_is_started_again_after_that_has_as_many_calls(world: World) -> None:
    set_state(world)

    assert [*codes(world, 5), *codes(world, 5)] == [*[GO_ON] * 4, STOP] * 2


def test_commits_between_the_calls_are_progress(world: World) -> None:
    """A loop that commits its work has nothing left in its work tree that has changed."""
    shutil.rmtree(world.project / ".git")
    git(world, "init", "-q")
    set_state(world)
    age(world.write("kiln.py"))
    git(world, "add", "kiln.py")
    answers = []
    for number in range(12):
        answers += codes(world, 1)
        git(world, "commit", "-q", "--allow-empty", "-m", f"Part {number}")

    assert answers == [GO_ON] * 12
    assert codes(world, 6) == [*[GO_ON] * 5, STOP]


def test_changed_and_deleted_files_are_progress(world: World) -> None:
    set_state(world)
    answers = codes(world, 4)
    file = world.write("kiln.py")
    answers += codes(world, 5)
    age(file)

    assert answers == [GO_ON] * 9
    assert codes(world, 1) == [STOP]


def test_the_files_of_the_loop_itself_are_no_progress(world: World) -> None:
    answers = []
    for number in range(5):
        world.write("loop/state.json", json.dumps({**STATE, "iteration": number}))
        output = world.write("loop/out", f"So far: {number}.\n")
        world.write(".claude/PROMPT.md", f"Go on: {number}.\n")
        words = ("--state", "loop/state.json", "--output", output)
        answers.append(world.cli("ralph", "decide", *words).code)

    assert answers == [*[GO_ON] * 4, STOP]


def test_edits_of_files_that_nobody_tracks_are_progress(world: World) -> None:
    set_state(world)
    edit = {"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": "/tmp/x"}}

    answers = [decide(world, stream(said(edit), ended("So far."))).code for _ in range(7)]

    assert answers == [GO_ON] * 7


def test_the_same_error_in_all_iterations_stops_the_loop(world: World) -> None:
    set_state(world)
    for number in range(5):
        world.write(f"part{number}.py")
        answer = decide(world, stream(ended("", **BROKEN)))

    assert answer.code == STOP
    assert "the same error 5 times in a row" in answer.out


def test_failures_that_pass_do_not_count(world: World) -> None:
    set_state(world)

    overloaded = [decide(world, stream(ended("", **OVERLOADED))).code for _ in range(9)]
    in_vain = [decide(world).code for _ in range(5)]

    assert overloaded == [GO_ON] * 9
    assert in_vain == [GO_ON] * 4 + [STOP]


def test_the_setting_of_the_breaker_is_used(world: World) -> None:
    world.write(world.ours / "config.toml", "[ralph]\nbreaker_stops = 2\n")
    set_state(world)

    assert codes(world, 2) == [GO_ON, STOP]


def test_two_loops_of_a_project_are_counted_apart(world: World) -> None:
    for name in ("a.json", "b.json"):
        set_state(world, name, started_at=iso(time.time() - 60))

    assert codes(world, 4, "--state", "a.json") == [GO_ON] * 4
    assert codes(world, 4, "--state", "b.json") == [GO_ON] * 4
    assert codes(world, 1, "--state", "a.json") == [STOP]


def test_without_a_store_it_answers_without_the_breaker(world: World) -> None:
    world.ours.parent.mkdir(parents=True)
    world.ours.write_text("no folder")
    set_state(world)

    answers = [decide(world) for _ in range(7)]

    assert [answer.code for answer in answers] == [GO_ON] * 7
    assert "warning: the breaker does not count" in answers[0].err
    assert decide(world, SAID).code == STOP


def test_what_it_remembers_is_removed_with_the_rest(world: World) -> None:
    set_state(world)
    codes(world, 1)
    store = open_store(str(world.ours))
    assert store.one("SELECT count(*) FROM foreign_loop") == (1,)
    retention.remove_old(store, 30, time.time() + 31 * 24 * 3600)

    assert store.one("SELECT count(*) FROM foreign_loop") == (0,)


def test_it_reads_stdin_and_ends_a_loop_of_a_shell(world: World) -> None:
    """The loop of the help, with a client that says the promise in its third iteration."""
    set_state(world)
    script = """
        n=0
        while :; do
            n=$((n + 1)); date +%N > "part$n"; echo "Iteration $n."
            { echo "So far."; [ $n -lt 3 ] || echo "<promise>ALL DONE</promise>"; } |
                "$0" ralph decide
            [ $? -eq 1 ] || break
        done
    """
    done = subprocess.run(
        ["sh", "-c", script, SISYPHUS], capture_output=True, text=True, timeout=60, check=False
    )

    assert done.stdout.splitlines() == [
        "Iteration 1.", "Go on: the promise was not said",
        "Iteration 2.", "Go on: the promise was not said",
        "Iteration 3.", "Stop: the promise was said",
    ], done  # fmt: skip
