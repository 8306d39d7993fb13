"""Real files, and the real means of the system. What is awaited is the news, never a time."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from making import HANG_SECONDS, debug_log
from watchfiles import awatch

from sisyphus.dashboard import watching
from sisyphus.dashboard.watching import Watch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection
    from pathlib import Path


class News:
    """What a watch told, in the order in which it did."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.turns: list[bool] = []
        self._more = asyncio.Event()

    def told(self, paths: set[str]) -> None:
        self.paths |= paths
        self._more.set()

    def turned(self, is_there: bool) -> None:
        self.turns.append(is_there)
        self._more.set()

    async def until(self, is_so: Callable[[], bool], do: Callable[[], object] = int) -> None:
        """Does it again and again: what is done before the system listens is not told."""
        async with asyncio.timeout(HANG_SECONDS):
            while not is_so():
                self._more.clear()
                do()
                try:
                    await asyncio.wait_for(self._more.wait(), 0.5)
                except TimeoutError:
                    continue


@asynccontextmanager
async def _watched(
    folders: Callable[[], Collection[str]], *, recursive: bool = True
) -> AsyncIterator[tuple[Watch, News]]:
    news = News()
    watch = Watch(folders, news.told, news.turned, recursive=recursive)
    task = asyncio.create_task(watch.run())
    try:
        yield watch, news
    finally:
        watch.close()
        await asyncio.wait_for(task, HANG_SECONDS)


async def _hears_of_a_change(folder: Path) -> News:
    file = folder / "deep" / "file"
    file.parent.mkdir(exist_ok=True)
    async with _watched(lambda: [str(folder)]) as (_, news):
        await news.until(lambda: str(file) in news.paths, lambda: file.write_text("more"))
    return news


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(watching, "POLL_MS", 50)


def test_a_change_is_told(tmp_path: Path) -> None:
    news = asyncio.run(_hears_of_a_change(tmp_path))
    assert news.turns == [True]


def test_where_the_system_tells_nothing_files_are_looked_at(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(*folders: str, force_polling: bool | None, **options: Any) -> Any:
        if not force_polling:
            raise OSError(24, "Too many open files")
        return awatch(*folders, force_polling=True, **options)

    monkeypatch.setattr(watching, "awatch", refusing)
    news = asyncio.run(_hears_of_a_change(tmp_path))
    assert news.turns == [True]
    assert "looked at every 50 ms: [Errno 24] Too many open files" in debug_log(home)


def test_where_nothing_can_be_watched_that_is_said(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(*_: str, **__: Any) -> Any:
        raise RuntimeError("no means")

    async def scene() -> list[bool]:
        async with _watched(lambda: [str(tmp_path)]) as (_, news):
            await news.until(lambda: False in news.turns)
            return news.turns

    monkeypatch.setattr(watching, "awatch", refusing)
    assert asyncio.run(scene()) == [False]
    assert "files are not watched: no means" in debug_log(home)


def test_a_fault_that_passes_is_not_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = [OSError(24, "Too many open files")] * 2

    def refusing(*folders: str, **options: Any) -> Any:
        if faults:
            raise faults.pop()
        return awatch(*folders, **options)

    monkeypatch.setattr(watching, "awatch", refusing)
    news = asyncio.run(_hears_of_a_change(tmp_path))
    assert news.turns == [False, True]


def test_a_fault_that_comes_later_is_not_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    faults = [OSError(5, "Input/output error")] * 2

    async def failing(*folders: str, **options: Any) -> AsyncIterator[Any]:
        async for changes in awatch(*folders, **options):
            if faults:
                raise faults.pop()
            yield changes

    async def scene() -> list[bool]:
        async with _watched(lambda: [str(tmp_path)]) as (_, news):
            await news.until(lambda: str(file) in news.paths, lambda: file.write_text("more"))
            return news.turns

    monkeypatch.setattr(watching, "awatch", failing)
    assert asyncio.run(scene()) == [True, True, False, True]


def test_a_folder_may_come_later(tmp_path: Path) -> None:
    folder = tmp_path / "later"

    async def scene() -> list[bool]:
        async with _watched(lambda: [str(folder)]) as (_, news):
            await news.until(lambda: news.turns == [False])
            folder.mkdir()
            await news.until(lambda: news.turns == [False, True])
            file = folder / "file"
            await news.until(lambda: str(file) in news.paths, lambda: file.write_text("more"))
            return news.turns

    assert asyncio.run(scene()) == [False, True]


def test_a_folder_may_go_and_come_back(tmp_path: Path) -> None:
    folder = tmp_path / "ours"
    folder.mkdir()

    async def scene() -> None:
        async with _watched(lambda: [str(folder)]) as (_, news):
            await news.until(lambda: news.turns == [True])
            shutil.rmtree(folder)
            await news.until(lambda: news.turns == [True, False])
            folder.mkdir()
            await news.until(lambda: news.turns == [True, False, True])
            file = folder / "file"
            await news.until(lambda: str(file) in news.paths, lambda: file.write_text("more"))

    asyncio.run(scene())


def test_a_file_that_is_replaced_is_told(tmp_path: Path) -> None:
    """As editors save one."""
    plan, other = tmp_path / "PLAN.md", tmp_path / ".PLAN.md.swp"
    plan.write_text("one")

    def save() -> None:
        other.write_text("two")
        other.replace(plan)

    async def scene() -> None:
        async with _watched(lambda: [str(tmp_path)], recursive=False) as (_, news):
            await news.until(lambda: str(plan) in news.paths, save)

    asyncio.run(scene())


def test_other_folders_are_looked_for_when_that_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "LOOK_SECONDS", HANG_SECONDS)
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    folders = [str(one)]

    async def scene() -> None:
        async with _watched(lambda: list(folders)) as (watch, news):
            await news.until(lambda: news.turns == [True])
            folders.append(str(other))
            watch.look_again()
            file = other / "file"
            await news.until(lambda: str(file) in news.paths, lambda: file.write_text("more"))

    asyncio.run(scene())


def test_a_watch_of_the_same_folders_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What changes while another one is set up would be lost."""
    monkeypatch.setattr(watching, "LOOK_SECONDS", HANG_SECONDS)
    made: list[str] = []
    looks: list[str] = []

    def noting(*folders: str, **options: Any) -> Any:
        made.extend(folders)
        return awatch(*folders, **options)

    def folders() -> list[str]:
        looks.append("look")
        return [str(tmp_path)]

    async def scene() -> None:
        async with _watched(folders) as (watch, news):
            await news.until(lambda: news.turns == [True])
            await news.until(lambda: len(looks) >= 4, watch.look_again)
            file = tmp_path / "file"
            await news.until(lambda: str(file) in news.paths, lambda: file.write_text("more"))

    monkeypatch.setattr(watching, "awatch", noting)
    asyncio.run(scene())
    assert made == [str(tmp_path)]


def test_other_folders_are_told_when_they_are_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that nothing is lost that changed between one watch and the next."""
    monkeypatch.setattr(watching, "LOOK_SECONDS", HANG_SECONDS)
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    folders, order = [str(one)], []

    async def noting(*named: str, **options: Any) -> AsyncIterator[Any]:
        order.append(f"watched: {len(named)}")
        async for changes in awatch(*named, **options):
            yield changes

    async def scene() -> None:
        async with _watched(lambda: list(folders)) as (watch, news):
            turned = news.turned

            def noted(is_there: bool) -> None:
                order.append("told")
                turned(is_there)

            watch._turned = noted  # noqa: SLF001
            await news.until(lambda: len(news.turns) == 1)
            folders.append(str(other))
            watch.look_again()
            await news.until(lambda: len(news.turns) == 2)

    monkeypatch.setattr(watching, "awatch", noting)
    asyncio.run(scene())
    assert order == ["watched: 1", "told", "watched: 2", "told"]


def test_a_fault_while_looking_for_folders_is_not_the_end(tmp_path: Path, home: Path) -> None:
    faults = [KeyError("active_plan")]

    def folders() -> list[str]:
        if faults:
            raise faults.pop()
        return [str(tmp_path)]

    async def scene() -> list[bool]:
        async with _watched(folders) as (_, news):
            await news.until(lambda: news.turns == [False, True])
            return news.turns

    asyncio.run(scene())
    assert "dashboard: KeyError: 'active_plan'" in debug_log(home)


def test_it_ends_when_it_is_told_to_whatever_it_waits_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "LOOK_SECONDS", HANG_SECONDS * 10)

    async def scene(folder: Path) -> None:
        async with _watched(lambda: [str(folder)]) as (_, news):
            await news.until(lambda: bool(news.turns))

    asyncio.run(scene(tmp_path))
    asyncio.run(scene(tmp_path / "nothing"))
