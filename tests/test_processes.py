"""What is known of other processes: by `/proc`, by psutil where there is none, and without both."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from patience import PATIENCE, wait_for
from test_authors import nested
from test_run import ACCEPT, ALL, Runs, done, runs
from world import World

from sisyphus import ground
from sisyphus.ground import processes, repository

__all__ = ["runs"]

MARK = f"_SISYPHUS_TEST={os.getpid()}"
"""No worker of pytest finds another one's processes."""

HAS_PROC = os.path.isdir("/proc/self")
WAYS = [
    pytest.param("/proc", marks=pytest.mark.skipif(not HAS_PROC, reason="there is no /proc")),
    "psutil",
]


@pytest.fixture
def way(request: pytest.FixtureRequest) -> str:
    """The way that other processes are asked about."""
    name = str(request.param)
    if name == "psutil":
        request.getfixturevalue("no_proc")
    return name


both_ways = pytest.mark.parametrize("way", WAYS, indirect=True)


@pytest.fixture
def nothing_known(no_proc: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is neither `/proc` nor psutil."""
    monkeypatch.setitem(sys.modules, "psutil", None)
    monkeypatch.delitem(sys.modules, "sisyphus.ground.psutil_processes", raising=False)
    monkeypatch.delattr(ground, "psutil_processes", raising=False)


TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
    "os.execv(sys.argv[1], sys.argv[1:])"
)
"""Makes the terminal on stdin that of a new session; then becomes a program."""


class Child:
    """A program named "reader" that has a session and a terminal of its own, works in `folder` and
    has MARK in its environment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "at work"
        self.folder.mkdir()
        program = folder / "reader"
        program.symlink_to("/bin/bash")
        self.keyboard, tty = pty.openpty()
        name, _, value = MARK.partition("=")
        self.process = subprocess.Popen(
            [sys.executable, "-c", TAKE_TERMINAL, program, "-c", "echo; read line; true", "a word"],
            cwd=self.folder, env={**os.environ, name: value}, start_new_session=True,
            stdin=tty, stdout=tty, stderr=tty,
        )  # fmt: skip
        os.close(tty)
        assert os.read(self.keyboard, 1), "it is there"

    @property
    def pid(self) -> int:
        return self.process.pid

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Child]:
    child = Child(tmp_path)
    yield child
    child.end()
    os.close(child.keyboard)


def name(child: Child) -> str:
    return processes.key(child.pid)


ANSWERS: dict[str, Callable[[Child], bool]] = {
    "its name begins with its PID": lambda c: name(c).startswith(f"{c.pid} "),
    "its name stays": lambda c: name(c) == name(c) != processes.key(os.getpid()),
    "it is alive": lambda c: processes.is_alive(name(c)),
    "a process that had its PID before is not": lambda c: not processes.is_alive(f"{c.pid} 1"),
    "a name of its PID alone is its name": lambda c: processes.is_alive(f"{c.pid}"),
    "it is our child": lambda c: c.pid in processes.children(),
    "we are nobody's child": lambda c: os.getpid() not in processes.children(),
    "its environment": lambda c: processes.variables(c.pid)["_SISYPHUS_TEST"] == str(os.getpid()),
    "it has the mark": lambda c: processes.marked(MARK) == {c.pid},
    "it has no other mark": lambda c: processes.marked(f"{MARK}!") == set(),
    "it is below itself": lambda c: processes.is_below(name(c), c.pid, "_NO=1"),
    "it is below whoever marked it": lambda c: processes.is_below(name(c), 1, MARK),
    "it is below nobody else": lambda c: not processes.is_below(name(c), 1, "_NO=1"),
    "its folder": lambda c: processes.is_any_in(str(c.folder), "reader"),
    "not a folder above": lambda c: not processes.is_any_in(str(c.folder.parent), "reader"),
    "no other program": lambda c: not processes.is_any_in(str(c.folder), "git"),
    "its terminal and command line": lambda c: [
        words[-1] for words in processes.in_terminals("reader", str(c.folder)).values()
    ] == ["a word"],
    "its program": lambda c: os.path.samefile(processes.program(name(c)), "/bin/bash"),
}  # fmt: skip


@both_ways
@pytest.mark.parametrize("question", ANSWERS)
def test_what_a_process_is(child: Child, way: str, question: str) -> None:
    assert ANSWERS[question](child)


@both_ways
def test_a_process_that_has_ended(child: Child, way: str) -> None:
    """Before somebody has asked how it ended, too."""
    before, program = name(child), processes.program
    child.process.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)

    for _ in range(2):
        assert name(child) == ""
        assert not processes.is_alive(before)
        assert processes.variables(child.pid) == {}
        assert not processes.is_any_in(str(child.folder), "reader")
        assert processes.in_terminals("reader", str(child.folder)) == {}
        assert not processes.end(before)
        assert not os.path.exists(program(before))
        child.process.wait()
    assert child.pid not in processes.children()


@both_ways
def test_no_process(way: str) -> None:
    assert processes.key(0) == ""
    assert not processes.is_alive("")


@both_ways
def test_a_process_ends_with_its_session(tmp_path: Path, way: str) -> None:
    """A tool in a group of its own is in the session still."""
    tool = "import os, time; os.setpgid(0, 0); print(os.getpid(), flush=True); time.sleep(600)"
    leader = subprocess.Popen(
        ["sh", "-c", '"$0" -c "$1" & wait', sys.executable, tool],
        stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    with leader:
        assert leader.stdout
        pid = int(leader.stdout.readline())

        assert processes.end(processes.key(leader.pid))

        assert leader.wait() == -signal.SIGTERM
        wait_for(lambda: processes.key(pid) == "")


@both_ways
def test_what_is_marked_ends(child: Child, way: str) -> None:
    assert processes.end_marked(MARK)
    assert child.process.wait() == -signal.SIGKILL
    assert not processes.end_marked(MARK)


@both_ways
@pytest.mark.parametrize(("steps", "is_found"), [(9, True), (1, False)])
def test_a_program_above_us(tmp_path: Path, way: str, steps: int, is_found: bool) -> None:
    """The shell between is the nearest process above."""
    program = tmp_path / "client"
    program.symlink_to("/bin/bash")
    code = (
        "from sisyphus.ground import processes;"
        f"processes.PROC = {processes.PROC!r};"
        f"pid, words = processes.caller('client', {steps}); print(pid, words[-1:])"
    )
    script = 'sh -c \'"$0" -c "$1"; true\' "$0" "$1"; true'
    with subprocess.Popen(
        [program, "-c", script, sys.executable, code], stdout=subprocess.PIPE, text=True
    ) as above:
        out, _ = above.communicate()

    assert out.split(maxsplit=1)[0] == str(above.pid if is_found else 0)
    assert (code in out.replace("\\'", "'")) == is_found


# ---------------------------------------------------------------- where nobody can tell


def test_without_both_only_the_pid_is_known(child: Child, nothing_known: None) -> None:
    assert name(child) == str(child.pid)
    assert processes.is_alive(name(child))
    assert processes.is_any_in("/nowhere", "git"), "a lock is left alone"
    assert processes.in_terminals("reader", str(child.folder)) == {}
    assert processes.children() == processes.marked(MARK) == set()
    assert processes.variables(child.pid) == {}
    assert processes.caller("python", 9) == (0, [])
    assert processes.program(name(child)) == ""
    child.end()
    assert not processes.is_alive(str(child.pid))


# ---------------------------------------------------------------- what stands on it


@both_ways
def test_what_has_left_its_session_ends_with_the_client(runs: Runs, way: str) -> None:
    code = "import os, time; os.setsid(); print(os.getpid(), flush=True); time.sleep(60)"
    left = f"({sys.executable} -c '{code}' > tool 2>/dev/null </dev/null &); sleep 0.5"

    answer = runs.run("--max-iterations", "1", processes=[[["run", left], *done("cart")]])

    assert answer.code == 3, answer
    assert processes.key(int((runs.world.project / "tool").read_text())) == ""


@contextmanager
def killed_run(runs: Runs) -> Iterator[int]:
    """A run whose own process was killed, and whose client goes on; its process id."""
    runs.script([["run", "echo $PPID > client"], ["signal", "SIGKILL"], ["sleep", 60]])
    code = (
        "import sys; from sisyphus.ground import processes;"
        f"processes.PROC = {processes.PROC!r};"
        "from sisyphus.__main__ import main; sys.exit(main())"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, "ralph", "run", *ACCEPT], stdin=subprocess.DEVNULL,
        capture_output=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert run.returncode == -signal.SIGKILL, run
    client = int((runs.world.project / "client").read_text())
    try:
        yield client
    finally:
        if processes.key(client):
            os.kill(client, signal.SIGKILL)


@both_ways
@pytest.mark.parametrize("words", [("cancel",), ("run", "--resume", *ACCEPT)])
def test_a_run_that_was_killed_is_known_as_that(
    runs: Runs, way: str, words: tuple[str, ...]
) -> None:
    with killed_run(runs) as client:
        [listed] = json.loads(runs.world.cli("ralph", "list", "--json").out)
        assert not listed["is_at_work"]
        assert processes.key(client)
        runs.script(*ALL)

        answer = runs.world.cli("ralph", *words, *([runs.id] if words == ("cancel",) else []))

        assert answer.code == 0, answer
        assert processes.key(client) == ""


@both_ways
def test_a_lock_goes_when_its_git_has_gone(runs: Runs, way: str) -> None:
    runs.git()
    tree = runs.world.project
    lock = runs.world.write(".git/index.lock", "")
    with subprocess.Popen(["git", "cat-file", "--batch"], cwd=tree, stdin=subprocess.PIPE) as git:
        wait_for(lambda: processes.is_any_in(str(tree), "git"))
        repository.unlock(str(tree))
        assert lock.exists()
        git.kill()
    repository.unlock(str(tree))
    assert not lock.exists()


@both_ways
def test_the_agents_client_is_not_the_user(world: World, way: str) -> None:
    loop = world.loop()

    with nested(world):
        world.start("s2")
        message = world.prompt("s2", "/sisyphus:cancel-ralph").message

    assert "in an agent's shell" in message
    assert [(each["loop_id"], each["status"]) for each in world.loops()] == [(loop, "active")]
