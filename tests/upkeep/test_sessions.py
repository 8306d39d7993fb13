from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sisyphus.paths import client_home, our_home
from sisyphus.ralph.loop import Loop
from sisyphus.ralph.past import history
from sisyphus.times import local
from sisyphus.upkeep import sessions
from sisyphus.upkeep.summary import Summary

if TYPE_CHECKING:
    from sisyphus._types import Json

AT = 1_795_186_800.0


def _one(session: str = "s1", **fields: object) -> Summary:
    found = Summary(session)
    found.began, found.ended, found.hooks = AT, AT + 4_320, 12
    found.ms, found.times, found.sent, found.blocked = 240.0, {"20": 12}, 1_234, 2
    found.project, found.client = "/srv/shop", "claude"
    for name, value in fields.items():
        setattr(found, name, value)
    return found


def _rows(*found: Summary) -> list[Json]:
    return sessions.rows(found, client_home())


def test_a_session_as_data() -> None:
    history.started(our_home(), Loop("s1", "abcde", "do it"), "/state")
    history.ended(our_home(), Loop("s1", "abcde", "do it"), "success", AT)
    assert _rows(_one(run="r1")) == [
        {
            "session_id": "s1", "began": AT, "ended": AT + 4_320, "seconds": 4_320.0,
            "project": "/srv/shop", "client": "claude", "hooks": 12, "ms": 240.0,
            "median_ms": 20.0, "sent": 1_234, "blocked": 2, "run": "r1",
            "loops": [{"loop_id": "abcde", "result": "success"}], "plan": None,
        }
    ]  # fmt: skip


def test_what_is_not_known_is_null() -> None:
    [row] = _rows(Summary("s1"))
    unknown = [name for name, value in row.items() if value is None]
    assert unknown == ["began", "ended", "project", "client", "median_ms", "run", "plan"]


def test_sessions_are_a_table() -> None:
    history.started(our_home(), Loop("s2", "abcde", "do it"), "/state")
    began = local(AT)
    lines = sessions.table(_rows(_one(), _one("s2", ms=75_000.0, sent=0, project="/x/longer")))
    wide = " " * (len(began) - len("began"))
    heads = f"session  began{wide}  lasted      project  client  hooks        time  median   sent"
    rows = [
        f"s1       {began}  1 h 12 min  shop     claude     12      240 ms   20 ms  1,234       2",
        f"s2       {began}  1 h 12 min  longer   claude     12  1 min 15 s   20 ms      0       2",
    ]
    assert lines == [f"{heads}  blocks  what", rows[0], f"{rows[1]}  loop abcde (lost)"]


def test_columns_of_which_nothing_is_known_are_left_out() -> None:
    heads = sessions.table(_rows(_one(client="", times={})))[0].split()
    assert heads == ["session", "began", "lasted", "project", "hooks", "time", "sent", "blocks"]


def test_a_session_is_named_as_shortly_as_it_can_be() -> None:
    long, other = "0123456789-abc", "01234567-9-abc"
    assert sessions.table(_rows(_one(long)))[1].startswith("01234567  ")
    assert sessions.table(_rows(_one(long), _one(other)))[1].startswith(f"{long}  ")


def test_what_a_stranger_named_does_nothing_to_the_terminal() -> None:
    lines = sessions.table(_rows(_one(project="/x/a\x1b[31m\nb", client="\x07", run="r\x1b")))
    assert all(line.isprintable() for line in lines)


SUMS = [
    pytest.param(
        [_one(), _one("s2", ms=1_000.0, times={"30": 20}, blocked=0)],
        "2 sessions, 24 hooks in 1.2 s (median 30 ms), 2,468 characters sent, 2 blocks.",
        id="two",
    ),
    pytest.param(
        [_one(hooks=1, times={}, ms=0.0, blocked=1)],
        "1 session, 1 hook in 0 ms, 1,234 characters sent, 1 block.",
        id="one",
    ),
    pytest.param([], "0 sessions, 0 hooks in 0 ms, 0 characters sent, 0 blocks.", id="none"),
]


@pytest.mark.parametrize(("found", "text"), SUMS)
def test_all_of_them_are_summed_up(found: list[Summary], text: str) -> None:
    assert sessions.summed_up(sessions.totals(found)) == text


def test_sessions_of_a_project() -> None:
    found = [_one(), _one("s2", project="/other")]
    assert [one.session for one in sessions.of_project(found, "/other")] == ["s2"]
    assert sessions.of_project(found, "") == found


def test_the_last_session_of_a_run() -> None:
    found = [_one("s1", run="run1"), _one("s2", run="run1"), _one("s3")]
    assert sessions.of_run(found, "ru") == "s2"
    assert sessions.of_run(found, "x") == ""


def test_the_session_of_a_loop_that_only_one_is_meant_by() -> None:
    for session, loop in (("s1", "abc1"), ("s2", "abc2")):
        history.started(our_home(), Loop(session, loop, "do it"), "/state")
    assert sessions.of_loop(our_home(), "abc2") == "s2"
    assert sessions.of_loop(our_home(), "abc") == ""
    assert sessions.of_loop(our_home(), "x") == ""
