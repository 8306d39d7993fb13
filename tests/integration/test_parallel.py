"""64 hooks of one session at once, and hooks that are killed at any moment."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from making import HANG_SECONDS

from integration.desk import (
    EVENTS,
    PLAN,
    Answer,
    Desk,
    assert_polite,
    put,
)
from integration.test_state import assert_whole

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import pytest

MANY = 64


def _finish(processes: Iterable[subprocess.Popen[bytes]]) -> list[Answer]:
    answers = []
    for process in list(processes):
        stdout, stderr = process.communicate(timeout=HANG_SECONDS)
        answers.append(Answer(process.returncode, stdout, stderr.decode()))
        assert_polite(answers[-1])
    return answers


def _json(path: Path) -> dict[str, object]:
    value = json.loads(path.read_bytes())
    assert isinstance(value, dict)
    return value


def _rules(desk: Desk, count: int) -> None:
    for number in range(count):
        desk.write(f"src/m{number}.py", "pass\n")
        rule = f'---\napplies_to: "src/m{number}.py"\n---\nRule number {number} holds.\n'
        desk.write(f".claude/rules/r{number}.md", rule)


def test_a_rule_is_sent_once_to_a_session_that_reads_one_file_many_times_at_once(
    desk: Desk,
) -> None:
    answers = _finish([desk.start_patient("post-tool-use") for _ in range(MANY)])
    assert sum(answer.text.count("Annotate all.") for answer in answers) == 1


def test_no_session_that_starts_among_many_is_missing_in_the_boulder(desk: Desk) -> None:
    names = [f"session-{number}" for number in range(MANY)]
    answers = _finish([desk.start_patient("session-start", session_id=name) for name in names])
    assert [answer for answer in answers if "Progress: 1/3" not in answer.text] == []
    sessions = _json(desk.client / ".boulder.json")["session_ids"]
    assert sorted(_strings(sessions)) == sorted(names)


def test_the_progress_after_many_edits_at_once_is_that_of_the_plan(desk: Desk) -> None:
    desk.hook("session-start")
    processes = []
    for done in range(1, MANY):
        tasks = ["- [x] done"] * done + ["- [ ] open"] * (MANY - done)
        put(desk.project / PLAN, "\n".join(tasks))
        processes.append(desk.start_patient("post-tool-use:plan"))
    _finish(processes)
    progress = _json(desk.client / ".boulder.json")["progress"]
    assert progress == {"total": MANY, "completed": MANY - 1}


def test_every_stop_of_many_at_once_counts(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "0")
    start = '/sisyphus:ralph-loop "do it" --completion-promise DONE --max-iterations 0'
    desk.hook("user-prompt-submit", prompt=start)
    answers = _finish([desk.start_patient("stop") for _ in range(MANY)])
    blocks = [answer for answer in answers if answer.reply.get("decision") == "block"]
    assert len(blocks) > 0
    loop = next(desk.ours.glob("ralph/loops/ralph-loop.*.md")).read_text()
    assert f"iteration: {1 + len(blocks)}\n" in loop


def test_many_hooks_of_all_kinds_at_once_lose_nothing(desk: Desk) -> None:
    """Starts, edits, reads and stops of four sessions: what each keeps is whole and complete."""
    sessions = [f"session-{number}" for number in range(4)]
    for name in sessions:
        prompt = f'/sisyphus:ralph-loop "{name}" --completion-promise DONE'
        desk.hook("user-prompt-submit", session_id=name, prompt=prompt)
    events = ["session-start", "post-tool-use", "post-tool-use:plan", "stop"]
    started = [
        desk.start_patient(event, session_id=name, source="resume")
        for _ in range(MANY // 16)
        for event in events
        for name in sessions
    ]
    _finish(started)
    boulder = _json(desk.client / ".boulder.json")
    assert sorted(_strings(boulder["session_ids"])) == sessions
    for name in sessions:
        ledger = _json(desk.ours / "rules-injector" / f"session-{name}.json")
        assert len(_strings(ledger["injected_hashes"])) == len(_strings(ledger["injected_paths"]))
        loop = (desk.ours / "ralph" / "loops" / f"ralph-loop.{name}.local.md").read_text()
        assert f'session_id: "{name}"' in loop
    for path in _written(desk):
        assert_whole(path, path.read_bytes())
    assert desk.failures == []


def _strings(value: object) -> list[str]:
    assert isinstance(value, list)
    return value


KILLS = 90


_SUFFIXES = {".json", ".jsonl", ".md", ".log", ".lock", ".tmp", ".toml", ".txt", ".id"}


def _fields(number: int) -> dict[str, object]:
    return {
        "session_id": f"session-{number % 5}",
        "source": ("startup", "clear", "resume")[number % 3],
        "prompt": '/sisyphus:ralph-loop "do it" --completion-promise DONE',
    }


def _life(desk: Desk) -> float:
    """Seconds that a hook lives on this machine now, roughly."""
    began = time.perf_counter()
    for event in EVENTS:
        _finish([desk.start(event, session_id="rehearsal")])
    return (time.perf_counter() - began) / len(EVENTS)


def _written(desk: Desk) -> Iterator[Path]:
    yield from desk.client.glob(".boulder.json")
    yield from desk.ours.rglob("*.json")
    yield from desk.ours.rglob("*.local.md")
