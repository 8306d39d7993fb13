"""Plans with lines that look like open tasks and are none, and with code blocks in code blocks."""

from __future__ import annotations

import pytest
from world import World

LOOKS_OPEN = [
    "- [  ] b", "- [ x] b", "- [x ] b", "☐ b", "⬜ b", "| b | [ ] |", "| [ ] | b |", "• [ ] b",
    "- ~~[ ] b~~", "### 1. [ ] b", "## [ ] b", "**[ ] b**", "- **[ ] b**", "a. [ ] b", "(1) [ ] b",
    "- ［ ］ b", r"\[ \] b", r"- \[ \] b", "[ ] b", "```\n- [ ] b", "<!--\n- [ ] b",
    "~~~md\n* [ ] b",
]  # fmt: skip

LOOKS_OTHERWISE = [
    "`[ ]` means open", "[x](http://a) done", "[ ](http://a)", "[a]: http://x", "## [draft] Design",
    "```md\n- [ ] b\n```", "Tick the [ ] of each task.", "- [2026-01-29] begun", "<!-- [ ] -->",
    "| a | [x] |", "> - [ ] asked", "☑ b", "[x] b", "- [-] dropped", "1. [x] b",
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
