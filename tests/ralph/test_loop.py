from __future__ import annotations

import pytest

from sisyphus.ralph import arguments
from sisyphus.ralph import loop as lp
from sisyphus.ralph.invocations import Start
from sisyphus.ralph.loop import Loop


def _begun(args: str = "do it --completion-promise DONE", at: str = "") -> Loop:
    start = Start(args, at=at, origin="uuid-1")
    return lp.begin(start, arguments.parse(args), session="s1", loop_id="abcde", now=1_000.5)


def test_a_loop_begins_with_iteration_1() -> None:
    loop = _begun()

    assert (loop.iteration, loop.status, loop.max_iterations) == (1, lp.ACTIVE, 100)
    assert (loop.session_id, loop.loop_id, loop.origin) == ("s1", "abcde", "uuid-1")
    assert (loop.prompt, loop.completion_promise) == ("do it", "DONE")
    assert not loop.by_model


def test_options_for_later_stay_with_the_loop() -> None:
    assert _begun("do it --max-minutes 5 --verify-plan").options == {
        "max_minutes": 5,
        "verify_plan": True,
    }


TIMES = [
    pytest.param("2026-11-20T15:56:16.803Z", "2026-11-20T15:56:16.803Z", id="of the line"),
    pytest.param("", "1970-01-01T00:16:40.500Z", id="the clock's, where the line has none"),
    pytest.param("yesterday", "1970-01-01T00:16:40.500Z", id="or one that is not understood"),
]


@pytest.mark.parametrize(("at", "started"), TIMES)
def test_a_loop_started_when_its_line_says(at: str, started: str) -> None:
    assert _begun(at=at).started_at == started


ORDER = [
    pytest.param("2026-11-20T15:00:00.000Z", True, id="before"),
    pytest.param("2026-11-20T15:00:00Z", True, id="before, without milliseconds"),
    pytest.param("2026-11-20T15:00:01.000Z", False, id="at that moment"),
    pytest.param("2026-11-20T15:00:02.000Z", False, id="after"),
    pytest.param("", True, id="unknown"),
    pytest.param("9999", True, id="not understood"),
]


@pytest.mark.parametrize(("at", "is_before"), ORDER)
def test_times_compare_as_texts(at: str, is_before: bool) -> None:
    assert lp.is_before(at, "2026-11-20T15:00:01.000Z") is is_before


LIMITS = [
    pytest.param(1, 1, True, id="the only iteration"),
    pytest.param(99, 100, False, id="the last but one"),
    pytest.param(100, 100, True, id="the last"),
    pytest.param(101, 100, True, id="beyond"),
    pytest.param(10_000, 0, False, id="unlimited"),
]


@pytest.mark.parametrize(("iteration", "limit", "is_at_limit"), LIMITS)
def test_the_limit_is_reached_at_its_iteration(
    iteration: int, limit: int, is_at_limit: bool
) -> None:
    loop = _begun()
    loop.iteration, loop.max_iterations = iteration, limit

    assert loop.is_at_limit is is_at_limit


def test_a_block_moves_the_loop_on() -> None:
    loop = _begun()
    loop.advance()

    assert loop.iteration == 2


def test_a_loop_is_paused_and_resumed() -> None:
    loop = _begun()
    loop.pause(lp.BY_HOST_CAP)
    assert (loop.is_paused, loop.status, loop.paused_by) == (True, "paused", "host cap")

    loop.resume()
    assert (loop.is_paused, loop.status, loop.paused_by) == (False, "active", "")


DESCRIPTIONS = [
    pytest.param("do it", "do it", id="short"),
    pytest.param("do\n  it\tnow ", "do it now", id="on one line"),
    pytest.param("x" * 60, "x" * 60, id="exactly as long as it may be"),
    pytest.param("x" * 61, "x" * 60 + "...", id="cut"),
]


@pytest.mark.parametrize(("prompt", "description"), DESCRIPTIONS)
def test_the_description_is_the_prompt_in_short(prompt: str, description: str) -> None:
    assert Loop("s1", "abcde", prompt).description == description


def test_the_same_task_is_the_same_prompt_and_promise() -> None:
    assert _begun().is_same_task(_begun("do it --completion-promise DONE --max-iterations 5"))
    assert not _begun().is_same_task(_begun("do it"))
    assert not _begun().is_same_task(_begun("do that --completion-promise DONE"))
