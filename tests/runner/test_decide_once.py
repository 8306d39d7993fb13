from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from making import put, stored

from runner.runs import DONE, Scene
from runner.scripted import entry, failing, init, result, said, text, tool
from sisyphus.checkpoint import handoffs
from sisyphus.paths import our_home
from sisyphus.runner import decide_once
from sisyphus.runner.client import printed
from sisyphus.runner.decide_once import CANNOT_TELL, GO_ON, STOP
from sisyphus.runner.keep import store
from sisyphus.runner.keep.places import Places
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from runner.scripted import Entry
    from sisyphus._types import Json

STATE = {
    "task_name": "Migrate", "objective": "All of it", "iteration": 5, "status": "running",
    "started_at": "2026-01-07T00:00:00Z", "max_iterations": 50, "completion_promise": "DONE",
    "todo_items": ["two"], "completed_items": ["one"], "no_change_count": 0, "error_hashes": [],
    "context_history": [],
}  # fmt: skip
CHECKPOINT = {
    "active": True, "level": "L2", "percent_at_checkpoint": 87, "occasion": "level",
    "timestamp": "2026-01-07T11:45:00Z", "handoff_file": ".claude/handoffs/a.md",
    "resume_summary": "half of it is done", "session_id": "s1",
}  # fmt: skip


def stream(run: Entry) -> bytes:
    """What the client would write."""
    events = [e for s in run["steps"] for e in (s[1] if s[0] == "events" else [s[1]])]
    return b"".join(json.dumps({"session_id": "s1", **e}).encode() + b"\n" for e in events)


@pytest.fixture
def state(project: Path) -> Path:
    return put(project / ".claude" / "ralph-state.json", json.dumps(STATE))


def change(path: Path, **fields: Any) -> None:
    put(path, json.dumps({**stored(path), **fields}))


def decided(project: Path, output: bytes | None) -> decide_once.Answer:
    return decide_once.answer(Workspace(str(project)), output)


ANSWERS = [
    pytest.param(stream(said("a")), GO_ON, "go on: the work is not done yet", id="nothing new"),
    pytest.param(stream(said(DONE)), STOP, "stop: the promise was kept: DONE", id="the promise"),
    pytest.param(f"a\n\n{DONE}\n".encode(), STOP, "stop: the promise was kept", id="plain words"),
    pytest.param(b"just words\n", GO_ON, "go on: ", id="plain words without it"),
    pytest.param(
        json.dumps({"type": "result", "subtype": "success", "result": DONE}, indent=2).encode(),
        STOP, "stop: the promise was kept", id="json",
    ),
    pytest.param(
        stream(failing("Invalid API key", error="authentication_failed", status=401)),
        STOP, "stop: the client is not logged in", id="fatal",
    ),
    pytest.param(
        stream(failing("Overloaded", error="overloaded", status=529)),
        GO_ON, "go on: the server cannot answer now", id="it passes",
    ),
    pytest.param(
        stream(entry(init(), tool("Edit", {"file_path": "a"}, 880_000), result("x"))),
        GO_ON, "go on: checkpoint L2 at 88%, handoff .claude/handoffs/", id="a full context",
    ),
    pytest.param(b"  \n", CANNOT_TELL, "cannot tell: the client's last output is e", id="empty"),
    pytest.param(None, CANNOT_TELL, "cannot tell: the client's last output is n", id="no output"),
]  # fmt: skip


@pytest.mark.usefixtures("state")
@pytest.mark.parametrize(("output", "code", "line"), ANSWERS)
def test_what_the_client_said_decides(
    project: Path, output: bytes | None, code: int, line: str
) -> None:
    answer = decided(project, output)

    assert answer.line.startswith(line)
    assert answer.exit_code == code


FAILED = [
    pytest.param("Invalid API key · Please run /login", STOP, "not logged in", id="no login"),
    pytest.param("Failed to authenticate. API Error: 401 x", STOP, "not logged in", id="401"),
    pytest.param("Credit balance is too low", STOP, "nothing left to pay with", id="no credit"),
    pytest.param(
        "You've hit your session limit · resets 3pm", GO_ON, "limit is reached", id="a limit"
    ),
    pytest.param("API Error: Connection error.", GO_ON, "cannot be reached", id="no network"),
    pytest.param("API Error: 529 overloaded", GO_ON, "cannot answer now", id="overloaded"),
    pytest.param("I mended: Invalid API key", GO_ON, "the work is not done yet", id="words"),
    pytest.param("API Error: 529\n" + "x" * 999, GO_ON, "the work is not done", id="long words"),
]


@pytest.mark.parametrize(("output", "code", "line"), FAILED)
def test_a_failure_in_plain_text_is_one(
    project: Path, state: Path, output: str, code: int, line: str
) -> None:
    answer = decided(project, f"{output}\n".encode())

    assert line in answer.line
    assert answer.exit_code == code
    waits = any(words in line for words in ("limit", "reached", "answer now"))
    assert (answer.until > 0, stored(state)["iteration"]) == (
        waits,
        6 if line[:8] == "the work" else 5,
    )


def test_a_prompt_of_ours_is_renewed(project: Path, state: Path) -> None:
    path = put(project / ".claude" / "PROMPT.md", "# Mine\n")
    put(project / "fix_plan.md", "- [x] one\n- [ ] two\n")
    decided(project, stream(said("a")))
    assert path.read_text() == "# Mine\n"

    put(path, "# Task: x\n\n## Current State\n\n- **Iteration**: 1 of 50\n")
    decided(project, stream(said("b")))
    assert "- **Iteration**: 7 of 50\n" in path.read_text()
    assert "- **Item**: two\n" in path.read_text()
    assert stored(state)["iteration"] == 7


def test_a_prompt_of_the_users_own_is_kept_and_is_the_prompt(project: Path, state: Path) -> None:
    change(state, context_checkpoint=CHECKPOINT)
    path = put(project / ".claude" / "PROMPT.md", "Mine.\n\nAll of it.\n")
    decided(project, stream(said("half")))

    [kept] = path.parent.glob("PROMPT.md.yours-*")
    assert kept.read_text() == "Mine.\n\nAll of it.\n"
    assert path.read_text().endswith("## The Whole Prompt\n\nMine.\n\nAll of it.\n\n")
    decided(project, stream(said("more")))
    assert "Mine." in path.read_text()


def test_going_on_counts_the_iteration(project: Path, state: Path) -> None:
    decided(project, stream(said("a")))

    assert (stored(state)["iteration"], stored(state)["status"]) == (6, "running")
    assert stored(state)["context_history"] == [
        {"iteration": 5, "peak_percent": 0, "checkpoint": False}
    ]
    assert not (project / ".claude" / "PROMPT.md").exists()


def test_a_failure_that_passes_counts_nothing(project: Path, state: Path) -> None:
    decided(project, stream(failing("Overloaded", error="overloaded", status=529)))

    assert (stored(state)["iteration"], stored(state)["context_history"]) == (5, [])
    assert stored(state)["tries"] == 1


def test_the_limit_stops(project: Path, state: Path) -> None:
    change(state, max_iterations=5)
    answer = decided(project, stream(said("a")))

    assert (answer.exit_code, answer.status) == (STOP, "max_iterations")
    assert stored(state)["status"] == "max_iterations"


def test_without_progress_it_stops(project: Path, state: Path) -> None:
    codes = [decided(project, stream(said("a"))).exit_code for _ in range(5)]

    assert codes == [GO_ON] * 4 + [STOP]
    assert stored(state)["status"] == "circuit_breaker"
    assert stored(state)["context_checkpoint"]["occasion"] == "breaker"


def test_an_open_checkpoint_is_resumed_once(project: Path, state: Path) -> None:
    change(state, context_checkpoint=CHECKPOINT)
    prompt = project / ".claude" / "PROMPT.md"
    put(project / "fix_plan.md", "- [ ] two\n")
    first = decided(project, stream(said("half")))

    assert (first.exit_code, first.status) == (GO_ON, "checkpointed")
    assert "half of it is done" in prompt.read_text()
    assert "- **Iteration**: 6 of 50" in prompt.read_text()
    assert stored(state)["context_checkpoint"]["active"] is True

    second = decided(project, stream(said("more")))
    assert (second.exit_code, second.status) == (GO_ON, "running")
    assert stored(state)["context_checkpoint"]["active"] is False
    assert "half of it is done" not in prompt.read_text()
    assert [row["checkpoint"] for row in stored(state)["context_history"]] == [True, False]


def test_a_client_that_never_answered_was_given_nothing(project: Path, state: Path) -> None:
    change(state, context_checkpoint=CHECKPOINT)
    decided(project, stream(said("half")))
    decided(project, stream(failing("Overloaded", error="overloaded", status=529)))

    assert stored(state)["context_checkpoint"]["active"] is True
    assert "half of it is done" in (project / ".claude" / "PROMPT.md").read_text()


def test_the_handoff_of_the_hooks_counts(project: Path, state: Path) -> None:
    handoffs.add(our_home(), str(project), {**CHECKPOINT, "files_in_progress": []})  # type: ignore[typeddict-item]
    answer = decided(project, stream(entry(init(), text("x"), result("x"))))

    assert answer.line == "go on: checkpoint L2 at 87%, handoff .claude/handoffs/a.md"
    assert stored(state)["context_checkpoint"]["handoff_file"] == ".claude/handoffs/a.md"


@pytest.mark.parametrize(
    "status", ["completed", "fatal_error", "max_iterations", "circuit_breaker", "cancelled"]
)
def test_what_has_ended_stays_ended(project: Path, state: Path, status: str) -> None:
    change(state, status=status, reason="why")
    answer = decided(project, stream(said("a")))

    assert (answer.exit_code, answer.line) == (STOP, f"stop: the run has ended ({status}: why)")


@pytest.mark.parametrize("named", [{"options": {"verify": "touch bad"}}, {"verify": "touch bad"}])
def test_a_strangers_state_runs_no_command(project: Path, state: Path, named: Json) -> None:
    change(state, **named)
    answer = decided(project, stream(said(DONE)))

    assert answer.exit_code == CANNOT_TELL
    assert "names a check (`verify`), and no run of yours wrote it there" in answer.line
    assert not (project / "bad").exists()


UNTOLD = [
    pytest.param("{", "could not be read; it was set aside", id="corrupt"),
    pytest.param('{"version": 99}', "newer sisyphus", id="newer"),
    pytest.param("{}", "ralph-state.json holds no run. A loop of your own begins", id="empty"),
    pytest.param("", "there is no", id="none"),
]


@pytest.mark.parametrize(("content", "why"), UNTOLD)
def test_without_a_state_nothing_can_be_told(project: Path, content: str, why: str) -> None:
    if content:
        put(project / ".claude" / "ralph-state.json", content)
    answer = decided(project, stream(said(DONE)))

    assert answer.exit_code == CANNOT_TELL
    assert why in answer.line


@pytest.mark.usefixtures("state")
def test_beside_a_run_nothing_is_decided(project: Path) -> None:
    with store.Alone(Places(Workspace(str(project)))):
        assert decided(project, stream(said(DONE))).exit_code == CANNOT_TELL


def test_the_state_of_a_run_of_ours_stays_ours(scene: Scene) -> None:
    scene.run(said("a"), completion_promise="DONE", max_iterations=3)
    path = scene.project / ".claude" / "ralph-state.json"
    change(path, status="running")
    answer = decided(scene.project, stream(said("b")))

    assert answer.exit_code == STOP
    assert answer.line.startswith("stop: the run has ended (max_iterations")


def test_output_is_read_from_a_file(tmp_path: Path) -> None:
    path = put(tmp_path / "out.txt", "x")

    assert printed.read_output(str(path)) == b"x"
    assert printed.read_output(os.fspath(tmp_path / "none")) is None
