"""Plays a case with the real client: once with sisyphus as its plugin, once without."""

from __future__ import annotations

import json
import resource
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from e2e import claude_code
from e2e.claude_code import Json
from e2e.install import CHECKOUT
from e2e.model import running

from evals.agent import AgentModel, Rates
from evals.cases import Case, files_of


@dataclass(frozen=True)
class Result:
    """What is left of a session, and what it took.

    failures: the graders that did not pass. false_ticks: boxes that are ticked without work.
    requests: how often the client asked the model. holds: Stops that a hook answered.
    characters: of all texts that hooks gave the model. hooks: how many ran. processor: seconds of
    processor time of the client and its hooks; other plays must run in other processes.
    """

    case: str
    is_with: bool
    failures: list[str]
    false_ticks: int
    requests: int
    holds: int
    characters: int
    hooks: int
    processor: float


def play(case: Case, *, is_with: bool, seed: int, root: Path, rates: Rates | None = None) -> Result:
    """Plays one session. root: an empty folder, laid out as `claude plugin eval` does it."""
    home, project = root / "home", root / "home" / "cwd"
    for folder in (project, home / "tmp", root / "config"):
        folder.mkdir(parents=True)
    variables = {**claude_code.environment(home), "CLAUDE_CONFIG_DIR": str(root / "config")}
    subprocess.run(["bash", case.scaffold], cwd=project, env=variables, check=True)
    before = files_of(project)
    flags = ["--allowedTools", *case.tools]
    if is_with:
        flags += ["--plugin-dir", str(CHECKOUT)]
    with running(AgentModel(case, seed, rates)) as model:
        variables |= claude_code.model_variables(model.url)
        started = _processor()
        events = claude_code.talk([case.prompt], flags, project, variables)
    texts = list(_texts(events))
    return Result(
        case.name,
        is_with,
        case.failures(project, before),
        case.false_ticks(project),
        len(model.requests),
        sum(name == "Stop" for name, _ in texts),
        sum(len(text) for _, text in texts),
        sum(event.get("subtype") == "hook_response" for event in events),
        _processor() - started,
    )


def _texts(events: list[Json]) -> Iterator[tuple[str, str]]:
    """Yields each text that a hook gave the model, after the name of its event."""
    for event in events:
        if event.get("subtype") != "hook_response" or not event["stdout"].strip():
            continue
        reply = json.loads(event["stdout"])
        more = reply.get("hookSpecificOutput", {}).get("additionalContext", "")
        if text := reply.get("reason", "") + more:
            yield event["hook_event"], text


def _processor() -> float:
    """Returns the seconds that all children so far, and their children, have computed."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
