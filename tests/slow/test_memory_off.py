"""A memory that cannot be used, or no more: hooks go on, hold nobody, and send only what cannot
have been sent before."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from doors import COMMAND, Door, put, rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

pytestmark = pytest.mark.slow

WITHOUT = "goes on without its memory"
AS_ANYBODY = (
    ("setpriv", "--bounding-set=-all", "--inh-caps=-all", *COMMAND) if os.getuid() == 0 else COMMAND
)
"""Root may write where it has no right to."""


@pytest.fixture
def door(project: Path, home: Path) -> Door:
    put(project / "a.py", "x = 1\n")
    put(project / "README.md", "MARK-README\n")
    rule(project, "one", "MARK-ONE")
    return Door(project, home / ".claude")


def no_home(_: Door) -> dict[str, str]:
    return {"HOME": "", "CLAUDE_CONFIG_DIR": ""}


def a_file_as_home(door: Door) -> dict[str, str]:
    return {"CLAUDE_CONFIG_DIR": str(put(door.project.parent / "file", ""))}


def a_folder_as_database(door: Door) -> dict[str, str]:
    door.database.mkdir(parents=True)
    return {}


def a_newer_memory(door: Door) -> dict[str, str]:
    door.hook("stop", "another")
    database = sqlite3.connect(door.database)
    database.execute("PRAGMA user_version = 99")
    database.close()
    return {}


def a_read_only_home(door: Door) -> dict[str, str]:
    door.home.mkdir(parents=True)
    door.home.chmod(0o500)
    return {}


def a_read_only_folder(door: Door) -> dict[str, str]:
    door.hook("stop", "another")
    door.ours.chmod(0o500)
    return {}


def no_rights(door: Door) -> dict[str, str]:
    door.hook("stop", "another")
    door.database.chmod(0)
    return {}


OFF: list[Callable[[Door], dict[str, str]]] = [
    no_home, a_file_as_home, a_folder_as_database, a_newer_memory, a_read_only_home,
    a_read_only_folder, no_rights,
]  # fmt: skip


def listing(folder: Path) -> list[tuple[str, int, int]]:
    return sorted(
        (str(path), path.lstat().st_mode, path.lstat().st_size) for path in folder.rglob("*")
    )


@pytest.mark.parametrize("prepare", OFF, ids=[prepare.__name__ for prepare in OFF])
def test_a_memory_that_is_off(door: Door, prepare: Callable[[Door], dict[str, str]]) -> None:
    environment = {**os.environ, **prepare(door)}
    outside, before = Path("/.claude").exists(), listing(door.project)
    memory = door.database.read_bytes() if door.database.is_file() else b""

    def hook(event: str, **values: Any) -> str:
        options = {"env": environment, "cwd": door.project}
        return door.hook(event, by=AS_ANYBODY, options=options, **values)

    start = hook("session-start", source="startup")
    assert start.count("MARK-README") == 1
    assert start.count(WITHOUT) == 1
    for n in range(2):
        assert hook("post-tool-use", **door.reading("a.py", tool_use_id=f"call-{n}")) == ""
        assert hook("user-prompt-submit", prompt="go on") == ""
        assert hook("stop", last_assistant_message="All done!") == ""
    asked = '/sisyphus:ralph-loop "do it" --completion-promise "DONE"'
    assert "[RALPH LOOP NOT STARTED]" in hook("user-prompt-submit", prompt=asked)
    assert hook("stop", last_assistant_message="All done!") == ""
    assert "MARK-README" not in hook("session-start", source="resume")
    hook("session-end", reason="other")
    assert Path("/.claude").exists() == outside
    assert listing(door.project) == before
    if door.database.is_file():
        door.database.chmod(0o600)
        assert door.database.read_bytes() == memory


@contextmanager
def held(door: Door, *statements: str) -> Iterator[None]:
    """Another process has the memory."""
    script = (
        "import sqlite3, sys\n"
        f"database = sqlite3.connect({str(door.database)!r}, isolation_level=None)\n"
        f"for statement in {statements!r}: database.execute(statement).fetchall()\n"
        "print(flush=True)\nsys.stdin.read()\n"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", script], **pipes) as process:  # type: ignore[call-overload]
        assert process.stdout.readline() == b"\n"
        yield
        process.stdin.close()


LOCKS = {
    "a-writer": ("BEGIN IMMEDIATE",),
    "everything": ("PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE", "DELETE FROM note"),
}


@pytest.mark.parametrize("statements", LOCKS.values(), ids=LOCKS)
def test_a_memory_that_another_process_holds(door: Door, statements: Sequence[str]) -> None:
    door.hook("stop", "another")
    with held(door, *statements):
        for event, values in (
            ("session-start", {"source": "startup"}),
            ("post-tool-use", door.reading("a.py", tool_use_id="call-1")),
        ):
            began = time.monotonic()
            assert door.hook(event, **values) == ""
            assert 3 < time.monotonic() - began < 7
    assert door.hook("session-start", source="startup").count("MARK-README") == 1
    said = door.hook("post-tool-use", **door.reading("a.py", tool_use_id="call-2"))
    assert said.count("MARK-ONE") == 1


def some_life(door: Door, session: str = "s1") -> str:
    """A session's hooks; what they printed."""
    return "".join([
        door.hook("session-start", session, source="startup"),
        door.hook("post-tool-use", session, **door.reading("a.py", tool_use_id=f"{session}-1")),
        door.hook("user-prompt-submit", session, prompt="go on"),
        door.hook("stop", session, last_assistant_message="That is all."),
    ])  # fmt: skip


def told(door: Door, said: str) -> bool:
    """Whether the user was told once of each memory that was set aside."""
    kept = [
        k for k in door.ours.glob("sisyphus.db.corrupt-*") if k.name[-4:] not in ("-wal", "-shm")
    ]
    return said.count("could not read its memory") == len(kept)


def filled(door: Door) -> bytes:
    for n in range(8):
        some_life(door, f"old-{n}")
    return door.database.read_bytes()


PAGE = 4_096


def test_a_table_that_is_damaged_in_mid_life(door: Door) -> None:
    whole = filled(door)
    pages = door.ask("SELECT name, rootpage FROM sqlite_master WHERE rootpage")
    assert len(pages) > 10
    for n, (name, page) in enumerate(pages):
        start = (page - 1) * PAGE
        door.database.write_bytes(whole[:start] + os.urandom(PAGE) + whole[start + PAGE :])
        said = "".join(some_life(door, f"s{n}-{k}") for k in range(3))
        assert told(door, said), name
        assert 2 <= said.count("MARK-README") <= 3, name
        assert 1 <= said.count("MARK-ONE") <= 3, name
        for kept in door.ours.glob("*.corrupt-*"):
            kept.unlink()


def test_a_file_that_ends_too_soon(door: Door) -> None:
    whole = filled(door)
    for size in (0, 1, 15, 16, 99, 100, 1_000, *range(PAGE, len(whole), 3 * PAGE)):
        door.database.write_bytes(whole[:size])
        said = "".join(some_life(door, f"s{size}-{k}") for k in range(2))
        assert told(door, said), size
        assert said.count("MARK-README") == 2, size
        if said.count("could not read"):
            assert door.is_whole(), size
        for kept in door.ours.glob("*.corrupt-*"):
            kept.unlink()


def test_a_header_with_a_wrong_byte(door: Door) -> None:
    whole = filled(door)
    for at in (0, 16, 18, 19, 20, 21, 28, 40, 44, 47, 52, 56, 59, 60, 92, 100):
        for value in (0x00, 0xFF):
            broken = whole[:at] + bytes([value]) + whole[at + 1 :]
            door.database.write_bytes(broken)
            said = some_life(door, f"s{at}-{value}") + some_life(door, f"t{at}-{value}")
            assert said.count("MARK-README") == 2, at
            assert told(door, said), at
            for kept in door.ours.glob("*.corrupt-*"):
                kept.unlink()


# A full disk


@pytest.mark.parametrize("is_old", [True, False], ids=["an-old-memory", "a-new-memory"])
def test_files_that_cannot_grow(door: Door, *, is_old: bool) -> None:
    if is_old:
        filled(door)
    for size in range(0, 260_000, 20_000):
        session = f"s{size}"
        by = ("prlimit", f"--fsize={size}", *COMMAND)
        said = ""
        for n in range(3):
            reading = door.reading("a.py", tool_use_id=f"{size}-{n}")
            said += door.hook("post-tool-use", session, by=by, **reading)
            said += door.hook("stop", session, by=by)
        again = door.reading("a.py", tool_use_id=f"{size}-after")
        said += door.hook("post-tool-use", session, **again)
        assert said.count("MARK-ONE") == 1, size
        assert door.exports_are_current(session), size
        assert door.is_whole(), size
        if not is_old:
            shutil.rmtree(door.ours)


@pytest.fixture
def tiny_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    place = tmp_path / "tiny"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m,mode=700", "none", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("nothing can be mounted here")
    if done.returncode:
        pytest.skip("nothing may be mounted here")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(place))
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk(door: Door, tiny_disk: Path) -> None:
    door = Door(door.project, tiny_disk)
    door.hook("stop", "first")
    with held(door, "SELECT count(*) FROM session"):
        filled(door)
        for room in range(0, 200_000, 16_000):
            session = f"s{room}"
            filler = tiny_disk / "filler"
            found = os.statvfs(tiny_disk)
            filler.write_bytes(bytes(max(found.f_bavail * found.f_bsize - room, 0)))
            said = ""
            for n in range(3):
                reading = door.reading("a.py", tool_use_id=f"{room}-{n}")
                said += door.hook("post-tool-use", session, **reading)
                said += door.hook("stop", session)
            filler.unlink()
            again = door.reading("a.py", tool_use_id=f"{room}-after")
            said += door.hook("post-tool-use", session, **again)
            assert said.count("MARK-ONE") == 1, room
            assert door.exports_are_current(session), room
            assert door.is_whole(), room


def test_the_log_does_not_grow_with_each_reply(door: Door) -> None:
    """Somebody has the memory open all the time, and so it stays."""
    door.hook("stop", "first")
    with held(door, "SELECT count(*) FROM session"):
        for n in range(130):
            door.hook("post-tool-use", f"s{n}", **door.reading("a.py", tool_use_id=f"{n}"))
        assert Path(f"{door.database}-wal").stat().st_size < 4_700_000
    assert door.is_whole()


def test_a_hook_that_waits_for_hours_leaves_the_memory_alone(door: Door) -> None:
    """Or what was written last would stay beside it all the time."""
    assert "enforcement" in door.hook("user-prompt-submit", prompt="/sisyphus:enforce on")
    door.hook("session-start", source="startup", words=("--scope", "project"))
    environment = {
        **os.environ,
        "CLAUDE_CODE_ENTRYPOINT": "cli",
        "CLAUDE_PID": str(os.getpid()),
        "CLAUDE_PROJECT_DIR": str(door.project),
    }
    rests = {"last_assistant_message": "That is all.", "hook_event_name": "Stop"}
    waiter = door.start("idle", words=("--scope", "project"), options={"env": environment}, **rests)
    try:
        for _ in range(4):
            time.sleep(0.5)
            assert waiter.poll() is None
            door.hook("stop", "another")
            assert not list(door.ours.glob("sisyphus.db-*"))
    finally:
        waiter.kill()
        waiter.communicate()


def test_nobody_is_held_without_a_memory(door: Door) -> None:
    """The plan holds the session; who could tell when to let it go?"""
    put(door.project / "PLAN.md", "# Plan\n\n- [ ] one\n- [ ] two\n")
    door.hook("session-start", source="startup")
    door.hook("user-prompt-submit", prompt="/sisyphus:boulder-enforce on")
    said = "That is all."
    assert '"block"' in door.hook("stop", last_assistant_message=said)
    a_newer_memory(door)
    assert '"block"' not in door.hook("stop", last_assistant_message=said)
