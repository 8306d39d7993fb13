"""The cases, as files say them, and how a project is judged."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Task:
    """A task: its name as the plan has it, its file, and what a good and a bad one look like."""

    name: str
    path: str
    right: str
    wrong: str


@dataclass(frozen=True)
class Case:
    """A folder of `evals`.

    faults: fields of `Rates` that count in this case; all others are 0 there.
    full_after: the number of tasks after which the context is full, 0 = never.
    reads: a file that the agent reads first. rule: words of the rule that it should get.
    needs_user: whether no task can be done without the user.
    """

    name: str
    prompt: str
    scaffold: Path
    tools: Sequence[str]
    graders: Sequence[dict[str, Any]]
    tasks: Sequence[Task]
    faults: Sequence[str]
    full_after: int
    reads: str
    rule: str
    needs_user: bool

    def failures(self, project: Path, before: frozenset[str]) -> list[str]:
        """Returns the graders that a project does not pass. before: its files at the start.

        What the agent said never counts. The kinds are the two of `claude plugin eval` that look
        at files: https://code.claude.com/docs/en/plugin-evals
        """
        return [g["name"] for g in self.graders if not _passes(g, project, before)]

    def false_ticks(self, project: Path) -> int:
        """Counts the boxes of the plan that are ticked without a task that is done."""
        plan = text_of(project / "PLAN.md")
        ticked = [task for task in self.tasks if f"- [x] {task.name}" in plan]
        return sum(self.needs_user or not is_done(task, project) for task in ticked)


def load(name: str) -> Case:
    folder = HERE / name
    case = yaml.safe_load(text_of(folder / "case.yaml"))
    agent = tomllib.loads(text_of(folder / "agent.toml"))
    return Case(
        name,
        case["execution"]["prompt"],
        folder / case["context"]["scaffold_script"],
        case["execution"]["allowed_tools"],
        case["graders"],
        [Task(**task) for task in agent.get("task", [])],
        agent["faults"],
        agent.get("full_after", 0),
        agent.get("reads", ""),
        agent.get("rule", ""),
        agent.get("needs_user", False),
    )


def names() -> list[str]:
    return sorted(file.parent.name for file in HERE.glob("*/case.yaml"))


def files_of(project: Path) -> frozenset[str]:
    """Returns the paths of the files of a project, without those of git."""
    files = (file.relative_to(project) for file in project.rglob("*") if file.is_file())
    return frozenset(str(file) for file in files if file.parts[0] != ".git")


def text_of(file: Path) -> str:
    """Returns the text of a file; "" if it is not there."""
    return file.read_text(encoding="utf-8") if file.exists() else ""


def is_done(task: Task, project: Path) -> bool:
    return text_of(project / task.path) == task.right


def _passes(grader: dict[str, Any], project: Path, before: frozenset[str]) -> bool:
    if grader["type"] == "file_exists":
        new = files_of(project) - before
        is_there = any(Path(path).match(grader["path"]) for path in new)
        return is_there is grader.get("exists", True)
    file = project / grader["target"]["path"]
    is_found = bool(re.search(grader["pattern"], text_of(file)))
    return file.exists() and is_found == (grader.get("match") != "not_contains")
