from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from making import put, stored

from dashboard.contexts import NOW, Sessions
from sisyphus.checkpoint import handoffs as book
from sisyphus.dashboard.failures import FailedError
from sisyphus.dashboard.views import handoffs as view
from sisyphus.dashboard.views.handoffs import handoff, handoffs
from sisyphus.paths import project_id
from sisyphus.times import iso

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json
    from sisyphus.dashboard.desk import Desk

TEXT = "# Handoff: ship it\n\n## Next Step\n\nWrite the tests\n"


@pytest.fixture
def world(home: Path, project: Path) -> Sessions:
    made = Sessions(home, project)
    made.seen()
    return made


def _one(desk: Desk) -> Json:
    (found,) = handoffs(desk)
    return found


def _whole(desk: Desk) -> Json:
    row = _one(desk)
    return handoff(desk, row["project_id"], row["id"])


def test_a_handoff_is_told_of(world: Sessions, desk: Desk) -> None:
    world.hand_over(task="Ship it", loop_id="abc12", iteration=3, occasion="level")
    found = _one(desk)
    assert (
        found
        | {
            "at": NOW,
            "session_id": "s1",
            "project": str(world.project),
            "project_id": project_id(str(world.project)),
            "state": "waiting",
            "level": "L2",
            "percent": 86,
            "next_step": "Write the tests",
            "given_to": "",
            "given_at": None,
            "loop_id": "abc12",
            "iteration": 3,
        }
        == found
    )


def test_where_nothing_was_handed_over_there_is_none(world: Sessions, desk: Desk) -> None:
    assert world.project.is_dir()
    assert handoffs(desk) == []


STATES = [
    pytest.param({"active": True}, "waiting", id="nobody was given it"),
    pytest.param({"active": False, "closed": "delivered"}, "delivered", id="somebody was"),
    pytest.param({"active": False, "closed": "superseded"}, "superseded", id="another came"),
    pytest.param({"active": False, "closed": "done"}, "done", id="it is needed no more"),
    pytest.param({"active": True, "closed": "delivered"}, "waiting", id="it was given back"),
    pytest.param({"active": False}, "done", id="nobody knows why"),
    pytest.param({"active": False, "closed": ["x"]}, "done", id="nonsense"),
]


@pytest.mark.parametrize(("fields", "state"), STATES)
def test_its_state_is_what_became_of_it(
    world: Sessions, desk: Desk, fields: dict[str, Any], state: str
) -> None:
    world.hand_over(**fields)
    assert _one(desk)["state"] == state


def test_who_was_given_it_is_told(world: Sessions, desk: Desk) -> None:
    world.hand_over()
    root = str(world.project)
    book.take(world.ours, root, book.of_session("s1"), "s2", iso(NOW + 60))
    book.note_used(world.ours, root, "s2")
    found = _one(desk)
    assert (found["given_to"], found["given_at"], found["is_used"]) == ("s2", NOW + 60, True)


def test_the_latest_one_comes_first_and_a_session_has_its_own(world: Sessions, desk: Desk) -> None:
    for number, session in enumerate(["s1", "s3", "s2"]):
        world.hand_over(session, timestamp=iso(NOW + 60 * number))
    book.take(world.ours, str(world.project), book.of_session("s2"), "s1", iso(NOW + 300))
    assert [row["session_id"] for row in handoffs(desk)] == ["s2", "s3", "s1"]
    assert [row["session_id"] for row in handoffs(desk, "s1")] == ["s2", "s1"]


def test_few_are_listed(world: Sessions, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "MOST", 2)
    for number in range(3):
        world.hand_over(f"s{number}", timestamp=iso(NOW + number))
    assert [row["session_id"] for row in handoffs(desk)] == ["s2", "s1"]


def test_the_text_is_read_where_it_is_asked_for(world: Sessions, desk: Desk) -> None:
    world.hand_over()
    put(world.project / ".claude/handoffs/a.md", TEXT)
    assert "text" not in _one(desk)
    assert handoffs(desk, texts=1)[0]["text"] == TEXT
    assert (_whole(desk)["text"], _whole(desk)["problem"]) == (TEXT, "")


def test_one_that_could_not_lie_in_the_project_is_read_from_our_folder(
    world: Sessions, desk: Desk
) -> None:
    folder = world.home / ".claude/.sisyphus/projects" / project_id(str(world.project))
    world.hand_over(handoff_file=str(put(folder / "handoffs/a.md", TEXT)))
    assert _whole(desk)["text"] == TEXT


ELSEWHERE = [
    pytest.param("/etc/passwd", id="any file"),
    pytest.param("{home}/secret.md", id="a document elsewhere"),
    pytest.param("../../secret.md", id="upwards"),
    pytest.param(".claude/handoffs/../../secret.md", id="upwards behind the folder"),
    pytest.param("secret.md", id="elsewhere in the project"),
    pytest.param(".claude/handoffs/link.md", id="a link out of the folder"),
    pytest.param(".claude/handoffs/pipe.md", id="a pipe"),
    pytest.param(".claude/handoffs/large.md", id="a huge file"),
    pytest.param(".claude/handoffs/raw.md", id="no text"),
    pytest.param(".claude/handoffs/gone.md", id="a file that is gone"),
    pytest.param(".claude/handoffs/a.txt", id="no document"),
    pytest.param(".claude/handoffs/\0.md", id="no path"),
    pytest.param(".claude/handoffs/\ud800.md", id="half a character"),
    pytest.param("x" * 10_000 + ".md", id="a path that is too long"),
    pytest.param("", id="none"),
]


@pytest.mark.parametrize("file", ELSEWHERE)
def test_what_is_no_handoff_is_not_shown(world: Sessions, desk: Desk, file: str) -> None:
    folder = world.project / ".claude" / "handoffs"
    for path in (world.home / "secret.md", world.project / "secret.md", folder / "a.txt"):
        put(path, "secret")
    (folder / "link.md").symlink_to(world.home / "secret.md")
    os.mkfifo(folder / "pipe.md")
    put(folder / "large.md", "x" * (view.TEXT_BYTES + 1))
    put(folder / "raw.md", b"\xff\xfe")
    world.hand_over(handoff_file=file.format(home=world.home))
    found = _whole(desk)
    assert found["text"] == ""
    assert found["problem"]


def test_a_folder_that_leaves_the_project_is_not_looked_into(world: Sessions, desk: Desk) -> None:
    put(world.home / "elsewhere" / "a.md", "secret")
    (world.project / ".claude").mkdir()
    (world.project / ".claude" / "handoffs").symlink_to(world.home / "elsewhere")
    world.hand_over()
    assert "leaves" in _whole(desk)["problem"]


ODD = [
    pytest.param({"level": ["L2"], "next_step": 7, "given_to": None}, id="texts"),
    pytest.param({"percent_at_checkpoint": "86", "iteration": True}, id="numbers"),
    pytest.param({"timestamp": "noon", "given_at": []}, id="times"),
    pytest.param({"next_step": "half \ud800", "task": "x" * 9_000}, id="characters"),
]


@pytest.mark.parametrize("fields", ODD)
def test_whatever_a_record_holds_it_can_be_told(
    world: Sessions, desk: Desk, fields: dict[str, Any]
) -> None:
    path = world.home / ".claude/.sisyphus/projects" / project_id(str(world.project))
    world.hand_over()
    found = stored(path / "handoffs.json")
    found["handoffs"][0] |= fields
    put(path / "handoffs.json", json.dumps(found))
    row = _one(desk)
    assert all(len(value) <= 2_000 for value in row.values() if isinstance(value, str))
    assert json.dumps(row, ensure_ascii=False).encode()
    assert row["percent"] in (86, None)


@pytest.mark.parametrize(("known_as", "named"), [("shop-12", ""), ("..", "../x"), ("", "")])
def test_of_an_unknown_project_there_is_none(
    world: Sessions, desk: Desk, known_as: str, named: str
) -> None:
    world.hand_over()
    with pytest.raises(FailedError, match="no such handoff is known"):
        handoff(desk, known_as, named or _one(desk)["id"])


def test_nor_is_there_an_unknown_one_of_a_known_project(world: Sessions, desk: Desk) -> None:
    world.hand_over()
    with pytest.raises(FailedError, match="no such handoff is known"):
        handoff(desk, project_id(str(world.project)), "0" * 16)
