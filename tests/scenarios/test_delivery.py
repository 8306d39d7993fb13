"""What reaches the model, and when: docs/context.md, docs/rules.md."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from world import EITHER, call

if TYPE_CHECKING:
    from world import Answer, World

UNITS = 10_000
"""UTF-16 units of hook text that the client shows the model whole."""


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def a_rule(body: str, *keys: str) -> str:
    return "\n".join(("---", 'globs: "**/*.py"', *keys, "---", "", body, ""))


def carried(answer: Answer) -> bool:
    """Whether the model was told anything, within what the client shows it."""
    assert units(answer.text) <= UNITS
    return bool(answer.text)


# Once each


@EITHER
def test_each_text_reaches_a_session_once(world: World) -> None:
    world.write(".claude/rules/py.md", a_rule("Annotate."))

    assert world.use("Read", file_path="a.py").text.count("Annotate.") == 1
    assert world.use("Read", file_path="b.py").text == ""


@EITHER
@pytest.mark.parametrize("source", ["compact", "clear"])
def test_an_empty_context_is_sent_it_again(world: World, source: str) -> None:
    world.write(".claude/rules/py.md", a_rule("Annotate."))
    world.start()
    world.use("Read", file_path="a.py")

    world.hook("session-start", source=source)

    assert "Annotate." in world.use("Read", file_path="a.py").text


@EITHER
def test_a_resumed_session_still_has_it(world: World) -> None:
    world.write(".claude/rules/py.md", a_rule("Annotate."))
    world.start()
    assert "Annotate." in world.use("Read", file_path="a.py").text

    world.start("resume")

    assert world.use("Read", file_path="a.py").text == ""


def test_a_document_comes_again_after_a_compaction_and_not_after_a_resume(world: World) -> None:
    world.write("README.md", "# Ours\n")

    told = ["# Ours" in world.start(s).text for s in ("startup", "resume", "compact", "clear")]

    assert told == [True, False, True, True]


@EITHER
def test_a_rule_that_changed_on_disk_is_new(world: World) -> None:
    world.write(".claude/rules/py.md", a_rule("Annotate."))
    world.use("Read", file_path="a.py")

    world.write(".claude/rules/py.md", a_rule("Annotate everything."))

    assert "Annotate everything." in world.use("Read", file_path="a.py").text
    assert world.use("Read", file_path="a.py").text == ""


def test_a_readme_that_changed_on_disk_is_new_to_a_resumed_session(world: World) -> None:
    world.write("README.md", "# Ours\n")
    world.start()
    world.write("README.md", "# Ours, changed\n")

    assert "# Ours, changed" in world.start("resume").text


def test_a_fork_holds_what_its_parent_was_sent(world: World) -> None:
    world.write("README.md", "# Ours\n")
    world.start()
    line = {"type": "user", "uuid": "u-1", "timestamp": "2026-01-01T00:00:00.000Z"}
    world.remember(line)
    fork = world.session("fork")
    fork.remember(line)

    assert fork.start("fork").text == ""
    assert world.session("new").start().text != ""


def test_a_fork_of_an_unknown_session_is_sent_all(world: World) -> None:
    world.write("README.md", "# Ours\n")
    fork = world.session("fork")
    fork.remember({"type": "user", "uuid": "u-1", "timestamp": "2026-01-01T00:00:00.000Z"})

    said = fork.start("fork").text + fork.hook("user-prompt-submit").text

    assert said.count("# Ours") == 1


@EITHER
def test_a_session_and_each_of_its_subagents_are_told_apart(world: World) -> None:
    world.write(".claude/rules/py.md", a_rule("Annotate."))
    ways = [world, world.subagent("a1"), world.subagent("a2"), world.subagent("a1"), world]

    told = ["Annotate." in one.use("Read", file_path="a.py").text for one in ways]

    assert told == [True, True, True, False, False]


@EITHER
def test_two_sessions_and_two_projects_do_not_share(world: World) -> None:
    other = world.project("other").session("s2")
    world.write(".claude/rules/py.md", a_rule("Annotate."))
    other.write(".claude/rules/py.md", a_rule("Test."))

    assert "Annotate." in world.use("Read", file_path="a.py").text
    assert "Test." in other.use("Read", file_path="a.py").text
    assert "Annotate." in world.session("s3").use("Read", file_path="a.py").text


def test_of_two_hooks_at_once_one_brings_it(world: World) -> None:
    world.write(".claude/rules/py.md", a_rule("Annotate."))
    payload = world.payload("post-tool-use", tool_input={"file_path": str(world.folder / "a.py")})

    with ThreadPoolExecutor(4) as pool:
        ran = [pool.submit(world.process, "hook", "post-tool-use", stdin=payload) for _ in "1234"]
        texts = [one.result().text for one in ran]

    assert "".join(texts).count("Annotate.") == 1


# As much as the client shows


def test_a_long_readme_comes_in_parts_in_order(world: World) -> None:
    lines = [f"{n} " + "x" * 60 for n in range(400)]
    world.write("README.md", "\n".join(lines))

    parts = [world.start(), world.hook("user-prompt-submit")]
    parts += [world.tool("Read", file_path="a.txt") for _ in range(6)]

    assert [carried(part) for part in parts] == [True, True, True, *[False] * 5]
    said = "\n".join(part.text for part in parts)
    assert "part 2 of 3" in parts[1].text
    assert [word for word in said.split("\n") if word in set(lines)] == lines


@EITHER
def test_what_waits_comes_with_the_next_tool_call(world: World) -> None:
    world.write("README.md", "\n".join(f"{n} " + "x" * 60 for n in range(200)))
    world.start()

    assert "part 2 of 2" in world.use("Read", file_path="a.txt").text


@EITHER
def test_rules_that_do_not_fit_come_later_and_once(world: World) -> None:
    for name in "abc":
        world.write(f".claude/rules/{name}.md", a_rule(name * 7_000))

    answers = [world.use("Read", file_path="a.py") for _ in range(5)]

    assert [carried(answer) for answer in answers] == [True, True, True, False, False]
    said = "".join(answer.text for answer in answers)
    assert [said.count(name * 7_000) for name in "abc"] == [1, 1, 1]


@EITHER
def test_a_rule_of_higher_priority_goes_first(world: World) -> None:
    world.write(".claude/rules/a.md", a_rule("second " + "x" * 7_000, "priority: 1"))
    world.write(".claude/rules/b.md", a_rule("first " + "x" * 7_000, "priority: 10"))

    told = [world.use("Read", file_path="a.py").text for _ in range(2)]

    assert ["first" in told[0], "second" in told[1]] == [True, True]


def test_the_plan_goes_before_the_documents(world: World) -> None:
    world.write(".claude/PLAN.md", "# Ship it\n\n- [x] one\n- [ ] two\n")
    world.write("README.md", "y" * 20_000)

    first, second = world.start(), world.hook("user-prompt-submit")

    assert "Ship it" in first.text
    assert "Ship it" not in second.text
    assert "yyy" in second.text
    assert carried(first)
    assert carried(second)


def test_where_both_documents_fit_readme_stands_first(world: World) -> None:
    world.write("README.md", "the readme")
    world.write("AGENTS.md", "the agents")
    world.write(".claude/sisyphus.toml", '[context]\nagents_md = "always"\n')

    said = world.start().text

    assert said.index("the readme") < said.index("the agents")


def test_where_one_document_fits_agents_goes_first(world: World) -> None:
    world.write("README.md", "readme\n" * 1_000)
    world.write("AGENTS.md", "agents\n" * 1_000)
    world.write(".claude/sisyphus.toml", '[context]\nagents_md = "always"\n')

    first, second = world.start(), world.hook("user-prompt-submit")

    assert ["agents\n" in first.text, "readme\n" in first.text] == [True, False]
    assert "readme\n" in second.text


def test_a_rule_that_waited_names_the_file_that_it_is_for(world: World) -> None:
    for name in "ab":
        world.write(f".claude/rules/{name}.md", a_rule(name * 7_000))

    first = world.tool("Read", file_path="shop/cart.py").text
    later = world.tool("Bash", command="ls").text

    assert ["this file" in first, "this file" in later] == [True, False]
    assert "shop/cart.py" in later


def test_of_a_rule_that_changed_while_it_waited_the_new_text_arrives(world: World) -> None:
    for name in "ab":
        world.write(f".claude/rules/{name}.md", a_rule(name * 7_000))
    world.tool("Read", file_path="a.py")
    world.write(".claude/rules/b.md", a_rule("new words"))

    said = [world.tool("Read", file_path="a.py").text for _ in range(3)]

    assert ["new words" in text for text in said] == [True, False, False]
    assert not any("b" * 7_000 in text for text in said)


def test_characters_outside_of_the_basic_plane_count_twice(world: World) -> None:
    world.write(".claude/rules/py.md", a_rule("\U0001f600" * 4_800))
    world.write("README.md", "\U0001f600" * 12_000)

    answers = [world.start(), *(world.hook("user-prompt-submit") for _ in range(4))]
    answers.append(world.tool("Read", file_path="a.py"))

    assert all(units(answer.text) <= UNITS for answer in answers)
    assert sum(answer.text.count("\U0001f600") for answer in answers) == 16_800


@EITHER
def test_a_small_rule_does_not_overtake_a_large_one(world: World) -> None:
    for name, size in (("a", 7_000), ("b", 7_000), ("c", 10)):
        world.write(f".claude/rules/{name}.md", a_rule(name * size))

    first, second = (world.use("Read", file_path="a.py").text for _ in range(2))

    assert "c" * 10 not in first
    assert "c" * 10 in second


@EITHER
@pytest.mark.parametrize("letter", ["z", "\U0001f600"])
def test_a_text_that_no_reply_can_carry_is_cut_with_a_note(world: World, letter: str) -> None:
    world.write(".claude/rules/py.md", a_rule(letter * (30_000 if letter == "z" else 9_000)))

    answer = world.use("Read", file_path="a.py")

    assert carried(answer)
    assert letter * 3 in answer.text
    assert not carried(world.use("Read", file_path="a.py"))


# What a process that goes wrong leaves


def test_a_reader_that_goes_away_loses_nothing(world: World) -> None:
    world.write("README.md", "# Ours\n")
    world.write("payload", json.dumps(world.payload("session-start")))

    world.shell("sisyphus hook session-start < payload >&-")

    assert "# Ours" in world.start("resume").text


# Batches alone


def test_calls_at_once_bring_each_rule_once(world: World) -> None:
    world.write(".claude/rules/py.md", a_rule("Annotate."))
    world.write(".claude/rules/ts.md", '---\nglobs: "**/*.ts"\n---\nBe typed.\n')

    calls = [call("Read", file_path=name) for name in ("a.py", "b.py", "c.ts", "d.txt")]
    answer = world.batch(calls)

    assert [answer.text.count(text) for text in ("Annotate.", "Be typed.")] == [1, 1]
    assert world.batch(calls).text == ""


def test_two_large_rules_of_one_batch_both_arrive(world: World) -> None:
    world.write(".claude/rules/py.md", a_rule("p" * 8_000))
    world.write(".claude/rules/ts.md", f'---\nglobs: "**/*.ts"\n---\n{"t" * 8_000}\n')

    calls = [call("Read", file_path=name) for name in ("a.py", "b.ts")]
    answers = [world.batch(calls) for _ in range(3)]

    assert [carried(answer) for answer in answers] == [True, True, False]
    said = "".join(answer.text for answer in answers)
    assert ("p" * 8_000 in said, "t" * 8_000 in said) == (True, True)


def test_a_wiring_of_both_events_counts_everything_once(world: World) -> None:
    world.write(".claude/rules/py.md", a_rule("Annotate."))

    batch = world.batch([call("Read", file_path="a.py")])
    single = world.tool("Read", file_path="a.py")
    old = world.batch([call("Read", file_path="a.py")], event="post-tool-batch")

    assert ["Annotate." in answer.text for answer in (batch, single, old)] == [True, False, False]


def test_earlier_wirings_events_are_answered(world: World) -> None:
    world.write(".claude/rules/py.md", a_rule("Annotate."))

    single = world.tool("Read", file_path="a.py")
    batch = world.batch([call("Read", file_path="a.py")], event="post-tool-batch")
    failure = world.hook("post-tool-use-failure")

    assert "Annotate." in single.text
    assert (batch.reply, failure.reply) == (None, None)
