from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.notify.send import EVENTS
from sisyphus.notify.words import example, message, text

if TYPE_CHECKING:
    from sisyphus._types import Json

NOW = 1_771_000_000.0

FACTS: Json = {
    "session_id": "s1",
    "loop_id": "ab3de",
    "iteration": 5,
    "task": "Migrate Jest to Vitest",
    "level": "L2",
    "percent": 87.6,
    "handoff_file": ".claude/handoffs/2026-01-07-1145-ab3de.md",
}

LINES = [
    pytest.param(
        "checkpoint",
        FACTS,
        "Checkpoint L2 at 87% (iteration 5): Migrate Jest to Vitest. "
        "Handoff: .claude/handoffs/2026-01-07-1145-ab3de.md",
        id="a checkpoint",
    ),
    pytest.param("checkpoint", {}, "Checkpoint", id="a checkpoint of nothing known"),
    pytest.param("checkpoint", {"level": "L3"}, "Checkpoint L3", id="a level alone"),
    pytest.param("checkpoint", {"percent": 0}, "Checkpoint at 0%", id="an empty context"),
    pytest.param(
        "pause",
        {"iteration": 3, "task": "Ship it.", "reason": "no progress"},
        "Paused (iteration 3): Ship it. Why: no progress",
        id="a pause",
    ),
    pytest.param("completion", {"task": "Ship it"}, "Completed: Ship it", id="a completion"),
    pytest.param("failure", {"reason": "no key."}, "Failed. Why: no key", id="a failure"),
]


@pytest.mark.parametrize(("event", "facts", "line"), LINES)
def test_a_line_for_people(event: str, facts: Json, line: str) -> None:
    assert message(event, "/p", NOW, facts)["text"] == line


def test_what_is_not_known_is_null() -> None:
    assert message("pause", "/p/shop", NOW, {"task": "", "iteration": None, "level": 3}) == {
        "event": "pause",
        "project": "/p/shop",
        "session_id": None,
        "loop_id": None,
        "iteration": None,
        "task": None,
        "level": None,
        "percent": None,
        "handoff_file": None,
        "reason": None,
        "at": "2026-02-13T16:26:40Z",
        "text": "Paused",
    }


KEY = "sk-ant-api03-AbCdEfGhIjKlMnOp"


def test_keys_are_masked() -> None:
    facts = {"task": f"Deploy with {KEY}", "reason": f"{'x' * 280} TOKEN=abcdefgh0123 {KEY}"}
    found = message("failure", "/p", NOW, facts)
    assert found["task"] == "Deploy with [masked]"
    assert found["reason"].endswith(" TOKEN=[masked] [ma…")
    assert found["text"].startswith("Failed: Deploy with [masked]. Why: x")
    assert KEY not in json.dumps(found)


def test_what_nobody_asked_for_is_left_out() -> None:
    assert "secret" not in message("pause", "/p", NOW, {"secret": "x"})


@pytest.mark.parametrize("event", EVENTS)
def test_every_event_has_an_example(event: str) -> None:
    found = example(event, "/p", NOW)
    assert found["event"] == event
    assert "An example" in found["text"]


def test_an_event_of_another_version_is_named_as_it_is() -> None:
    assert text({"event": "nap", "iteration": 2}) == "nap (iteration 2)"


@given(st.dictionaries(st.sampled_from(sorted(FACTS)), st.text() | st.floats() | st.none()))
def test_strangers_texts_stay_on_one_short_line(facts: Json) -> None:
    found = message("checkpoint", "/p/\udcff", NOW, facts)
    data = json.dumps(found, ensure_ascii=False).encode()
    assert len(data) < 16_000
    assert found["text"].isprintable()
