"""The model works through its plan in the permission modes that people use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from e2e.script import edit, read, say, use, write

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.desk import Desk, Run

PLAN = "# Checkout page\n\n- [ ] Sketch it\n- [ ] Build it\n"
PLACES = (".claude/PLAN.md", "PLAN.md", ".claude/plans/checkout.md")


def ticks(desk: Desk, plan: Path, mode: str) -> Run:
    """The model reads its plan and ticks the first task."""
    done = edit(plan, "- [ ] Sketch it", "- [x] Sketch it")
    turns = [use(read(plan)), use(done), say("sketched")]
    return desk.run("go on", turns=turns, flags=["--permission-mode", mode])


@pytest.mark.parametrize("place", PLACES)
def test_where_edits_are_accepted_the_plan_moves(desk: Desk, place: str) -> None:
    plan = desk.write(place, PLAN)

    run = ticks(desk, plan, "acceptEdits")

    assert "- [x] Sketch it" in plan.read_text("utf-8")
    assert desk.state(".boulder.json")["session_ids"] == [run.session]
    if place.startswith(".claude"):
        assert f"allowed Edit of {place}" in desk.sisyphus("why", "--session", run.session)


@pytest.mark.parametrize("mode", ["default", "plan", "dontAsk"])
def test_where_they_are_not_the_client_decides_as_without_us(desk: Desk, mode: str) -> None:
    plan = desk.write(".claude/PLAN.md", PLAN)

    ticks(desk, plan, mode)

    assert plan.read_text("utf-8") == PLAN


def test_the_user_can_switch_it_off(desk: Desk) -> None:
    plan = desk.write(".claude/PLAN.md", PLAN)
    desk.write_home(".sisyphus/config.toml", "[permissions]\nown_files = false\n")

    ticks(desk, plan, "acceptEdits")

    assert plan.read_text("utf-8") == PLAN


def test_a_plan_is_worked_through_to_its_end(desk: Desk) -> None:
    plan = desk.write(".claude/PLAN.md", PLAN)
    one, two = (edit(plan, f"- [ ] {name}", f"- [x] {name}") for name in ("Sketch it", "Build it"))
    turns = [use(read(plan)), use(one), use(two), say("done")]

    run = desk.run("go on", turns=turns, flags=["--permission-mode", "acceptEdits"])

    assert "[BOULDER COMPLETE]" in run.told
    assert desk.state(".boulder.json") in (None, {})


@pytest.mark.parametrize(
    "path", [".claude/settings.json", ".claude/commands/go.md", ".claude/plans/other.md"]
)
def test_nothing_beside_it_is_let_through(desk: Desk, path: str) -> None:
    desk.write(".claude/PLAN.md", PLAN)
    turns = [use(write(desk.project / path, "{}\n")), say("tried")]

    desk.run("go on", turns=turns, flags=["--permission-mode", "acceptEdits"])

    assert not (desk.project / path).exists()
