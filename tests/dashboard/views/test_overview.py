from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from past import Past

from sisyphus.dashboard.desk import Desk
from sisyphus.dashboard.views import overview as view
from sisyphus.ralph.past.records import Record
from sisyphus.times import iso, local

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1_700_000_000.0
DAY = 86_400


def _ended(outcome: str, back: float) -> Record:
    """A loop that ended so many days ago."""
    record = Record("l1", "s1")
    record.status, record.outcome = "completed", outcome
    record.ended_at = iso(NOW - back * DAY)
    return record


def test_a_fortnight_is_shown_oldest_first_to_today() -> None:
    days = [name for name, _ in view.by_day([], NOW)]
    assert len(days) == 14
    assert days[-1] == local(NOW, "%m-%d")
    assert days[0] == local(NOW - 13 * DAY, "%m-%d")


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        pytest.param("success", "good", id="as promised"),
        pytest.param("cancelled", "idle", id="cancelled"),
        pytest.param("abandoned", "idle", id="given up"),
        pytest.param("archived", "idle", id="given an end"),
        pytest.param("max_iterations", "warn", id="at a limit"),
        pytest.param("error", "warn", id="by a fault"),
        pytest.param("<b>", "warn", id="in a word of a stranger"),
    ],
)
def test_a_loop_counts_on_the_day_it_ended(outcome: str, kind: str) -> None:
    days = dict(view.by_day([_ended(outcome, 3), _ended(outcome, 3)], NOW))
    assert days.pop(local(NOW - 3 * DAY, "%m-%d")) == {kind: 2}
    assert not any(days.values())


@pytest.mark.parametrize("back", [pytest.param(15, id="long ago"), pytest.param(-1, id="ahead")])
def test_what_ended_outside_of_it_does_not(back: float) -> None:
    assert not any(counts for _, counts in view.by_day([_ended("success", back)], NOW))


@pytest.mark.parametrize("moment", ["", "never", "9999-99-99"])
def test_what_has_no_moment_does_not(moment: str) -> None:
    record = _ended("success", 1)
    record.ended_at = moment
    assert not any(counts for _, counts in view.by_day([record], NOW))


def test_an_empty_home_has_an_overview(home: Path) -> None:
    found = view.overview(Desk(str(home / ".claude"), lambda: NOW))
    assert (found["active"], found["ended"], found["boulders"], found["latest"]) == ([], [], [], [])
    assert found["loops"]["success_rate"] is None


def test_the_latest_come_first(home: Path) -> None:
    desk = Desk(str(home / ".claude"), lambda: NOW)
    Past(desk.ours, NOW, ["/home/ann/shop"]).write(12, 3)
    found = view.overview(desk)
    assert (len(found["active"]), found["loops"]["active"], found["loops"]["ended"]) == (3, 3, 12)
    ended = [record.ended_at for record in found["ended"]]
    assert ended == sorted(ended, reverse=True)
    assert (len(ended), len(found["latest"])) == (view.LATEST, view.LATEST)
    began = [row["ended"] for row in found["latest"]]
    assert began == sorted(began, reverse=True)
