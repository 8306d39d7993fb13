"""The status line as the real client draws it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from e2e.script import Tool, Turn
from e2e.terminal import CONTROLS, terminal

if TYPE_CHECKING:
    from e2e.desk import Desk
    from e2e.terminal import Terminal

TYPED = '/sisyphus:ralph-loop "do it" --completion-promise "DONE"'
SETTING = {"statusLine": {"type": "command", "command": "sisyphus statusline"}}


def _shown(client: Terminal) -> str:
    return "".join(CONTROLS.sub("", client.written.decode(errors="replace")).split())


def test_the_line_is_drawn_and_tells_the_hooks_the_window(desk: Desk) -> None:
    desk.write_home("settings.json", json.dumps(SETTING))
    desk.write(".claude/PLAN.md", "# Shop\n\n- [x] one\n- [ ] two\n")
    wait = "touch begun; until test -e seen; do sleep 0.1; done"
    work = Turn(tools=(Tool("Bash", {"command": wait}),), tokens=420_000)
    done = Turn("<promise>DONE</promise>", tokens=430_000)
    with terminal(desk, turns=[work, done]) as client:
        client.enter(TYPED)
        client.until((desk.project / "begun").exists, "work")
        client.until(lambda: "Shop1/2" in _shown(client), "plan in the line")
        client.until(lambda: "|loop1/100" in _shown(client), "loop in the line")
        client.until(lambda: "|ctx42%" in _shown(client), "context in the line")
        desk.write("seen", "")
        client.until_asked(2)
        session = client.session

    assert desk.state(f".sisyphus/checkpoint/{session}.json")["window"] == 1_000_000
