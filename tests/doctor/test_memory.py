"""What `sisyphus doctor` says of the memory."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest
from making import put, run_hook

from doctor.scene import NOW, told
from sisyphus.doctor import memory

if TYPE_CHECKING:
    from pathlib import Path

    from doctor.scene import Scene

SHOWN = "~/.claude/.sisyphus/sisyphus.db"


def _filled(scene: Scene) -> Path:
    start = {"session_id": "s1", "cwd": str(scene.project), "source": "startup"}
    assert run_hook("session-start", start)[0] == 0
    return scene.ours / "sisyphus.db"


def _change(path: Path, statement: str) -> None:
    database = sqlite3.connect(path)
    with database:
        database.execute(statement)
    database.close()


def test_none_is_made_by_looking(scene: Scene) -> None:
    (found,) = memory.check(scene.case())
    assert (found.state, found.text) == ("ok", f"{SHOWN} is made by the first hook")
    assert [one.text for one in memory.queue(scene.case())] == ["empty"]
    assert not (scene.ours / "sisyphus.db").exists()


def test_its_size_and_its_sessions_are_told(scene: Scene) -> None:
    _filled(scene)
    (found,) = memory.check(scene.case())
    assert found.state == "ok"
    assert found.text.startswith(f"{SHOWN}, 0.")
    assert found.text.endswith("MB, 1 session")


def test_a_newer_one_is_off(scene: Scene) -> None:
    _change(_filled(scene), "PRAGMA user_version = 99")
    (found,) = memory.check(scene.case())
    assert (found.state, found.hint) == ("warning", "Install that sisyphus again, or a newer one")
    assert "off: " in found.text


def test_an_unreadable_one_is_left_for_a_hook_which_sets_it_aside(scene: Scene) -> None:
    path = put(scene.ours / "sisyphus.db", "no database, " * 100)
    (found,) = memory.check(scene.case())
    assert found.text == f"{SHOWN} is unreadable: file is not a database"
    assert path.exists()

    _filled(scene)
    aside, now = memory.check(scene.case())
    assert aside.text.startswith(f"{SHOWN}.corrupt-")
    assert aside.text.endswith(" was unreadable and set aside")
    assert f"`rm {SHOWN}.corrupt-" in aside.hint
    assert now.state == "ok"


def test_a_damaged_one_is_told(scene: Scene) -> None:
    path = _filled(scene)
    data = bytearray(path.read_bytes())
    data[8_192:20_480] = b"\xff" * 12_288
    path.write_bytes(data)
    (found,) = memory.check(scene.case())
    assert found.state != "ok"


def test_without_a_home_it_is_off(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setenv("HOME", "")
    (found,) = memory.check(scene.case())
    assert (found.state, found.text) == ("problem", "off: there is no home folder to keep it in")


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        pytest.param(1, [], id="it may be resumed"),
        pytest.param(
            31, [("warning", "texts wait for 1 session of over 30 days ago")], id="long over"
        ),
    ],
)
def test_texts_that_wait_are_told(scene: Scene, days: int, expected: list[tuple[str, str]]) -> None:
    path = _filled(scene)
    columns = "session, seq, kind, path, hash, head, body, tail, late_head"
    values = "n, 1, 'rules', '', '', '', 'x', '', ''"
    _change(path, f"INSERT INTO waiting ({columns}) SELECT {values} FROM session")
    _change(path, f"UPDATE session SET seen_at = {NOW - days * 86_400}")
    assert told(memory.queue(scene.case())) == expected


def test_what_earlier_versions_left_is_named_once(scene: Scene) -> None:
    assert not list(memory.earlier(scene.case()))
    put(scene.ours / "queue/s1.json", "{}")
    put(scene.ours / "logs/journal-s1.jsonl", "")
    (found,) = memory.earlier(scene.case())
    assert found.state == "ok"
    ours = "~/.claude/.sisyphus"
    assert found.hint == f"`rm -r {ours}/queue {ours}/logs/journal-*`"
