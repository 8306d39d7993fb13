from __future__ import annotations

import gc
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import hypothesis
import pytest
from browser import Browser
from world import World

from sisyphus.ground import paths, processes
from sisyphus.ground import store as stores

hypothesis.settings.register_profile("ours", deadline=None)  # `make bench` measures
hypothesis.settings.load_profile("ours")

collect_ignore = ["e2e"]  # `make e2e` runs these, with the installed product and real clients


MEMORY_DISK = "/dev/shm"
MEMORY_BYTES = 4_000_000_000
"""Several times what all worlds take: pytest keeps those of three runs."""


def pytest_configure(config: pytest.Config) -> None:
    """Puts the worlds on a memory disk where there is one: a test waits for the disk more than it
    works. `--basetemp` is stronger. Workers of xdist get their folders from the process that
    started them. The files of slow tests are too large."""
    gc.disable()  # until the tests are loaded, for nothing of them is garbage
    is_chosen = "PYTEST_DEBUG_TEMPROOT" in os.environ
    if not is_chosen and config.option.markexpr != "slow" and has_memory_disk():
        os.environ["PYTEST_DEBUG_TEMPROOT"] = MEMORY_DISK


def pytest_collection_finish() -> None:
    """Takes the tests, which live until the end, out of what the collector looks through."""
    gc.freeze()
    gc.enable()


def has_memory_disk() -> bool:
    if not os.access(MEMORY_DISK, os.W_OK):
        return False
    can_execute = not os.statvfs(MEMORY_DISK).f_flag & os.ST_NOEXEC  # worlds have programs in them
    return can_execute and shutil.disk_usage(MEMORY_DISK).free >= MEMORY_BYTES


@pytest.fixture(scope="session")
def new_database(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A database with all tables and no row, as the product makes it."""
    folder = tmp_path_factory.mktemp("database")
    stores.open_store(str(folder)).close()
    return (folder / paths.DATABASE).read_bytes()


@pytest.fixture(autouse=True)
def quick_store(request: pytest.FixtureRequest, new_database: bytes) -> Iterator[None]:
    """Copies a new database instead of making it again, and never waits for the disk. Tests of the
    store itself, and processes, do as the product does.

    Has patches of its own: `monkeypatch` must end before the folder of the test is removed.
    """
    real = stores._open

    def open_copy(path: str) -> stores.Store:
        if not any(os.path.lexists(path + end) for end in stores._ENDS):
            put(path, new_database)
        store = real(path)
        store.run("PRAGMA synchronous = OFF")
        return store

    with pytest.MonkeyPatch.context() as patches:
        if request.path.name != "test_store.py" and "slow" not in request.path.parts:
            patches.setattr(stores, "_open", open_copy)
        yield


def put(path: str, content: bytes) -> None:
    """Makes a file at once whole, unless a hook that runs meanwhile has been quicker."""
    copy = f"{path}.{os.getpid()}.tmp"
    with suppress(OSError):
        with open(copy, "xb", opener=partial(os.open, mode=0o600)) as file:
            file.write(content)
        with suppress(FileExistsError):
            os.link(copy, path)
            os.chmod(os.path.dirname(path), 0o700)
        os.unlink(copy)


@pytest.fixture
def browser(world: World) -> Iterator[Browser]:
    browser = Browser(world)
    yield browser
    browser.desk.store.close()


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Lets the programs that a test starts heed SIGINT: in a shell's background job, which ignores
    it, they would ignore it too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def no_proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process finds no `/proc`, so that it asks psutil."""
    monkeypatch.setattr(processes, "PROC", str(tmp_path / "no-proc"))


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(tmp_path, monkeypatch)
