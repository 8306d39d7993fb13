from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from making import ours, put

from ralph import lines
from ralph.sessions import NOW, PROMISE, Session
from sisyphus.errors import SisyphusError
from sisyphus.ralph import start as begin
from sisyphus.ralph import store
from sisyphus.ralph.arguments import BadArgumentsError
from sisyphus.ralph.loop import MAX_MINUTES, PLAN
from sisyphus.session import client_process
from sisyphus.times import iso

if TYPE_CHECKING:
    from sisyphus._types import Json


@pytest.fixture
def session(home: Path, project: Path) -> Session:
    return Session(home, project)


def _start(session: Session, prompt: str = "do it", *, force: bool = False, **options: str) -> Json:
    """From another terminal."""
    asked = begin.invocation(prompt, {"completion_promise": "DONE", **options})
    return begin.start(session.space, asked, session.name, force=force)


def test_a_loop_is_started_in_a_session(session: Session) -> None:
    row = _start(session)

    assert (row["session_id"], row["prompt"], row["status"]) == ("s1", "do it", "active")
    assert (row["project"], row["started_at"]) == (str(session.project), iso(NOW))
    assert row["completion_promise"] == "DONE"
    assert row["state_file_path"] == str(ours(session.home, "ralph/loops/ralph-loop.s1.local.md"))
    assert session.log == ["active"]


def test_it_nests_in_what_holds_the_session_to_a_plan(session: Session) -> None:
    _start(session)
    with store.LoopStore(session.space.ours, "s1") as held:
        held.loops[0].options = {PLAN: "/p/PLAN.md"}
        held.save(held.loops)
    inner = _start(session)

    with pytest.raises(SisyphusError, match="has a loop already"):
        _start(session)

    with store.LoopStore(session.space.ours, "s1") as held:
        assert [bool(loop.plan) for loop in held.loops] == [True, False]
        assert held.loops[-1].loop_id == inner["loop_id"]


def test_it_holds_from_the_next_stop_on_and_the_model_hears_the_whole_prompt(
    session: Session,
) -> None:
    session.writes(lines.prompt("hello"), lines.said("hi"))
    _start(session, "one\n\ntwo")

    outcome = session.stops()

    assert outcome.reason is not None
    [piece] = outcome.texts
    assert piece.body == "The prompt of this ralph loop:\n\none\n\ntwo"
    assert session.stops(PROMISE).reason is None
    assert session.log == ["active", "success"]


def test_a_promise_of_an_earlier_turn_does_not_count(session: Session) -> None:
    session.writes(lines.prompt("hello"), lines.said(PROMISE))
    _start(session)

    assert session.stops().reason is not None


def test_a_session_that_was_never_at_work_can_have_one(session: Session) -> None:
    _start(session)

    assert session.memory.transcript == ""
    assert session.stops().reason is not None


def test_what_agents_spent_before_is_not_the_loops(session: Session) -> None:
    session.writes(lines.said("x"))
    put(session.transcript.with_suffix("") / "subagents" / "agent-1.jsonl", "{}\n")

    _start(session)

    assert session.memory.agents == {"agent-1.jsonl": 3}


def test_a_loop_that_is_there_is_replaced_by_force_alone(session: Session) -> None:
    _start(session)
    session.stops()

    with pytest.raises(SisyphusError) as raised:
        _start(session, "do that")
    assert str(raised.value) == (
        "session s1 has a loop already: do it (iteration 2 of 100). --force replaces it."
    )

    _start(session, "do that", force=True)

    assert [loop.prompt for loop in session.loops] == ["do that"]
    assert session.log == ["active", "cancelled", "active"]


PROMPTS = [
    pytest.param("---\nversion: 9\n---\n", id="a header"),
    pytest.param("a\r\nb\r\n", id="CRLF"),
    pytest.param("$(rm -rf /) `ls` $HOME \"x\" 'y' \\", id="what a shell would run"),
    pytest.param("  日本語 😀 \u2028 ", id="letters of other languages"),
    pytest.param("--verbose is no option here", id="dashes"),
    pytest.param("bytes \udcff that are no text", id="bytes that are no text"),
]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_the_prompt_arrives_byte_for_byte(session: Session, prompt: str) -> None:
    assert _start(session, prompt)["prompt"] == prompt
    assert session.loops[0].prompt == prompt


def test_a_prompt_file_is_read_from_anywhere(session: Session, tmp_path: Path) -> None:
    path = put(tmp_path / "task.md", "do\r\nit")

    assert _start(session, "", prompt_file=str(path))["prompt"] == "do\r\nit"


# --- which session ------------------------------------------------------------------------------


def _start_around(session: Session) -> Json:
    return begin.start(session.space, begin.invocation("do it", {}))


def test_the_session_is_the_one_that_is_named_in_the_environment(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s7")

    assert _start_around(session)["session_id"] == "s7"


def test_or_that_of_the_client_process_above(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_PID", str(os.getpid()))
    client_process.bind(session.ours, "s7", NOW)

    assert _start_around(session)["session_id"] == "s7"


@pytest.mark.parametrize("named", ["", "../x", "a/b"])
def test_without_a_session_nothing_starts(
    session: Session, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", named)

    with pytest.raises(SisyphusError, match=r"which session is the loop for\? .*open now: none"):
        _start_around(session)
    with pytest.raises(SisyphusError, match=r"'\.\./x' is no session's id"):
        begin.start(session.space, begin.invocation("do it", {}), "../x")
    assert not ours(session.home, "ralph").exists()


def _open(session: Session, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session of a client that runs in `folder`; we are that client."""
    monkeypatch.setenv("CLAUDE_PID", str(os.getpid()))
    client_process.bind(session.ours, name, NOW)
    monkeypatch.setenv("CLAUDE_PID", "99999999")
    path = session.home / ".claude" / "projects" / "p" / f"{name}.jsonl"
    lines.add(path, lines.prompt("hello", cwd=str(folder)))


def test_from_a_terminal_it_is_the_only_one_that_is_open_in_the_project(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    _open(session, "s7", Path(session.space.root), monkeypatch)

    assert _start_around(session)["session_id"] == "s7"


def test_a_session_that_is_open_elsewhere_is_named(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    _open(session, "s7", tmp_path / "other", monkeypatch)

    with pytest.raises(SisyphusError, match=r"open now: s7 in .*other"):
        _start_around(session)


def test_the_model_does_not_replace_the_users_loop(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin.start(session.space, begin.invocation("do it", {}), "s7")
    monkeypatch.setenv("CLAUDECODE", "1")

    with pytest.raises(SisyphusError, match="the user alone replaces it"):
        begin.start(session.space, begin.invocation("easy", {}), "s7", force=True)


def test_but_one_of_its_own(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    begin.start(session.space, begin.invocation("do it", {}), "s7")

    row = begin.start(session.space, begin.invocation("again", {}), "s7", force=True)

    assert (row["prompt"], row["by_model"]) == ("again", True)


def test_the_folder_of_a_session_is_where_it_began(session: Session, tmp_path: Path) -> None:
    later = tmp_path / "elsewhere"
    later.mkdir()
    session.writes(
        {"type": "summary", "cwd": "/"},
        lines.prompt("x", cwd=7),
        lines.prompt("x", cwd=str(session.project)),
        lines.said("y", cwd=str(later)),
    )

    assert begin.folder(session.space.home, "s1") == str(session.project)


FOLDERS = [
    pytest.param("s2", id="a session that is not known"),
    pytest.param("../s1", id="one that cannot be"),
    pytest.param("", id="no session"),
]


@pytest.mark.parametrize("named", FOLDERS)
def test_of_another_session_the_folder_is_not_known(session: Session, named: str) -> None:
    session.writes(lines.prompt("x", cwd=str(session.project)))

    assert begin.folder(session.space.home, named) == ""


def test_a_folder_that_is_gone_is_none(session: Session, tmp_path: Path) -> None:
    session.writes(lines.prompt("x", cwd=str(tmp_path / "gone")))

    assert begin.folder(session.space.home, "s1") == ""


# --- what is asked for --------------------------------------------------------------------------


def test_options_that_were_not_given_are_none() -> None:
    asked = begin.invocation("do it", {"verify": None, "verify_plan": False, "max_minutes": None})

    assert (asked.options, asked.max_iterations, asked.completion_promise) == ({}, 100, None)


def test_options_that_were_given_are_checked_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sisyphus.session.process.ancestors", list)  # whoever runs the tests

    asked = begin.invocation(
        "do it",
        {
            "completion_promise": "<promise>ALL DONE</promise>",
            "max_iterations": 0,
            "max_minutes": 0,
            "max_tokens": 5,
            "verify": "pytest -q",
            "wait_for_user": True,
        },
    )

    assert (asked.completion_promise, asked.max_iterations) == ("ALL DONE", 0)
    assert asked.options == {
        "max_minutes": 0, "max_tokens": 5, "verify": "pytest -q", "wait_for_user": True,
    }  # fmt: skip


BAD = [
    pytest.param("", {}, "no prompt", id="no prompt"),
    pytest.param(" \n", {}, "no prompt", id="a blank one"),
    pytest.param("x", {"prompt_file": "y"}, "Leave one of them out", id="two prompts"),
    pytest.param("x", {"completion_promise": ""}, "is empty", id="an empty promise"),
    pytest.param("x", {"completion_promise": "<promise>"}, "promise tag", id="half a tag"),
    pytest.param("x", {"verify": " "}, "is empty", id="an empty command"),
    pytest.param("x", {"max_iterations": 10**12}, "a whole number", id="a number too large"),
    pytest.param("x", {"max_tokens": -1}, "a whole number", id="a number below zero"),
]


@pytest.mark.parametrize(("prompt", "options", "why"), BAD)
def test_what_cannot_be_is_an_error(
    prompt: str, options: dict[str, str | int | bool | None], why: str
) -> None:
    with pytest.raises(BadArgumentsError, match=why):
        begin.invocation(prompt, options)


INSIDE = [
    pytest.param({"CLAUDECODE": "1"}, id="in the client's shell"),
    pytest.param({"CLAUDE_PID": str(os.getpid())}, id="below the client's process"),
]


@pytest.mark.parametrize("environment", INSIDE)
def test_a_line_of_the_models_is_bound(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    asked = begin.invocation("do it", {"max_iterations": 0, "max_minutes": 9_999})

    assert (asked.max_iterations, asked.options["max_minutes"]) == (100, MAX_MINUTES)
    assert asked.notes == [
        "the model asked for --max-iterations 0; it gets 100",
        f"the model asked for --max-minutes 9999; it gets {MAX_MINUTES}",
    ]
    with pytest.raises(BadArgumentsError, match="--verify names a command"):
        begin.invocation("do it", {"verify": "rm -rf /"})
