"""What the API answers of everything."""

from __future__ import annotations

from pydantic import Field

from sisyphus.dashboard.api.models.loops import Session
from sisyphus.dashboard.api.models.plans import Boulder
from sisyphus.dashboard.api.values import Count, Maybe, Model, Object, Text


class Day(Model):
    day: str
    good: Count = Field(0, description="Loops that ended as promised.")
    warn: Count = Field(0, description="At a limit, or by a fault.")
    idle: Count = Field(0, description="Cancelled or given up.")


class Waiting(Model):
    """What waits for the user."""

    kind: Text = Field(
        description="`paused` (a loop, by its breaker or its client), `left` (a loop whose client "
        "has gone), `enforcement` (at its limit), `plan` (missing or unreadable), `handoff`, "
        "`limit` (a loop that waits for the account's) or `lost` (a loop)."
    )
    what: Text
    why: Text
    since: Maybe = Field(description="ISO 8601, UTC.")
    href: Text = Field(description="Its page.")
    command: Text = Field(description="What helps, for a terminal: a command a line.")


class Attention(Model):
    items: list[Waiting] = Field(description="The most urgent first; of them, some.")
    total: Count = Field(description="How many there are.")


class Overview(Model):
    attention: Attention = Field(description="What waits for the user.")
    loops: Object = Field(description="Counts, outcomes, success rate, durations, iterations.")
    active: list[Session]
    ended: list[Session] = Field(description="Those that ended last.")
    boulders: list[Boulder] = Field(description="Plans with something left to do.")
    sessions: Object = Field(description="The client's sessions: hooks, their time, characters.")
    latest: list[Object] = Field(description="The client's latest sessions.")
    days: list[Day] = Field(description="The last fortnight, oldest first.")
