"""What is done to loops, and the codes of what failed."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sisyphus.dashboard import loop_actions
from sisyphus.dashboard.api import shapes
from sisyphus.dashboard.api.common import failing
from sisyphus.dashboard.failures import INVALID_STATE, FailedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.dashboard.api.models.loops import Done
    from sisyphus.dashboard.desk import Desk

FAILED = failing(_500="DELETE_FAILED, INTERNAL_ERROR")
"""Of deleting whatever there is."""


def codes(action: str) -> dict[int | str, dict[str, Any]]:
    return failing(
        _400=f"INVALID_LOOP_ID, {INVALID_STATE}",
        _404="NOT_FOUND",
        _500=f"{action.upper()}_FAILED, INTERNAL_ERROR",
    )


def act(desk: Desk, loop_id: str, action: str, done: str) -> Done:
    """`done`: the action as it is said afterwards. Raises `FailedError`."""
    with _with_code():
        return shapes.done(loop_id, done, loop_actions.do(desk, loop_id, action))


def delete_archived(desk: Desk) -> int:
    """Returns how many there were. Raises `FailedError`."""
    with _with_code():
        return len(loop_actions.delete_archived(desk))


@contextmanager
def _with_code() -> Iterator[None]:
    """A state that does not allow it is 409 to people, and 400 to programs."""
    try:
        yield
    except FailedError as error:
        if error.code != INVALID_STATE:
            raise
        raise FailedError(400, INVALID_STATE, str(error)) from error
