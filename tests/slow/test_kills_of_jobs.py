"""Runs with workers whose processes are killed at any moment, and that go on. Each history has a
seed, which the name of a failing test has."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import MEMORY_DISK, has_memory_disk
from test_run import ACCEPT, Process
from test_run_commits import TRUST
from test_run_jobs import Jobs
from test_run_worktree import checkout
from world import SISYPHUS, World

pytestmark = pytest.mark.slow

_HISTORIES = 20

_SECONDS = 90
"""The longest that a run may take from one kill to the next: a limit against a hang."""

_PROCESSES = 12
"""More than a history needs to come to its end."""

_AGAIN = 12
"""How often an agent can be asked: more than any kills need."""

_COMPLETE, _BLOCKED, _NOT_PROVEN = 0, 4, 5

_GIT = """#!/bin/sh
if test -e "{folder}/fuse"; then
    read word when seconds coordinator < "{folder}/fuse" 2>/dev/null
    case "$*" in
    *$word*)
        if mv "{folder}/fuse" "{folder}/fuse.$$" 2>/dev/null; then
            echo "$*" >> "{folder}/burnt"
            if test $when = after; then "{git}" "$@"; fi
            if test $when = half; then "{git}" "$@" <&0 & sleep $seconds; kill -9 $!; fi
            kill -9 $PPID $coordinator
            exit 1
        fi ;;
    esac
fi
exec "{git}" "$@"
"""
"""A git that, while there is a fuse, kills whoever calls it with a word."""

_MERGING = ("--ff-only", "--empty=keep", "--continue", "update-ref")
_WORDS = (*_MERGING, *_MERGING, "commit", "read-tree", "worktree", "add")
"""What changes something."""


class Item:
    """An item, its check, and an agent who does it, whoever has begun it before."""

    def __init__(self, name: str, check: str, *work: str) -> None:
        self.name, self.check, self.work = name, check, work
        self.is_mergeable = True
        self.begins: list[Process] = []

    @property
    def line(self) -> str:
        return f"- [ ] {self.name} (verify: `{self.check}`)" if self.check else f"- [ ] {self.name}"

    def script(self, dice: random.Random) -> list[Process]:
        first = [self._process(dice, is_half=True) for _ in range(dice.randrange(2))]
        whole = [self._process(dice) for _ in range(_AGAIN)]
        return [*self.begins, *first, *whole]

    def _process(self, dice: random.Random, *, is_half: bool = False) -> Process:
        steps: Process = []
        for command in self.work:
            steps += [["run", command], ["sleep", round(dice.random() * 0.15, 2)]]
        if is_half:
            return [*steps[:2], ["say", "Half."]]
        return [*steps, ["tick", self.name], ["say", "Done."]]


def plain(name: str) -> Item:
    return Item(name, f"grep -q {name} {name}.py", _writes(name))


def committed(name: str) -> Item:
    """Its agent commits a part of it."""
    own = f"git log --format=%s | grep -qx 'by {name}' || git commit -qm 'by {name}' {name}.py"
    begins = f"{_writes(name)}; git add {name}.py; {own}"
    return Item(name, f"test -f {name}.txt", begins, f"echo {name} > {name}.txt")


def shared(name: str) -> Item:
    """Writes where others write, too, and takes out the marks of a conflict."""
    mend = "sed -i -E '/^(<{7}|={7}|>{7})/d' shop.py"
    return Item(name, f"grep -qx {name} shop.py", f"{mend}; {_adds(name)}", _writes(name))


def late(name: str, other: str) -> Item:
    """Its check passes alone, and fails on top of another item, whose check does the same."""
    check = f"test -f both.txt || test -f {name}.py -a ! -f {other}.py"
    return Item(name, check, _writes(name), f"if test -f {other}.py; then echo 2 > both.txt; fi")


def lying(name: str) -> Item:
    """Is ticked, and its check never passes."""
    item = Item(name, f"test -f {name}.never", _writes(name))
    item.is_mergeable = False
    return item


def bare(name: str) -> Item:
    """Is ticked, and nothing is done. It has no check."""
    return Item(name, "", "true")


def _writes(name: str) -> str:
    return f"echo '{name} = 1' > {name}.py"


def _adds(name: str) -> str:
    return f"grep -qx {name} shop.py || echo {name} >> shop.py"


class History(Jobs):
    """A run that is killed, all from one seed."""

    def __init__(self, world: World, seed: int) -> None:
        world.write("fix_plan.md", "# Shop\n")
        world.write("shop.py", "shop\n")
        world.write("draft.py", "draft\n")
        super().__init__(world)
        self.commit("config", "maintenance.auto", "false")
        self.dice = random.Random(seed)
        self.count = self.dice.choice((2, 3))
        self.work_items = self._items()
        self.text = "# Shop\n\n" + "".join(f"{item.line}\n" for item in self.work_items)
        world.write("fix_plan.md", self.text)
        self.commit("commit", "-qam", "plan")
        world.write("draft.py", "mine\n")
        self.items_script({item.name: item.script(self.dice) for item in self.work_items})
        self.script()
        self.before = checkout(self)
        self.commits = 0
        self.out = ""
        self.happened: list[str] = []
        self._install_git()

    def _items(self) -> list[Item]:
        dice, names = self.dice, [f"item{letter}" for letter in "abcdefg"]
        found = [
            shared(names[0]),
            dice.choice((lying, bare))(names[1]),
            late(names[2], names[3]),
            late(names[3], names[2]),
            shared(names[4]),
            committed(names[5]),
            plain(names[6]),
        ][: dice.randint(4, 7)]
        dies = dice.choice([item for item in found if item.is_mergeable])
        end = dice.choice((["exit", 1], ["signal", "SIGKILL"]))
        dies.begins = [[["run", dies.work[0]], end]]
        dice.shuffle(found)
        return found

    def _install_git(self) -> None:
        program = self.folder / "git" / "git"
        program.parent.mkdir()
        program.write_text(_GIT.format(folder=program.parent, git=shutil.which("git")))
        program.chmod(0o755)

    # ------------------------------------------------------------ what happens

    def play(self) -> int:
        """Plays it until the run has ended by itself; returns the exit code."""
        process = self.begin()
        for _ in range(self.dice.randint(2, 4)):
            self._wait(process, self.dice.uniform(0.2, 1.5))
            if self.dice.random() < 0.5:
                self.user_commits()
            self.kill(process)
            if process.poll() is not None:
                self._end_of(process)
                process = self.begin()
        for _ in range(_PROCESSES):
            code = self._end_of(process)
            if code in (_COMPLETE, _BLOCKED, _NOT_PROVEN):
                return code
            process = self.begin()
        raise AssertionError("It does not come to an end.")

    def begin(self) -> subprocess.Popen[bytes]:
        """Starts the run or, if it has begun, goes on with it."""
        words = ["--resume"] if self._runs() else ["--jobs", str(self.count)]
        path = f"{self.folder / 'git'}{os.pathsep}{os.environ['PATH']}"
        with open(self.folder / "out", "wb") as out:
            return subprocess.Popen(
                [SISYPHUS, "ralph", "run", *ACCEPT, TRUST, *words],
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                env={**os.environ, "PATH": path},
            )  # fmt: skip

    def _runs(self) -> bool:
        return bool([*self.world.loops(), *self.world.ended()])

    def _wait(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)

    def _end_of(self, process: subprocess.Popen[bytes]) -> int:
        code = process.wait(_SECONDS)
        self.out = (self.folder / "out").read_text()
        self.happened.append(f"exit {code}")
        is_over = code == 1 and "is complete" in self.out
        return _COMPLETE if is_over else code

    def user_commits(self) -> None:
        self.commits += 1
        name = f"mine{self.commits}.py"
        self.world.write(name, "mine\n")
        self.commit("add", name)
        self.commit("commit", "-qm", name)
        self.before = checkout(self)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """Kills the coordinator, a worker, a client, or all of them."""
        who = self.dice.choice(("coordinator", "worker", "client", "all", "all"))
        way = self.dice.choice(("now", "now", "before", "after", "half", "half"))
        self.happened.append(f"{who} {way}")
        if way != "now" and who != "client":
            self._burn(way, process, with_coordinator=who != "worker")
        if who == "all":
            process.kill()
            for pid in self.pids():
                _kill(pid)
        elif way == "now" and who == "coordinator":
            process.kill()
        elif way == "now" or who == "client":
            found = self.pids("fake_client.py" if who == "client" else "runner.worker")
            if found:
                _kill(self.dice.choice(sorted(found)))
        if who in ("coordinator", "all"):
            self._wait(process, 5.0)

    def _burn(self, way: str, process: subprocess.Popen[bytes], *, with_coordinator: bool) -> None:
        """Kills at the next call of git that changes something."""
        fuse, seconds = self.folder / "git" / "fuse", self.dice.choice((0, 0.002, 0.005, 0.01))
        new = fuse.with_name("new")
        word = self.dice.choice(_WORDS)
        new.write_text(f"{word} {way} {seconds} {process.pid if with_coordinator else ''}\n")
        new.rename(fuse)
        deadline = time.monotonic() + 2
        while fuse.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        has_burnt = not fuse.exists()
        self.happened[-1] += f" {word} {has_burnt}"
        fuse.unlink(missing_ok=True)
        if with_coordinator:
            process.kill()
            process.wait()

    def pids(self, word: str = "") -> list[int]:
        """The processes of this run. word: in their command line."""
        ours, found = f"FAKE_CLIENT={self.folder}".encode(), []
        for path in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                variables = path.read_bytes()
                is_ours = b"_SISYPHUS_RUN=" in variables and ours in variables
                if is_ours and word in (path.parent / "cmdline").read_text():
                    found.append(int(path.parent.name))
        return found

    # ------------------------------------------------------------ what has to be so

    def judge(self, code: int) -> None:
        assert checkout(self) == self.before
        assert self.pids() == []
        subjects = self.subjects(self.run_branch)
        merged = [item for item in self.work_items if item.name in subjects]
        assert all(subjects.count(item.name) == 1 for item in merged), subjects
        left = [item for item in self.work_items if item not in merged]
        assert {item for item in self.work_items if not item.is_mergeable} == {*left}, subjects
        for item in left:
            assert f"{item.name}: " in self.out.partition("Blocked")[2], self.out
            self._judge_aside(item)
        self._judge_plan({item.name for item in merged})
        self._judge_commits({item.name for item in merged})
        for item in merged:
            self._judge_check(item)
        assert code == _BLOCKED if left else code in (_COMPLETE, _NOT_PROVEN)
        if not left:
            assert self.trees == [], self._dirt()
            assert [name for name in self.branches if name[1:].isdecimal()] == []
        self.commit("merge", "-q", "--no-edit", self.run_branch)

    def _dirt(self) -> list[str]:
        """What is in the worktrees that are left."""
        trees = [str(self.tree(int(end.removeprefix("-") or 0))) for end in self.trees]
        return [self.ask("-C", tree, "status", "--branch", "--porcelain") for tree in trees]

    def _judge_aside(self, item: Item) -> None:
        names = [name for name in self.branches if name.startswith(f"-{item.name}")]
        assert names, self.branches
        found = [self.ask("ls-tree", "--name-only", f"{self.run_branch}{name}") for name in names]
        assert any(f"{item.name}.py" in each.split() for each in found), found

    def _judge_plan(self, merged: set[str]) -> None:
        lines = self.file("fix_plan.md").splitlines()
        assert "\n".join(lines).replace("[x]", "[ ]") == self.text.strip()
        ticked = {line.split()[2] for line in lines if line.startswith("- [x]")}
        assert ticked == merged

    def _judge_commits(self, merged: set[str]) -> None:
        """Each commit that was ever made is there: itself, or as it was made anew, or what came of
        it is merged."""
        every = self.ask("cat-file", "--batch-all-objects", "--batch-check")
        made = [line.split()[0] for line in every.splitlines() if " commit " in line]
        form = "--format=%H|%at|%T|%s"
        there = [line.split("|", 3) for line in self.ask("log", form, "--all").splitlines()]
        known = {commit for commit, *_ in there}
        anew = {(at, subject) for _, at, _, subject in there}
        same = {(tree, subject) for *_, tree, subject in there}  # it was killed before it noted it
        shown = self.ask("log", "--no-walk", form, *made).splitlines()
        for commit, at, tree, subject in (line.split("|", 3) for line in shown):
            is_there = commit in known or (at, subject) in anew or (tree, subject) in same
            is_merged = any(name in subject for name in merged) and not subject.startswith("by ")
            assert is_there or is_merged, f"{subject} ({commit}) is lost"

    def _judge_check(self, item: Item) -> None:
        commits = self.ask("log", "--format=%H %s", self.run_branch).splitlines()
        (commit,) = (line.split()[0] for line in commits if line.split(" ", 1)[1] == item.name)
        with tempfile.TemporaryDirectory() as folder:
            archive = f"git archive {commit} | tar -x -C {folder}"
            subprocess.run(archive, shell=True, cwd=self.world.project, check=True)
            done = subprocess.run(item.check or "true", shell=True, cwd=folder, check=False)
            assert done.returncode == 0, f"{item.check} at {commit}"


def _kill(pid: int) -> None:
    with suppress(OSError):
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[World]:
    """A world in memory where that can be."""
    if not has_memory_disk():
        yield World(tmp_path, monkeypatch)
        return
    with tempfile.TemporaryDirectory(dir=MEMORY_DISK) as name:
        yield World(Path(name), monkeypatch)


@pytest.mark.parametrize("seed", range(_HISTORIES))
def test_a_run_with_workers_that_is_killed_loses_nothing(memory: World, seed: int) -> None:
    history = History(memory, seed)
    try:
        history.judge(history.play())
    except BaseException as error:
        items = [item.line for item in history.work_items]
        error.add_note("\n".join([f"seed {seed}", *items, *history.happened, history.out]))
        raise
    finally:
        for pid in history.pids():
            _kill(pid)
