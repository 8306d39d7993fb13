from __future__ import annotations

import asyncio
from contextlib import ExitStack, asynccontextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from making import HANG_SECONDS, ours, put
from starlette.testclient import TestClient

from sisyphus.dashboard import changes as ch
from sisyphus.dashboard import live as lv
from sisyphus.dashboard import watching
from sisyphus.dashboard.app import build

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from sisyphus.dashboard.access import Access
    from sisyphus.dashboard.desk import Desk


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "LOOK_SECONDS", 0.1)


@asynccontextmanager
async def _living(desk: Desk) -> AsyncIterator[lv.Live]:
    live = lv.Live(desk)
    task = asyncio.create_task(live.run())
    await asyncio.wait_for(live.has_begun.wait(), HANG_SECONDS)
    try:
        yield live
    finally:
        live.close()
        await asyncio.wait_for(task, HANG_SECONDS)


async def _hears(live: lv.Live, topics: set[str], do: Callable[[], object]) -> None:
    """Does it until all topics have been heard: what is done before the system listens is lost."""
    heard: set[str] = set()

    async def listen() -> None:
        with live.listening() as listener:
            async for found in listener:
                heard.update(found)
                if topics <= heard:
                    return

    listening = asyncio.create_task(listen())
    async with asyncio.timeout(HANG_SECONDS):
        while not listening.done():
            do()
            await asyncio.wait([listening], timeout=0.5)


@pytest.mark.parametrize(
    ("name", "topic"),
    [
        pytest.param("ralph/loops/s1.local.md", ch.LOOPS, id="a loop"),
        pytest.param("logs/sessions.jsonl", ch.HISTORY, id="the history"),
        pytest.param("sisyphus.db", ch.JOURNAL, id="a journal"),
        pytest.param("checkpoint/s1.json", ch.CONTEXT, id="a context"),
    ],
)
def test_a_change_of_our_files_is_told_by_its_topic(
    desk: Desk, home: Path, name: str, topic: str
) -> None:
    async def scene() -> None:
        put(ours(home, name), "one")
        async with _living(desk) as live:
            before = desk.changes.count(topic)
            await _hears(live, {topic}, lambda: put(ours(home, name), "two"))
            assert desk.changes.count(topic) > before

    asyncio.run(scene())


def test_whoever_listens_is_told_that_time_passes_and_nothing_is_noted(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lv, "TICK_SECONDS", 0.01)

    async def scene() -> tuple[object, object]:
        async with _living(desk) as live:
            before = desk.changes.count(ch.TIME)
            await _hears(live, {ch.TIME}, lambda: None)
            await _hears(live, {ch.TIME}, lambda: None)
            return before, desk.changes.count(ch.TIME)

    before, after = asyncio.run(scene())
    assert before == after


def test_what_is_watched_may_be_kept(desk: Desk, home: Path) -> None:
    async def scene() -> tuple[bool, bool]:
        ours(home, "logs").mkdir(parents=True)
        async with _living(desk):
            return desk.changes.are_seen, bool(desk.changes.total)

    assert asyncio.run(scene()) == (True, True)


def test_a_home_that_has_nothing_is_not_made(desk: Desk, home: Path) -> None:
    async def scene() -> bool:
        async with _living(desk) as live:
            seen = desk.changes.are_seen
            path = ours(home, "logs/sessions.jsonl")
            await _hears(live, {ch.HISTORY}, lambda: put(path, "one"))
            return seen

    assert not ours(home, "").exists()
    assert asyncio.run(scene()) is False
    assert desk.changes.are_seen


def test_a_plan_is_followed_where_it_lies(desk: Desk, project: Path, home: Path) -> None:
    plan = put(project / "plans" / "PLAN.md", "# Ship\n\n- [ ] one\n")
    row = {"active_plan": str(plan)}
    ours(home, "logs").mkdir(parents=True)
    desk.boulders = lambda: [row]  # type: ignore[assignment]

    async def scene() -> None:
        async with _living(desk) as live:
            await _hears(live, {ch.BOULDERS}, lambda: plan.write_text("# Ship\n\n- [x] one\n"))

    asyncio.run(scene())


def test_a_neighbour_of_a_plan_is_nobodys_business(desk: Desk, tmp_path: Path) -> None:
    live = lv.Live(desk)
    desk.boulders = lambda: [{"active_plan": str(tmp_path / "PLAN.md")}]  # type: ignore[assignment]
    assert live._plan_folders() == {str(tmp_path.resolve())}  # noqa: SLF001
    live._plans_changed({str(tmp_path / "notes.md")})  # noqa: SLF001
    assert desk.changes.total == 0
    live._plans_changed({str(tmp_path.resolve() / "PLAN.md")})  # noqa: SLF001
    assert desk.changes.count(ch.BOULDERS) == (1,)


def test_whoever_is_slow_hears_once_of_what_changed_twice() -> None:
    async def scene() -> list[list[str]]:
        listener = lv.Listener()
        listener.tell({"loops"})
        listener.tell({"history", "loops"})
        found = aiter(listener)
        first = await anext(found)
        listener.tell({"rules"})
        second = await anext(found)
        listener.close()
        rest = [topics async for topics in found]
        return [first, second, *rest]

    assert asyncio.run(scene()) == [["history", "loops"], ["rules"]]


def test_one_too_many_is_sent_away_until_another_leaves(desk: Desk) -> None:
    async def scene() -> list[list[str]]:
        live = lv.Live(desk)
        async with asyncio.timeout(HANG_SECONDS):
            with ExitStack() as there:
                for _ in range(lv.MOST_LISTENERS):
                    there.enter_context(live.listening())
                with live.listening() as one_too_many:
                    sent_away = [topics async for topics in one_too_many]
            with live.listening() as another:
                live.tell([ch.LOOPS])
                return [*sent_away, await anext(aiter(another))]

    assert asyncio.run(scene()) == [[ch.LOOPS]]


def _asked(live: lv.Live, desk: Desk) -> Any:
    """A request, as far as it is looked at."""
    return SimpleNamespace(app=SimpleNamespace(state=SimpleNamespace(live=live, desk=desk)))


def test_what_changes_right_after_ready_is_told(desk: Desk) -> None:
    async def scene() -> list[tuple[str | None, object]]:
        live = lv.Live(desk)
        live.tell([ch.RULES])
        events = aiter(lv.events(_asked(live, desk)))
        async with asyncio.timeout(HANG_SECONDS):
            first = await anext(events)
            live.tell([ch.LOOPS])
            second = await anext(events)
        live.close()
        return [(one.event, one.data) for one in (first, second)]

    assert asyncio.run(scene()) == [("ready", 1), ("changed", [ch.LOOPS])]


def test_who_is_sent_away_while_it_listens_is_gone(desk: Desk) -> None:
    async def scene() -> int:
        live = lv.Live(desk)
        events = aiter(lv.events(_asked(live, desk)))
        await anext(events)
        waiting = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        return len(live._listeners)  # noqa: SLF001

    assert asyncio.run(scene()) == 0


def test_what_is_read_at_the_start_is_watched_by_then(
    desk: Desk, access: Access, home: Path
) -> None:
    """Else it would have to be read once more at the first request."""
    ours(home, "logs").mkdir(parents=True)
    seen: list[bool] = []
    desk.warm = lambda: seen.append(desk.changes.are_seen)  # type: ignore[method-assign]
    with TestClient(build(desk, access)):
        assert seen == [True]


def test_what_nobody_shows_is_not_told(desk: Desk) -> None:
    lv.Live(desk).tell(["", ""])
    assert desk.changes.total == 0
