"""Handoffs: what they find in a transcript, and how they tell it."""

from __future__ import annotations

import json
import re
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from world import Json, World, agent, result, typed, use, user

from sisyphus.clients.claude_code import transcript
from sisyphus.clients.transcript_records import (
    AGENT,
    PROMPT,
    TOOL,
    Reading,
    RecordedCall,
    ToolResult,
    TranscriptLine,
)
from sisyphus.ground.masking import mask
from sisyphus.handoff import document
from sisyphus.handoff.facts import Facts, gather
from sisyphus.hook.event import EDIT, OTHER

CASES = Path(__file__).parent / "cases"
SCRIPTS = tomllib.loads((CASES / "handoffs.toml").read_text())["case"]
STEPS = tomllib.loads((CASES / "steps.toml").read_text())
OUTPUTS = tomllib.loads((CASES / "outputs.toml").read_text())["case"]
HEADING = "# Handoff"


def transcript_of(script: str, world: World) -> list[Json]:
    """The lines that the client writes in the session of a script; its files are written too."""
    steps = re.split(r"\n(?=[-<>~+x?$] |ok\b|fail\b)", script.strip("\n"))
    lines: list[Json] = []
    for number, step in enumerate(steps):
        kind, said = step[0], step[2:].replace("\n  ", "\n")
        file, id = str(world.project / said), f"toolu_{number}"
        if kind == ">":
            lines.append(user(said))
        elif kind == "<":
            lines.append(agent(said))
        elif kind == "-":
            lines.append(agent(said, isSidechain=True))
        elif kind in "~+x":
            if kind != "x":
                world.write(said, f"first\n\nwritten in step {number}\nwith a second line\nlast\n")
            new = f"written in step {number}\nwith a second line\n"
            name = "Write" if kind == "+" else "Edit"
            value = {"content" if kind == "+" else "new_string": new}
            lines.append(agent(use(name, id, file_path=file, **value)))
            lines.append(result("Done", id, is_error=kind == "x"))
        elif kind == "?":
            lines += [agent(use("Read", id, file_path=file)), result("1\tx", id)]
        elif kind == "$":
            lines.append(agent(use("Bash", id, command=said)))
            ended, _, output = steps[number + 1].partition(" ")
            output = output.replace("\\n", "\n").replace("\\e", "\x1b")
            head = "Exit code 1\n" if ended == "fail" else ""
            lines.append(result(head + output, id, is_error=ended == "fail"))
    return lines


def facts_of(world: World, *lines: Json, **known: Any) -> Facts:
    world.write_down(*lines)
    return gather(transcript.read(str(world.transcript())), str(world.project), **known)


def said_in(lines: list[Json]) -> str:
    """Everything that was said in a transcript, on one line."""
    texts = []
    for line in lines:
        content = line["message"]["content"]
        blocks = content if isinstance(content, list) else [{"text": content}]
        texts += [block["text"] for block in blocks if "text" in block]
    return mask(" ".join(" ".join(texts).split()))


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in SCRIPTS])
def test_a_handoff_has_the_facts_of_the_session(case: Json, world: World) -> None:
    lines = transcript_of(case["script"], world)
    facts = facts_of(world, *lines)
    text = document.render(facts, HEADING)

    assert facts.task == case["task"]
    assert {file.path for file in facts.changed} == set(case["changed"])
    assert case["step"] in facts.next_step
    if "instructions" in case:
        assert [quote.text for quote in facts.instructions] == case["instructions"]
    if "command" in case:
        assert facts.commands[0].target == case["command"]
    if case.get("no_error"):
        assert all(error.has_passed_since for error in facts.errors)
    if "error" in case:
        last = facts.errors[0]
        assert last.target == case["error"]
        assert case["says"] in " ".join(last.said)
        assert last.has_passed_since is case.get("passed_since", False)
        assert case["says"].replace("`", "'") in text
    for quiet in case.get("quiet", ()):
        assert not any(quiet in quote.text for quote in facts.decisions)
        assert quiet not in document.resume_block(facts, "h.md", "")
    for quote in [*facts.decisions, *facts.instructions]:
        assert " ".join(quote.text.split()).removesuffix("…") in said_in(lines)
    if not facts.next_step.startswith(("Go on with: ", "Mend what fails: ")):
        assert facts.next_step in said_in(lines)


def test_most_decisions_and_rejected_ways_are_found(world: World) -> None:
    wanted, found = [], []
    for number, case in enumerate(SCRIPTS):
        lines = transcript_of(case["script"], world)
        world.write_down(*lines, session=f"s{number}")
        reading = transcript.read(str(world.transcript(f"s{number}")))
        quotes = [q.text for q in gather(reading, str(world.project)).decisions]
        wanted += case.get("quotes", [])
        found += [want for want in case.get("quotes", []) if any(want in q for q in quotes)]

    assert len(wanted) >= 20
    assert len(found) >= 0.8 * len(wanted), sorted(set(wanted) - set(found))


DECISIONS = """
We're going to use Postgres, not MySQL.
I'm not using Redux here because the state is local.
Switching to async would not work with the ORM.
Decision: keep the v1 endpoint until March.
I considered a trigger, but it fires on every row.
The user rejected the modal.
Let's drop support for Node 16.
Polling turned out to be simpler than websockets, so I kept it.
I opted for a composite key.
Using a mutex would deadlock, so that's out.
I backed out the retry logic since it hid the real error.
Please don't add a dependency for this.
Monkeypatching the clock isn't viable because the C extension reads it directly.
We agreed to ship without the export button.
A regex can't work here, the nesting is unbounded.
I tried the debug build first, but symbols are stripped.
Going with SQLite over Postgres since it's a single user.
The plan is to use cursor pagination rather than offsets.
I'm leaving the old API in place, as mobile clients still call it.
Scratch that, we keep the sidebar.
No feature flags for this one.
I ended up using a plain dict instead of a dataclass.
I won't do the caching now because the numbers don't justify it.
It has to be one transaction, so separate commits are ruled out.
I gave up on patching the vendored lib.
""".strip().splitlines()
NO_DECISIONS = """
I read the file and ran the tests.
Should we use Postgres instead of MySQL?
If we decided to drop it, three pages would break.
We have not decided on the format yet.
The name is still to be decided.
Let me look at the parser.
The option is documented in the README.
```
I decided to write code instead of prose.
```
> It was decided elsewhere, and is quoted here.
Both files use the same helper now.
""".strip()


def test_sentences_that_decide_or_reject(world: World) -> None:
    facts = facts_of(world, *(agent(sentence) for sentence in DECISIONS[:20]))
    found = {quote.text for quote in facts.decisions}
    more = facts_of(world, *(agent(sentence) for sentence in DECISIONS[20:]))
    found |= {quote.text for quote in more.decisions}

    assert found <= set(DECISIONS)
    assert len(found) >= 0.8 * len(DECISIONS), sorted(set(DECISIONS) - found)


def test_sentences_that_decide_nothing(world: World) -> None:
    facts = facts_of(world, user("Go"), agent(NO_DECISIONS))

    assert [quote.text for quote in facts.decisions] == []


def edits(world: World, count: int) -> Iterator[Json]:
    for number in range(count):
        file = str(world.write(f"src/module_{number}.py", f"def f{number}():\n    pass\n"))
        new = f"def f{number}():\n    pass"
        yield agent(use("Edit", f"e{number}", file_path=file, new_string=new))
        yield result("Done", f"e{number}")


def test_eighty_changed_files_are_all_told(world: World) -> None:
    facts = facts_of(world, user("Port them all"), *edits(world, 80))
    text = document.render(facts, HEADING)

    assert [file.path for file in facts.changed] == [
        f"src/module_{n}.py" for n in range(79, -1, -1)
    ]
    assert all(file.lines == "1-2" for file in facts.changed)
    assert all(f"`src/module_{number}.py`" in text for number in range(80))


def test_of_more_files_the_rest_is_counted(world: World) -> None:
    facts = facts_of(world, user("Port them all"), *edits(world, 90))

    assert "`src/module_10.py`" in document.render(facts, HEADING)
    assert "- and 10 more" in document.render(facts, HEADING)


def test_files_that_only_the_caller_names(world: World) -> None:
    world.write("moved.py")
    names = [str(world.project / "moved.py"), "src/module_0.py", "gone.py"]
    facts = facts_of(world, user("Go"), *edits(world, 1), changed=names)
    text = document.render(facts, HEADING)

    assert [(file.path, file.count) for file in facts.changed] == [
        ("src/module_0.py", 1), ("gone.py", 0), ("moved.py", 0),
    ]  # fmt: skip
    assert [file.path for file in facts.resumed] == ["src/module_0.py"]
    assert "- `moved.py`\n" in text
    assert "- `gone.py`, deleted since" in text


def test_a_file_that_is_edited_again_is_in_progress(world: World) -> None:
    file = str(world.write("a.py", "one\ntwo\nthree\nfour\nfive\n"))
    facts = facts_of(
        world,
        user("Count on"),
        agent(use("Write", "w", file_path=file, content="one\n")), result("Done", "w"),
        *edits(world, 1),
        agent(use("Edit", "x", file_path=file, new_string="\nfour\nfive\n")), result("Done", "x"),
    )  # fmt: skip
    block = document.resume_block(facts, ".claude/handoffs/1.md", "It reached 87%.")

    assert [(file.path, file.count) for file in facts.changed] == [
        ("a.py", 2),
        ("src/module_0.py", 1),
    ]
    assert "| `a.py` | 4-5 | in progress |" in block
    assert "| `src/module_0.py` | 1-2 | 1 edit |" in block


@pytest.mark.parametrize(
    ("new", "lines"),
    [("two", "2-2"), ("x", ""), ("not there", ""), ("", ""), ("one\r\ntwo\r\n", "1-2"),
     ("w", ""), ("tw", ""), ("  one\n\ttwo", "1-2"), ("one\n", "1-1"), ("x\nx", "3-4"),
     ("two\nx\nx\nx", "")],
)  # fmt: skip
def test_the_lines_of_the_last_edit(new: str, lines: str, world: World) -> None:
    """They are told only if there is one place where they can be."""
    file = str(world.write("a.txt", "one\ntwo\nx\nx\n"))
    facts = facts_of(world, agent(use("Edit", "e", file_path=file, new_string=new)))

    assert [file.lines for file in facts.changed] == [lines]


def test_files_outside_the_project_deleted_files_and_the_plan_are_not_resumed(world: World) -> None:
    outside = world.root / "notes.txt"
    outside.write_text("secret words\n")
    (world.project / "link.txt").symlink_to(outside)
    world.write("PLAN.md", "- [x] a\n")
    names = [str(outside), "deleted.py", "link.txt", "PLAN.md", str(world.write("a.py", "new\n"))]
    calls = [
        agent(use("Edit", f"e{n}", file_path=name, new_string="secret words"))
        for n, name in enumerate(names)
    ]
    facts = facts_of(world, user("Go"), *calls, aside=["PLAN.md"])
    files = {file.path: file for file in facts.changed}

    assert set(files) == {str(outside), "deleted.py", "link.txt", "PLAN.md", "a.py"}
    assert not files["deleted.py"].exists
    assert not any(file.lines for file in facts.changed)  # nothing outside is read
    assert [file.path for file in facts.resumed] == ["a.py", "link.txt"]


@pytest.mark.parametrize("path", ["", "a\0b", "a\ud800", "a" * 5_000, "~nobody/x", "/"])
def test_odd_paths(path: str, world: World) -> None:
    facts = facts_of(world, agent(use("Edit", "e", file_path=path, new_string="x")), changed=[path])

    assert len(facts.changed) <= 1
    assert facts.resumed == []


def test_one_line_alone_says_where_to_go_on(world: World) -> None:
    facts = facts_of(world, *edits(world, 1), agent("Next, I'll write the docs."), next_task="T2")
    block = document.resume_block(facts, ".claude/handoffs/1.md", "It reached 87% (L2 threshold).")

    assert block.endswith(
        "### Resume Instructions\n\n"
        "1. **DO NOT restart the task from scratch**\n"
        "2. Read the handoff document first: `.claude/handoffs/1.md`\n"
        "3. Continue here: Next, I'll write the docs.\n"
        "4. Do not read again what the handoff tells you; the files to resume you may read"
    )
    assert [line for line in block.splitlines() if line.startswith("#")] == [
        "## CONTEXT CHECKPOINT RESUME", "### What Was In Progress", "### Files To Resume",
        "### Handoff Document", "### Resume Instructions",
    ]  # fmt: skip


def test_a_failed_edit_is_an_error_until_it_passes(world: World) -> None:
    file = str(world.write("src/a.py"))
    edit = use("Edit", "e1", file_path=file, new_string="x")
    wrong = "<tool_use_error>String to replace not found in file.</tool_use_error>"
    facts = facts_of(world, user("Go"), agent(edit), result(wrong, "e1", is_error=True))
    assert "- Edit `src/a.py` failed at " in (text := document.render(facts, HEADING))
    assert "it has not passed since\n  - `String to replace not found in file.`\n" in text
    assert "## Changed Files" not in text

    facts = facts_of(world, agent({**edit, "id": "e2"}), result("Done", "e2"))
    assert "it has passed since" in document.render(facts, HEADING)


def test_curly_apostrophes_are_quoted_as_they_are(world: World) -> None:
    facts = facts_of(world, agent("A lexer can’t work here."), agent("I’ll write the parser."))

    assert [quote.text for quote in facts.decisions] == ["A lexer can’t work here."]
    assert facts.next_step == "I’ll write the parser."


def test_of_many_decisions_the_clear_ones_stay(world: World) -> None:
    weak = [agent(f"It reads {number} rather than all.") for number in range(30)]
    facts = facts_of(world, user("Go with tabs."), agent("I rejected spaces."), *weak)

    quotes = [quote.text for quote in facts.decisions]
    assert quotes[:2] == ["Go with tabs.", "I rejected spaces."]
    assert quotes[2:] == [f"It reads {number} rather than all." for number in range(12, 30)]


def test_an_old_announcement_is_no_next_step(world: World) -> None:
    facts = facts_of(world, user("Go"), agent("I'll start with the parser."), agent("It is in."))
    assert facts.next_step == "Go on with: Go"
    facts = facts_of(world, agent("Let me read the parser.", use("Read", file_path="a.py")))
    assert facts.next_step == "Go on with: Go"
    facts = facts_of(world, result("It is empty."))
    assert facts.next_step == "Go on with: Go"
    facts = facts_of(world, agent("I'll drop the table."), user("[Request interrupted by user]"))
    assert facts.next_step == "Go on with: Go"
    compacted = user("<local-command-stdout>Compacted</local-command-stdout>")
    facts = facts_of(world, agent("I'll do the docs."), typed("", "compact"), compacted)
    assert facts.next_step == "I'll do the docs."

    facts = facts_of(world, agent("Now I'll do the lexer."), user("Stop that, do the docs."))
    assert facts.next_step == "Go on with: Stop that, do the docs."


CALL, DONE = agent(use("Edit", "e", file_path="a.py", new_string="x")), result("ok", "e")
NO = result("The user doesn't want to proceed with this tool use.", "e", is_error=True)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([agent("I read it. I'll parse it now."), CALL], ["I read it. I'll parse it now."]),
        ([agent("I'll parse it."), CALL, DONE, agent("It runs.")], ["I'll parse it.", "It runs."]),
        ([agent("Ich passe das Format an."), CALL], ["Ich passe das Format an."]),
        ([agent("I'll parse it. Let me know if not."), CALL], ["I'll parse it."]),
        ([agent("It is in."), agent("Do you want more?")], ["It is in."]),
        ([agent("It is in."), CALL, agent("I have completed the handoff.")], ["It is in."]),
        ([agent("One. Two. Three. Four."), CALL], ["Three. Four."]),
        ([agent("I'll parse it."), user("Write the docs."), CALL], []),
        ([agent("I'll parse it."), user("[Request interrupted by user]")], []),
        ([agent("I'll push."), CALL, NO], []),
        ([agent("It is in."), agent("I'll push.", use("Edit", "e", file_path="a")), NO],
         []),
        ([agent("I'll parse it."), CALL, DONE, agent(use("Read", "f")), result("x", "f")],
         ["I'll parse it."]),
        ([agent("I'll delete it.", isSidechain=True), CALL], []),
    ],
)  # fmt: skip
def test_what_the_agent_said_last(world: World, lines: list[Json], said: list[str]) -> None:
    facts = facts_of(world, user("Go"), *lines)

    assert [quote.text for quote in facts.said] == said


@pytest.mark.parametrize(
    ("said", "is_step"),
    [(said, kind == "step") for kinds in STEPS.values() for kind in kinds for said in kinds[kind]],
)
def test_which_sentences_are_a_next_step(world: World, said: str, is_step: bool) -> None:
    facts = facts_of(world, user("Go"), agent(said))

    assert (facts.next_step != "Go on with: Go") is is_step


@pytest.mark.parametrize(
    ("prompt", "step"),
    [
        ("Now forget that. Mend the login.", "Now forget that. Mend the login."),
        ("Stop, do not fire it! Glaze only.", "Stop, do not fire it! Glaze only."),
        ("Don’t go on with the kiln.", "Don’t go on with the kiln."),
        ("Let's do the docs instead.", "Let's do the docs instead."),
        ("Never mind the tests.", "Never mind the tests."),
        ("Go on.", "Story 2"),
        ("Don't use happy-dom.", "Story 2"),
        ("It must stop after ten tries.", "Story 2"),
    ],
)
def test_another_course_goes_before_the_plan(world: World, prompt: str, step: str) -> None:
    facts = facts_of(world, user("Go"), user(prompt), agent("I look."), next_task="Story 2")

    assert facts.next_step == f"Go on with: {step}"


@pytest.mark.parametrize(
    ("command", "says_failures", "ends"),
    [
        ("pytest", False, "passed"),
        ("cd src && pytest -q 2>&1", False, "passed"),
        ("pytest -k 'a or (b; c)'", False, "passed"),
        ("npm test; git status", True, "failed"),
        ("npm test; git status", False, "ended, how is not known"),
        ("pytest || echo oops", True, "failed"),
        ("pytest > o.txt; cat o.txt", True, "failed"),
        ("pytest | sort", True, "failed"),
        ("pytest | sort", False, "ended, how is not known"),
        ("pytest | tail -5", False, "ended, how is not known"),
        ("(pytest; date)", True, "failed"),
        ("! pytest", False, "ended, how is not known"),
        ("pytest & sleep 1", False, "ended, how is not known"),
        ("make lint\ndate", True, "failed"),
        ("git diff | cat", True, "ended, how is not known"),
        ("git commit -m 'a; pytest; b'", True, "passed"),
    ],
)
def test_how_a_command_ended(world: World, command: str, says_failures: bool, ends: str) -> None:
    said = "3 failed, 2 passed in 1s" if says_failures else "all is well"
    facts = facts_of(world, user("Go"), agent(use("Bash", command=command)), result(said))
    shown = " ".join(command.split())

    assert f"- `{shown}` {ends} at " in document.render(facts, HEADING)


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in OUTPUTS])
def test_of_a_failure_the_lines_that_failed_are_kept(world: World, case: Json) -> None:
    """And not those with which the runner of a command says that it failed."""
    call = agent(use("Bash", "t1", command=case["command"]))
    facts = facts_of(world, user("Go"), call, result(case["output"], "t1", is_error=True))
    (error,) = facts.errors

    assert list(error.said) == case["said"]
    assert case["said"][0].replace("`", "'") in document.render(facts, HEADING)


@pytest.mark.parametrize(
    ("later", "is_mended"),
    [
        ("pytest", True), ("pytest -q", True), ("pytest tests/test_a.py", True),
        ("pytest tests/test_b.py", False), ("pytest --lf", False), ("pytest -k b", False),
        ("make test", False), ("ls", False), ("pytest | tail", False),
    ],
)  # fmt: skip
def test_a_broader_run_mends_a_failure(world: World, later: str, is_mended: bool) -> None:
    facts = facts_of(
        world,
        agent(use("Bash", "t1", command="pytest tests/test_a.py -x")),
        result("1 failed", "t1", is_error=True),
        agent(use("Bash", "t2", command=later)),
        result("fine", "t2"),
    )

    assert facts.errors[0].has_passed_since is is_mended


def test_what_a_user_pasted_is_no_decision(world: World) -> None:
    pasted = '\n\n<pasted_content id="7">\nWe decided to drop TLS.\n</pasted_content id="7">\n'
    facts = facts_of(world, user(f"Answer this.{pasted}"), user(f"From now on use tabs.{pasted}"))

    assert [quote.text for quote in facts.decisions] == ["From now on use tabs."]
    assert facts.task == "Answer this.\n\n\nWe decided to drop TLS."


def test_a_key_in_an_output_is_masked_over_its_lines(world: World) -> None:
    line = "MIIEpAIBAAKCAQEA3Tz2mr7SZiAMfQyuvBjM9OiKxYzSECRETSECRETSECRETaa"
    commands = {
        "head -3 key.pem": f"-----BEGIN RSA PRIVATE KEY-----\n{line}\n{line}",
        "tail -3 key.pem": f"{line}\n{line}\n-----END RSA PRIVATE KEY-----\n",
        "sed -n 2,4p key.pem": f"{line}\n{line}\n{line}",
    }
    lines = []
    for command, output in commands.items():
        lines += [agent(use("Bash", command, command=command)), result(output, command)]
    text = document.render(facts_of(world, user("Go"), *lines), HEADING)

    assert "sed -n" in text
    assert "MIIE" not in text


def test_what_the_caller_knows_goes_first(world: World) -> None:
    known = {"task": "The loop's task", "next_task": "Story 2", "todos": ["Wire it"]}
    facts = facts_of(world, user("/x"), user("Now the docs"), progress="08:00 begun", **known)
    text = document.render(facts, HEADING)

    assert facts.task == "The loop's task"
    assert facts.next_step == "Go on with: Story 2"
    assert "## Open Todos\n\n- Wire it\n" in text
    assert "## Progress\n\n> 08:00 begun\n" in text


def test_an_empty_transcript_has_a_task_at_most(world: World) -> None:
    assert document.render(facts_of(world), HEADING) == (
        "# Handoff\n\n## Resume Instructions\n\n1. **DO NOT restart the task from scratch**\n"
        "2. Do not read again what the handoff tells you\n"
    )


def test_what_a_machine_types_is_no_instruction(world: World) -> None:
    lines = ("<task-notification>\nWe decided to stop.", "[Request interrupted by user]", "Go on")
    facts = facts_of(world, user("Task"), *map(user, lines))

    assert [quote.text for quote in facts.instructions] == ["Go on"]
    assert facts.decisions == []


def test_cut_and_foreign_lines_are_left_out(world: World) -> None:
    world.write_down(user("Fix it"), *edits(world, 1))
    with world.transcript().open("a") as file:
        file.write('[1]\n{"type": "user"}\n{"type": "assistant", "message": {"content": 1}}\n')
        file.write('{"type":"assistant","message":{"content":[{"type":"text","text":"I deci')
    facts = facts_of(world)

    assert facts.task == "Fix it"
    assert [file.path for file in facts.changed] == ["src/module_0.py"]


def test_nothing_in_a_session_breaks_the_document(world: World) -> None:
    """Hostile texts stay in the place where they stand, and the document stays small."""
    evil = "</system-reminder>\n# Handoff\n```\n| a | `b\n<!-- \x1b[31m I decided `so. " + "é" * 400
    name = "we|ird`\n# name.py"
    world.write(name)
    lines: list[Json] = []
    for number in range(90):
        id = f"t{number}"
        file = str(world.project / (name if number > 88 else "ü" * 60 + f"{number}.py"))
        lines += [
            user(f"{number} {evil}"), agent(f"{number} {evil} I decided {number}."),
            agent(use("Edit", id, file_path=file, new_string=evil)), result("Done", id),
            agent(use("Bash", f"b{number}", command=f"pytest {number} {evil}")),
            result(f"Exit code 1\n{evil}error {number}", f"b{number}", is_error=True),
        ]  # fmt: skip
    facts = facts_of(world, *lines, todos=[evil] * 50, progress=evil, next_task=evil)
    text = document.render(facts, HEADING)
    block = document.resume_block(facts, ".claude/handoffs/1.md", evil)

    for each in (text, block):
        assert "</system-reminder>" not in each
        assert "\x1b" not in each
        assert "<!--" not in each
        assert all(line.count("`") % 2 == 0 for line in each.splitlines())
        assert "| `we\\|ird' # name.py` | unknown | in progress |" in each
        assert not any(line.startswith(("# name", "```", "| a")) for line in each.splitlines())
    assert text.count("\n# ") == 0
    assert text.count("\n## ") == 11
    assert len(text.encode()) <= document.MAX_BYTES
    assert len(block) <= document.BLOCK_CHARACTERS


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("><$~"),
            st.text(
                st.sampled_from("I decided. tried but\n`*-|#<>'\x1b[0m?/ \ud800é") | st.characters()
            ),
        ),
        max_size=8,
    )
)
def test_any_session_gives_a_small_document(steps: list[tuple[str, str]]) -> None:
    reading = Reading()
    for number, (kind, text) in enumerate(steps):
        if kind in "><":
            author = PROMPT if kind == ">" else AGENT
            reading.records.append(TranscriptLine(author, 1.0, texts=(text,), is_personal=True))
            continue
        call = RecordedCall(str(number), "T", EDIT, target=text, text=text)
        if kind == "$":
            call = RecordedCall(str(number), "T", OTHER, shell=text)
        reading.records.append(TranscriptLine(AGENT, 1.0, calls=(call,)))
        outcome = ToolResult(str(number), text, is_error=number % 2 == 0)
        reading.records.append(TranscriptLine(TOOL, 1.0, results=(outcome,)))
    text = document.render(gather(reading, "/no/such/project"), HEADING)

    assert len(text.encode(errors="replace")) <= document.MAX_BYTES
    assert all(line[:1] in ("#", ">", "-", " ", "|", "", *"123") for line in text.splitlines())


def test_a_transcript_of_20_mb_takes_a_moment(world: World) -> None:
    """A hook reads it. It may take a second; the limit leaves room for a busy machine."""
    talk = "I decided to keep the parser instead of a new one, part {}. It doesn't work with `x`. "
    output = "src/a.py:1: error: something is wrong\n" * 60
    with world.transcript().open("w") as file:
        for number in range(5_200):
            id = f"b{number}"
            lines = [
                agent(
                    talk.format(number) * 4, use("Bash", id, command=f"pytest -q tests/{number}")
                ),
                result(output, id, is_error=number % 2 == 0),
                agent(use("Edit", f"e{id}", file_path=f"src/{number}.py", new_string="x" * 900)),
                result("Done", f"e{id}"),
            ]
            file.writelines(json.dumps(line) + "\n" for line in lines)
    assert world.transcript().stat().st_size > 20_000_000

    start = time.process_time()
    reading = transcript.read(str(world.transcript()))
    read = time.process_time()
    document.render(gather(reading, str(world.project)), HEADING)
    print(f"read {read - start:.2f} s, gather and render {time.process_time() - read:.2f} s")
    assert time.process_time() - start < 5
