"""A home in which every file that the dashboard reads holds what nobody of ours writes."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from making import journal

from sisyphus.paths import project_id
from sisyphus.ralph.loop import Loop
from sisyphus.ralph.past import history
from sisyphus.ralph.statefile import render

if TYPE_CHECKING:
    from pathlib import Path

HALF = "\ud800"
HUGE = 10**400
DEEP = json.loads("[" * 400 + "]" * 400)

VALUES: tuple[object, ...] = (
    None, True, -1, 3, 1.5, HUGE, 1e308, float("nan"), float("inf"), "", "x" * 5_000, HALF,
    "<script>alert(1)</script>", "\x00\x1b[2J", [], [None], {}, {"a": {HALF: [1]}}, DEEP,
    "2026-11-20T15:00:00Z", "9999-99-99T99:99:99Z", "/home/ann/shop", "/home/ann/\udc80",
)  # fmt: skip
"""What stands in the place of any value."""

ACTIVE, ENDED, LOST = "alive", "ended", "gone0"

_ROOT = "/home/ann/shop"


def fill(client: Path) -> None:
    """`client`: the client's folder. The loops `ACTIVE`, `ENDED` and `LOST` can be asked for."""
    ours = client / ".sisyphus"
    _history(ours)
    _states(ours)
    _transcripts(ours)
    _checklists(ours)
    _projects(ours)
    _sessions(ours)
    _write(client / ".boulder.json", {"active_plan": HALF, "project_root": 5})


def _history(ours: Path) -> None:
    starts = {"loop_id": "a", "session_id": "s", "status": "active", "project": _ROOT}
    ends = {"loop_id": "a", "session_id": "s", "status": "completed", "outcome": "success"}
    names = (
        "loop_id", "session_id", "status", "project", "project_name", "state_file_path", "task",
        "started_at", "max_iterations", "completion_promise", "outcome", "ended_at",
        "duration_seconds", "iterations", "error_reason",
    )  # fmt: skip
    odd = [{**starts, "loop_id": f"s{n}{m}", name: value}
           for n, name in enumerate(names) for m, value in enumerate(VALUES)]  # fmt: skip
    odd += [{**ends, "loop_id": f"e{n}{m}", name: value}
            for n, name in enumerate(names) for m, value in enumerate(VALUES)]  # fmt: skip
    odd += [{**starts, "loop_id": loop_id} for loop_id in (LOST, ENDED, "../up", "a b", "é", "..")]
    odd.append({**ends, "loop_id": ENDED, "iterations": HUGE, "duration_seconds": HUGE})
    lines = [*map(json.dumps, odd), "[]", "null", "{", "\x00", "[" * 10_000]
    path = ours / "logs" / "sessions.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass") + b"\n\xff\xfe\n")
    (ours / "logs" / "sessions.archive.jsonl").write_bytes(b'{"loop_id": "arch')


def _states(ours: Path) -> None:
    folder = ours / "ralph" / "loops"
    folder.mkdir(parents=True)
    for number, value in enumerate(VALUES):
        loop = Loop(f"session{number}", ACTIVE if number == 0 else f"l{number}", f"do {HALF}")
        loop.project = f"/home/ann/{HALF}" if number % 2 else _ROOT
        loop.started_at = "2026-11-20T15:00:00.000Z" if number % 3 else f"x{HALF}"
        loop.paused_by = HALF
        loop.iteration = loop.tokens = HUGE if number == 1 else 10**14
        for name in ("max_minutes", "max_tokens", "verify", "verify_plan", "wait_for_user", "plan"):
            loop.options[name] = value
        for name in ("state", "why", "no_progress", "same_error", "error", "opened_at"):
            loop.breaker[name] = value
        for name in ("until", "since", "for"):
            loop.waiting[name] = value
        for name in ("exit_code", "timed_out", "at"):
            loop.verified[name] = value
        if number % 4 == 3:
            loop.pause("breaker", 10**14)
        text = render(loop).encode("utf-8", "surrogatepass")
        (folder / f"ralph-loop.session{number}.local.md").write_bytes(text)
        if number == 0:
            history.started(str(ours), loop, "")
    (folder / "ralph-loop.bad.local.md").write_bytes(b"\xff\xfe---")
    os.mkfifo(folder / "ralph-loop.fifo.local.md")
    (folder / "ralph-loop.folder.local.md").mkdir()


def _transcripts(ours: Path) -> None:
    folder = ours / "ralph" / "transcripts"
    folder.mkdir(parents=True)
    names = (
        "iteration", "started_at", "ended_at", "decision", "why", "tools", "edits", "tokens",
        "context",
    )  # fmt: skip
    whole = {"iteration": 1, "started_at": "2026-11-20T15:00:00Z", "decision": "blocked"}
    odd = [{**whole, name: value} for name in names for value in VALUES]
    lines = [*map(json.dumps, odd), "[]", "{"]
    for loop_id in (ACTIVE, ENDED):
        rows = folder / f"{loop_id}_iterations.jsonl"
        rows.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
        (folder / f"{loop_id}_iter_1.txt").write_bytes(b"\xff\x00<script>\n\x1b[2J")
        os.mkfifo(folder / f"{loop_id}_iter_3.txt")
    (folder / f"{ACTIVE}_full.txt").write_bytes(b"=== iteration 1 ===\n\xff\x00" + b"a\n" * 50)
    os.mkfifo(folder / f"{ENDED}_full.txt")


def _checklists(ours: Path) -> None:
    names = ("id", "text", "status", "created_at", "completed_at", "completed_iteration")
    odd = [{"id": "1", "text": "tests pass", name: value} for name in names for value in VALUES]
    for loop_id, value in ((ACTIVE, [*odd, *VALUES]), (ENDED, {"no": "list"}), (LOST, [])):
        found = {"completion_criteria": value, "session_id": DEEP, "project": HALF, "version": "x"}
        _write(ours / "ralph" / "checklists" / f"{loop_id}-checklist.json", found)


def _projects(ours: Path) -> None:
    folder = ours / "projects" / project_id(_ROOT)
    record = {"active_plan": f"{_ROOT}/PLAN.md", "project_root": _ROOT, "session_ids": VALUES}
    plans = {f"{_ROOT}/PLAN{n}.md": {**record, "progress": value, "plan_name": value,
                                     "metadata": value, "started_at": value}
             for n, value in enumerate(VALUES)}  # fmt: skip
    _write(folder / "plans.json", {"project_root": _ROOT, "plans": plans, "current": HALF})
    _lines(folder / "history.jsonl", "at", "outcome", "plan_name", "active_plan", "progress")
    _lines(folder / "enforcements.jsonl", "at", "session_id", "what", "why")
    _write(folder / "enforce.json", dict.fromkeys(("iteration", "status", "sessions"), DEEP))
    _write(folder / "handoffs.json", {"handoffs": VALUES, "entries": VALUES})
    _write(ours / "ralph" / "runs" / "r.json", {"loop_id": DEEP})


def _sessions(ours: Path) -> None:
    journal("s1", {"at": 1, "notes": ["\ud800 <b>\x1b[31m"], "project": "/odd\udcff"}, str(ours))
    _write(ours / "checkpoint" / "s1.json", dict.fromkeys(("told", "size", "cut"), DEEP))


def _lines(path: Path, *names: str) -> None:
    whole = {"at": 1_795_000_000.0, "event": "stop", "project": _ROOT, "outcome": "completed"}
    odd = [json.dumps({**whole, name: value}) for name in names for value in VALUES]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(odd), encoding="utf-8", errors="replace")


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
