"""The cases of `evals`, each with one session of the scripted agent with sisyphus and one without.

The agent makes the same mistakes in both. What is asserted is the direction; the figures are in
`docs/how-good-it-is.md`, and `python -m evals` measures them.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from e2e import claude_code
from e2e.install import CHECKOUT, CLAUDE_CODE
from e2e.model import running
from evals import cases
from evals.__main__ import eval_command, real_line
from evals.agent import AgentModel
from evals.play import Result, play

MENDED = {
    "stops-early": 1,
    "says-done": 1,
    "ticks-without-work": 1,
    "full-context": 2,
    "everything": 1,
    "rule-on-touch": 1,
}
"""Case → a seed with which the agent makes its mistake and, when told, mends it."""


@pytest.mark.parametrize("name", MENDED)
def test_the_work_is_done_with_sisyphus_alone(name: str, tmp_path: Path) -> None:
    with_it, without = _both(name, MENDED[name], tmp_path)

    assert with_it.failures == []
    assert with_it.false_ticks == 0
    assert without.failures


def test_nothing_is_held_where_nothing_is_switched_on(tmp_path: Path) -> None:
    with_it, without = _both("no-settings", 1, tmp_path)

    assert with_it.failures == without.failures != []
    assert with_it.requests == without.requests
    assert with_it.holds == 0


def test_an_agent_that_needs_the_user_stops(tmp_path: Path) -> None:
    with_it, without = _both("blocked", 1, tmp_path)

    assert with_it.failures == without.failures == []
    assert with_it.requests <= without.requests + 1


def test_plain_chat_gets_nothing(tmp_path: Path) -> None:
    with_it, without = _both("plain-chat", 1, tmp_path)

    assert with_it.failures == without.failures == []
    assert with_it.requests == without.requests
    assert with_it.characters == 0


def test_the_client_plays_the_cases_itself(tmp_path: Path) -> None:
    """`claude plugin eval` reads the same files, and both arms end as they do here."""
    (tmp_path / "tmp").mkdir()
    report = tmp_path / "report.json"
    command = eval_command(str(CLAUDE_CODE.binary), "says-done", 1, None, report)
    with running(AgentModel(cases.load("says-done"), seed=MENDED["says-done"])) as model:
        variables = claude_code.environment(tmp_path) | claude_code.model_variables(model.url)
        done = subprocess.run(
            command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
        )

    assert report.exists(), done.stderr + done.stdout
    line = real_line(json.loads(report.read_text(encoding="utf-8")))
    assert line.startswith("| says-done | 1 of 1 (21 to 100 %) | 0 of 1 (0 to 79 %) | ")


def _both(name: str, seed: int, folder: Path) -> tuple[Result, Result]:
    case = cases.load(name)
    return (
        play(case, CHECKOUT, seed=seed, root=folder / "with"),
        play(case, None, seed=seed, root=folder / "without"),
    )
