"""How full the contexts of sessions are, and how they came to be so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sisyphus.checkpoint import store
from sisyphus.checkpoint.size import fullness, levels
from sisyphus.dashboard.failures import not_found
from sisyphus.dashboard.views import loops
from sisyphus.dashboard.views.curve import Curve
from sisyphus.journal import SessionSums
from sisyphus.paths import is_safe_id
from sisyphus.session import client_process
from sisyphus.session.transcripts import transcript_path, transcripts
from sisyphus.text import sound

if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.checkpoint.size.fullness import Fullness
    from sisyphus.dashboard.desk import Desk
    from sisyphus.workspace import Workspace

MOST_SESSIONS = 50


def sessions(desk: Desk, most: int = MOST_SESSIONS) -> Json:
    """`sessions`: those whose transcript is still there, at most so many, the one that was seen
    last first. `total`: how many sessions are known; `with_transcript`: of how many it is there."""
    known = sorted(desk.sessions(), key=lambda one: one.ended, reverse=True)
    paths = transcripts(desk.home)
    there = [one for one in known if one.session in paths]
    alive = set(client_process.open_sessions(desk.ours))
    spaces = {one.project: _space(desk, one) for one in there[:most]}
    rows = []
    for one in there[:most]:
        full = _full(desk, spaces[one.project], one.session, paths[one.session])
        rows.append({**_whose(one, alive), **_size(full)})
    return {"sessions": rows, "total": len(known), "with_transcript": len(there)}


def of_session(desk: Desk, session: str) -> Json:
    """How full its context is and was: what a row of `sessions` has and, where `has_transcript`,
    what `Curve.as_json` has, and `told`: the highest level that the model was told.

    Raises `FailedError` where nothing is known of the session.
    """
    one, path = _find(desk, session)
    alive = set(client_process.open_sessions(desk.ours))
    found = {**_whose(one, alive), "has_transcript": bool(path)}
    if not path:
        return {**found, **_size(None)}
    space, known = _space(desk, one), store.glance(desk.ours, session)
    full = _full(desk, space, session, path)
    curve = Curve(space, desk.series.points(path), known, full)
    told = store.number(known, "told")
    return {**found, **_size(full), **curve.as_json(), "told": min(told, levels.EMERGENCY)}


def loops_of(desk: Desk, session: str) -> list[Json]:
    """The session's loops, the newest first; `live` as `views.loops.rows` has it."""
    rows = loops.by_name(desk.loops())
    return [
        {
            "loop_id": one.loop_id,
            "task": one.task,
            "result": one.result,
            "live": loops.of_moment(loops.live_row(one, rows)),
        }
        for one in desk.history()
        if one.session_id == session
    ]


def _find(desk: Desk, session: str) -> tuple[SessionSums, str]:
    """What its journal comes to, and its transcript, "" = none."""
    path = transcript_path(desk.home, session) if is_safe_id(session) else ""
    one = next((one for one in desk.sessions() if one.session == session), None)
    if one is None and not path:
        raise not_found("no such session is known. The list of sessions names them all.")
    return one or SessionSums(session), path


def _space(desk: Desk, one: SessionSums) -> Workspace:
    """The project that the session began in; where no journal tells, the user's own settings."""
    return desk.space(one.project or desk.home)


def _full(desk: Desk, space: Workspace, session: str, path: str) -> Fullness:
    known = store.glance(desk.ours, session)
    reading = desk.series.reading(path, store.cut(known))
    return fullness.of_reading(space, reading, known)


def _whose(one: SessionSums, alive: set[str]) -> Json:
    return {
        "session_id": one.session,
        "project": one.project or None,
        "client": one.client or None,
        "run": one.run or None,
        "began": one.began or None,
        "last": one.ended or None,
        "is_alive": one.session in alive,
    }


def _size(full: Fullness | None) -> Json:
    """`percent` is rounded down: a level is not shown before it is reached. All is null where the
    model has not answered, or not since the last compaction."""
    if full is None or not full.tokens:
        return dict.fromkeys(("model", "tokens", "window", "percent", "level", "level_name"))
    return {
        "model": sound(full.model),
        "tokens": full.tokens,
        "window": full.window,
        "percent": int(full.percent),
        "level": full.level,
        "level_name": levels.NAMES[full.level],
    }
