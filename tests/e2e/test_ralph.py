from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from e2e.script import Turn, agent, background, read, say, skill, use
from e2e.texts import COMPLETE, GO_ON

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.desk import Desk

ARGUMENTS = '"do it" --completion-promise "DONE"'
TYPED = f"/ralph-wiggum:ralph-loop {ARGUMENTS}"
PROMISE = say("All is well.\n\n<promise>DONE</promise>")
NOT_YET = say("Not yet.")
OFF = {"SISYPHUS_DISABLE": "1"}
NO_BREAKER = "[ralph]\nno_progress = 0\n"


@pytest.fixture(autouse=True)
def ralph_wiggum(desk: Desk, tmp_path: Path) -> None:
    """A stand-in for the plugin whose command starts a loop."""
    folder = tmp_path / "ralph-wiggum"
    for name, text in (
        (".claude-plugin/plugin.json", json.dumps({"name": "ralph-wiggum", "version": "1.0.0"})),
        ("commands/ralph-loop.md", "---\ndescription: Start a loop\n---\n\nTask: $ARGUMENTS\n"),
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    desk.plugins.append(folder)


def test_a_typed_loop_holds_until_its_promise(desk: Desk) -> None:
    run = desk.run(TYPED, turns=[NOT_YET, NOT_YET, PROMISE])

    assert [GO_ON in request.last for request in run.requests] == [False, True, True]
    assert COMPLETE in run.told


def test_a_loop_that_the_model_starts_holds_until_its_promise(desk: Desk) -> None:
    started = use(skill("ralph-wiggum:ralph-loop", ARGUMENTS))

    run = desk.run("please loop", turns=[started, NOT_YET, PROMISE])

    assert [GO_ON in request.last for request in run.requests] == [False, False, True]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("```\n<promise>DONE</promise>\n```", id="in a fence"),
        pytest.param("I will say `<promise>DONE</promise>` then.", id="in inline code"),
        pytest.param("> <promise>DONE</promise>", id="in a quote"),
        pytest.param("<!-- <promise>DONE</promise> -->", id="in a comment"),
        pytest.param("DONE", id="the bare word"),
        pytest.param("<promise>OTHER</promise>", id="another promise"),
        pytest.param("<promise>DONE", id="not closed"),
    ],
)
def test_what_only_looks_like_the_promise_does_not_end_the_loop(desk: Desk, text: str) -> None:
    run = desk.run(TYPED, turns=[say(text), PROMISE])

    assert GO_ON in run.requests[1].last


def test_an_ended_loop_does_not_come_back(desk: Desk) -> None:
    run = desk.run(TYPED, "and now?", turns=[NOT_YET, PROMISE, NOT_YET])
    resumed = desk.resume(run, "and now?", turns=[NOT_YET])

    assert GO_ON not in run.requests[-1].last
    assert GO_ON not in resumed.requests[-1].last


def test_the_same_promise_must_be_kept_anew_for_the_next_loop(desk: Desk) -> None:
    run = desk.run(TYPED, TYPED, turns=[PROMISE, NOT_YET, PROMISE])

    assert [GO_ON in request.last for request in run.requests] == [False, False, True]


def test_a_loop_ends_at_its_limit(desk: Desk) -> None:
    run = desk.run(f"{TYPED} --max-iterations 2", turns=[NOT_YET, NOT_YET])

    assert GO_ON in run.requests[-1].last
    assert "limit of 2 iterations" in run.told


def test_a_nested_loop_ends_and_the_outer_one_goes_on(desk: Desk) -> None:
    nested = use(skill("ralph-wiggum:ralph-loop", '"a part" --completion-promise "PART"'))
    kept = say("<promise>PART</promise>")

    run = desk.run(TYPED, turns=[nested, NOT_YET, kept, NOT_YET, PROMISE])

    expected = [re.findall(r"^Expected promise: .*", r.last, re.MULTILINE) for r in run.requests]
    assert [set(lines) for lines in expected] == [
        set(),
        set(),
        {"Expected promise: <promise>PART</promise>"},
        {"Expected promise: <promise>DONE</promise>"},
        {"Expected promise: <promise>DONE</promise>"},
    ]


def test_the_prompt_travels_again_after_a_compaction(desk: Desk) -> None:
    file = desk.write("one.py", "1")
    full = Turn("Reading.", (read(file),), tokens=990_000)  # near the window: the client compacts

    run = desk.run(TYPED, turns=[NOT_YET, full, NOT_YET, NOT_YET, PROMISE])

    whole = "The prompt of this ralph loop:\n\ndo it"
    assert "What was said before." in run.requests[2].text
    assert [whole in r.last for r in run.requests] == [False, False, False, True, False]


def test_plan_mode_waits_for_the_user(desk: Desk) -> None:
    run = desk.run(TYPED, turns=[NOT_YET], flags=["--permission-mode", "plan"])

    assert len(run.requests) == 1


def test_prose_about_ralph_starts_no_loop(desk: Desk) -> None:
    run = desk.run(f"What does {TYPED} do?", turns=[say("It loops.")])

    assert len(run.requests) == 1


def test_a_subagent_stops_freely_while_a_loop_is_active(desk: Desk) -> None:
    file = desk.write("one.py", "1")

    run = desk.run(
        TYPED,
        turns=[use(agent("read one.py")), NOT_YET, PROMISE],
        agent_turns=[use(read(file)), say("read it")],
    )

    assert len(run.agents) == 2
    assert not any("[RALPH LOOP" in request.text for request in run.agents)
    assert GO_ON in run.main[-1].last


def test_a_subagents_promise_does_not_end_the_loop(desk: Desk) -> None:
    run = desk.run(
        TYPED,
        turns=[use(agent("do it all")), NOT_YET, PROMISE],
        agent_turns=[PROMISE],
    )

    assert GO_ON in run.main[-1].last


def test_a_subagent_starts_no_loop(desk: Desk) -> None:
    started = use(skill("ralph-wiggum:ralph-loop", ARGUMENTS))

    run = desk.run(
        "delegate",
        turns=[use(agent("loop")), NOT_YET],
        agent_turns=[started, NOT_YET],
    )

    assert not any("[RALPH LOOP" in request.text for request in run.requests)


@pytest.mark.parametrize(
    ("cap", "answers"),
    [
        pytest.param({}, 8, id="the client's default of 8"),
        pytest.param({"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "3"}, 3, id="a cap of 3"),
    ],
)
def test_the_loop_pauses_by_itself_before_the_client_overrides_it(
    desk: Desk, cap: dict[str, str], answers: int
) -> None:
    desk.write_home(".sisyphus/config.toml", NO_BREAKER)

    run = desk.run(TYPED, turns=[NOT_YET] * answers, env=cap)

    assert [GO_ON in request.last for request in run.requests] == [False] + [True] * (answers - 1)
    assert "paused" in run.told


def test_a_paused_loop_goes_on_with_the_next_prompt(desk: Desk) -> None:
    cap = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "2"}
    paused = desk.run(TYPED, turns=[NOT_YET] * 2, env=cap)

    run = desk.resume(paused, "go on", turns=[NOT_YET, PROMISE])

    assert GO_ON in run.requests[-1].last


def test_a_tool_call_starts_the_clients_count_anew(desk: Desk) -> None:
    file = desk.write("one.py", "1")
    busy = [*[NOT_YET] * 6, use(read(file)), *[NOT_YET] * 6, PROMISE]
    desk.write_home(".sisyphus/config.toml", NO_BREAKER)

    run = desk.run(TYPED, turns=busy)

    assert sum(GO_ON in request.last for request in run.requests) == 12
    assert COMPLETE in run.told


def test_without_a_cap_the_loop_goes_on(desk: Desk) -> None:
    uncapped = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"}

    run = desk.run(TYPED, turns=[*[NOT_YET] * 4, PROMISE], env=uncapped)

    assert COMPLETE in run.told


def test_the_loop_waits_for_background_work(desk: Desk) -> None:
    started = use(background("sleep 1"))

    run = desk.run(TYPED, turns=[started, say("It runs."), NOT_YET, PROMISE])

    assert "<task-notification>" in run.requests[2].last
    assert [GO_ON in request.last for request in run.requests] == [False, False, False, True]


def test_a_start_that_no_hook_saw_is_found_in_the_transcript(desk: Desk) -> None:
    unseen = desk.run(TYPED, turns=[NOT_YET], env=OFF)

    run = desk.resume(unseen, "go on", turns=[NOT_YET, PROMISE])

    assert GO_ON in run.requests[-1].last


@pytest.mark.parametrize(
    ("env", "answers"),
    [
        pytest.param(OFF, 1, id="that no hook saw"),
        pytest.param({"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "2"}, 2, id="that waits in its parent"),
    ],
)
def test_a_fork_adopts_no_loop(desk: Desk, env: dict[str, str], answers: int) -> None:
    parent = desk.run(TYPED, turns=[NOT_YET] * answers, env=env)

    fork = desk.fork(parent, "another way", turns=[NOT_YET])

    assert len(fork.requests) == 1


def test_our_own_command_starts_a_loop_and_tells_the_task(desk: Desk) -> None:
    typed = '/sisyphus:ralph-loop "count to three" --completion-promise "ALL DONE"'

    run = desk.run(typed, turns=[say("one"), say("two three\n\n<promise>ALL DONE</promise>")])

    assert run.requests[0].count("count to three") >= 1
    assert "[RALPH LOOP ENFORCEMENT]" in run.requests[1].last
    assert "<promise>ALL DONE</promise>" in run.requests[1].last
    assert "[RALPH LOOP COMPLETE]" in run.told
