"""Rules: each once, and only where it applies."""

from __future__ import annotations

import pytest

from e2e.codex import NO_AGENTS
from e2e.copilot import NATIVE
from e2e.desk import CODEX, COPILOT, OPENCODE, QWEN, Desk
from e2e.scenario import ONE_IS_ENOUGH, Scenario, Step, play, rows
from e2e.script import delegate, edit, read, say, use, write

TEXT = "Annotate every function."
FRAME = "The following rules apply to this file:"
APPLIED = ".github/instructions/python.instructions.md"
PYTHON = {APPLIED: f'---\napplyTo: "**/*.py"\n---\n\n{TEXT}\n', "one.py": "1", "two.py": "2"}
LOOK = (use(read("one.py")), use(read("two.py")), say("seen"))
PARALLEL = (use(read("one.py"), read("two.py")), say("seen"))


@rows(
    Scenario(
        "once for two reads", PYTHON, [Step(["look"], LOOK)],
        model={f"{FRAME}\n\n# Rule from {APPLIED}\n\n{TEXT}": [0, 1, 1]},
        out={COPILOT: NATIVE},
    ),
    Scenario("once for parallel reads", PYTHON, [Step(["look"], PARALLEL)], model={TEXT: [0, 1]}),
    Scenario(
        "not for other files", {APPLIED: PYTHON[APPLIED], "one.js": "1"},
        [Step(["look"], [use(read("one.js")), say("seen")])], model={TEXT: [0, 0]},
    ),
    Scenario(
        "applies_to in .claude/rules, excluded from the client's own loading",
        {
            ".claude/rules/python.md": f'---\napplies_to:\n  - "**/*.py"\n---\n\n{TEXT}\n',
            ".claude/settings.json": '{"claudeMdExcludes": ["**/.claude/rules/*.md"]}',
            "one.py": "1", "two.py": "2",
        },
        [Step(["look"], LOOK)], model={TEXT: [0, 1, 1]}, out={COPILOT: NATIVE},
    ),
    Scenario(
        "copilot-instructions.md applies always",
        {".github/copilot-instructions.md": f"{TEXT}\n", "one.py": "1", "two.py": "2"},
        [Step(["look"], LOOK)], model={TEXT: [0, 1, 1]}, only=ONE_IS_ENOUGH,
    ),
    Scenario(
        "Cursor's .mdc with unquoted globs",
        {".cursor/rules/py.mdc": f"---\nglobs: *.py\n---\n\n{TEXT}\n", "one.py": "", "two.py": ""},
        [Step(["look"], LOOK)], model={TEXT: [0, 1, 1]}, only=ONE_IS_ENOUGH,
    ),
    Scenario(
        ".cursorrules applies always", {".cursorrules": f"{TEXT}\n", "one.py": "", "two.py": ""},
        [Step(["look"], LOOK)], model={TEXT: [0, 1, 1]}, only=ONE_IS_ENOUGH,
    ),
    Scenario(
        "a rule of the user's own with globs",
        {"../home/.claude/rules/x.md": f'---\nglobs: "*.py"\n---\n\n{TEXT}\n',
         "../home/.claude/settings.json": '{"claudeMdExcludes": ["**/rules/x.md"]}',
         "one.py": "", "two.py": ""},
        [Step(["look"], LOOK)], model={f"# Rule from ~/.claude/rules/x.md\n\n{TEXT}": [0, 1, 1]},
    ),
    Scenario(
        "a rule that changed is sent again", PYTHON,
        [Step(["look"], [
            use(read("one.py")), use(read(APPLIED)), use(edit(APPLIED, "every", "each")),
            use(read("one.py")), say("seen"),
        ])],
        last={f"# Rule from {APPLIED}\n\nAnnotate each function.": [0, 0, 0, 0, 1]},
        out={COPILOT: NATIVE},
    ),
    Scenario(
        "before the rest of a long README",
        {**PYTHON, "README.md": "A long read.\n" * 4_000},
        [Step(["look"], [use(read("one.py")), say("seen")])], last={TEXT: [0, 1]},
    ),
    Scenario(
        "of the client's own place, outside of the folder in which the session started",
        {".claude/rules/python.md": f'---\npaths: "**/*.py"\n---\n\n{TEXT}\n',
         "packages/a/a.py": "1", "packages/b/b.py": "1", "packages/b/c.py": "1"},
        [Step(["look"], [use(read("packages/b/b.py")), use(read("packages/b/c.py")), say("seen")],
              folder="packages/a")],
        model={TEXT: [0, 1, 1]},
    ),
    Scenario(
        "once more in a new session", PYTHON,
        [Step(["look"], LOOK), Step(["look"], [use(read("two.py")), say("seen")])],
        model={TEXT: [0, 1, 1, 0, 1]},
    ),
    Scenario(
        "for an edit of the plan, which is tracked as well",
        {".github/instructions/plans.instructions.md": f'---\napplyTo: "PLAN.md"\n---\n{TEXT}\n',
         "PLAN.md": "# Plan\n\n- [ ] Light it\n- [ ] Dim it\n", "one.py": "1"},
        [Step(["work"], [use(read("one.py")), use(read("PLAN.md")),
                         use(edit("PLAN.md", "[ ] Light", "[x] Light")), say("lit")]),
         Step(["on"], [say("yes")])],
        model={TEXT: [0, 0, 1, 1, 0], "Progress: 1/2 tasks complete": [0, 0, 0, 0, 1]},
    ),
    Scenario(
        "a line that only looks like an include stays",
        {".cursor/rules/py.mdc": f'---\nglobs: **/*.py\n---\n\n{TEXT}\n@router.post("/pay")\n',
         "one.py": "1"},
        [Step(["look"], [use(read("one.py")), say("seen")])],
        model={f'{TEXT}\n@router.post("/pay")': [0, 1]}, only=ONE_IS_ENOUGH,
    ),
    Scenario(
        "not again on resume, once more after a compaction", PYTHON,
        [Step(["look"], PARALLEL),
         Step(["look", "/compact", "look"], [*PARALLEL, *PARALLEL], how="resume")],
        model={TEXT: [0, 1, 1, 1, 0, 1]},
        out={QWEN: "a resume says them again", COPILOT: NATIVE},
    ),
    Scenario(
        "a subagent gets it in its own context", PYTHON,
        [Step(["look"], [use(delegate("read one.py")), *PARALLEL],
              agents=[use(read("one.py")), use(read("one.py")), say("read it")])],
        model={TEXT: [0, 0, 1]}, agents={TEXT: [0, 1, 1]}, out={CODEX: NO_AGENTS},
    ),
    Scenario(
        "two long rules of one batch arrive whole",
        {
            ".github/instructions/a.instructions.md": f'---\napplyTo: "*.py"\n---\n{"p" * 8_000}\n',
            ".github/instructions/b.instructions.md": f'---\napplyTo: "*.js"\n---\n{"j" * 8_000}\n',
            "one.py": "", "two.js": "", "other.txt": "",
        },
        [Step(["look"], [use(read("one.py"), read("two.js")), use(read("other.txt")),
                         say("seen")])],
        model={"p" * 8_000: [0, 1, 1], "j" * 8_000: [0, 0, 1]},
        only="elsewhere each call has a reply of its own, so both arrive at once",
    ),
    Scenario(
        "failed calls do no harm", PYTHON,
        [Step(["look"], [use(edit("one.py", "nothing like it", "x")),
                         use(read("one.py"), read("missing.py")), say("seen")])],
        model={TEXT: [0, 1, 1]},
        out=dict.fromkeys((OPENCODE, CODEX, COPILOT), "it asks no hook about a failed edit"),
    ),
    Scenario(
        "a file that is written", {APPLIED: PYTHON[APPLIED]},
        [Step(["write"], [use(write("new.py", "1")), say("written")])], model={TEXT: [0, 1]},
        out={COPILOT: NATIVE},
    ),
)  # fmt: skip
def test_rules(desk: Desk, scenario: Scenario) -> None:
    play(desk, scenario)


PATHS = '---\npaths: "**/*.py"\n---\n\n'


@pytest.mark.parametrize(
    ("place", "head"),
    [
        (".claude/rules", PATHS),
        (".claude/rules", ""),
        (".claude/rules", f"<!-- Ours. -->\n{PATHS}"),
        (".claude/rules", f"\n{PATHS}"),
        ("../home/.claude/rules", PATHS),
        ("../home/.claude/rules", ""),
    ],
    ids=["paths", "always", "after a comment", "after a blank line", "home, paths", "home, always"],
)
def test_a_rule_that_the_client_loads_is_not_sent_twice(desk: Desk, head: str, place: str) -> None:
    files = {f"{place}/python.md": f"{head}{TEXT}\n", "one.py": "1"}
    look = Step(["look"], [use(read("one.py")), use(read("one.py")), say("seen")])

    runs = play(desk, Scenario("", files, [look], silent=[FRAME]))

    assert [request.text.count(TEXT) for request in runs[0].requests[1:]] == [1, 1]


# ---------------------------------------------------------------- one text under two names

SEE_ONE = Step(["look"], [use(read("one.py")), use(read("one.py")), say("seen")])
INSTRUCTIONS = ".github/copilot-instructions.md"


def test_instructions_that_are_a_link_to_claude_md_are_not_sent(desk: Desk) -> None:
    desk.write(".github/readme.txt", "")
    (desk.project / INSTRUCTIONS).symlink_to("../CLAUDE.md")

    play(desk, Scenario("", {"CLAUDE.md": f"{TEXT}\n", "one.py": "1"}, [SEE_ONE],
                        model={TEXT: [1, 1, 1]}))  # fmt: skip


@rows(
    Scenario("imported", {"CLAUDE.md": f"@{INSTRUCTIONS}\n", INSTRUCTIONS: f"{TEXT}\n",
                          "one.py": "1"}, [SEE_ONE], model={TEXT: [1, 1, 1]},
             only="no other client imports what CLAUDE.md names"),
    Scenario("copied", {"CLAUDE.md": f"{TEXT}\n", INSTRUCTIONS: f"{TEXT}\n", "one.py": "1"},
             [SEE_ONE], model={TEXT: [1, 1, 1]},
             out=dict.fromkeys((CODEX, QWEN), "it does not load CLAUDE.md")),
)  # fmt: skip
def test_instructions_that_claude_md_holds_are_not_sent(desk: Desk, scenario: Scenario) -> None:
    play(desk, scenario)


def test_a_rule_of_the_client_linked_from_another_folder_is_not_sent(desk: Desk) -> None:
    rule = f'---\npaths: "**/*.py"\napplyTo: "**/*.py"\n---\n\n{TEXT}\n'
    link = desk.write(".github/instructions/other.txt", "").with_name("py.instructions.md")
    link.symlink_to("../../.claude/rules/py.md")

    play(desk, Scenario("", {".claude/rules/py.md": rule, "one.py": "1"}, [SEE_ONE],
                        model={TEXT: [0, 1, 1]}, silent=[FRAME]))  # fmt: skip


@pytest.mark.parametrize("glob", ["shared/*.py", "packages/api/common/*.py"])
def test_a_file_that_is_read_through_a_link_matches_by_both_names(desk: Desk, glob: str) -> None:
    desk.write("packages/api/main.py", "")
    (desk.project / "packages/api/common").symlink_to("../../shared")
    files = {APPLIED: f'---\napplyTo: "{glob}"\n---\n{TEXT}\n', "shared/one.py": "1"}
    look = Step(["look"], [use(read("packages/api/common/one.py")), say("seen")])

    play(desk, Scenario("", files, [look], model={TEXT: [0, 1]}))
