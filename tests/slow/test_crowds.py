"""64 hooks at once: each text once, nothing lost, the store whole."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from doors import crowd, exports_are_current, finish, is_whole, query, start
from world import Json, World

pytestmark = pytest.mark.slow

CROWD = 64


def text(reply: Json) -> str:
    return str(reply.get("hookSpecificOutput", {}).get("additionalContext", ""))


def test_of_64_first_hooks_one_sends_the_rule(world: World) -> None:
    world.rule("a.md", "MARK", applies_to="*.txt")

    replies = crowd("post-tool-use", [world.payload("PostToolUse.Read")] * CROWD)

    assert sum("MARK" in text(reply) for reply in replies) == 1
    assert is_whole(world)
    assert exports_are_current(world)


def test_64_hooks_each_send_their_own_rule(world: World) -> None:
    for number in range(CROWD):
        world.rule(f"{number}.md", f"MARK-{number}-.", applies_to=f"f{number}.py")
    payloads = [
        world.payload("PostToolUse.Read", tool_input={"file_path": str(world.project / f"f{n}.py")})
        for n in range(CROWD)
    ]

    sent = "".join(text(reply) for reply in crowd("post-tool-use", payloads))

    assert [n for n in range(CROWD) if sent.count(f"MARK-{n}-.") != 1] == []
    assert exports_are_current(world)


def test_of_64_starts_one_sends_the_documents(world: World) -> None:
    world.write("README.md", "MARK\n")

    replies = crowd("session-start", [world.payload("SessionStart.startup")] * CROWD)

    assert sum("MARK" in text(reply) for reply in replies) == 1


def test_each_of_64_sessions_gets_the_documents(world: World) -> None:
    world.write("README.md", "MARK\n")
    payloads = [world.payload("SessionStart.startup", f"s{n}") for n in range(CROWD)]

    replies = crowd("session-start", payloads)

    assert [text(reply).count("MARK") for reply in replies] == [1] * CROWD
    assert query(world, "SELECT count(*) FROM session") == [(CROWD,)]


def test_64_hooks_set_an_unreadable_store_aside_once(world: World) -> None:
    world.write("README.md", "MARK\n")
    world.ours.mkdir(parents=True)
    (world.ours / "sisyphus.db").write_text("not a database " * 500)

    replies = crowd("session-start", [world.payload("SessionStart.startup")] * CROWD)

    assert sum("MARK" in text(reply) for reply in replies) == 1
    assert len(list(world.ours.glob("sisyphus.db.corrupt-*"))) == 1
    messages = [reply.get("systemMessage", "") for reply in replies]
    assert sum("started a new one" in message for message in messages) == 1
    assert is_whole(world)


def test_of_64_stops_one_blocks_for_an_iteration(world: World) -> None:
    world.loop()

    replies = crowd("stop", [world.stop_payload("So far.")] * CROWD)

    (loop,) = world.loops()
    assert 1 <= sum(bool(text(reply)) for reply in replies) == loop["iteration"] - 1


def test_sessions_of_eight_projects_at_once_get_their_own_documents(world: World) -> None:
    projects = [world.new_project(f"p{n}") for n in range(8)]
    for project in projects:
        (project / "README.md").write_text(f"{project.name}\n")

    def work(project: os.PathLike[str]) -> list[str]:
        name = os.path.basename(project)
        fields = {"cwd": str(project), "source": "startup"}
        payloads = [
            world.payload("SessionStart.startup", f"{name}-{n}", **fields) for n in range(10)
        ]
        return [text(finish(start("session-start", payload))) for payload in payloads]

    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(work, projects))

    for project, replies in zip(projects, texts, strict=True):
        assert [f"# README.md\n\n{project.name}\n" in reply for reply in replies] == [True] * 10
