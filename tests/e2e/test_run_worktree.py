"""`sisyphus ralph run --worktree` with the real clients: they work beside the project, with what
they may do there, and the project stays as it is."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from e2e import claude_code, test_codex_run
from e2e.claude_code import Json
from e2e.desk import CODEX, Desk
from e2e.install import CLAUDE_CODE
from e2e.model import serving
from e2e.script import Script, Tool, Turn, edit, read, say, shell, use, write
from e2e.test_run import ACCEPT, Runs, commit, plan

ITEMS = ("cart", "total", "receipt")
BLOCKED = "The rate is missing.\n\n<blocked>the rate</blocked>"


def git(desk: Desk, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=desk.project, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def begin(desk: Desk) -> tuple[str, bytes]:
    """Makes a plan with checks, and commits all; returns HEAD and the index."""
    plan(desk, *(f"{item} (verify: `grep x {item}.py`)" for item in ITEMS))
    for name, value in (("user.name", "Ada"), ("user.email", "ada@example.org")):
        git(desk, "config", name, value)
    commit(desk)
    return state(desk)


def state(desk: Desk) -> tuple[str, bytes]:
    return git(desk, "rev-parse", "HEAD"), (desk.project / ".git" / "index").read_bytes()


def tree(desk: Desk) -> Path:
    return next(desk.project.parent.glob(f"{desk.project.name}-sisyphus-*"))


def subjects(desk: Desk, branch: str) -> list[str]:
    return git(desk, "log", "--reverse", "--format=%s", branch).splitlines()


def run_branch(desk: Desk) -> str:
    return min(git(desk, "branch", "--format=%(refname:short)", "--list", "sisyphus/*").split())


@contextmanager
def in_worktree(desk: Desk, turns: list[Turn]) -> Iterator[Runs]:
    """As `playing`, with tools that name the files of the worktree."""
    program = desk.home / "bin" / "claude"
    program.parent.mkdir(exist_ok=True)
    if not program.exists():
        program.symlink_to(CLAUDE_CODE.binary)
        desk.sisyphus("install", "--yes")
    script = Script([*turns], [])

    def spell(tool: Tool) -> Json:
        return claude_code.spell(tool, tree(desk))

    with serving(script, spell) as model:
        yield Runs(desk, model)
    assert script.is_over, f"left: {script.main}; beyond: {script.surplus}"


def do(item: str) -> list[Turn]:
    tick = edit("fix_plan.md", f"- [ ] {item}", f"- [x] {item}")
    return [use(read("fix_plan.md")), use(write(f"{item}.py", "x = 1\n"), tick), say("Done.")]


def test_claude_code_works_beside_the_project(desk: Desk) -> None:
    settings = {"permissions": {"allow": ["Bash(git add *)", "Bash(git commit *)", "Bash(pwd)"]}}
    user = desk.home / ".claude" / "settings.json"
    user.parent.mkdir(exist_ok=True)
    user.write_text(json.dumps(settings))
    desk.write(".claude/rules/prices.md", '---\napplies_to: "*.py"\n---\n\nPrices are in cents.\n')
    desk.write(".gitignore", ".env\n")
    desk.write(".worktreeinclude", ".env\n")
    desk.write(".env", "KEY=1\n")
    before = begin(desk)
    desk.write("draft.py", "mine\n")
    own = [
        use(read("fix_plan.md"), shell("pwd")),
        use(write("cart.py", "x = 1\n"), shell("git add cart.py && git commit -m 'feat: cart'")),
        use(edit("fix_plan.md", "- [ ] cart", "- [x] cart"), read(".env")),
        say("Done."),
    ]
    half = [use(write("total.py", "half\n")), say(BLOCKED)]

    with in_worktree(desk, [*own, *half, *do("receipt")]) as runs:
        code, printed = runs.run(*ACCEPT, "--trust-checks", "--worktree")

    assert code == 4, printed
    assert "✓ cart · checked" in printed
    assert "Not in the worktree, because it is not committed: draft.py." in printed
    branch = run_branch(desk)
    assert subjects(desk, branch) == ["start", "feat: cart", "cart", "receipt"]
    assert git(desk, "show", f"{branch}-total:total.py") == "half"
    assert state(desk) == before
    assert sorted(path.name for path in desk.project.glob("*.py")) == ["draft.py"]
    texts = "".join(request.text for request in runs.model.requests)
    assert str(tree(desk)) in texts
    assert "KEY=1" in texts
    assert "Prices are in cents." in texts

    with in_worktree(desk, do("total")) as runs:
        code, printed = runs.run("--resume")

    assert code == 0, printed
    assert f"`git merge {branch}` brings its 4 commits into" in printed
    assert not list(desk.project.parent.glob(f"{desk.project.name}-sisyphus-*"))
    git(desk, "merge", "--quiet", branch)
    assert subjects(desk, "HEAD") == ["start", "feat: cart", "cart", "receipt", "total"]


@pytest.mark.parametrize("desk", [CODEX], indirect=True)
def test_codex_works_beside_the_project(desk: Desk) -> None:
    before = begin(desk)

    def spell(tool: Tool) -> Json:
        return replace(desk, project=tree(desk)).spell(tool)

    turns = [turn for item in ITEMS for turn in do(item)]
    with test_codex_run.playing(desk, turns, spell=spell) as runs:
        code, printed = runs.run(
            "--client", "codex", *test_codex_run.SANDBOX, "--trust-checks", "--worktree"
        )

    assert code == 0, printed
    assert state(desk) == before
    assert subjects(desk, run_branch(desk)) == ["start", *ITEMS]
