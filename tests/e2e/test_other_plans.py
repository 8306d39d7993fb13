"""Plans of other tools, each worked to its end: started by name, ticked as its tool does it, held
while items stand open. The files are those of `cases/other_tools.toml`."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from e2e.desk import WITH_SHELL, Desk
from e2e.script import Tool, edit, read, say, shell, use, write
from e2e.test_hold import BLOCK, COMPLETE, NOT_YET

_FILE = Path(__file__).parents[1] / "cases" / "other_tools.toml"
CASES: dict[str, dict[str, Any]] = {
    case["name"]: case for case in tomllib.loads(_FILE.read_text(encoding="utf-8"))["case"]
}
SUMMARY = ".planning/phases/01-foundation/01-02-SUMMARY.md"
SET_STATUS = """\
import json, sys
from pathlib import Path

_, id, status = sys.argv
file = Path(".taskmaster/tasks/tasks.json")
data = json.loads(file.read_text())
next(each for each in data["master"]["tasks"] if str(each["id"]) == id)["status"] = status
file.write_text(json.dumps(data, indent=2))
"""
"""Stands for `task-master set-status`, which writes the whole file anew."""


@dataclass(frozen=True)
class Item:
    """What is next in a plan, and what the model does when it is done. It may close more than one
    task."""

    task: str
    tools: Sequence[Tool]


@dataclass(frozen=True)
class Row:
    """case: its name in the file. items: in the order in which they are done."""

    case: str
    items: Sequence[Item]


def path_of(case: str) -> str:
    return str(CASES[case]["path"])


def boxes(case: str, *tasks: str) -> Row:
    """A plan whose items are boxes, which are ticked."""
    return texts(case, *((task, (f"- [ ] {task}", f"- [x] {task}")) for task in tasks))


def texts(case: str, *items: tuple[Any, ...]) -> Row:
    """A plan in which a text is replaced for each item, or several. items: each with what is
    next, and pairs of an old and a new text."""
    path = path_of(case)
    return Row(case, [Item(task, [edit(path, *pair) for pair in pairs]) for task, *pairs in items])


def status(id: int) -> list[Tool]:
    return [shell(f"python3 set_status.py {id} done")]


ROWS = [
    boxes("spec-kit, phases, parallel tasks and a story",
          "T003 [P] [US1] Contract test of the label in tests/contract/test_label.py",
          "T004 [US1] Create the Label in src/models/label.py", "T005 [P] Documentation updates"),
    texts("Kiro, steps, an optional one, requirements",
          ("2. Let neighbours in", ("[ ] 2. Let", "[-] 2. Let"), ("[ ] 2.1", "[x] 2.1"),
           ("[ ] 2.2", "[x] 2.2"), ("[-] 2. Let", "[x] 2. Let")),
          ("3. Checkpoint", ("- [ ] 3.", "- [x] 3."))),
    boxes("OpenSpec, sections with numbers and no heading of the document",
          "2.1 Measure the water", "2.2 Close the tap", "3.1 Run the focused tests."),
    boxes("superpowers, chunks, half done",
          "**Step 1:** Read the current text", "**Step 2:** Add the loop"),
    texts("planning-with-files, phases without boxes",
          ("Phase 2: Build", ("**Status:** in_progress", "**Status:** complete")),
          ("Phase 3: Try", ("**Status:** pending", "**Status:** complete")),
          ("Phase 4: Deliver", ("### Phase 4: Deliver", "### Phase 4: Deliver (complete)"))),
    texts("planning-with-files, words for marks",
          ("阶段 3：提交", ("[in_progress]", "[complete]")),
          ("阶段 4：推送", ("[pending] 阶段 4", "[complete] 阶段 4")),
          ("阶段 5：约定", ("[pending] 阶段 5", "[complete] 阶段 5"))),
    boxes("ralphex, boxes outside of its tasks do not count",
          "write a test of the new start", "run `go test ./pkg/` before task 2"),
    boxes("oh-my-openagent, a short plan",
          "T2: Create `src/run.ts`", "T3: Add tests", "F1: The core", "F2: The types"),
    boxes("BMAD, a story that is ready", "Task 1: Create the structure", "Task 2: Tests"),
    Row("GSD, a plan with three tasks",
        [Item("Task 1: Read the labels", [write(SUMMARY, "# Plan 01-02: Labels\n")])]),
    boxes("GSD, a roadmap, one phase done", "**Phase 2: Seeds**", "**Phase 3: Water**"),
    Row("task-master, one tag, subtasks, ids that are numbers",
        [Item("3. Heat the Kiln by a Table", status(3)), Item("2. Show the Temperature", status(2)),
         Item("4. Send a Mail", status(4))]),
    texts("prd.json of a loop, at the root",
          ("US-003: Read the table", ('"priority": 2,\n      "passes": false',
                                      '"priority": 2,\n      "passes": true')),
          ("US-002: Draw the curve", ('"passes": false', '"passes": true'))),
    texts("prd.json, a bare list",
          ("2. 在指定位置创建花坛", ('位置为 3"\n    ],\n    "passes": false',
                            '位置为 3"\n    ],\n    "passes": true')),
          ("3. 检查缺失的文件", ('"passes": false', '"passes": true'))),
    boxes("TASKS.md, two languages and a sprint",
          "Test the contract", "Actualizar el nombre", "Crear la tienda"),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.case)
def test_a_plan_is_worked_to_its_end(desk: Desk, row: Row) -> None:
    case, path = CASES[row.case], path_of(row.case)
    desk.write(path, case["text"].lstrip("\n"))
    desk.write("set_status.py", SET_STATUS)
    desk.sisyphus("boulder", "start", case["start"])
    desk.sisyphus("boulder", "hold", "on")
    turns = [use(read(path))]
    for item in row.items:
        turns += [NOT_YET, use(*item.tools)]

    run = desk.run("go on", turns=[*turns, say("All is done.")], flags=WITH_SHELL)

    assert f"Next task: {case['next_task']}" in run.main[0].text
    held = [request.last for request in run.main if BLOCK in request.last]
    assert len(held) == len(row.items)
    for number, (reason, item) in enumerate(zip(held, row.items, strict=True), case["completed"]):
        assert f"{number} of {case['total']} tasks" in reason
        assert item.task in reason
    assert COMPLETE in run.messages
    told = json.loads(desk.sisyphus("boulder", "status", "--json"))
    assert told["state"] == "complete"
    assert told["progress"]["completed"] == told["progress"]["total"] == case["total"]
    assert f"{path}, complete" in desk.sisyphus("boulder", "status")
