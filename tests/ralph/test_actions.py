from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from making import know_session, noted

from sisyphus.errors import SisyphusError
from sisyphus.ralph import actions
from sisyphus.ralph.loop import BY_BREAKER, Loop
from sisyphus.ralph.past import history
from sisyphus.ralph.store import LoopStore, glance, has_loop
from sisyphus.session import client_process
from sisyphus.state import jsonl
from sisyphus.times import iso

if TYPE_CHECKING:
    from collections.abc import Callable

NOW = 1_795_200_000.0


@pytest.fixture
def ours(tmp_path: Path) -> str:
    return str(tmp_path / ".sisyphus")


def _save(ours: str, session: str, *prompts: str) -> None:
    with LoopStore(ours, session) as held:
        held.save([Loop(session, f"loop{n}", prompt) for n, prompt in enumerate(prompts)])


def _loops(ours: str, session: str = "one") -> list[Loop]:
    with LoopStore(ours, session) as held:
        return held.loops


def test_loops_of_all_sessions_are_listed_with_prompt_and_file(ours: str) -> None:
    _save(ours, "one", "do it")
    _save(ours, "two", "outer", "inner")

    rows = actions.list_loops(ours, NOW)

    assert sorted(row["prompt"] for row in rows) == ["do it", "inner", "outer"]
    assert all(Path(row["state_file_path"]).exists() for row in rows)


KEYS = {
    "session_id", "loop_id", "project", "description", "iteration", "max_iterations",
    "completion_promise", "started_at", "status", "prompt", "state_file_path",
}  # fmt: skip


def test_a_row_has_what_other_tools_read(ours: str) -> None:
    _save(ours, "one", "do\nit")

    [row] = actions.list_loops(ours, NOW)

    assert row.keys() >= KEYS
    assert (row["description"], row["prompt"], row["iteration"]) == ("do it", "do\nit", 1)
    assert (row["status"], row["is_outer"], row["completion_promise"]) == ("active", False, None)


def test_of_each_session_the_current_loop_comes_first(ours: str) -> None:
    _save(ours, "two", "outer", "middle", "inner")
    _save(ours, "one", "do it")

    rows = [(row["prompt"], row["is_outer"]) for row in actions.list_loops(ours, NOW)]

    assert rows == [("do it", False), ("inner", False), ("middle", True), ("outer", True)]


def test_where_the_current_loop_was_removed_by_hand_the_next_one_is(ours: str) -> None:
    _save(ours, "one", "outer", "middle", "inner")
    Path(ours, "ralph/loops/ralph-loop.one.local.md").unlink()

    rows = [(row["prompt"], row["is_outer"]) for row in actions.list_loops(ours, NOW)]

    assert rows == [("middle", False), ("outer", True)]
    row = actions.of_session(ours, "one", NOW)
    assert row is not None
    assert row["prompt"] == "middle"
    assert [row["prompt"] for row in actions.pause(ours, "one", now=NOW)] == ["middle"]


def test_a_loop_that_lies_twice_is_one(ours: str) -> None:
    _save(ours, "one", "outer", "inner")
    folder = Path(ours, "ralph/loops")
    shutil.copy(folder / "ralph-loop.one.loop0.outer.md", folder / "ralph-loop.one.local.md")

    assert [row["prompt"] for row in actions.list_loops(ours, NOW)] == ["outer"]


def test_a_prompt_that_no_terminal_can_show_is_a_loop_all_the_same(ours: str) -> None:
    _save(ours, "one", "half \ud800 a pair")

    assert actions.told("cancelled", actions.cancel(ours, now=NOW)) == (
        "Loop loop0 cancelled: half a pair"
    )


SESSIONS = [
    pytest.param(["one"], "", "one", id="the only one"),
    pytest.param(["one", "two"], "two", "two", id="the one that is named"),
    pytest.param(["one", "two"], "", None, id="none, where several are there"),
    pytest.param(["one"], "two", None, id="none, where another one is named"),
    pytest.param([], "", None, id="none at all"),
]


@pytest.mark.parametrize(("sessions", "named", "found"), SESSIONS)
def test_the_loop_of_a_session(
    ours: str, sessions: list[str], named: str, found: str | None
) -> None:
    for session in sessions:
        _save(ours, session, "outer", "inner")

    row = actions.of_session(ours, named, NOW)

    assert (row and (row["session_id"], row["prompt"])) == (found and (found, "inner"))


def test_inside_a_session_its_loop_is_meant(ours: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "two")
    _save(ours, "one", "do it")

    assert actions.of_session(ours, "", NOW) is None
    with pytest.raises(SisyphusError, match="no loop is active in session two"):
        actions.cancel(ours, now=NOW)

    _save(ours, "two", "do that")
    assert [row["prompt"] for row in actions.pause(ours, now=NOW)] == ["do that"]


def test_hours_of_silence_make_a_loop_stale(ours: str) -> None:
    _save(ours, "one", "do it")
    later = Path(ours, "ralph/loops/ralph-loop.one.local.md").stat().st_mtime + 5 * 3_600

    assert [row["health"] for row in actions.list_loops(ours, later)] == ["stale"]
    assert [row["health"] for row in actions.list_loops(ours, later, 6)] == ["alive"]


def test_a_paused_loop_is_resumed_where_it_stood(ours: str) -> None:
    _save(ours, "one", "outer", "inner")

    [paused] = actions.pause(ours, now=NOW)
    [again] = actions.pause(ours, now=NOW + 60)
    [resumed] = actions.resume(ours, now=NOW + 600)

    assert (paused["prompt"], paused["status"], paused["paused_by"]) == ("inner", "paused", "user")
    assert (again["status"], resumed["status"], resumed["paused_by"]) == ("paused", "active", "")
    assert [loop.paused_seconds for loop in _loops(ours)] == [600, 600]


def test_resume_gives_a_stuck_loop_another_try(ours: str) -> None:
    loop = Loop("one", "loop0", "do it")
    loop.pause(BY_BREAKER, NOW)
    loop.breaker, loop.waiting = {"state": "open"}, {"for": "rate limit"}
    with LoopStore(ours, "one") as held:
        held.memory.blocks = 7
        held.save([loop])

    actions.resume(ours, "one", now=NOW)

    assert [(found.breaker["state"], found.waiting) for found in _loops(ours)] == [("closed", {})]
    assert glance(ours, "one").blocks == 0


def test_what_is_not_paused_cannot_be_resumed(ours: str) -> None:
    _save(ours, "one", "do it")

    with pytest.raises(SisyphusError, match="loop0 is not paused: iteration 1 without a limit"):
        actions.resume(ours, now=NOW)


ACTIONS = [actions.cancel, actions.pause, actions.resume]


@pytest.mark.parametrize("act", ACTIONS, ids=lambda act: act.__name__)
def test_a_loop_that_ends_meanwhile_is_not_acted_upon(
    ours: str, act: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    _save(ours, "one", "do it")
    rows = actions.list_loops(ours, NOW)
    _save(ours, "one")
    monkeypatch.setattr(actions, "list_loops", lambda *_: rows)

    with pytest.raises(SisyphusError, match="the loop has just ended"):
        act(ours, "one", now=NOW)
    assert glance(ours, "one").cancelled_at == ""


def test_what_is_cancelled_is_buried_and_logged(ours: str) -> None:
    _save(ours, "one", "outer", "inner")

    actions.cancel(ours, "one", now=NOW)

    assert glance(ours, "one").cancelled_at == iso(NOW)
    lines = list(jsonl.read(history.log_path(ours)))
    assert [(line["loop_id"], line["outcome"]) for line in lines] == [
        ("loop1", "cancelled"),
        ("loop0", "cancelled"),
    ]
    assert {line["error_reason"] for line in lines} == {"by the user"}


RESTING = [
    pytest.param({}, 600, id="it works"),
    pytest.param({"waiting": {"since": NOW - 400}}, 200, id="the limit holds it"),
    pytest.param({"waiting": {"since": NOW + 60}}, 600, id="a clock went back"),
    pytest.param({"waiting": {"since": "noon"}}, 600, id="since nobody knows when"),
    pytest.param({"waiting": {"since": float("nan")}}, 600, id="since no number"),
    pytest.param(
        {"waiting": {"since": NOW - 400}, "status": "paused", "paused_at": int(NOW) - 300},
        200,
        id="held, and then paused",
    ),
    pytest.param({"status": "paused", "paused_at": int(NOW) - 500}, 100, id="paused"),
]


@pytest.mark.parametrize(("fields", "seconds"), RESTING)
def test_a_loop_is_shown_and_ends_with_its_time_at_work(
    ours: str, fields: dict[str, object], seconds: int
) -> None:
    outer, inner = (_began(name, **more) for name, more in (("outer", {}), ("inner", fields)))
    if inner.is_paused:
        outer.paused_at = inner.paused_at
    with LoopStore(ours, "one") as held:
        held.save([outer, inner])
    shown = [row["work_seconds"] for row in actions.list_loops(ours, NOW)]
    actions.cancel(ours, "one", now=NOW)
    ended = [line["duration_seconds"] for line in jsonl.read(history.log_path(ours))]
    assert (shown, ended) == ([seconds] * 2, [seconds] * 2)


def _began(loop_id: str, **fields: object) -> Loop:
    """Ten minutes ago."""
    loop = Loop("one", loop_id, "do it")
    loop.started_at = iso(NOW - 600)
    for name, value in fields.items():
        setattr(loop, name, value)
    return loop


def test_time_without_a_client_is_none_at_work(ours: str) -> None:
    with LoopStore(ours, "one") as held:
        held.save([_began("outer"), _began("inner")])
        os.utime(held.path(held.loops[-1]), (NOW - 500, NOW - 500))
    know_session(ours, "one", pid=999_999_999, process_started="1")
    assert [row["work_seconds"] for row in actions.list_loops(ours, NOW)] == [100, 100]
    actions.cancel(ours, "one", now=NOW)
    lines = jsonl.read(history.log_path(ours))
    assert [line["duration_seconds"] for line in lines] == [100, 100]


def test_a_session_without_a_loop_can_be_buried_too(ours: str) -> None:
    actions.bury(ours, "one", now=NOW)

    assert glance(ours, "one").cancelled_at == iso(NOW)


def test_without_loops_the_list_is_empty(ours: str) -> None:
    assert actions.list_loops(ours, NOW) == []


def test_a_file_that_holds_no_loop_is_left_to_its_session(ours: str) -> None:
    _save(ours, "one", "do it")
    broken = Path(ours, "ralph/loops/ralph-loop.two.local.md")
    broken.write_text("garbage")

    assert len(actions.list_loops(ours, NOW)) == 1
    assert broken.read_text() == "garbage"


def test_the_only_loop_is_cancelled_without_naming_it(ours: str) -> None:
    _save(ours, "one", "do it")

    [row] = actions.cancel(ours, now=NOW)

    assert row["prompt"] == "do it"
    assert not has_loop(ours, "one")


def test_cancel_ends_the_loops_that_wait_as_well(ours: str) -> None:
    _save(ours, "one", "outer", "inner")

    assert len(actions.cancel(ours, "one", now=NOW)) == 2
    assert not has_loop(ours, "one")


def test_a_file_that_names_another_session_is_nobodys(ours: str) -> None:
    _save(ours, "one", "do it")
    folder = Path(ours, "ralph/loops")
    (folder / "ralph-loop.one.local.md").rename(folder / "ralph-loop.two.local.md")

    assert actions.list_loops(ours, NOW) == []


@pytest.mark.parametrize(
    ("sessions", "named", "said"),
    [
        pytest.param([], "", "no loop is active in any session", id="there is none"),
        pytest.param(["one"], "two", "no loop is active in session two", id="another session"),
        pytest.param(
            ["one", "two"],
            "",
            r"name one by its id, .*: loop0 \(do it\), loop0 \(do it\)",
            id="several",
        ),
    ],
)
def test_what_cannot_be_cancelled_says_why(
    ours: str, sessions: list[str], named: str, said: str
) -> None:
    for session in sessions:
        _save(ours, session, "do it")

    with pytest.raises(SisyphusError, match=said):
        actions.cancel(ours, named, now=NOW)


NAMED = [
    pytest.param("loop0", "one", id="by its id"),
    pytest.param("l", "one", id="by the start of it, which a nested one has as well"),
]


@pytest.mark.parametrize(("loop", "session"), NAMED)
def test_a_loop_names_its_session(ours: str, loop: str, session: str) -> None:
    _save(ours, "one", "outer", "inner")

    assert actions.session_of(ours, loop, NOW) == session


NO_NAMES = [
    pytest.param("loop", "several active loops have an id that begins with loop", id="several"),
    pytest.param("x\x1b[1m", "no active loop has an id that begins with x", id="none"),
    pytest.param("", "no active loop has", id="no name"),
]


@pytest.mark.parametrize(("loop", "said"), NO_NAMES)
def test_a_name_that_is_no_loops_says_so(ours: str, loop: str, said: str) -> None:
    _save(ours, "one", "do it")
    _save(ours, "two", "do it")

    with pytest.raises(SisyphusError, match=said) as raised:
        actions.session_of(ours, loop, NOW)
    assert "\x1b" not in str(raised.value)


def test_a_command_is_told_by_the_session_and_in_its_journal(ours: str) -> None:
    _save(ours, "one", "do it")
    know_session(ours, "one")

    actions.pause(ours, "one", now=NOW)

    [news] = glance(ours, "one").news
    assert news.startswith("[RALPH LOOP PAUSED]\n\nloop loop0 was paused by ")
    assert news.endswith(": do it")
    assert "loop loop0 was paused by" in noted(ours, "one")[-1]


WHERES = [
    pytest.param(actions.cancel, "cancelled", id="cancel"),
    pytest.param(actions.pause, "paused", id="pause"),
    pytest.param(actions.resume, "resumed", id="resume"),
]


@pytest.mark.parametrize(("act", "what"), WHERES)
def test_what_the_user_does_elsewhere_is_told_with_its_place(
    ours: str,
    home: Path,  # noqa: ARG001
    monkeypatch: pytest.MonkeyPatch,
    act: Callable[..., object],
    what: str,
) -> None:
    """Whoever serves that place may run in the client's shell."""
    loop = Loop("one", "loop0", "do it")
    if act is actions.resume:
        loop.pause(BY_BREAKER, NOW)
    with LoopStore(ours, "one") as held:
        held.save([loop])
    know_session(ours, "one")
    monkeypatch.setattr(client_process, "is_inside_client", lambda: True)

    act(ours, "one", now=NOW, where="on the dashboard")

    told = f"loop loop0 was {what} by the user on the dashboard"
    assert noted(ours, "one") == [told]
    assert [told in news for news in glance(ours, "one").news] == [True] * (what != "resumed")
    ends = [line["error_reason"] for line in jsonl.read(history.log_path(ours))]
    assert ends == ["by the user on the dashboard"] * (what == "cancelled")


def test_a_session_without_a_journal_gets_none_by_a_command(ours: str, home: Path) -> None:
    _save(ours, "one", "do it")

    actions.pause(ours, "one", now=NOW)

    assert len(glance(ours, "one").news) == 1
    assert not (home / ".claude/.sisyphus/logs").exists()
