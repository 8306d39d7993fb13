from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, get_args

import pytest
from making import a_piece, ours, put, stored

from sisyphus._types import Kind
from sisyphus.errors import NewerVersionError
from sisyphus.session.queue import PRIORITY
from sisyphus.session.store import SessionStore, ledger_path, sent_hashes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sisyphus._types import Ledger, Piece

LEDGERS: list[Ledger] = ["", "rules-injector", "context-injector"]


@pytest.fixture
def opened(home: Path) -> Callable[[], SessionStore]:
    """The store of session "s1", opened anew each time."""
    return lambda: SessionStore(str(ours(home, "")), "s1")


def _queue(home: Path) -> Path:
    return ours(home, "queue/s1.json")


def _save(opened: Callable[[], SessionStore], *sent: Piece, waiting: list[Piece]) -> None:
    with opened() as session:
        for piece in sent:
            session.remember(piece)
        session.wait(waiting)
        session.save()


@pytest.mark.parametrize("ledger", LEDGERS)
def test_what_was_sent_is_remembered(opened: Callable[[], SessionStore], ledger: Ledger) -> None:
    piece = a_piece("one", ledger=ledger)
    _save(opened, piece, waiting=[])
    with opened() as session:
        assert session.has(piece)
        assert not session.has(a_piece("two", ledger=ledger))


@pytest.mark.parametrize("ledger", LEDGERS)
def test_what_has_no_hash_is_not_remembered(
    opened: Callable[[], SessionStore], ledger: Ledger
) -> None:
    piece = a_piece("one", ledger=ledger, hash="")
    _save(opened, piece, waiting=[])
    with opened() as session:
        assert not session.has(piece)


@pytest.mark.parametrize("ledger", LEDGERS[1:])
def test_a_ledger_holds_hashes_and_paths(
    home: Path, opened: Callable[[], SessionStore], ledger: Ledger
) -> None:
    same = [a_piece("x", ledger=ledger, hash="abc123", path="/p/react.md")] * 2
    _save(opened, *same, a_piece("y", ledger=ledger, hash="def", path="/p/x.md"), waiting=[])
    assert stored(ours(home, f"{ledger}/session-s1.json")) == {
        "injected_hashes": ["abc123", "def"],
        "injected_paths": ["/p/react.md", "/p/x.md"],
        "version": 1,
    }


def test_what_waits_is_kept(home: Path, opened: Callable[[], SessionStore]) -> None:
    pieces = [a_piece("one"), a_piece("two", "readme")]
    _save(opened, waiting=pieces)
    with opened() as session:
        assert session.queue == pieces
    assert _queue(home).exists()


def test_there_is_no_queue_file_where_nothing_waits(
    home: Path, opened: Callable[[], SessionStore]
) -> None:
    _save(opened, waiting=[a_piece("one")])
    _save(opened, waiting=[])
    assert not _queue(home).exists()
    _save(opened, waiting=[])
    assert not _queue(home).exists()


def test_what_did_not_change_is_not_written(home: Path, opened: Callable[[], SessionStore]) -> None:
    with opened() as session:
        session.set(parent="p")
        session.save()
    with opened() as session:
        session.set(parent="p")
        session.wait([])
        assert session.stage() == []
    assert sorted(os.listdir(ours(home, "sessions"))) == ["s1.json", "s1.json.lock"]


def test_changes_can_be_given_up(opened: Callable[[], SessionStore]) -> None:
    with opened() as session:
        session.remember(a_piece("one"))
        session.wait([a_piece("two")])
        session.set(parent="p")
        session.reset()
        assert session.stage() == []
        assert (session.queue, session.state) == ([], {})


def test_fields_that_are_not_known_stay(home: Path, opened: Callable[[], SessionStore]) -> None:
    for name in ("sessions/s1.json", "rules-injector/session-s1.json"):
        put(ours(home, name), '{"theirs": [1]}')
    put(_queue(home), '{"theirs": [1]}')
    _save(opened, a_piece("a"), a_piece("b", ledger=""), waiting=[a_piece("c")])
    for name in ("sessions/s1.json", "rules-injector/session-s1.json", "queue/s1.json"):
        assert stored(ours(home, name))["theirs"] == [1]


JUNK: list[Any] = [
    pytest.param({}, id="no queue"),
    pytest.param({"queue": "x"}, id="no list"),
    pytest.param({"queue": [1, "x", None, {}]}, id="no pieces"),
    pytest.param({"queue": [{**a_piece(), "kind": "strange"}]}, id="a kind that is not known"),
    pytest.param({"queue": [{**a_piece(), "ledger": "../x"}]}, id="a ledger that is not known"),
    pytest.param({"queue": [{**a_piece(), "body": 7}]}, id="a body that is no text"),
]


@pytest.mark.parametrize("content", JUNK)
def test_junk_in_a_queue_is_passed_over(
    home: Path, opened: Callable[[], SessionStore], content: dict[str, Any]
) -> None:
    good = a_piece("good")
    queue = content.get("queue")
    put(_queue(home), json.dumps({"queue": [*queue, good] if isinstance(queue, list) else queue}))
    with opened() as session:
        assert session.queue == ([good] if isinstance(queue, list) else [])


LISTS = ['{"injected_hashes": 7}', '{"injected_hashes": [7, null, "one"]}', "[]", "{"]


@pytest.mark.parametrize("text", LISTS)
def test_a_spoilt_ledger_is_written_anew(
    home: Path, opened: Callable[[], SessionStore], text: str
) -> None:
    ledger = put(ours(home, "rules-injector/session-s1.json"), text)
    _save(opened, a_piece("two"), waiting=[])
    assert [h for h in stored(ledger)["injected_hashes"] if h != "one"] == ["two"]


NEWER = ["sessions/s1.json", "queue/s1.json", "rules-injector/session-s1.json"]


@pytest.mark.parametrize("name", NEWER)
def test_files_of_a_newer_version_stay_as_they_are(
    home: Path, opened: Callable[[], SessionStore], name: str
) -> None:
    put(ours(home, name), '{"version": 99, "queue": [7], "sent": ["x"]}')
    with opened() as session:
        session.remember(a_piece("a"))
        session.remember(a_piece("b", ledger=""))
        session.wait([a_piece("c")])
        with pytest.raises(NewerVersionError):
            session.save()
    assert stored(ours(home, name))["version"] == 99


def test_a_queue_of_a_newer_version_is_not_emptied(
    home: Path, opened: Callable[[], SessionStore]
) -> None:
    put(_queue(home), '{"version": 99, "queue": [7]}')
    with opened() as session:
        session.forget()
        with pytest.raises(NewerVersionError):
            session.save()
    assert _queue(home).exists()


def test_a_hook_killed_between_two_renames_sends_nothing_twice(
    opened: Callable[[], SessionStore],
) -> None:
    pieces = [a_piece("a"), a_piece("b", ledger=""), a_piece("c", ledger="context-injector")]
    _save(opened, waiting=pieces)
    with opened() as session:
        session.wait([])
        for piece in pieces:
            session.remember(piece)
        for staged in session.stage()[:-1]:
            staged.commit()
    with opened() as session:
        assert session.queue == pieces
        assert all(session.has(piece) for piece in pieces)


def test_an_empty_context_was_sent_nothing(home: Path, opened: Callable[[], SessionStore]) -> None:
    pieces = [a_piece("a", ledger=name) for name in ("", "rules-injector", "context-injector")]
    _save(opened, *pieces, waiting=[a_piece("w")])
    with opened() as session:
        session.forget()
        session.save()
    with opened() as session:
        assert not any(session.has(piece) for piece in pieces)
    assert not _queue(home).exists()


def test_a_child_holds_what_its_parent_was_sent(
    home: Path, opened: Callable[[], SessionStore]
) -> None:
    pieces = [a_piece("a", ledger=name) for name in ("", "rules-injector", "context-injector")]
    waiting = a_piece("w")
    _save(opened, *pieces, waiting=[waiting])
    with SessionStore(str(ours(home, "")), "child") as child:
        child.remember(a_piece("own"))
        child.inherit(["s1"])
        assert all(child.has(piece) for piece in [*pieces, a_piece("own")])
        assert not child.has(waiting)
        assert len(child.stage()) == 3


def test_of_several_that_may_be_the_parent_a_child_holds_what_all_were_sent(home: Path) -> None:
    common = [a_piece("common", ledger=ledger, path="/c") for ledger in LEDGERS]
    for name in ("p1", "p2", "p3"):
        with SessionStore(str(ours(home, "")), name) as session:
            for piece in [*common, a_piece(name), a_piece(f"{name} of one file", path="/p")]:
                session.remember(piece)
            session.save()
    with SessionStore(str(ours(home, "")), "child") as child:
        child.inherit(["p1", "p2", "p3"])
        assert all(child.has(piece) for piece in common)
        assert not any(child.has(a_piece(name)) for name in ("p1", "p2", "p3"))
        assert list(child.state["latest"].values()) == ["common"]


@pytest.mark.parametrize("parents", [[], ["nobody"], ["s1", "nobody"]])
def test_nothing_is_inherited_from_a_parent_that_was_sent_nothing(
    home: Path, opened: Callable[[], SessionStore], parents: list[str]
) -> None:
    _save(opened, a_piece("a"), a_piece("b", ledger="", path="/b"), waiting=[])
    with SessionStore(str(ours(home, "")), "child") as session:
        session.inherit(parents)
        assert session.stage() == []


def test_a_fork_that_is_compacted_first_has_nothing_to_inherit(
    opened: Callable[[], SessionStore],
) -> None:
    with opened() as session:
        session.set(forked_at=1.0)
        session.forget()
        assert session.state["parents"] == []


def test_a_known_parent_stays_known(opened: Callable[[], SessionStore]) -> None:
    with opened() as session:
        session.set(forked_at=1.0, parents=["p"])
        session.forget()
        assert session.state["parents"] == ["p"]


GLANCES = [
    pytest.param('{"injected_hashes": ["a", "b"]}', {"a", "b"}, id="hashes"),
    pytest.param('{"injected_hashes": ["a", 7]}', {"a"}, id="what is no text is none"),
    pytest.param('{"injected_hashes": {}}', set(), id="no list"),
    pytest.param("[", set(), id="no JSON"),
]


@pytest.mark.parametrize(("text", "hashes"), GLANCES)
def test_a_glance_needs_no_lock_and_changes_nothing(
    home: Path, text: str, hashes: set[str]
) -> None:
    path = put(ours(home, "rules-injector/session-s1.json"), text)
    assert sent_hashes(str(ours(home, "")), "rules-injector", "s1") == hashes
    assert os.listdir(path.parent) == [path.name]


def test_who_has_no_key_was_sent_nothing(home: Path) -> None:
    put(ours(home, "rules-injector/session-.json"), '{"injected_hashes": ["a"]}')
    assert sent_hashes(str(ours(home, "")), "rules-injector", "") == frozenset()


def test_the_ledgers_lie_where_they_always_lay() -> None:
    assert ledger_path("/o", "rules-injector", "s1") == "/o/rules-injector/session-s1.json"
    assert ledger_path("/o", "context-injector", "s1") == "/o/context-injector/session-s1.json"


def test_every_kind_of_piece_can_wait(opened: Callable[[], SessionStore]) -> None:
    assert set(PRIORITY) == set(get_args(Kind))
    pieces = [a_piece(kind, kind) for kind in PRIORITY]
    _save(opened, waiting=pieces)
    with opened() as session:
        assert session.queue == pieces


def test_a_text_that_comes_back_after_another_of_its_file_is_new(
    opened: Callable[[], SessionStore],
) -> None:
    first, second = a_piece("old", path="/r"), a_piece("new", path="/r")
    with opened() as session:
        session.remember(first)
        session.remember(second)
        assert not session.has(first)
        assert session.has(second)


def test_the_parts_of_a_document_do_not_supersede_each_other(
    opened: Callable[[], SessionStore],
) -> None:
    parts = [a_piece("part", path="/r", hash=f"text/{n}") for n in (1, 2)]
    with opened() as session:
        for part in parts:
            session.remember(part)
        assert all(session.has(part) for part in parts)


def test_a_text_that_another_file_still_has_stays_known(
    opened: Callable[[], SessionStore],
) -> None:
    with opened() as session:
        session.remember(a_piece("same", path="/a"))
        session.remember(a_piece("same", path="/b"))
        session.remember(a_piece("changed", path="/a"))
        assert session.has(a_piece("same", path="/b"))
