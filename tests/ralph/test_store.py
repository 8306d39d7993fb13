from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import pytest
from making import ours, put, stored

from sisyphus.errors import NewerVersionError
from sisyphus.ralph import statefile, store
from sisyphus.ralph.loop import Loop
from sisyphus.ralph.store import LoopStore

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "ralph/loops"
CURRENT = f"{FOLDER}/ralph-loop.s1.local.md"
MEMORY = f"{FOLDER}/session-s1.json"


def _loop(loop_id: str = "aaaaa", prompt: str = "do it", session: str = "s1") -> Loop:
    return Loop(session, loop_id, prompt)


def _outer(loop_id: str) -> str:
    return f"{FOLDER}/ralph-loop.s1.{loop_id}.outer.md"


@pytest.fixture
def folder(home: Path) -> str:
    return str(ours(home, ""))


def _save(folder: str, *loops: Loop) -> None:
    with LoopStore(folder, "s1") as held:
        held.save(loops)


def _ids(folder: str, session: str = "s1") -> list[str]:
    with LoopStore(folder, session) as held:
        return [loop.loop_id for loop in held.loops]


def _names(home: Path) -> list[str]:
    names = (path.name for path in ours(home, FOLDER).iterdir())
    return sorted(name for name in names if not name.endswith(".lock"))


def test_a_session_without_a_loop_has_no_file(folder: str, home: Path) -> None:
    assert not store.has_loop(folder, "s1")
    assert store.glance(folder, "s1").is_new
    assert not ours(home, FOLDER).exists()

    with LoopStore(folder, "s1") as held:
        held.save([])
    assert _names(home) == []


def test_a_loop_lies_in_a_file_of_its_session(folder: str, home: Path) -> None:
    _save(folder, _loop(prompt="a\r\n$x"))

    assert store.has_loop(folder, "s1")
    assert ours(home, CURRENT).read_bytes().endswith(b"\n---\n\na\r\n$x")
    assert ours(home, CURRENT).stat().st_mode & 0o077 == 0
    assert not store.has_loop(folder, "s2")
    assert _ids(folder, "s2") == []


def test_an_ended_loop_has_no_file(folder: str, home: Path) -> None:
    _save(folder, _loop())
    _save(folder)

    assert not store.has_loop(folder, "s1")
    assert _names(home) == []


def test_outer_loops_wait_in_files_of_their_own(folder: str, home: Path) -> None:
    _save(folder, _loop("aaaaa"), _loop("bbbbb"), _loop("ccccc"))

    assert _names(home) == [
        "ralph-loop.s1.aaaaa.outer.md",
        "ralph-loop.s1.bbbbb.outer.md",
        "ralph-loop.s1.local.md",
    ]
    assert _ids(folder) == ["aaaaa", "bbbbb", "ccccc"]


def test_the_outer_loop_becomes_the_current_one_again(folder: str, home: Path) -> None:
    outer = _loop("zzzzz")
    _save(folder, outer, _loop("bbbbb"))
    _save(folder, outer)

    assert _names(home) == ["ralph-loop.s1.local.md"]
    assert _ids(folder) == ["zzzzz"]


def test_an_outer_loop_goes_on_where_somebody_removed_the_current_one(
    folder: str, home: Path
) -> None:
    _save(folder, _loop("aaaaa"), _loop("bbbbb"))
    ours(home, CURRENT).unlink()

    assert store.has_loop(folder, "s1")
    assert _ids(folder) == ["aaaaa"]


def test_a_loop_that_lies_twice_is_the_current_one(folder: str, home: Path) -> None:
    """As a writer leaves it that is killed between two renames."""
    _save(folder, _loop("aaaaa"))
    put(ours(home, _outer("aaaaa")), ours(home, CURRENT).read_bytes())

    with LoopStore(folder, "s1") as held:
        assert [loop.loop_id for loop in held.loops] == ["aaaaa"]
        held.save(held.loops)
    assert _names(home) == ["ralph-loop.s1.local.md"]


def test_sessions_with_similar_names_do_not_mix(folder: str) -> None:
    with LoopStore(folder, "s1.aaaaa") as held:
        held.save([_loop("bbbbb", session="s1.aaaaa"), _loop("ccccc", session="s1.aaaaa")])

    assert not store.has_loop(folder, "s1")
    assert _ids(folder) == []
    assert _ids(folder, "s1.aaaaa") == ["bbbbb", "ccccc"]


def test_what_has_not_changed_is_not_written(folder: str, home: Path) -> None:
    _save(folder, _loop())
    before = ours(home, CURRENT).stat()

    with LoopStore(folder, "s1") as held:
        held.save(held.loops)

    assert ours(home, CURRENT).stat().st_ino == before.st_ino


def test_the_memory_is_kept_with_fields_of_others(folder: str, home: Path) -> None:
    put(ours(home, MEMORY), '{"version": 1, "blocks": 2, "from_a_friend": 7}')

    with LoopStore(folder, "s1") as held:
        held.memory.blocks += 1
        held.save_memory()

    assert stored(ours(home, MEMORY))["from_a_friend"] == 7
    assert store.glance(folder, "s1").blocks == 3


def test_the_path_of_a_loop_is_where_it_lies(folder: str, home: Path) -> None:
    outer, inner = _loop("aaaaa"), _loop("bbbbb")
    with LoopStore(folder, "s1") as held:
        held.save([outer, inner])

        assert held.path(inner) == str(ours(home, CURRENT))
        assert held.path(outer) == str(ours(home, _outer("aaaaa")))


SPOILT = [
    pytest.param(b"", "no header", id="empty"),
    pytest.param(b"\0", "no header", id="one NUL"),
    pytest.param(b"\xff\xfe", "can't decode", id="not UTF-8"),
    pytest.param(b"---\nversion: 1\n", "no header", id="cut"),
    pytest.param(b"---\nsession_id: []\n---\n", "session_id is []", id="wrong fields"),
    pytest.param(
        b'---\nsession_id: "s2"\nloop_id: "aaaaa"\n---\n\ngo', "another session's", id="foreign"
    ),
    pytest.param(b'---\nsession_id: ""\nloop_id: "aaaaa"\n---\n\ngo', "no session", id="nobody's"),
]


@pytest.mark.parametrize(("data", "why"), SPOILT)
def test_what_holds_no_loop_of_the_session_is_set_aside(
    folder: str, home: Path, data: bytes, why: str
) -> None:
    put(ours(home, CURRENT), data)

    with LoopStore(folder, "s1") as held:
        assert held.loops == []
        assert why in held.faults[0]

    (kept,) = ours(home, FOLDER).glob("*.corrupt-*")
    assert kept.read_bytes() == data
    assert not store.has_loop(folder, "s1")


@pytest.mark.parametrize("kind", ["folder", "fifo", "too large"])
def test_what_is_no_file_is_set_aside_too(folder: str, home: Path, kind: str) -> None:
    path = ours(home, CURRENT)
    path.parent.mkdir(parents=True)
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.touch()
        os.truncate(path, store.LOOP_BYTES + 1)

    assert _ids(folder) == []
    assert len([*path.parent.glob("*.corrupt-*")]) == 1


NEWER = [
    pytest.param(CURRENT, b"---\nversion: 99\nx: y\n---\n", id="the loop"),
    pytest.param(MEMORY, b'{"version": 99}', id="the memory"),
]


@pytest.mark.parametrize(("name", "data"), NEWER)
def test_a_newer_version_is_left_alone_and_its_lock_free(
    folder: str, home: Path, name: str, data: bytes
) -> None:
    path = put(ours(home, name), data)

    for _ in range(2):
        with pytest.raises(NewerVersionError), LoopStore(folder, "s1"):
            pass
    assert path.read_bytes() == data


def test_a_file_that_somebody_removed_meanwhile_is_no_fault(folder: str, home: Path) -> None:
    _save(folder, _loop())
    with LoopStore(folder, "s1") as held:
        ours(home, CURRENT).unlink()
        held.save([])

    assert not store.has_loop(folder, "s1")


def test_prompts_with_half_a_character_survive(folder: str) -> None:
    _save(folder, _loop(prompt="a\ud83d"))

    with LoopStore(folder, "s1") as held:
        assert held.loops[0].prompt == "a\ud83d"


def test_no_update_of_many_at_once_is_lost(folder: str, home: Path) -> None:
    _save(folder, _loop())

    def work() -> None:
        for _ in range(10):
            with LoopStore(folder, "s1") as held:
                held.loops[0].advance()
                held.save(held.loops)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert statefile.parse(ours(home, CURRENT).read_text()).iteration == 41
