from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.boulder import messages
from sisyphus.boulder.actions import status_of_file

if TYPE_CHECKING:
    from boulder.scene import Scene

LINES = [
    pytest.param("a  **b** `c`", "a  **b** `c`", id="markup and spaces stay"),
    pytest.param("a\nb\tc\x1b[31m\u2028d", "a b c [31m d", id="controls become spaces"),
    pytest.param("\ud800", "?", id="half a surrogate pair does not"),
    pytest.param("👩\u200d💻", "👩\u200d💻", id="joined emoji stay"),
    pytest.param("x" * 300, "x" * 300, id="as long as may be"),
    pytest.param("x" * 301, "x" * 299 + "…", id="longer"),
]


@pytest.mark.parametrize(("text", "shown"), LINES)
def test_a_text_becomes_one_printable_line(text: str, shown: str) -> None:
    assert messages.line(text) == shown


@given(st.text())
def test_any_text_becomes_a_line_that_can_be_printed(text: str) -> None:
    shown = messages.line(text)
    assert len(shown) <= 300
    assert shown.encode().decode().splitlines() in ([shown], [])


def test_a_status_tells_all_that_is_known(scene: Scene) -> None:
    plan = scene.write(
        "# Docs\n\n## Wave 1 — Base\n\n### S01: README\n- [x] one\n  - [x] step\n- [~] two\n\n"
        "## Wave 2\n- [/] three\n- [-] four\n"
    )
    assert messages.status_text(status_of_file(str(plan))) == (
        "Plan: Docs (active)\n"
        "Progress: 1/3 tasks complete, 1 in progress, 1 blocked, 1 cancelled; steps 1/1\n"
        "Next task: three\n"
        f"File: {plan}\n"
        "Wave 1 — Base: 1/2\n"
        "Wave 2: 0/1\n"
        "S01: README (blocked, 1/2)"
    )


def test_the_status_of_nothing_says_how_to_begin(scene: Scene) -> None:
    from sisyphus.boulder import actions

    assert "sisyphus boulder start" in messages.status_text(actions.status(scene.space()))


def test_a_plan_without_tasks_says_so(scene: Scene) -> None:
    plan = scene.write("# Docs\n")
    text = messages.status_text(status_of_file(str(plan)))
    assert text.startswith("Plan: Docs (no tasks)\nProgress: 0/0 tasks complete\n")


def test_a_cleared_plan_that_was_complete_needs_no_way_back(scene: Scene) -> None:
    plan = scene.write("# Docs\n- [x] a\n")
    assert messages.cleared(status_of_file(str(plan))) == f"Boulder cleared: Docs ({plan})."


def test_a_task_without_words_is_named_by_its_line(scene: Scene) -> None:
    scene.write("# Docs\n\n- [ ]\n")
    assert scene.start().pieces[0]["body"].endswith("Next task: line 3")


def test_wave_and_story_without_a_name_are_named_by_number(scene: Scene) -> None:
    scene.write("## Wave 1\n### S01:\n- [ ] a\n")
    body = scene.start().pieces[0]["body"]
    assert body.endswith("Next task: a\nCurrent wave: 1\nCurrent story: S01")
