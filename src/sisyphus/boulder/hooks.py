"""The handlers of the boulder. A quiet event must cost next to nothing."""

from __future__ import annotations

import os

from sisyphus.clients.base import EDIT, TODO, WRITE, merge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.clients.base import Outcome, Payload
    from sisyphus.workspace import Workspace


def on_session_start(payload: Payload, space: Workspace) -> Outcome | None:
    """The plan of the project goes on in this session."""
    if _is_off(payload, space):
        return None
    from sisyphus.boulder import watch
    from sisyphus.boulder.discover import at_its_place
    from sisyphus.errors import SisyphusError

    space = at_its_place(space)
    try:
        return watch.begin_session(space, payload.session, payload.source)
    except (OSError, SisyphusError) as error:
        space.log(f"boulder not written: {error}")
        return watch.continue_without_state(space, payload.session)


def on_user_prompt_submit(payload: Payload, space: Workspace) -> Outcome | None:
    """Answers the boulder's slash commands; else notices what changed between two turns."""
    if _is_off(payload, space):
        return None
    if payload.prompt.lstrip().startswith("/"):
        from sisyphus.boulder.commands import answer

        if outcome := answer(payload, space):
            return outcome
    return _notice(payload, space)


def on_post_tool_use(payload: Payload, space: Workspace) -> Outcome | None:
    """A plan file that was written begins a boulder or moves it on; todos are mirrored."""
    written = [
        call.path for call in payload.calls if call.kind in (EDIT, WRITE) and not call.failed
    ]
    plans = [path for path in dict.fromkeys(written) if path.endswith(".md")]
    todos = [call for call in payload.calls if call.kind == TODO and not call.failed]
    if not (plans or todos) or not space.settings.get("boulder.enabled"):
        return None
    from sisyphus.boulder.discover import at_its_place
    from sisyphus.boulder.watch import edited, todos_changed

    place = at_its_place(space)
    outcomes = [edited(place, payload.session, path) for path in plans]
    if payload.agent:  # a subagent's context is not the one that knows of the plan
        for outcome in filter(None, outcomes):
            outcome.texts.clear()
    else:  # and its list is its own affair
        outcomes += [todos_changed(place, payload.session, call) for call in todos]
    return merge(outcomes) if any(outcomes) else None


def on_pre_compact(payload: Payload, space: Workspace) -> Outcome | None:
    """What the session will forget is kept: where the plan stands."""
    return None if _is_off(payload, space) else _take_stock(payload, space)


def on_stop(payload: Payload, space: Workspace) -> Outcome | None:
    """Notices what changed in this turn by other means than the client's tools."""
    if payload.is_subagent or not space.settings.get("boulder.enabled"):
        return None
    return _notice(payload, space)


def on_session_end(payload: Payload, space: Workspace) -> Outcome | None:
    """The record learns that this session is over, and where the plan stands."""
    if not payload.session or _is_off(payload, space):
        return None
    from sisyphus.boulder.watch import end_session

    outcome = _take_stock(payload, space)
    end_session(space, payload.session)
    return outcome


def _is_off(payload: Payload, space: Workspace) -> bool:
    return bool(payload.agent) or not space.settings.get("boulder.enabled")


def _notice(payload: Payload, space: Workspace) -> Outcome | None:
    from sisyphus.boulder.discover import at_its_place
    from sisyphus.boulder.watch import notice

    return notice(at_its_place(space), payload.session)


def _take_stock(payload: Payload, space: Workspace) -> Outcome | None:
    from sisyphus.boulder.discover import at_its_place
    from sisyphus.boulder.watch import take_stock

    return take_stock(at_its_place(space), payload.session, payload.event)


def owned(payload: Payload, space: Workspace) -> list[str]:
    """The plan that the session follows, where it lies in one of the usual places: the model can
    follow any file, and one elsewhere may mean something to somebody."""
    from sisyphus.boulder.discover import PLAN_FILES, PLAN_FOLDERS
    from sisyphus.boulder.store import read_plans

    if not space.settings.get("boulder.enabled"):
        return []
    plan = read_plans(space.home, space.root).own(payload.session)
    place = os.path.relpath(plan, space.root).replace(os.sep, "/") if plan else ""
    is_usual = place in PLAN_FILES or os.path.dirname(place) in PLAN_FOLDERS
    return [plan] if is_usual else []
