from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.boulder.kord import checkpoints
from sisyphus.boulder.parser.plan import parse

NOW = 1_771_000_000.0
FLAT = "- [x] a\n- [/] Validate the form\n- [ ] b\n"
DONE = "- [x] a\n- [x] b\n"
BLOCKED = "- [x] a\n- [~] b\n- [!] c\n"
WAVES = """\
## Wave 1
- [x] a
## Wave 2 — Checkout
### S07: Form
- [x] b
- [ ] Add headers
### S08: Mail
- [ ] c
"""

PLACES = [
    pytest.param(
        FLAT, None, "", "", None,
        "1/3 tasks done; next: Validate the form (line 2)",
        id="a flat plan",
    ),
    pytest.param(
        WAVES, 2, "S07", "", (1, 2),
        "Wave 2 S07: 1/2 tasks done (2/4 in all); next: Add headers (line 6)",
        id="a story in a wave",
    ),
    pytest.param(
        WAVES, 2, "S07", "Form", (1, 2),
        "Wave 2 S07 (Form): 1/2 tasks done (2/4 in all); next: Add headers (line 6)",
        id="with its title",
    ),
    pytest.param(
        WAVES, None, "S07", "", (1, 2),
        "S07: 1/2 tasks done (2/4 in all); next: Add headers (line 6)",
        id="a story without a wave",
    ),
    pytest.param(
        WAVES, 2, "", "", None,
        "Wave 2: 1/3 tasks done (2/4 in all); next: Add headers (line 6)",
        id="a wave without a story",
    ),
    pytest.param(
        WAVES, 1, "", "", None,
        "Wave 1: 1/1 tasks done (2/4 in all); next: Add headers (line 6)",
        id="another wave than the current one",
    ),
    pytest.param(
        WAVES, 9, "S99", "", None,
        "Wave 9 S99: 2/4 tasks done in all; next: Add headers (line 6)",
        id="a wave and a story that the plan does not have",
    ),
    pytest.param(
        "## Wave 1\n" + FLAT, 1, "", "", None,
        "Wave 1: 1/3 tasks done; next: Validate the form (line 3)",
        id="the only wave",
    ),
    pytest.param(DONE, None, "", "", None, "2/2 tasks done", id="complete"),
    pytest.param(
        BLOCKED, None, "", "", None, "1/3 tasks done; 2 blocked, nothing open", id="blocked"
    ),
    pytest.param("- [ ]\n", None, "", "", None, "0/1 tasks done; next: line 1", id="no words"),
    pytest.param("# Docs\n", None, "", "", None, "no tasks", id="no tasks"),
    pytest.param("- [-] a\n", 2, "S07", "", None, "Wave 2 S07: no tasks", id="cancelled ones only"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wave", "story", "title", "counts", "said"), PLACES)
def test_where_the_work_stands(  # what `where` is given
    text: str,
    wave: int | None,
    story: str,
    title: str,
    counts: tuple[int, int] | None,
    said: str,
) -> None:
    assert checkpoints.where(parse(text), wave, story, title, counts) == said


def test_of_two_waves_with_one_number_the_current_one_counts() -> None:
    plan = parse("## Wave 1\n- [x] a\n## Wave 1\n- [x] b\n- [ ] c\n")
    assert checkpoints.where(plan, 1, "", "", None).startswith("Wave 1: 1/2 tasks done (2/3")


def test_a_long_task_is_cut_before_its_line() -> None:
    said = checkpoints.where(parse(f"- [ ] {'x' * 1_000}\n"), None, "", "", None)
    assert len(said) == 300
    assert said.endswith("xx… (line 1)")


@given(st.text(), st.none() | st.integers(), st.text(), st.text(), st.text())
def test_any_plan_stands_somewhere_in_one_printable_line(
    task: str, wave: int | None, story: str, title: str, more: str
) -> None:
    plan = parse(f"# {title}\n## Wave 2\n- [ ] {task}\n{more}")
    said = checkpoints.where(plan, wave, story, title, (1, 2))
    assert 0 < len(said) <= 300
    assert said.encode().decode().splitlines() == [said]


ENDED = [
    pytest.param([], "1/2", id="nothing"),
    pytest.param(["S07"], "S07 complete; 1/2", id="a story"),
    pytest.param(["wave 2"], "Wave 2 complete; 1/2", id="a wave"),
    pytest.param(["S07", "wave 2"], "S07 and wave 2 complete; 1/2", id="a story and its wave"),
    pytest.param(
        ["S01", "S02", "S03", "wave 1"], "S01, S02, S03 and wave 1 complete; 1/2", id="a few"
    ),
    pytest.param(
        [f"S{number:02}" for number in range(1, 13)],
        "S01, S02, S03 and 9 more complete; 1/2",
        id="many",
    ),
]


@pytest.mark.parametrize(("new", "said"), ENDED)
def test_what_was_completed_is_named_first(new: list[str], said: str) -> None:
    assert checkpoints.finished(new, "1/2") == said


def test_a_checkpoint_is_one_line_with_the_time_in_utc() -> None:
    assert checkpoints.new_checkpoint(" half\nway\x1b[0m ", NOW) == {
        "timestamp": "2026-02-13T16:26:40Z",
        "message": "half way [0m",
    }
    assert len(checkpoints.new_checkpoint("x" * 5_000, NOW)["message"]) == 1_000
