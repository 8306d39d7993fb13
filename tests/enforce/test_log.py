from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import put

from sisyphus.enforce import log

if TYPE_CHECKING:
    from enforce.desk import Desk


def _append(desk: Desk, *whats: str) -> None:
    log.append(desk.space(), [log.row(desk.now, "s1", what, "x") for what in whats])


def test_a_row_says_when_who_what_and_why(desk: Desk) -> None:
    row = log.row(desk.now, "s1", "enforced", "it said so", layer=1, claim="I am done.")

    assert row == {
        "at": "2026-11-20T18:40:00.000Z",
        "session_id": "s1",
        "what": "enforced",
        "why": "it said so",
        "layer": 1,
        "claim": "I am done.",
    }
    assert log.row(desk.now, "s1", "off").keys() == {"at", "session_id", "what", "why"}


@pytest.mark.parametrize(("last", "whats"), [(1, ["b"]), (2, ["a", "b"]), (0, []), (-1, [])])
def test_the_last_rows_come_back_oldest_first(desk: Desk, last: int, whats: list[str]) -> None:
    _append(desk, "a", "b")

    assert [row["what"] for row in log.read(desk.space(), last)] == whats


def test_a_long_log_becomes_another_one_and_both_are_read(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "ROTATE_BYTES", 400)
    for n in range(30):
        _append(desk, f"{n}")

    found = [row["what"] for row in log.read(desk.space(), 99)]

    assert found == [str(n) for n in range(30)][-len(found) :]
    assert 3 < len(found) < 30


def test_what_is_no_row_is_passed_over(desk: Desk) -> None:
    path = desk.state_path.parent / "enforcements.jsonl"
    put(path, 'x\n[1]\n{"what": "on"}\n')

    assert log.read(desk.space(), 9) == [{"what": "on"}]
