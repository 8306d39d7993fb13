"""What the API answers of loops, as its document describes it."""

from __future__ import annotations

from pydantic import Field

from sisyphus.dashboard.api.values import Count, Maybe, Model, Number, Object, Text, Yes


class Session(Model):
    """A loop. Texts are empty, numbers null where nothing is known."""

    loop_id: Text
    session_id: Text = Field(description="The client's session that the loop is or was in.")
    status: Text = Field(
        description="`active`, `paused`, `completed`, or `lost`: it began, nobody saw its end, and "
        "its state file is gone."
    )
    merged_status: Text = Field(
        description="Status and outcome in one word, as other dashboards of loops have it: "
        "`active` (paused as well), `orphaned` (lost), or the outcome."
    )
    outcome: Text = Field(
        description="How it ended: `success`, `max_iterations`, `limit`, `stuck`, `cancelled`, "
        "`abandoned`, `error`, `archived`."
    )
    project: Text = Field(description="The folder of its project.")
    project_id: Text = Field(description="What `?project=` takes.")
    project_name: Text
    task: Text = Field(description="The start of its prompt.")
    started_at: Text = Field(description="ISO 8601, UTC.")
    ended_at: Text = Field(description="ISO 8601, UTC.")
    duration_seconds: Count = Field(description="At work: neither pauses nor waits count.")
    seconds: Number = Field(description="As `duration_seconds`; of an active loop so far.")
    iterations: Count = Field(description="How many there were; of an active loop the current one.")
    max_iterations: Count = Field(description="0: no limit.")
    completion_promise: Maybe
    error_reason: Maybe = Field(description="Why it ended, in words.")
    state_file_path: Text
    options: Object = Field(
        description="`max_minutes` and `max_tokens` (0: no limit), what its promise must pass "
        "(`verify`: a command, `verify_plan`, `verify_checklist`), and the `plan` that it holds "
        "its session to. {}: an older version began it."
    )
    health: Maybe = Field(
        description="Whether its client is `alive`, `gone`, or silent: `stale`. null, as the next "
        "four, once it has ended."
    )
    paused_by: Maybe = Field(description="`user`, `breaker`, `host cap`, `stale`; empty: nobody.")
    paused_since: Maybe = Field(description="ISO 8601, UTC; null: it is not paused.")
    waiting: Object | None = Field(
        description="For the account's limit: `for`, `until`. {}: it does not wait."
    )
    last_stop_at: Maybe = Field(description="ISO 8601, UTC; null: it has not stopped yet.")
    tokens: Count = Field(description="Spent since it began, as far as it was noted.")
    has_checklist: bool
    checklist_progress: Maybe = Field(description="As in `2/4 criteria`.")


class Current(Model):
    """Of a loop that has not ended: how it stands now."""

    health: Text = Field(description="Whether its client is `alive`, `gone`, or silent: `stale`.")
    is_outer: Yes = Field(description="Whether it waits for a loop that is nested in it.")
    paused_by: Text = Field(description="`user`, `breaker`, `host cap`, `stale`.")
    iteration: Count
    tokens: Count = Field(description="Spent since it began.")
    prompt: Text = Field(description="All of it.")
    waiting: Object = Field(description="For the account's limit; {}: it does not wait.")
    options: Object = Field(description="What it was started with.")
    breaker: Object = Field(description="The circuit breaker.")
    verified: Object = Field(description="What the last check of its promise said.")


class SessionDetail(Session):
    current: Current | None = Field(description="null: it has ended.")


class Sessions(Model):
    sessions: list[Session]
    total: int = Field(description="How many match.")
    active_count: int = Field(
        description="How many of the matching project and words have not ended."
    )
    page: int
    pages: int


class Done(Model):
    """What was done to one loop, and what else went with it."""

    success: bool
    message: Text
    loop_id: Text
    loop_ids: list[str] = Field(description="Loops that are nested end together.")


class Deleted(Model):
    success: bool
    message: Text
    deleted_count: int
