"""What people see of it: why and sessions."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from making import COMMAND, HANG_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from world import World

LOOP = '/sisyphus:ralph-loop "do it" --completion-promise "DONE"'
PLAN = "# Ship it\n\n- [x] one\n- [ ] two\n"
RULE = '---\nglobs: "**/*.py"\n---\n\nAnnotate.\n'
NEWER = 99


def types(world: World, prompt: str) -> None:
    world.hook("user-prompt-submit", prompt=prompt)


def notes(world: World, *words: str) -> list[str]:
    entries = world.sisyphus("why", "--json", "-n", "100", *words).json["entries"]
    return [note for entry in entries for note in entry.get("notes", [])]


def rows(world: World, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(world.ours / "sisyphus.db")) as memory, memory:
        return memory.execute(query).fetchall()


def sessions(world: World) -> set[str]:
    return {row["session_id"] for row in world.sisyphus("sessions --json").json["sessions"]}


# What why says was done


def test_a_loop_is_named_by_what_was_done_to_it(world: World) -> None:
    world.start()
    types(world, LOOP)
    (loop,) = world.sisyphus("ralph list --json").json
    for command in ("ralph-pause", "ralph-resume", "cancel-ralph", "cancel-ralph", "ralph-stats"):
        types(world, f"/sisyphus:{command}")

    *_, paused, resumed, cancelled, again, shown = notes(world)

    name = loop["loop_id"]
    assert [paused, resumed, cancelled] == [
        f"paused loop {name}", f"resumed loop {name}", f"cancelled loop {name}",
    ]  # fmt: skip
    assert again.startswith("/cancel-ralph changed nothing: no loop is active in session s1.")
    assert shown == "answered /ralph-stats"


def test_a_plan_is_named_by_what_was_done_to_it(world: World) -> None:
    world.write(".claude/PLAN.md", PLAN)
    world.start()
    commands = {
        "start-work": "boulder started: .claude/PLAN.md",
        "checkpoint half way": "boulder checkpoint: half way",
        "boulder-enforce on": "boulder enforced: .claude/PLAN.md",
        "boulder-enforce off": "boulder not enforced any more: .claude/PLAN.md",
        "boulder-switch PLAN": "boulder switched to .claude/PLAN.md",
        "boulder-status": "answered /boulder-status",
        "boulder-clear": "boulder cleared: .claude/PLAN.md",
    }
    for command, said in commands.items():
        types(world, f"/sisyphus:{command}")
        assert said in notes(world), command
    types(world, "/sisyphus:boulder-switch nothing-like-it")
    assert notes(world)[-1].startswith("/boulder-switch changed nothing: ")


def test_enforcement_and_a_handoff_are_named(world: World) -> None:
    world.start()
    for words in ("enforce on", "enforce stop", "enforce off", "enforce what", "ralph-context"):
        types(world, f"/sisyphus:{words}")
    assert notes(world)[-5:] == [
        "enforcement switched on",
        "enforcement stopped until the next prompt",
        "enforcement switched off",
        "answered /enforce",
        "answered /ralph-context",
    ]
    world.fill(100_000)
    types(world, "/sisyphus:ralph-checkpoint")
    assert notes(world)[-1].startswith("handoff .claude/handoffs/")
    assert notes(world)[-1].endswith(".md written")


# Which session and which lines why shows


def test_the_latest_session_of_this_project_is_shown_first(world: World) -> None:
    elsewhere = world.project("elsewhere").session("s2")
    for one in (world, elsewhere):
        one.start()
        types(one, LOOP)

    assert world.sisyphus("why").stdout.startswith("Session s1 in ")
    assert elsewhere.sisyphus("why").stdout.startswith("Session s2 in ")
    nowhere = world.project("nowhere").sisyphus("why").stdout.splitlines()
    assert nowhere[0].startswith("No session was seen in ")
    assert nowhere[0].endswith("The latest of all:")
    assert nowhere[1].startswith("Session s2 in ")


def test_where_nothing_was_seen_one_line_says_so(world: World) -> None:
    for command in ("why", "sessions"):
        answer = world.sisyphus(command)
        assert (answer.exit, answer.stdout.count("\n")) == (0, 1)
        assert answer.stdout.startswith("No session was seen yet.")


def test_a_beginning_names_a_session_if_it_is_the_only_one(world: World) -> None:
    for name in ("abc1", "abd2"):
        types(world.session(name), LOOP)

    assert world.sisyphus("why --session abd").stdout.startswith("Session abd2 in ")
    assert "2 sessions begin with ab: abd2, abc1" in world.sisyphus("why --session ab").stderr
    loop = rows(world, "SELECT notes FROM event ORDER BY n LIMIT 1")[0][0].split()[1]
    assert world.sisyphus(f"why --session {loop}").stdout.startswith("Session abc1 in ")


def test_a_rule_that_was_sent_before_is_told_of_with_all_alone(world: World) -> None:
    world.write(".claude/rules/py.md", RULE)
    world.start()
    world.tool("Read", file_path="a.py")
    world.write(".cursor/rules/b.mdc", RULE.replace("**/*.py", "b.py").replace("Ann", "Not ann"))
    for file in ("a.py", "b.py"):
        world.tool("Read", file_path=file)

    told, whole = world.sisyphus("why").stdout, world.sisyphus("why --all").stdout

    assert "for the model" in told
    assert "rules for b.py: for the model .cursor/rules/b.mdc\n" in told
    assert "before" not in told
    assert "rules for b.py: for the model .cursor/rules/b.mdc; sent before" in whole


def test_lines_of_a_subagent_are_marked(world: World) -> None:
    world.write(".cursor/rules/py.mdc", RULE)
    world.start()
    world.subagent("a1b2").tool("Read", file_path="a.py")

    assert "(subagent a1b2) rules for a.py: for the model" in world.sisyphus("why").stdout
    assert world.sisyphus("why --json").json["entries"][-1]["agent"] == "a1b2"


def test_one_event_alone_and_so_many_lines(world: World) -> None:
    world.start()
    types(world, LOOP)
    for _ in range(3):
        world.hook("stop", said="not yet")

    assert len(world.sisyphus("why --event stop --json").json["entries"]) == 3
    assert len(world.sisyphus("why --event stop -n 2 --json").json["entries"]) == 2
    assert world.sisyphus("why --event stopp").exit == 2


def test_what_comes_is_followed_each_line_once(world: World) -> None:
    types(world, LOOP)
    command = [COMMAND, "why", "-f", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=world.folder) as process:
        lines = followed(process)
        assert next(lines)["event"] == "user-prompt-submit"
        for name in ("s1", "s2"):
            world.session(name).hook("stop", said="not yet")
            types(world.session(name), LOOP)
        seen = [next(lines) for _ in range(4)]
        process.terminate()
        process.wait(HANG_SECONDS)
    assert [(one["session_id"], one["event"]) for one in seen] == [
        ("s1", "stop"), ("s1", "user-prompt-submit"),
        ("s2", "stop"), ("s2", "user-prompt-submit"),
    ]  # fmt: skip


def followed(process: subprocess.Popen[bytes]) -> Iterator[dict[str, Any]]:
    assert process.stdout is not None
    for line in process.stdout:
        yield json.loads(line)


@pytest.mark.parametrize("command", ["why", "sessions", "purge --dry-run"])
def test_a_memory_that_cannot_be_used_is_a_known_failure(world: World, command: str) -> None:
    world.start()
    rows(world, f"PRAGMA user_version = {NEWER}")

    answer = world.sisyphus(command)

    assert answer.exit == 1
    assert "was made by a newer sisyphus" in answer.stderr


# sessions


def test_sessions_are_summed_up(world: World) -> None:
    world.write(".cursor/rules/py.mdc", RULE)
    world.start()
    types(world, LOOP)
    world.hook("stop", said="not yet")
    world.subagent("a1").tool("Read", file_path="a.py")

    (row,) = world.sisyphus("sessions --json").json["sessions"]
    entries = world.sisyphus("why --all -n 100 --json").json["entries"]

    assert (row["hooks"], row["blocked"], row["client"]) == (len(entries), 1, "claude")
    assert row["sent"] == sum(entry["sent"] for entry in entries) > 0
    assert row["ms"] == pytest.approx(sum(entry["ms"] for entry in entries), abs=0.1)
    assert [loop["result"] for loop in row["loops"]] == ["active"]
    heads, line, sums = world.sisyphus("sessions").stdout.splitlines()
    assert heads.split()[:2] == ["session", "began"]
    assert line.startswith("s1 ")
    assert sums.startswith(f"1 session, {len(entries)} hooks in ")


def test_the_newest_session_is_the_last_one(world: World) -> None:
    for name in ("s1", "s2", "s3"):
        world.session(name).start()
    types(world, "go on")

    shown = world.sisyphus("sessions -n 2").stdout.splitlines()

    assert [line.split()[0] for line in shown[1:3]] == ["s3", "s1"]
    assert shown[3] == "The latest 2 of 3; `-n` shows more."
