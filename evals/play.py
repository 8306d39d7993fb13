"""Plays a case with the real client: once with sisyphus as its plugin, once without."""

from __future__ import annotations

import json
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
    characters: of all texts that hooks gave the model.
    """

    case: str
    has_sisyphus: bool
    failures: list[str]
    false_ticks: int
    requests: int
    holds: int
    characters: int


def play(
    case: Case, plugin: Path | None, *, seed: int, root: Path, rates: Rates | None = None
) -> Result:
    """Plays one session. plugin: the folder of the plugin that the client has; None = it has none.
    root: an empty folder, laid out as `claude plugin eval` does it."""
    home, project = root / "home", root / "home" / "cwd"
    for folder in (project, home / "tmp", root / "config"):
        folder.mkdir(parents=True)
    variables = {**claude_code.environment(home), "CLAUDE_CONFIG_DIR": str(root / "config")}
    subprocess.run(["bash", case.scaffold], cwd=project, env=variables, check=True)
    before = files_of(project)
    flags = ["--allowedTools", *case.tools]
    if plugin:
        flags += ["--plugin-dir", str(plugin)]
    with running(AgentModel(case, seed, rates)) as model:
        variables |= claude_code.model_variables(model.url)
        events = claude_code.talk([case.prompt], flags, project, variables)
    texts = list(_texts(events))
    return Result(
        case.name,
        plugin == CHECKOUT,
        case.failures(project, before),
        case.false_ticks(project),
        len(model.requests),
        sum(name == "Stop" for name, _ in texts),
        sum(len(text) for _, text in texts),
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
