from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from boulder.scene import DAY, DONE, PLAN, Scene
from sisyphus.boulder import actions, report
from sisyphus.boulder.look import Look
from sisyphus.boulder.parser.plan import parse
from sisyphus.errors import SisyphusError

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus.boulder.parser.plan import Plan

STATES = [
    pytest.param(PLAN, "active", id="open tasks"),
    pytest.param(DONE, "complete", id="all done"),
    pytest.param("# No tasks\n", "no_tasks", id="no tasks"),
]


@pytest.mark.parametrize(("text", "state"), STATES)
def test_a_plan_is_reported_as_its_file_stands(scene: Scene, text: str, state: str) -> None:
    look = Look(str(scene.write(text)), str(scene.project))
    assert report.of_look(look)["state"] == state


def test_a_plan_without_a_record_has_no_memory(scene: Scene) -> None:
    status = report.of_look(Look(str(scene.write(PLAN)), str(scene.project)))
    assert (status["started_at"], status["session_ids"]) == (None, [])


def test_of_a_plan_that_is_gone_the_remembered_counts_are_reported(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.start()
    plan.unlink()
    status = actions.status(scene.space())
    assert (status["state"], status["plan_name"]) == ("missing", "Ship it")
    assert (status["progress"]["completed"], status["progress"]["total"]) == (1, 3)


def test_a_plan_that_nobody_touched_is_reported_as_stale(scene: Scene) -> None:
    scene.write(PLAN)
    scene.start()
    scene.end()
    scene.now += 15 * DAY
    assert actions.status(scene.space())["state"] == "stale"


def test_a_plan_that_cannot_be_read_is_no_report(project: Path) -> None:
    path = project / "PLAN.md"
    path.write_bytes(b"\0")
    with pytest.raises(SisyphusError, match="binary"):
        report.readable(Look(str(path), str(project)))


PARTS = "# Docs\n\n## Wave 1\n\n### S01: A\n- [ ] a\n- [ ] b\n\n## Wave 2\n- [ ] c\n- [x] d\n"


def _plan(text: str = PARTS) -> Plan:
    return parse(text)


NAMED = [
    pytest.param(None, "", None, id="nothing"),
    pytest.param(1, "", (1, ""), id="a wave"),
    pytest.param(None, "S01", (None, "S01"), id="a story"),
    pytest.param(1, "s01", (1, "S01"), id="both"),
    pytest.param(None, "w2.1", (None, "W2.1"), id="a task that counts as a story"),
]


@pytest.mark.parametrize(("wave", "story", "parts"), NAMED)
def test_a_part_is_named_by_its_number(wave: int | None, story: str, parts: object) -> None:
    assert report.parts_named(_plan(), wave, story) == parts


UNKNOWN = [
    pytest.param(3, "", PARTS, "no wave 3. Its waves: 1, 2.", id="wave"),
    pytest.param(0, "", "- [ ] a\n", "no wave 0. Its waves: none.", id="no waves"),
    pytest.param(None, "S2", PARTS, "no story S2. Its stories: S01, W2.1, W2.2.", id="story"),
    pytest.param(None, "S2", "- [ ] a\n", "no story S2. Its stories: none.", id="no stories"),
    pytest.param(2, "S01", PARTS, "story S01 is in wave 1, not in wave 2.", id="another wave"),
    pytest.param(None, "a\nb" + "x" * 500, PARTS, "no story a b", id="a long name"),
]


@pytest.mark.parametrize(("wave", "story", "text", "words"), UNKNOWN)
def test_an_unknown_part_is_answered_with_the_known_ones(
    wave: int | None, story: str, text: str, words: str
) -> None:
    with pytest.raises(SisyphusError) as caught:
        report.parts_named(_plan(text), wave, story)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_story_in_no_wave_is_in_no_wave_that_is_named() -> None:
    plan = _plan("# Docs\n\n### S01: A\n- [ ] a\n\n## Wave 1\n- [ ] b\n")
    with pytest.raises(SisyphusError, match="story S01 is in no wave"):
        report.parts_named(plan, 1, "S01")
