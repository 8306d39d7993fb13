"""`sisyphus ralph run --jobs N` with the real clients: several of them at once, whose model answers
each by its item, and in its own worktree."""

from __future__ import annotations

import re
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from e2e import claude_code, codex, test_codex_run
from e2e.claude_code import SECONDS, Json
from e2e.codex import Codex
from e2e.desk import CODEX, Desk
from e2e.install import CLAUDE_CODE
from e2e.install import CODEX as CODEX_PACKAGE
from e2e.model import Model, Request, running
from e2e.script import Script, Tool, Turn, edit, read, say, use, write
from e2e.test_codex_run import CodexRuns
from e2e.test_run import ACCEPT, Runs, commit
from e2e.test_run_commits import CHECK, Repository, of_ada
from e2e.test_run_worktree import git, run_branch, state, subjects

AGREE = """\
import os, runpy

values = {
    name: runpy.run_path(f"{name}.py")[name]
    for name in ("refund", "invoice")
    if os.path.exists(f"{name}.py")
}
assert len({*values.values()}) == 1, f"they do not agree: {values}"
"""

PLAN = """\
# Shop

## Wave 1

- [ ] cart (verify: `python3 check.py cart 3`)
- [ ] total (verify: `python3 check.py total 3`)
- [ ] receipt (verify: `python3 check.py receipt 3`)

## Wave 2

- [ ] refund (verify: `python3 check.py refund 3`)
- [ ] invoice (verify: `python3 agree.py`)
- [ ] coupon (verify: `python3 check.py coupon 3`)

## Wave 3

- [ ] tax (verify: `python3 check.py tax 3`)
- [ ] export (verify: `python3 check.py export 3`)
"""


class Crew(Model):
    """A model with a script for each item, which names files of the worktree that asks."""

    def __init__(
        self, project: Path, scripts: Mapping[str, Sequence[Turn]], spell: Callable[[Tool], Json]
    ) -> None:
        super().__init__(Script([]), spell)
        self.scripts = {item: Script([*turns]) for item, turns in scripts.items()}
        self._folder = re.compile(re.escape(str(project)) + r"-sisyphus-\w{5}-\d")

    def script_for(self, request: Request) -> Script:
        item = next((name for name in self.scripts if f"\n> {name}\n" in request.text), "")
        return self.scripts.get(item, self.script)

    def _turn(self, request: Request) -> Turn:
        turn, found = super()._turn(request), self._folder.search(request.text)
        tools = (_in(found[0], tool) if found else tool for tool in turn.tools)
        return replace(turn, tools=tuple(tools))


def _in(folder: str, tool: Tool) -> Tool:
    path = tool.values.get("path")
    return replace(tool, values={**tool.values, "path": f"{folder}/{path}"}) if path else tool


@pytest.fixture
def repository(desk: Desk) -> Repository:
    made = of_ada(desk)
    desk.write("check.py", CHECK)
    desk.write("agree.py", AGREE)
    desk.write("fix_plan.md", PLAN)
    commit(desk)
    return made


def do(
    item: str, value: int = 3, *more: Tool, after: Callable[[], object] | None = None
) -> list[Turn]:
    """The turns of a process that does an item. after: what has to happen before it ends."""
    return [
        use(read("fix_plan.md")),
        use(
            write(f"{item}.py", f"{item} = {value}\n"),
            edit("fix_plan.md", f"- [ ] {item}", f"- [x] {item}"),
            *more,
        ),
        say(f"The {item} is {value}.", meanwhile=after),
    ]


def until_merged(desk: Desk, item: str) -> Callable[[], None]:
    def wait() -> None:
        deadline = time.monotonic() + SECONDS
        while item not in subjects(desk, run_branch(desk)):
            assert time.monotonic() < deadline
            time.sleep(0.1)

    return wait


def test_a_night_of_three_workers(desk: Desk, repository: Repository, tmp_path: Path) -> None:
    """Three waves with a conflict, a check that fails on what is merged, a liar, a limit, and a
    runner that is killed, while its user commits."""
    begun = threading.Event()

    def commit_notes() -> None:
        desk.write("notes.md", "mine\n")
        repository.ask("add", "notes.md")
        repository.ask("commit", "--quiet", "--message", "notes")

    def sleep() -> None:
        begun.set()
        time.sleep(20)

    shop, both = write("shop.py", "receipt\n"), write("shop.py", "total\nreceipt\n")
    lie = [use(read("fix_plan.md")), use(edit("fix_plan.md", "- [ ] coupon", "- [x] coupon"))]
    scripts = {
        "cart": do("cart", after=commit_notes),
        "total": do("total", 3, write("shop.py", "total\n")),
        "receipt": [
            *do("receipt", 3, shop, after=until_merged(desk, "total")),
            use(read("shop.py")), use(both), say("Both are in it."),
        ],
        "refund": do("refund"),
        "invoice": [
            *do("invoice", 4, after=until_merged(desk, "refund")),
            use(read("invoice.py")), use(write("invoice.py", "invoice = 3\n")), say("Mended."),
        ],
        "coupon": [*lie, say("Done."), say("It is done."), say("It is done.")],
        "tax": [say("", status=429), say("", status=429), *do("tax")],
        "export": [say("", meanwhile=sleep)],
    }  # fmt: skip
    words = (*ACCEPT, "--trust-checks", "--jobs", "3")
    with claude(desk, scripts) as runs, runs.start(*words) as process:
        assert begun.wait(SECONDS)
        until_merged(desk, "tax")()
        process.kill()
    branch = run_branch(desk)
    assert sorted(subjects(desk, branch)[1:]) == sorted(scripts.keys() - {"coupon", "export"})
    before = state(desk)

    with claude(desk, {"coupon": do("coupon"), "export": do("export")}) as runs:
        code, printed = runs.run("--resume")

    assert code == 0, printed
    assert state(desk) == before
    assert sorted(subjects(desk, branch)[1:]) == sorted(scripts)
    assert git(desk, "show", f"{branch}:shop.py") == "total\nreceipt"
    assert git(desk, "show", f"{branch}:fix_plan.md") == PLAN.strip().replace("[ ]", "[x]")
    assert not list(desk.project.parent.glob(f"{desk.project.name}-sisyphus-*"))
    git(desk, "merge", "--quiet", "--no-edit", branch)
    assert (desk.project / "notes.md").read_text() == "mine\n"
    assert sorted(passing(repository, branch, tmp_path / "clone")) == sorted(scripts)


def passing(repository: Repository, branch: str, clone: Path) -> list[str]:
    """Clones it, and returns the subjects of the commits of the run whose check passes in them."""
    subprocess.run(["git", "clone", "--quiet", repository.folder, clone], check=True)
    fresh = Repository(clone, repository.environment)
    found = []
    for id in repository.commits(branch)[1:]:
        key = "--format=%(trailers:key=Sisyphus-Check,valueonly)"
        command = repository.ask("show", "--no-patch", key, id).removesuffix(" (exit 0)")
        if command and fresh.passes(id, command):
            found.append(repository.subjects(id)[-1])
    return found


@contextmanager
def claude(desk: Desk, scripts: Mapping[str, Sequence[Turn]]) -> Iterator[Runs]:
    program = desk.home / "bin" / "claude"
    program.parent.mkdir(exist_ok=True)
    if not program.exists():
        program.symlink_to(CLAUDE_CODE.binary)
        desk.sisyphus("install", "--yes")
        desk.sisyphus("config", "runner.retry_seconds", "2")

    def spell(tool: Tool) -> Json:
        return claude_code.spell(tool, desk.project)

    with running(Crew(desk.project, scripts, spell)) as model:
        yield Runs(desk, model)
    left = {item: script for item, script in model.scripts.items() if not script.is_over}
    assert not left, left


@pytest.mark.parametrize("desk", [CODEX], indirect=True)
def test_codex_does_three_items_at_once(desk: Desk, repository: Repository, tmp_path: Path) -> None:
    names = ("cart", "total", "receipt")
    desk.write("fix_plan.md", PLAN.partition("\n## Wave 2")[0])
    repository.ask("commit", "--quiet", "--all", "--message", "plan")
    before = state(desk)
    program = desk.home / "bin" / "codex"
    program.parent.mkdir(exist_ok=True)
    program.symlink_to(CODEX_PACKAGE.binary)
    with running(Crew(desk.project, {name: do(name) for name in names}, desk.spell)) as model:
        codex.set_model(desk.home, model.url, Codex.model)
        variables = {**desk.environment(), **desk.client.model_variables(model.url)}
        with codex.serving(desk.project, variables, Codex.model):
            pass
        code, printed = CodexRuns(desk, model).run(
            "--client", "codex", *test_codex_run.SANDBOX, "--trust-checks", "--jobs", "3"
        )

    assert code == 0, printed
    assert state(desk) == before
    branch = run_branch(desk)
    assert sorted(subjects(desk, branch)[2:]) == sorted(names)
    assert {*passing(repository, branch, tmp_path / "clone")} == {*names}
