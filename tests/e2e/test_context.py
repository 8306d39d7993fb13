from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from e2e.script import agent, read, say, use
from e2e.texts import DOCUMENTS

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.desk import Desk
    from e2e.wire import Request

README = "# Lighthouse\n\nKeeps ships off the rocks.\n"
AGENTS = "# For agents\n\nNever touch the lamp.\n"
LINES = [f"line {n:03d} " + "of a long read" * 6 for n in range(400)]  # about four replies


def test_the_readme_is_sent_once_over_start_and_two_resumes(desk: Desk) -> None:
    desk.write("README.md", README)

    start = desk.run("hello", turns=[say("hi")])
    first = desk.resume(start, "more", turns=[say("yes")])
    second = desk.resume(first, "still more", turns=[say("yes")])

    counts = [run.requests[0].count("Keeps ships off the rocks.") for run in (start, first, second)]
    assert counts == [1, 1, 1]


def test_the_readme_is_sent_once_more_after_a_compaction(desk: Desk) -> None:
    desk.write("README.md", README)

    start = desk.run("hello", "/compact", "more", turns=[say("hi"), say("yes")])
    resumed = desk.resume(start, "still more", turns=[say("yes")])

    requests = [*start.requests, *resumed.requests]
    assert [r.count("Keeps ships off the rocks.") for r in requests] == [1, 1, 1]
    assert "What was said before." in start.requests[-1].text


def test_the_readme_is_sent_once_more_after_a_clear(desk: Desk) -> None:
    desk.write("README.md", README)

    run = desk.run("hello", "/clear", "anew", "more", turns=[say("hi"), say("hi"), say("yes")])

    assert [r.count("Keeps ships off the rocks.") for r in run.requests] == [1, 1, 1]
    assert "hello" not in run.requests[-1].text


def test_a_readme_that_changed_is_sent_on_resume(desk: Desk) -> None:
    desk.write("README.md", README)
    start = desk.run("hello", turns=[say("hi")])
    desk.write("README.md", README + "And now with fog horn.\n")

    resumed = desk.resume(start, "more", turns=[say("yes")])

    assert resumed.requests[0].count("And now with fog horn.") == 1


def test_a_fork_is_not_sent_what_it_inherited(desk: Desk) -> None:
    desk.write("README.md", README)
    start = desk.run("hello", turns=[say("hi")])

    fork = desk.fork(start, "another way", "and on", turns=[say("yes"), say("yes")])

    assert fork.session != start.session
    assert [r.count("Keeps ships off the rocks.") for r in fork.requests] == [1, 1]


def test_a_long_readme_arrives_whole_and_in_order_over_several_requests(desk: Desk) -> None:
    files = _long(desk)

    run = desk.run("look around", turns=[*(use(read(file)) for file in files), say("seen")])

    arrived = [len(_lines_of(request)) for request in run.requests]
    assert 0 < arrived[0] < arrived[1] < arrived[2] <= len(LINES)
    assert _lines_of(run.requests[-1]) == LINES


def test_a_long_readme_arrives_whole_with_parallel_calls(desk: Desk) -> None:
    """All calls of an answer have one reply, which carries the next piece."""
    files = _long(desk)
    turns = [use(*(read(file) for file in files)) for _ in files]

    run = desk.run("look around", turns=[*turns, say("seen")])

    assert _lines_of(run.requests[-1]) == LINES


def test_what_waits_of_a_long_readme_outlives_a_resume(desk: Desk) -> None:
    _long(desk)
    start = desk.run("hello", turns=[say("hi")])

    run = desk.resume(start, "more", "more", "more", turns=[say("yes")] * 3)

    assert _lines_of(run.requests[-1]) == LINES


def test_a_compaction_begins_a_long_readme_anew(desk: Desk) -> None:
    files = _long(desk)
    look = [*(use(read(file)) for file in files), say("seen")]

    run = desk.run("hello", "/compact", "look around", turns=[say("hi"), *look])

    assert _lines_of(run.requests[-1]) == LINES


def test_a_fork_gets_what_its_parent_still_waited_for(desk: Desk) -> None:
    _long(desk)
    start = desk.run("hello", turns=[say("hi")])

    fork = desk.fork(start, *["more"] * 4, turns=[say("yes")] * 4)

    assert 0 < len(_lines_of(start.requests[-1])) < len(LINES)
    assert _lines_of(fork.requests[-1]) == LINES


def test_a_subagent_takes_nothing_of_what_waits(desk: Desk) -> None:
    files = _long(desk)
    look = [*(use(read(file)) for file in files), say("seen")]

    run = desk.run("look", turns=[use(agent("look around")), *look], agent_turns=look)

    assert [_lines_of(request) for request in run.agents] == [[]] * len(look)
    assert _lines_of(run.main[-1]) == LINES


def _long(desk: Desk) -> list[Path]:
    """A README of several replies, and some files to read."""
    desk.write("README.md", "\n".join(LINES))
    return [desk.write(f"{n}.txt", f"file {n}") for n in range(5)]


def _lines_of(request: Request) -> list[str]:
    return re.findall(r"^line \d{3} .*$", request.text, re.MULTILINE)


NO_PLUGIN = json.dumps({"enabledPlugins": {"cc-plugin-agents-md@builtin": False}})
EXCLUDED = json.dumps({"claudeMdExcludes": ["**/CLAUDE.md"]})


@pytest.mark.parametrize(
    ("others", "ours"),
    [
        pytest.param({}, False, id="alone, the client's own job"),
        pytest.param({"CLAUDE.md": "Be kind."}, True, id="beside CLAUDE.md, ours"),
        pytest.param({".claude/CLAUDE.md": "Be kind."}, True, id="beside .claude/CLAUDE.md, ours"),
        pytest.param({"CLAUDE.local.md": "Be kind."}, True, id="beside CLAUDE.local.md, ours"),
        pytest.param({"../CLAUDE.md": "Be kind."}, True, id="below a CLAUDE.md, ours"),
        pytest.param({"CLAUDE.md": "See @AGENTS.md"}, False, id="imported by CLAUDE.md"),
        pytest.param({"CLAUDE.md": "```\n@AGENTS.md\n```"}, True, id="quoted in CLAUDE.md, ours"),
        pytest.param({"CLAUDE.md": "\n"}, False, id="beside an empty CLAUDE.md"),
        pytest.param({"CLAUDE.md": "<!-- todo -->"}, False, id="beside a comment in CLAUDE.md"),
        pytest.param({"src/CLAUDE.md": "Be kind."}, False, id="above a CLAUDE.md"),
        pytest.param({"../home/.claude/CLAUDE.md": "Be kind."}, False, id="CLAUDE.md in HOME"),
        pytest.param({".claude/settings.json": NO_PLUGIN}, True, id="plugin switched off, ours"),
        pytest.param(
            {"CLAUDE.md": "Be kind.", ".claude/settings.json": EXCLUDED},
            False,
            id="beside an excluded CLAUDE.md",
        ),
    ],
)
def test_the_model_gets_agents_md_once(desk: Desk, others: dict[str, str], ours: bool) -> None:
    desk.write("AGENTS.md", AGENTS)
    for name, text in others.items():
        desk.write(name, text)

    start = desk.run("hello", turns=[say("hi")])
    resumed = desk.resume(start, "more", turns=[say("yes")])

    requests = [*start.requests, *resumed.requests]
    assert [request.count("Never touch the lamp.") for request in requests] == [1, 1]
    assert (DOCUMENTS in start.requests[0].text) is ours


@pytest.mark.parametrize(
    "others",
    [
        pytest.param({}, id="no CLAUDE.md"),
        pytest.param({"CLAUDE.md": "Be kind."}, id="CLAUDE.md in the root"),
        pytest.param({"CLAUDE.md": "@AGENTS.md"}, id="an import that the client takes for foreign"),
        pytest.param({"src/CLAUDE.md": "Be kind."}, id="CLAUDE.md in the folder"),
    ],
)
def test_the_model_gets_agents_md_once_from_a_folder_of_the_project(
    desk: Desk, others: dict[str, str]
) -> None:
    for name, text in {"AGENTS.md": AGENTS, "src/main.py": "", **others}.items():
        desk.write(name, text)

    run = desk.run("hello", turns=[say("hi")], folder="src")

    assert run.requests[0].count("Never touch the lamp.") == 1


def test_both_documents_stand_in_one_block_readme_first(desk: Desk) -> None:
    desk.write("README.md", README)
    desk.write("AGENTS.md", AGENTS)
    desk.write("CLAUDE.md", "Be kind.\n")

    run = desk.run("hello", turns=[say("hi")])

    block = f"{DOCUMENTS}\n\n# README.md\n\n{README}\n---\n\n# AGENTS.md\n\n{AGENTS}"
    assert run.requests[0].count(block) == 1
