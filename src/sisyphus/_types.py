"""Shapes of what travels and what is stored. Imported for type checking only, never at run time."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

Json = dict[str, Any]
Kind = Literal["boulder", "loop", "rules", "agents", "readme"]
Ledger = Literal["", "rules-injector", "context-injector"]


class Piece(TypedDict):
    """A text for the model. Neighbours with the same head and tail share one frame."""

    kind: Kind
    head: str
    body: str
    tail: str
    late_head: str  # stands in for `head` when the piece waited for a later reply; "" = same
    ledger: Ledger  # which of the session's ledgers remembers it; "" = the session file itself
    hash: str  # what the ledger remembers; "" = never remembered, always sent
    path: str  # file it came from; "" where there is none


class Reply(TypedDict, total=False):
    """What Claude Code reads from a hook's stdout."""

    decision: Literal["block"]
    reason: str
    systemMessage: str
    hookSpecificOutput: SpecificOutput


class SpecificOutput(TypedDict):
    hookEventName: str
    additionalContext: str


class Progress(TypedDict):
    """Cancelled tasks and steps are in no total."""

    total: int
    completed: int
    blocked: int
    in_progress: int
    cancelled: int
    steps_total: int
    steps_completed: int


class WaveStatus(TypedDict):
    number: int
    name: str
    line: int
    total: int
    completed: int
    blocked: int


class StoryStatus(TypedDict):
    id: str
    title: str
    line: int
    wave: int | None
    status: str  # pending, in_progress, blocked or completed
    total: int
    completed: int


class PlanStatus(TypedDict):
    """`boulder status --json`. None and empty where there is no plan, or none that can be read."""

    state: Literal["active", "none", "missing", "stale", "no_tasks", "complete"]
    active_plan: str | None
    project_root: str | None
    plan_name: str | None
    started_at: str | None
    session_ids: list[str]
    progress: Progress
    next_task: str | None
    next_task_line: int | None
    current_wave: int | None
    current_story: str | None  # its id
    waves: list[WaveStatus]
    stories: list[StoryStatus]
    checkpoint: Json | None  # {"timestamp", "message"} and what others added
    todos: list[Json]
    record_path: str | None
    record_problem: str | None  # why it is not written
    in_repo: bool  # the record lies in the project, as `docs/kord/boulder.json`
    enforced: Json | None  # {"since", "max_iterations"} and further limits
    open_plans: list[Json]  # rows of `boulder list`, where the plan is none of this project
