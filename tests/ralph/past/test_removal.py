from __future__ import annotations

import json
import multiprocessing
import os
from typing import TYPE_CHECKING

import pytest
from making import HANG_SECONDS, know_session, noted, ours, put

from ralph.past.log import AT, a_loop, ends, known, lives, ran, starts
from sisyphus.errors import SisyphusError
from sisyphus.paths import our_home
from sisyphus.ralph import store
from sisyphus.ralph.loop import CANCELLED, Loop
from sisyphus.ralph.past import history, removal
from sisyphus.times import epoch, iso

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sisyphus.ralph.past.records import Record

LOG, ARCHIVE = "logs/sessions.jsonl", "logs/sessions.archive.jsonl"
NOW = epoch(AT) + 3_600


def _ids() -> list[str]:
    return [record.loop_id for record in known()]


def _leaves(home: Path, loop_id: str) -> list[Path]:
    names = (f"transcripts/{loop_id}_full.txt", f"checklists/{loop_id}-checklist.json")
    return [put(ours(home, f"ralph/{name}"), "x") for name in names]


def _paused() -> Loop:
    loop = a_loop()
    loop.pause("user", NOW)
    return starts(lives(loop))


# --- archive ------------------------------------------------------------------------------------


def test_a_lost_loop_is_archived(home: Path) -> None:
    starts(a_loop("lost-"))

    row = removal.archive(our_home(), "lost-", NOW)

    [record] = known()
    assert (record.status, record.outcome, record.ended_at) == ("completed", "archived", iso(NOW))
    assert (record.duration_seconds, record.iterations) == (None, None)
    assert row == record.as_json()
    assert len(ours(home, LOG).read_bytes().splitlines()) == 2


def test_one_whose_start_has_moved_to_the_archive_is_archived(home: Path) -> None:
    starts(a_loop("lost-"))
    ours(home, LOG).rename(ours(home, ARCHIVE))
    removal.archive(our_home(), "lost-", NOW)
    assert [record.result for record in known()] == ["archived"]
    assert known()[0].task == "make the tests pass"


NOT_LOST = [
    pytest.param(lambda: starts(lives(a_loop())), "aaaaa is active: .*`.*ralph cancel aaaaa`",
                 id="active"),
    pytest.param(_paused, "aaaaa is paused: .*`sisyphus ralph cancel aaaaa`", id="paused"),
    pytest.param(lambda: ran(a_loop()), r"has ended already \(success\).*ralph delete aaaaa",
                 id="ended"),
    pytest.param(lambda: starts(a_loop("aaaab")), "no loop 'aaaaa' is known", id="another one"),
]  # fmt: skip


@pytest.mark.parametrize(("play", "said"), NOT_LOST)
def test_what_is_not_lost_is_not_archived(home: Path, play: object, said: str) -> None:
    assert callable(play)
    play()
    before = ours(home, LOG).read_bytes()
    with pytest.raises(SisyphusError, match=said):
        removal.archive(our_home(), "aaaaa", NOW)
    assert ours(home, LOG).read_bytes() == before


def test_it_is_archived_once() -> None:
    starts(a_loop())
    removal.archive(our_home(), "aaaaa", NOW)
    with pytest.raises(SisyphusError, match=r"has ended already \(archived\)"):
        removal.archive(our_home(), "aaaaa", NOW)


def test_what_cannot_be_written_is_said(home: Path) -> None:
    put(ours(home, f"{LOG}.lock/x"), "in the way")
    with pytest.raises(OSError, match="directory"):
        removal.archive(our_home(), "aaaaa", NOW)


def test_the_session_that_has_a_journal_hears_where_it_was_archived(home: Path) -> None:
    starts(a_loop("lost-", "s1"))
    starts(a_loop("lost2", "s2"))
    know_session(ours(home, ""), "s1")
    removal.archive(our_home(), "lost-", NOW, "on the dashboard")
    removal.archive(our_home(), "lost2", NOW, "on the dashboard")

    assert noted(ours(home, "")) == ["loop lost- was archived by the user on the dashboard"]
    assert noted(ours(home, ""), "s2") == []


def test_a_session_whose_name_leads_elsewhere_has_no_journal(home: Path) -> None:
    put(ours(home, "elsewhere.jsonl"), "")
    os.makedirs(ours(home, "logs/journal-"))
    starts(a_loop("lost-", "/../../elsewhere"))
    removal.archive(our_home(), "lost-", NOW)
    assert ours(home, "elsewhere.jsonl").read_text() == ""


# --- delete -------------------------------------------------------------------------------------


def test_a_loop_that_is_over_is_deleted_with_what_it_has_left(home: Path) -> None:
    ran(a_loop("aaaaa", "s1"), CANCELLED)
    ran(a_loop("bbbbb", "s2", minute=1))
    gone, stays = _leaves(home, "aaaaa"), _leaves(home, "bbbbb")

    [row] = removal.delete(our_home(), "aaaaa")

    assert (row["loop_id"], row["outcome"]) == ("aaaaa", "cancelled")
    assert _ids() == ["bbbbb"]
    assert not any(path.exists() for path in gone)
    assert all(path.exists() for path in stays)


def test_a_lost_loop_is_deleted() -> None:
    starts(a_loop())
    removal.delete(our_home(), "aaaaa")
    assert known() == []


REFUSED = [
    pytest.param(lambda: starts(lives(a_loop())), "aaaaa is active, .*ralph cancel aaaaa",
                 id="active"),
    pytest.param(_paused, "aaaaa is paused, .*ralph cancel aaaaa", id="paused"),
    pytest.param(lambda: starts(a_loop("aaaab")), "no loop 'aaaaa' is known", id="another one"),
]  # fmt: skip


@pytest.mark.parametrize(("play", "said"), REFUSED)
def test_what_is_not_over_is_not_deleted_nor_is_what_is_named_with_it(
    home: Path, play: object, said: str
) -> None:
    assert callable(play)
    play()
    ran(a_loop("ended", "s9"))
    before, left = ours(home, LOG).read_bytes(), [*_leaves(home, "aaaaa"), *_leaves(home, "ended")]
    with pytest.raises(SisyphusError, match=said):
        removal.delete(our_home(), "ended", "aaaaa")
    assert ours(home, LOG).read_bytes() == before
    assert all(path.exists() for path in left)


def test_a_loop_that_is_named_twice_is_deleted_once() -> None:
    ran(a_loop())
    assert len(removal.delete(our_home(), "aaaaa", "aaaaa")) == 1


def _other_session() -> None:
    ran(a_loop("aaaaa", "s2", minute=-1))


def _living() -> None:
    starts(lives(a_loop("aaaaa", "s2", minute=-1)))


def _run() -> None:
    path = os.path.join(our_home(), "ralph", "runs", "shop.json")
    os.makedirs(os.path.dirname(path))
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"loop_id": "aaaaa"}, file)


@pytest.mark.parametrize("play", [_other_session, _living, _run])
def test_files_stay_while_something_else_has_the_same_id(home: Path, play: object) -> None:
    assert callable(play)
    play()
    before = _ids()
    ran(a_loop("aaaaa", "s1"))
    left = _leaves(home, "aaaaa")

    removal.delete(our_home(), "aaaaa")

    assert _ids() == before
    assert all(path.exists() for path in left)


def test_all_that_is_over_is_deleted_and_nothing_else(home: Path) -> None:
    ran(a_loop("ended", "s1"))
    starts(a_loop("lost-", "s2", minute=1))
    starts(lives(a_loop("alive", "s3", minute=2)))
    ran(a_loop("alive", "s4", minute=3))
    put(ours(home, ARCHIVE), b"not of a loop\n")
    gone = [*_leaves(home, "ended"), *_leaves(home, "lost-")]
    stays = _leaves(home, "alive")

    rows = removal.delete_archived(our_home())

    assert [row["session_id"] for row in rows] == ["s4", "s2", "s1"]
    assert [(record.loop_id, record.session_id) for record in known()] == [("alive", "s3")]
    assert ours(home, ARCHIVE).read_bytes() == b"not of a loop\n"
    assert not any(path.exists() for path in gone)
    assert all(path.exists() for path in stays)


def test_where_nothing_is_over_nothing_is_written(home: Path) -> None:
    starts(lives(a_loop()))
    before = ours(home, LOG).stat()
    assert removal.delete_archived(our_home()) == []
    assert ours(home, LOG).stat().st_ino == before.st_ino


def test_a_loop_of_before_does_not_come_back_with_the_next_rotation(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "LOG_BYTES", 4_000)
    for number in range(40):
        ran(a_loop(f"f{number:04}", f"s{number}", minute=number))
    assert ours(home, ARCHIVE).exists()
    removal.delete(our_home(), "f0000", "f0039")
    for number in range(40, 80):
        ran(a_loop(f"f{number:04}", f"s{number}", minute=number))
    assert set(_ids()) == {f"f{number:04}" for number in range(80)} - {"f0000", "f0039"}


# --- what was shown and agreed to ---------------------------------------------------------------


def _goes_on(loop: Loop) -> None:
    """It is taken up again and ends once more."""
    starts(loop)
    ends(loop, after=3_600)


def _shown(*ids: str) -> list[Record]:
    return [record for record in known() if record.loop_id in ids]


def test_of_all_that_are_over_those_go_that_were_shown() -> None:
    ran(a_loop("ended", "s1"))
    starts(a_loop("lost-", "s2"))
    again = ran(a_loop("again", "s3"))
    alive = starts(lives(a_loop("alive", "s4")))
    shown = [record for record in known() if not record.is_active]
    ends(alive)
    os.unlink(store.loop_path(our_home(), alive.session_id))
    ran(a_loop("newer", "s5"))
    _goes_on(again)

    gone = removal.delete_archived(our_home(), removal.as_shown(shown))

    assert sorted(row["loop_id"] for row in gone) == ["ended", "lost-"]
    assert sorted(_ids()) == ["again", "alive", "newer"]


def test_a_loop_is_deleted_as_it_was_shown_though_a_newer_one_has_its_id() -> None:
    ran(a_loop("aaaaa", "s1"))
    shown = _shown("aaaaa")
    ran(a_loop("aaaaa", "s2", minute=5))
    removal.delete_shown(our_home(), shown)
    assert [record.session_id for record in known()] == ["s2"]


CHANGED = [
    pytest.param(lambda loop: starts(lives(loop)), "aaaaa is active, so nothing", id="active"),
    pytest.param(_goes_on, "aaaaa has changed since it was shown, so nothing", id="ended again"),
    pytest.param(lambda _: removal.delete(our_home(), "aaaaa"), "no loop 'aaaaa'", id="gone"),
]


@pytest.mark.parametrize(("play", "said"), CHANGED)
def test_what_is_something_else_by_now_is_not_deleted_nor_is_what_was_shown_with_it(
    play: Callable[[Loop], object], said: str
) -> None:
    loop = ran(a_loop())
    ran(a_loop("bbbbb", "s2"))
    shown = _shown("aaaaa", "bbbbb")
    play(loop)
    before = _ids()
    with pytest.raises(SisyphusError, match=said):
        removal.delete_shown(our_home(), shown)
    assert _ids() == before


# --- at the same time ---------------------------------------------------------------------------


def _play(name: str) -> None:
    for number in range(60):
        loop = a_loop(f"{name}{number:04}", f"s-{name}", minute=number)
        loop.prompt = "😀" * 2_000
        ran(loop)


def test_what_others_write_meanwhile_is_kept_while_lines_move_and_go() -> None:
    for number in range(30):
        ran(a_loop(f"old{number:02}", f"s-{number}"))
    fork = multiprocessing.get_context("fork")
    writers = [fork.Process(target=_play, args=[name]) for name in "abc"]
    for writer in writers:
        writer.start()
    for number in range(30):
        removal.delete(our_home(), f"old{number:02}")
    for writer in writers:
        writer.join(HANG_SECONDS)

    assert sorted(_ids()) == [f"{name}{number:04}" for name in "abc" for number in range(60)]
    assert {record.result for record in known()} == {"success"}


def test_a_loop_that_was_deleted_may_begin_again() -> None:
    loop = ran(a_loop())
    removal.delete(our_home(), "aaaaa")
    starts(lives(loop))
    assert [record.status for record in known()] == ["active"]
