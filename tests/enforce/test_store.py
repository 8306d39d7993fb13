from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from making import at_once, debug_log, put

from enforce.desk import Desk
from sisyphus.enforce import gates, log, marks, store
from sisyphus.enforce.store import Book
from sisyphus.errors import NewerVersionError

if TYPE_CHECKING:
    from pathlib import Path


def test_without_a_file_it_is_off_and_nothing_is_made(home: Path, project: Path) -> None:
    assert not store.is_on(Desk(home, project).space())
    assert not (home / ".claude").exists()


def test_it_is_on_for_one_project(desk: Desk, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)

    assert store.is_on(desk.space())
    assert not store.is_on(Desk(desk.home, other).space())


def test_a_linked_worktree_is_its_own_project(desk: Desk, tmp_path: Path) -> None:
    worktree = tmp_path / "worktree"
    put(worktree / ".git", f"gitdir: {desk.project}/.git/worktrees/worktree\n")

    assert not store.is_on(Desk(desk.home, worktree).space())


def test_where_the_feature_is_switched_off_it_is_off(desk: Desk) -> None:
    assert (store.is_on(desk.space()), store.seems_on(desk.space())) == (True, True)

    desk.set(enabled=False)

    assert (store.is_on(desk.space()), store.seems_on(desk.space())) == (False, False)


@pytest.mark.parametrize("text", ["", "{", "[1]", "null", "{}x"])
def test_what_cannot_be_read_is_set_aside_and_told_once(desk: Desk, text: str) -> None:
    desk.state_path.write_text(text)

    with pytest.raises(store.SetAsideError, match="was set aside"):
        store.is_on(desk.space())

    assert not store.is_on(desk.space())
    [kept] = desk.state_path.parent.glob("enforce.json.corrupt-*")
    assert kept.read_text() == text
    assert "set aside unreadable state" in debug_log(desk.home)


@pytest.mark.parametrize("event", ["idle", "pre-compact", "session-end"])
def test_who_cannot_tell_the_user_leaves_it_to_who_can(desk: Desk, event: str) -> None:
    desk.state_path.write_text("{")

    outcome = desk.event(event, hook_event_name="Stop")

    assert outcome.messages == []
    assert desk.state_path.read_text() == "{"
    assert desk.stop().messages[0].startswith("[ENFORCEMENT OFF]\n\nthe state of continuous enf")
    assert desk.stop().messages == []


def test_what_another_process_set_aside_is_told_by_that_one(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "read_json", lambda _: None)

    assert store.is_on(desk.space())


def test_a_record_of_a_newer_version_is_left_alone(desk: Desk) -> None:
    text = json.dumps({"version": 99, "on": True})
    desk.state_path.write_text(text)

    with pytest.raises(NewerVersionError), Book(desk.space()):
        pass

    assert desk.state_path.read_text() == text
    with pytest.raises(NewerVersionError), Book(desk.space()):  # the lock is free
        pass


def test_unknown_fields_stay(desk: Desk) -> None:
    state = desk.state
    state["theirs"], state["sessions"]["s1"]["theirs"] = 1, 2
    desk.state_path.write_text(json.dumps(state))

    desk.says()

    assert (desk.state["theirs"], desk.entry()["theirs"], desk.state["version"]) == (1, 2, 1)


def test_its_files_are_the_users_alone(desk: Desk) -> None:
    desk.stop()

    for path in (desk.state_path, *desk.state_path.parent.glob("enforcements.jsonl")):
        assert path.stat().st_mode & 0o777 == 0o600
    tools = marks.tools_path(desk.ours, "s1")
    assert os.stat(tools).st_mode & 0o777 == 0o600
    assert os.stat(os.path.dirname(tools)).st_mode & 0o777 == 0o700


def test_a_log_that_cannot_be_written_spoils_nothing(desk: Desk) -> None:
    os.unlink(log.log_path(desk.space()))
    os.mkdir(log.log_path(desk.space()))

    with Book(desk.space()) as book:
        book.enforce("s1", gates.CLAIM, "x")
        book.save()

    assert desk.entry()["iteration"] == 1
    assert "enforcements not logged" in debug_log(desk.home)


class _Enforces:
    """What a forked process does for one session."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def __call__(self, session: str) -> None:
        with Book(self.desk.space()) as book:
            book.settle(session)
            entry = book.record.entry(session)
            found = gates.every(entry, book.now, book.limits, gates.CLAIM)
            if gates.closed(found) is None:
                book.enforce(session, gates.CLAIM, "x")
            book.save()


def test_twenty_at_once_lose_no_count(desk: Desk) -> None:
    sessions = [f"s{n}" for n in range(20)]

    at_once(_Enforces(desk), sessions)

    assert desk.state["iteration"] == 20
    assert [desk.entry(session)["iteration"] for session in sessions] == [1] * 20
    assert desk.whats.count("enforced") == 20


def test_of_twenty_of_one_session_one_is_enforced(desk: Desk) -> None:
    at_once(_Enforces(desk), ["s1"] * 20)

    assert (desk.state["iteration"], desk.entry()["failureCount"]) == (1, 0)
