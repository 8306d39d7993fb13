"""What is done here is done to what is there now, and shows at once: nothing is told of it yet."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from ralph.past.log import a_loop, lives, ran, starts

from sisyphus.dashboard import loop_actions
from sisyphus.dashboard.failures import FailedError
from sisyphus.ralph import actions
from sisyphus.ralph import loop as lp

if TYPE_CHECKING:
    from sisyphus.dashboard.desk import Desk


@pytest.fixture
def keeping(desk: Desk) -> Desk:
    """A desk that goes on with what it has read: files are watched, and no time goes by."""
    now = time.time()
    desk.now = lambda: now
    desk.changes.are_seen = True
    lives(starts(a_loop()))
    ran(a_loop("ended", "s2"))
    assert _results(desk) == {"aaaaa": "active", "ended": "success"}
    return desk


def _results(desk: Desk) -> dict[str, str]:
    return {record.loop_id: record.result for record in desk.history()}


def test_what_was_done_elsewhere_is_not_done_again(keeping: Desk) -> None:
    actions.cancel(keeping.ours, "s1", now=keeping.now())
    assert _results(keeping)["aaaaa"] == "active"
    with pytest.raises(FailedError, match="is not active any more"):
        loop_actions.meant(keeping, "aaaaa", "cancel")


def test_what_was_done_is_seen_at_once(keeping: Desk) -> None:
    loop_actions.do(keeping, "aaaaa", "cancel")
    assert _results(keeping) == {"aaaaa": lp.CANCELLED, "ended": "success"}
    assert keeping.loops() == []


def test_what_was_deleted_is_gone_at_once(keeping: Desk) -> None:
    loop_actions.delete_archived(keeping)
    assert _results(keeping) == {"aaaaa": "active"}
