"""The plugin as a guest in OpenCode, and gone when it is taken out."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from e2e.opencode.script import read
from e2e.opencode.wired import unwire, wire
from e2e.script import say, use

if TYPE_CHECKING:
    from e2e.opencode.lab import Lab

LOOP = ("do it --completion-promise DONE", "--command", "ralph-loop")


def test_without_sisyphus_it_does_nothing_and_says_so_once(lab: Lab) -> None:
    file = lab.write("README.md", "Sells pears.\n")

    run = lab.run(*LOOP, turns=[use(read(file)), say("Not yet.")], env={"PATH": os.defpath})

    [line] = run.told.splitlines()
    assert line.startswith("sisyphus: the command is not there")
    assert not (lab.home / ".claude/.sisyphus/logs").exists()


def test_switched_off_it_says_nothing(lab: Lab) -> None:
    lab.write("README.md", "Sells pears.\n")

    run = lab.run(*LOOP, turns=[say("Not yet.")], env={"SISYPHUS_DISABLE": "1"})

    assert "Sells pears." not in run.requests[0].text
    assert run.told == ""


def test_taken_out_it_leaves_the_folder_as_it_was(bare_lab: Lab) -> None:
    before = files(bare_lab)
    wire(bare_lab)
    bare_lab.run("hello", turns=[say("hi")])
    unwire(bare_lab)
    bare_lab.write("README.md", "Sells pears.\n")

    run = bare_lab.run("hello", turns=[say("hi")])

    assert "Sells pears." not in run.requests[0].text
    assert files(bare_lab) == before


def test_with_two_copies_nothing_is_said_twice(lab: Lab) -> None:
    lab.sisyphus("install", "--client", "opencode", "--scope", "user", "--yes")
    lab.write("README.md", "Sells pears.\n")

    run = lab.run(*LOOP, turns=[say("Not yet."), say("<promise>DONE</promise>")])

    assert run.requests[1].count("Sells pears.") == 1
    assert run.requests[1].count("[RALPH LOOP ENFORCEMENT]") == 1
    assert run.told.count("[RALPH LOOP COMPLETE]") == 1


def files(lab: Lab) -> set[str]:
    """Of the client's folder in the project; it writes its own `.gitignore` there."""
    folder = lab.project / ".opencode"
    return {str(path.relative_to(folder)) for path in folder.rglob("*")} - {".gitignore"}


def test_one_process_answers_a_tool_call_and_none_a_token(lab: Lab) -> None:
    file = lab.write("README.md", "Sells pears.\n")
    long = " ".join(f"word{number}" for number in range(600))

    run = lab.run("look", turns=[use(read(file), read(file)), use(read(file)), say(long)])

    with closing(sqlite3.connect(lab.home / ".claude/.sisyphus/sisyphus.db")) as memory:
        query = (
            "SELECT event FROM event JOIN session ON session = session.n WHERE id = ? "
            "ORDER BY event.n"
        )
        events = [event for (event,) in memory.execute(query, (run.session,))]
    assert events == [
        "session-start", "user-prompt-submit", *["post-tool-use"] * 3, "stop", "session-end",
    ]  # fmt: skip
