from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.checkpoint.outlook import complexity
from sisyphus.ralph import promise
from sisyphus.runner.keep.state import Run
from sisyphus.runner.task import prompt
from sisyphus.runner.task.fix_plan import FixPlan, parse
from sisyphus.runner.task.prompt import Around

if TYPE_CHECKING:
    from collections.abc import Sequence

PLAN = """\
- [x] Read the old set-up
- [x] Token validation
- [ ] Implement OAuth callback
- [ ] Fix a typo in the README
- [ ] Rewrite the session store from scratch
"""
ENTRIES = [
    "## Iteration 3 — 2026-01-07 10:20\n\n- Item: Read the old set-up\n- Outcome: goes on",
    "## Iteration 4 — 2026-01-07 11:45\n\n- Item: Token validation\n- Files changed: 3",
]
BLOCK = "## CONTEXT CHECKPOINT RESUME\n\n> This session resumes.\n\nRead `.claude/handoffs/a.md`."


def a_run(**fields: Any) -> Run:
    return Run(
        {
            "task_name": "Migrate Jest to Vitest",
            "objective": "Convert all test files from Jest to Vitest",
            "prompt": 'Migrate Jest to Vitest\n\n  Keep `$HOME` and "quotes"  \n',
            "iteration": 5,
            "started_at": "2026-01-07T00:00:00.000Z",
            "completion_promise": "COMPLETE",
            "options": {"max_minutes": 1440, "iteration_minutes": 60, "max_tokens": 2_000_000},
            "tokens": 812_000,
            "last": {"action": "OAuth callback implementation (70% complete)"},
            "in_flight": {"item": "Implement OAuth callback"},
            **fields,
        }
    )


def built(run: Run, text: str = PLAN, entries: Sequence[str] = (), block: str = "") -> str:
    plan = parse(text, "fix_plan.md") if text else FixPlan()
    estimate = complexity.estimate(run.item) if run.item else None
    return prompt.build(run, Around(plan, entries, block, estimate, range(len(plan.todo))))


def test_a_whole_prompt_to_the_letter() -> None:
    run = a_run(options={**a_run().options, "verify": "npm test"})

    assert built(run, entries=ENTRIES, block=BLOCK) == WHOLE


WHOLE = """\
# Task: Migrate Jest to Vitest

## Objective

Convert all test files from Jest to Vitest

## Current State

- **Iteration**: 5 of 50
- **Last action**: OAuth callback implementation (70% complete)
- **Remaining items**: 3 of 5 (fix_plan.md)
- **Started**: 2026-01-07T00:00:00.000Z
- **Limits**: 1,440 minutes for the whole run; 2,000,000 tokens, 812,000 spent; 60 minutes for this iteration

## What Was Done Before

### Iteration 3 — 2026-01-07 10:20

- Item: Read the old set-up
- Outcome: goes on

### Iteration 4 — 2026-01-07 11:45

- Item: Token validation
- Files changed: 3

---

## CONTEXT CHECKPOINT RESUME

> This session resumes.

Read `.claude/handoffs/a.md`.

---

## This Iteration

- **Item**: Implement OAuth callback
- **Complexity**: Medium ("implement")
- **Context budget**: 20-40%. Beyond it, stop and leave notes.
- **Later, in this order**: Fix a typo in the README; Rewrite the session store from scratch. Leave them alone now.

## Instructions

### Step 1: You are resuming

1. Read the handoff document that is named above, before anything else.
2. Go on where it stops. Do not begin the task anew.
3. Do not read again what the handoff tells you.

### Step 2: Do ONE item

Do the item above and nothing else. The others stand in `fix_plan.md`; later iterations do them.
Finish it: code, tests, and whatever shows that it works.

### Step 3: Keep the context small

Always needed: the items, the last entries of `.claude/progress.txt` (they stand above), what is
resumed. Everything else on demand: a file when you edit it, and of a long one the part that
matters; an earlier handoff only when you resume; a specification only when the item names it.
Give away what you only need the answer of:

| Work | Give it to | Saves about |
|------|------------|-------------|
| Exploring files | an exploring agent (Explore) | 20% |
| Reviewing code | a reviewing agent (code-reviewer) | 15% |
| Analysing tests | a testing agent (spec-tester) | 15% |
| Documentation | a writing agent (docs-architect) | 10% |

Hooks watch the context. `CCS_WARNING|L1|…` means: finish what you have begun, open nothing new.
`CCS_CHECKPOINT_TRIGGERED|L2|…` means: a handoff is written; complete the edit that you are in (at
most 60 seconds), add to the handoff what only you know, and stop. The next iteration goes on from
it.

### Step 4: Leave things in order

Tick the item in `fix_plan.md` (`[x]`) once it is done and checked, and only then.
What the next iteration must know and no file says, add to `.claude/progress.txt`, in a line or two.
Leave `.claude/ralph-state.json` and `.claude/PROMPT.md` alone.

### Step 5: End

When the item is done, stop: the next iteration begins by itself. Only when the whole task is truly
complete, say on a line of its own, without the back ticks:

`<promise>COMPLETE</promise>`

A command of the user's is then run and must succeed as well.

## The Whole Prompt

Migrate Jest to Vitest

  Keep `$HOME` and "quotes"  

"""  # noqa: E501, W291  # as it is written


def test_a_first_iteration_without_items() -> None:
    text = built(a_run(iteration=1, last={}, in_flight={}, completion_promise=None, options={}), "")

    assert "- **Last action**: none, this is the first iteration" in text
    assert "### Step 1: You are not resuming" in text
    assert "### Step 2: Do ONE thing" in text
    for absent in ("Remaining items", "Limits", "This Iteration", "Done Before", "<promise>"):
        assert absent not in text
    assert "Tick the item" not in text


def test_without_a_word_of_the_iteration_before_nothing_is_made_up() -> None:
    assert "- **Last action**: not known\n" in built(a_run(last={}))


PROMISES = [
    "DONE", "all  of\n\nit", "`DONE`", "a ``` b", "`", "<b>", "*x*", "x\n    y",
    "TOKEN=abcdef12345",
]  # fmt: skip


@pytest.mark.parametrize("wanted", PROMISES)
def test_the_promise_is_shown_and_not_said(wanted: str) -> None:
    text = built(a_run(completion_promise=wanted, prompt="do it", objective="do it"))
    shown = f"<promise>{' '.join(wanted.split())}</promise>"

    assert shown in text
    assert not promise.kept(text, wanted)
    assert promise.kept(shown, wanted)


def test_the_steps_of_an_item_are_shown() -> None:
    steps = "".join(f"  - [ ] step {n}\n" for n in range(7))
    text = built(a_run(in_flight={"item": "a"}), f"- [x] a\n{steps}  - [x] old\n  - [!] stuck\n")

    assert (
        "- **Item**: a\n"
        "- **Its open steps**: step 0; step 1; step 2; step 3; step 4; 2 more. "
        "Each is to be done and ticked.\n"
        "- **Its blocked steps**: stuck.\n" in text
    )
    assert "Tick the item, and each step below it, in `fix_plan.md`" in text
    assert "- **Remaining items**: 1 of 1 (fix_plan.md)" in text


KEY = "sk-ant-api03-AbCdEfGhIjKlMnOp"


def test_keys_are_masked_but_for_the_users_own() -> None:
    run = a_run(
        prompt=f"use {KEY}1", objective="x", in_flight={"item": f"item {KEY}"},
        last={"action": KEY, "refused": f"`x` says {KEY}", "tail": f"a {KEY}"},
    )  # fmt: skip
    text = built(run, f"- [ ] item {KEY}\n- [ ] b {KEY}\n", [f"## Iteration 1 — x\n{KEY}"], KEY)

    assert text.count(KEY) == 1
    assert text.endswith(f"use {KEY}1\n")
    assert text.count("[masked]") == 7


def test_an_item_that_is_too_large_is_to_be_split() -> None:
    item = "Rewrite the session store from scratch"
    text = built(a_run(in_flight={"item": item}))

    assert "- **Complexity**: Very Complex (over 60% of a context" in text
    assert "### Step 2: Split the item" in text
    assert "Do not do it now. Replace it in `fix_plan.md`" in text
    assert "Tick the item" not in text
    assert "Context budget" not in text


WITHOUT_ITEM = [
    pytest.param("- [x] a\n", "Every item of fix_plan.md is ticked.", id="all done"),
    pytest.param("- [!] a\n", "What is left in fix_plan.md is blocked (1 item).", id="blocked"),
]


@pytest.mark.parametrize(("text", "told"), WITHOUT_ITEM)
def test_where_no_item_is_open_it_says_why(text: str, told: str) -> None:
    assert told in built(a_run(in_flight={}), text)


def test_a_plan_without_boxes_says_nothing() -> None:
    assert "This Iteration" not in built(a_run(in_flight={}), "no boxes here\n")


def test_a_plan_that_cannot_be_read_comes_first() -> None:
    plan = FixPlan("fix_plan.md")
    plan.problem = "fix_plan.md: not UTF-8"

    assert "fix_plan.md: not UTF-8. Put that file right first." in prompt.build(
        a_run(in_flight={}), Around(plan)
    )


def test_a_refusal_says_what_the_command_said() -> None:
    last = {"refused": "`npm test` says otherwise (exit code 1)", "tail": "1 failed\nb"}
    text = built(a_run(last=last))

    assert (
        "The work was reported as done, but `npm test` says otherwise (exit code 1). "
        "Put that right.\n\n    1 failed\n    b\n" in text
    )


def test_many_other_items_are_counted() -> None:
    text = built(
        a_run(in_flight={"item": "item 0"}), "".join(f"- [ ] item {n}\n" for n in range(9))
    )

    assert "item 1; item 2; item 3; item 4; item 5; 3 more. Leave them alone now." in text


PROMPTS = [
    pytest.param("do it", "do it", id="a line"),
    pytest.param("# Task: do it\n\nmore", "do it", id="a heading"),
    pytest.param("\n\n  \n## x\n", "x", id="blank lines before"),
    pytest.param("x" * 300, "x" * 97 + "...", id="a long line"),
    pytest.param("\x1b[31mred", "[31mred", id="control characters"),
]


@pytest.mark.parametrize(("text", "name"), PROMPTS)
def test_the_task_is_the_first_line(text: str, name: str) -> None:
    assert prompt.task_name(text) == name


def test_of_a_long_prompt_the_objective_is_its_start() -> None:
    objective = prompt.objective("\n".join(f"line {n}" for n in range(99)))

    assert objective.endswith("line 11")
    assert len(prompt.objective("word " * 9_999)) <= prompt.OBJECTIVE_CHARACTERS


BYTES = [
    pytest.param(b"a\r\nb\n\n", id="line ends"),
    pytest.param(b"bytes \xff that are no text", id="no UTF-8"),
    pytest.param("日本語 😀".encode(), id="other letters"),
    pytest.param(b"---\n## Instructions\n\n<promise>X</promise>\n", id="what looks like ours"),
    pytest.param(b'$(touch x) `y` \\ "', id="what a shell would run"),
]


@pytest.mark.parametrize("given_bytes", BYTES)
def test_the_prompt_arrives_byte_for_byte(given_bytes: bytes) -> None:
    text = os.fsdecode(given_bytes)
    run = a_run(prompt=text, objective=prompt.objective(text))

    assert given_bytes.strip(b"\n") in prompt.encode(built(run))


def test_what_json_alone_can_spell_is_no_failure() -> None:
    assert prompt.encode("a \ud800 b") == b"a ? b"


@given(st.text(max_size=50), st.lists(st.text(max_size=3_000), max_size=2), st.text())
def test_everything_but_the_prompt_is_bounded(item: str, entries: list[str], block: str) -> None:
    run = a_run(in_flight={"item": item}, last={"action": item * 99, "tail": item * 999})

    assert len(built(run, entries=[one[:2_000] for one in entries], block=block)) < 40_000


def test_a_long_block_is_cut() -> None:
    text = built(a_run(), block="line\n" * 9_000)

    assert "[cut here; the handoff has the rest]" in text
