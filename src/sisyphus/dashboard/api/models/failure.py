from __future__ import annotations

from pydantic import Field

from sisyphus.dashboard.api.values import Model


class Failure(Model):
    """Every answer that is no success."""

    error: str = Field(description="For programs: INVALID_LOOP_ID, NOT_FOUND, …")
    message: str = Field(description="For people: what, why, and what to do.")
