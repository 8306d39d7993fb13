"""What hooks add to a whole session of the real client, next to `python -c "import json"`.

    PYTHONPATH=tests .e2e/venv/bin/python bench/session.py [ROUNDS]

A session is three prompts as three processes, the later two resume the first. The model reads four
files, two of them at once. Every round plays it with hooks and without, one after the other.
`make bench` runs this after `hooks.py`.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from e2e.desk import Desk, make_project
from e2e.script import read, say, use

TARGET = 33
"""The most that all hooks of the session may add, in multiples of `import json`."""

FILES = ("a.py", "b.py", "c.py", "d.py")


def make_desk(root: Path, *, has_hooks: bool) -> Desk:
    home, project = root / "home", root / "project"
    (home / "tmp").mkdir(parents=True)
    make_project(project)
    desk = Desk(home, project) if has_hooks else Desk(home, project, [])
    desk.write("README.md", "".join(f"Line {number} says this.\n" for number in range(500)))
    desk.write(".claude/rules/python.md", "---\napplies_to: ['*.py']\n---\n\nBe brief.\n")
    for name in FILES:
        desk.write(name, "x = 1\n")
    return desk


def play(desk: Desk) -> None:
    """Plays one session."""
    first = desk.run("one", turns=[use(read("a.py")), say("yes")])
    desk.resume(first, "two", turns=[use(read("b.py"), read("c.py")), say("yes")])
    desk.resume(first, "three", turns=[use(read("d.py")), say("yes")])


def seconds(work: object, *arguments: object) -> float:
    started = time.perf_counter()
    assert callable(work)
    work(*arguments)
    return time.perf_counter() - started


def main(rounds: int) -> None:
    json: list[float] = []
    with_hooks: list[float] = []
    without: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for number in range(-1, rounds):  # the first one warms up
            plain = make_desk(root / f"{number}-plain", has_hooks=False)
            hooked = make_desk(root / f"{number}-hooks", has_hooks=True)
            command = [sys.executable, "-c", "import json"]
            times = (seconds(play, plain), seconds(play, hooked),
                     min(seconds(subprocess.run, command) for _ in range(5)))  # fmt: skip
            if number >= 0:
                without.append(times[0])
                with_hooks.append(times[1])
                json.append(times[2])
    added = statistics.median(a - b for a, b in zip(with_hooks, without, strict=True))
    ratio = added / statistics.median(json)
    mark = " missed" if ratio > TARGET else ""
    print(f"{'a session of the client, no hooks':38}{statistics.median(without) * 1000:8.1f}")
    print(f"{'the same: what hooks add to it':38}{added * 1000:8.1f}{ratio:8.2f}{TARGET:>8}{mark}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
