"""A scenario is a row of a table: files, what user and model do, and what the model then gets.

Each row runs with each client. It is written for Claude Code: the modules of the others know what
its commands and flags are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from e2e.desk import CLAUDE_CODE, CODEX, COPILOT, OPENCODE, QWEN, Desk, Run
from e2e.script import Turn


@dataclass(frozen=True)
class Step:
    """One process of the client.

    prompts: what the user types. turns, agents: what the model and its subagents answer.
    how: "start", or "resume" or "fork" of the session of the step before.
    files, gone: what the user writes and deletes before it.
    """

    prompts: Sequence[str]
    turns: Sequence[Turn]
    agents: Sequence[Turn] = ()
    how: str = "start"
    flags: Sequence[str] = ()
    env: dict[str, str] = field(default_factory=dict)
    folder: str = ""
    files: dict[str, str] = field(default_factory=dict)
    gone: Sequence[str] = ()


@dataclass(frozen=True)
class Scenario:
    """A row.

    model: a text → how often each request of the main conversation contains it, over all steps.
    last: the same for what is new in each request. agents: the same for the subagents' requests.
    user: texts in the hooks' messages to the user, where the client shows them.
    silent: texts that neither model nor user gets. results: a text in the last output of each step.
    after: a file → a text in it at the end.
    Where the model gets a reason to go on, `last` counts the two copies of Claude Code.
    only: why no other client than Claude Code can do it. out: a client → why it cannot.
    """

    name: str
    files: dict[str, str]
    steps: Sequence[Step]
    model: dict[str, list[int]] = field(default_factory=dict)
    last: dict[str, list[int]] = field(default_factory=dict)
    agents: dict[str, list[int]] = field(default_factory=dict)
    user: Sequence[str] = ()
    silent: Sequence[str] = ()
    results: Sequence[str] = ()
    after: dict[str, str] = field(default_factory=dict)
    only: str = ""
    out: dict[str, str] = field(default_factory=dict)


COLUMNS = (CLAUDE_CODE, OPENCODE, CODEX, QWEN, COPILOT)
ONE_IS_ENOUGH = "nothing in it depends on the client"


def rows(*scenarios: Scenario) -> pytest.MarkDecorator:
    """A test with the arguments `desk` and `scenario`, once for each row and client."""
    return pytest.mark.parametrize(
        ("desk", "scenario"),
        [_row(client, scenario) for scenario in scenarios for client in COLUMNS],
        indirect=["desk"],
    )


def _row(client: str, scenario: Scenario) -> Any:
    reason = scenario.out.get(client) or (scenario.only if client != CLAUDE_CODE else "")
    return pytest.param(client, scenario, marks=_skip(reason), id=f"{client}: {scenario.name}")


def _skip(reason: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.skip(reason=reason)] if reason else []


def each_client_but(out: dict[str, str]) -> pytest.MarkDecorator:
    """A test with the argument `desk`, once for each client. out: a client → why it cannot."""
    columns = [pytest.param(name, marks=_skip(out.get(name, "")), id=name) for name in COLUMNS]
    return pytest.mark.parametrize("desk", columns, indirect=True)


each_client = each_client_but({})
"""The same for all of them."""


def play(desk: Desk, scenario: Scenario) -> list[Run]:
    """Plays the steps and checks what the row says; returns the runs."""
    for path, text in scenario.files.items():
        desk.write(path, text)
    if _may_share(scenario):
        desk = desk.shared
    runs: list[Run] = []
    for step in scenario.steps:
        runs.append(_take(desk, step, runs))
    _check(desk, scenario, runs)
    return runs


def _may_share(scenario: Scenario) -> bool:
    """Tells whether no step is about a process of the client: its variables, what it finds in its
    home, what it answers to a command that is its only prompt, how it ends where it is enforced."""
    alone = [step.prompts[0] for step in scenario.steps if len(step.prompts) == 1]
    files = [*scenario.files, *(path for step in scenario.steps for path in step.files)]
    is_enforced = any("[enforce]" in text for text in scenario.files.values())
    return not (
        any(step.env for step in scenario.steps)
        or any(path.startswith("..") and not path.endswith("config.toml") for path in files)
        or any(prompt.startswith("/") for prompt in alone)
        or (alone and is_enforced)
    )


def _take(desk: Desk, step: Step, before: list[Run]) -> Run:
    for path, text in step.files.items():
        desk.write(path, text)
    for path in step.gone:
        (desk.project / path).unlink()
    flags = list(step.flags)
    if step.how != "start":
        flags += ["--resume", before[-1].session]
    if step.how == "fork":
        flags += ["--fork-session"]
    return desk.run(
        *step.prompts,
        turns=step.turns,
        agents=step.agents,
        flags=flags,
        env=step.env,
        folder=step.folder,
    )


def _check(desk: Desk, scenario: Scenario, runs: list[Run]) -> None:
    requests = [request for run in runs for request in run.main]
    of_agents = [request for run in runs for request in run.agents]
    assert _counts(scenario.model, [request.text for request in requests]) == scenario.model
    last = {text: _copies(desk, counts) for text, counts in scenario.last.items()}
    assert _counts(scenario.last, [request.last for request in requests]) == last
    assert _counts(scenario.agents, [request.text for request in of_agents]) == scenario.agents
    messages = "\n\n".join(run.messages for run in runs)
    for text in scenario.user if desk.client.SHOWS_MESSAGES else ():
        assert text in messages
    everything = "\n".join([messages, *(request.text for request in [*requests, *of_agents])])
    for text in scenario.silent:
        assert text not in everything, text
    for text, run in zip(scenario.results, runs, strict=False):
        assert text in run.result
    for path, text in scenario.after.items():
        assert text in (desk.project / path).read_text(encoding="utf-8")


def _counts(texts: dict[str, list[int]], contents: list[str]) -> dict[str, list[int]]:
    return {text: [content.count(text) for content in contents] for text in texts}


def _copies(desk: Desk, counts: list[int]) -> list[int]:
    return [min(count, desk.client.REASON_COPIES) for count in counts]
