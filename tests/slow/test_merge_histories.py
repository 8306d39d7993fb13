"""A thousand histories of workers whose items are merged onto a run's branch, through a real git:
with conflicts, checks that fail, agents that resolve wrongly or give up, and kills between any two
calls of git. Each has a seed; the name of a failing test has it."""

from __future__ import annotations

import os
import random
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import MEMORY_DISK, has_memory_disk

from sisyphus.boulder.plan import DONE, parse
from sisyphus.ground import rebasing, repository
from sisyphus.ground.processes import CommandResult
from sisyphus.runner import merges
from sisyphus.runner.merges import Conflict, Failed, Merged, Outcome, Refused, Work

pytestmark = pytest.mark.slow

_HISTORIES = 1_000
_BATCHES = 50

_TRIES = 3
"""How often an item is given back before it is set aside."""

_FILES = ("a.txt", "b.txt", "c/d.txt")
_LINES = 6

_CALLS = 25
"""The most calls of git before a kill: about as many as a merge has."""


class Killed(BaseException):
    """We were killed."""


class Disaster:
    """Runs git for us, and kills us at a call that is still to come."""

    def __init__(self) -> None:
        self.left = 0  # calls before the kill; 0 = none comes
        self._run = repository.run

    def run(self, *words: str, **options: Any) -> CommandResult:
        if self.left:
            self.left -= 1
            if not self.left:
                raise Killed
        return self._run(*words, **options)


class Repository:
    """One repository for a batch of histories: each has branches of its own."""

    def __init__(self, folder: Path) -> None:
        self.main = folder / "main"
        self.main.mkdir()
        self.ask("init", "-q", "-b", "main")
        with open(self.main / ".git" / "config", "a", encoding="utf-8") as config:
            config.write("[user]\nname = Ada\nemail = a@b.org\n")
            # Each commit would ask in a process of its own whether there is garbage.
            config.write("[maintenance]\nauto = false\n[core]\nfsync = none\n")
        for name in _FILES:
            file = self.main / name
            file.parent.mkdir(exist_ok=True)
            file.write_text("".join(f"line {number}\n" for number in range(_LINES)))
        self.ask("add", "-A")
        self.ask("commit", "-qm", "first")
        self.trees = [folder / f"tree-{number}" for number in range(4)]
        for tree in self.trees:
            self.ask("worktree", "add", "-q", "--detach", str(tree))

    def ask(self, *words: str, folder: Path | None = None, stdin: str = "", code: int = 0) -> str:
        done = subprocess.run(
            ["git", *words], cwd=folder or self.main, capture_output=True, text=True, input=stdin,
            env={**os.environ, "GIT_EDITOR": "true"}, check=False,
        )  # fmt: skip
        assert code < 0 or done.returncode == code, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

    def begin(self, histories: list[History]) -> None:
        """Commits the plans of all runs, each onto a branch that is checked out nowhere."""
        self.ask("fast-import", "--quiet", stdin="".join(each.plan() for each in histories))
        for history in histories:
            history.tips.append(self.commit_at(history.branch))

    def commit_at(self, branch: str) -> str:
        """Reads where a branch is, which takes a tenth of the time that git takes."""
        return (self.main / ".git" / "refs" / "heads" / branch).read_text().strip()

    def texts(self, names: list[str]) -> Iterator[str]:
        """Returns files of commits. names: each as COMMIT:PATH."""
        output = self.ask("cat-file", "--batch", stdin="".join(f"{name}\n" for name in names))
        while output:
            head, _, output = output.partition("\n")
            size = int(head.split()[2])
            yield output[:size]
            output = output[size + 1 :]


class Worker:
    """A worker at its item: the lines that it wants in which files, and what it has committed."""

    def __init__(self, history: History, number: int, item: str) -> None:
        self.history, self.item = history, item
        self.tree = history.repository.trees[number]
        self.branch = f"{history.branch}-{number + 1}"
        self.edits = history.edits[item]
        self.tries = 0
        self.made: list[str] = []
        self.work = Work(str(self.tree), self.branch, history.branch, item, "PLAN.md")
        self.ask("checkout", "-q", "-B", self.branch, history.branch)
        self._do()

    def ask(self, *words: str, code: int = 0) -> str:
        return self.history.repository.ask(*words, folder=self.tree, code=code)

    def commit(self, subject: str) -> None:
        trailer = f"\n\nSisyphus-Run: {self.history.id}" if subject == self.item else ""
        self.ask("commit", "-qa", "--allow-empty", "-m", subject + trailer)
        self.made.append(self.head())

    def head(self) -> str:
        """Reads where HEAD is."""
        repo = self.history.repository
        head = (repo.main / ".git" / "worktrees" / self.tree.name / "HEAD").read_text().strip()
        branch = head.removeprefix("ref: refs/heads/")
        return head if branch == head else repo.commit_at(branch)

    def edit(self, name: str) -> None:
        """Writes the item's word at the end of one line of a file, which others may change too."""
        file = self.tree / name
        lines = file.read_text().splitlines()
        number = self.edits[name]
        lines[number] = f"{lines[number]} {self.item}"
        file.write_text("\n".join(lines) + "\n")

    def tick(self) -> None:
        file, dice = self.tree / "PLAN.md", self.history.dice
        text = file.read_text().replace(f"[ ] {self.item}\n", f"[x] {self.item}\n")
        if dice.random() < 0.2:  # an agent that ticks more than it has done
            text = text.replace("[ ]", "[x]", 1)
        if dice.random() < 0.3 and f"found by {self.item}" not in text:
            text += f"- [ ] found by {self.item}\n"
        file.write_text(text)

    def _do(self) -> None:
        dice = self.history.dice
        names = [*self.edits]
        for number, name in enumerate(names):
            self.edit(name)
            if number < len(names) - 1 and dice.random() < 0.3:
                self.commit("by the agent")
        self.tick()
        self.commit(self.item)

    # ------------------------------------------------------------ what an agent does then

    def resolve(self, files: list[str]) -> None:
        """Answers a conflict, mostly in the right way."""
        dice = self.history.dice
        way = dice.choices(
            ("right", "commits", "ends", "wrong", "marks", "aborts", "skips", "nothing"),
            (40, 10, 10, 10, 8, 10, 4, 8),
        )[0]
        if way == "aborts":
            self.ask("rebase", "--abort", code=-1)
        elif way == "skips":
            self.ask("rebase", "--skip", code=-1)
        elif way != "nothing":
            for name in files:
                self._unite(name, way)
            if way in ("commits", "ends"):
                self.ask("add", "-A")
            if way == "commits" and rebasing.is_under_way(str(self.tree)):
                self.ask("commit", "-qm", "resolved", code=-1)
                self.made.append(self.head())
            elif way == "ends":
                self.ask("rebase", "--continue", code=-1)

    def _unite(self, name: str, way: str) -> None:
        """Puts both sides of a conflict into each line."""
        file = self.tree / name
        text = file.read_text()
        if way == "marks":
            file.write_text(text.replace("<<<<<<<", "", 1))
            return
        lines: list[str] = []
        sides: tuple[list[str], list[str]] = ([], [])
        side = -1
        for line in text.splitlines():
            if line.startswith("<<<<<<<"):
                sides, side = ([], []), 0
            elif line.startswith("=======") and side == 0:
                side = 1
            elif line.startswith(">>>>>>>"):
                lines += self._both(*sides, way)
                side = -1
            elif side >= 0:
                sides[side].append(line)
            else:
                lines.append(line)
        file.write_text("\n".join(lines) + "\n")

    @staticmethod
    def _both(ours: list[str], theirs: list[str], way: str) -> Iterator[str]:
        for one, other in zip(ours, theirs, strict=True):
            words = one.split()
            yield " ".join(words if way == "wrong" else dict.fromkeys([*words, *other.split()]))

    def mend(self) -> None:
        """Answers a check that fails: writes what is missing, or goes astray."""
        dice = self.history.dice
        if dice.random() < 0.2:
            self.ask("reset", "-q", "--hard", "HEAD~1")
        for name in self.edits:
            text = (self.tree / name).read_text()
            lines = [line for line in text.splitlines() if not re.match("[<=>]{6,}( |$)", line)]
            words = [line.split()[:2] == ["line", str(n)] for n, line in enumerate(lines)]
            if len(lines) != _LINES or not all(words):
                self.ask("checkout", "-q", self.history.branch, "--", name)
            else:
                (self.tree / name).write_text("\n".join(lines) + "\n")
            if not self.history.has(self.item, name, (self.tree / name).read_text()):
                self.edit(name)
        self.tick()
        self.commit(self.item)


class History:
    """A run with its items, workers and merges, all from one seed."""

    def __init__(self, repository: Repository, seed: int, disaster: Disaster) -> None:
        self.repository, self.disaster = repository, disaster
        self.dice = random.Random(seed)
        self.id = f"R{seed}"
        self.branch = f"sisyphus/{self.id}"
        count = self.dice.choices(range(3, 9), (70, 12, 7, 5, 3, 3))[0]
        self.items = [f"item-{number}" for number in range(count)]
        self.edits = {item: self._edits() for item in self.items}
        self.merged: dict[str, str] = {}  # item → its commit
        self.left: dict[str, list[str]] = {}  # items that were set aside → what was committed
        self.tips: list[str] = []  # of its branch: with the plan, and behind each merge
        self.outcomes: Counter[str] = Counter()
        self.fails = {item for item in self.items if self.dice.random() < 0.1}

    def _edits(self) -> dict[str, int]:
        names = self.dice.sample(_FILES, self.dice.randint(1, 2))
        return {name: self.dice.randrange(_LINES) for name in sorted(names)}

    def plan(self) -> str:
        """Returns the first commit of its branch, for `git fast-import`."""
        plan = f"# {self.id}\n\n" + "".join(f"- [ ] {item}\n" for item in self.items)
        who = "committer Ada <a@b.org> 1700000000 +0000\n"
        return (
            f"commit refs/heads/{self.branch}\n{who}data 4\nplan\nfrom refs/heads/main\n"
            f"M 100644 inline PLAN.md\ndata {len(plan)}\n{plan}\n"
        )

    def ask(self, *words: str) -> str:
        return self.repository.ask(*words)

    def has(self, item: str, name: str, text: str) -> bool:
        """Tells whether the check of an item passes on a file."""
        lines = text.splitlines()
        number = self.edits[item][name]
        is_whole = [line.split()[:2] for line in lines] == [["line", str(n)] for n in range(_LINES)]
        return is_whole and item in lines[number].split()

    def check(self, worker: Worker) -> str | None:
        """The item's check and the run's, which wants all files to be whole."""
        texts = {name: (worker.tree / name).read_text() for name in _FILES}
        for name in worker.edits:
            if not self.has(worker.item, name, texts[name]):
                return f"{worker.item} is not in {name}"
        for item in self.merged:
            for name in self.edits[item]:
                if not self.has(item, name, texts[name]):
                    return f"{item} is in {name} no more"
        if worker.item in self.fails and self.dice.random() < 0.6:
            return "flaky"
        if self.dice.random() < 0.05:
            self.move()
        return None

    def move(self) -> None:
        """Moves the run's branch while somebody merges."""
        made = self.ask("commit-tree", f"{self.branch}^{{tree}}", "-p", self.branch, "-m", "moved")
        self.ask("update-ref", f"refs/heads/{self.branch}", made.strip())
        self.outcomes["moved"] += 1

    def attempt(self, worker: Worker) -> Outcome:
        """Merges, and again after each kill."""
        while True:
            has_kill = self.dice.random() < 0.25
            self.disaster.left = self.dice.randint(1, _CALLS) if has_kill else 0
            try:
                outcome = merges.attempt(worker.work, lambda: self.check(worker))
            except Killed:
                self.outcomes["killed"] += 1
                continue
            finally:
                self.disaster.left = 0
            if self.dice.random() > 0.05 or not isinstance(outcome, Merged):
                return outcome
            self.outcomes["killed"] += 1  # before anybody could note what came of it

    def play(self) -> None:
        count = self.dice.randint(2, 4)
        workers: list[Worker | None] = [None] * count
        free = list(self.items)
        while free or any(workers):
            number = self.dice.randrange(count)
            worker = workers[number]
            if worker is None:
                workers[number] = Worker(self, number, free.pop(0)) if free else None
            elif self.turn(worker):
                workers[number] = None

    def turn(self, worker: Worker) -> bool:
        """Merges the item of a worker once; tells whether it is done with it."""
        outcome = self.attempt(worker)
        self.outcomes[type(outcome).__name__] += 1
        if isinstance(outcome, Merged):
            assert worker.item not in self.merged
            self.merged[worker.item] = outcome.commit
            self.tips.append(outcome.commit)
            return True
        worker.tries += 1
        if worker.tries == _TRIES:
            self.set_aside(worker)
            return True
        if isinstance(outcome, Conflict):
            worker.resolve(outcome.files)
        elif isinstance(outcome, Failed) or (
            isinstance(outcome, Refused) and "No commit of the work" in outcome.why
        ):
            worker.mend()
        else:
            raise AssertionError(f"{worker.item}: {outcome}")
        return False

    def set_aside(self, worker: Worker) -> None:
        """Takes the merge back, and leaves the work on a branch of its own."""
        while True:
            self.disaster.left = self.dice.randint(0, 12)
            try:
                merges.take_back(worker.work)
                break
            except Killed:
                continue
            finally:
                self.disaster.left = 0
        worker.ask("branch", f"{self.branch}-{worker.item}", "HEAD")
        worker.ask("checkout", "-q", "--detach")
        self.left[worker.item] = worker.made

    # ------------------------------------------------------------ what has to be so

    def judge(self, texts: Iterator[str], refs: Counter[str]) -> None:
        """Compares the end with what was done. texts: of `names`. refs: how many merged items each
        run remembers."""
        assert {*self.merged} ^ {*self.left} == {*self.items}
        reachable = {*self.ask("rev-list", "--all").split()} if self.left else set()
        for item, made in self.left.items():
            assert {*made} <= reachable, f"commits of {item} are lost"
        log = self.ask("log", "--reverse", "--format=%H|%P|%s", f"{self.tips[0]}..{self.branch}")
        commits = [line.split("|") for line in log.splitlines()]
        assert all(len(parents.split()) == 1 for _, parents, _ in commits), "it is no line"
        order = [commit for commit, _, _ in commits]
        places = [order.index(tip) for tip in self.tips[1:]]
        assert places == sorted({*places}), "the branch went back"
        moved = [subject for _, _, subject in commits].count("moved")
        assert moved == self.outcomes["moved"], "a commit of somebody else is lost"
        assert refs[self.id] == len(self.merged)
        self._judge_content(texts)

    def names(self) -> list[str]:
        """Returns the names of all files behind each merge."""
        return [f"{tip}:{name}" for tip in self.tips[1:] for name in ("PLAN.md", *_FILES)]

    def _judge_content(self, texts: Iterator[str]) -> None:
        """At each commit that merged an item all merged ones pass, and just these are ticked."""
        merged: list[str] = []
        for item in self.merged:
            merged.append(item)
            plan = parse(next(texts))
            files = {name: next(texts) for name in _FILES}
            ticked = {task.text for task in plan.tasks if task.status == DONE}
            assert ticked == {*merged}
            tasks = Counter(task.text for task in plan.tasks)
            assert {*self.items} <= {*tasks}
            assert set(tasks.values()) == {1}
            for each in merged:
                for name in self.edits[each]:
                    assert self.has(each, name, files[name]), f"{each} is broken by {item}"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where that can be: git writes a hundred small files for each item."""
    if not has_memory_disk():
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=MEMORY_DISK) as name:
        yield Path(name)


@pytest.mark.parametrize("batch", range(_BATCHES))
def test_histories(batch: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disaster = Disaster()
    monkeypatch.setattr(repository, "run", disaster.run)
    repo = Repository(folder)
    each = _HISTORIES // _BATCHES
    histories = [History(repo, seed, disaster) for seed in range(batch * each, (batch + 1) * each)]
    repo.begin(histories)
    for history in histories:
        with named(history):
            history.play()
    texts = repo.texts([name for history in histories for name in history.names()])
    kept = repo.ask("for-each-ref", "--format=%(refname)", "refs/sisyphus/*/merged/*")
    refs = Counter(name.split("/")[2] for name in kept.split())
    for history in histories:
        with named(history):
            history.judge(texts, refs)
    outcomes = sum((history.outcomes for history in histories), Counter[str]())
    print(outcomes)
    assert {"Merged", "Conflict", "Failed", "killed"} <= {*outcomes}


@contextmanager
def named(history: History) -> Iterator[None]:
    """Says which history fails."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"{history.id}: {history.outcomes}, {history.left}")
        raise
