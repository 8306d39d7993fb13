"""Texts, payloads, files and hook processes, holding nothing but what a test is about."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sisyphus.clients import claude_code
from sisyphus.clients.base import Payload, Text
from sisyphus.memory import open_memory
from sisyphus.paths import our_home, project_root
from sisyphus.session import store
from sisyphus.session.hooks import on_session_start
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sisyphus._types import Json
    from sisyphus.clients.base import Kind

COMMAND = os.path.join(sysconfig.get_path("scripts"), "sisyphus")

HANG_SECONDS = 60
"""No test is timed: a process that takes this long waits for something that never comes."""

_PATIENTLY = f"""
from sisyphus.entry import main
from sisyphus import memory
from sisyphus.state.lock import Lock
memory.LOCK_SECONDS = {HANG_SECONDS}
Lock.__init__.__defaults__ = ({HANG_SECONDS},)
main()
"""
PATIENT = (sys.executable, "-P", "-c", _PATIENTLY)
"""In place of `COMMAND`: waits for locks as long as it takes. Of many at once on a busy machine
some would go without."""


def a_text(body: str = "text", kind: Kind = "rules", **fields: str) -> Text:
    """A text for the model in a frame of angle brackets; its hash is its body."""
    return Text(kind, body, **{"head": "<", "tail": ">", "hash": body, **fields})


def a_payload(event: str = "post-tool-use", **raw: Any) -> Payload:
    """A payload of the session "s1"."""
    return claude_code.read(event, {"session_id": "s1", **raw})


def a_start(source: str = "startup", **raw: Any) -> Payload:
    return a_payload("session-start", source=source, **raw)


def a_space(cwd: Path) -> Workspace:
    return Workspace(str(cwd), now=1_000_000.0)


def put(path: Path, content: str | bytes) -> Path:
    """Writes a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def ours(home: Path, name: str) -> Path:
    """A file of ours in this home."""
    return home / ".claude" / ".sisyphus" / name


def configure(key: str, value: Any) -> None:
    """Sets "section.key" in the user's own file; None takes it out."""
    path = Path(our_home(), "config.toml")
    table = tomllib.loads(path.read_text("utf-8")) if path.exists() else {}
    section, name = key.split(".")
    part = {**table.get(section, {}), name: value}
    table[section] = {name: kept for name, kept in part.items() if kept is not None}
    put(path, "".join(f"[{section}]\n{_lines(part)}" for section, part in table.items()))


def _lines(part: Json) -> str:
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in part.items())


def stored(path: Path) -> Json:
    value = json.loads(path.read_bytes())
    assert isinstance(value, dict)
    return value


def know_session(ours: str | Path, session: str = "s1", **values: Any) -> None:
    """Notes a session as if hooks had seen it; `values` are columns of its row."""
    memory = open_memory(str(ours))
    memory.write(
        "INSERT OR IGNORE INTO session (client, id, version) VALUES ('claude', ?, 1)", session
    )
    for name, value in values.items():
        memory.write(f"UPDATE session SET {name} = ? WHERE id = ?", value, session)


def journal(session: str, entry: Json, ours: str = "") -> None:
    """A line of the journal as a hook writes it, and what its session's row says then."""
    memory = open_memory(ours or our_home())
    client, agent, at = entry.get("client", "claude"), entry.get("agent", ""), entry.get("at", 0)
    event, ms, units = entry.get("event", "stop"), entry.get("ms", 0), entry.get("sent", 0)
    blocked = entry.get("blocked", False)
    texts = json.dumps(entry.get("texts", []))
    with memory.transaction():
        n = store.number(memory, client, session, agent)
        memory.write(
            "INSERT INTO event (session, at, event, ms, sent, blocked, is_silent, notes, texts) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            n, at, event, ms, units, blocked, entry.get("silent", False),
            json.dumps(entry.get("notes", [])), texts,
        )  # fmt: skip
        hooks = event != "command"
        memory.write(
            "UPDATE session SET project = coalesce(project, ?), run = coalesce(run, ?), "
            "began_at = min(coalesce(began_at, ?), ?), seen_at = max(coalesce(seen_at, 0), ?), "
            "hooks = hooks + ?, ms = ms + ?, units = units + ?, blocks = blocks + ? WHERE n = ?",
            entry.get("project", project_root(os.getcwd())), entry.get("run"), at, at, at, hooks,
            ms if hooks and event != "idle" else 0, units,
            blocked and event != "user-prompt-submit", n,
        )  # fmt: skip


def begin(payload: Payload, space: Workspace) -> None:
    """The session starts, and its record says so."""
    outcome = on_session_start(payload, space)
    with space.memory.transaction():
        assert outcome is not None
        assert all(change.apply(space.memory) for change in outcome.changes)


def noted(ours: str | Path, session: str = "s1") -> list[str]:
    """What the journal says of a session, in order."""
    rows = open_memory(str(ours)).rows(
        "SELECT notes FROM event JOIN session ON session = session.n WHERE id = ? ORDER BY event.n",
        session,
    )
    return [note for (notes,) in rows for note in json.loads(notes)]


def debug_log(home: Path) -> str:
    path = ours(home, "logs/debug.log")
    return path.read_text() if path.exists() else ""


def start_hook(
    event: str,
    payload: Json | bytes,
    *,
    by: Sequence[str] = (COMMAND,),
    words: Sequence[str] = (),
    **options: Any,
) -> subprocess.Popen[bytes]:
    """A real hook process that holds its payload already; `words` stand behind the event, `options`
    are Popen's."""
    command = [*by, "hook", event, *words]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, **{**streams, **options})
    assert process.stdin is not None
    process.stdin.write(payload if isinstance(payload, bytes) else json.dumps(payload).encode())
    process.stdin.close()
    process.stdin = None
    return process


def finish(process: subprocess.Popen[bytes]) -> tuple[int, Json]:
    """Exit code and reply ({} = nothing said) of a hook that printed nothing else."""
    stdout, stderr = process.communicate(timeout=HANG_SECONDS)
    assert stderr == b""
    return process.returncode, json.loads(stdout) if stdout else {}


def run_hook(event: str, payload: Json | bytes, **options: Any) -> tuple[int, Json]:
    return finish(start_hook(event, payload, **options))


Given = TypeVar("Given")
Answer = TypeVar("Answer")


def at_once(function: Callable[[Given], Answer], given: Sequence[Given]) -> list[Answer]:
    """The answers of as many forked processes as there are things given."""
    with multiprocessing.get_context("fork").Pool(len(given)) as pool:
        answers = pool.map(function, given, chunksize=1)
        pool.close()
        pool.join()  # the end of the block would kill them
    return answers


def without_coverage() -> dict[str, str]:
    """An environment in which a child is not measured, for tests of many children."""
    return {name: value for name, value in os.environ.items() if "COVERAGE" not in name}


def notify_by(command: str) -> None:
    """Sets the user's `notify.command`, which no project can."""
    configure("notify.command", command)
