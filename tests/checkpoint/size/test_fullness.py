from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from making import configure, put

from checkpoint.desk import LARGE, MODEL, SMALL, Desk
from sisyphus.checkpoint import store
from sisyphus.checkpoint.size import fullness, gauge
from sisyphus.checkpoint.size.fullness import Fullness
from sisyphus.checkpoint.size.levels import Thresholds
from sisyphus.clients.claude_code_setup import OFF, PERCENT, SMALL_ONLY, WINDOW

if TYPE_CHECKING:
    from sisyphus._types import Json

OPUS = "claude-opus-5-5"


def _weigh(desk: Desk, tokens: int, model: str = MODEL, **known: object) -> Fullness:
    return fullness.weigh(desk.space(), gauge.Reading(tokens, model), known)


SETTING = "checkpoint.window"


def _set(monkeypatch: pytest.MonkeyPatch, told: dict[str, str]) -> None:
    """The setting in the user's file, variables of the client in the environment."""
    for name, value in told.items():
        if name == SETTING:
            configure(name, int(value))
        else:
            monkeypatch.setenv(name, value)


WINDOWS = [
    pytest.param(MODEL, 100_000, {}, {}, SMALL, 50, id="a model of version 4"),
    pytest.param(OPUS, 100_000, {}, {}, LARGE, 10, id="one of version 5"),
    pytest.param(f"{MODEL}[1m]", 100_000, {}, {}, LARGE, 10, id="the mark"),
    pytest.param(MODEL, 300_000, {}, {}, LARGE, 30, id="more than it could hold"),
    pytest.param(MODEL, 100_000, {"window": 400_000}, {}, 400_000, 25, id="as reported"),
    pytest.param(MODEL, 100_000, {}, {SETTING: "250000"}, 250_000, 40, id="as set"),
    pytest.param(
        MODEL,
        100_000,
        {"window": 400_000},
        {SETTING: "250000", SMALL_ONLY: "1"},
        400_000,
        25,
        id="the report above all",
    ),
    pytest.param(OPUS, 100_000, {}, {SMALL_ONLY: "1"}, SMALL, 50, id="the large one is off"),
    pytest.param(OPUS, 150_000, {}, {WINDOW: "300000"}, 300_000, 50, id="what is used of it"),
    pytest.param(
        OPUS, 150_000, {}, {WINDOW: "300000", OFF[0]: "1"}, LARGE, 15, id="compaction is off"
    ),
]


@pytest.mark.parametrize(("model", "tokens", "known", "environment", "window", "percent"), WINDOWS)
def test_the_percentage_is_of_what_the_client_can_use(  # one a fact
    desk: Desk,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    tokens: int,
    known: Json,
    environment: dict[str, str],
    window: int,
    percent: float,
) -> None:
    _set(monkeypatch, environment)
    found = _weigh(desk, tokens, model, **known)
    assert (found.tokens, found.window, found.model) == (tokens, window, model)
    assert found.percent == pytest.approx(percent)


MOVED = [
    pytest.param(MODEL, {}, {}, 0, (70, 85, 95), id="nobody compacts"),
    pytest.param(OPUS, {}, {}, 967_000, (70, 85, 95), id="late enough"),
    pytest.param(OPUS, {OFF[0]: "1"}, {}, 977_000, (70, 85, 95), id="it is off"),
    pytest.param(OPUS, {}, {"compacts": False}, 977_000, (70, 85, 95), id="off by a setting"),
    pytest.param(MODEL, {OFF[0]: "1"}, {}, 177_000, (70, 79.65, 87.5), id="version 4, off"),
    pytest.param(OPUS, {PERCENT: "50"}, {}, 490_000, (39.69, 44.1, 48), id="at half of it"),
    pytest.param(
        MODEL, {WINDOW: "200000"}, {}, 167_000, (67.635, 75.15, 82.5), id="version 4, a window"
    ),
    pytest.param(OPUS, {WINDOW: "300000"}, {}, 267_000, (70, 80.1, 88), id="version 5, a window"),
    pytest.param(
        OPUS, {}, {"compact_window": 400_000}, 367_000, (70, 82.575, 90.75), id="by a setting"
    ),
    pytest.param(
        OPUS, {}, {"compact_window": 5}, 967_000, (70, 85, 95), id="a setting that is none"
    ),
    pytest.param(
        OPUS, {SMALL_ONLY: "1"}, {}, 167_000, (67.635, 75.15, 82.5), id="without the large window"
    ),
    pytest.param(OPUS, {PERCENT: "5"}, {}, 49_000, (3.969, 4.41, 4.655), id="at a twentieth of it"),
]


@pytest.mark.parametrize(("model", "environment", "known", "ends_at", "expected"), MOVED)
def test_the_levels_lie_before_the_clients_own_end(  # one a fact
    desk: Desk,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    environment: dict[str, str],
    known: Json,
    ends_at: int,
    expected: tuple[float, float, float],
) -> None:
    _set(monkeypatch, environment)
    found = _weigh(desk, 1_000, model, **known)
    limits = found.thresholds
    assert found.ends_at == ends_at
    assert (limits.l1, limits.l2, limits.l3) == pytest.approx(expected)
    assert not ends_at or limits.l3 * found.window / 100 < ends_at


def test_work_is_handed_over_before_a_large_model_in_a_small_window_is_compacted(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SMALL_ONLY, "1")
    assert _weigh(desk, 151_000, OPUS).level == 2
    assert _weigh(desk, 166_000, OPUS).level == 3


def test_an_empty_context_is_at_no_level_however_early_the_end(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PERCENT, "1")
    assert _weigh(desk, 0, OPUS).level == 0


def test_a_report_that_cannot_be_true_is_no_report(desk: Desk) -> None:
    """It is of another model that the session had before."""
    assert _weigh(desk, 300_000, OPUS, window=SMALL).window == LARGE


def test_the_users_numbers_are_the_levels(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("L1", "50"), ("L2", "60"), ("L3", "65")):
        monkeypatch.setenv(f"SISYPHUS_CHECKPOINT_{name}", value)
    assert [_weigh(desk, tokens).level for tokens in (98_000, 100_000, 120_000, 130_000)] == [
        0,
        1,
        2,
        3,
    ]


OTHERS = [
    pytest.param({"window": 400_000}, {}, 400_000, id="as it says"),
    pytest.param({"window": 32_000}, {}, 32_000, id="a small one"),
    pytest.param({"window": 400_000}, {SETTING: "50000"}, 50_000, id="the user's word"),
    pytest.param({"window": 400_000}, {SETTING: "9"}, 400_000, id="a word that is none"),
    pytest.param({"window": 400_000}, {WINDOW: "300000", PERCENT: "50"}, 400_000, id="claude's"),
    pytest.param({}, {}, SMALL, id="nothing is told"),
]


@pytest.mark.parametrize(("known", "environment", "window"), OTHERS)
def test_another_client_names_the_window_that_it_can_use(
    desk: Desk,
    monkeypatch: pytest.MonkeyPatch,
    known: Json,
    environment: dict[str, str],
    window: int,
) -> None:
    _set(monkeypatch, environment)
    found = _weigh(desk, 30_000, OPUS, client="opencode", **known)
    limits = found.thresholds
    assert (found.tokens, found.window, found.ends_at) == (30_000, window, 0)
    assert (limits.l1, limits.l2, limits.l3) == (70, 85, 95)


@pytest.mark.parametrize(
    ("tokens", "window", "told", "is_near"),
    [
        pytest.param(110_000, LARGE, 0, False, id="far from all of a large window"),
        pytest.param(560_000, LARGE, 0, True, id="near the first"),
        pytest.param(720_000, LARGE, 1, True, id="near the second"),
        pytest.param(600_000, LARGE, 1, False, id="the near one was told"),
        pytest.param(80_000, SMALL, 0, False, id="far from all of a small window"),
        pytest.param(91_000, SMALL, 0, True, id="one long answer from the first"),
        pytest.param(199_000, SMALL, 3, False, id="all were told"),
    ],
)
def test_the_newest_answer_is_worth_waiting_for_near_a_level(
    tokens: int, window: int, told: int, *, is_near: bool
) -> None:
    assert Fullness(tokens, window, MODEL, Thresholds(), 0).is_near(told) is is_near


def test_an_answer_that_is_late_is_waited_for(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.fill(60)
    payload = desk.payload("post-tool-use", tool_calls=[{"tool_use_id": "toolu_2"}])
    waited = desk.write_late(72, monkeypatch)
    assert fullness.wait(desk.space(), payload, {}).percent == pytest.approx(72)
    assert len(waited) == 1


def test_an_answer_that_never_comes_is_not_waited_for(desk: Desk) -> None:
    desk.fill(60)
    payload = desk.payload("post-tool-use", tool_calls=[{"tool_use_id": "toolu_7"}])
    assert fullness.wait(desk.space(), payload, {}).percent == pytest.approx(60)


SETTINGS_FILES = [
    pytest.param({}, {}, id="none"),
    pytest.param(
        {".claude/settings.json": {"autoCompactWindow": 300_000}},
        {"compact_window": 300_000},
        id="the project's",
    ),
    pytest.param(
        {
            ".claude/settings.json": {"autoCompactWindow": 300_000, "autoCompactEnabled": True},
            ".claude/settings.local.json": {"autoCompactEnabled": False},
        },
        {"compact_window": 300_000, "compacts": False},
        id="the stronger of two",
    ),
    pytest.param(
        {".claude/settings.json": {"autoCompactWindow": "300k", "autoCompactEnabled": "no"}},
        {},
        id="of another kind",
    ),
]


@pytest.mark.parametrize(("files", "found"), SETTINGS_FILES)
def test_the_clients_settings_are_looked_up_once_a_session(
    desk: Desk, files: dict[str, Json], found: Json
) -> None:
    for name, content in files.items():
        put(desk.project / name, json.dumps(content))
    known = fullness.with_settings(desk.space(), "s1", {"told": 1})
    assert known == {"told": 1, "looked": True, **found}
    assert {**desk.known(), "version": 1} == {"looked": True, "version": 1, **found}

    put(desk.project / ".claude" / "settings.json", '{"autoCompactWindow": 500000}')
    assert fullness.with_settings(desk.space(), "s1", known) == known


def test_a_look_without_an_answer_finds_nothing(desk: Desk) -> None:
    assert fullness.look(desk.space(), "s1", str(desk.transcript())).tokens == 0


def test_a_look_knows_of_a_compaction(desk: Desk) -> None:
    desk.fill(87)
    assert fullness.look(desk.space(), "s1", str(desk.transcript())).level == 2
    store.note(desk.ours, "s1", {"cut": "2099-01-01T00:00:00.000Z"})
    assert fullness.look(desk.space(), "s1", str(desk.transcript())).tokens == 0


def test_a_look_knows_the_clients_settings_and_notes_nothing(desk: Desk) -> None:
    put(desk.project / ".claude" / "settings.json", '{"autoCompactWindow": 100000}')
    desk.fill(40)
    found = fullness.look(desk.space(), "s1", str(desk.transcript()))
    assert (found.window, found.level) == (100_000, 3)
    assert desk.known() == {}


def test_what_was_looked_up_before_is_not_looked_up_again(desk: Desk) -> None:
    store.note(desk.ours, "s1", {"looked": True})
    put(desk.project / ".claude" / "settings.json", '{"autoCompactWindow": 100000}')
    desk.fill(40)
    assert fullness.look(desk.space(), "s1", str(desk.transcript())).window == SMALL
