"""`sisyphus ralph run --client codex` with the real client, as its documentation says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from e2e import codex
from e2e.claude_code import COMMANDS, SECONDS, Json
from e2e.codex import Codex, call
from e2e.desk import CODEX, Desk
from e2e.install import CODEX as PACKAGE
from e2e.model import serving
from e2e.script import Script, Tool, Turn, edit, say, shell, use, write
from e2e.test_codex_edges import SERVER, configure
from e2e.test_run import COMPLETE, ITEMS, RESUME, Runs, commit, do, is_alive, plan

pytestmark = pytest.mark.parametrize("desk", [CODEX], indirect=True)

FREE = ("--permission-mode", "danger-full-access")
SANDBOX = ("--permission-mode", "workspace-write")
FIVE = ITEMS[:5]
LATER = FIVE[2:]
GIT = "git -c user.name=a -c user.email=a@b"
SLEEPS = use(shell("echo half >half.py; echo $PPID >~/client.pid; echo $$ >~/tool.pid; sleep 60"))
UNTRUSTED = "warning: Codex does not run the hooks of sisyphus"


@dataclass
class CodexRuns(Runs):
    """A desk after `sisyphus install`, with the client on the PATH."""

    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self, *words: str, **more: str) -> subprocess.Popen[str]:
        variables = {**self.desk.environment(), **more}
        variables["PATH"] = f"{self.desk.home / 'bin'}{os.pathsep}{variables['PATH']}"
        process = subprocess.Popen(
            [COMMANDS / "sisyphus", "ralph", "run", *words],
            cwd=self.desk.project,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.started.append(process)
        return process


@contextmanager
def playing(
    desk: Desk,
    turns: Sequence[Turn],
    *,
    trusts: bool = True,
    is_cut: bool = False,
    spell: Callable[[Tool], Json] | None = None,
) -> Iterator[CodexRuns]:
    """A desk whose model answers by these turns; all of them must be asked for. trusts: whether the
    user has trusted our hooks. is_cut: the client may ask once more before it is ended. spell: how
    it calls tools; None = with the folders of the desk."""
    program = desk.home / "bin" / "codex"
    program.parent.mkdir(exist_ok=True)
    if not program.exists():
        program.symlink_to(PACKAGE.binary)
    script = Script([*turns])
    with serving(script, spell or desk.spell) as model:
        codex.set_model(desk.home, model.url, Codex.model)
        if trusts:
            variables = {**desk.environment(), **desk.client.model_variables(model.url)}
            with codex.serving(desk.project, variables, Codex.model):
                pass
        runs = CodexRuns(desk, model)
        try:
            yield runs
        finally:  # after a test that failed, a client without a model would wait for ever
            for process in runs.started:
                process.terminate()
    is_over = not script.main if is_cut else script.is_over
    assert is_over, f"left: {script.main}; beyond: {script.surplus}"


def test_five_items_with_commits_and_an_audit(desk: Desk) -> None:
    plan(desk, *FIVE)
    commit(desk)
    turns = [turn for item in FIVE for turn in committed(item)]

    with playing(desk, [*turns, COMPLETE]) as runs:
        code, printed = runs.run("--client", "codex", *FREE, "--audit", "1")

    assert code == 0, printed
    assert runs.items == [*FIVE, ""]
    assert "audit 1 found nothing. 5 of 5 items are done" in printed
    assert "5 commits" in printed
    assert [row["decision"] for row in runs.log()] == ["continue"] * 5 + ["audit"]
    assert [row["is_done"] for row in runs.log()] == [True] * 6
    audit = runs.firsts[-1]
    assert "+- [x] cart" in audit.text
    assert "Nothing else to know" not in audit.text
    for request in runs.firsts[:-1]:
        assert request.text.count("## Instructions") == 1


def test_in_its_sandbox(desk: Desk) -> None:
    """There nobody can commit, and the auditor cannot write. What it finds is done."""
    plan(desk, *FIVE)
    commit(desk)
    work = [*committed("cart"), *(turn for item in FIVE[1:] for turn in do(item))]
    spoil = [use(shell("echo bad >cart.py; echo bad >new.py")), use(write("new.py", ""))]

    with playing(desk, [*work, *spoil, say("- [ ] tax"), *do("tax"), COMPLETE]) as runs:
        code, printed = runs.run("--client", "codex", *SANDBOX, "--audit", "1")

    assert code == 0, printed
    assert runs.items == [*FIVE, "", "tax", ""]
    assert "0 commits" in printed
    assert (desk.project / "cart.py").read_text() == "x = 1\n"
    assert {file.stem for file in desk.project.glob("*.py")} == {*FIVE, "tax"}


def test_an_auditor_does_not_get_what_the_client_remembers(desk: Desk) -> None:
    """The user has switched on that it remembers something of each session."""
    desk.write("fix_plan.md", "- [x] cart\n")
    desk.write("../home/.codex/memories/memory_summary.md", "All is well.\n")
    configure(desk, "features", memories=True)

    with playing(desk, [COMPLETE]) as runs:
        code, printed = runs.run("--client", "codex", *FREE, "--audit", "1")

    assert code == 0, printed
    assert ["All is well" in request.text for request in runs.firsts] == [False]


def test_nothing_keeps_the_agent_of_a_run_from_stopping(desk: Desk) -> None:
    plan(desk, "cart", "total")
    desk.write("PLAN.md", "- [ ] All of it\n")
    commit(desk)
    for words in ("boulder start PLAN.md", "boulder hold on", "enforce on"):
        desk.sisyphus(*words.split())

    with playing(desk, [*do("cart"), say("I have done all of it."), *do("total")]) as runs:
        code, printed = runs.run("--client", "codex", *FREE)

    assert code == 0, printed
    assert runs.items == ["cart", "total", "total"]


# ---------------------------------------------------------------- kills


@pytest.mark.parametrize("dead", [("runner", "client"), ("runner",), ("client",)], ids="-".join)
def test_a_kill_in_the_middle(desk: Desk, dead: tuple[str, ...]) -> None:
    """A client whose runner is dead works on; who resumes the run ends it."""
    plan(desk, *FIVE)
    commit(desk)
    before, rest = (
        [turn for item in part for turn in committed(item)] for part in (FIVE[:2], LATER)
    )
    has_runner = "runner" not in dead

    with playing(desk, [*before, SLEEPS, *(rest if has_runner else ())]) as runs:
        process = runs.start("--client", "codex", *FREE)
        tool, client = process_of(desk, "tool"), process_of(desk, "client")
        for name in dead:
            os.kill({"runner": process.pid, "client": client}[name], signal.SIGKILL)
        printed, _ = process.communicate(timeout=SECONDS)
    items, firsts = runs.items, runs.firsts
    if not has_runner:
        assert process.returncode == -signal.SIGKILL, printed
        with playing(desk, rest) as runs:
            code, printed = runs.run("--resume")
        assert code == 0, printed
        items, firsts = [*items, *runs.items], [*firsts, *runs.firsts]

    assert "5 of 5 items are done" in printed
    assert "5 commits" in printed
    assert items == ["cart", "total", "receipt", *LATER]
    is_handed_over = [RESUME in request.text for request in firsts]
    assert is_handed_over == [False, False, False, not has_runner, False, False]
    assert [row["item"] for row in runs.log() if row["is_done"]] == [*FIVE]
    assert json.loads(desk.sisyphus("status", "--json"))["waiting"] == []
    until_ended(client, tool)


@pytest.mark.parametrize("items", [["cart", "total"], ["cart"]], ids=len)
def test_a_kill_when_a_box_is_ticked(desk: Desk, items: list[str]) -> None:
    plan(desk, *items)

    def kill() -> None:
        runner.kill()

    *work, _ = do("cart")
    with playing(desk, [*work, say("Done.", meanwhile=kill)]) as runs:
        runner = runs.start("--client", "codex", *FREE)
        runner.communicate(timeout=SECONDS)
    assert runs.items == ["cart"]

    with playing(desk, [turn for item in items[1:] for turn in do(item)]) as runs:
        code, printed = runs.run("--resume")

    assert code == 0, printed
    assert runs.items == items[1:]
    assert not [request for request in runs.firsts if RESUME in request.text]
    assert [row["item"] for row in runs.log() if row["is_done"]] == items


def test_a_kill_in_an_audit(desk: Desk) -> None:
    plan(desk, "cart")

    def kill() -> None:
        runner.kill()

    with playing(desk, [*do("cart"), say("- [ ] total", meanwhile=kill)]) as runs:
        runner = runs.start("--client", "codex", *FREE, "--audit", "1")
        runner.communicate(timeout=SECONDS)
    assert runs.items == ["cart", ""]

    with playing(desk, [COMPLETE]) as runs:
        code, printed = runs.run("--resume")

    assert code == 0, printed
    assert runs.items == [""]
    assert [row["item"] for row in runs.log()] == ["cart", "audit 1"]


def test_ctrl_c_twice_ends_the_client_and_its_tool_at_once(desk: Desk) -> None:
    plan(desk, "cart")

    with playing(desk, [SLEEPS], is_cut=True) as runs:
        process = runs.start("--client", "codex", *FREE)
        tool, client = process_of(desk, "tool"), process_of(desk, "client")
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
        printed, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, printed
    until_ended(client, tool)

    with playing(desk, do("cart")) as runs:
        code, printed = runs.run("--resume")
    assert code == 0, printed
    assert RESUME in runs.firsts[0].text
    assert len(runs.log()) == 1


# ---------------------------------------------------------------- what fails


@pytest.mark.parametrize("status", [429, 500, 529])
def test_a_failure_that_passes_costs_no_iteration(desk: Desk, status: int) -> None:
    """It begins in the middle of an item, whose next client gets a handoff."""
    plan(desk, "cart", "total")
    desk.write("../home/.claude/.sisyphus/config.toml", "[runner]\nretry_seconds = 1\n")
    refused = [use(write("half.py", "")), *[say("", status=status)] * 2]

    with playing(desk, [*refused, *do("cart"), *do("total")]) as runs:
        code, printed = runs.run("--client", "codex", *FREE)

    assert code == 0, printed
    assert printed.count("Waiting until") == 2
    assert runs.items == ["cart", "cart", "cart", "total"]
    assert [RESUME in request.text for request in runs.firsts] == [False, True, True, False]
    assert [row["item"] for row in runs.log()] == ["cart", "total"]


def test_a_limit_is_waited_for_until_the_time_that_the_client_names(desk: Desk) -> None:
    plan(desk, "cart")
    ends_at = int(time.time()) + 3_600
    limit = {"type": "usage_limit_reached", "plan_type": "plus", "resets_at": ends_at}

    with playing(desk, [say("", status=429, refusal=limit)]) as runs:
        process = runs.start("--client", "codex", *FREE, TZ="UTC")
        assert process.stdout
        waiting = next(line for line in process.stdout if line.startswith("Waiting until"))
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=SECONDS)
    next_minute = time.gmtime(ends_at // 60 * 60 + 60)
    assert time.strftime("Waiting until %H:%M: the account's limit", next_minute) in waiting
    assert process.returncode == 130, printed

    with playing(desk, do("cart")) as runs:
        code, printed = runs.run("--resume")
    assert code == 0, printed
    assert [row["decision"] for row in runs.log()] == ["completed"]


def test_a_key_that_is_refused_ends_the_run(desk: Desk) -> None:
    plan(desk, "cart")

    with playing(desk, [say("", status=401)]) as runs:
        code, printed = runs.run("--client", "codex", *FREE)

    assert code == 1, printed
    assert "not logged in" in printed
    assert len(runs.log()) == 1


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--max-usd", "1"], 2, "--max-tokens"),
        (["--max-tokens", "100000"], 3, "100,000 tokens are used up"),
        (["--max-iterations", "1"], 3, "iteration 1 was the last"),
    ],
)
def test_limits(desk: Desk, words: Sequence[str], code: int, says: str) -> None:
    plan(desk, "cart", "total")

    with playing(desk, do("cart", tokens=400_000) if code == 3 else []) as runs:
        ended, printed = runs.run("--client", "codex", *FREE, *words)

    assert ended == code, printed
    assert says in printed


@pytest.mark.parametrize(("mode", "is_approved"), [(FREE, True), (SANDBOX, False)])
def test_a_tool_of_a_server_that_nobody_has_approved(
    desk: Desk, mode: Sequence[str], is_approved: bool
) -> None:
    plan(desk, "cart")
    server = desk.write("../home/server.py", SERVER)
    configure(desk, "mcp_servers.shop", command=sys.executable, args=[str(server)])
    look = use(call("look", "mcp__shop", path="fix_plan.md"))

    with playing(desk, [look, *do("cart")]) as runs:
        code, printed = runs.run("--client", "codex", *mode)

    assert code == 0, printed
    assert ("- [ ] cart" in runs.model.requests[1].last) == is_approved
    assert ("The client did not allow: `mcp__shop__look`" in printed) == (not is_approved)


# ---------------------------------------------------------------- the hooks


def test_a_full_context_is_handed_over(desk: Desk) -> None:
    plan(desk, "cart", "total")
    full = [
        use(write("half.py", ""), tokens=870_000),
        use(edit(".claude/handoffs/*.md", "# Handoff\n", "# Handoff\n\nMind the VAT.\n")),
        say("Handed over."),
    ]

    with playing(desk, [*full, *do("cart"), *do("total")]) as runs:
        code, printed = runs.run("--client", "codex", *SANDBOX)

    assert code == 0, printed
    assert UNTRUSTED not in printed
    assert [RESUME in request.text for request in runs.firsts] == [False, True, False]
    assert "CCS_CHECKPOINT_TRIGGERED|L2" in runs.model.requests[1].last
    assert [row["decision"] for row in runs.log()] == ["checkpoint", "continue", "completed"]
    assert [row["percent"] for row in runs.log()] == [87, 0, 0]


def test_without_trusted_hooks_there_is_a_warning_and_no_handoff(desk: Desk) -> None:
    plan(desk, "cart", "total")

    with playing(desk, [*do("cart", tokens=870_000), *do("total")], trusts=False) as runs:
        code, printed = runs.run("--client", "codex", *FREE)

    assert code == 0, printed
    assert printed.startswith(UNTRUSTED)
    assert "CCS_" not in "".join(request.text for request in runs.model.requests)
    assert [row["decision"] for row in runs.log()] == ["continue", "completed"]
    assert [row["percent"] for row in runs.log()] == [87, 0]
    assert not list((desk.project / ".claude" / "handoffs").glob("*.md"))


# ---------------------------------------------------------------- what these tests need


def committed(item: str) -> list[Turn]:
    """The turns of a process that does an item, and commits it."""
    *first, last = do(item)
    return [*first, use(shell(f"{GIT} add . && {GIT} commit -qm 'Add the {item}'")), last]


def process_of(desk: Desk, name: str) -> int:
    """Waits until `SLEEPS` runs; returns the id of the tool's process, or of the client's."""
    file = desk.home / f"{name}.pid"
    until(lambda: file.exists() and file.read_text().endswith("\n"), name)
    return int(file.read_text())


def until(condition: Callable[[], object], what: str) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, f"no {what}"
        time.sleep(0.05)


def until_ended(*processes: int) -> None:
    """Nobody asks at once how a process has ended whose parent is dead."""
    until(lambda: not any(map(is_alive, processes)), "end of the client and its tool")
