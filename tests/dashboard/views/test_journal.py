from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from making import journal, ours, put

from sisyphus.dashboard.failures import FailedError
from sisyphus.dashboard.views import journal as view
from sisyphus.dashboard.views.journal import Asked, entries
from sisyphus.paths import our_home

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json

AT = 1_795_186_800.0


def _note(session: str, at: float, **fields: object) -> None:
    entry = {"at": AT + at, "event": "stop", "ms": 4.5, "sent": 0, "notes": [f"note {at:g}"]}
    journal(session, {**entry, **fields})


def _ask(**asked: Any) -> Json:
    return entries(our_home(), Asked(**asked))


def _said(found: Json) -> list[str]:
    return [row["said"][0] for row in found["entries"]]


def _all_pages(**asked: Any) -> list[list[str]]:
    """What was said, page by page, newest first."""
    pages, before = [], 0
    while before is not None:
        found = _ask(**asked, before=before)
        pages.append(_said(found))
        before = found["older"]
    return pages


def test_a_line_is_told_in_plain_words() -> None:
    _note("s1", 0, agent="a1", blocked=True, sent=1_200, notes=["sent a.md", "open tasks"])
    assert _ask(session="s1") == {
        "session_id": "s1",
        "entries": [
            {
                "at": AT, "session_id": "s1", "event": "stop", "agent": "a1", "ms": 4.5,
                "blocked": True, "sent": 1_200,
                "said": ["(subagent a1) blocked", "sent a.md (1,200 characters)", "open tasks"],
            }
        ],
        "older": None,
        "is_cut": False,
    }  # fmt: skip


def test_a_session_is_read_page_by_page_from_its_end() -> None:
    for at in range(7):
        _note("s1", at)
    assert _all_pages(session="s1", most=3) == [
        ["note 6", "note 5", "note 4"], ["note 3", "note 2", "note 1"], ["note 0"],
    ]  # fmt: skip


def test_what_comes_meanwhile_does_not_move_older_pages() -> None:
    for at in range(4):
        _note("s1", at)
    first = _ask(session="s1", most=2)
    _note("s1", 9)
    assert _said(_ask(session="s1", most=2, before=first["older"])) == ["note 1", "note 0"]


@pytest.mark.parametrize("sessions", [1, 2, 6])
def test_the_latest_sessions_are_told_together_by_time(sessions: int) -> None:
    for at in range(6):
        _note(f"s{at % sessions}", at)
    pages = _all_pages(most=2)
    assert [len(page) for page in pages] == [2, 2, 2]
    assert [note for page in pages for note in page] == [f"note {5 - at}" for at in range(6)]


def test_lines_of_one_moment_stay_on_one_page() -> None:
    for session in ("s1", "s2", "s3"):
        _note(session, 5, notes=[session])
    _note("s1", 1, notes=["before"])
    assert [sorted(page) for page in _all_pages(most=2)] == [["s1", "s2", "s3"], ["before"]]


def test_of_many_journals_those_written_last_are_looked_at(home: Path) -> None:
    for number in range(view.MOST_JOURNALS + 1):
        _note(f"s{number:02}", number)
        os.utime(ours(home, f"logs/journal-s{number:02}.jsonl"), ns=(number, number))
    said = _said(_ask(most=99))
    assert len(said) == view.MOST_JOURNALS
    assert "note 0" not in said


CHOSEN = [
    pytest.param({}, ["stop", "prompt"], id="what did something"),
    pytest.param({"quiet": True}, ["nothing to say", "stop", "prompt"], id="quiet ones too"),
    pytest.param({"event": "stop"}, ["stop"], id="one event"),
    pytest.param({"event": "stop", "quiet": True}, ["nothing to say", "stop"], id="both"),
    pytest.param({"event": "command"}, [], id="none of that event"),
]


@pytest.mark.parametrize("session", ["", "s1"])
@pytest.mark.parametrize(("asked", "said"), CHOSEN)
def test_lines_are_chosen(session: str, asked: dict[str, Any], said: list[str]) -> None:
    _note("s1", 0, event="user-prompt-submit", notes=["prompt"])
    _note("s1", 1, notes=["stop"])
    _note("s1", 2, notes=[])
    assert _said(_ask(session=session, **asked)) == said


def test_a_session_is_found_by_how_it_begins() -> None:
    _note("abc-1", 0)
    _note("abd-1", 0)
    assert _ask(session="abc")["session_id"] == "abc-1"


REFUSED = [
    pytest.param({"session": "ab"}, 400, "2 sessions begin with ab", id="several begin so"),
    pytest.param({"session": "x"}, 404, "no session", id="none begins so"),
    pytest.param({"session": "../x"}, 404, "no session", id="no id"),
    pytest.param({"event": "Stop\n"}, 400, "no such event: Stop", id="no event"),
]


@pytest.mark.parametrize(("asked", "status", "told"), REFUSED)
def test_what_cannot_be_told_is_refused(asked: dict[str, Any], status: int, told: str) -> None:
    _note("abc-1", 0)
    _note("abd-1", 0)
    with pytest.raises(FailedError, match=told) as refused:
        _ask(**asked)
    assert refused.value.status == status


def test_where_lines_were_not_looked_at_the_last_page_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(view, "MOST_LINES_EACH", 3)
    for at in range(3):
        _note("s1", at)
    assert not _ask()["is_cut"]
    _note("s1", 3)
    first = _ask(most=2)
    assert (first["older"] is None, first["is_cut"]) == (False, False)
    last = _ask(most=2, before=first["older"])
    assert (_said(last), last["older"], last["is_cut"]) == (["note 1"], None, True)
    assert not _ask(session="s1")["is_cut"]


def test_journals_that_were_not_looked_at_are_lines_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(view, "MOST_JOURNALS", 2)
    for number in range(3):
        assert not _ask()["is_cut"]
        _note(f"s{number}", number)
    assert _ask()["is_cut"]


HOSTILE = (
    b'{"at": 1e999, "event": 5, "ms": "x", "sent": -1, "agent": ["\\u001b"], "notes": ["a\\nb"]}'
)


def test_whatever_a_line_holds_it_is_told(home: Path) -> None:
    lines = [b"torn", b"[]", b"", HOSTILE, b'{"at": true, "notes": [null], "blocked": 1}']
    put(ours(home, "logs/journal-s1.jsonl"), b"\n".join(lines))
    found = _ask(session="s1")["entries"]
    assert [(row["at"], row["ms"], row["sent"]) for row in found] == [(None, None, 0)] * 2
    assert found[1]["said"][0].endswith("a b")


@pytest.mark.parametrize("before", [1, 30, 10**15])
def test_a_place_that_is_none_does_no_harm(before: int) -> None:
    _note("s1", 0)
    for session in ("", "s1"):
        assert len(_ask(session=session, before=before)["entries"]) <= 1


def test_where_little_is_chosen_a_page_ends_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "MOST_LINES", 4)
    _note("s1", 0, event="idle", notes=["wanted"])
    for at in range(1, 10):
        _note("s1", at)
    assert _all_pages(session="s1", event="idle") == [[], [], ["wanted"]]
    assert _all_pages(session="s1", event="command") == [[], [], []]


def test_without_journals_there_is_nothing() -> None:
    assert _ask() == {
        "session_id": None, "entries": [], "older": None, "is_cut": False,
    }  # fmt: skip
