from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import ours, put

from sisyphus.ralph import actions, report
from sisyphus.ralph.loop import BY_BREAKER, BY_USER, Loop
from sisyphus.times import iso

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json

NOW = 1_795_200_000.0
MINUTE = 60


def _row(**fields: object) -> Json:
    """The row of a loop that began 72 minutes ago; `fields` are the loop's, then the row's."""
    loop = Loop("s1", "abcde", "make the tests pass")
    loop.project, loop.started_at = "/p", iso(NOW - 72 * MINUTE)
    loop.completion_promise, loop.max_iterations, loop.iteration = "DONE", 50, 4
    for name in fields.keys() & set(Loop.__slots__):
        setattr(loop, name, fields[name])
    row = actions.row(loop, "/state", "/none", NOW)
    return {**row, **{name: value for name, value in fields.items() if name in row}}


def _details(**fields: object) -> list[str]:
    return [line.strip() for line in report.details(_row(**fields), NOW).splitlines()]


def test_a_loop_is_a_paragraph() -> None:
    assert report.listing([_row()], NOW) == (
        "abcde  make the tests pass\n"
        "  active, iteration 4 of 50, 1 h 12 min old\n"
        "  promise: DONE\n"
        "  session s1 in /p"
    )


def test_several_loops_are_several_paragraphs() -> None:
    assert report.listing([_row(), _row()], NOW).count("\n\n") == 1


def test_no_loops_say_how_one_starts() -> None:
    assert report.listing([], NOW) == report.NOTHING


WAITING = {"for": "usage limit", "since": 5, "until": NOW + 90 * MINUTE, "tries": 0}
STATES = [
    pytest.param({}, "active", id="at work"),
    pytest.param({"status": "paused", "paused_by": BY_USER}, "paused (user)", id="by the user"),
    pytest.param({"status": "paused"}, "paused (user)", id="by somebody"),
    pytest.param({"status": "paused", "paused_by": BY_BREAKER}, "paused (breaker)", id="stuck"),
    pytest.param(
        {"status": "paused", "waiting": WAITING, "health": "stale"}, "paused (user)", id="above all"
    ),
    pytest.param(
        {"waiting": WAITING}, "waiting for the usage limit to end, in 1 h 30 min", id="a limit"
    ),
    pytest.param(
        {"waiting": {"for": "rate limit"}}, "waiting for the rate limit to end", id="until when?"
    ),
    pytest.param(
        {"waiting": {"until": NOW - 5}}, "waiting for the limit to end", id="until just now"
    ),
    pytest.param({"waiting": {"until": "soon"}}, "waiting for the limit to end", id="a text"),
    pytest.param(
        {"waiting": {"until": float("nan")}}, "waiting for the limit to end", id="no number"
    ),
    pytest.param(
        {"waiting": {"until": float("inf")}}, "waiting for the limit to end", id="for ever"
    ),
    pytest.param({"health": "stale"}, "stale: its client has gone", id="for hours"),
    pytest.param({"health": "gone"}, "left behind: its client has gone", id="a while ago"),
    pytest.param({"is_outer": True}, "waiting for the loop inside it", id="around another one"),
]


@pytest.mark.parametrize(("fields", "state"), STATES)
def test_how_a_loop_stands(fields: dict[str, object], state: str) -> None:
    assert _details(**fields)[0].startswith(f"{state}, iteration 4 of 50")


AGES = [
    pytest.param({"started_at": ""}, "active, iteration 4 of 50", id="nobody knows"),
    pytest.param({"started_at": iso(NOW + 60)}, "active, iteration 4 of 50, 0 s old", id="later"),
    pytest.param({"max_iterations": 0}, "active, iteration 4, 1 h 12 min old", id="unlimited"),
]


@pytest.mark.parametrize(("fields", "line"), AGES)
def test_the_first_line(fields: dict[str, object], line: str) -> None:
    assert _details(**fields)[0] == line


LIMITS = [
    pytest.param({}, [], id="none"),
    pytest.param({"tokens": 12_345}, ["12,345 tokens"], id="what it spent"),
    pytest.param(
        {"tokens": 5, "options": {"max_tokens": 9_000}}, ["5 of 9,000 tokens"], id="a budget"
    ),
    pytest.param({"options": {"max_minutes": 480}}, ["at most 480 minutes"], id="minutes"),
    pytest.param(
        {"options": {"max_minutes": 480, "verify": "pytest -q"}},
        ["at most 480 minutes; checked by `pytest -q`"],
        id="a command",
    ),
    pytest.param(
        {"options": {"verify_plan": True, "verify_checklist": True}},
        ["checked by the plan; checked by the checklist"],
        id="other checks",
    ),
    pytest.param(
        {"options": {"max_minutes": "480", "max_tokens": [], "verify": ""}}, [], id="nothing usable"
    ),
]


@pytest.mark.parametrize(("fields", "lines"), LIMITS)
def test_its_limits(fields: dict[str, object], lines: list[str]) -> None:
    assert _details(**fields)[2:-1] == lines


BOUNDS = [
    pytest.param({}, None, [], id="nothing is known"),
    pytest.param({"max_minutes": 0, "max_tokens": 0}, None, [], id="no limits"),
    pytest.param({"max_tokens": 9_000}, None, ["at most 9,000 tokens"], id="nobody counted"),
    pytest.param({"max_tokens": 9_000}, 0, ["0 of 9,000 tokens"], id="counted"),
    pytest.param({"max_minutes": 90}, 7, ["at most 90 minutes"], id="what was spent is no limit"),
    pytest.param(
        {"verify": "echo a; false", "verify_plan": True},
        5,
        ["checked by `echo a; false`", "checked by the plan"],
        id="a command is one, whatever it holds",
    ),
]


@pytest.mark.parametrize(("options", "tokens", "words"), BOUNDS)
def test_each_limit_and_each_check_is_one(
    options: Json, tokens: int | None, words: list[str]
) -> None:
    assert report.bounds(options, tokens) == words


CHECKS = [
    pytest.param({"exit_code": 1}, "last check: exit code 1", id="failed"),
    pytest.param({"exit_code": None, "timed_out": True}, "last check: timed out", id="too long"),
    pytest.param({"at": 5}, "last check: exit code None", id="nobody knows"),
]


@pytest.mark.parametrize(("verified", "line"), CHECKS)
def test_its_last_check(verified: dict[str, object], line: str) -> None:
    assert line in _details(verified=verified)


def test_a_loop_without_a_promise_says_so() -> None:
    assert _details(completion_promise=None)[1] == "no promise"
    assert _details(completion_promise="")[1] == "promise:"


def test_a_loop_that_holds_a_session_to_a_plan_names_it() -> None:
    shown = _details(completion_promise=None, options={"plan": "/p/PLAN.md"})

    assert shown[1] == "until the open tasks of /p/PLAN.md are done"


def test_texts_of_strangers_do_nothing_on_a_terminal() -> None:
    evil = "a\x1b]0;b\x07\n\ud800\u202ec\r"
    row = _row(
        description=evil,
        completion_promise=evil,
        project=evil,
        options={"verify": evil},
        waiting={"for": evil, "until": 0},
    )

    shown = report.listing([row], NOW)

    assert all(character.isprintable() for character in shown.replace("\n", ""))
    assert len(shown.splitlines()) == 5


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
options = st.dictionaries(
    st.sampled_from(["max_tokens", "max_minutes", "verify", "verify_plan"]), json_values
)
waits = st.dictionaries(st.sampled_from(["for", "since", "until", "tries"]), json_values)
checks = st.dictionaries(st.sampled_from(["exit_code", "timed_out"]), json_values)


@given(options, waits, checks)
def test_whatever_a_state_file_holds_can_be_shown(
    given_options: dict[str, object], waiting: dict[str, object], verified: dict[str, object]
) -> None:
    row = _row(options=given_options, waiting=waiting, verified=verified)

    assert report.listing([row], NOW)


def test_a_loop_is_taken_up_by_the_client_that_had_it(home: Path) -> None:
    assert _details(health="gone")[-2] == "take it up: cd /p && claude --resume s1"
    put(ours(home, "opencode/s1.jsonl"), "")
    assert _details(health="gone")[-2] == "take it up: cd /p && opencode -s s1"
