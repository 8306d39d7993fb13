"""`sisyphus ralph run` with the real client, as its documentation says."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from e2e import claude_code
from e2e.claude_code import COMMANDS, SECONDS, Json, environment
from e2e.desk import Desk
from e2e.install import CLAUDE_CODE
from e2e.model import Model, Request, serving
from e2e.script import Script, Tool, Turn, delegate, edit, read, say, shell, use, write

ACCEPT = ("--permission-mode", "acceptEdits")
ITEMS = ("cart", "total", "receipt", "refund", "invoice", "coupon", "tax", "export")
DONE = say("Done. Nothing else to know.")
TOUCH = 'python3 -c \'open("shell.txt", "w")\''
"""A command that no mode allows because it looks harmless."""
SLEEP = "echo half >half.py; echo $$ >.claude/tool.pid; exec sleep 60"
COMPLETE = say("<audit>complete</audit>")
RESUME = "CONTEXT CHECKPOINT RESUME"


@dataclass
class Runs:
    """A desk after `sisyphus install`, with the client on the PATH."""

    desk: Desk
    model: Model

    def start(self, *words: str, **more: str) -> subprocess.Popen[str]:
        """Starts a run. more: variables of its terminal."""
        variables = {**environment(self.desk.home), **more}
        variables["ANTHROPIC_BASE_URL"] = self.model.url
        variables["CLAUDE_CODE_MAX_RETRIES"] = "1"
        folder = self.desk.home / "bin"
        variables["PATH"] = f"{folder}{os.pathsep}{variables['PATH']}"
        return subprocess.Popen(
            [COMMANDS / "sisyphus", "ralph", "run", *words],
            cwd=self.desk.project,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *words: str, **more: str) -> tuple[int, str]:
        """Runs to the end; returns the exit code and what was printed."""
        with self.start(*words, **more) as process:
            printed, _ = process.communicate(timeout=SECONDS)
        self.desk.check_log()
        return process.returncode, printed

    @property
    def firsts(self) -> list[Request]:
        """The first requests of the processes; one that is refused asks twice."""
        return [request for request in self.model.requests if request.is_first]

    @property
    def state(self) -> Json:
        file = self.desk.project / ".claude" / "ralph-state.json"
        state: Json = json.loads(file.read_text())
        return state

    @property
    def items(self) -> list[str]:
        """The item that each process was given."""
        return [next((i for i in ITEMS if f"\n> {i}\n" in r.text), "") for r in self.firsts]

    def log(self) -> list[Json]:
        rows: list[Json] = json.loads(
            self.desk.sisyphus("ralph", "log", self.state["run"], "--json")
        )
        return rows


@contextmanager
def playing(
    desk: Desk,
    turns: Sequence[Turn],
    agents: Sequence[Turn] = (),
    *,
    hooks: bool = True,
    is_cut: bool = False,
) -> Iterator[Runs]:
    """A desk whose model and its subagents answer by these turns; all of them must be asked for.
    hooks: whether ours are installed. is_cut: the client may ask once more before it is ended."""
    program = desk.home / "bin" / "claude"
    program.parent.mkdir(exist_ok=True)
    if not program.exists():
        program.symlink_to(CLAUDE_CODE.binary)
        if hooks:
            desk.sisyphus("install", "--yes")
    script = Script([*turns], [*agents])

    def spell(tool: Tool) -> Json:
        return claude_code.spell(tool, desk.project)

    with serving(script, spell) as model:
        yield Runs(desk, model)
    is_over = not (script.main or script.agents) if is_cut else script.is_over
    assert is_over, f"left: {script.main} {script.agents}; beyond: {script.surplus}"


def plan(desk: Desk, *items: str) -> Path:
    return desk.write("fix_plan.md", "# Shop\n\n" + "".join(f"- [ ] {item}\n" for item in items))


def commit(desk: Desk) -> None:
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run([*git, "add", "."], cwd=desk.project, check=True)
    subprocess.run([*git, "commit", "--quiet", "-m", "start"], cwd=desk.project, check=True)


def do(item: str, **more: Any) -> list[Turn]:
    """The turns of a process that does an item."""
    tick = edit("fix_plan.md", f"- [ ] {item}", f"- [x] {item}")
    return [use(read("fix_plan.md"), **more), use(write(f"{item}.py", "x = 1\n"), tick), DONE]


def test_three_items(desk: Desk) -> None:
    plan(desk, *ITEMS[:3])

    with playing(desk, [turn for item in ITEMS[:3] for turn in do(item)]) as runs:
        code, printed = runs.run(*ACCEPT)

    assert code == 0, printed
    assert runs.items == ["cart", "total", "receipt"]
    assert "3 of 3 items are done" in printed
    assert [row["percent"] for row in runs.log()] == [0, 0, 0]
    assert runs.log()[0]["cost"] > 0
    for request in runs.firsts:
        assert request.text.count("## Instructions") == 1


def test_a_night(desk: Desk) -> None:
    """Eight items with all that can happen in a night."""
    plan(desk, *ITEMS)
    (desk.home / ".claude" / ".sisyphus").mkdir(parents=True)
    settings = desk.home / ".claude" / ".sisyphus" / "config.toml"
    settings.write_text("[runner]\nretry_seconds = 1\n")
    runners: list[subprocess.Popen[str]] = []

    def send(number: int) -> None:
        os.kill(runners[-1].pid, number)

    def kill_client() -> None:
        os.kill(_client(desk), signal.SIGKILL)

    def wait_for_handoff() -> None:
        """The hook writes it after its answer, which is slow on a busy machine."""
        give_up = time.monotonic() + SECONDS
        while not list(desk.project.glob(document)) and time.monotonic() < give_up:
            time.sleep(0.05)

    document = ".claude/handoffs/*.md"
    change = edit(document, "# Handoff\n", "# Handoff\n\nMind the VAT.\n")
    full = [
        use(write("total.py", "half = 1\n"), tokens=870_000),
        use(change, meanwhile=wait_for_handoff),
        say("Handed over."),
    ]
    turns = [
        *do("cart"),
        *full,
        *do("total"),
        say("<blocked>the printer's address</blocked>"),
        say("", status=429),
        say("", status=429),
        *do("refund"),
        use(read("fix_plan.md")),
        say("killed", meanwhile=kill_client),
        *do("invoice"),
        use(read("fix_plan.md")),
        say("killed", meanwhile=lambda: send(signal.SIGKILL)),
    ]
    with playing(desk, turns) as runs:
        runners.append(runs.start(*ACCEPT))
        printed, _ = runners[-1].communicate(timeout=SECONDS)
    assert runners[-1].returncode == -signal.SIGKILL, printed
    assert "Waiting until" in printed
    names = ["cart", "total", "total", "receipt", *["refund"] * 3, "invoice", "invoice", "coupon"]
    assert runs.items == names
    assert "Mind the VAT." in next((desk.project / ".claude" / "handoffs").glob("*.md")).read_text()
    resumes = ["CONTEXT CHECKPOINT RESUME" in request.text for request in runs.firsts]
    assert resumes == [False, False, True, *[False] * 7]

    stop = use(read("fix_plan.md"), meanwhile=lambda: send(signal.SIGINT))
    with playing(desk, [stop, *do("coupon")[1:]]) as runs:
        runners.append(runs.start("--resume", *ACCEPT))
        printed, _ = runners[-1].communicate(timeout=SECONDS)
    assert runners[-1].returncode == 130, printed
    assert runs.items == ["coupon"]
    assert "CONTEXT CHECKPOINT RESUME" in runs.firsts[0].text

    rest = [turn for item in ("receipt", "tax", "export") for turn in do(item)]
    with playing(desk, rest) as runs:
        code, printed = runs.run("--resume", *ACCEPT)
    assert code == 0, printed
    assert runs.items == ["receipt", "tax", "export"]
    assert sorted(runs.state["completed_items"]) == sorted(ITEMS)
    assert "8 of 8 items are done" in printed
    assert {file.stem for file in desk.project.glob("*.py")} == set(ITEMS)
    done = [row["item"] for row in runs.log() if row["is_done"]]
    assert sorted(done) == sorted(ITEMS)
    assert json.loads(desk.sisyphus("status", "--json"))["waiting"] == []
    assert len(desk.sisyphus("ralph", "log").splitlines()) == 1


# ---------------------------------------------------------------- audits


def test_an_audit_finds_an_item_and_the_next_one_finds_none(desk: Desk) -> None:
    """The auditor tries to do more than read."""
    plan(desk, "cart")
    commit(desk)
    user_settings(desk, allow=["Edit", "Write", "Bash"])
    writes = [write("cart.py", "bad = 1\n"), write("new.py", ""), shell(TOUCH)]
    audit = [use(read("cart.py")), *(use(tool) for tool in writes), say("- [ ] total")]

    with playing(desk, [*do("cart"), *audit, *do("total"), COMPLETE]) as runs:
        code, printed = runs.run(*ACCEPT, "--audit", "1")

    assert code == 0, printed
    assert runs.items == ["cart", "", "total", ""]
    assert {file.name for file in desk.project.glob("[!.]*")} == {
        "cart.py",
        "total.py",
        "fix_plan.md",
    }
    assert (desk.project / "cart.py").read_text() == "x = 1\n"
    assert "- [x] total" in (desk.project / "fix_plan.md").read_text()
    first, _ = (request for request in runs.firsts if "# Audit" in request.text)
    tools = {tool["name"] for tool in first.body["tools"]}
    assert tools - {"DeferredToolPlaceholder"} == {"Read", "Grep", "Glob"}
    assert "Nothing else to know" not in first.text
    assert "+- [x] cart" in first.text
    assert [row["decision"] for row in runs.log()] == ["continue", "audit", "continue", "audit"]


def test_an_auditor_does_not_get_what_the_client_remembers(desk: Desk) -> None:
    """The client keeps notes of its agents for each project. It may always write there."""
    plan(desk, "cart", "total")
    name = re.sub("[^A-Za-z0-9]", "-", str(desk.project))
    notes = write(str(desk.home / f".claude/projects/{name}/memory/MEMORY.md"), "- All is well.\n")
    turns = [use(notes), *do("cart"), *do("total"), COMPLETE]

    with playing(desk, turns) as runs:
        code, printed = runs.run(*ACCEPT, "--audit", "1")

    assert code == 0, printed
    assert ["All is well" in request.text for request in runs.firsts] == [False, True, False]


# ---------------------------------------------------------------- permissions


@pytest.mark.parametrize(
    ("mode", "allow", "shell_works"),
    [
        ("acceptEdits", [], False),
        ("acceptEdits", ["Bash(python3:*)"], True),
        ("auto", [], False),
        ("bypassPermissions", [], True),
        ("dontAsk", ["Edit", "Write"], False),
    ],
)
def test_permission_modes(desk: Desk, mode: str, allow: list[str], shell_works: bool) -> None:
    plan(desk, "cart")
    user_settings(desk, allow=allow)
    first, *rest = do("cart")
    with playing(desk, [use(shell(TOUCH)), first, *rest]) as runs:
        code, printed = runs.run("--permission-mode", mode)

    assert code == 0, printed
    assert (desk.project / "shell.txt").exists() == shell_works
    assert ("The client did not allow: `Bash" in printed) == (not shell_works)


def test_the_mode_of_the_users_settings_is_used(desk: Desk) -> None:
    plan(desk, "cart")
    user_settings(desk, defaultMode="acceptEdits")
    with playing(desk, do("cart")) as runs:
        code, printed = runs.run()

    assert code == 0, printed


def test_a_denied_edit_ends_the_run(desk: Desk) -> None:
    plan(desk, "cart", "total")

    with playing(desk, [use(write("cart.py", "x = 1\n"))], is_cut=True) as runs:
        code, printed = runs.run("--permission-mode", "dontAsk")

    assert code == 1
    assert "--permission-mode acceptEdits allows it" in printed
    assert len(runs.firsts) == 1
    assert len(runs.log()) == 1


def test_a_handoff_that_cannot_be_completed_ends_no_run(desk: Desk) -> None:
    """In this mode the client does not ask our hooks."""
    plan(desk, "cart")
    user_settings(desk, allow=["Edit", "Write"])
    document = ".claude/handoffs/*.md"
    first, *rest = do("cart")
    full = [use(*first.tools, tokens=870_000) for _ in range(2)]
    change = edit(document, "# Handoff", "# Handoff\n\nMind the VAT.")

    with playing(desk, [*full, use(read(document)), use(change), *rest]) as runs:
        code, printed = runs.run("--permission-mode", "dontAsk")

    assert code == 0, printed
    assert "The client did not allow: `Edit" in printed


@pytest.mark.parametrize(
    ("file", "words", "says"),
    [
        ("fix_plan.md", [], "--permission-mode"),
        ("fix_plan.md", ["--permission-mode", "plan"], "acceptEdits"),
        ("fix_plan.md", ["--permission-mode", "default"], "acceptEdits"),
        (".claude/fix_plan.md", ACCEPT, "Move it to fix_plan.md"),
    ],
)
def test_nothing_is_asked_of_a_model_that_could_not_work(
    desk: Desk, file: str, words: Sequence[str], says: str
) -> None:
    desk.write(file, "- [ ] cart\n")

    with playing(desk, []) as runs:
        code, printed = runs.run(*words)

    assert code != 0
    assert says in printed
    assert runs.model.requests == []


# ---------------------------------------------------------------- the context


def test_without_hooks_there_are_percentages_and_no_checkpoint(desk: Desk) -> None:
    plan(desk, "cart", "total")

    with playing(desk, [*do("cart", tokens=870_000), *do("total")], hooks=False) as runs:
        code, printed = runs.run(*ACCEPT)

    assert code == 0, printed
    assert [row["percent"] for row in runs.log()] == [87, 0]
    assert [row["decision"] for row in runs.log()] == ["continue", "completed"]
    assert not list((desk.project / ".claude" / "handoffs").glob("*.md"))


def test_tokens_of_subagents_count_and_their_context_does_not(desk: Desk) -> None:
    plan(desk, "cart")
    first, *rest = do("cart")
    inner = [use(read("fix_plan.md"), tokens=900_000), say("I see a cart.", tokens=50_000)]

    with playing(desk, [use(delegate("Look around.")), first, *rest], inner) as runs:
        code, printed = runs.run(*ACCEPT)

    assert code == 0, printed
    (row,) = runs.log()
    assert row["tokens"] == 900_000 + 50_000 + 4 * 100 + 6 * 10
    assert row["percent"] == 0
    assert "950 k" in printed


def test_a_client_that_compacts_goes_on_from_its_handoff(desk: Desk) -> None:
    plan(desk, "cart", "total")
    first, *rest = do("cart")

    with playing(desk, [use(*first.tools, tokens=990_000), *rest, *do("total")]) as runs:
        code, printed = runs.run(*ACCEPT)

    assert code == 0, printed
    resumes = [request.text.count(RESUME) for request in runs.model.requests]
    assert resumes == [0, 1, 1, 0, 0, 0]
    assert [row["percent"] for row in runs.log()] == [99, 0]


def test_each_level_is_told_once(desk: Desk) -> None:
    """The client may write an answer down after the hook of its tools."""
    plan(desk, "cart")
    first, *rest = do("cart")
    full = [use(*first.tools, tokens=10_000 * n) for n in (60, 61, 72, 73, 87, 88, 95, 96)]

    with playing(desk, [*full, *rest]) as runs:
        code, printed = runs.run(*ACCEPT)

    assert code == 0, printed
    marks = [m for r in runs.model.requests for m in re.findall(r"CCS_\w+\|L\d", r.last)]
    assert marks == ["CCS_WARNING|L1", "CCS_CHECKPOINT_TRIGGERED|L2", "CCS_CHECKPOINT_TRIGGERED|L3"]
    assert [row["percent"] for row in runs.log()] == [96]
    assert runs.state["context_checkpoint"]["level"] == "L3"
    assert not runs.state["context_checkpoint"]["active"]


# ---------------------------------------------------------------- the client


def test_a_client_that_is_replaced_between_two_items(desk: Desk) -> None:
    plan(desk, "cart", "total")

    def upgrade() -> None:
        program = desk.home / "bin" / "claude"
        program.unlink()
        program.write_text(f'#!/bin/sh\necho new >>~/new\nexec {CLAUDE_CODE.binary} "$@"\n')
        program.chmod(0o755)

    *first, _ = do("cart")
    turns = [*first, say("Done.", meanwhile=upgrade), *do("total")]
    with playing(desk, turns) as runs:
        code, printed = runs.run(*ACCEPT)

    assert code == 0, printed
    assert (desk.home / "new").exists()
    assert runs.items == ["cart", "total"]


def test_a_client_that_is_removed_between_two_items(desk: Desk) -> None:
    plan(desk, "cart", "total")
    *first, _ = do("cart")
    turns = [*first, say("Done.", meanwhile=(desk.home / "bin" / "claude").unlink)]

    with playing(desk, turns) as runs:
        code, printed = runs.run(*ACCEPT)
    assert code == 1
    assert "There is no `claude` on the PATH" in printed

    with playing(desk, do("total")) as runs:
        code, printed = runs.run("--resume")
    assert code == 0, printed
    assert "2 of 2 items are done" in printed


def test_no_run_is_started_in_a_session(desk: Desk) -> None:
    plan(desk, "cart")
    session = "11111111-2222-4333-8444-555555555555"

    with playing(desk, []) as runs:
        code, printed = runs.run(*ACCEPT, CLAUDECODE="1", CLAUDE_CODE_SESSION_ID=session)

    assert code == 1
    assert "Use another terminal" in printed
    assert runs.model.requests == []


def test_variables_of_a_session_do_not_reach_the_client(desk: Desk) -> None:
    plan(desk, "cart")
    names = (
        *("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_EFFORT"),
        *("CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_PROJECT_DIR"),
    )
    dump = "tr '\\0' '\\n' </proc/$PPID/environ >variables.txt"

    with playing(desk, [use(shell(dump)), *do("cart")]) as runs:
        free = ("--permission-mode", "bypassPermissions")
        code, printed = runs.run(*free, **dict.fromkeys(names, "a parent"))

    assert code == 0, printed
    variables = (desk.project / "variables.txt").read_text()
    assert "a parent" not in variables
    assert "CLAUDE_CODE_MAX_RETRIES=1" in variables


def test_ctrl_c_twice_ends_the_client_and_its_tool_at_once(desk: Desk) -> None:
    plan(desk, "cart")

    with playing(desk, [use(shell(SLEEP))], is_cut=True) as runs:
        process = runs.start("--permission-mode", "bypassPermissions")
        tool = _tool(desk)
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
        printed, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert "Ctrl-C again ends it now" in printed
    assert not is_alive(tool)

    with playing(desk, do("cart")) as runs:
        code, printed = runs.run("--resume")
    assert code == 0, printed
    assert RESUME in runs.firsts[0].text
    assert len(runs.log()) == 1


def test_a_client_that_is_killed_in_a_tool_call(desk: Desk) -> None:
    """The next one does the item. What the tool had started ends with its client."""
    plan(desk, "cart")

    with playing(desk, [use(shell(SLEEP)), *do("cart")]) as runs:
        process = runs.start("--permission-mode", "bypassPermissions")
        tool = _tool(desk)
        os.kill(_client(desk), signal.SIGKILL)
        printed, _ = process.communicate(timeout=SECONDS)

    assert process.returncode == 0, printed
    assert not is_alive(tool)
    assert runs.items == ["cart", "cart"]


# ---------------------------------------------------------------- promise, check, limits


def test_a_promise_and_a_check_without_a_plan(desk: Desk) -> None:
    desk.write("check.sh", "test -f cart.py || { echo no cart; exit 3; }\n")
    promise = say("<promise>DONE</promise>")
    words = ("--completion-promise", "DONE", "--verify", "sh check.sh", "--", "Build a cart.")

    with playing(desk, [promise, use(write("cart.py", "x = 1\n")), promise]) as runs:
        code, printed = runs.run(*ACCEPT, "--allow-dirty", *words)

    assert code == 0, printed
    assert ["no cart" in request.text for request in runs.firsts] == [False, True]
    assert (desk.project / "cart.py").exists()


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--max-usd", "1"], 3, "$1.00 are used up"),
        (["--max-tokens", "100_000"], 2, "--max-tokens"),
        (["--max-tokens", "100000"], 3, "100,000 tokens are used up"),
        (["--max-iterations", "1"], 3, "iteration 1 was the last"),
    ],
)
def test_limits(desk: Desk, words: Sequence[str], code: int, says: str) -> None:
    plan(desk, "cart", "total")

    with playing(desk, do("cart", tokens=400_000) if code == 3 else []) as runs:
        ended, printed = runs.run(*ACCEPT, *words)

    assert ended == code, printed
    assert says in printed


def test_a_key_that_is_refused_ends_the_run(desk: Desk) -> None:
    plan(desk, "cart")

    with playing(desk, [say("", status=401)] * 2) as runs:
        code, printed = runs.run(*ACCEPT)

    assert code == 1, printed
    assert "not logged in" in printed


# ---------------------------------------------------------------- what these tests need


def _client(desk: Desk) -> int:
    """Returns the process id of the client that runs at this desk."""
    files = (desk.home / ".claude" / "sessions").glob("*.json")
    return max((int(file.stem) for file in files), default=0)


def user_settings(desk: Desk, **permissions: Any) -> None:
    file = desk.home / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"permissions": permissions}))


def _tool(desk: Desk) -> int:
    """Waits until the tool of `SLEEP` runs; returns its process id."""
    file = desk.project / ".claude" / "tool.pid"
    end = time.monotonic() + SECONDS
    while not (file.exists() and file.read_text().endswith("\n")):
        assert time.monotonic() < end
        time.sleep(0.05)
    return int(file.read_text())


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


# ---------------------------------------------------------------- ticks that are checked


def test_a_night_of_liars(desk: Desk) -> None:
    """Two agents only tick, one check runs no test, and one is flaky."""
    desk.write("has.sh", 'test -f "$1" || { echo "no $1"; exit 1; }\n')
    desk.write("Makefile", "check:\n")
    desk.write("flaky.sh", "echo >>../runs; test $(wc -l <../runs) -gt 2\n")
    plan(
        desk,
        "cart (verify: `sh has.sh cart.py`)",
        "total (verify: `sh has.sh total.py`)",
        "stock (verify: `make check`)",
        "tax (verify: `sh flaky.sh`)",
        "receipt",
        "notes",
    )
    commit(desk)
    mend = use(write("Makefile", "check:\n\t@test -f stock.py\n"))
    turns = [
        *do("cart"),
        *lie("total"), say("It is right."), say("It is right."),
        *do("stock"), mend, say("Now it tests."),
        *do("tax"), say("It is right."),
        *lie("receipt"),
        *do("notes"),
    ]  # fmt: skip

    with playing(desk, turns) as runs:
        code, printed = runs.run(*ACCEPT, "--trust-checks")

    assert code == 4, printed
    assert runs.state["evidence"] == {
        "cart": "checked", "total": "failed", "stock": "checked", "tax": "checked",
        "receipt": "unchanged", "notes": "changed",
    }  # fmt: skip
    assert "no total.py" in runs.firsts[2].text
    assert "`make check` exited 0, but ran no test" in runs.firsts[5].text
    assert "Blocked: total: its check fails: sh has.sh total.py" in printed
    assert "Its check failed, and passed without a change: tax" in printed
    assert "Ticked without any change: receipt" in printed


def lie(item: str) -> list[Turn]:
    """The turns of a process that only ticks an item."""
    return [
        use(read("fix_plan.md")),
        use(edit("fix_plan.md", f"- [ ] {item}", f"- [x] {item}")),
        say("Implemented, all tests pass."),
    ]
