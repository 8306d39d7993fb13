"""Plans with lines that look like open tasks and are none, and with code blocks in code blocks."""

from __future__ import annotations

import pytest
from world import World

LOOKS_OPEN = [
    "- [  ] b", "- [ x] b", "- [x ] b", "☐ b", "⬜ b", "| b | [ ] |", "| [ ] | b |", "• [ ] b",
    "- ~~[ ] b~~", "### 1. [ ] b", "## [ ] b", "**[ ] b**", "- **[ ] b**", "a. [ ] b", "(1) [ ] b",
    "- ［ ］ b", r"\[ \] b", r"- \[ \] b", "[ ] b", "```\n- [ ] b", "<!--\n- [ ] b",
    "~~~md\n* [ ] b", "| - [ ] | b |", "| - [ ] 3.1 | b |", "| 3.1 | * [ ] b |", "| [ ] 3.1 | b |",
    "| ☐ 3.1 | b |", r"| b | \[ \] c |", "- [x] [ ] b", "- [x] - [ ] b", "- [X] * [ ] b",
    "1. [x] 2. [ ] b", "- [x] [ ]", "- [x] ☐ b", "- b [ ]", "### b [ ]", "1. b ☐", "| b [ ] | me |",
    "- T001 [ ] b", "### Task 1: [ ] b", "- 1.2 [ ] b", "- 🔲 b", "🔲 b", "\u200b- [ ] b",
]  # fmt: skip

LOOKS_OTHERWISE = [
    "`[ ]` means open", "[x](http://a) done", "[ ](http://a)", "[a]: http://x", "## [draft] Design",
    "```md\n- [ ] b\n```", "Tick the [ ] of each task.", "- [2026-01-29] begun", "<!-- [ ] -->",
    "| a | [x] |", "> - [ ] asked", "☑ b", "[x] b", "- [-] dropped", "1. [x] b",
    "- [x] b [ ] c", "- [x] b - [ ] c", "- [x] [x] b", "- [x] [] is no list",
    "- [x] [ ](http://a) b", "- [x] a\n  - [x] [ ] b", "| b | []string |", "| b | [] by default |",
    "| `- [ ]` | open |", "| - [x] 3.1 | b |", "| b | a - [ ] c |", "- [x] [ ]: a",
    "| b | [ ](http://a) |", "- an empty list []", "- use a[ ]", "Use no [ ]", "- Say [ ] for it",
    "- Legend: done [x], open [ ]", "- Approved: ☑ yes no ☐", "- items = [ ]",
    "1. The default is [ ]", "- Open tasks are shown as ☐", "## States: [x] / [ ]",
    "## The list [x]", "- T001 [x] b", "- b [x]", "| b [x] | me |",
]  # fmt: skip


@pytest.mark.parametrize("line", LOOKS_OPEN)
def test_a_plan_with_what_looks_open_is_never_complete(world: World, line: str) -> None:
    world.write("PLAN.md", f"# Shop\n\n- [ ] a\n\n{line}\n")
    world.start()
    world.cli("boulder", "hold", "on")
    reply = world.edit("PLAN.md", "- [ ] a", "- [x] a")
    last = line.rpartition("\n")[2]
    number = 5 + line.count("\n")

    assert "is complete" not in reply.message
    assert world.plan()["state"] == "active"
    assert f"line {number} looks like an open task and is none" in world.stop().reason
    shown = world.cli("boulder", "status").out
    assert f"line {number} looks like an open task and is none" in shown
    assert world.plan("--plan", world.project / "PLAN.md")["unclear"] == [
        {"line": number, "text": last}
    ]


@pytest.mark.parametrize("line", LOOKS_OTHERWISE)
def test_what_looks_otherwise_keeps_no_plan_open(world: World, line: str) -> None:
    file = world.write("PLAN.md", f"# Shop\n\n- [x] a\n\n{line}\n")

    shown = world.plan("--plan", file)

    assert shown["state"] == "complete"
    assert shown["unclear"] == []


def test_mended_it_goes_on_and_is_completed(world: World) -> None:
    world.write("PLAN.md", "- [x] a\n- [ x] b\n")
    assert "line 2 looks like an open task" in world.start().text
    world.cli("boulder", "hold", "on")
    assert world.stop().reason

    reply = world.edit("PLAN.md", "[ x]", "[x]")

    assert "is complete" in reply.message
    assert not world.stop().reason


def test_a_loop_that_needs_its_plan_hears_of_the_line(world: World) -> None:
    world.write("PLAN.md", "- [ ] a\n- [  ] b\n")
    world.start()
    world.loop("--verify-plan")
    world.edit("PLAN.md", "[ ] a", "[x] a")

    assert "line 2 looks like an open task" in world.stop("<promise>DONE</promise>").reason


MANY = "# Shop\n\n- [ ] a\n\n" + "".join(f"[ ] b{number}\n\n" for number in range(12))


@pytest.mark.parametrize("command", ["status", "checks"])
def test_ten_such_lines_are_shown_and_how_many_more(world: World, command: str) -> None:
    world.write("PLAN.md", MANY)
    world.start()

    shown = world.cli("boulder", command).out
    found = world.cli("boulder", command, "--json").json["unclear"]

    assert "12 lines look like open tasks and are none, so the plan cannot be complete." in shown
    assert "  line 5: [ ] b0\n  line 7: [ ] b1\n" in shown
    assert "  line 23: [ ] b9\n  and 2 more\n" in shown
    assert found[0] == {"line": 5, "text": "[ ] b0"}
    assert [each["line"] for each in found] == list(range(5, 29, 2))


@pytest.mark.parametrize("command", ["status", "checks"])
def test_a_plan_without_such_lines_names_none(world: World, command: str) -> None:
    world.write("PLAN.md", "# Shop\n\n`[ ]` = open\n\n- [ ] a\n- [x] [notes](http://a)\n")
    world.start()

    assert "look" not in world.cli("boulder", command).out
    assert world.cli("boulder", command, "--json").json["unclear"] == []


def test_such_a_line_is_cut_and_cannot_write_to_the_terminal(world: World) -> None:
    world.write("PLAN.md", f"- [ ] a\n\n[ ] \x1b[2J{'b' * 5_000}\n")

    for command in ("status", "checks"):
        shown = world.cli("boulder", command).out
        assert "line 3: [ ] " in shown
        assert "\x1b" not in shown
        assert max(map(len, shown.splitlines())) < 300


def test_all_doors_say_that_a_plan_with_such_a_line_is_not_complete(world: World) -> None:
    world.write("PLAN.md", "# Shop\n\n- [ ] a\n\n**[ ] b**\n")
    world.start()
    reply = world.edit("PLAN.md", "- [ ] a", "- [x] a")
    names = "line 5 looks like an open task and is none"

    assert "is complete" not in reply.message
    assert names in world.start("s2").text
    assert names in world.start("s2").message or names in world.start("s3").message
    world.cli("boulder", "hold", "on")
    assert names in world.stop(session="s2").reason
    assert world.plan()["progress"]["completed"] == world.plan()["progress"]["total"] == 1
    assert world.plan()["state"] == "active"
    assert names in world.cli("status").out

    assert "is complete" in world.edit("PLAN.md", "**[ ] b**", "b is for later").message
    assert world.plan()["state"] == "complete"


def test_a_task_that_is_no_more_than_a_link_is_none(world: World) -> None:
    world.write("PLAN.md", "# Shop\n\n- [x] a\n- [ ](http://a)\n")

    assert world.plan("--plan", world.project / "PLAN.md")["state"] == "complete"


ONLY_LIKE_TASKS = "# Shop\n\n## [ ] Task 1\n\n## [ ] Task 2\n"
FIRST = "line 3 looks like an open task and is none, write it as `- [ ] …`: ## [ ] Task 1"


def test_a_plan_with_nothing_but_such_lines_is_not_followed_and_its_first_is_named(
    world: World,
) -> None:
    file = world.write("PLAN.md", ONLY_LIKE_TASKS)

    assert world.start().is_silent
    assert world.cli("boulder", "start", "PLAN.md").err == (
        f"error: PLAN.md cannot be followed: {FIRST}.\n"
    )
    assert FIRST in world.cli("boulder", "start").err
    shown = world.cli("boulder", "status").out
    assert "No plan is followed here." in shown
    assert FIRST in shown
    assert "Write a PLAN.md" not in shown
    assert f"Next: {FIRST}" in world.cli("boulder", "status", "--plan", str(file)).out
    assert world.plan()["problem"] == f"PLAN.md cannot be followed: {FIRST}."
    answer = world.cli("boulder", "hold", "on").err
    assert FIRST in answer
    assert "Write a PLAN.md" not in answer
    world.start("s2")
    assert FIRST in world.prompt("s2", text="/sisyphus:start-work").reason


def test_a_followed_plan_that_has_no_more_than_such_lines_is_told_with_the_first(
    world: World,
) -> None:
    world.write("PLAN.md", "# Shop\n\n- [ ] Task 1\n\n## [ ] Task 2\n")
    world.start()

    message = world.edit("PLAN.md", "- [ ] Task 1", "## [ ] Task 1").message

    assert f"The plan Shop (PLAN.md) has no tasks any more: {FIRST}. " in message
    assert f"Next: {FIRST}" in world.cli("boulder", "status").out


def test_a_plan_that_cannot_be_read_is_named_where_a_hold_needs_one(world: World) -> None:
    world.write("PLAN.md", b"- [ ] a\xff\n")

    assert "The plan PLAN.md cannot be read" in world.cli("boulder", "hold", "on").err
    assert "The plan PLAN.md cannot be read" in world.cli("boulder", "start").err


NESTED = """# Shop

- [ ] one

```markdown
# Use

```bash
make
```

- [ ] shown
```

- [ ] two
"""


def test_a_code_block_in_a_code_block_hides_no_task(world: World) -> None:
    file = world.write("PLAN.md", NESTED)

    shown = world.plan("--plan", file)

    assert shown["progress"]["total"] == 2
    assert shown["unclear"] == []


SHOWN = """1. Say it:

   ```markdown
   # Use

   ```bash
   make
   ```

   {}
   ```

{}"""


@pytest.mark.parametrize("tag", ["<promise>DONE</promise>", "<blocked>a key</blocked>"])
def test_what_is_shown_in_one_is_not_said(world: World, tag: str) -> None:
    world.loop()

    assert world.stop(SHOWN.format(tag, "Not yet.")).reason
    assert not world.stop(SHOWN.format("make", tag)).reason


@pytest.mark.parametrize(
    "text",
    [
        "```bash\nmake\n```js\nx\n```\n- [ ] a\n",
        "````md\n```bash\nx\n```\n- [ ] no\n````\n- [ ] a\n",
        "~~~md\n```bash\n- [ ] no\n~~~\n- [ ] a\n",
        "```md\n```a\n```\n```b\n```\n```\n- [ ] a\n",
        "- item\n\n  ```md\n  ```sh\n  x\n  ```\n  ```\n- [ ] a\n",
        "```\n- [ ] no\n```\n- [ ] a\n\n```js\nx\n```\n",
    ],
)
def test_blocks_end_where_their_writer_means(world: World, text: str) -> None:
    shown = world.plan("--plan", world.write("PLAN.md", text))

    assert shown["progress"]["total"] == 1
    assert shown["next_task"] == "a"
