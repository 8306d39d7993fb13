"""What `sisyphus ralph run` costs besides its client: our own seconds in 50 iterations.

    .venv/bin/python bench/run.py [ROUNDS]

The client is a shell script that prints a recorded stream and changes a file, so that it takes next
to no time. Every round makes a run of it, and calls the same script as often without us; the
difference is ours. `make bench` runs this after `hooks.py`.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SISYPHUS = Path(sys.executable).with_name("sisyphus")
ITERATIONS = 50
BUDGET = 2.0
"""The most seconds of our own in all iterations. A night's iterations take hours."""

TURNS = 40
"""How many tool calls the stream of an iteration has: as many as a small item takes."""

CLIENT = """#!/bin/sh
case "$1" in
--help) echo "  --permission-prompts <target>" ;;
auth) echo '{"loggedIn": true}' ;;
*) echo "$#" >> work.txt; cat "$STREAM" ;;
esac
"""


class Home:
    """A user's home with a committed project of 50 items, and the client on the PATH."""

    def __init__(self, root: Path) -> None:
        self.project = root / "project"
        self.program = root / "bin" / "claude"
        stream = root / "stream.jsonl"
        self.env = {
            "HOME": str(root), "STREAM": str(stream), "NO_COLOR": "1",
            "PATH": f"{self.program.parent}{os.pathsep}{os.environ['PATH']}",
        }  # fmt: skip
        self.project.mkdir()
        self.program.parent.mkdir()
        self.program.write_text(CLIENT)
        self.program.chmod(0o755)
        stream.write_text("".join(f"{json.dumps(line)}\n" for line in _stream()))
        boxes = [f"- [ ] item {number}\n" for number in range(ITERATIONS)]
        (self.project / "fix_plan.md").write_text("".join(boxes))
        (self.project / "work.txt").write_text("")
        _commit(self.project)

    def run(self) -> None:
        """Makes a run of 50 iterations."""
        words = ("ralph", "run", "--permission-mode", "acceptEdits", "--allow-dirty")
        done = subprocess.run(
            [SISYPHUS, *words, "--max-iterations", str(ITERATIONS)], cwd=self.project, env=self.env,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert f"iteration {ITERATIONS} was the last" in done.stdout, done

    def call_client(self) -> None:
        """Calls the client as often, without us."""
        for _ in range(ITERATIONS):
            subprocess.run(
                [self.program, "-p"], cwd=self.project, env=self.env,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True,
            )  # fmt: skip


def _stream() -> list[dict[str, object]]:
    """Returns what a client prints in one iteration: tool calls with their results, and the end."""
    common = {"session_id": "s1", "parent_tool_use_id": None}
    lines: list[dict[str, object]] = [{"type": "system", "subtype": "init", "model": "m"}]
    for number in range(TURNS):
        call = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"limit": 9}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "line\n" * 200}
        message = {"id": f"m{number}", "content": [call], "usage": {"input_tokens": 1_000}}
        lines += [
            {"type": "assistant", "message": message},
            {"type": "user", "message": {"role": "user", "content": [result]}},
        ]
    end = {"type": "result", "subtype": "success", "is_error": False, "result": "Done."}
    return [{**line, **common} for line in [*lines, end]]


def _commit(project: Path) -> None:
    quiet = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    for words in (("init", "-q"), ("add", "."), (*quiet, "commit", "-qm", "all")):
        subprocess.run(["git", *words], cwd=project, check=True)


def _seconds(work: object) -> float:
    assert callable(work)
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main(rounds: int) -> None:
    ours, clients = [], []
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder).resolve())
        for number in range(-1, rounds):  # the first one warms up
            client, run = _seconds(home.call_client), _seconds(home.run)
            if number >= 0:
                clients.append(client)
                ours.append(run - client)
    own = statistics.median(ours)
    mark = " missed" if own > BUDGET else ""
    print(f"{'':38}{'s':>8}{'target':>16}")
    print(f"{f'{ITERATIONS} bare calls of a client':38}{statistics.median(clients):8.2f}")
    print(f"{f'a run of {ITERATIONS} iterations: our own':38}{own:8.2f}{BUDGET:>16g}{mark}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
