from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.ralph import arguments
from sisyphus.ralph import loop as lp
from sisyphus.ralph.invocations import Start
from sisyphus.ralph.loop import Loop
from sisyphus.times import iso


def _begun(args: str = "do it --completion-promise DONE", at: str = "") -> Loop:
    start = Start(args, at=at, origin="uuid-1")
    return lp.begin(start, arguments.parse(args), session="s1", loop_id="abcde", now=1_000.5)


def test_a_loop_begins_with_iteration_1() -> None:
    loop = _begun()

    assert (loop.iteration, loop.status, loop.max_iterations) == (1, lp.ACTIVE, 100)
    assert (loop.session_id, loop.loop_id, loop.origin) == ("s1", "abcde", "uuid-1")
    assert (loop.prompt, loop.completion_promise) == ("do it", "DONE")
    assert not loop.by_model


def test_a_loop_of_the_models_is_known_as_such() -> None:
    start = Start("do it")
    start.by_model = True
    asked = arguments.parse("do it")

    assert lp.begin(start, asked, session="s1", loop_id="abcde", now=0.0).by_model


def test_a_loop_of_which_nothing_else_is_known() -> None:
    loop = Loop("s1", "abcde", "do it")

    texts = (loop.project, loop.started_at, loop.turned_at, loop.paused_by, loop.origin)
    counts = (loop.max_iterations, loop.paused_at, loop.paused_seconds, loop.tokens, loop.depth)
    assert texts == ("",) * 5
    assert counts == (0,) * 5
    assert (loop.iteration, loop.status, loop.completion_promise) == (1, lp.ACTIVE, None)
    assert (loop.by_model, loop.prompt_known) == (False, True)


@pytest.mark.parametrize(
    ("limit", "progress"),
    [
        pytest.param(50, "iteration 1 of 50", id="a limit"),
        pytest.param(0, "iteration 1 without a limit", id="none"),
    ],
)
def test_how_far_a_loop_is(limit: int, progress: str) -> None:
    loop = Loop("s1", "abcde", "do it")
    loop.max_iterations = limit

    assert loop.progress == progress


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


STARTED = 1_795_186_800  # AT
AT = "2026-11-20T15:00:00.000Z"


def _at_work() -> Loop:
    loop = Loop("s1", "abcde", "do it")
    loop.started_at = AT
    return loop


def test_the_minutes_at_work_begin_with_the_loop() -> None:
    assert _at_work().minutes(STARTED + 90) == 1.5


def test_pauses_are_not_counted() -> None:
    loop = _at_work()
    loop.pause(lp.BY_USER, STARTED + 60)
    assert loop.minutes(STARTED + 600) == 1

    loop.resume(STARTED + 600)
    loop.pause(lp.BY_BREAKER, STARTED + 660)
    loop.resume(STARTED + 720)

    assert loop.paused_seconds == 600
    assert loop.minutes(STARTED + 780) == 3


def test_a_pause_within_a_pause_is_one_pause() -> None:
    loop = _at_work()
    loop.pause(lp.BY_BREAKER, STARTED + 60)
    loop.pause(lp.BY_USER, STARTED + 120)
    assert loop.paused_by == lp.BY_USER

    loop.resume(STARTED + 180)

    assert loop.minutes(STARTED + 240) == 2


def test_a_pause_since_nobody_knows_when_begins_now() -> None:
    loop = _at_work()
    loop.status = lp.PAUSED
    loop.pause(lp.BY_USER, STARTED + 60)

    assert loop.minutes(STARTED + 600) == 1


def test_a_clock_that_goes_back_counts_nothing_twice_and_nothing_below_zero() -> None:
    loop = _at_work()
    assert loop.minutes(STARTED - 600) == 0

    loop.pause(lp.BY_USER, STARTED + 600)
    assert loop.minutes(STARTED + 60) == 1

    loop.resume(STARTED + 60)
    assert (loop.paused_seconds, loop.paused_at) == (0, 0)


def test_resuming_what_is_not_paused_changes_nothing() -> None:
    loop = _at_work()
    loop.resume(STARTED + 60)

    assert (loop.status, loop.paused_seconds) == (lp.ACTIVE, 0)


@pytest.mark.parametrize("at", ["", "yesterday"])
def test_a_loop_of_which_nobody_knows_when_it_began_has_all_the_time(at: str) -> None:
    loop = _at_work()
    loop.started_at = at

    assert loop.minutes(STARTED) == 0


@given(st.lists(st.tuples(st.booleans(), st.integers(-10_000, 10_000)), max_size=20))
def test_the_minutes_are_never_more_than_what_went_by(steps: list[tuple[bool, int]]) -> None:
    loop, now = _at_work(), STARTED
    for pauses, seconds in steps:
        now += seconds
        if pauses:
            loop.pause(lp.BY_USER, now)
        else:
            loop.resume(now)
        assert 0 <= loop.minutes(now) <= max(now - STARTED, 0) / 60
        assert loop.paused_at >= 0
        assert loop.paused_seconds >= 0


OPTIONS = [
    pytest.param({}, 1_440, 0, id="the defaults"),
    pytest.param({"max_minutes": 5, "max_tokens": 7}, 5, 7, id="what was said"),
    pytest.param({"max_minutes": 0, "max_tokens": 0}, 0, 0, id="unlimited, because it was said"),
    pytest.param({"max_minutes": "5", "max_tokens": 7.5}, 1_440, 0, id="no numbers"),
    pytest.param({"max_minutes": True, "max_tokens": True}, 1_440, 0, id="switches"),
    pytest.param({"max_minutes": -1, "max_tokens": -1}, 1_440, 0, id="numbers that cannot be"),
    pytest.param({"max_minutes": None, "max_tokens": [7]}, 1_440, 0, id="nothing usable"),
]


@pytest.mark.parametrize(("options", "minutes", "tokens"), OPTIONS)
def test_the_limits_are_those_of_the_options(
    options: dict[str, object], minutes: int, tokens: int
) -> None:
    loop = _at_work()
    loop.options = options

    assert (loop.max_minutes, loop.max_tokens) == (minutes, tokens)


def test_a_loop_is_paused_and_resumed() -> None:
    loop = _begun()
    loop.pause(lp.BY_HOST_CAP, 0.0)
    assert (loop.is_paused, loop.status, loop.paused_by) == (True, "paused", "host cap")

    loop.resume(0.0)
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


# --- the clocks of loops that lie in each other --------------------------------------------------


BEGAN = 1_000_000_000


def _nested() -> list[Loop]:
    loops = [Loop("s1", "outer", "all"), Loop("s1", "inner", "a part")]
    for loop in loops:
        loop.started_at = iso(BEGAN)
    return loops


def _minutes(loops: list[Loop], now: float) -> list[float]:
    return [loop.minutes(BEGAN + now) for loop in loops]


def test_while_the_inner_one_is_paused_no_clock_runs() -> None:
    loops = _nested()

    lp.pause(loops, lp.BY_USER, BEGAN + 60)
    assert [loop.is_paused for loop in loops] == [False, True]
    assert _minutes(loops, 6_000) == [1, 1]

    lp.resume(loops, BEGAN + 6_000)
    assert [loop.is_paused for loop in loops] == [False, False]
    assert _minutes(loops, 6_060) == [2, 2]


def test_an_outer_one_that_was_paused_by_itself_stays_so() -> None:
    loops = _nested()
    loops[0].pause(lp.BY_USER, BEGAN + 60)

    lp.pause(loops, lp.BY_USER, BEGAN + 120)
    lp.resume(loops, BEGAN + 240)

    assert [loop.is_paused for loop in loops] == [True, False]
    assert _minutes(loops, 240) == [1, 2]


def test_what_holds_a_session_to_a_plan_stays_where_the_user_starts_a_loop() -> None:
    loops = _nested()
    loops[0].options = {lp.PLAN: "/p/PLAN.md"}
    lp.pause(loops, lp.BY_USER, BEGAN + 60)

    assert lp.staying(loops, BEGAN + 120) == loops[:1]
    assert loops[0].minutes(BEGAN + 180) == 2


def test_and_if_it_is_paused_it_stays_so() -> None:
    loops = _nested()[:1]
    loops[0].options = {lp.PLAN: "/p/PLAN.md"}
    lp.pause(loops, lp.BY_USER, BEGAN + 60)

    assert lp.staying(loops, BEGAN + 120)[0].is_paused


@pytest.mark.parametrize("named", [None, 5, ["/p"], True])
def test_what_is_no_text_names_no_plan(named: object) -> None:
    loop = Loop("s1", "abcde", "do it")
    loop.options = {lp.PLAN: named}

    assert loop.plan == ""


def test_the_time_of_an_accounts_limit_is_no_work() -> None:
    loops = _nested()
    loops[-1].waiting = {"for": "usage limit", "since": BEGAN + 60, "until": BEGAN + 3_600}

    lp.end_wait(loops, BEGAN + 3_660)

    assert _minutes(loops, 3_660) == [1, 1]
    assert loops[-1].waiting == {}


@pytest.mark.parametrize("waiting", [{}, {"since": "x"}, {"since": BEGAN + 9_999}])
def test_a_wait_of_no_known_time_changes_no_clock(waiting: dict[str, object]) -> None:
    loops = _nested()
    loops[-1].waiting = waiting

    lp.end_wait(loops, BEGAN + 60)

    assert _minutes(loops, 60) == [1, 1]


def test_a_description_holds_nothing_that_a_terminal_obeys() -> None:
    assert Loop("s1", "aaaaa", "x\x1b]0;owned\x07y").description == "x ]0;owned y"
