"""`sisyphus demo` plays through the real hooks, wherever it is started."""

from __future__ import annotations

from world import World

MOST_LINES = 40
"""A terminal shows them without scrolling back far."""


def test_a_tick_whose_check_fails(world: World) -> None:
    shown = world.cli("demo")

    assert shown.code == 0, shown
    told = [
        "Lighthouse: 0 of 2 tasks",
        "1 command is trusted in ~/lighthouse now.",
        "Hold ",
        "Ticked: Light the lamp. Its check has not run since the last change: sh test.sh",
        "Hold of the plan: 1 of 2 tasks",
        "The check of “Light the lamp” does not pass: sh test.sh exited 1\n"
        "    lamp.py: the lamp is dark",
        "[BOULDER HOLD COMPLETE]",
        "Its ticks: 1 checked, 1 changed.",
    ]
    places = [shown.out.index(each) for each in told]
    assert places == sorted(places)
    assert len(shown.out.splitlines()) <= MOST_LINES


def test_in_the_shell_of_an_agent(world: World) -> None:
    """Everything there is the user's: its home and its project are made for it."""
    for name in (
        "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID", "CODEX_SESSION_ID", "QWEN_CODE_SESSION_ID",
        "COPILOT_AGENT_SESSION_ID", "SISYPHUS_SESSION_ID",
    ):  # fmt: skip
        world.setenv(name, "1")
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "QWEN_HOME", "COPILOT_HOME"):
        world.setenv(name, str(world.root / "elsewhere"))

    shown = world.cli("demo")

    assert shown.code == 0, shown
    assert shown.out.endswith("`sisyphus install` wires it into your agents.\n")
    assert not (world.root / "elsewhere").exists()
