"""Commands that were pasted into the prompt, as people really paste them."""

from __future__ import annotations

import pytest
from world import World


@pytest.mark.parametrize(
    "text",
    [
        '/sisyphus:ralph-loop "Build it" \\\n  --completion-promise "DONE" \\\n  '
        "--max-iterations 20",
        "/sisyphus:ralph-loop Build it \\\r\n  --completion-promise DONE \\\r\n "
        "--max-iterations 20",
        "/sisyphus:ralph-loop /sisyphus:ralph-loop Build it --completion-promise DONE "
        "--max-iterations 20",
        '/sisyphus:ralph-loop "/sisyphus:ralph-loop Build it --completion-promise DONE" '
        "--max-iterations 20",
        "/sisyphus:ralph-loop Build it -max-iterations 20 -completion-promise DONE",
        "/sisyphus:ralph-loop --max-iterations 20 \\\n --completion-promise DONE \\\n Build it",
    ],
)
def test_a_pasted_command_is_read_as_it_was_meant(world: World, text: str) -> None:
    world.start()
    world.prompt(text=text)

    (loop,) = world.loops()
    assert (loop["prompt"], loop["completion_promise"]) == ("Build it", "DONE")
    assert loop["max_iterations"] == 20


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Build it --completion-promise=TWO WORDS", "Does WORDS belong to --completion-promise?"),
        ("Build it --max-minutes 8d", "or 90m or 8h"),
        ("git push -force", "-force has one dash"),
    ],
)
def test_what_nobody_can_tell_is_refused(world: World, text: str, why: str) -> None:
    world.start()
    reply = world.prompt(text=f"/sisyphus:ralph-loop {text}")

    assert why in reply.reason
    assert world.loops() == []


@pytest.mark.parametrize(("given", "minutes"), [("8h", 480), ("90m", 90), ("1h30m", 90), ("7", 7)])
def test_hours_are_read_in_a_terminal_too(world: World, given: str, minutes: int) -> None:
    world.start()
    words = ("--session-id", "s1", "--max-minutes", given)

    assert world.cli("ralph", "start", *words, "--", "Build it").code == 0
    assert world.loops()[0]["max_minutes"] == minutes
