"""The table of `docs/files.md` names the keys that `--json` answers, all of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pages.scenes import SCENES
from pages.stand import SESSION, Stand

if TYPE_CHECKING:
    from collections.abc import Iterator

    Row = tuple[str, str, dict[str, set[str]]]

PAGE = (Path(__file__).parents[1] / "docs/files.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ((?:`[a-z].*?`(?:, )?)+) \| (object|list) \| (.+) \|$", PAGE, re.MULTILINE)
GIVEN = {
    "FILE": "src/App.tsx", "KEY": "ralph.no_progress", "VALUE": "6", "TEXT": "'it builds'",
    "LOOP": "lost-",
}  # fmt: skip
LOST = {"loop_id": "lost-", "session_id": "before", "status": "active"}
MAY_BE_EMPTY = {"boulder todos"}
SOMETIMES = {"why: entries": {"silent", "agent"}}
"""What this project gives no reason for: it has no todos, no subagent, no second wiring."""

IN_A_SESSION = {"status", "checklist", "context", "checkpoint", "pause", "resume", "cancel"}


@pytest.fixture
def stand(tmp_path: Path) -> Stand:
    """A project in which there is something to answer for every command."""
    stand = Stand(tmp_path)
    for name in (
        "plan", "readme", "agents", "rule", "session", "touch", "loop", "at-58", "stop",
        "own-loop", "enforced",
    ):  # fmt: skip
        SCENES[name](stand)
    stand.type("sisyphus boulder checkpoint")
    with (stand.home / ".claude/.sisyphus/logs/sessions.jsonl").open("a") as file:
        file.write(json.dumps(LOST) + "\n")
    return stand


def _keys(cell: str) -> dict[str, set[str]]:
    """Key -> those below it that are named."""
    if same := re.fullmatch(r"as `(.+)`", cell):
        return _keys(next(keys for names, _, keys in ROWS if f"`{same[1]}`" in names))
    found = re.findall(r"`(\w+)(?: \[?\{(.*?)\}\]?)?`", cell)
    return {name: set(below.split(", ")) - {""} for name, below in found}


def _answer(stand: Stand, command: str) -> object:
    for name, value in GIVEN.items():
        command = command.replace(name, value)
    words = command.split()
    if words[0] == "ralph" and words[1] in IN_A_SESSION:
        command += f" --session-id {SESSION}"
    _, written = stand.type(f"sisyphus {command} --json")
    answer: object = json.loads(written)
    return answer


def _below(value: object) -> set[str]:
    rows = value if isinstance(value, list) else [value]
    return {key for row in rows if isinstance(row, dict) for key in row}


def test_every_answer_has_the_keys_that_are_documented(stand: Stand) -> None:
    assert len(ROWS) > 25
    for command, form, documented in sorted(_documented(), key=_ends_something):
        answer = _answer(stand, command)
        assert isinstance(answer, dict) is (form == "object"), command
        assert answer != [] or command in MAY_BE_EMPTY, command
        assert answer == [] or _below(answer) == set(documented), command
        _compare_below(command, answer, documented)


def _documented() -> Iterator[Row]:
    for commands, form, cell in ROWS:
        for command in re.findall(r"`(.+?)`", commands):
            yield command, form, _keys(cell)


def _ends_something(row: Row) -> bool:
    return row[0].endswith((" clear", " cancel"))


def _compare_below(command: str, answer: object, documented: dict[str, set[str]]) -> None:
    """Those of a key that holds objects, where the page names them."""
    rows = [
        row for row in (answer if isinstance(answer, list) else [answer]) if isinstance(row, dict)
    ]
    for key, below in documented.items():
        if below:
            found = {name for row in rows for name in _below(row.get(key))}
            missing = below - found - SOMETIMES.get(f"{command}: {key}", set())
            assert (missing, found - below) == (set(), set()), f"{command}: {key}"
