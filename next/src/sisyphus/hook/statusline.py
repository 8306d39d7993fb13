"""Prints one line for the client's status line: plan, loop and context of the session.

The client runs it every few seconds and gives it JSON on stdin. It is also where we learn how many
tokens the context holds, and how many fit: no hook is told.
"""

from __future__ import annotations

import json
import os
import time

from sisyphus import clients, log, paths, settings
from sisyphus.store import open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO, TextIO

    from sisyphus.settings import Values
    from sisyphus.store import Store

USAGE = 2
_NAME = 30
"""Characters of a plan's name; the line is shared with others."""


def run(words: list[str], stdin: BinaryIO, stdout: TextIO, stderr: TextIO) -> int:
    """`sisyphus statusline [--client NAME]`; returns the exit code. What fails is an empty line."""
    if stdin.isatty():
        stderr.write(
            "error: the client runs this and gives it JSON on stdin; put "
            '{"type": "command", "command": "sisyphus statusline"} under "statusLine" in its '
            "settings, or run `sisyphus install`\n"
        )
        return USAGE
    if os.environ.get("SISYPHUS_DISABLE", "0") not in ("", "0"):
        return 0
    try:
        name = words[words.index("--client") + 1] if "--client" in words[:-1] else ""
        client = clients.payload(name)
        raw = json.loads(stdin.read())
        if isinstance(raw, dict):
            stdout.write(_line(client.NAME, client.read_status(raw)) + "\n")
    except (Exception, KeyboardInterrupt) as error:
        log.failure("statusline", error)
    return 0


def _line(client: str, status: tuple[str, str, int, int]) -> str:
    id, folder, tokens, window = status
    project = paths.project_of(folder)
    store = open_store(paths.our_home(project))
    try:
        values, _ = settings.load(store, paths.our_home(project), project, os.environ)
        row = store.one(
            "SELECT n, context_tokens, context_window FROM session "
            "WHERE client = ? AND id = ? AND agent = ''",
            client, id,
        )  # fmt: skip
        session = row[0] if row else 0
        if row and tokens and (tokens, window) != row[1:]:
            store.run(
                "UPDATE session SET context_tokens = ?, context_window = ? WHERE n = ?",
                tokens, window, session,
            )  # fmt: skip
        parts = [*_plan(store, values, project, session), *_loop(store, values, session)]
        if tokens and window:
            parts.append(f"ctx {100 * tokens // window}%")
        return " | ".join(parts)
    finally:
        store.close()


def _plan(store: Store, values: Values, project: str, session: int) -> Iterator[str]:
    if not values["boulder.enabled"]:
        return
    from sisyphus.boulder import follow, status
    from sisyphus.text import one_line

    plan = status.of_project(store, project, session, time.time())
    if plan.record and plan.plan.total:
        wave, _ = follow.place(plan.record, plan.plan)
        where = f" wave {wave}" if wave is not None else ""
        name = one_line(plan.record.name, _NAME)
        yield f"{name} {plan.plan.completed}/{plan.plan.total}{where}"


def _loop(store: Store, values: Values, session: int) -> Iterator[str]:
    if not (session and values["ralph.enabled"]):
        return
    from sisyphus.ralph import loop as loops

    if loop := loops.current(store, session):
        limit = f"/{loop.options.max_iterations}" if loop.options.max_iterations else ""
        status = "" if loop.is_active else f" {loop.status}"
        yield f"loop {loop.counters.iteration}{limit}{status}"
