"""What the API answers of plans."""

from __future__ import annotations

from pydantic import Field

from sisyphus.dashboard.api.values import Count, Maybe, Model, Text, Yes


class Boulder(Model):
    """A plan that is followed, as `boulder list --json` has it."""

    id: Text
    plan_name: Text
    active_plan: Text = Field(description="The path of its file.")
    place: Text = Field(description="The path as people read it, in its project.")
    project_root: Text
    project_id: Text
    project_name: Text
    state: Text = Field(description="`active`, `complete`, `stale`, `missing`, `no_tasks`, …")
    completed: Count = Field(description="Tasks.")
    total: Count
    touched_at: Maybe
    sessions_open: Count
    is_current: Yes = Field(description="Of its project.")
    in_use: Yes = Field(description="By the session that started last.")
    enforced: Yes


class EndedBoulder(Model):
    """A plan that nobody follows any more."""

    id: Text
    plan_name: Text
    active_plan: Text
    place: Text
    project_root: Text
    project_id: Text
    project_name: Text
    what: Text = Field(description="`completed` or `cleared`.")
    at: Maybe
    completed: Count
    total: Count


class Boulders(Model):
    boulders: list[Boulder]
    ended: list[EndedBoulder]
    total: int = Field(description="How many are followed.")
    projects: dict[str, str] = Field(description="`project_id` to name.")
    states: list[str] = Field(description="What `?state=` takes.")
