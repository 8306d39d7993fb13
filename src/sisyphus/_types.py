"""Shapes of what travels and what is stored. Imported for type checking only, never at run time."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

Json = dict[str, Any]

Owner = tuple[str, str]
"""Whose a file is: what it is ("session", "loop", "handoff", "copy", "project") and its name. The
name "*" stands for all of them; ("", "") is nobody."""


class Kept(TypedDict):
    """Files below our folder that `purge` removes when they are old. In `path` the words SESSION,
    LOOP, HANDOFF, COPY and ID (of a project) stand for the owner's name, N for a number, `*` for
    anything."""

    path: str
    kind: str  # in words, for people; "" = the file itself never goes, what lies beside it does
    lock: NotRequired[str]  # the file beside it whose lock guards it, "" = it has its own
    resumable: NotRequired[bool]  # it stays for as long as the client can resume its session
    on_request: NotRequired[bool]  # it goes with `purge --all` alone
    folders: NotRequired[int]  # so many above it go with the last file in them


class Toast(TypedDict):
    """A note that the client shows for a while and that is no part of the conversation."""

    variant: Literal["info", "warning", "error"]
    title: str
    message: str
    seconds: float  # for which it is shown
    countdown: float  # seconds between it and what it announces


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


class FileInProgress(TypedDict):
    path: str  # relative to the project, with forward slashes
    lines: str  # `45-120`, `45-60, 90`; "" = the whole file
    line: NotRequired[int]  # where the last edit begins
    description: str


class Checkpoint(TypedDict, total=False):
    """A handed-over piece of work: `context_checkpoint` of a fresh-context run, and more."""

    active: bool  # nobody was given it yet
    level: str  # "L2", "L3"; "" where the context's size was not the occasion
    percent_at_checkpoint: int
    timestamp: str
    handoff_file: str  # relative to the project; absolute where it lies elsewhere
    resume_summary: str
    files_in_progress: list[FileInProgress]
    current_todo_item: str
    progress_on_item: str
    occasion: str  # level, compaction, breaker, asked, cut
    session_id: str
    loop_id: str
    iteration: int
    next_step: str
    task: str
    plan: str  # path of the open plan that the session was at
    closed: str  # why it is active no more: delivered, superseded, done
    given_at: str  # ISO time
    is_used: bool  # whoever was given it has answered since
    given_to: str  # the session or run that was given it
    lets_stop: bool  # its session was told to stop for it, and may
    in_run: bool  # of an iteration of a fresh-context run, which hands it on by itself
