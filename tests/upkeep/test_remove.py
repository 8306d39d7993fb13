from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from making import HANG_SECONDS, at_once, ours, put

from sisyphus.state.lock import Lock
from sisyphus.upkeep import kept, look
from sisyphus.upkeep.kept import File
from sisyphus.upkeep.remove import CHANGED, IN_USE, remove

if TYPE_CHECKING:
    from pathlib import Path


def _files(home: Path) -> list[File]:
    return sorted(look.every_file(str(ours(home, "")).rstrip("/")), key=lambda file: file.path)


def test_a_file_goes_and_its_lock_with_it(home: Path) -> None:
    path = put(ours(home, "sessions/s1.json"), "{}")
    lock = put(ours(home, "sessions/s1.json.lock"), "")
    done = remove(_files(home))
    assert [file.path for file in done.gone] == [str(path), str(lock)]
    assert done.stays == {}
    assert list(path.parent.iterdir()) == []


def test_emptied_folders_of_subagents_go_too(home: Path) -> None:
    for name in ("s1/subagents/agent-a1", "s1/subagents/agent-a2", "s2/subagents/agent-a1"):
        put(ours(home, f"opencode/{name}.jsonl"), "{}")
    put(ours(home, "opencode/s2/notes.txt"), "mine")
    remove(_files(home))
    assert [path.name for path in ours(home, "opencode").iterdir()] == ["s2"]
    assert [path.name for path in ours(home, "opencode/s2").iterdir()] == ["notes.txt"]


def test_what_another_process_holds_stays(home: Path) -> None:
    put(ours(home, "rules-injector/session-s1.json"), "{}")
    path = put(ours(home, "sessions/s1.json"), "{}")
    with Lock(str(path)):
        done = remove(_files(home))
    assert set(done.stays.values()) == {IN_USE}
    assert len(done.stays) == 3
    assert done.gone == []


def test_what_was_written_meanwhile_stays(home: Path) -> None:
    path = put(ours(home, "logs/journal-s1.jsonl"), "one\n")
    files = _files(home)
    with open(path, "a", encoding="utf-8") as file:
        file.write("two\n")
    assert remove(files).stays == {str(path): CHANGED}


def test_of_a_session_that_goes_on_meanwhile_what_it_was_sent_stays(home: Path) -> None:
    transcript = put(ours(home, "opencode/s1.jsonl"), "one\n")
    ledger = put(ours(home, "rules-injector/session-s1.json"), "{}")
    other = put(ours(home, "rules-injector/session-s2.json"), "{}")
    files = _files(home)
    transcript.write_text("one\ntwo\n", encoding="utf-8")
    done = remove(files)
    assert done.stays == {str(transcript): CHANGED, str(ledger): IN_USE}
    assert [file.path for file in done.gone] == [str(other)]


def test_of_files_of_nobody_one_that_stays_keeps_no_other(home: Path) -> None:
    changed = put(ours(home, "logs/a.log"), "one\n")
    other = put(ours(home, "logs/b.log"), "one\n")
    files = [File(str(p), kept.LOGS, ("", ""), "", os.lstat(p)) for p in (changed, other)]
    changed.write_text("one\ntwo\n", encoding="utf-8")
    done = remove(files)
    assert done.stays == {str(changed): CHANGED}
    assert [file.path for file in done.gone] == [str(other)]


def test_what_a_link_took_the_place_of_stays(home: Path, tmp_path: Path) -> None:
    path = put(ours(home, "logs/journal-s1.jsonl"), "one\n")
    files = _files(home)
    path.unlink()
    path.symlink_to(put(tmp_path / "mine", "one\n"))
    assert remove(files).stays == {str(path): CHANGED}
    assert path.is_symlink()


def test_a_lock_stays_where_what_it_guards_came_back(home: Path) -> None:
    lock = put(ours(home, "sessions/s1.json.lock"), "")
    files = _files(home)
    put(ours(home, "sessions/s1.json"), "{}")
    assert remove(files).stays == {str(lock): IN_USE}
    assert lock.exists()


def test_what_somebody_else_removed_is_gone(home: Path) -> None:
    path = put(ours(home, "logs/journal-s1.jsonl"), "one\n")
    files = _files(home)
    path.unlink()
    assert [file.path for file in remove(files).gone] == [str(path)]


def test_it_ends_in_time(home: Path) -> None:
    put(ours(home, "logs/journal-s1.jsonl"), "one\n")
    done = remove(_files(home), deadline=time.monotonic() - 1)
    assert (done.gone, done.stays) == ([], {})


def test_what_the_system_refuses_stays(home: Path) -> None:
    path = put(ours(home, "logs/journal-s1.jsonl"), "one\n")
    [file] = _files(home)
    file.guarded = str(path)
    os.mkdir(f"{path}.lock")
    assert list(remove([file]).stays.values()) == ["Is a directory"]


ROUNDS = 100


def _work(given: tuple[str, bool]) -> int:
    """Takes the lock again and again, or removes its file; how often somebody else had it too."""
    path, purges = given
    clashes = 0
    for _ in range(ROUNDS):
        if purges:
            found = os.lstat(f"{path}.lock") if os.path.lexists(f"{path}.lock") else os.lstat(".")
            remove([File(f"{path}.lock", kept.LOCKS, ("", ""), path, found)])
            continue
        with Lock(path, wait=HANG_SECONDS):
            try:
                os.close(os.open(f"{path}.held", os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                clashes += 1
                continue
            time.sleep(0)
            os.unlink(f"{path}.held")
    return clashes


def test_a_lock_that_is_removed_all_the_time_still_has_one_holder(tmp_path: Path) -> None:
    path = str(tmp_path / "state.json")
    assert at_once(_work, [(path, False), (path, False), (path, True)]) == [0, 0, 0]
