"""Hooks as real processes: many at once, or killed at a given step."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from world import SISYPHUS, Json, World

DYING = Path(__file__).with_name("dying.py")
SECONDS = 300
"""A limit against a hang."""


def start(event: str, payload: Json, by: Sequence[str | Path] = (SISYPHUS,)) -> Any:
    process = subprocess.Popen(
        [*by, "hook", event],
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
    """Starts all of them at once; returns their replies."""
    return [finish(process) for process in [start(event, payload) for payload in payloads]]


def killed(step: int, event: str, payload: Json) -> tuple[str, bool]:
    """Runs a hook that kills itself before its `step`; returns what it printed, and whether it
    got so far."""
    process = start(event, payload, by=(sys.executable, DYING, str(step)))
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode in (0, -9), err
    return out, process.returncode == -9


def query(world: World, statement: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(world.ours / "sisyphus.db", timeout=SECONDS)) as database:
        return database.execute(statement).fetchall()


def is_whole(world: World) -> bool:
    return query(world, "PRAGMA integrity_check") == [("ok",)]


def exports_are_current(world: World, session: str = "s1") -> bool:
    """Whether the files for other programs say what the ledger does."""
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


def leftovers(world: World) -> list[str]:
    """Files of ours that are neither the store nor an export."""
    return [f.name for f in world.ours.rglob("*") if f.suffix in (".tmp", f".{os.getpid()}")]
