from __future__ import annotations

import pytest

from boulder.scene import PLAN, Scene, is_silent, model, user

STATUS = """\
Plan: Ship it (active)
Progress: 1/3 tasks complete
Next task: two
File: {plan}
Started: 2001-09-09T01:46:41Z
Sessions: 1"""

SPELLINGS = ["/boulder-status", "/sisyphus:boulder-status", "  /boulder-status \n"]


@pytest.mark.parametrize("prompt", SPELLINGS)
def test_the_status_is_answered_at_once(scene: Scene, prompt: str) -> None:
    scene.edit(PLAN)
    outcome = scene.prompt(prompt)
    assert outcome.reason == STATUS.format(plan=scene.project / ".claude/PLAN.md")


OTHER_PROMPTS = [
    "boulder-status",
    "/boulder-statuses",
    "/other:boulder-status",
    "see /boulder-status",
    "/help",
    "",
    "/boulder",
    "/boulder-clear is a command I wonder about",
    "/boulder-status\nWhat does it do?",
    '/sisyphus:boulder-clear ""',
]


@pytest.mark.parametrize("prompt", OTHER_PROMPTS)
def test_any_other_prompt_goes_to_the_model(scene: Scene, prompt: str) -> None:
    scene.edit(PLAN)
    assert is_silent(scene.prompt(prompt))
    assert scene.in_use


def test_clear_answers_and_clears(scene: Scene) -> None:
    scene.edit(PLAN)
    answer = scene.prompt("/sisyphus:boulder-clear").reason
    assert answer == (
        f"Boulder cleared: Ship it ({scene.project}/.claude/PLAN.md). "
        "It comes back by `sisyphus boulder start`."
    )
    assert scene.in_use is None


def test_clear_without_a_plan_says_so(scene: Scene) -> None:
    answer = scene.prompt("/boulder-clear").reason
    assert answer
    assert "nothing to clear" in answer


def test_switch_answers_with_the_status_of_the_plan(scene: Scene) -> None:
    scene.edit("# Second\n- [ ] x\n", ".claude/plans/second.md")
    scene.edit(PLAN)
    answer = scene.prompt('/boulder-switch "second"').reason
    assert answer
    assert answer.startswith("Boulder state tracking enabled for this plan.\n\nPlan: Second")
    assert scene.plan_in_use.endswith("second.md")


def test_start_work_goes_on_to_the_model_with_the_plan(scene: Scene) -> None:
    scene.write(PLAN, "docs/kord/plans/ship.md")
    outcome = scene.prompt("/start-work ship", session="s7")
    assert outcome.reason is None
    assert model(outcome).startswith("[BOULDER STATE DETECTED]\n\nActive plan: Ship it\n")
    assert "Boulder state tracking enabled for this plan: Ship it" in user(outcome)
    assert scene.in_use
    assert scene.in_use["session_ids"] == ["s7"]


def test_start_work_without_a_plan_is_answered_at_once(scene: Scene) -> None:
    outcome = scene.prompt("/sisyphus:start-work")
    assert outcome.reason
    assert "no open plan" in outcome.reason
    assert model(outcome) == ""
