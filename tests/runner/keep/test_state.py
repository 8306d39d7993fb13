from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.runner.keep.state import KEPT_COSTS, KEPT_ERRORS, KEPT_HISTORY, Run, sound

S3 = {
    "task_name": "Migrate Jest to Vitest",
    "objective": "Convert all test files from Jest to Vitest",
    "iteration": 5,
    "started_at": "2026-01-07T00:00:00Z",
    "status": "running",
    "no_change_count": 0,
    "last_diff_hash": "abc123",
    "error_hashes": ["e1"],
    "max_iterations": 50,
    "completion_promise": "COMPLETE",
    "todo_items": ["Item 3", "Item 4"],
    "completed_items": ["Item 1", "Item 2"],
    "context_checkpoint": {
        "active": True,
        "level": "L2",
        "percent_at_checkpoint": 87,
        "timestamp": "2026-01-07T11:45:00Z",
        "handoff_file": ".claude/handoffs/2026-01-07-1145.md",
        "resume_summary": "Implementing OAuth callback handler",
        "files_in_progress": [
            {"path": "src/auth/oauth.ts", "lines": "45-120", "description": "OAuth callback"}
        ],
        "current_todo_item": "Implement OAuth callback",
        "progress_on_item": "70%",
    },
    "context_history": [{"iteration": 1, "peak_percent": 45, "checkpoint": False}],
}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
FIELDS = st.sampled_from([*Run().as_json(), "somebody's"])


def test_every_field_survives() -> None:
    written = Run(S3).as_json()

    assert {name: written[name] for name in S3} == S3
    assert list(written)[:5] == ["task_name", "objective", "iteration", "started_at", "status"]


@pytest.mark.parametrize("loop_id", ["../x", "/abs", "a/b", "a\0", "..", "x" * 200, 5])
def test_an_unsafe_loop_id_is_none(loop_id: object) -> None:
    assert Run({"loop_id": loop_id}).as_json()["loop_id"] == ""


def test_before_any_checkpoint_its_fields_are_there() -> None:
    assert Run().as_json()["context_checkpoint"] == {
        "active": False, "level": "", "percent_at_checkpoint": 0, "timestamp": "",
        "handoff_file": "", "resume_summary": "", "files_in_progress": [],
        "current_todo_item": "", "progress_on_item": "",
    }  # fmt: skip


def test_fields_of_others_survive() -> None:
    assert Run({"theirs": {"a": 1}}).as_json()["theirs"] == {"a": 1}


def test_an_open_checkpoint_is_whole() -> None:
    assert Run(S3).open_checkpoint == S3["context_checkpoint"]


NONE_OPEN = [
    pytest.param({}, id="none"),
    pytest.param({"active": False, "handoff_file": "a.md"}, id="it was given to somebody"),
    pytest.param({"active": "yes", "handoff_file": "a.md"}, id="no boolean"),
    pytest.param({"active": True}, id="without a file"),
    pytest.param({"active": True, "handoff_file": 5}, id="a file that is no text"),
]


@pytest.mark.parametrize("found", NONE_OPEN)
def test_other_checkpoints_are_not_open(found: dict[str, Any]) -> None:
    assert Run({"context_checkpoint": found}).open_checkpoint is None


def test_of_a_checkpoint_only_what_has_its_type_is_kept() -> None:
    found = sound(
        {
            "active": 1, "level": 5, "percent_at_checkpoint": True, "iteration": 3, "x": 1,
            "files_in_progress": ["a", {"path": "a.py", "lines": 5}],
        }
    )  # fmt: skip

    assert found == {
        "active": False,
        "iteration": 3,
        "files_in_progress": [{"path": "a.py", "lines": "", "description": ""}],
    }


@given(st.dictionaries(FIELDS, JSON))
def test_any_object_is_a_run(raw: dict[str, Any]) -> None:
    run = Run(raw)

    assert Run(json.loads(json.dumps(run.as_json()))).as_json() == run.as_json()
    assert (run.item, run.of_most, run.flags, run.number("x"), run.text("x")) is not None
    assert run.began >= 0
    assert run.open_checkpoint is None or run.open_checkpoint["handoff_file"] is not None


def test_what_grows_is_bounded() -> None:
    run = Run()
    run.context_history = [{"iteration": n} for n in range(2 * KEPT_HISTORY)]
    run.error_hashes = [str(n) for n in range(2 * KEPT_ERRORS)]
    run.item_costs = [("Medium", float(n)) for n in range(2 * KEPT_COSTS)]
    kept = run.as_json()

    assert kept["context_history"][-1] == {"iteration": 2 * KEPT_HISTORY - 1}
    lengths = [len(kept[name]) for name in ("context_history", "error_hashes", "item_costs")]
    assert lengths == [KEPT_HISTORY, KEPT_ERRORS, KEPT_COSTS]


def test_costs_of_items_are_read_back() -> None:
    run = Run()
    run.item_costs = [("Medium", 21.5)]

    assert run.as_json()["item_costs"] == [{"complexity": "Medium", "percent": 21.5}]
    assert Run(run.as_json()).item_costs == [("Medium", 21.5)]
