from __future__ import annotations

import pytest

from sisyphus.dashboard.views import stops

_BEGAN, _ENDED = "2026-11-20T15:00:00.000Z", "2026-11-20T15:02:00.000Z"


def test_a_stop_says_what_was_decided_and_what_it_took() -> None:
    row = {"iteration": 3, "started_at": _BEGAN, "ended_at": _ENDED, "decision": "blocked",
           "why": "not\nyet", "tools": 4, "edits": 1, "tokens": 900, "context": 41.26}  # fmt: skip
    found = stops.stop(row)
    assert (found["seconds"], found["words"], found["why"]) == (120, "went on", "not yet")
    assert (found["tools"], found["edits"], found["tokens"], found["context"]) == (4, 1, 900, 41.26)


@pytest.mark.parametrize(
    "row",
    [
        pytest.param({}, id="an empty row"),
        pytest.param(dict.fromkeys(("iteration", "started_at", "tokens", "context", "why")),
                     id="nulls"),
        pytest.param({"iteration": True, "tokens": "many", "context": "full", "started_at": 7,
                      "ended_at": [], "tools": -1, "edits": 1e3}, id="other types"),
        pytest.param({"context": float("nan"), "tokens": 10**40, "iteration": -5},
                     id="numbers beyond sense"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_not_told(row: dict[str, object]) -> None:
    found = stops.stop(row)
    names = ("iteration", "began", "at", "seconds", "tools", "edits", "tokens", "context")
    assert [found[name] for name in names] == [None] * len(names)
    assert found["words"] == "unknown"
