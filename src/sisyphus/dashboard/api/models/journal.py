"""What the API answers of journals."""

from __future__ import annotations

from pydantic import Field

from sisyphus.dashboard.api.values import Model, Number


class Line(Model):
    at: Number = Field(description="Epoch seconds.")
    session_id: str
    event: str = Field(description="As `sisyphus hook` names it, or `command`: a command line.")
    agent: str = Field(description="The subagent's id; empty: none.")
    ms: Number = Field(description="How long the hook took.")
    blocked: bool = Field(description="Whether it held the session, or answered a prompt.")
    sent: int = Field(description="Characters for the model.")
    said: list[str] = Field(description="What it did and why, one sentence each.")


class Journal(Model):
    session_id: str | None = Field(description="Whose journal this is; null: of several.")
    entries: list[Line] = Field(description="The newest first.")
    older: int | None = Field(description="`before` of the next page; null: there is none.")
