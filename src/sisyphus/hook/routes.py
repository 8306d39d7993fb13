"""Which handlers answer which event, in the order in which their outcomes merge.

Strings, so that an event imports no more than its own handlers.
"""

from __future__ import annotations

import os

from sisyphus.clients.base import EDIT, SKILL, TODO, WRITE
from sisyphus.clients.claude_code import plugin_folder, settings_paths
from sisyphus.memory import PURGED
from sisyphus.workspace import ENFORCEMENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus.clients.base import Payload
    from sisyphus.workspace import Workspace

_DAY_SECONDS = 86_400

ROUTES: dict[str, tuple[str, ...]] = {
    "session-start": (
        "sisyphus.session.hooks:on_session_start",
        "sisyphus.boulder.hooks:on_session_start",
        "sisyphus.ralph.hooks:on_session_start",
        "sisyphus.checkpoint.hooks:on_session_start",
        "sisyphus.context.hooks:on_session_start",
        "sisyphus.enforce.hooks:on_session_start",
        "sisyphus.install.hooks:on_session_start",
    ),
    "user-prompt-submit": (
        "sisyphus.boulder.hooks:on_user_prompt_submit",
        "sisyphus.ralph.hooks:on_user_prompt_submit",
        "sisyphus.checkpoint.hooks:on_user_prompt_submit",
        "sisyphus.enforce.hooks:on_user_prompt_submit",  # what was answered before is no activity
    ),
    "permission-request": ("sisyphus.hook.permission:on_permission_request",),
    "post-tool-use": (
        "sisyphus.boulder.hooks:on_post_tool_use",
        "sisyphus.ralph.hooks:on_post_tool_use",
        "sisyphus.rules.hooks:on_post_tool_use",
        "sisyphus.context.hooks:on_post_tool_use",
        "sisyphus.checkpoint.hooks:on_post_tool_use",
        "sisyphus.enforce.marks:on_post_tool_use",
    ),
    "stop": (
        "sisyphus.boulder.hooks:on_stop",
        "sisyphus.arbiter.quiet:on_stop",
    ),
    "pre-compact": (
        "sisyphus.boulder.hooks:on_pre_compact",
        "sisyphus.checkpoint.hooks:on_pre_compact",
        "sisyphus.enforce.hooks:on_pre_compact",
    ),
    "stop-failure": ("sisyphus.ralph.hooks:on_stop_failure",),
    "idle": (
        "sisyphus.ralph.wake:on_idle",
        "sisyphus.enforce.idle:on_idle",
    ),
    "session-end": (
        "sisyphus.checkpoint.hooks:on_session_end",
        "sisyphus.boulder.hooks:on_session_end",
        "sisyphus.ralph.hooks:on_session_end",
        "sisyphus.enforce.hooks:on_session_end",
        "sisyphus.session.hooks:on_session_end",
        "sisyphus.purge:on_session_end",  # last: what it has no time for is nobody's loss
    ),
}
"""Events that are not listed are answered with silence."""


def _may_be_enforced(_: Payload, space: Workspace) -> bool:
    return os.path.lexists(space.project_file(ENFORCEMENT))


def _may_be_wired_twice(_: Payload, space: Workspace) -> bool:
    """As a plugin beside settings, or by entries for each call and for all calls of an answer."""
    if plugin_folder():
        return True
    paths = settings_paths(space.home, space.cwd, space.root)
    return sum(_count(path, b" hook post-tool-") for path in paths) > 1


def _count(path: str, words: bytes) -> int:
    from sisyphus.errors import UnreadableError
    from sisyphus.reading import DOCUMENT_BYTES, read_bytes

    try:
        return read_bytes(path, DOCUMENT_BYTES).count(words)
    except UnreadableError:
        return 0


def _touches_files(payload: Payload, _: Workspace) -> bool:
    return bool(payload.paths)


def _changes_plans(payload: Payload, _: Workspace) -> bool:
    return any(call.kind in (EDIT, WRITE, TODO) for call in payload.calls)


def _calls_skills(payload: Payload, _: Workspace) -> bool:
    return any(call.kind == SKILL for call in payload.calls)


def _is_day_over(payload: Payload, space: Workspace) -> bool:
    """Whether it is time to look for what is old."""
    if payload.agent or not payload.session or space.memory.problem:
        return False
    row = space.memory.row("SELECT value FROM note WHERE name = ?", PURGED)
    if row is not None and abs(space.now - float(row[0])) < _DAY_SECONDS:
        return False
    days: int = space.settings.get("state.keep_days")
    return days > 0


ONLY_WHERE: dict[str, Callable[[Payload, Workspace], bool]] = {
    "sisyphus.boulder.hooks:on_post_tool_use": _changes_plans,
    "sisyphus.ralph.hooks:on_post_tool_use": _calls_skills,
    "sisyphus.rules.hooks:on_post_tool_use": _touches_files,
    "sisyphus.context.hooks:on_post_tool_use": _touches_files,
    "sisyphus.enforce.hooks:on_session_start": _may_be_enforced,
    "sisyphus.enforce.hooks:on_pre_compact": _may_be_enforced,
    "sisyphus.enforce.hooks:on_session_end": _may_be_enforced,
    "sisyphus.install.hooks:on_session_start": _may_be_wired_twice,
    "sisyphus.purge:on_session_end": _is_day_over,
}
"""Handlers that have something to do only where this holds: to load them costs 0.5 ms."""
