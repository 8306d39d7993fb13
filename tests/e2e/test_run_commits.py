"""`sisyphus ralph run --commit` with the real clients, in a repository that has a hook of git."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from e2e import test_codex_run, test_run
from e2e.claude_code import SECONDS
from e2e.desk import CODEX, Desk
from e2e.script import Turn, edit, read, say, shell, use, write
from e2e.test_codex_run import SANDBOX, SLEEPS, process_of, until_ended
from e2e.test_run import ACCEPT, RESUME, plan, user_settings

THREE = ("cart", "total", "receipt")

CHECK = """\
import runpy, sys

name, value = sys.argv[1:]
found = runpy.run_path(f"{name}.py")[name]
assert found == int(value), f"{name} is {found}, not {value}"
"""

FORMAT = """\
#!/bin/sh
for file in *.py; do
    sed 's/^\\([a-z]*\\)=/\\1 = /' "$file" >.git/formatted
    cmp -s .git/formatted "$file" || { cat .git/formatted >"$file"; echo "formatted $file"; }
done
git diff --quiet
"""
"""A hook that puts blanks around the `=`, and refuses what had none. (Blanks at the end of a line
are taken away by Claude Code itself.)"""


@dataclass(frozen=True)
class Repository:
    folder: Path
    environment: dict[str, str]

    def ask(self, *words: str) -> str:
        """Returns what git prints."""
        done = subprocess.run(
            ["git", *words],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout.strip()

    def commits(self, of: str = "HEAD") -> list[str]:
        """The ids of the commits, the oldest first."""
        return self.ask("log", "--reverse", "--format=%H", of).splitlines()

    def subjects(self, of: str = "HEAD") -> list[str]:
        """The subjects of the commits, the oldest first."""
        return self.ask("log", "--reverse", "--format=%s", of).splitlines()

    def message(self, commit: str) -> str:
        return self.ask("show", "--no-patch", "--format=%B", commit)

    def names(self, commit: str) -> list[str]:
        """The files that a commit changes."""
        return self.ask("show", "--format=", "--name-only", commit).splitlines()

    def trailers(self, key: str) -> list[str]:
        """A trailer of each commit, the oldest first; "" = it has none."""
        words = ("show", "--no-patch", f"--format=%(trailers:key={key},valueonly)")
        return [self.ask(*words, commit) for commit in self.commits()]

    def dirt(self) -> str:
        return self.ask("status", "--porcelain")

    def proven(self, clone: Path) -> list[str]:
        """Clones it, and returns the subjects of the commits whose check passes in them and fails
        in the ones before."""
        subprocess.run(["git", "clone", "--quiet", self.folder, clone], check=True)
        fresh = Repository(clone, self.environment)
        checks = zip(self.commits(), self.trailers("Sisyphus-Check"), strict=True)
        commands = {commit: each.removesuffix(" (exit 0)") for commit, each in checks if each}
        return [
            self.subjects(commit)[-1]
            for commit, command in commands.items()
            if fresh.passes(commit, command) and not fresh.passes(f"{commit}~1", command)
        ]

    def passes(self, commit: str, command: str) -> bool:
        """Checks a commit out; tells whether a command exits with 0 there."""
        self.ask("checkout", "--quiet", "--detach", commit)
        words = shlex.split(command)
        return subprocess.run(words, cwd=self.folder, check=False).returncode == 0


def of_ada(desk: Desk) -> Repository:
    """That of the desk's project, with a user."""
    made = Repository(desk.project, desk.environment())
    made.ask("config", "user.name", "Ada")
    made.ask("config", "user.email", "ada@example.org")
    return made


@pytest.fixture
def repository(desk: Desk) -> Repository:
    """The same with a hook and one commit."""
    made = of_ada(desk)
    desk.write("check.py", CHECK)
    made.ask("add", "--all")
    made.ask("commit", "--quiet", "--message", "start")
    desk.write(".git/hooks/pre-commit", FORMAT).chmod(0o755)
    return made


def checked(item: str, value: int = 3) -> str:
    """The line of an item with a check."""
    return f"{item} (verify: `python3 check.py {item} {value}`)"


def work(item: str, value: int = 3, *more: Turn, equals: str = "=") -> list[Turn]:
    """The turns of a process that does an item. equals: " = " where the hook has nothing to do."""
    return [
        use(read("fix_plan.md")),
        use(
            write(f"{item}.py", f"{item}{equals}{value}\n"),
            edit("fix_plan.md", f"- [ ] {item}", f"- [x] {item}"),
        ),
        *more,
        say(f"The {item} is {value}."),
    ]


# ---------------------------------------------------------------- Claude Code


def test_a_night_in_git(desk: Desk, repository: Repository, tmp_path: Path) -> None:
    """One item passes at once, one at the second time, one is blocked half done, one is done."""
    branch = repository.ask("symbolic-ref", "--short", "HEAD")
    plan(desk, *(checked(item) for item in (*THREE, "refund")))
    mend = [use(read("total.py")), use(write("total.py", "total=3\n")), say("Mended.")]
    half = [
        use(read("cart.py")),
        use(edit("cart.py", "cart = 3", "cart = 4"), write("receipt.py", "receipt=0\n")),
        say("<blocked>the printer's address</blocked>"),
    ]

    turns = [*work("cart"), *work("total", 2, equals=" = "), *mend, *half, *work("refund")]
    with test_run.playing(desk, turns) as runs:
        code, printed = runs.run(*ACCEPT, "--commit", "--trust-checks")

    assert code == 4, printed
    assert runs.items == ["cart", "total", "total", "receipt", "refund"]
    assert "total is 2, not 3" in runs.firsts[2].text
    id = runs.state["run"]
    subjects = ["start", f"Plan of run {id}", "cart", "total", "refund"]
    assert repository.subjects() == subjects
    assert repository.trailers("Sisyphus-Run") == ["", "", id, id, id]
    assert repository.message("HEAD~1") == (
        f"total\n\nMended.\n\nSisyphus-Run: {id}\nSisyphus-Check: python3 check.py total 3 (exit 0)"
    )
    assert {*repository.ask("log", "--format=%an <%ae>").splitlines()} == {"Ada <ada@example.org>"}
    assert repository.names("HEAD") == ["fix_plan.md", "refund.py"]
    for item in ("cart", "total", "refund"):
        assert repository.ask("log", "--format=", "--patch", "--", f"{item}.py").endswith(
            f"\n+{item} = 3"
        )
    assert repository.dirt() == ""
    assert repository.ask("symbolic-ref", "--short", "HEAD") == branch
    assert repository.proven(tmp_path / "first") == ["cart", "total", "refund"]

    aside = f"sisyphus/{id}-receipt"
    assert repository.ask("branch", "--format=%(refname:short)").splitlines() == [branch, aside]
    assert repository.subjects(aside) == [*subjects[:4], "Half work: receipt"]
    assert repository.names(aside) == ["cart.py", "receipt.py"]
    assert repository.ask("show", f"{aside}:receipt.py") == "receipt=0"  # without a hook
    assert (
        f"receipt: the printer's address (`git diff {branch}...{aside}` shows its half work)"
        in printed
    )

    see, *rest = [use(shell(f"git diff {branch}...{aside}")), *work("receipt")]
    with test_run.playing(desk, [see, *rest]) as runs:
        code, printed = runs.run("--resume")

    assert code == 0, printed
    assert f"`git diff {branch}...{aside}` shows an earlier attempt" in runs.firsts[0].text
    assert "+receipt=0" in runs.model.requests[1].last
    assert repository.subjects() == [*subjects, "receipt"]
    assert repository.dirt() == ""
    assert runs.state["evidence"] == dict.fromkeys([*THREE, "refund"], "checked")
    assert repository.proven(tmp_path / "second") == ["cart", "total", "refund", "receipt"]


def test_an_agent_that_may_commit(desk: Desk, repository: Repository) -> None:
    """Its commits are kept, and the hook refuses them as those of anybody. Then it amends one, and
    is told."""
    user_settings(desk, allow=["Bash(git add *)", "Bash(git commit *)"])
    plan(desk, *THREE, "refund")
    add = use(shell("git add ."))
    read_plan, write_and_tick, done = work("cart")
    write_file, tick = (use(tool) for tool in write_and_tick.tools)
    commits = use(shell("git commit -m 'feat: cart'"))
    cart = [read_plan, write_file, add, commits, add, commits, tick, done]
    commits = use(shell("git commit -m 'feat: total'"))
    total = work("total", 3, add, commits, add, commits)
    amends = use(shell("git commit --amend -m 'feat: all'"))
    astray = work("receipt", 2, add, amends, add, amends)

    with test_run.playing(
        desk, [*cart, *total, *astray, *work("receipt"), *work("refund")]
    ) as runs:
        code, printed = runs.run(*ACCEPT, "--commit")

    assert code == 0, printed
    assert runs.items == ["cart", "total", "receipt", "receipt", "refund"]
    assert "formatted cart.py" in runs.model.requests[4].last
    id = runs.state["run"]
    assert repository.subjects() == [
        *("start", f"Plan of run {id}", "feat: cart", "cart", "feat: total", "receipt", "refund")
    ]
    assert repository.trailers("Sisyphus-Run") == ["", "", "", id, "", id, id]
    assert repository.names("HEAD~3") == ["fix_plan.md"]
    assert repository.names("HEAD~2") == ["fix_plan.md", "total.py"]
    assert repository.names("HEAD~1") == ["fix_plan.md", "receipt.py"]
    assert f"✓ total · changed · {repository.ask('rev-parse', 'HEAD~2')[:7]} · " in printed
    assert repository.dirt() == ""
    aside = f"sisyphus/{id}-receipt"
    assert "had lost the commit" in runs.firsts[3].text
    assert f"Your work is on the branch {aside}." in runs.firsts[3].text
    assert repository.ask("show", f"{aside}:receipt.py") == "receipt = 2"
    assert not [name for name in repository.ask("ls-files").splitlines() if "claude" in name]


def test_a_runner_that_is_killed(desk: Desk, repository: Repository) -> None:
    """Once in the middle of an item, and once when the box is ticked and nothing is committed."""
    plan(desk, *THREE)
    runners: list[subprocess.Popen[str]] = []

    def kill() -> None:
        os.kill(runners[-1].pid, signal.SIGKILL)

    half = [use(write("half.py", "half=1\n")), say("Half.", meanwhile=kill)]
    with test_run.playing(desk, [*work("cart"), *half]) as runs:
        runners.append(runs.start(*ACCEPT, "--commit"))
        printed, _ = runners[-1].communicate(timeout=SECONDS)
    assert runners[-1].returncode == -signal.SIGKILL, printed
    subjects = ["start", f"Plan of run {runs.state['run']}", "cart"]
    assert repository.subjects() == subjects

    ticked = [*work("receipt")[:-1], say("Done.", meanwhile=kill)]
    with test_run.playing(desk, [*work("total"), *ticked]) as runs:
        runners.append(runs.start("--resume"))
        printed, _ = runners[-1].communicate(timeout=SECONDS)
    assert runners[-1].returncode == -signal.SIGKILL, printed
    assert runs.items == ["total", "receipt"]
    assert [RESUME in request.text for request in runs.firsts] == [True, False]
    assert repository.subjects() == [*subjects, "total"]
    assert repository.dirt() != ""

    with test_run.playing(desk, []) as runs:
        code, printed = runs.run("--resume")

    assert code == 0, printed
    assert repository.subjects() == [*subjects, "total", "receipt"]
    assert repository.names("HEAD~1") == ["fix_plan.md", "half.py", "total.py"]
    assert repository.names("HEAD") == ["fix_plan.md", "receipt.py"]
    assert repository.dirt() == ""
    assert [row["item"] for row in runs.log() if row["is_done"]] == [*THREE]


# ---------------------------------------------------------------- Codex


@pytest.mark.parametrize("desk", [CODEX], indirect=True)
def test_an_agent_whose_sandbox_keeps_git(
    desk: Desk, repository: Repository, tmp_path: Path
) -> None:
    """It can neither commit nor give git a hook; the run commits its work."""
    plan(desk, *(checked(item) for item in THREE))
    spoil = "echo 'touch spoilt' >.git/hooks/post-commit; chmod +x .git/hooks/post-commit"
    commits = use(shell("git add . && git commit -qm mine"))
    cart = work("cart", 3, commits, use(shell(spoil)))

    with test_codex_run.playing(desk, [*cart, *work("total"), *work("receipt")]) as runs:
        code, printed = runs.run("--client", "codex", *SANDBOX, "--commit", "--trust-checks")

    assert code == 0, printed
    assert runs.items == [*THREE]
    assert "index.lock" in runs.model.requests[3].last
    id = runs.state["run"]
    assert repository.subjects() == ["start", f"Plan of run {id}", *THREE]
    assert repository.trailers("Sisyphus-Run") == ["", "", id, id, id]
    assert repository.message("HEAD").splitlines()[:3] == ["receipt", "", "The receipt is 3."]
    assert repository.names("HEAD~2") == ["cart.py", "fix_plan.md"]
    assert repository.dirt() == ""
    assert repository.proven(tmp_path / "clone") == [*THREE]


@pytest.mark.parametrize("desk", [CODEX], indirect=True)
def test_a_runner_that_is_killed_while_a_tool_works(desk: Desk, repository: Repository) -> None:
    """The agent has committed some of its half work. The next one is blocked, and all of that is
    set aside."""
    plan(desk, *THREE)
    free = ("--permission-mode", "danger-full-access")
    half = [
        use(write("mine.py", "mine = 1\n")),
        use(shell("git add mine.py && git commit -qm mine")),
        SLEEPS,
    ]

    with test_codex_run.playing(desk, [*work("cart"), *half]) as runs:
        process = runs.start("--client", "codex", *free, "--commit")
        tool, client = process_of(desk, "tool"), process_of(desk, "client")
        process.kill()
        printed, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == -signal.SIGKILL, printed
    id = runs.state["run"]
    subjects = ["start", f"Plan of run {id}", "cart"]
    assert repository.subjects() == [*subjects, "mine"]

    with test_codex_run.playing(
        desk, [say("<blocked>the rate</blocked>"), *work("receipt")]
    ) as runs:
        code, printed = runs.run("--resume")
    assert code == 4, printed
    assert [RESUME in request.text for request in runs.firsts] == [True, False]
    until_ended(client, tool)
    aside = f"sisyphus/{id}-total"
    assert repository.subjects(aside) == [*subjects, "mine", "Half work: total"]
    assert repository.names(aside) == ["half.py"]
    assert repository.subjects() == [*subjects, "receipt"]
    assert repository.dirt() == ""

    with test_codex_run.playing(desk, work("total")) as runs:
        code, printed = runs.run("--resume")
    assert code == 0, printed
    assert repository.subjects() == [*subjects, "receipt", "total"]
    assert repository.names("HEAD") == ["fix_plan.md", "total.py"]
    assert repository.dirt() == ""
