"""What a code block of the documents takes for granted, by the names that stand before it.

A scene returns what the hooks said while it was played, to the model and to the user.
"""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

from pages.stand import SESSION
from sisyphus.clients.claude_code import heard

if TYPE_CHECKING:
    from collections.abc import Callable

    from pages.stand import Stand
    from sisyphus._types import Json

_PLAN = """\
# {name}

- [x] Model the cart
- [ ] Add the discount rule
- [ ] Make the tests pass
"""
_WAVES = """\
# feature-name

## Wave 1: Cart

- [x] Model the cart
- [x] Add an item
- [x] Remove an item
- [x] Change a quantity

## Wave 2: Checkout

- [ ] Validate the form
- [!] Ask the bank
- [ ] Add the discount rule
"""
_RULE = """\
---
applies_to: ["**/*.tsx"]
---

- Always use functional components
- Props must be typed
"""
_LOOP = '"Make the tests pass" --completion-promise "TESTS PASS"'


def _hook(stand: Stand, event: str, **payload: object) -> str:
    reply = stand.hook(event, {"session_id": SESSION, **payload})
    return f"{heard(reply)[0]}\n{heard(reply)[1]}\n"


def _file(stand: Stand, name: str, text: str, *, age: float = 0) -> str:
    stand.write(name, text)
    if age:
        written = time.time() - age
        os.utime(stand.project / name, (written, written))
    return ""


def _commands(stand: Stand) -> str:
    """The bare slash commands: without their files such a name is nobody's."""
    code, written = stand.type("sisyphus install --only commands --yes")
    assert code == 0, written
    return ""


def _read(stand: Stand, name: str) -> str:
    touched: Json = {"file_path": str(stand.project / name)}
    return _hook(stand, "post-tool-use", tool_name="Read", tool_input=touched)


def _fill(stand: Stand, *tokens: int) -> str:
    stand.say("user", "Go on.")
    for count in tokens:
        stand.fill(count)
    return ""


SCENES: dict[str, Callable[[Stand], str]] = {
    # files of the project
    "plan": lambda s: _file(s, ".claude/PLAN.md", _PLAN.format(name="shop-checkout")),
    "waves": lambda s: _file(s, ".claude/PLAN.md", _WAVES),
    "big-item": lambda s: _file(s, ".claude/PLAN.md", "# Shop\n\n- [ ] Migrate the tests\n"),
    "readme": lambda s: _file(s, "README.md", "# Shop\n\nA small shop.\n"),
    "agents": lambda s: _file(s, "AGENTS.md", "# Agents\n\nRun `make test`.\n"),
    "claude-md": lambda s: _file(s, "CLAUDE.md", "Be brief.\n"),
    "rule": lambda s: _file(s, ".claude/rules/react.md", _RULE),
    "github-rule": lambda s: (
        _file(
            s, ".github/instructions/react.instructions.md", _RULE.replace("applies_to", "applyTo")
        )
        + _file(s, "src/App.tsx", "export {}\n")
    ),
    "two-plans": lambda s: (
        _file(s, "docs/kord/plans/login.md", "# Login\n\n- [x] Form\n- [ ] Session\n")
        + _file(s, "docs/kord/plans/logout.md", "# Logout\n\n- [ ] Button\n- [ ] Session\n", age=60)
    ),
    "checkout": lambda s: _file(s, "Makefile", "demo test e2e docs bench:\n"),
    "fix-plan": lambda s: _file(
        s, "fix_plan.md", "- [ ] Parse the header\n- [ ] Write the report\n"
    ),
    "own-loop": lambda s: (
        _file(s, ".claude/PROMPT.md", "Write the importer.\n")
        + _file(
            s,
            ".claude/ralph-state.json",
            json.dumps(
                {
                    "task_name": "x",
                    "iteration": 1,
                    "status": "running",
                    "completion_promise": "DONE",
                }
            ),
        )
    ),
    # what happens in the session
    "session": lambda s: _hook(s, "session-start", source="startup"),
    "loop": lambda s: _commands(s) + _hook(s, "user-prompt-submit", prompt=f"/ralph-loop {_LOOP}"),
    "stop": lambda s: _hook(s, "stop", last_assistant_message="I think this looks good now."),
    "promise": lambda s: _hook(s, "stop", last_assistant_message="<promise>TESTS PASS</promise>"),
    "claim": lambda s: _hook(s, "stop", last_assistant_message="All tests pass, I am done."),
    "touch": lambda s: _read(s, "src/App.tsx"),
    "at-58": lambda s: _fill(s, 540_000, 550_000, 560_000, 570_000, 586_000),
    "at-87": lambda s: _fill(s, 870_000) + _hook(s, "post-tool-batch", tool_calls=[]),
    # what was typed before
    "enforced": lambda s: s.type("sisyphus enforce on")[1],
    "installed": lambda s: s.type("sisyphus install")[1],
    "opencode": lambda s: s.type("sisyphus install --client opencode --yes")[1],
}
