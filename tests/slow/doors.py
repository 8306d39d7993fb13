"""Runs hooks as real processes: many at once, or killed at a given step."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from world import SISYPHUS, Json, World

DYING = Path(__file__).with_name("dying.py")
SECONDS = 300
"""A limit against a hang."""

MANY_STEPS = 500


def start(event: str, payload: Json, program: Sequence[str | Path] = (SISYPHUS,)) -> Any:
    process = subprocess.Popen(
        [*program, "hook", event],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin
    process.stdin.write(json.dumps(payload))
    process.stdin.close()
    process.stdin = None
    return process


def finish(process: Any) -> Json:
    """Returns what a hook replied; {} = nothing."""
    out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, err) == (0, "")
    reply: Json = json.loads(out) if out else {}
    return reply


def crowd(event: str, payloads: Iterable[Json]) -> list[Json]:
    """Starts a hook for each payload, all at once; returns their replies."""
    return [finish(process) for process in [start(event, payload) for payload in payloads]]


def kill_at_every_step(event: str, payload: Callable[[int], Json]) -> Iterator[tuple[int, str]]:
    """Runs a hook that kills itself before its first step, one before its second, and so on until
    one comes to its end. Yields each step, and what the hook printed.

    payload: is called before each run, with the step.
    """
    for step in range(1, MANY_STEPS):
        process = start(event, payload(step), program=(sys.executable, DYING, str(step)))
        out, err = process.communicate(timeout=SECONDS)
        assert process.returncode in (0, -9), err
        yield step, out
        if process.returncode == 0:
            return
    raise AssertionError(f"{event} has over {MANY_STEPS} steps")


def query(world: World, statement: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(world.ours / "sisyphus.db", timeout=SECONDS)) as database:
        return database.execute(statement).fetchall()


def is_whole(world: World) -> bool:
    return query(world, "PRAGMA integrity_check") == [("ok",)]


def exports_are_current(world: World, session: str = "s1") -> bool:
    """Tells whether the files for other programs say what the ledger does."""
    kinds = {"rules-injector": "('rules')", "context-injector": "('readme', 'agents')"}
    for folder, names in kinds.items():
        file = world.ours / folder / f"session-{session}.json"
        exported = json.loads(file.read_text())["injected_hashes"] if file.exists() else []
        rows = query(
            world,
            "SELECT hash FROM sent JOIN session ON session.n = sent.session "
            f"WHERE session.id = '{session}' AND sent.kind IN {names}",
        )
        if sorted(exported) != sorted(row[0] for row in rows):
            return False
    return True
