from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from command_files import put_foreign, put_ours
from making import configure, ours, put, run_hook

from ralph import lines
from ralph.sessions import ARGS, NOW, PROMISE, TYPED, Session
from sisyphus.ralph import actions, help_text
from sisyphus.ralph.loop import BY_BREAKER, BY_HOST_CAP, BY_USER, Loop
from sisyphus.state.lock import Lock
from sisyphus.times import iso

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sisyphus.clients.base import Outcome

    Cancel = Callable[[Session], object]


@pytest.fixture
def session(home: Path, project: Path) -> Session:
    return Session(home, project)


def _loop(session: str = "s1", name: str = "aaaaa") -> Loop:
    loop = Loop(session, name, "do it")
    loop.started_at = iso(NOW)
    return loop


def _reason(outcome: Outcome | None) -> str:
    """What the user reads instead of an answer of the model."""
    assert outcome is not None
    assert outcome.reason is not None
    return outcome.reason


BARE = ["/cancel-ralph", "/ralph-status", "/ralph-help", "/ralph-resume", "/list-ralph-loops"]


@pytest.mark.parametrize("prompt", BARE)
def test_a_users_own_command_of_the_name_is_his(session: Session, prompt: str) -> None:
    put_foreign(session.home / ".claude", prompt[1:])
    session.has(_loop())

    outcome = session.submits(prompt)
    assert outcome is None or (outcome.reason, outcome.messages) == (None, [])
    assert len(session.loops) == 1
    assert session.submits(f"/sisyphus:{prompt[1:]}") is not None


@pytest.mark.parametrize("prompt", BARE[:3])
def test_a_command_file_of_ours_leaves_it_to_us(session: Session, prompt: str) -> None:
    put_ours(session.home / ".claude", prompt[1:])
    session.has(_loop())

    assert _reason(session.submits(prompt))


CANCEL = [
    pytest.param("/sisyphus:cancel-ralph", id="our command"),
    pytest.param("/cancel-ralph", id="without the plugin's name"),
    pytest.param("  /sisyphus:cancel-ralph \n", id="white space around it"),
]


@pytest.mark.parametrize("prompt", CANCEL)
def test_cancel_ends_every_loop_of_the_session(session: Session, prompt: str) -> None:
    session.has(_loop(name="aaaaa"), _loop(name="bbbbb"))

    told = _reason(session.submits(prompt))

    assert sorted(told.splitlines()) == [
        "Loop aaaaa cancelled: do it",
        "Loop bbbbb cancelled: do it",
    ]
    assert session.loops == []
    assert session.log == ["cancelled", "cancelled"]


@pytest.mark.parametrize("plugin", ["ralph-wiggum", "ralph-wiggum-pro", "ralph-loop"])
def test_another_plugins_cancel_ends_ours_and_goes_on(session: Session, plugin: str) -> None:
    session.has(_loop())

    outcome = session.submits(f"/{plugin}:cancel-ralph")

    assert outcome is not None
    assert (outcome.reason, outcome.messages) == (None, [])
    assert outcome.notes == ["cancelled loop aaaaa, by another plugin's command"]
    assert session.loops == []


def test_another_plugins_cancel_is_not_ours_to_answer(session: Session) -> None:
    assert session.submits("/ralph-wiggum:cancel-ralph") is None


def test_who_cannot_cancel_says_so(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    session.has(_loop())
    monkeypatch.setattr("sisyphus.state.lock_deadline", 0.0)

    with Lock(str(ours(session.home, "ralph/loops/session-s1.json"))):
        own = session.submits("/sisyphus:cancel-ralph")
        others = session.submits("/ralph-wiggum:cancel-ralph")

    assert "another process holds" in _reason(own)
    assert others is not None
    assert others.reason is None
    assert "was not cancelled: another process holds" in others.messages[0]


NOT_OURS = [
    pytest.param("/ralph-wiggum:ralph-pause", id="a command that the other plugin may have"),
    pytest.param("/ralph-wiggum:list-ralph-loops", id="another one"),
    pytest.param("/other:cancel-ralph", id="another plugin"),
    pytest.param("/sisyphus:cancel-ralph please", id="trailing text"),
    pytest.param("/sisyphus:cancel-ralph\n\nand do that", id="more lines"),
    pytest.param("/ralph-status of what?", id="a sentence that begins with a command"),
    pytest.param("/sisyphus:cancel-ralphs", id="a longer name"),
    pytest.param("/Sisyphus:cancel-ralph", id="another case"),
    pytest.param("//cancel-ralph", id="two slashes"),
    pytest.param("please /sisyphus:cancel-ralph", id="in a sentence"),
    pytest.param("what does `/cancel-ralph` do?", id="prose"),
    pytest.param("cancel-ralph", id="no slash"),
]


@pytest.mark.parametrize("prompt", NOT_OURS)
def test_other_prompts_go_on_and_change_nothing(session: Session, prompt: str) -> None:
    session.has(_loop())

    outcome = session.submits(prompt)

    assert outcome is None
    assert [loop.status for loop in session.loops] == ["active"]


WITHOUT = [
    pytest.param("cancel-ralph", id="cancel"),
    pytest.param("ralph-pause", id="pause"),
    pytest.param("ralph-resume", id="resume"),
]


@pytest.mark.parametrize("command", WITHOUT)
def test_without_a_loop_the_user_is_told(session: Session, command: str) -> None:
    told = _reason(session.submits(f"/sisyphus:{command}"))

    assert told == "no loop is active in session s1. `sisyphus ralph log` shows how loops ended."


@pytest.mark.parametrize("command", ["cancel-ralph", "ralph-pause", "ralph-resume"])
@pytest.mark.parametrize("plugin", ["/sisyphus:", "/", "/ralph-wiggum:"])
def test_another_sessions_loop_is_never_touched(
    session: Session, home: Path, project: Path, plugin: str, command: str
) -> None:
    other = Session(home, project, "s2")
    loop = _loop("s2")
    if command == "ralph-resume":
        loop.pause(BY_USER, NOW)
    other.has(loop)

    session.submits(plugin + command)

    assert [found.status for found in other.loops] == [loop.status]


def test_the_list_shows_loops_of_every_session(session: Session, home: Path, project: Path) -> None:
    session.has(_loop("s1", "aaaaa"))
    Session(home, project, "s2").has(_loop("s2", "bbbbb"))

    listed = _reason(session.submits("/sisyphus:list-ralph-loops"))
    shown = _reason(session.submits("/sisyphus:ralph-status"))

    assert ("aaaaa  do it" in listed, "bbbbb  do it" in listed) == (True, True)
    assert ("aaaaa  do it" in shown, "bbbbb" in shown) == (True, False)


@pytest.mark.parametrize("command", ["list-ralph-loops", "ralph-status"])
def test_without_loops_they_say_how_one_starts(session: Session, command: str) -> None:
    assert "/sisyphus:ralph-loop" in _reason(session.submits(f"/{command}"))


def test_the_settings_say_when_a_loop_is_stale(session: Session) -> None:
    session.has(_loop())
    session.now = NOW * 2
    assert "stale" in _reason(session.submits("/ralph-status"))

    configure("ralph.stale_hours", 9999999)
    assert "stale" not in _reason(session.submits("/ralph-status"))


def test_stats_and_help_are_answered(session: Session) -> None:
    session.has(_loop())
    session.submits("/cancel-ralph")

    assert "1" in _reason(session.submits("/sisyphus:ralph-stats"))
    assert _reason(session.submits("/sisyphus:ralph-help")) == help_text.HELP


@pytest.mark.parametrize("by", ["", BY_HOST_CAP, BY_BREAKER])
def test_pause_lets_the_session_stop_until_the_user_resumes(session: Session, by: str) -> None:
    loop = _loop()
    if by:
        loop.pause(by, NOW)
    session.has(loop)

    told = _reason(session.submits("/sisyphus:ralph-pause"))

    assert told == "Loop aaaaa paused: do it"
    assert session.loops[0].paused_by == BY_USER
    session.now += 99 * 3_600
    session.submits("hello")
    assert session.loops[0].is_paused
    assert session.stops().reason is None


@pytest.mark.parametrize("more", ["", " and look at the tests first", "\n\nThen go home."])
def test_resume_goes_on_to_the_model(session: Session, more: str) -> None:
    loop = _loop()
    loop.pause(BY_USER, NOW)
    session.has(loop)

    outcome = session.submits(f"/sisyphus:ralph-resume{more}")

    assert outcome is not None
    assert (outcome.reason, outcome.messages) == (None, ["Loop aaaaa resumed: do it"])
    assert not session.loops[0].is_paused
    assert session.stops().reason is not None


def test_what_is_not_paused_is_not_resumed(session: Session) -> None:
    session.has(_loop())

    told = _reason(session.submits("/sisyphus:ralph-resume"))

    assert told == "loop aaaaa is not paused: iteration 1 without a limit."


def test_a_loop_that_waits_is_resumed_too(session: Session) -> None:
    session.has(_loop())
    session.fails()
    assert session.loops[0].waiting

    session.submits("/sisyphus:ralph-resume")

    assert session.loops[0].waiting == {}


def test_where_ralph_is_switched_off_the_model_does_what_the_command_says(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.has(_loop())
    monkeypatch.setenv("SISYPHUS_RALPH_ENABLED", "0")

    assert session.submits("/sisyphus:cancel-ralph") is None
    assert len(session.loops) == 1


def test_the_real_hook_answers(session: Session) -> None:
    session.has(_loop())
    payload = {
        "session_id": "s1", "cwd": str(session.project), "prompt": "/sisyphus:ralph-pause",
    }  # fmt: skip

    code, reply = run_hook("user-prompt-submit", payload)

    assert (code, reply) == (0, {"decision": "block", "reason": "Loop aaaaa paused: do it"})


# --- what was cancelled stays away --------------------------------------------------------------


def _by_command(session: Session) -> None:
    session.submits("/sisyphus:cancel-ralph")


def _by_another_plugin(session: Session) -> None:
    session.submits("/ralph-wiggum:cancel-ralph")


def _from_another_terminal(session: Session) -> None:
    actions.cancel(session.ours, session.name, now=session.now)


WAYS = [
    pytest.param(_by_command, id="by our command"),
    pytest.param(_by_another_plugin, id="by another plugin's"),
    pytest.param(_from_another_terminal, id="from another terminal"),
]


@pytest.fixture(params=[True, False], ids=["with ids of prompts", "without"])
def typed(request: pytest.FixtureRequest, session: Session) -> Session:
    """A session in which the user has typed a loop, and no Stop came yet."""
    session.has_ids = request.param
    session.types()
    session.now += 60
    return session


@pytest.mark.parametrize("cancel", WAYS)
def test_a_loop_that_is_cancelled_before_its_first_stop_stays_away(
    typed: Session, cancel: Cancel
) -> None:
    cancel(typed)
    typed.now += 60

    assert typed.stops().reason is None
    assert typed.stops().reason is None
    assert typed.loops == []
    assert typed.log == ["active", "cancelled"]


@pytest.mark.parametrize("cancel", WAYS)
@pytest.mark.parametrize("args", [ARGS, '"do that" --completion-promise "DONE"'])
def test_a_loop_that_is_typed_after_that_starts(typed: Session, cancel: Cancel, args: str) -> None:
    cancel(typed)
    typed.now += 60
    typed.types(args)
    typed.now += 60

    assert typed.stops().reason is not None
    assert typed.stops(PROMISE).reason is None
    assert typed.log == ["active", "cancelled", "active", "success"]


@pytest.mark.parametrize("cancel", WAYS)
def test_a_loop_that_the_model_starts_after_that_starts(typed: Session, cancel: Cancel) -> None:
    cancel(typed)
    typed.now += 60
    typed.calls('"do that" --completion-promise "DONE"')
    typed.now += 60

    assert typed.stops().reason is not None
    assert [loop.prompt for loop in typed.loops] == ["do that"]


def test_a_loop_that_no_hook_saw_is_cancelled_all_the_same(session: Session) -> None:
    session.writes(lines.typed(ARGS, timestamp=iso(NOW - 60)), lines.said("working"))

    _reason(session.submits("/sisyphus:cancel-ralph"))
    session.now += 60

    assert session.stops().reason is None
    assert session.log == []


def test_a_cancel_that_no_hook_saw_counts_as_well(session: Session) -> None:
    session.writes(
        lines.typed(ARGS), lines.said("working"), lines.typed("", "/ralph-wiggum:cancel-ralph")
    )

    assert session.stops().reason is None

    session.writes(lines.typed(ARGS))
    assert session.stops().reason is not None


def test_a_loop_whose_line_has_no_time_stays_away_too(session: Session) -> None:
    session.has_ids = False
    session.submits(TYPED)
    session.writes(lines.typed(ARGS, timestamp=None))
    session.now += 60
    _by_command(session)

    assert session.stops().reason is None


def test_a_memory_of_a_newer_version_is_left_alone(session: Session) -> None:
    text = '{"version": 99}'
    path = put(ours(session.home, "ralph/loops/session-s1.json"), text)

    assert "newer sisyphus" in _reason(session.submits("/sisyphus:cancel-ralph"))
    assert session.submits("/ralph-wiggum:cancel-ralph") is None
    assert path.read_text() == text
