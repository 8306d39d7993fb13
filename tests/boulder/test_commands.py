from __future__ import annotations

import pytest
from command_files import put_foreign, put_ours

from boulder.scene import PLAN, Scene, is_silent, model, user
from sisyphus.boulder import actions

STATUS = """\
Ship it  (active)
██████░░░░░░░░░░░░░░ 1/3 tasks complete  33 %

Next        two
"""

SPELLINGS = ["/boulder-status", "/sisyphus:boulder-status", "  /boulder-status \n"]


@pytest.mark.parametrize("prompt", SPELLINGS)
def test_the_status_is_answered_at_once(scene: Scene, prompt: str) -> None:
    scene.edit(PLAN)
    answer = scene.prompt(prompt).reason
    assert answer
    assert answer.startswith(STATUS)


@pytest.mark.parametrize("name", ["boulder-status", "boulder-clear", "start-work"])
def test_a_users_own_command_of_the_name_is_his(scene: Scene, name: str) -> None:
    put_foreign(scene.home, name)
    scene.edit(PLAN)
    assert is_silent(scene.prompt(f"/{name}"))
    assert scene.in_use


def test_a_command_file_of_ours_leaves_it_to_us(scene: Scene) -> None:
    put_ours(scene.home, "boulder-status")
    scene.edit(PLAN)
    assert scene.prompt("/boulder-status").reason


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
        "It comes back by `sisyphus boulder start`, or when its file changes."
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
    assert answer.startswith("Boulder state tracking enabled for this plan.\n\nSecond  (active)\n")
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


KORD = "# Docs\n\n## Wave 1\n\n### S01: A\n- [ ] a\n\n## Wave 2\n\n### S02: B\n- [ ] b\n"

CHECKPOINTS = [
    pytest.param('message with "quotes" --story S02', 'message with "quotes"', "S02", id="quotes"),
    pytest.param('--story=s02 "the message"', "the message", "S02", id="an option before it"),
    pytest.param("--wave 2 half done --story S02", "half done", "S02", id="on both sides"),
    pytest.param("'done' --story \"S02\"", "done", "S02", id="a quoted value"),
    pytest.param("first\nsecond --wave 2", "first second", "S02", id="two lines"),
    pytest.param('"a" and "b"', '"a" and "b"', "S01", id="quotes at both ends"),
    pytest.param('"no --wave 9"', "no --wave 9", "S01", id="an option in quotes"),
    pytest.param("the --wave option works", "the --wave option works", "S01", id="in a sentence"),
    pytest.param("--waves and --stories", "--waves and --stories", "S01", id="like an option"),
    pytest.param("", "Wave 1 S01 (A): 0/1 tasks done (0/2 in all); next: a (line 6)", "S01",
                 id="no words"),
]  # fmt: skip


@pytest.mark.parametrize("spelling", ["/checkpoint", "/sisyphus:checkpoint"])
@pytest.mark.parametrize(("typed", "message", "story"), CHECKPOINTS)
def test_a_checkpoint_is_set_as_it_is_typed(
    scene: Scene, spelling: str, typed: str, message: str, story: str
) -> None:
    scene.edit(KORD)
    assert scene.prompt(f"{spelling} {typed}").reason == f"Checkpoint of Docs: {message}"
    found = actions.status(scene.space())
    assert found["current_story"] == story
    assert found["checkpoint"]
    assert found["checkpoint"]["message"] == message


NO_CHECKPOINTS = [
    pytest.param("x --story S99", "no story S99. Its stories: S01, S02.", id="unknown story"),
    pytest.param("x --wave 9", "no wave 9. Its waves: 1, 2.", id="unknown wave"),
    pytest.param("x --wave -1", "no wave -1", id="negative wave"),
    pytest.param("x --wave two", "--wave needs a wave, like `--wave 2", id="no number"),
    pytest.param("--story", "--story needs a story", id="no value"),
    pytest.param("--wave= x", "--wave needs a wave", id="an empty value"),
    pytest.param("x --story ''", "--story needs a story", id="an empty value in quotes"),
    pytest.param("--story S01 --wave 2", "story S01 is in wave 1, not in wave 2", id="not there"),
]


@pytest.mark.parametrize("spelling", ["/checkpoint", "/sisyphus:checkpoint"])
@pytest.mark.parametrize(("typed", "words"), NO_CHECKPOINTS)
def test_a_checkpoint_that_cannot_be_set_says_why(
    scene: Scene, spelling: str, typed: str, words: str
) -> None:
    scene.edit(KORD)
    answer = scene.prompt(f"{spelling} {typed}").reason
    assert answer
    assert words in answer
    assert actions.status(scene.space())["checkpoint"] is None


def test_where_nobody_follows_a_plan_a_checkpoint_may_be_anybodys(scene: Scene) -> None:
    assert is_silent(scene.prompt("/checkpoint before the merge"))
    answer = scene.prompt("/sisyphus:checkpoint before the merge").reason
    assert answer
    assert "no plan is followed" in answer


def _two(scene: Scene) -> None:
    scene.write(PLAN)
    scene.write("# Second\n- [ ] x\n", ".claude/plans/second.md")
    scene.start()


def test_the_status_names_the_plans_where_none_is_chosen(scene: Scene) -> None:
    _two(scene)
    answer = scene.prompt("/boulder-status").reason
    assert answer
    assert answer.startswith("No plan is chosen here. Open plans:\n\n")
    assert "Ship it" in answer
    assert "Second" in answer
    assert answer.endswith("To continue one: sisyphus boulder start NAME")


def test_the_list_names_the_plans_of_all_projects(scene: Scene) -> None:
    _two(scene)
    answer = scene.prompt("/sisyphus:boulder-list").reason
    assert answer
    project, row, *_ = answer.split("\n")
    assert str(scene.project).startswith(project.rstrip("…"))
    assert "Second" in row
    assert "1/3" in answer


def test_enforcement_is_switched_on_and_off(scene: Scene) -> None:
    scene.edit(PLAN)
    on = scene.prompt("/sisyphus:boulder-enforce on").reason
    assert on
    assert on.startswith("Boulder enforced: Ship it")
    assert actions.status(scene.space())["enforced"]
    off = scene.prompt("/boulder-enforce off").reason
    assert off
    assert off.startswith("Boulder not enforced any more: Ship it")


def test_the_user_says_it_again_in_the_session(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.edit(PLAN)
    monkeypatch.setenv("CLAUDECODE", "1")
    for _ in range(2):
        on = scene.prompt("/sisyphus:boulder-enforce on").reason
        assert on
        assert on.startswith("Boulder enforced: Ship it (.claude/PLAN.md).")


@pytest.mark.parametrize("typed", ["", "maybe", "on off", "on --max-iterations x", "on --most 7"])
def test_enforcement_is_on_or_off(scene: Scene, typed: str) -> None:
    scene.edit(PLAN)
    answer = scene.prompt(f"/sisyphus:boulder-enforce {typed}").reason
    assert answer
    assert answer.startswith("say /sisyphus:boulder-enforce off, or on with")


def test_enforcement_has_limits_in_a_session_too(scene: Scene) -> None:
    scene.edit(PLAN)
    scene.prompt("/sisyphus:boulder-enforce on --max-iterations 7 --max-minutes=90")
    enforced = actions.status(scene.space())["enforced"]
    assert enforced
    assert (enforced["max_iterations"], enforced["max_minutes"]) == (7, 90)


STARTS = ["second --in-repo", "--in-repo second", '"second" --in-repo']


@pytest.mark.parametrize("typed", STARTS)
def test_start_work_can_put_the_record_into_the_project(scene: Scene, typed: str) -> None:
    _two(scene)
    outcome = scene.prompt(f"/sisyphus:start-work {typed}", session="s7")
    assert "Active plan: Second" in model(outcome)
    assert (scene.project / "docs/kord/boulder.json").exists()
    assert scene.book()["sessions"]["s7"].endswith("second.md")
    assert scene.book()["chosen"] is None


def test_a_name_may_hold_the_words_of_an_option(scene: Scene) -> None:
    scene.write("# Move --in-repo-2\n- [ ] x\n", ".claude/plans/move.md")
    outcome = scene.prompt("/start-work move --in-repo-2")
    assert "Active plan: Move --in-repo-2" in model(outcome)
    assert not (scene.project / "docs").exists()


def test_an_answer_holds_no_control_characters(scene: Scene) -> None:
    answer = scene.prompt("/start-work \x1b[31m").reason
    assert answer
    assert answer.isprintable()
