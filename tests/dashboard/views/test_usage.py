from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from checkpoint.size.test_points import SUMMARY, told
from making import know_session, put
from ralph.lines import add
from ralph.past.log import a_loop, lives, ran, starts
from session.processes import sleeping

from dashboard.contexts import NOW, Sessions
from sisyphus.checkpoint import store
from sisyphus.checkpoint.size import fullness, gauge
from sisyphus.dashboard.failures import FailedError
from sisyphus.dashboard.views import curve, series_book, usage
from sisyphus.session.process import identify
from sisyphus.times import iso

if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.checkpoint.size.fullness import Fullness
    from sisyphus.dashboard.desk import Desk
    from sisyphus.workspace import Workspace

OPUS = "claude-opus-5-5"


@pytest.fixture
def world(home: Path, project: Path) -> Sessions:
    return Sessions(home, project)


def _session(desk: Desk, session: str = "s1") -> dict[str, object]:
    return next(r for r in usage.sessions(desk)["sessions"] if r["session_id"] == session)


LEVELS = [
    pytest.param(10, 0, "Normal", id="little"),
    pytest.param(69.9, 0, "Normal", id="just below L1"),
    pytest.param(70, 1, "Warning", id="L1"),
    pytest.param(85, 2, "Checkpoint", id="L2"),
    pytest.param(96, 3, "Emergency", id="L3"),
]


@pytest.mark.parametrize(("percent", "level", "name"), LEVELS)
def test_a_session_is_as_full_as_its_last_answer_found_it(
    world: Sessions, desk: Desk, percent: float, level: int, name: str
) -> None:
    world.seen()
    world.fill(5, percent)
    found = _session(desk)
    assert (found["percent"], found["level"], found["level_name"]) == (int(percent), level, name)
    assert (found["tokens"], found["window"]) == (round(2_000 * percent), 200_000)
    assert (found["project"], found["client"]) == (str(world.project), "claude")


def test_levels_are_those_of_the_user(world: Sessions, desk: Desk) -> None:
    put(world.home / ".claude" / ".sisyphus" / "config.toml", "[checkpoint]\nl1 = 20\nl2 = 30\n")
    world.seen()
    world.fill(25)
    assert _session(desk)["level"] == 1
    assert usage.of_session(desk, "s1")["thresholds"] == {"l1": 20, "l2": 30, "l3": 95}


def test_levels_come_before_the_client_of_that_project_compacts(
    world: Sessions, desk: Desk
) -> None:
    put(world.project / ".claude" / "settings.json", '{"autoCompactWindow": 100000}')
    world.seen()
    world.fill(30)
    found = usage.of_session(desk, "s1")
    assert (found["percent"], found["ends_at"], found["level_name"]) == (60, 67, "Warning")
    assert found["thresholds"] == {"l1": 54.3, "l2": 60.3, "l3": 66}


def test_the_window_is_what_the_client_reported(world: Sessions, desk: Desk) -> None:
    world.seen()
    world.fill(50)
    store.note_reported(world.ours, "s1", 400_000)
    assert (_session(desk)["percent"], _session(desk)["window"]) == (25, 400_000)


UNANSWERED = [
    pytest.param([], id="no answer yet"),
    pytest.param([told(900), SUMMARY], id="none since the last compaction"),
]


@pytest.mark.parametrize("records", UNANSWERED)
def test_without_an_answer_nothing_is_known(
    world: Sessions, desk: Desk, records: list[object]
) -> None:
    world.seen()
    world.ask()
    add(world.transcript(), *records)
    found = usage.of_session(desk, "s1")
    assert [_session(desk)[name] for name in ("percent", "level", "tokens")] == [None] * 3
    assert (found["percent"], found["forecast"]) == (None, None)
    assert found["recommendation"].startswith("Nothing is known of the context")
    assert found["thresholds"] == {"l1": 70, "l2": 85, "l3": 95}


def test_the_session_that_was_seen_last_comes_first(world: Sessions, desk: Desk) -> None:
    for number, session in enumerate(["s1", "s3", "s2"]):
        world.seen(session, NOW + number)
        world.fill(10, session=session)
    rows = usage.sessions(desk)["sessions"]
    assert [row["session_id"] for row in rows] == ["s2", "s3", "s1"]
    assert [row["session_id"] for row in usage.sessions(desk, 1)["sessions"]] == ["s2"]


def test_sessions_without_a_transcript_are_counted(world: Sessions, desk: Desk) -> None:
    for number in range(3):
        world.seen(f"s{number}")
    world.fill(10)
    found = usage.sessions(desk)
    assert (found["total"], found["with_transcript"], len(found["sessions"])) == (3, 1, 1)


def test_a_session_of_the_other_client_has_its_transcript_with_us(
    world: Sessions, desk: Desk
) -> None:
    world.seen("ses_1", client="opencode")
    world.fill(10, session="s1")
    put(world.home / ".claude/.sisyphus/opencode/ses_1.jsonl", world.transcript().read_bytes())
    store.note_reported(world.ours, "ses_1", 100_000, "opencode")
    assert _session(desk, "ses_1")["percent"] == 20
    assert usage.of_session(desk, "ses_1")["points"][0]["percent"] == 20


def test_a_session_that_a_client_is_in_is_alive(world: Sessions, desk: Desk) -> None:
    for session in ("s1", "s2"):
        world.seen(session)
        world.fill(10, session=session)
    with sleeping() as process:
        started = identify(process.pid).started
        know_session(world.ours, "s1", pid=process.pid, process_started=started, in_process=1)
        assert (_session(desk)["is_alive"], _session(desk, "s2")["is_alive"]) == (True, False)


def test_a_session_was_seen_last_and_has_not_ended_by_that(world: Sessions, desk: Desk) -> None:
    world.seen(at=NOW + 5)
    world.fill(10)
    found = _session(desk)
    assert (found["last"], "ended" in found) == (NOW + 5, False)


def test_the_curve_has_every_answer_and_every_compaction(world: Sessions, desk: Desk) -> None:
    world.seen()
    world.fill(40, 80, 10, 20)
    found = usage.of_session(desk, "s1")
    assert [point["percent"] for point in found["points"]] == [40, 80, 10, 20]
    assert [point["at"] for point in found["points"]] == [NOW + 60 * n for n in range(4)]
    assert found["compactions"] == [{"at": NOW + 90, "tokens": 160_000, "percent": 80}]
    assert (found["answers"], found["is_cut"], found["ends_at"]) == (4, False, None)


def test_each_answer_is_weighed_by_the_window_of_its_model(world: Sessions, desk: Desk) -> None:
    world.seen()
    world.fill(50)
    add(world.transcript(), told(400_000, "b", requestedModel=OPUS))
    store.note_reported(world.ours, "s1", 800_000)
    found = usage.of_session(desk, "s1")
    assert [point["percent"] for point in found["points"]] == [50, 50]


def test_a_compaction_before_every_answer_is_told_as_well(world: Sessions, desk: Desk) -> None:
    world.seen()
    add(world.transcript(), {**SUMMARY, "timestamp": iso(NOW)})
    world.fill(10)
    (cut,) = usage.of_session(desk, "s1")["compactions"]
    assert (cut["at"], cut["tokens"], cut["percent"]) == (NOW, None, None)


def test_what_comes_is_forecast_by_the_answers_since_the_last_compaction(
    world: Sessions, desk: Desk
) -> None:
    world.seen()
    world.fill(70, 80, 10, 15, 20, 25)
    found = usage.of_session(desk, "s1")
    assert found["forecast"]["calls_left"] == 12
    assert found["recommendation"] == (
        "Safe to continue. Checkpoint will trigger automatically at 85%."
    )


def test_the_level_that_was_told_is_shown(world: Sessions, desk: Desk) -> None:
    world.seen()
    world.fill(90)
    assert usage.of_session(desk, "s1")["told"] == 0
    store.turn(world.ours, "s1", lambda _: (2, True), NOW)
    assert usage.of_session(desk, "s1")["told"] == 2


def test_of_a_session_without_a_transcript_its_journal_tells(world: Sessions, desk: Desk) -> None:
    world.seen()
    found = usage.of_session(desk, "s1")
    assert (found["has_transcript"], found["project"]) == (False, str(world.project))


def test_a_session_without_a_journal_has_a_curve(world: Sessions, desk: Desk) -> None:
    world.fill(10)
    assert usage.of_session(desk, "s1")["points"][0]["percent"] == 10


@pytest.mark.parametrize("named", ["s2", "", "..", "../s1", "s1\0", "a" * 500])
def test_an_unknown_session_is_refused(world: Sessions, desk: Desk, named: str) -> None:
    world.seen()
    world.fill(10)
    with pytest.raises(FailedError, match="no such session is known") as caught:
        usage.of_session(desk, named)
    assert caught.value.status == 404


def test_a_loop_of_the_session_tells_how_it_stands(world: Sessions, desk: Desk) -> None:
    lives(starts(a_loop("aaaaa")))
    know_session(world.ours, "s1", pid=999_999_999, process_started="1")
    ran(a_loop("bbbbb", minute=1))
    over, left = usage.loops_of(desk, "s1")
    assert (over["loop_id"], over["live"], over["result"]) == ("bbbbb", None, "success")
    assert (left["loop_id"], left["live"]["health"]) == ("aaaaa", "gone")


def test_what_came_since_the_last_look_is_there(world: Sessions, desk: Desk) -> None:
    world.seen()
    world.fill(10)
    assert usage.of_session(desk, "s1")["answers"] == 1
    add(world.transcript(), told(120_000, "later"))
    found = usage.of_session(desk, "s1")
    assert (found["answers"], found["percent"]) == (2, 60)


def test_a_transcript_that_rests_is_not_read_again(
    world: Sessions, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.seen()
    world.fill(10)
    usage.sessions(desk)
    reads: list[str] = []
    monkeypatch.setattr(gauge, "read", lambda path, **_: reads.append(path))
    assert _session(desk)["percent"] == 10
    assert reads == []


def test_few_curves_are_kept(world: Sessions, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series_book, "MOST_SERIES", 2)
    monkeypatch.setattr(series_book, "MOST_READINGS", 2)
    for session in ("s1", "s2", "s3", "s1"):
        world.fill(10, session=session)
        usage.of_session(desk, session)
    book = desk.series
    assert [*book._series] == [str(world.transcript(name)) for name in ("s3", "s1")]  # noqa: SLF001
    assert len(book._readings) == 2  # noqa: SLF001


def test_two_who_look_at_once_see_the_same(world: Sessions, desk: Desk) -> None:
    world.fill(*range(1, 60))
    found: list[int] = []
    looks = [
        threading.Thread(target=lambda: found.append(usage.of_session(desk, "s1")["answers"]))
        for _ in range(8)
    ]
    for look in looks:
        look.start()
    for look in looks:
        look.join()
    assert found == [59] * 8


def test_of_many_models_few_windows_are_measured(
    world: Sessions, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [told(1_000 + n, f"m{n}", requestedModel=f"made-up-{n}") for n in range(900)]
    add(world.transcript(), *answers, told(100_000, "last", requestedModel=OPUS))
    measured: list[str] = []
    measure = fullness.of_reading

    def count(space: Workspace, reading: gauge.Reading, known: Json) -> Fullness:
        measured.append(reading.model)
        return measure(space, reading, known)

    monkeypatch.setattr(fullness, "of_reading", count)
    found = usage.of_session(desk, "s1")
    assert len(measured) <= curve.MOST_MODELS + 2
    assert (found["answers"], found["points"][-1]["percent"], found["percent"]) == (901, 10, 10)
