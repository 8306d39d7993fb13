"""Runs that are killed at any moment, and clients, clocks, disks and plans that misbehave."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from doors import DYING, SECONDS, is_whole
from patience import wait_for
from world import SISYPHUS, Json, World

from sisyphus.clients.claude_code import headless
from sisyphus.clients.reports import Report
from sisyphus.ground.processes import key

pytestmark = pytest.mark.slow

ITEMS = [f"item {number}" for number in range(6)]
PLAN = "".join(f"- [ ] {item}\n" for item in ITEMS)
NOT_PROVEN = 5
"""The exit code of these runs: their client only ticks."""

RUN = ("ralph", "run", "--permission-mode", "acceptEdits", "--allow-dirty")
MOST_PROCESSES, MOST_STEPS = 300, 130

CLIENT = """\
import json, os, random, re, sys, time

if "--help" in sys.argv or "auth" in sys.argv:
    print(json.dumps({"loggedIn": True}))
    sys.exit()
odds = float(os.environ.get("DEATHS", "0"))
client = os.environ["CLIENT"]

def step():
    time.sleep(random.random() / 50)
    with open(f"/proc/{os.getppid()}/cmdline", "rb") as file:
        if "LINGER" in os.environ and b"ralph" not in file.read():
            time.sleep(60)  # the runner is gone: whoever resumes the run has to end its client
    if random.random() < odds:
        os.kill(os.getpid(), 9)

def is_alive(pid):
    try:
        return ") Z" not in open(f"/proc/{pid}/stat").read()
    except OSError:
        return False

with open(f"{client}/pids", "a+") as file:
    file.seek(0)
    if any(is_alive(line.strip()) for line in file if line.strip()):
        open(f"{client}/overlap", "w").close()
    file.write(f"{os.getpid()}\\n")
item = re.search(r"^> (.*)$", sys.stdin.read(), re.MULTILINE)
id = sys.argv[sys.argv.index("--session-id") + 1]

def say(**fields):
    print(json.dumps({"session_id": id, "parent_tool_use_id": None, **fields}), flush=True)

say(type="system", subtype="init", model="m")
step()
if os.path.exists(f"{client}/rewrite.py"):
    exec(open(f"{client}/rewrite.py").read())
else:
    text = open("fix_plan.md").read().replace(f"- [ ] {item[1]}\\n", f"- [x] {item[1]}\\n")
    open("fix_plan.new", "w").write(text)
    os.replace("fix_plan.new", "fix_plan.md")
step()
say(type="result", subtype="success", is_error=False, result="Done.")
"""


class Night:
    """A world with a client that does the item that it gets, and notes if it is not the only
    one."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.client = world.root / "client"
        program = self.client / "bin" / "claude"
        program.parent.mkdir(parents=True)
        program.write_text(f"#!{sys.executable} -S\n{CLIENT}")
        program.chmod(0o755)
        world.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
        world.setenv("CLIENT", str(self.client))
        world.ours.mkdir(parents=True)
        (world.ours / "config.toml").write_text("[ralph]\nbreaker_stops = 0\n")
        world.write("fix_plan.md", PLAN)

    def process(
        self, *words: str, program: tuple[str | Path, ...] = (SISYPHUS,), **options: Any
    ) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*program, *RUN, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, **options,
        )  # fmt: skip

    def run(self, *words: str, **options: Any) -> tuple[int, str, str]:
        process = self.process(*words, **options)
        out, err = process.communicate(timeout=SECONDS)
        return process.returncode, out, err

    @property
    def runs(self) -> list[Json]:
        """The runs that have not ended."""
        return self.world.loops()

    @property
    def clients(self) -> list[str]:
        """The names of the clients that are running."""
        file = self.client / "pids"
        pids = file.read_text().split() if file.exists() else []
        return [name for pid in pids if (name := key(int(pid)))]

    @property
    def is_done(self) -> bool:
        return (self.world.project / "fix_plan.md").read_text() == PLAN.replace("[ ]", "[x]")


@pytest.fixture
def night(world: World) -> Night:
    return Night(world)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("deaths", [0, 0.2], ids=["the runner", "the client too"])
def test_a_run_that_is_killed_at_any_step_loses_nothing(
    night: Night, seed: int, deaths: float
) -> None:
    night.world.setenv("DEATHS", str(deaths))
    night.world.setenv("LINGER", "1")
    numbers = random.Random(seed)
    code = kills = 0
    for _ in range(MOST_PROCESSES):
        words = ["--resume"] if night.runs else []
        step = str(numbers.randrange(1, MOST_STEPS))
        code, _, err = night.run(*words, program=(sys.executable, DYING, step))
        assert code in (0, NOT_PROVEN, -9), err
        kills += code == -9
        assert is_whole(night.world)
        if night.world.ended():
            break
        listed = night.world.cli("ralph", "list")
        assert (listed.code, listed.err) == (0, "")
        assert not night.runs or "Left behind" in listed.out or "left behind" in listed.out

    assert kills > 2
    assert night.is_done
    assert not (night.client / "overlap").exists()
    assert not night.clients
    (run,) = night.world.ended()
    assert run["outcome"] == "success"
    rows = json.loads(night.world.cli("ralph", "log", run["loop_id"], "--json").out)
    assert [row["iteration"] for row in rows] == list(range(1, len(rows) + 1))
    finished = [row["item"] for row in rows if row["is_done"]]
    assert len(set(finished)) == len(finished)


def test_a_kill_at_each_step_of_an_iteration_leaves_no_client(night: Night) -> None:
    night.world.setenv("LINGER", "1")
    (night.client / "rewrite.py").write_text("")  # no item is ever done
    assert night.run("--max-iterations", "1")[0] == 3

    for step in range(1, 220, 3):  # three steps note the name of a client
        code, _, err = night.run(
            "--resume", "--max-iterations", str(step + 1),
            program=(sys.executable, DYING, str(step)),
        )  # fmt: skip
        assert code in (3, -9), err
    assert not (night.client / "overlap").exists()


def test_of_two_runs_at_once_one_refuses(night: Night) -> None:
    for words in ((), ("--resume",)):
        night.world.write("fix_plan.md", PLAN)
        limit = "8" if words else "4"
        both = [night.process("--max-iterations", limit, *words) for _ in range(2)]
        results = [(*each.communicate(timeout=SECONDS), each.returncode) for each in both]
        assert sorted(code for _, _, code in results) == [1, 3], results
        assert sum("is at work in this project" in err for _, err, _ in results) == 1
    assert not (night.client / "overlap").exists()


def test_a_run_in_20000_files(night: Night) -> None:
    """An iteration costs less than a second, with its client."""
    for number in range(20_000):
        night.world.write(f"part{number // 100}/{number}.txt")
    shutil.rmtree(night.world.project / ".git")
    commit = "git init -q && git add -A && git -c user.name=u -c user.email=u@e.org commit -qm x"
    subprocess.run(commit, cwd=night.world.project, shell=True, check=True)
    began = time.monotonic()

    code, out, _ = night.run()

    assert (code, night.is_done) == (NOT_PROVEN, True), out
    assert time.monotonic() - began < len(ITEMS)


REWRITES = """
import random
lines = open("fix_plan.md").read().splitlines()
random.shuffle(lines)
for _ in range(random.randrange(4)):
    lines.insert(0, random.choice([
        "- [ ] new", "- [x] item 1", "# Head", "- [!] odd", "- [ ]", "```", "- [-] none", "<!--",
        "- [ ] " + "long " * 9000, "\\0",
    ]))
lines = [random.choice([l, l.replace("[ ]", "[x]"), l.replace("[x]", "[ ]")]) for l in lines]
open("fix_plan.md", "w").write("\\n".join(lines[random.randrange(2):]))
"""


@pytest.mark.parametrize("_", range(4))
def test_a_plan_that_is_rewritten_at_random(night: Night, _: int) -> None:
    (night.client / "rewrite.py").write_text(REWRITES)

    code, out, err = night.run("--max-iterations", "15")

    assert code in (0, 1, 3, 4, NOT_PROVEN)
    assert err == ""
    assert "Report: " in out
    state = json.loads((night.world.project / ".claude" / "ralph-state.json").read_text())
    assert state["status"] in ("completed", "fatal_error", "max_iterations", "blocked")


@pytest.mark.parametrize("size", [4_096, 150_000, 250_000])
def test_a_disk_that_fills_up_stops_the_run_in_one_line(night: Night, size: int) -> None:
    assert night.run("--max-iterations", "1")[0] == 3

    code, _, err = night.run(
        "--resume", "--max-iterations", "50",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    )  # fmt: skip

    assert code in (NOT_PROVEN, 1)
    assert len(err.splitlines()) == code, err
    assert "Error" not in err
    assert is_whole(night.world)
    if code:
        assert night.run("--resume", "--max-iterations", "50")[0] == NOT_PROVEN
    assert night.is_done


OVERLOADED_ONCE = """
if not os.path.exists("failed"):
    open("failed", "w").close()
    say(type="result", is_error=True, result="API Error: 529", api_error_status=529)
    sys.exit(1)
open("fix_plan.md", "w").write("- [x] all\\n")
"""


def test_a_clock_that_is_set_back_does_not_make_a_wait_longer(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    (night.world.ours / "config.toml").write_text("[runner]\nretry_seconds = 1\n")
    began, real = time.monotonic(), time.time
    (night.client / "rewrite.py").write_text(OVERLOADED_ONCE)
    waits = night.world.project / "failed"
    monkeypatch.setattr(
        time, "time", lambda: real() - 3600 * (waits.exists() and real() > _written(waits) + 0.6)
    )

    answer = night.world.cli(*RUN)

    assert answer.code == NOT_PROVEN, answer
    assert "Waiting until" in answer.out
    assert time.monotonic() - began < 30


def _written(file: Path) -> float:
    return file.stat().st_mtime


def test_a_million_short_lines_are_read_in_seconds() -> None:
    report = Report()
    began = time.process_time()

    for _ in range(1_000_000):
        headless.feed(report, b"working ...\n")

    assert time.process_time() - began < 4
    assert report.text.endswith("working ...\n")


def test_a_run_that_still_ends_its_client_is_not_resumed(night: Night) -> None:
    """Else two runners would work at it."""
    command = "trap '' TERM; touch started; while :; do sleep 0.05; done"
    process = night.process("--client-command", command)
    wait_for((night.world.project / "started").exists, seconds=SECONDS)
    (run,) = night.runs
    night.world.cli("ralph", "cancel", run["loop_id"])

    for words in ((), ("--resume",)):
        answer = night.world.cli(*RUN, *words)
        assert (answer.code, "is about to end" in answer.err) == (1, True), answer
    process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert night.world.cli(*RUN).code == NOT_PROVEN
