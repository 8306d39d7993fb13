"""Rules: each once, and only where it applies."""

from __future__ import annotations

import pytest

from e2e.desk import Desk
from e2e.scenario import Scenario, Step, play, rows
from e2e.script import delegate, edit, read, say, use, write

TEXT = "Annotate every function."
FRAME = "The following rules apply to this file:"
COPILOT = ".github/instructions/python.instructions.md"
PYTHON = {COPILOT: f'---\napplyTo: "**/*.py"\n---\n\n{TEXT}\n', "one.py": "1", "two.py": "2"}
LOOK = (use(read("one.py")), use(read("two.py")), say("seen"))
PARALLEL = (use(read("one.py"), read("two.py")), say("seen"))


@rows(
    Scenario(
        "once for two reads", PYTHON, [Step(["look"], LOOK)],
        model={f"{FRAME}\n\n# Rule from {COPILOT}\n\n{TEXT}": [0, 1, 1]},
    ),
    Scenario("once for parallel reads", PYTHON, [Step(["look"], PARALLEL)], model={TEXT: [0, 1]}),
    Scenario(
        "not for other files", {COPILOT: PYTHON[COPILOT], "one.js": "1"},
        [Step(["look"], [use(read("one.js")), say("seen")])], model={TEXT: [0, 0]},
    ),
    Scenario(
        "applies_to in .claude/rules, excluded from the client's own loading",
        {
            ".claude/rules/python.md": f'---\napplies_to:\n  - "**/*.py"\n---\n\n{TEXT}\n',
            ".claude/settings.json": '{"claudeMdExcludes": ["**/.claude/rules/*.md"]}',
            "one.py": "1", "two.py": "2",
        },
        [Step(["look"], LOOK)], model={TEXT: [0, 1, 1]},
    ),
    Scenario(
        "copilot-instructions.md applies always",
        {".github/copilot-instructions.md": f"{TEXT}\n", "one.py": "1", "two.py": "2"},
        [Step(["look"], LOOK)], model={TEXT: [0, 1, 1]},
    ),
    Scenario(
        "Cursor's .mdc with unquoted globs",
        {".cursor/rules/py.mdc": f"---\nglobs: *.py\n---\n\n{TEXT}\n", "one.py": "", "two.py": ""},
        [Step(["look"], LOOK)], model={TEXT: [0, 1, 1]},
    ),
    Scenario(
        ".cursorrules applies always", {".cursorrules": f"{TEXT}\n", "one.py": "", "two.py": ""},
        [Step(["look"], LOOK)], model={TEXT: [0, 1, 1]},
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
            use(read("one.py")), use(read(COPILOT)), use(edit(COPILOT, "every", "each")),
            use(read("one.py")), say("seen"),
        ])],
        last={f"# Rule from {COPILOT}\n\nAnnotate each function.": [0, 0, 0, 0, 1]},
    ),
    Scenario(
        "before the rest of a long README",
        {**PYTHON, "README.md": "A long read.\n" * 4_000},
        [Step(["look"], [use(read("one.py")), say("seen")])], last={TEXT: [0, 1]},
    ),
    Scenario(
        "not again on resume, once more after a compaction", PYTHON,
        [Step(["look"], PARALLEL),
         Step(["look", "/compact", "look"], [*PARALLEL, *PARALLEL], how="resume")],
        model={TEXT: [0, 1, 1, 1, 0, 1]},
    ),
    Scenario(
        "a subagent gets it in its own context", PYTHON,
        [Step(["look"], [use(delegate("read one.py")), *PARALLEL],
              agents=[use(read("one.py")), use(read("one.py")), say("read it")])],
        model={TEXT: [0, 0, 1]}, agents={TEXT: [0, 1, 1]},
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
    ),
    Scenario(
        "failed calls do no harm", PYTHON,
        [Step(["look"], [use(edit("one.py", "nothing like it", "x")),
                         use(read("one.py"), read("missing.py")), say("seen")])],
        model={TEXT: [0, 1, 1]},
    ),
    Scenario(
        "a file that is written", {COPILOT: PYTHON[COPILOT]},
        [Step(["write"], [use(write("new.py", "1")), say("written")])], model={TEXT: [0, 1]},
    ),
)  # fmt: skip
def test_rules(desk: Desk, scenario: Scenario) -> None:
    play(desk, scenario)


@pytest.mark.parametrize("place", [".claude/rules", "../home/.claude/rules"])
@pytest.mark.parametrize("head", ['---\npaths: "**/*.py"\n---\n\n', ""], ids=["paths", "always"])
def test_a_rule_that_the_client_loads_is_not_sent_twice(desk: Desk, head: str, place: str) -> None:
    files = {f"{place}/python.md": f"{head}{TEXT}\n", "one.py": "1"}
    look = Step(["look"], [use(read("one.py")), use(read("one.py")), say("seen")])

    runs = play(desk, Scenario("", files, [look], silent=[FRAME]))

    assert [request.text.count(TEXT) for request in runs[0].requests[1:]] == [1, 1]
