from __future__ import annotations

import multiprocessing
import os
import time
from typing import TYPE_CHECKING

import pytest

from sisyphus import state
from sisyphus.errors import LockedError
from sisyphus.state.lock import Lock

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from pathlib import Path


def _hold(path: str, ready: Connection) -> None:
    with Lock(path):
        ready.send("held")
        ready.recv()


def test_a_lock_has_one_holder(tmp_path: Path) -> None:
    path = str(tmp_path / "state.json")
    with Lock(path), pytest.raises(LockedError, match=r"holds .*state\.json\.lock"):
        Lock(path, wait=0).__enter__()


def test_a_lock_is_free_after_its_block(tmp_path: Path) -> None:
    path = str(tmp_path / "state.json")
    for _ in range(3):
        with Lock(path, wait=0):
            pass


def test_a_lock_is_free_after_an_error_in_its_block(tmp_path: Path) -> None:
    path = str(tmp_path / "state.json")
    with pytest.raises(ZeroDivisionError), Lock(path):
        raise ZeroDivisionError
    with Lock(path, wait=0):
        pass


def test_two_files_have_two_locks(tmp_path: Path) -> None:
    with Lock(str(tmp_path / "a.json"), wait=0), Lock(str(tmp_path / "b.json"), wait=0):
        pass


def test_a_lock_dies_with_its_holder(tmp_path: Path) -> None:
    path = str(tmp_path / "state.json")
    ours, theirs = multiprocessing.Pipe()
    holder = multiprocessing.get_context("fork").Process(target=_hold, args=[path, theirs])
    holder.start()
    assert ours.recv() == "held"
    with pytest.raises(LockedError):
        Lock(path, wait=0).__enter__()
    holder.kill()
    holder.join()
    with Lock(path, wait=0):
        pass


def test_who_waits_gets_the_lock(tmp_path: Path) -> None:
    path = str(tmp_path / "state.json")
    ours, theirs = multiprocessing.Pipe()
    holder = multiprocessing.get_context("fork").Process(target=_hold, args=[path, theirs])
    holder.start()
    assert ours.recv() == "held"
    ours.send("let go")
    with Lock(path):
        holder.join()


def test_the_lock_file_stays_and_is_its_users_alone(tmp_path: Path) -> None:
    with Lock(str(tmp_path / "state.json")):
        pass
    assert os.listdir(tmp_path) == ["state.json.lock"]
    assert (tmp_path / "state.json.lock").stat().st_mode & 0o777 == 0o600


def test_a_lock_that_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Lock(str(tmp_path / "nowhere" / "state.json")).__enter__()


def test_a_lock_that_waits_in_vain_leaves_no_file_open(tmp_path: Path) -> None:
    path = str(tmp_path / "state.json")
    with Lock(path):
        before = os.listdir("/dev/fd")
        for _ in range(5):
            with pytest.raises(LockedError):
                Lock(path, wait=0).__enter__()
        assert len(os.listdir("/dev/fd")) == len(before)


def test_all_locks_of_a_hook_share_one_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "state.json")
    monkeypatch.setattr(state, "lock_deadline", time.monotonic())
    with Lock(path), pytest.raises(LockedError):
        Lock(path, wait=3_600).__enter__()


def test_who_waited_for_a_lock_that_is_unlinked_takes_the_new_one(tmp_path: Path) -> None:
    path = str(tmp_path / "state.json")
    first, second = Lock(path), Lock(path, wait=0)
    first.__enter__()
    with pytest.raises(LockedError):
        second.__enter__()
    waiting = os.open(f"{path}.lock", os.O_RDWR)
    os.unlink(f"{path}.lock")
    first.__exit__(None, None, None)

    second._fd = waiting  # noqa: SLF001  # as if it had been opened before
    assert second._try()  # noqa: SLF001
    with pytest.raises(LockedError):
        Lock(path, wait=0).__enter__()
    second.__exit__(None, None, None)
    with Lock(path, wait=0):
        assert os.path.exists(f"{path}.lock")


def test_a_file_system_that_counts_no_links_is_no_reason_to_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fstat

    def without_links(fd: int) -> os.stat_result:
        found = list(real(fd))
        found[3] = 0
        return os.stat_result(found)

    monkeypatch.setattr(os, "fstat", without_links)
    with Lock(str(tmp_path / "state.json"), wait=0):
        pass
