"""What routes of the API are given by naming it, and what all of them may answer."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Path

from sisyphus.dashboard.api.models.failure import Failure
from sisyphus.dashboard.views.loop import checked

ID = r"^(?!\.$)(?!.*\.\.)[A-Za-z0-9._-]{1,128}$"
"""As in `paths.is_safe_id`."""

_SHAPE = {"pattern": ID, "minLength": 1, "maxLength": 128}


def failing(**codes: str) -> dict[int | str, dict[str, Any]]:
    """Answers of a route, as in `failing(_404="NOT_FOUND")`."""
    return {
        int(name.removeprefix("_")): {"model": Failure, "description": f"`{text}`"}
        for name, text in codes.items()
    }


def _loop_id(
    loop_id: Annotated[
        str, Path(description="A loop's id, whole.", json_schema_extra={**_SHAPE})
    ],
) -> str:  # fmt: skip
    return checked(loop_id)


LoopId = Annotated[str, Depends(_loop_id)]

UNKNOWN = failing(_400="INVALID_LOOP_ID, INVALID_REQUEST", _404="NOT_FOUND")
EVERYWHERE = failing(
    _400="INVALID_REQUEST", _401="UNAUTHORIZED", _403="FOREIGN_HOST, FOREIGN_ORIGIN",
    _500="INTERNAL_ERROR",
)  # fmt: skip
