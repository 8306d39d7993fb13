from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import put

from doctor.scene import NOW, told
from sisyphus.doctor import files
from sisyphus.errors import UnreadableError

if TYPE_CHECKING:
    from pathlib import Path

    from doctor.scene import Scene


ASIDE = [
    pytest.param("../.boulder.json", "`sisyphus boulder start`", id="the plan in use"),
    pytest.param("projects/p/plans.json", "`sisyphus boulder start`", id="a book of plans"),
    pytest.param("ralph/loops/ralph-loop.s.local.md", "`sisyphus ralph start`", id="a loop"),
    pytest.param("installs.json", "`sisyphus install`", id="installs"),
    pytest.param("checkpoint/s.json", "Nothing needs it any more", id="a session"),
]


@pytest.mark.parametrize(("name", "hint"), ASIDE)
def test_what_was_set_aside_is_told_with_what_mends_it(scene: Scene, name: str, hint: str) -> None:
    put(scene.ours / f"{name}.corrupt-20270101T000000Z", "{")

    (found,) = files.states(scene.case())

    assert found.state == "warning"
    assert found.text.endswith(".corrupt-20270101T000000Z was unreadable and set aside")
    assert found.hint.startswith(hint)
    assert found.fix is None


def test_what_was_set_aside_in_the_project_is_told(scene: Scene) -> None:
    put(scene.project / "docs/kord/boulder.json.corrupt-$(x)", "{")

    (found,) = files.states(scene.case())

    assert found.text.startswith("docs/kord/boulder.json.corrupt-")
    assert "`rm 'docs/kord/boulder.json.corrupt-$(x)'`" in found.hint


STATE = "~/.claude/.sisyphus/checkpoint/a.json"
CONTENTS = [
    pytest.param('{"version": 1}', [], id="of this version"),
    pytest.param("{}", [], id="of none"),
    pytest.param('{"version": "9"}', [], id="no number"),
    pytest.param('{"version": true}', [], id="no number either"),
    pytest.param(
        '{"version": 2}',
        [f"1 file of a newer sisyphus, {STATE} first: left alone"],
        id="newer",
    ),
    pytest.param("{", [f"1 file unreadable, {STATE} first"], id="half"),
    pytest.param("[]", [f"1 file unreadable, {STATE} first"], id="a list"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "expected"), CONTENTS)
def test_state_that_cannot_be_used(scene: Scene, content: str, expected: list[str]) -> None:
    put(scene.ours / "checkpoint/a.json", content)

    assert told(files.states(scene.case())) == [("warning", text) for text in expected]


@pytest.mark.parametrize("name", ["replaced/0123-settings.json", "notes.json", "mine/a.json"])
@pytest.mark.parametrize("content", ["", '{"version": 2}'])
def test_what_is_no_state_of_ours_is_not_judged(scene: Scene, name: str, content: str) -> None:
    put(scene.ours / name, content)

    assert told(files.states(scene.case())) == []


@pytest.mark.parametrize("name", ["installs.json", "../.boulder.json", "projects/p/plans.json"])
def test_state_is_judged_wherever_it_is(scene: Scene, name: str) -> None:
    put(scene.ours / name, "{")

    assert len(told(files.states(scene.case()))) == 1


def test_what_cannot_be_removed_holds_up_no_other(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (_aged(put(scene.ours / f"{name}.tmp", "{"), 7_200) for name in "ab")
    (found,) = files.remains(scene.case())
    unlink = os.unlink

    def refusing(path: str) -> None:
        if path == str(first):
            raise PermissionError(path)
        unlink(path)

    monkeypatch.setattr(os, "unlink", refusing)

    assert found.fix is not None
    with pytest.raises(PermissionError):
        found.fix()
    assert (first.exists(), second.exists()) == (True, False)


def test_one_that_cannot_be_read_holds_up_no_other(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(path: str, limit: int) -> bytes:
        raise UnreadableError(f"{path}: {limit}")

    _aged(put(scene.ours / "enforce/s.waiter", "4194999-0123"), 7_200)
    monkeypatch.setattr(files, "read_head", refusing)

    assert told(files.remains(scene.case())) == []


def _aged(path: Path, seconds: float) -> Path:
    os.utime(path, (NOW - seconds, NOW - seconds))
    return path


def test_what_killed_writers_left_is_removed(scene: Scene) -> None:
    old = _aged(put(scene.ours / "sessions/s.json.tmp", "{"), 7_200)
    beside = _aged(put(scene.claude / ".boulder.json.tmp", "{"), 7_200)
    new = _aged(put(scene.ours / "b.json.tmp", "{"), 60)
    other = _aged(put(scene.ours / "b.json", "{}"), 7_200)

    (found,) = files.remains(scene.case())

    assert found.text.startswith("2 files of processes that were killed, ~/.claude/.boulder.json")
    assert found.fix is not None
    assert found.fix() == "removed 2 leftovers"
    assert [path.exists() for path in (old, beside, new, other)] == [False, False, True, True]
    assert told(files.remains(scene.case())) == []


def test_a_writer_that_came_meanwhile_keeps_its_file(scene: Scene) -> None:
    path = _aged(put(scene.ours / "a.json.tmp", "{"), 7_200)
    (found,) = files.remains(scene.case())
    _aged(path, 0)

    assert found.fix is not None
    assert found.fix() == "removed 0 leftovers"
    assert path.exists()


WAITERS = [
    pytest.param("4194999-0123", True, id="of a process that has ended"),
    pytest.param(f"{os.getpid()}-0123", False, id="of one that runs"),
    pytest.param("", False, id="empty"),
    pytest.param("9" * 50, False, id="no process"),
]


@pytest.mark.parametrize(("token", "is_left"), WAITERS)
def test_the_files_of_those_who_wait(scene: Scene, token: str, is_left: bool) -> None:
    _aged(put(scene.ours / "enforce/s.waiter", token), 7_200)

    assert bool(told(files.remains(scene.case()))) is is_left


def test_links_and_folders_are_no_leftovers(scene: Scene) -> None:
    (scene.ours / "folder.tmp").mkdir(parents=True)
    _aged(scene.ours / "folder.tmp", 7_200)
    (scene.ours / "link.tmp").symlink_to("/no/such")

    assert told(files.remains(scene.case())) == []
