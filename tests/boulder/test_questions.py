from __future__ import annotations

from boulder.scene import DAY, Scene, model, user


def test_of_many_open_plans_the_first_are_named(scene: Scene) -> None:
    for number in range(23):
        scene.write("- [ ] a\n", f".claude/plans/p{number:02}.md")
    told = scene.start()
    assert "23 plans are open in this project" in model(told)
    assert "- p22: 0/1 tasks complete (.claude/plans/p22.md)\n" in model(told)
    assert "(.claude/plans/p03.md)\n- and 3 more\n\n" in model(told)
    assert user(told).endswith("p03 (0/1) and 3 more. To continue one: /sisyphus:start-work NAME")


def test_a_name_that_would_turn_a_terminal_round_does_not(scene: Scene) -> None:
    scene.write("# One\u202eeno\n- [ ] a\n", ".claude/plans/one.md")
    scene.write("# Two\U000e0041\n- [ ] a\n", ".claude/plans/two.md")
    told = scene.start()
    assert "- Two : 0/1" in model(told)
    assert user(told).endswith(
        "Two  (0/1), One eno (0/1). To continue one: /sisyphus:start-work NAME"
    )


def test_an_open_plan_that_is_stale_is_called_so(scene: Scene) -> None:
    scene.write("- [ ] a\n", ".claude/plans/old.md")
    scene.now += 20 * DAY
    scene.write("- [ ] a\n", ".claude/plans/one.md")
    scene.write("- [ ] a\n", ".claude/plans/two.md")
    assert "(.claude/plans/old.md), stale\n" in model(scene.start())
