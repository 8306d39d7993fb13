"""What is typed in a terminal to go on with work."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from sisyphus.ralph import loop as lp
from sisyphus.ralph import stale
from sisyphus.session.transcripts import resume_command, transcript_path

if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.dashboard.desk import Desk


def resume(desk: Desk, project: str, session: str) -> str:
    """ "" where the client has no transcript of the session any more."""
    if not transcript_path(desk.home, session):
        return ""
    return _in(project, resume_command(desk.home, session))


def with_loop(desk: Desk, row: Json) -> str:
    """What moves a loop of `ralph list --json` that does not move, a command a line: "" where its
    client has gone and no session can be taken up."""
    is_alive = row["health"] == stale.ALIVE
    again = "" if is_alive else resume(desk, row["project"], row["session_id"])
    if not is_alive and not again:
        return ""
    is_paused = row["status"] == lp.PAUSED
    first = f"sisyphus ralph resume {shlex.quote(row['loop_id'])}" if is_paused else ""
    return "\n".join(filter(None, (first, again)))


def plan(row: Json, command: str) -> str:
    """`sisyphus boulder COMMAND` of a plan, which is a row of `plan_rows`."""
    return ours(row["project_root"], f"boulder {command} {shlex.quote(row['place'])}")


def anew(desk: Desk, project: str, session: str) -> str:
    """A new session of the client that this one was of."""
    return _in(project, resume_command(desk.home, session).split()[0])


def ours(project: str, command: str) -> str:
    """A command of ours that is about the project."""
    return _in(project, f"sisyphus {command}")


def _in(project: str, command: str) -> str:
    return f"cd {shlex.quote(project)} && {command}" if project else command
