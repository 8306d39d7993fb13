"""`sisyphus ralph run` with the real client, as its documentation says, in acceptEdits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from e2e import claude_code
from e2e.claude_code import COMMANDS, SECONDS, Json, environment
from e2e.desk import Desk
from e2e.install import CLAUDE_CODE
from e2e.model import Model, Request, serving
from e2e.script import Script, Tool, Turn, edit, read, say, use, write

ACCEPT = ("--permission-mode", "acceptEdits")
ITEMS = ("cart", "total", "receipt", "refund", "invoice", "coupon", "tax", "export")
DONE = say("Done. Nothing else to know.")


@dataclass
class Runs:
    """A desk after `sisyphus install`, with the client on the PATH."""

    desk: Desk
    model: Model

    def start(self, *words: str) -> subprocess.Popen[str]:
        variables = environment(self.desk.home)
        variables["ANTHROPIC_BASE_URL"] = self.model.url
        variables["CLAUDE_CODE_MAX_RETRIES"] = "1"
        folder = self.desk.home / "bin"
        variables["PATH"] = f"{folder}{os.pathsep}{variables['PATH']}"
        return subprocess.Popen(
            [COMMANDS / "sisyphus", "ralph", "run", *words],
            cwd=self.desk.project,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *words: str) -> tuple[int, str]:
        """Runs to the end; returns the exit code and what was printed."""
        with self.start(*words) as process:
            printed, _ = process.communicate(timeout=SECONDS)
        self.desk.check_log()
        return process.returncode, printed

    @property
    def firsts(self) -> list[Request]:
        """The first requests of the processes; one that is refused asks twice."""
        return [request for request in self.model.requests if request.is_first]

    @property
    def state(self) -> Json:
        file = self.desk.project / ".claude" / "ralph-state.json"
        state: Json = json.loads(file.read_text())
        return state

    @property
    def items(self) -> list[str]:
        """The item that each process was given."""
        return [next((i for i in ITEMS if f"\n> {i}\n" in r.text), "") for r in self.firsts]

    def log(self) -> list[Json]:
        rows: list[Json] = json.loads(
            self.desk.sisyphus("ralph", "log", self.state["run"], "--json")
        )
        return rows


@contextmanager
def playing(desk: Desk, turns: Sequence[Turn]) -> Iterator[Runs]:
    """A desk whose model answers by these turns; all of them must be asked for."""
    program = desk.home / "bin" / "claude"
    program.parent.mkdir(exist_ok=True)
    if not program.exists():
        program.symlink_to(CLAUDE_CODE.binary)
        desk.sisyphus("install", "--yes")
    script = Script([*turns])

    def spell(tool: Tool) -> Json:
        return claude_code.spell(tool, desk.project)

    with serving(script, spell) as model:
        yield Runs(desk, model)
    assert not script.main, f"left: {script.main}"


def plan(desk: Desk, *items: str) -> Path:
    return desk.write("fix_plan.md", "# Shop\n\n" + "".join(f"- [ ] {item}\n" for item in items))


def do(item: str, **more: Any) -> list[Turn]:
    """The turns of a process that does an item."""
    tick = edit("fix_plan.md", f"- [ ] {item}", f"- [x] {item}")
    return [use(read("fix_plan.md"), **more), use(write(f"{item}.py", "x = 1\n"), tick), DONE]


def test_three_items(desk: Desk) -> None:
    plan(desk, *ITEMS[:3])

    with playing(desk, [turn for item in ITEMS[:3] for turn in do(item)]) as runs:
        code, printed = runs.run(*ACCEPT)

    assert code == 0, printed
    assert runs.items == ["cart", "total", "receipt"]
    assert "3 of 3 items are done" in printed
    assert [row["percent"] for row in runs.log()] == [0, 0, 0]
    assert runs.log()[0]["cost"] > 0
    for request in runs.firsts:
        assert request.text.count("## Instructions") == 1


def test_a_night(desk: Desk) -> None:
    """Eight items with all that can happen in a night."""
    plan(desk, *ITEMS)
    (desk.home / ".claude" / ".sisyphus").mkdir(parents=True)
    settings = desk.home / ".claude" / ".sisyphus" / "config.toml"
    settings.write_text("[runner]\nretry_seconds = 1\n")
    runners: list[subprocess.Popen[str]] = []

    def send(number: int) -> None:
        os.kill(runners[-1].pid, number)

    def kill_client() -> None:
        os.kill(_client(desk), signal.SIGKILL)

    full = [
        use(write("total.py", "half = 1\n"), tokens=870_000),
        use(edit(".claude/handoffs/*.md", "# Handoff\n", "# Handoff\n\nMind the VAT.\n")),
        say("Handed over."),
    ]
    turns = [
        *do("cart"),
        *full,
        *do("total"),
        say("<blocked>the printer's address</blocked>"),
        say("", status=429),
        say("", status=429),
        *do("refund"),
        use(read("fix_plan.md")),
        say("killed", meanwhile=kill_client),
        *do("invoice"),
        use(read("fix_plan.md")),
        say("killed", meanwhile=lambda: send(signal.SIGKILL)),
    ]
    with playing(desk, turns) as runs:
        runners.append(runs.start(*ACCEPT))
        printed, _ = runners[-1].communicate(timeout=SECONDS)
    assert runners[-1].returncode == -signal.SIGKILL, printed
    assert "Waiting until" in printed
    names = ["cart", "total", "total", "receipt", *["refund"] * 3, "invoice", "invoice", "coupon"]
    assert runs.items == names
    assert "Mind the VAT." in next((desk.project / ".claude" / "handoffs").glob("*.md")).read_text()
    resumes = ["CONTEXT CHECKPOINT RESUME" in request.text for request in runs.firsts]
    assert resumes == [False, False, True, *[False] * 7]

    stop = use(read("fix_plan.md"), meanwhile=lambda: send(signal.SIGINT))
    with playing(desk, [stop, *do("coupon")[1:]]) as runs:
        runners.append(runs.start("--resume", *ACCEPT))
        printed, _ = runners[-1].communicate(timeout=SECONDS)
    assert runners[-1].returncode == 130, printed
    assert runs.items == ["coupon"]
    assert "CONTEXT CHECKPOINT RESUME" in runs.firsts[0].text

    rest = [turn for item in ("receipt", "tax", "export") for turn in do(item)]
    with playing(desk, rest) as runs:
        code, printed = runs.run("--resume", *ACCEPT)
    assert code == 0, printed
    assert runs.items == ["receipt", "tax", "export"]
    assert sorted(runs.state["completed_items"]) == sorted(ITEMS)
    assert "8 of 8 items are done" in printed
    assert {file.stem for file in desk.project.glob("*.py")} == set(ITEMS)
    done = [row["item"] for row in runs.log() if row["is_done"]]
    assert sorted(done) == sorted(ITEMS)
    assert json.loads(desk.sisyphus("status", "--json"))["waiting"] == []
    assert len(desk.sisyphus("ralph", "log").splitlines()) == 1


def _client(desk: Desk) -> int:
    """Returns the process id of the client that runs at this desk."""
    files = (desk.home / ".claude" / "sessions").glob("*.json")
    return max((int(file.stem) for file in files), default=0)
