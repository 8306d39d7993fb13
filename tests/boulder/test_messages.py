from __future__ import annotations

from boulder.scene import PLAN, Scene, model
from sisyphus.boulder import actions


def test_a_task_without_words_is_named_by_its_line(scene: Scene) -> None:
    scene.write("# Docs\n\n- [ ]\n")
    assert scene.start().texts[0].body.endswith("Next task: line 3")


def test_wave_and_story_without_a_name_are_named_by_number(scene: Scene) -> None:
    scene.write("## Wave 1\n### S01:\n- [ ] a\n")
    body = scene.start().texts[0].body
    assert body.endswith("Next task: a\nCurrent wave: 1\nCurrent story: S01")


def _with_todos(scene: Scene, count: int) -> str:
    """What a session is told of a plan with so many todos, the first one in progress."""
    scene.write(PLAN)
    scene.start()
    todos = [
        {"content": f"Todo\n{number}", "status": "pending" if number else "in_progress"}
        for number in range(count)
    ]
    scene.tool(scene.project, tool_name="TodoWrite", tool_input={"todos": todos})
    return model(scene.start("s2"))


def test_open_todos_are_told(scene: Scene) -> None:
    assert _with_todos(scene, 2).endswith("\nOpen todos:\n- Todo 0 (in progress)\n- Todo 1")


def test_of_many_todos_the_first_are_told(scene: Scene) -> None:
    assert _with_todos(scene, 13).endswith("\n- Todo 9\n- and 3 more")


def test_after_a_compaction_few_words_do(scene: Scene) -> None:
    scene.write("# Docs\n\n## Wave 1 — Base\n\n### S01: Form\n- [x] a\n- [ ] b\n- [~] c\n")
    scene.start()
    actions.checkpoint(scene.space(), "form half done")
    assert model(scene.start(source="compact")) == (
        "[BOULDER STATE DETECTED]\n\n"
        "Active plan: Docs (1/3 tasks complete, .claude/PLAN.md)\n"
        "Next task: b\n"
        "Current wave: 1 — Base\n"
        "Current story: S01: Form\n"
        "Last checkpoint: form half done\n"
        "Blocked: 1"
    )
