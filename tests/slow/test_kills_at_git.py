"""A run with `--commit` that is killed at a call of git, before it or after, and goes on."""

from __future__ import annotations

import os
import re
import shutil
import signal
from pathlib import Path

import pytest
from patience import PATIENCE, wait_for
from test_run import Process, done, runs
from test_run_commits import Nights, nights

__all__ = ["nights", "runs"]

pytestmark = pytest.mark.slow

_CALLS = 60
"""Less than a night of three items has, one of which is set aside."""

_GIT = """#!/bin/sh
number=$(($(cat "{folder}/count") + 1))
echo $number > "{folder}/count"
if test $number -eq {at} && test {when} = before; then kill -9 $PPID; exit 1; fi
"{git}" "$@"
code=$?
if test $number -eq {at} && test {when} = after; then kill -9 $PPID; fi
exit $code
"""

_REAL = shutil.which("git")
"""The git of the agent: its calls are not those of the run."""

BLOCKED: Process = [
    ["write", ["total.py", "half\n"]],
    ["run", f"{_REAL} add total.py && {_REAL} commit -qm half"],
    ["write", ["more.py", "half\n"]],
    ["say", "<blocked>the rate</blocked>"],
]


def _between(nights: Nights, folder: Path, at: int, when: str) -> None:
    """Puts a git on the PATH of the run that kills it at a call."""
    folder.mkdir()
    (folder / "count").write_text("0")
    program = folder / "git"
    program.write_text(_GIT.format(folder=folder, at=at, when=when, git=_REAL))
    program.chmod(0o755)
    nights.world.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("at", range(1, _CALLS, 3))
def test_a_run_that_is_killed_at_a_call_of_git(
    nights: Nights, tmp_path: Path, at: int, when: str
) -> None:
    code = _night(nights, "--commit", tmp_path / "between", at, when)

    assert code == 4
    assert nights.subjects() == ["first", "cart", "receipt"]
    assert nights.dirt() == ""
    files = nights.ask("log", "--all", "--format=", "--name-only").split()
    assert {"total.py", "more.py", "cart.py", "receipt.py"} <= set(files)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("at", range(1, _CALLS, 5))
def test_a_run_in_a_worktree_that_is_killed_at_a_call_of_git(
    nights: Nights, tmp_path: Path, at: int, when: str
) -> None:
    nights.world.write("mine.py", "mine\n")
    before = nights.ask("rev-parse", "HEAD"), nights.dirt()

    assert _night(nights, "--worktree", tmp_path / "between", at, when) == 4

    assert (nights.ask("rev-parse", "HEAD"), nights.dirt()) == before
    branches = nights.ask("branch", "--format=%(refname:short)", "--list", "sisyphus/*").split()
    assert nights.subjects(branches[0]) == ["first", "cart", "receipt"]
    files = nights.ask("log", "--all", "--format=", "--name-only").split()
    assert {"total.py", "more.py", "cart.py", "receipt.py"} <= set(files)


def _night(nights: Nights, option: str, folder: Path, at: int, when: str) -> int:
    """Plays a night that is killed, and goes on with it; returns the last exit code."""
    path = os.environ["PATH"]
    _between(nights, folder, at, when)
    nights.script(done("cart"), BLOCKED, done("receipt"))
    code = nights.process(option).wait(PATIENCE)
    nights.world.setenv("PATH", path)
    assert code == -signal.SIGKILL
    made = nights.subjects("--all")
    processes = [done("cart")] * ("cart" not in made) + [BLOCKED]
    processes += [done("receipt")] * ("receipt" not in made) + [BLOCKED]
    answer = nights.resume(processes=processes)
    if "No run has begun" in answer.err:
        answer = nights.run(option, processes=processes)
    named = re.search(r"Blocked: total: the rate \(`(git diff \S+)` shows", answer.out)
    assert named, answer
    assert {"total.py", "more.py"} <= set(nights.ask(*named[1].split()[1:], "--name-only").split())
    return answer.code


def test_an_agent_that_outlives_its_run_leaves_no_half_work_on_the_branch(nights: Nights) -> None:
    late = "git add half.py && git commit -qm mine"
    works: Process = [
        ["write", ["half.py", "half\n"]], ["signal", "SIGKILL"], ["sleep", 6], ["run", late],
    ]  # fmt: skip
    nights.script(done("cart"), works)
    assert nights.process("--commit").wait(PATIENCE) == -signal.SIGKILL
    wait_for(lambda: nights.subjects()[-1] == "mine")

    answer = nights.resume(processes=[BLOCKED, done("receipt")])

    assert answer.code == 4, answer
    assert nights.subjects() == ["first", "cart", "receipt"]
    assert "mine" in nights.subjects(f"sisyphus/{nights.id}-total")
