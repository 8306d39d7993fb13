"""What the API answers of a loop's transcripts and its checklist."""

from __future__ import annotations

from pydantic import Field

from sisyphus.dashboard.api.values import Count, Maybe, Model, Number, Text


class TranscriptOverview(Model):
    loop_id: str
    has_iterations: bool = Field(serialization_alias="hasIterations")
    has_full: bool = Field(serialization_alias="hasFullTranscript")
    iterations: int
    iterations_bytes: int = Field(description="Of the texts of all iterations.")
    full_characters: int = Field(description="`total` of the whole transcript.")


class Iteration(Model):
    """One iteration, as its last Stop left it."""

    iteration: Count
    began: Number = Field(description="Epoch seconds.")
    at: Number = Field(description="When it ended, in epoch seconds.")
    timestamp: Maybe = Field(description="`at` in ISO 8601, UTC.")
    seconds: Number
    decision: Text = Field(description="`blocked`: it went on; `ended`, `paused`, `allowed`.")
    words: Text = Field(description="The decision as people say it.")
    why: Text
    tools: Count
    edits: Count
    tokens: Count
    context: Number = Field(description="How full the context was, in percent.")
    output: Text = Field(description="What was said; at most 200,000 characters are kept.")


class Iterations(Model):
    loop_id: str
    iterations: list[Iteration]
    total: int
    next_from: int | None = Field(description="`from` of the next page; null: there is none.")


class FullText(Model):
    loop_id: str
    text: Text
    offset: int
    next_offset: int | None = Field(description="`offset` of the next page; null: there is none.")
    total: int = Field(description="Characters of the whole text.")


class Criterion(Model):
    id: Text
    text: Text
    status: Text = Field(description="`pending`, `in_progress`, `completed`.")
    created_at: Maybe = None
    completed_at: Maybe = None
    completed_iteration: Count = None


class Checklist(Model):
    loop_id: Text = ""
    session_id: Text = ""
    project: Text = ""
    project_name: Text = ""
    created_at: Maybe = None
    updated_at: Maybe = None
    completion_criteria: list[Criterion]


class Progress(Model):
    criteria: str = Field(description="As in `2/4 criteria`.")
    completed: int = Field(serialization_alias="criteriaCompleted")
    total: int = Field(serialization_alias="criteriaTotal")


class ChecklistAnswer(Model):
    checklist: Checklist
    progress: Progress
