from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from e2e.script import agent, read, say, use, write
from e2e.texts import RULES

if TYPE_CHECKING:
    from e2e.desk import Desk

ADVICE = "Annotate every function."
OURS = ".github/instructions/python.instructions.md"  # a place that the client does not load


def _rule(*keys: str) -> str:
    frontmatter = "".join(f"{line}\n" for line in ("---", *keys, "---")) if keys else ""
    return f"{frontmatter}\n{ADVICE}\n"


def test_a_rule_is_sent_once_for_two_reads(desk: Desk) -> None:
    desk.write(OURS, _rule('applyTo: "**/*.py"'))
    one, two = desk.write("one.py", "1"), desk.write("two.py", "2")

    run = desk.run("look", turns=[use(read(one)), use(read(two)), say("seen")])

    assert [request.count(ADVICE) for request in run.requests] == [0, 1, 1]


def test_a_rule_is_sent_once_for_parallel_reads(desk: Desk) -> None:
    desk.write(OURS, _rule('applyTo: "**/*.py"'))
    files = [desk.write(f"{n}.py", f"{n}") for n in range(6)]

    run = desk.run("look", turns=[use(*(read(file) for file in files)), say("seen")])

    assert [request.count(ADVICE) for request in run.requests] == [0, 1]
    assert run.requests[1].count(f"{RULES}\n\n# Rule from {OURS}\n\n{ADVICE}") == 1


def test_a_rule_for_other_files_is_not_sent(desk: Desk) -> None:
    desk.write(OURS, _rule('applyTo: "src/**/*.py"'))
    file = desk.write("one.py", "1")

    run = desk.run("look", turns=[use(read(file)), say("seen")])

    assert ADVICE not in run.requests[-1].text


def test_a_rule_that_changed_is_sent_again(desk: Desk) -> None:
    rule = desk.write(OURS, _rule('applyTo: "**/*.py"'))
    file = desk.write("one.py", "1")
    changed = write(rule, _rule('applyTo: "**/*.py"').replace("every", "each"))
    turns = [use(read(file)), use(read(rule)), use(changed), use(read(file)), say("seen")]

    run = desk.run("look", turns=turns)

    assert run.requests[-1].last.count(f"# Rule from {OURS}\n\nAnnotate each function.") == 1


def test_a_rule_goes_before_what_is_left_of_a_long_readme(desk: Desk) -> None:
    desk.write("README.md", "A long read.\n" * 4_000)
    desk.write(OURS, _rule('applyTo: "**/*.py"'))
    file = desk.write("one.py", "1")

    run = desk.run("look", turns=[use(read(file)), say("seen")])

    assert run.requests[1].last.count(ADVICE) == 1


@pytest.mark.parametrize("place", ["project/.claude", "home/.claude"])
@pytest.mark.parametrize(
    "keys",
    [
        pytest.param(('paths: "**/*.py"',), id="paths, loaded by the client on a match"),
        pytest.param((), id="no keys, loaded by the client at start"),
    ],
)
def test_a_rule_that_the_client_loads_is_not_doubled(
    desk: Desk, keys: tuple[str, ...], place: str
) -> None:
    desk.write(f"../{place}/rules/python.md", _rule(*keys))
    file = desk.write("one.py", "1")

    run = desk.run("look", turns=[use(read(file)), use(read(file)), say("seen")])

    assert [request.count(ADVICE) for request in run.requests[1:]] == [1, 1]
    assert RULES not in run.requests[-1].text


def test_an_applies_to_rule_is_sent_by_us(desk: Desk) -> None:
    desk.write(".claude/rules/python.md", _rule("applies_to:", '  - "**/*.py"'))
    file = desk.write("one.py", "1")

    run = desk.run("look", turns=[use(read(file)), use(read(file)), say("seen")])

    ours = f"{RULES}\n\n# Rule from .claude/rules/python.md\n\n{ADVICE}"
    assert [request.count(ours) for request in run.requests] == [0, 1, 1]


def test_an_applies_to_rule_that_the_client_excludes_arrives_once_and_late(desk: Desk) -> None:
    desk.write(".claude/rules/python.md", _rule("applies_to:", '  - "**/*.py"'))
    desk.write_home("settings.json", json.dumps({"claudeMdExcludes": ["**/.claude/rules/*.md"]}))
    file = desk.write("one.py", "1")

    run = desk.run("look", turns=[use(read(file)), say("seen")])

    assert [request.count(ADVICE) for request in run.requests] == [0, 1]


def test_a_subagent_gets_the_rule_in_its_own_context(desk: Desk) -> None:
    desk.write(OURS, _rule('applyTo: "**/*.py"'))
    file = desk.write("one.py", "1")

    run = desk.run(
        "look",
        turns=[use(agent("read one.py")), use(read(file)), say("seen")],
        agent_turns=[use(read(file)), use(read(file)), say("read it")],
    )

    assert [request.count(ADVICE) for request in run.agents] == [0, 1, 1]
    assert [request.count(ADVICE) for request in run.main] == [0, 0, 1]


def test_a_rule_is_not_sent_again_on_resume_but_once_after_a_compaction(desk: Desk) -> None:
    desk.write(OURS, _rule('applyTo: "**/*.py"'))
    file = desk.write("one.py", "1")
    look = [use(read(file)), say("seen")]

    start = desk.run("look", turns=look)
    resumed = desk.resume(start, "look", "/compact", "look", turns=[*look, *look])

    assert start.requests[-1].count(ADVICE) == 1
    assert [request.count(ADVICE) for request in resumed.requests] == [1, 1, 0, 1]
