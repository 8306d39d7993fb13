from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import ours, put

from sisyphus import journal_view
from sisyphus.errors import SisyphusError
from sisyphus.journal_view import Wanted
from sisyphus.paths import our_home
from sisyphus.state import journal
from sisyphus.state.files import append_line

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json

AT = 1_795_186_800.5


def _entry(*notes: str, event: str = "stop", **fields: object) -> Json:
    return {
        "at": AT, "event": event, "ms": 3.1, "sent": 0, "blocked": False, "notes": list(notes),
        **fields,
    }  # fmt: skip


def _find(session: str = "") -> str:
    return journal_view.find_session(os.path.join(our_home(), "logs"), session)


def _tail(last: int = 10, wanted: Wanted | None = None, session: str = "s1") -> list[object]:
    entries, _ = journal_view.tail(session, last, wanted or Wanted())
    return ["".join(entry.get("notes", [])) for entry in entries]


WANTED = [
    pytest.param(Wanted(), _entry("a"), True, id="a note"),
    pytest.param(Wanted(), _entry(blocked=True), True, id="blocked"),
    pytest.param(Wanted(), _entry(sent=1), True, id="sent"),
    pytest.param(Wanted(), _entry(), False, id="quiet"),
    pytest.param(Wanted(quiet=True), _entry(), True, id="quiet and all"),
    pytest.param(Wanted("stop"), _entry("a"), True, id="its event"),
    pytest.param(Wanted("stop"), _entry("a", event="idle"), False, id="another event"),
    pytest.param(Wanted("stop"), _entry(), False, id="its event but quiet"),
]


@pytest.mark.parametrize(("wanted", "entry", "is_taken"), WANTED)
def test_what_is_wanted(wanted: Wanted, entry: Json, is_taken: bool) -> None:
    assert wanted.takes(entry) is is_taken


def test_the_last_entries_come_oldest_first(home: Path) -> None:
    for number in range(5):
        journal.append("s1", _entry(f"note {number}"))
        journal.append("s1", _entry())
        append_line(journal.journal_path("s1"), {"odd": number})
    assert _tail(2) == ["note 3", "note 4"]
    assert _tail(3, Wanted(quiet=True)) == ["note 4", "", ""]
    assert _tail(100) == [f"note {number}" for number in range(5)]
    assert ours(home, "logs/journal-s1.jsonl").exists()


def test_one_event_is_found_far_back() -> None:
    journal.append("s1", _entry("began", event="session-start"))
    for number in range(3_000):
        journal.append("s1", _entry(f"note {number} session-start"))
    assert _tail(2, Wanted("session-start")) == ["began"]


def test_of_a_huge_journal_the_end_is_read(home: Path) -> None:
    path = put(ours(home, "logs/journal-s1.jsonl"), "")
    os.truncate(path, 50_000_000_000)
    append_line(str(path), {"torn": 0})
    journal.append("s1", _entry("last"))
    assert _tail(1) == ["last"]


def test_a_torn_line_is_passed_over(home: Path) -> None:
    journal.append("s1", _entry("one"))
    with open(ours(home, "logs/journal-s1.jsonl"), "a", encoding="utf-8") as file:
        file.write('{"at": 1}\n[]\n{"event": "st')
    assert _tail() == ["one"]


def test_a_journal_that_cannot_be_read_is_a_known_failure(home: Path) -> None:
    put(ours(home, "logs/journal-s1.jsonl/x"), "")
    with pytest.raises(SisyphusError, match=r"the journal cannot be read: .*Look at its rights"):
        _tail()


def test_what_comes_is_followed(home: Path) -> None:
    journal.append("s1", _entry("before"))
    path = ours(home, "logs/journal-s1.jsonl")
    with open(path, "a", encoding="utf-8") as file:
        file.write('{"notes"')
    _, end = journal_view.tail("s1", 1, Wanted())
    coming = journal_view.follow("s1", end, Wanted())

    with open(path, "a", encoding="utf-8") as file:
        file.write(': ["a half, then whole"]}\n')
    journal.append("s1", _entry())
    journal.append("s1", _entry("second"))
    assert [next(coming)["notes"], next(coming)["notes"]] == [["a half, then whole"], ["second"]]

    path.unlink()
    journal.append("s1", _entry("anew"))
    assert next(coming)["notes"] == ["anew"]


def test_the_session_that_was_written_last_is_the_one(home: Path) -> None:
    for number, session in enumerate(("s1", "s2", "s3")):
        journal.append(session, _entry())
        os.utime(ours(home, f"logs/journal-{session}.jsonl"), (AT - number, AT - number))
    put(ours(home, "logs/journal-x.jsonl/folder"), "")
    put(ours(home, "logs/debug.log"), "")
    assert _find() == "s1"
    assert _find("s3") == "s3"


def test_without_a_journal_it_is_said_what_to_do() -> None:
    with pytest.raises(
        SisyphusError,
        match=r"no journal is there: no hook ran yet, or it was purged\. Are the hooks",
    ):
        _find()
    with pytest.raises(SisyphusError, match=r"no journal of session s9 is there.*\. Are the hooks"):
        _find("s9")
    journal.append("s1", _entry())
    with pytest.raises(
        SisyphusError, match=r"no journal of session s9 is there: .*\. The latest .* is s1;"
    ):
        _find("s9")


NAMES = ("abc1", "abc12", "abd")
NAMED = [
    pytest.param("abc12", "abc12", id="all of it"),
    pytest.param("abc1", "abc1", id="all of it, though another begins so"),
    pytest.param("abd", "abd", id="another"),
    pytest.param("abc", r"2 sessions begin with abc: .*abc1.*--session", id="of two"),
    pytest.param("x", "no journal of session x is there", id="of none"),
]


@pytest.mark.parametrize(("named", "found"), NAMED)
def test_a_unique_beginning_names_a_session(named: str, found: str) -> None:
    for session in NAMES:
        journal.append(session, _entry())
    if found in NAMES:
        assert _find(named) == found
        return
    with pytest.raises(SisyphusError, match=found):
        _find(named)


def test_where_a_session_began() -> None:
    journal.append("s1", _entry())
    journal.append("s1", _entry(project="/p", client="claude", source="startup", run="r1"))
    journal.append("s1", _entry(project="/q"))
    journal.append("s2", _entry('"project"'))
    assert journal_view.about("s1") == {"project": "/p", "client": "claude", "run": "r1"}
    assert journal_view.about("s2") == {}
    assert journal_view.about("s3") == {}


def test_every_session_is_followed_also_one_that_begins_meanwhile(home: Path) -> None:
    journal.append("s1", _entry("before"))
    journal.append("s2", _entry("before"))
    folder = str(ours(home, "logs"))
    coming = journal_view.follow_all(folder, Wanted(), journal_view.ends_of(folder))

    journal.append("s2", _entry("later", at=AT + 2))
    journal.append("s1", _entry("sooner", at=AT + 1))
    journal.append("s1", _entry())
    heard = [next(coming), next(coming)]
    assert [(s, entry["notes"]) for s, entry in heard] == [("s1", ["sooner"]), ("s2", ["later"])]

    journal.append("s3", _entry("begins"))
    session, entry = next(coming)
    assert (session, entry["notes"]) == ("s3", ["begins"])


def test_a_session_that_rested_for_long_is_heard_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_view, "LOOK_SECONDS", 0)
    journal.append("s1", _entry("before"))
    os.utime(ours(home, "logs/journal-s1.jsonl"), (AT - 10**8, AT - 10**8))
    folder = str(ours(home, "logs"))
    watch = journal_view._Watch(folder, journal_view.ends_of(folder))  # noqa: SLF001
    assert watch.changed() == []
    journal.append("s1", _entry("again"))
    assert watch.changed() == ["s1"]
    assert [entry["notes"] for entry in watch.read("s1")] == [["again"]]


def test_what_cannot_be_a_session_is_refused() -> None:
    with pytest.raises(SisyphusError, match="is no session id"):
        _find("../s1")
