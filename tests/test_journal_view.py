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
from sisyphus.times import local

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json

AT = 1_795_186_800.5
CLOCK = local(AT, "%H:%M:%S")


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


TEXTS = [
    pytest.param(_entry("blocked: no tag"), "stop                blocked: no tag", id="a note"),
    pytest.param(
        _entry("one", "two\nlines"),
        "stop                one\n                              two lines",
        id="several notes",
    ),
    pytest.param(_entry(blocked=True), "stop                blocked", id="blocked without a word"),
    pytest.param(_entry(), "stop                nothing to say", id="quiet"),
    pytest.param(_entry(sent=1_234), "stop                1,234 characters sent", id="sent"),
    pytest.param(_entry(sent="x"), "stop                nothing to say", id="sent in words"),
    pytest.param(
        _entry("a", event="post-tool-use", agent="b1"),
        "post-tool-use       (subagent b1) a",
        id="a subagent",
    ),
    pytest.param(
        _entry("a", event="post-tool-use-failure"), "post-tool-use-failure  a", id="a long name"
    ),
    pytest.param(_entry("\x1b[31mred"), "stop                [31mred", id="what a terminal obeys"),
    pytest.param({"at": AT, "notes": "x"}, "?                   nothing to say", id="hardly any"),
]


@pytest.mark.parametrize(("entry", "text"), TEXTS)
def test_an_entry_in_words(entry: Json, text: str) -> None:
    assert journal_view.text(entry) == f"{CLOCK}  {text}"


def test_an_entry_without_a_time() -> None:
    assert journal_view.text({"event": "stop", "at": "x"}).startswith("--:--:--  stop ")
    assert journal_view.day({}) == ""


def test_the_day_of_an_entry() -> None:
    assert journal_view.day(_entry()) == local(AT, "%Y-%m-%d")


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
    with pytest.raises(SisyphusError, match=r"no hook ran yet in any session\. Are the hooks"):
        _find()
    with pytest.raises(SisyphusError, match=r"no hook ran in session s9\. Are the hooks"):
        _find("s9")
    journal.append("s1", _entry())
    with pytest.raises(SisyphusError, match=r"no hook ran in session s9\. The latest .* is s1"):
        _find("s9")


def test_what_cannot_be_a_session_is_refused() -> None:
    with pytest.raises(SisyphusError, match="is no session id"):
        _find("../s1")
