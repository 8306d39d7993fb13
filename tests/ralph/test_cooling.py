from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sisyphus.ralph import breaker, cooling
from sisyphus.ralph.loop import BY_BREAKER, BY_HOST_CAP, BY_USER, Loop
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1_795_200_000.0
MINUTE = 60


def _space(project: Path, minutes: float = 0) -> Workspace:
    return Workspace(str(project), now=NOW + minutes * MINUTE)


def _stuck(project: Path, by: str = BY_BREAKER) -> Loop:
    """A loop that its breaker paused at `NOW`."""
    loop = Loop("s1", "abcde", "do it")
    loop.breaker = breaker.after(
        {"no_progress": 99},
        progress=False,
        error="",
        now=NOW,
        limits=cooling.limits(_space(project)),
    )
    assert breaker.is_open(loop.breaker)
    loop.pause(by, NOW)
    return loop


def test_the_limits_are_the_settings(project: Path) -> None:
    found = cooling.limits(_space(project))

    assert (found.no_progress, found.same_error, found.cool_minutes) == (5, 5, 30)


def test_limits_below_zero_are_passed_over(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROGRESS", "SAME_ERROR", "BREAKER_MINUTES"):
        monkeypatch.setenv(f"SISYPHUS_RALPH_{name}", "-5")

    found = cooling.limits(_space(project))

    assert (found.no_progress, found.same_error, found.cool_minutes) == (5, 5, 30)


TRIES = [
    pytest.param(29, False, id="too early"),
    pytest.param(30, True, id="after half an hour"),
    pytest.param(-60, True, id="by a clock that was changed"),
]


@pytest.mark.parametrize(("minutes", "has_another"), TRIES)
def test_a_loop_has_another_try_after_a_while(
    project: Path, minutes: float, has_another: bool
) -> None:
    loop = _stuck(project)

    assert cooling.try_again([loop], _space(project, minutes)) is has_another
    assert loop.is_paused is not has_another
    assert loop.breaker["state"] == (breaker.HALF_OPEN if has_another else breaker.OPEN)


@pytest.mark.parametrize("by", [BY_USER, BY_HOST_CAP, ""])
def test_what_another_paused_is_left_alone(project: Path, by: str) -> None:
    loop = _stuck(project, by)

    assert not cooling.try_again([loop], _space(project, 99))
    assert loop.is_paused


def test_a_loop_whose_breaker_is_closed_by_hand_goes_on(project: Path) -> None:
    loop = _stuck(project)
    loop.breaker = {}

    assert cooling.try_again([loop], _space(project))
    assert not loop.is_paused
