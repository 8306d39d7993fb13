"""A filling context as the client's hooks see it: the real command on recorded payloads."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from making import (
    COMMAND,
    HANG_SECONDS,
    debug_log,
    finish,
    notify_by,
    ours,
    put,
    run_hook,
    start_hook,
    without_coverage,
)
from ralph.lines import prompt, raw

from checkpoint.desk import LARGE, PROMISE, RESUME, Desk
from sisyphus.boulder.enforcing import enforce
from sisyphus.clients.claude_code import heard

if TYPE_CHECKING:
    from sisyphus._types import Json

PAYLOADS = Path(__file__).parents[1] / "data" / "payloads"
MANY = 20


@pytest.fixture
def desk(desk: Desk) -> Desk:
    """Its clock is that of the processes."""
    desk.now = time.time()
    return desk


def _payload(desk: Desk, name: str, session: str = "s1", **fields: object) -> Json:
    """What the real client sent, of this session."""
    recorded = json.loads((PAYLOADS / f"{name}.json").read_text("utf-8"))
    return {**recorded, **desk.raw(session), **fields}


def _batch(desk: Desk, percent: float, session: str = "s1", **fields: Any) -> Json:
    call = desk.fill(percent, session=session, **fields)
    return _payload(desk, "PostToolBatch", session, tool_calls=[{"tool_use_id": call}])


def _after_batch(desk: Desk, percent: float, **options: Any) -> str:
    """What the model reads behind a batch of tools."""
    code, reply = run_hook("post-tool-use", _batch(desk, percent), **options)
    assert code == 0
    return heard(reply)[0]


# --- levels -------------------------------------------------------------------------------------


def test_a_context_that_fills_up_to_the_end_and_a_fresh_one_that_goes_on(desk: Desk) -> None:
    run_hook("session-start", _payload(desk, "SessionStart.startup"))
    desk.begin_loop()
    told = [_after_batch(desk, percent) for percent in (60, 72, 73, 87)]
    [entry] = desk.waiting
    assert [text.partition("\n")[0] for text in told] == [
        "",
        "CCS_WARNING|L1|72|Context at 72%",
        "",
        f"CCS_CHECKPOINT_TRIGGERED|L2|87|{entry['handoff_file']}",
    ]

    code, stop = run_hook("stop", _payload(desk, "Stop.first"))
    assert (code, "decision" in stop) == (0, False)
    assert heard(stop)[1].startswith("[CHECKPOINTED]\n")

    run_hook("session-end", _payload(desk, "SessionEnd.clear"))
    _, start = run_hook("session-start", _payload(desk, "SessionStart.clear", "s2"))
    assert heard(start)[0].count(RESUME) == 1
    desk.add(prompt("go on"), session="s2")
    desk.fill(10, session="s2")
    _, held = run_hook("stop", _payload(desk, "Stop.first", "s2"))
    assert held["decision"] == "block"

    kept = _payload(desk, "Stop.active", "s2", last_assistant_message=PROMISE)
    _, done = run_hook("stop", kept)
    assert "[RALPH LOOP COMPLETE]" in heard(done)[1]
    assert desk.waiting == []


def test_many_hooks_at_once_tell_a_level_once(desk: Desk) -> None:
    desk.begin_loop()
    batch = _batch(desk, 87)
    tool = _payload(desk, "PostToolUse.Read", tool_use_id=batch["tool_calls"][0]["tool_use_id"])
    events = [("post-tool-use", batch), ("post-tool-use", tool)] * (MANY // 2)
    running = [start_hook(event, payload, env=without_coverage()) for event, payload in events]

    answers = [finish(process) for process in running]

    assert [code for code, _ in answers] == [0] * MANY
    said = [heard(reply)[0] for _, reply in answers]
    assert sum("CCS_CHECKPOINT_TRIGGERED" in text for text in said) == 1
    assert len(desk.files) == len(desk.entries) == 1


def test_a_subagent_is_told_nothing(desk: Desk) -> None:
    call = desk.fill(87)
    batch = _payload(desk, "PostToolBatch.in-subagent", tool_calls=[{"tool_use_id": call}])
    assert run_hook("post-tool-use", batch) == (0, {})
    _, reply = run_hook("post-tool-use", _payload(desk, "PostToolUse.Read.in-subagent"))
    assert "CCS_" not in heard(reply)[0]


def test_switched_off_as_a_whole_nothing_happens(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.begin_loop()
    monkeypatch.setenv("SISYPHUS_DISABLE", "1")
    assert run_hook("post-tool-use", _batch(desk, 87)) == (0, {})
    assert run_hook("pre-compact", _payload(desk, "PreCompact.manual")) == (0, {})
    assert (desk.files, desk.entries) == ([], [])


def test_a_project_may_switch_it_off(desk: Desk) -> None:
    put(desk.project / ".claude" / "sisyphus.toml", "[checkpoint]\nenabled = false\n")
    desk.begin_loop()
    assert _after_batch(desk, 87) == ""
    assert run_hook("pre-compact", _payload(desk, "PreCompact.manual")) == (0, {})


def test_a_project_may_not_raise_a_level(desk: Desk) -> None:
    text = "[checkpoint]\nl1 = 99\nl2 = 99\nl3 = 99\nwindow = 10000\nhand_over = false\n"
    put(desk.project / ".claude" / "sisyphus.toml", text)
    assert _after_batch(desk, 60) == ""
    assert "|L1|72|" in _after_batch(desk, 72)


def test_of_a_transcript_of_a_gigabyte_the_end_counts(desk: Desk) -> None:
    path = put(desk.transcript(), raw(prompt("do it")))
    with path.open("r+b") as file:
        file.truncate(1_000_000_000)
        file.seek(0, os.SEEK_END)
        file.write(b"\n")
    assert _after_batch(desk, 72).startswith("CCS_WARNING|L1|72|")


def test_the_window_is_the_one_that_the_statusline_was_told(desk: Desk) -> None:
    shown = _payload(desk, "PostToolBatch")
    shown["context_window"] = {"context_window_size": LARGE, "total_input_tokens": 100}
    subprocess.run(
        [COMMAND, "statusline"],
        input=json.dumps(shown).encode(),
        capture_output=True,
        check=True,
        timeout=HANG_SECONDS,
    )
    assert _after_batch(desk, 87) == ""
    code, reply = run_hook("post-tool-use", _batch(desk, 72, window=LARGE))
    assert (code, heard(reply)[0][:19]) == (0, "CCS_WARNING|L1|72|C")


# --- compaction ---------------------------------------------------------------------------------


def _compacts(desk: Desk, **options: Any) -> str:
    """What the summariser reads."""
    process = start_hook("pre-compact", _payload(desk, "PreCompact.manual"), **options)
    stdout, stderr = process.communicate(timeout=HANG_SECONDS)
    assert (process.returncode, stderr) == (0, b"")
    return stdout.decode()


def test_a_summary_is_asked_to_keep_what_matters_in_one_object(desk: Desk) -> None:
    desk.begin_plan()
    desk.begin_loop()
    desk.fill(60)
    printed = _compacts(desk)
    assert printed.count("\n") == 1
    [(key, items)] = json.loads(printed).items()
    [entry] = desk.waiting
    assert key == "keep in the summary"
    for fact in ("do it", "1 of 3 tasks complete, next task: two", entry["handoff_file"]):
        assert any(fact in item for item in items), fact
    assert any(item.startswith("where the work goes on: ") for item in items)


def test_where_nothing_was_done_nothing_is_printed(desk: Desk) -> None:
    desk.add(prompt("hello"))
    assert _compacts(desk) == ""
    assert desk.entries == []


def test_half_of_a_surrogate_pair_can_be_kept(desk: Desk) -> None:
    desk.begin_loop(args='"do \ud800 it" --completion-promise "DONE"')
    desk.fill(60)
    assert "keep in the summary" in _compacts(desk)


def test_a_stream_that_knows_few_characters_gets_them_all(desk: Desk) -> None:
    desk.begin_loop(args='"Größe messen" --completion-promise "DONE"')
    desk.fill(60)
    printed = _compacts(desk, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert "Größe messen" in "".join(json.loads(printed)["keep in the summary"])


# --- who goes on --------------------------------------------------------------------------------


def test_of_sessions_that_start_at_once_one_is_given_the_handoff(desk: Desk) -> None:
    desk.start()
    desk.reach(96)
    desk.end()
    names = [f"t{number}" for number in range(8)]
    starts = [_payload(desk, "SessionStart.startup", name) for name in names]
    running = [start_hook("session-start", start, env=without_coverage()) for start in starts]
    said = [heard(finish(process)[1])[0] for process in running]
    assert sum(RESUME in text for text in said) == 1


@pytest.mark.parametrize("name", ["SessionStart.fork", "SessionStart.startup"])
def test_a_fork_and_an_iteration_of_a_run_are_given_none(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    desk.start()
    desk.reach(96)
    desk.end()
    if "startup" in name:
        monkeypatch.setenv("SISYPHUS_RUN", "abc12")
    _, reply = run_hook("session-start", _payload(desk, name, "s2"))
    assert RESUME not in heard(reply)[0]
    assert len(desk.waiting) == 1


def test_a_session_that_ends_closes_what_is_done(desk: Desk) -> None:
    desk.begin_plan()
    desk.reach(87)
    put(desk.project / ".claude" / "PLAN.md", "# Ship it\n\n- [x] one\n")
    assert run_hook("session-end", _payload(desk, "SessionEnd.other"))[0] == 0
    assert desk.waiting == []


# --- what goes wrong ----------------------------------------------------------------------------


def test_a_project_whose_folder_leads_away_is_not_written_through(
    desk: Desk, tmp_path: Path, home: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (desk.project / ".claude").symlink_to(elsewhere)
    desk.begin_loop()

    told = _after_batch(desk, 87)

    [entry] = desk.waiting
    assert told.startswith(f"CCS_CHECKPOINT_TRIGGERED|L2|87|{entry['handoff_file']}\n")
    assert Path(entry["handoff_file"]).is_relative_to(ours(home, "projects"))
    assert Path(entry["handoff_file"]).is_file()
    assert list(elsewhere.iterdir()) == []


def test_an_index_of_a_newer_version_is_left_alone(desk: Desk) -> None:
    desk.begin_loop()
    newer = '{"version": 2, "handoffs": [{"active": true, "session_id": "s1"}]}'
    put(desk.index, newer)
    for event, name in (
        ("pre-compact", "PreCompact.manual"),
        ("session-start", "SessionStart.resume"),
        ("session-end", "SessionEnd.other"),
    ):
        assert run_hook(event, _payload(desk, name))[0] == 0
    assert run_hook("post-tool-use", _batch(desk, 87))[0] == 0
    assert desk.index.read_text("utf-8") == newer


def test_a_corrupt_index_is_set_aside(desk: Desk) -> None:
    desk.begin_loop()
    put(desk.index, b"\xff{")
    assert _after_batch(desk, 87).startswith("CCS_CHECKPOINT_TRIGGERED|L2|87|")
    [kept] = desk.index.parent.glob("handoffs.json.corrupt-*")
    assert kept.read_bytes() == b"\xff{"


# --- fresh-context runs -------------------------------------------------------------------------


def test_an_iteration_of_a_run_is_never_held(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.begin_plan()
    enforce(desk.space(), on=True)
    desk.begin_loop()
    monkeypatch.setenv("SISYPHUS_RUN", "abc12")
    for percent in (10, 87):
        _after_batch(desk, percent)
        assert run_hook("stop", _payload(desk, "Stop.first")) == (0, {})
    assert desk.waiting[0]["in_run"]


# --- the user's own command ---------------------------------------------------------------------


def test_the_users_command_is_told_of_a_checkpoint(desk: Desk, tmp_path: Path, home: Path) -> None:
    told = tmp_path / "told.json"
    command = f"cat > {told}.tmp && mv {told}.tmp {told}"
    notify_by(command)
    loop = desk.begin_loop()

    assert "CCS_CHECKPOINT_TRIGGERED" in _after_batch(desk, 87)

    deadline = time.monotonic() + HANG_SECONDS
    while not told.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    message = json.loads(told.read_text("utf-8"))
    assert (message["event"], message["level"], message["percent"]) == ("checkpoint", "L2", 87)
    assert (message["loop_id"], message["task"]) == (loop.loop_id, "do it")
    assert message["handoff_file"] == desk.waiting[0]["handoff_file"]
    assert "notify" not in debug_log(home)
