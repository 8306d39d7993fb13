"""`sisyphus ralph run --client copilot` with the real client, as its documentation says."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from e2e.claude_code import COMMANDS
from e2e.desk import COPILOT, Desk
from e2e.install import COPILOT as PACKAGE
from e2e.model import serving
from e2e.script import Script, Turn, edit, say, shell, use, write
from e2e.test_run import COMPLETE, ITEMS, RESUME, Runs, commit, do

pytestmark = pytest.mark.parametrize("desk", [COPILOT], indirect=True)

WRITE = ("--client", "copilot", "--permission-mode", "write")
THREE = ITEMS[:3]
PROVIDER = ("COPILOT_OFFLINE", "COPILOT_PROVIDER_")
WINDOW = "168000"
"""The tokens that fit, which the client's own list of models says of this one, too."""
FULL = 146_160
"""87 % of it."""
REPEATS = 5
"""How often the client itself repeats a request that was refused with 429."""


@dataclass
class CopilotRuns(Runs):
    """A desk after `sisyphus install`, with the client on the PATH."""

    def start(self, *words: str, **more: str) -> subprocess.Popen[str]:
        variables = {**self.desk.environment(), **self.desk.client.model_variables(self.model.url)}
        variables["COPILOT_PROVIDER_MAX_PROMPT_TOKENS"] = WINDOW
        if more.pop("login", ""):  # there is none, and no other provider
            variables = {k: v for k, v in variables.items() if not k.startswith(PROVIDER)}
        variables["PATH"] = f"{self.desk.home / 'bin'}{os.pathsep}{variables['PATH']}"
        return subprocess.Popen(
            [COMMANDS / "sisyphus", "ralph", "run", *words],
            cwd=self.desk.project,
            env=variables | more,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


@contextmanager
def playing(desk: Desk, turns: Sequence[Turn]) -> Iterator[CopilotRuns]:
    """A desk whose model answers by these turns; all of them must be asked for."""
    desk.write("../home/.gitconfig", "[user]\n\tname = a\n\temail = a@b\n")
    program = desk.home / "bin" / "copilot"
    program.parent.mkdir(exist_ok=True)
    if not program.exists():
        program.symlink_to(PACKAGE.binary)
    script = Script([*turns])
    with serving(script, desk.spell) as model:
        yield CopilotRuns(desk, model)
    assert script.is_over, f"left: {script.main}; beyond: {script.surplus}"


def test_a_night_with_checks_commits_and_an_audit(desk: Desk) -> None:
    """In the audit the agent can write nothing."""
    lines = "".join(f"- [ ] {item}\n  - check: `grep x {item}.py`\n" for item in THREE)
    desk.write("fix_plan.md", f"# Shop\n\n{lines}")
    commit(desk)
    *first, last = do("cart")
    may_not = use(shell("echo bad && make bad"))
    spoil = use(write("new.py", ""), shell("echo bad >cart.py"))
    turns = [*first, may_not, last, *do("total"), *do("receipt"), spoil, COMPLETE]

    with playing(desk, turns) as runs:
        code, printed = runs.run(*WRITE, "--trust-checks", "--commit", "--audit", "1")

    assert code == 0, printed
    assert "warning" not in printed
    assert runs.items == [*THREE, ""]
    assert "audit 1 found nothing. 3 of 3 items are done" in printed
    assert "3 commits" in printed
    assert "The client did not allow: `bash echo bad && make bad`" in printed
    assert [row["is_done"] for row in runs.log()] == [True] * 4
    assert all(row["tokens"] > 0 for row in runs.log())
    assert (desk.project / "cart.py").read_text() == "x = 1\n"
    assert not (desk.project / "new.py").exists()
    for request in runs.firsts[:-1]:
        assert request.text.count("## Instructions") == 1


def test_what_the_user_has_allowed_for_the_repository(desk: Desk) -> None:
    """The warning says what to write."""
    desk.write("fix_plan.md", "- [ ] cart\n  - check: `python3 check.py cart.py`\n")
    desk.write("check.py", "import sys\n\nopen(sys.argv[1])\n")
    commit(desk)
    try_out = use(shell("python3 check.py check.py && echo tried >&2"))
    _, work, last = do("cart")

    with playing(desk, [try_out, work, last]) as runs:
        code, printed = runs.run(*WRITE, "--trust-checks")
    assert code == 0, printed
    assert "may not run `python3 check.py cart.py`" in printed
    assert "Permission denied" in runs.model.requests[1].last

    said = next(line for line in printed.splitlines() if "permissions-config.json" in line)
    locations = json.loads(said.partition("permissions-config.json: ")[2])
    desk.write("../home/.copilot/permissions-config.json", json.dumps({"locations": locations}))
    desk.write("fix_plan.md", "- [ ] total\n  - check: `python3 check.py total.py`\n")
    commit(desk)
    _, work, last = do("total")
    with playing(desk, [try_out, work, last]) as runs:
        code, printed = runs.run(*WRITE, "--trust-checks")
    assert code == 0, printed
    assert "may not run" not in printed
    assert "tried" in runs.model.requests[1].last


def test_a_limit_costs_no_iteration(desk: Desk) -> None:
    desk.write("fix_plan.md", "- [ ] cart\n")
    desk.write("../home/.claude/.sisyphus/config.toml", "[runner]\nretry_seconds = 1\n")
    refused = [use(write("half.py", "")), *[say("", status=429)] * (1 + REPEATS)]

    with playing(desk, [*refused, *do("cart")]) as runs:
        code, printed = runs.run(*WRITE)

    assert code == 0, printed
    assert printed.count("the account's limit is reached") == 1
    assert printed.count("Waiting until") == 1
    assert [RESUME in request.text for request in runs.firsts] == [False, True]
    assert [row["item"] for row in runs.log()] == ["cart"]


def test_a_client_that_is_not_logged_in(desk: Desk) -> None:
    desk.write("fix_plan.md", "- [ ] cart\n")

    with playing(desk, []) as runs:
        code, printed = runs.run(*WRITE, login="none")

    assert code == 1, printed
    assert "Copilot CLI is not logged in, or has no access" in printed
    assert len(runs.log()) == 1


def test_a_full_context_is_handed_over(desk: Desk) -> None:
    desk.write("fix_plan.md", "- [ ] cart\n")
    full = [
        use(write("half.py", ""), tokens=FULL),
        use(edit(".claude/handoffs/*.md", "# Handoff\n", "# Handoff\n\nMind the VAT.\n")),
        say("Handed over."),
    ]

    with playing(desk, [*full, *do("cart")]) as runs:
        code, printed = runs.run(*WRITE)

    assert code == 0, printed
    assert [RESUME in request.text for request in runs.firsts] == [False, True]
    assert [row["decision"] for row in runs.log()] == ["checkpoint", "completed"]
    assert [row["percent"] for row in runs.log()] == [87, 0]
