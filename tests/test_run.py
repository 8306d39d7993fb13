"""`sisyphus ralph run`: fresh contexts, one item each, with a client that plays a script."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import fake_client
import pytest
from browser import Browser
from patience import PATIENCE, wait_for
from world import SISYPHUS, Json, Reply, World

from sisyphus.ground import processes
from sisyphus.ground.store import open_store

Process = list[Any]
"""The steps of one process of the client (see `fake_client.py`)."""

PLAN = "# Shop\n\n- [ ] cart\n- [ ] total\n- [ ] receipt\n"
ACCEPT = ("--permission-mode", "acceptEdits")


class Runs:
    """A world with the client on its PATH."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.folder = world.root / "client"
        programs = fake_client.install(self.folder)
        world.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
        world.setenv("FAKE_CLIENT", str(self.folder))
        world.ours.mkdir(parents=True)
        (world.ours / "config.toml").write_text("[runner]\nretry_seconds = 0\n")

    def script(self, *processes: Process) -> None:
        (self.folder / "processes.json").write_text(json.dumps(processes))

    def run(self, *words: str, processes: Sequence[Process] = ()) -> Reply:
        """Runs until the end; the client plays one of `processes` after the other."""
        self.script(*processes)
        return self.world.cli("ralph", "run", *ACCEPT, *words)

    def resume(self, *words: str, processes: Sequence[Process] = ()) -> Reply:
        return self.run("--resume", *words, processes=processes)

    @property
    def calls(self) -> list[Json]:
        """What each process of the client got: `words` and `prompt`."""
        file = self.folder / "calls.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    @property
    def prompts(self) -> list[str]:
        return [call["prompt"] for call in self.calls]

    @property
    def items(self) -> list[str]:
        """The item that each process was told to do; "" = none."""
        names = ("cart", "total", "receipt")
        return [next((n for n in names if f"\n> {n}\n" in prompt), "") for prompt in self.prompts]

    @property
    def state(self) -> Json:
        """`ralph-state.json`."""
        file = self.world.project / ".claude" / "ralph-state.json"
        state: Json = json.loads(file.read_text())
        return state

    def git(self) -> None:
        """Makes the project a real repository with everything committed."""
        shutil.rmtree(self.world.project / ".git")
        self.commit("init", "-q")
        self.commit("add", "-A")
        self.commit("commit", "-qm", "first")

    def commit(self, *words: str) -> None:
        name = ("-c", "user.name=u", "-c", "user.email=u@example.org")
        subprocess.run(["git", *name, *words], cwd=self.world.project, check=True)

    def process(self, *words: str) -> subprocess.Popen[bytes]:
        """Starts a run in a process of its own."""
        return subprocess.Popen(
            [SISYPHUS, "ralph", "run", *ACCEPT, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def log(self, id: str = "") -> list[Json]:
        rows: list[Json] = json.loads(self.world.cli("ralph", "log", id or self.id, "--json").out)
        return rows

    @property
    def id(self) -> str:
        return str(self.state["run"])


@pytest.fixture
def runs(world: World) -> Runs:
    world.write("fix_plan.md", PLAN)
    return Runs(world)


def done(item: str, said: str = "Done.") -> Process:
    """A process that does an item."""
    return [["write", [f"{item}.py", f"{item} = 1\n"]], ["tick", item], ["say", said]]


ALL = [done("cart"), done("total"), done("receipt")]
NOT_PROVEN = 5
"""The exit code of a run in which a box was ticked without any change."""

PROMISE = ("--completion-promise", "DONE")
KEEP = "<promise>DONE</promise>"
LIMIT = {"status": 429, "error": "rate_limit", "text": "API Error: Request rejected (429)"}
LOGIN = {"status": 401, "error": "authentication_failed", "text": "Invalid API key"}


def test_each_item_gets_a_fresh_client(runs: Runs) -> None:
    answer = runs.run(processes=ALL)

    assert answer.code == 0, answer
    sessions = [call["words"][call["words"].index("--session-id") + 1] for call in runs.calls]
    assert len(set(sessions)) == 3
    assert runs.items == ["cart", "total", "receipt"]
    assert runs.state["status"] == "completed"
    assert runs.state["completed_items"] == ["cart", "total", "receipt"]
    assert [row["iteration"] for row in runs.log()] == [1, 2, 3]
    assert "(3/3)" in answer.out
    assert "It is complete" in answer.out
    shown = (runs.world.project / ".claude" / "PROMPT.md").read_text()
    assert shown.startswith(runs.prompts[-1].rstrip())


def test_the_items_of_the_users_checkpoint_come_first(runs: Runs) -> None:
    (runs.world.project / "fix_plan.md").unlink()
    plan = "# Shop\n\n## Wave 1\n\n- [ ] cart\n\n## Wave 2\n\n- [ ] total\n"
    runs.world.write("PLAN.md", plan)
    runs.world.start()
    assert runs.world.cli("boulder", "checkpoint", "--wave", "2", "total first").code == 0

    half, whole = plan.replace("[ ] total", "[x] total"), plan.replace("[ ]", "[x]")
    first: Process = [["write", ["PLAN.md", half]], ["say", "Done."]]
    second: Process = [["write", ["PLAN.md", whole]], ["say", "Done."]]
    runs.run(processes=[first, second])

    assert runs.items == ["total", "cart"]


def test_items_that_the_plan_marks_as_blocked_count_everywhere(runs: Runs) -> None:
    runs.world.write("fix_plan.md", "- [ ] cart\n- [!] ship\n")
    answer = runs.run(processes=[done("cart")])

    assert answer.code == 4, answer
    assert "(1/2)" in answer.out
    assert "1 of 2 items is done." in answer.out
    (row,) = json.loads(runs.world.cli("ralph", "list", "--json").out)
    assert row["items"] == {"completed": 1, "total": 2}


def test_an_item_that_is_not_done_is_given_again(runs: Runs) -> None:
    half = [["write", ["cart.py", "half"]], ["say", "Half."]]

    assert runs.run(processes=[half, *ALL]).code == 0
    assert runs.items == ["cart", "cart", "total", "receipt"]
    assert "Half." in runs.prompts[1]


# ---------------------------------------------------------------- what ends it


@pytest.mark.parametrize(
    ("options", "plan", "processes", "code", "status", "processes_used"),
    [
        (PROMISE, "", [[["say", "Not yet."]], [["say", KEEP]]], 0, "completed", 2),
        (PROMISE, "- [x] cart\n", [[["say", KEEP]]], 0, "completed", 1),
        (
            ("--verify", "test -f ok"),
            "",
            [[["say", "x"]], [["write", ["ok", ""]]]],
            0,
            "completed",
            2,
        ),
        (("--max-iterations", "2"), PLAN, [[["say", "x"]]] * 3, 3, "max_iterations", 2),
        (("--max-tokens", "1000"), PLAN, [[["say", "x"]]] * 3, 3, "limit", 1),
        (("--max-usd", "0.01"), PLAN, [[["fill", 20_000]]] * 3, 3, "limit", 1),
        ((), PLAN, [[["say", "x"]]] * 9, 3, "circuit_breaker", 5),
        ((), PLAN, [[["fail", LOGIN]]], 1, "fatal_error", 1),
        (PROMISE, "", [[["say", "<blocked>a key</blocked>"]]], 4, "blocked", 1),
    ],
)
def test_what_ends_a_run(
    runs: Runs,
    options: tuple[str, ...],
    plan: str,
    processes: list[Process],
    code: int,
    status: str,
    processes_used: int,
) -> None:
    file = runs.world.write("fix_plan.md", plan)
    if not plan:
        file.unlink()

    answer = runs.run(*options, "--", "Build the shop", processes=processes)

    assert answer.code == code, answer
    assert runs.state["status"] == status
    assert len(runs.calls) == processes_used


def test_a_promise_does_not_count_while_items_are_open(runs: Runs) -> None:
    early = [*done("cart"), ["say", KEEP]]

    answer = runs.run(*PROMISE, processes=[early, done("total"), [*done("receipt"), ["say", KEEP]]])

    assert answer.code == 0
    assert "2 items of fix_plan.md are open" in runs.prompts[1]


def test_a_failing_check_is_the_next_iterations_work(runs: Runs) -> None:
    check = ("--verify", "test -f ok || { echo no ok file; exit 3; }")
    mend = [["write", ["ok", ""]], ["say", "Mended."]]

    assert runs.run(*check, processes=[*ALL, mend]).code == 0
    assert "no ok file" in runs.prompts[3]
    assert "exited 3" in runs.prompts[3]


def test_the_report_says_what_was_checked_and_what_is_left_to_do(runs: Runs) -> None:
    mend: Process = [["write", ["ok", ""]], ["say", "Mended."]]

    answer = runs.run("--verify", "test -f ok", processes=[*ALL, mend])

    assert answer.code == 0, answer
    first = next(line for line in answer.out.splitlines() if line.startswith("**It is complete**"))
    assert "all items are done, test -f ok passed." in first
    assert first.endswith("Look at 1 point below, review 4 changed files and commit.")
    assert "(3/3), but the check exited 1\n" in answer.out
    assert "| 3 | receipt | done, changed, but the check exited 1 |" in answer.out
    assert "| 4 | make the check pass | done |" in answer.out


def test_the_report_says_that_the_check_has_not_run(runs: Runs) -> None:
    answer = runs.run("--verify", "test -f ok", "--max-iterations", "1", processes=[done("cart")])

    assert "`test -f ok` has not passed: it runs when nothing else is missing." in answer.out


def test_a_blocked_item_is_left_and_told(runs: Runs) -> None:
    blocked = [["say", "<blocked>the key of the bank</blocked>"]]

    answer = runs.run(processes=[done("cart"), blocked, done("receipt")])

    assert answer.code == 4
    assert runs.items == ["cart", "total", "receipt"]
    assert runs.state["status"] == "blocked"
    assert "the key of the bank" in answer.out
    waiting = runs.world.cli("status", "--json").json["waiting"]
    assert ["the key of the bank" in each["text"] for each in waiting] == [True]

    again = runs.resume(processes=[done("total")])
    assert again.code == 0
    assert runs.items[3:] == ["total"]


def test_a_line_that_looks_like_an_item_is_one(runs: Runs) -> None:
    file = runs.world.write("fix_plan.md", "- [ ] cart\n- [  ] total\n")
    mended: Process = [["write", ["fix_plan.md", "- [x] cart\n- [x] total\n"]], ["say", "Done."]]

    answer = runs.run(processes=[done("cart"), mended])

    assert answer.code == NOT_PROVEN, answer
    assert (
        "Make a box `- [ ]` of this line of the list, do it, and tick it: - [ ] total"
        in (runs.prompts[1])
    )
    assert "2 of 2 items are done" in answer.out
    assert file.read_text().count("[x]") == 2


def test_an_item_written_during_the_completion_check_is_told_of(runs: Runs) -> None:
    file = runs.world.write("fix_plan.md", "- [x] cart\n- [x] total\n")
    later = f"echo '- [ ] receipt' >> {file}; touch ready; exit 1"
    check = runs.world.write(
        "check.sh", f"test -e receipt.py && exit 0; test -e ready && exit 1; {later}"
    )

    answer = runs.run("--verify", f"sh {check}", processes=[done("receipt")])

    assert answer.code == 0, answer
    assert runs.items == ["receipt"]


def test_items_that_vanish_are_named(runs: Runs) -> None:
    rewrite = [["write", ["fix_plan.md", "- [x] cart\n- [x] total\n"]], ["say", "Tidied."]]

    answer = runs.run(processes=[rewrite])

    assert answer.code == NOT_PROVEN
    look, _, done_items = answer.out.partition("## Items done")
    assert "receipt" in look
    assert "receipt" not in done_items.partition("##")[0]


def test_a_plan_that_is_deleted_ends_the_run(runs: Runs) -> None:
    answer = runs.run(processes=[[["run", "rm fix_plan.md"], ["say", "Oops."]]])

    assert answer.code == 1
    assert "fix_plan.md cannot be used any more" in answer.out


def test_a_plan_that_is_done_needs_no_client(runs: Runs) -> None:
    runs.world.write("fix_plan.md", PLAN.replace("[ ]", "[x]"))

    answer = runs.run("--verify", "test -f ok", processes=[[["write", ["ok", ""]]]])
    assert answer.code == 0, "the check failed, so a client mended that"
    assert len(runs.calls) == 1

    assert runs.run("--verify", "test -f ok").code == 0
    assert len(runs.calls) == 1
    assert "Items done" not in answer.out


def test_a_file_of_the_check_that_changed_is_named(runs: Runs) -> None:
    runs.world.write("check.sh", "exit 1\n")
    easy = [*done("receipt"), ["write", ["check.sh", "exit 0\n"]]]

    answer = runs.run("--verify", "sh check.sh", processes=[*ALL[:2], easy])

    assert answer.code == 0
    assert "File of the check that changed: `check.sh`" in answer.out


# ---------------------------------------------------------------- failures


def test_what_passes_is_waited_for_and_counts_for_nothing(runs: Runs) -> None:
    limit = {**LIMIT, "resets_at": time.time() + 0.2}
    overload = {"status": 529, "error": "server_error", "text": "API Error: 529 Overloaded"}
    network = {"error": "server_error", "text": "API Error: Connection refused (ECONNREFUSED)"}

    answer = runs.run(
        processes=[
            done("cart"),
            [["fail", limit]],
            [["fail", overload]],
            [["fail", network]],
            *ALL[1:],
        ]
    )

    assert answer.code == 0, answer
    assert answer.out.count("Waiting until") == 3
    assert runs.items == ["cart", *["total"] * 4, "receipt"]
    assert [row["iteration"] for row in runs.log()] == [1, 2, 3]


@pytest.mark.parametrize(
    ("process", "said"),
    [
        ([["print", "Segmentation fault\n"], ["exit", 139]], "exit"),
        ([["exit", 0]], ""),
        ([["print", '{"type": "result", "is_error": tru'], ["exit", 1]], ""),
        ([["print", "\x00\xff[[[[{}}"], ["say", "x"]], ""),
        ([["run", "kill -9 $PPID"]], ""),
    ],
)
def test_a_client_that_misbehaves_costs_an_iteration(
    runs: Runs, process: Process, said: str
) -> None:
    answer = runs.run(processes=[process, *ALL])

    assert answer.code == 0, answer
    assert runs.items == ["cart", "cart", "total", "receipt"]
    assert said in runs.log()[0]["why"]


def test_a_tool_does_not_outlive_its_client(runs: Runs) -> None:
    """The client starts its tools in process groups of their own."""
    start = (
        f"{sys.executable} -c 'import os, time; os.setpgid(0, 0); time.sleep(60)' >/dev/null 2>&1 &"
    )
    left = [["run", f"{start} echo $! > tool"], *done("cart")]

    assert runs.run("--max-iterations", "1", processes=[left]).code == 3

    assert not processes.key(int((runs.world.project / "tool").read_text()))


def test_a_silent_client_is_ended(runs: Runs) -> None:
    (runs.world.ours / "config.toml").write_text("[runner]\nsilence_seconds = 1\n")

    answer = runs.run(processes=[[["say", "x"], ["sleep", 60]], *ALL])

    assert answer.code == 0
    assert runs.log()[0]["why"] == "the client reported nothing for 1 s"


def test_what_stays_in_the_background_does_not_hold_up_a_run(runs: Runs) -> None:
    """The client reports its result, and then waits for a server of its agent."""
    (runs.world.ours / "config.toml").write_text("[runner]\nbackground_seconds = 0\n")
    slow = [[*each, ["result", None], ["sleep", 60]] for each in ALL]

    answer = runs.run(processes=slow)

    assert answer.code == 0, answer
    assert runs.items == ["cart", "total", "receipt"]


def test_another_program_can_be_the_client(runs: Runs) -> None:
    tick = "sed -i.old 's/- \\[ \\]/- [x]/' fix_plan.md && rm fix_plan.md.old"
    command = f"cat > prompt.txt; {tick}; echo did all"

    answer = runs.run("--client-command", command)

    assert answer.code == 0, answer
    assert "> cart" in (runs.world.project / "prompt.txt").read_text()
    assert "did all" in (runs.world.project / ".claude" / "progress.txt").read_text()


# ---------------------------------------------------------------- permissions


def test_a_denied_edit_ends_the_run_at_once(runs: Runs) -> None:
    path = str(runs.world.project / ".claude" / "settings.json")

    answer = runs.run(processes=[[["deny", ["Write", path]], ["sleep", 30], ["tick", "cart"]]])

    assert answer.code == 1
    assert "did not let the agent edit .claude/settings.json" in answer.out
    assert "--permission-mode bypassPermissions" in answer.out
    assert len(runs.calls) == 1


@pytest.mark.parametrize(
    ("mode", "path", "allows"),
    [
        ("dontAsk", "a.py", "acceptEdits"),
        ("dontAsk", ".git/hooks/pre-commit", "bypassPermissions"),
        ("acceptEdits", ".claude/x.md", "bypassPermissions"),
        ("bypassPermissions", "a.py", ""),
    ],
)
def test_a_denied_edit_names_the_mode_that_allows_it(
    runs: Runs, mode: str, path: str, allows: str
) -> None:
    denied = [["deny", ["Edit", str(runs.world.project / path)]], ["sleep", 30]]

    answer = runs.run("--permission-mode", mode, processes=[denied])

    assert answer.code == 1
    assert (f"--permission-mode {allows} allows it" in answer.out) is bool(allows)


def test_other_denials_are_reported_and_the_run_goes_on(runs: Runs) -> None:
    tests = [["deny", ["Bash", "pytest -q"]], ["deny", ["Write", "/etc/x"]], *done("cart")]

    answer = runs.run(processes=[tests, *ALL[1:]])

    assert answer.code == 0
    assert "pytest -q" in answer.out.partition("## Items done")[0]


@pytest.mark.parametrize(
    ("words", "files", "problem"),
    [
        ([], {}, "permission mode"),
        (["--permission-mode", "plan"], {}, "does not fit a run"),
        ([*ACCEPT], {"fix_plan.md": ""}, "cannot be used"),
        ([*ACCEPT], {"fix_plan.md": "# Only words\n"}, "cannot be used"),
        ([*ACCEPT], {"fix_plan.md": None}, "There is nothing to do"),
        ([*ACCEPT, "--", "Build it"], {"fix_plan.md": None}, "Nothing would end the run"),
        (
            [*ACCEPT],
            {"fix_plan.md": None, ".claude/fix_plan.md": PLAN},
            "refuses to edit .claude/fix_plan.md",
        ),
        ([*ACCEPT, "--max-usd", "a"], {}, "--max-usd"),
        ([*ACCEPT, "--audit", "1", "--client-command", "cat"], {}, "kept from writing"),
        (["--resume"], {}, "No run has begun"),
        ([*ACCEPT, "--client-command", " "], {}, "is empty"),
        (["--client", "opencode"], {}, "could not tell a limit from work. Give claude-code"),
        (["--client", "foo"], {}, "There is no client foo. Give claude-code, codex or copilot."),
        (["--client", "claude"], {}, "There is no client claude. Do you mean claude-code?"),
        (["--client", "codex,cpilot"], {}, "no client cpilot. Do you mean copilot?"),
        (["--client", "codex,opencode"], {}, "could not tell a limit from work. Give claude-code"),
    ],
)
def test_what_keeps_a_run_from_starting(
    runs: Runs, words: list[str], files: dict[str, str | None], problem: str
) -> None:
    for name, text in files.items():
        if text is None:
            (runs.world.project / name).unlink()
        else:
            runs.world.write(name, text)

    answer = runs.world.cli("ralph", "run", *words)

    assert answer.code in (1, 2)
    assert problem in answer.err
    assert not runs.calls


def test_a_client_that_is_logged_out_is_found_before(runs: Runs) -> None:
    (runs.folder / "logged-out").touch()

    answer = runs.run(processes=ALL)

    assert answer.code == 1
    assert "logged in" in answer.err
    assert not runs.calls


def test_without_a_client(runs: Runs) -> None:
    (runs.folder / "bin" / "claude").unlink()

    assert "There is no `claude` on the PATH" in runs.run().err


def test_the_model_cannot_start_a_run(runs: Runs) -> None:
    runs.world.setenv("CLAUDE_CODE_SESSION_ID", "s1")

    answer = runs.run(processes=ALL)

    assert answer.code == 1
    assert "A session of an agent cannot change this" in answer.err


# ---------------------------------------------------------------- the work tree


def test_uncommitted_changes_are_refused(runs: Runs) -> None:
    runs.git()
    runs.world.write("draft.py", "x\n")
    runs.world.write("fix_plan.md.bak", "x\n")

    answer = runs.run(processes=ALL)
    assert answer.code == 1
    assert "draft.py" in answer.err
    assert "fix_plan.md.bak" in answer.err
    assert "--allow-dirty" in answer.err

    assert runs.run("--allow-dirty", processes=ALL).code == 0


def test_what_a_run_leaves_is_no_dirt_for_the_next_one(runs: Runs) -> None:
    runs.git()
    one = [
        [
            "run",
            "git add fix_plan.md '*.py' && git -c user.name=u -c user.email=u@e.org commit -qm x",
        ]
    ]

    first = runs.run("--max-iterations", "1", processes=[[*done("cart"), *one]])
    assert first.code == 3
    assert "1 commit" in first.out

    assert runs.run(processes=ALL[1:]).code == 0
    assert "Iteration 3" not in (runs.world.project / ".claude" / "progress.txt").read_text()


def test_files_of_the_user_are_left_alone(runs: Runs) -> None:
    for name in ("PROMPT.md", "progress.txt", "ralph-state.json"):
        runs.world.write(f".claude/{name}", "mine\n")

    assert runs.run(processes=ALL).code == 0

    for name in ("PROMPT.md", "progress.txt", "ralph-state.json"):
        assert (runs.world.project / ".claude" / name).read_text() == "mine\n"
    assert list(runs.world.ours.rglob("PROMPT.md"))


def test_without_git(runs: Runs) -> None:
    shutil.rmtree(runs.world.project / ".git")

    assert runs.run("--project", str(runs.world.project), processes=ALL).code == 0
    assert runs.state["status"] == "completed"


@pytest.mark.parametrize("shape", ["file", "link", "read-only"])
def test_where_nothing_can_be_written_into_the_projects_folder(runs: Runs, shape: str) -> None:
    folder = runs.world.project / ".claude"
    other = runs.world.root / "other"
    other.mkdir()
    if shape == "file":
        folder.write_text("mine\n")
    elif shape == "link":
        folder.symlink_to(other)
    else:
        folder.mkdir(0o500)
        if os.access(folder, os.W_OK):
            pytest.skip("root writes everywhere")

    assert runs.run(processes=ALL).code == 0

    (state,) = runs.world.ours.rglob("ralph-state.json")
    assert json.loads(state.read_text())["status"] == "completed"
    assert not list(other.iterdir())
    assert not runs.world.log()


def test_an_audit_whose_findings_cannot_be_added_ends_the_run(runs: Runs) -> None:
    plan = "cp fix_plan.md real.md && ln -sf real.md fix_plan.md"
    found = [["run", plan], ["say", "- [ ] the total has no test"]]

    answer = runs.run("--audit", "1", processes=[*ALL, found])

    assert answer.code == 1
    assert "fix_plan.md cannot be written" in answer.out
    assert runs.state["status"] == "fatal_error"


# ---------------------------------------------------------------- checkpoints


def test_a_session_that_is_full_hands_its_item_over(runs: Runs) -> None:
    full = [["write", ["cart.py", "cart = 1\n"]], ["checkpoint", 87], ["say", "Handed over."]]

    answer = runs.run(processes=[full, *ALL])

    assert answer.code == 0, answer
    assert runs.items == ["cart", "cart", "total", "receipt"]
    assert "CONTEXT CHECKPOINT RESUME" in runs.prompts[1]
    assert "CONTEXT CHECKPOINT RESUME" not in runs.prompts[2]
    assert runs.log()[0]["decision"] == "checkpoint"
    state = runs.state["context_checkpoint"]
    assert (state["level"], state["percent_at_checkpoint"], state["active"]) == ("L2", 87, False)
    assert state["files_in_progress"][0]["path"] == "cart.py"
    assert state["handoff_file"].startswith(".claude/handoffs/")
    replies = (runs.folder / "replies.jsonl").read_text()
    assert "CCS_CHECKPOINT_TRIGGERED|L2|87|" in replies


def test_the_state_has_what_the_agent_said_before_its_checkpoint(runs: Runs) -> None:
    said = "The cart is parsed. Now I'll write its total."
    full = [["write", ["cart.py", "cart = 1\n"]], ["checkpoint", [87, said]], ["say", "Full."]]

    assert runs.run(processes=[full, *ALL]).code == 0

    state = runs.state["context_checkpoint"]
    assert state["progress_on_item"] == said
    assert state["resume_summary"] == f"Go on with: cart. The agent said last: {said}"
    assert "- **Said last**: “The cart is parsed. Now I'll write its total.”" in runs.prompts[1]


def test_the_state_has_the_checkpoint_while_the_iteration_ends(runs: Runs) -> None:
    """A program that waits for it beside the client sees it at its Stop."""
    state, seen = runs.world.project / ".claude" / "ralph-state.json", runs.folder / "seen.json"
    wait = (
        f"for i in $(seq 100); do grep -q L2 {state} && break; sleep 0.1; done; cp {state} {seen}"
    )
    full = [["checkpoint", 87], ["run", wait], ["stop", "Handed over."], ["say", "Handed over."]]

    assert runs.run(processes=[full, *ALL]).code == 0

    found = json.loads(seen.read_text())
    checkpoint = found["context_checkpoint"]
    assert (found["status"], found["iteration"]) == ("running", 1)
    assert (checkpoint["level"], checkpoint["active"]) == ("L2", True)
    assert checkpoint["current_todo_item"] == "cart"
    assert checkpoint["handoff_file"].startswith(".claude/handoffs/")
    assert not runs.state["context_checkpoint"]["active"]


def test_a_checkpoint_survives_a_limit_of_the_account(runs: Runs) -> None:
    full = [["write", ["cart.py", "cart = 1\n"]], ["checkpoint", 87], ["say", "Handed over."]]

    assert runs.run(processes=[full, [["fail", LIMIT]], *ALL]).code == 0

    assert ["RESUME" in prompt for prompt in runs.prompts] == [False, True, True, False, False]


def test_a_handoff_that_the_user_asked_for_is_taken_up(runs: Runs) -> None:
    asked = [["checkpoint", 30], ["run", f"{SISYPHUS} handoff"], ["say", "Half."]]

    assert runs.run(processes=[asked, *ALL]).code == 0
    assert ["RESUME" in prompt for prompt in runs.prompts] == [False, True, False, False]


def test_checkpoints_cannot_carry_a_run_past_its_limits(runs: Runs) -> None:
    full = [["checkpoint", 87], ["say", "Handed over."]]

    answer = runs.run("--max-iterations", "2", processes=[full] * 5)

    assert answer.code == 3
    assert len(runs.calls) == 2


def test_no_hook_blocks_the_stop_of_a_runs_session(runs: Runs) -> None:
    runs.world.cli("enforce", "on")
    stopping = [["checkpoint", 20], *done("cart")[:2], ["stop", "All work is complete."]]

    assert runs.run(processes=[stopping, *ALL[1:]]).code == 0

    replies = [
        json.loads(line) for line in (runs.folder / "replies.jsonl").read_text().splitlines()
    ]
    assert [each["reply"] for each in replies if each["event"] == "stop"] == [""]


# ---------------------------------------------------------------- audits


def test_an_audit_that_finds_something_adds_items(runs: Runs) -> None:
    found = [
        ["say", "I look at it."],
        ["say", "- [ ] the total has no test\n- [ ] the total has no test"],
    ]
    mend = [["write", ["test_total.py", "x"]], ["tick", "the total has no test"], ["say", "Done."]]
    clean = [["say", "<audit>complete</audit>"]]

    answer = runs.run("--audit", "1", processes=[*ALL, found, mend, clean])

    assert answer.code == 0, answer
    plan = (runs.world.project / "fix_plan.md").read_text()
    assert "- [x] the total has no test" in plan
    assert plan.count("the total has no test") == 1
    words = [" ".join(call["words"]) for call in runs.calls]
    assert ["--tools" in each for each in words] == [False, False, False, True, False, True]
    assert "Done." not in runs.prompts[3]
    rows = [(row["iteration"], row["decision"], row["is_done"]) for row in runs.log()]
    assert rows[3:] == [(4, "audit", False), (5, "continue", True), (6, "audit", True)]
    assert "found 1 thing" in runs.log()[3]["why"]
    assert "· audit" not in answer.out.partition("## Items done")[2]


def test_audits_end_after_five_rounds(runs: Runs) -> None:
    answer = runs.run("--audit", "1", processes=[*ALL, *[[["say", "I am not sure."]]] * 9])

    assert answer.code == 3
    assert len(runs.calls) == 3 + 5
    assert "after 5 audits" in answer.out


# ---------------------------------------------------------------- from another terminal


def test_a_cancel_ends_the_client_at_once(runs: Runs) -> None:
    runs.script([["write", ["started", ""]], ["sleep", 60]])
    process = runs.process()
    wait_for((runs.world.project / "started").exists)

    assert "was cancelled" in runs.world.cli("ralph", "cancel", runs.id).out

    assert process.wait(PATIENCE) == 130
    assert runs.world.cli("ralph", "list").out.strip() == "No loop is running."


def test_a_pause_lets_the_iteration_finish(runs: Runs) -> None:
    runs.script(
        [["write", ["started", ""]], ["run", "while ! test -f go; do sleep 0.02; done"], *ALL[0]]
    )
    process = runs.process()
    wait_for((runs.world.project / "started").exists)
    runs.world.cli("ralph", "pause", runs.id)
    runs.world.write("go")

    assert process.wait(PATIENCE) == 130
    assert runs.state["completed_items"] == ["cart"]
    assert runs.resume(processes=ALL[1:]).code == 0


def test_only_one_run_at_a_time_in_a_project(runs: Runs) -> None:
    runs.script([["write", ["started", ""]], ["sleep", 60]])
    process = runs.process()
    wait_for((runs.world.project / "started").exists)

    for words in ((), ("--resume",)):
        answer = runs.world.cli("ralph", "run", *ACCEPT, *words)
        assert answer.code == 1
        assert "is at work in this project" in answer.err

    runs.world.cli("ralph", "cancel", runs.id)
    assert process.wait(PATIENCE) == 130


def test_ctrl_c_ends_the_run_after_the_iteration(runs: Runs) -> None:
    answer = runs.run(processes=[[["signal", "SIGINT"], *ALL[0]], *ALL[1:]])

    assert answer.code == 130
    assert answer.out.count("ends after this iteration") == 1
    assert runs.state["completed_items"] == ["cart"]
    assert runs.resume(processes=ALL[1:]).code == 0


@pytest.mark.parametrize("names", [["SIGINT", "SIGINT"], ["SIGTERM"]])
def test_two_ctrl_c_end_the_client_and_the_iteration_is_made_again(
    runs: Runs, names: list[str]
) -> None:
    steps = [step for name in names for step in (["signal", name], ["sleep", 0.3])]
    answer = runs.run(processes=[[["say", "x"], *steps, ["sleep", 60]]])

    assert answer.code == 130
    assert runs.resume(processes=ALL).code == 0
    assert runs.items == ["cart", "cart", "total", "receipt"]


@pytest.mark.parametrize("names", [["INT", "INT"], ["TERM"]])
def test_the_check_is_ended_too(runs: Runs, names: list[str]) -> None:
    signals = "; ".join(f"kill -{name} $PPID; sleep 0.1" for name in names)
    began = time.monotonic()

    answer = runs.run("--verify", f"{signals}; sleep 60", processes=ALL)

    assert answer.code == 130
    assert time.monotonic() - began < 30
    assert runs.resume("--verify", "true", processes=ALL).code == 0
    assert [row["iteration"] for row in runs.log()] == [1, 2, 3]


def test_a_cancel_ends_the_client_of_a_runner_that_was_killed(runs: Runs) -> None:
    runs.script([["run", "echo $PPID > client"], ["signal", "SIGKILL"], ["sleep", 60]])
    assert runs.process().wait(PATIENCE) == -9
    client = int((runs.world.project / "client").read_text())
    assert processes.key(client)

    assert runs.world.cli("ralph", "cancel", runs.id).code == 0

    assert not processes.key(client)


def test_a_store_that_breaks_stops_the_run_in_one_line(runs: Runs) -> None:
    """It is set aside, so the next run is a new one. The plan has what was done."""
    spoil = "cd ~/.claude/.sisyphus && for f in sisyphus.db*; do echo spoiled > $f; done"

    answer = runs.run(processes=[done("cart"), [*done("total"), ["run", spoil]], *ALL[2:]])

    assert answer.code == 1
    assert answer.err.startswith("error: The run had to stop, because nothing can be noted: ")
    assert answer.err.count("\n") == 1
    assert runs.run(processes=ALL[2:]).code == 0


def test_a_run_whose_runner_was_killed_goes_on(runs: Runs) -> None:
    """The client lives on; whoever resumes the run ends it, and makes the iteration again."""
    cut_off = [["write", ["cart.py", "cart = 1\n"]], ["checkpoint", 50], ["signal", "SIGKILL"]]
    runs.script(done("cart"), [*cut_off, ["sleep", 60]])
    process = runs.process()
    assert process.wait(PATIENCE) == -9

    (listed,) = json.loads(runs.world.cli("ralph", "list", "--json").out)
    assert listed["kind"] == "run"
    waiting = runs.world.cli("status", "--json").json["waiting"]
    assert ["ralph run --resume" in each["answer"] for each in waiting] == [True]

    answer = runs.resume(processes=ALL[1:])

    assert answer.code == 0, answer
    assert runs.items == ["cart", "total", "total", "receipt"]
    assert "CONTEXT CHECKPOINT RESUME" in runs.prompts[2]
    assert [row["iteration"] for row in runs.log()] == [1, 2, 3]


def test_what_was_done_when_a_run_was_cut_off_is_not_done_twice(runs: Runs) -> None:
    cut = [*done("receipt"), ["signal", "SIGINT"], ["sleep", 0.3], ["signal", "SIGINT"]]
    assert runs.run(processes=[*ALL[:2], [*cut, ["sleep", 60]]]).code == 130

    answer = runs.resume(processes=ALL)

    assert answer.code == 0
    assert len(runs.calls) == 3
    assert [(row["iteration"], row["item"]) for row in runs.log()] == [
        (1, "cart"), (2, "total"), (3, "receipt"),
    ]  # fmt: skip
    assert runs.log()[2]["is_done"]


@pytest.mark.parametrize("is_cut", [True, False])
def test_an_iteration_that_is_cut_off_after_its_item_is_done(runs: Runs, *, is_cut: bool) -> None:
    """The next one does the next item, and gets no handoff about the one that is done."""
    cut = [["signal", "SIGINT"], ["sleep", 0.3], ["signal", "SIGINT"], ["sleep", 60]]
    ends = cut if is_cut else [["fail", LIMIT]]

    answer = runs.run(processes=[[*done("cart"), *ends], *ALL[1:]])
    if is_cut:
        assert answer.code == 130
        assert runs.resume("--max-iterations", "1", processes=ALL[1:]).code == 3
        assert len(runs.calls) == 1
        answer = runs.resume("--max-iterations", "3", processes=ALL[1:])

    assert answer.code == 0, answer
    assert runs.items == ["cart", "total", "receipt"]
    assert "CONTEXT CHECKPOINT RESUME" not in runs.prompts[1]
    assert "**Iteration 1** (done): cart" in runs.prompts[1]
    assert [(row["iteration"], row["item"], row["is_done"]) for row in runs.log()] == [
        (1, "cart", True), (2, "total", True), (3, "receipt", True),
    ]  # fmt: skip


@pytest.mark.parametrize("is_killed", [True, False])
@pytest.mark.parametrize("item", ["total", "receipt"])
def test_an_item_that_was_done_when_its_run_was_cut_off_gets_its_line(
    runs: Runs, item: str, *, is_killed: bool
) -> None:
    """The rows add up to what the run has used, whoever counted it: the client, or its
    transcript."""
    cut = [["signal", "SIGINT"], ["sleep", 0.3], ["signal", "SIGINT"]]
    ends = [["signal", "SIGKILL"]] if is_killed else cut
    before = ALL[: ["cart", "total", "receipt"].index(item)]
    last = [["checkpoint", 30], *done(item), *ends, ["sleep", 60]]
    runs.script(*before, last)
    assert runs.process().wait(PATIENCE) in (-9, 130)

    resumed_at = time.time()
    answer = runs.resume(processes=ALL[len(before) + 1 :])

    assert answer.code == 0, answer
    number = len(before) + 1
    line = answer.out.splitlines()[1]
    assert f" ✓ {item} · " in line
    assert line.endswith(f" k · 1 file ({number}/3)")
    assert [row["iteration"] for row in runs.log()] == [1, 2, 3]
    row = runs.log()[number - 1]
    assert row["is_done"]
    assert (row["tokens"] > 0, row["seconds"] > 0, row["files"]) == (True, True, 1)
    assert row["at"] < resumed_at
    figures = runs.world.cli("ralph", "log", "--stats", "--json").json
    assert sum(row["tokens"] for row in runs.log()) == figures["tokens"]["total"]


def test_an_item_that_left_the_plan_when_its_run_was_cut_off_is_not_done(runs: Runs) -> None:
    runs.script(*ALL[:2], [["write", ["receipt.py", "1"]], ["signal", "SIGKILL"], ["sleep", 60]])
    assert runs.process().wait(PATIENCE) == -9
    runs.world.write("fix_plan.md", "- [x] cart\n- [x] total\n")

    answer = runs.resume(processes=[])

    assert answer.code == 0, answer
    assert " ✓ receipt" not in answer.out
    assert [row["is_done"] for row in runs.log()] == [True, True, False]


def test_an_audit_after_a_cut_off_iteration_hands_nothing_of_it_over(runs: Runs) -> None:
    """Its item is done, so what the audit finds begins anew."""
    runs.script(*ALL[:2], [["checkpoint", 50], *done("receipt"), ["signal", "SIGKILL"],
                           ["sleep", 60]])  # fmt: skip
    assert runs.process().wait(PATIENCE) == -9
    audit: Process = [["say", "<audit>\n- [ ] refund\n</audit>"]]

    answer = runs.resume("--audit", "1", "--max-iterations", "4", processes=[audit, done("refund")])

    assert answer.code == 3, answer
    assert "\n> refund\n" in runs.prompts[4]
    assert "CONTEXT CHECKPOINT RESUME" not in runs.prompts[4]
    assert not runs.state["context_checkpoint"]["active"]


def test_a_run_rests_from_when_its_process_is_gone(runs: Runs) -> None:
    runs.script([*ALL[0], ["signal", "SIGKILL"], ["sleep", 60]])
    assert runs.process().wait(PATIENCE) == -9
    with closing(open_store(str(runs.world.ours))) as store:
        store.run("UPDATE loop SET started_at = started_at - 9000")
        store.run("UPDATE run SET heard_at = heard_at - 8000, "
                  "state = json_set(state, '$.began_at', 0)")  # fmt: skip

    runs.world.cli("ralph", "cancel", runs.id)

    line = (runs.world.ours / "logs" / "sessions.jsonl").read_text().splitlines()[-1]
    assert 900 < json.loads(line)["duration_seconds"] < 1100


def test_what_nobody_knows_of_a_cut_off_iteration_is_not_said_to_be_0(runs: Runs) -> None:
    """No hook has heard of its session, so its transcript is not known."""
    runs.script([*done("cart"), ["signal", "SIGKILL"], ["sleep", 60]])
    assert runs.process().wait(PATIENCE) == -9

    answer = runs.resume(processes=ALL[1:])

    assert re.search(r"✓ cart · changed · \d+ s · 1 file \(1/3\)\n", answer.out), answer.out
    assert re.search(r"\| 1 \| cart \| done, changed \| \d+ s \|  \| 1 \|  \|\n", answer.out), (
        answer.out
    )
    assert ", 0 tokens" not in runs.world.cli("ralph", "log", runs.id).out


def test_an_iteration_that_is_made_again_counts_all_that_it_used(runs: Runs) -> None:
    cut = [["fill", 300_000], ["signal", "SIGINT"], ["sleep", 0.3], ["signal", "SIGINT"]]
    assert runs.run(processes=[[*cut, ["sleep", 60]]]).code == 130

    assert runs.resume(processes=[[["fill", 200_000], ["fail", LIMIT]], *ALL]).code == 0

    assert 500_000 < runs.log()[0]["tokens"] < 510_000
    figures = runs.world.cli("ralph", "log", "--stats", "--json").json
    assert sum(row["tokens"] for row in runs.log()) == figures["tokens"]["total"]


@pytest.mark.parametrize("end", ["ended", "paused"])
def test_the_time_since_a_run_was_killed_is_a_pause(runs: Runs, end: str) -> None:
    """Even if its user cancels or pauses it hours later."""
    runs.script([*ALL[0], ["signal", "SIGKILL"], ["sleep", 60]])
    assert runs.process().wait(PATIENCE) == -9
    runs.world.cli("ralph", "cancel" if end == "ended" else "pause", runs.id)
    with closing(open_store(str(runs.world.ours))) as store:
        store.run(
            "UPDATE loop SET ended_at = ended_at + 9000, "
            "counters = json_set(counters, '$.paused_at', "
            "iif(counters ->> '$.paused_at' > 0, counters ->> '$.paused_at' + 9000, 0.0))"
        )

    assert runs.resume("--max-minutes", "5", processes=ALL[1:]).code == 0


def test_iterations_are_those_that_have_ended(runs: Runs) -> None:
    """The one that was cut off is in no list, no figure and no report."""
    runs.script(ALL[0], [["write", ["total.py", "1"]], ["signal", "SIGKILL"], ["sleep", 60]])
    assert runs.process().wait(PATIENCE) == -9
    assert "iteration 2 of 50" in runs.world.cli("status").out

    runs.world.cli("ralph", "cancel", runs.id)

    assert f"{runs.id}  run, cancelled, 1 iteration: " in runs.world.cli("ralph", "log").out
    assert "Iterations: median 1, " in runs.world.cli("ralph", "log", "--stats").out
    assert "you cancelled it, 1 iteration: " in runs.world.cli("status").out
    assert ", 1 iteration, 1 of 3 items" in runs.world.cli("ralph", "list", runs.id).out
    page = Browser(runs.world).json(f"/loops/{runs.id}")
    assert (page["row"]["iteration"], page["limits"][0]["used"]) == (1, 1)
    line = (runs.world.ours / "logs" / "sessions.jsonl").read_text().splitlines()[-1]
    assert (json.loads(line)["outcome"], json.loads(line)["iterations"]) == ("cancelled", 1)


def test_each_session_of_a_run_is_named_by_its_iteration(runs: Runs) -> None:
    """The one that was killed, too, and the one that waited for a limit."""
    runs.script(
        ALL[0],
        [["fail", LIMIT]],
        [["write", ["total.py", "1"]], ["signal", "SIGKILL"], ["sleep", 60]],
    )
    assert runs.process().wait(PATIENCE) == -9
    audits: list[Process] = [[["fail", LIMIT]], [["say", "<audit>complete</audit>"]]]

    assert runs.resume("--audit", "1", processes=[*ALL[1:], *audits]).code == 0

    rows = runs.world.cli("sessions", "--json").json["sessions"]
    assert sorted((row["iteration"], row["item"]) for row in rows) == [
        (1, "cart"), (2, "total"), (2, "total"), (2, "total"), (3, "receipt"), (4, "audit 1"),
        (4, "audit 1"),
    ]  # fmt: skip
    assert {row["run"] for row in rows} == {runs.id}


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (["SIGHUP"], "its terminal was closed"),
        (["SIGHUP", "SIGHUP"], "its terminal was closed"),
        (["SIGTERM"], "it was told to end"),
        (["SIGTERM", "SIGTERM"], "it was told to end"),
        (["SIGINT", "SIGHUP"], "its terminal was closed"),
        (["SIGINT", "SIGINT"], "you pressed Ctrl-C twice"),
    ],
)
@pytest.mark.parametrize("during", ["the client", "the check"])
def test_why_a_signal_ends_a_run(runs: Runs, names: list[str], why: str, during: str) -> None:
    """A shell hands the SIGHUP of its terminal on, so that it may come twice."""
    if during == "the client":
        steps = [step for name in names for step in (["signal", name], ["sleep", 0.3])]
        answer = runs.run(processes=[[["say", "x"], *steps, ["sleep", 60]]])
    else:
        kills = "; ".join(f"kill -{name[3:]} $PPID; sleep 0.1" for name in names)
        answer = runs.run("--verify", f"{kills}; sleep 60", processes=ALL)

    assert answer.code == 130
    assert f"**It is paused**: {why}." in answer.out.partition("# Run ")[2]


def test_a_resumed_run_takes_new_limits(runs: Runs) -> None:
    assert runs.run("--max-iterations", "1", processes=ALL).code == 3
    assert runs.resume("--max-iterations", "2", processes=ALL[1:]).code == 3
    assert runs.resume("--max-iterations", "0", processes=ALL[2:]).code == 0


FULL: Process = [["fill", 300_000], *done("cart")]
MORE = ("--max-iterations", "9")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "iteration 2 was the last. Give more than 2 with --max-iterations, or 0 for no limit"),
        (("--max-iterations", "1"), "iteration 2 was the last. Give more than 2 with"),
        ((*MORE, "--max-tokens", "200000"),
         "its 200,000 tokens are used up. Give more than 306070 with --max-tokens"),
        ((*MORE, "--max-usd", "0.1"), "its $0.10 are used up. Give more than 0.31 with --max-usd"),
        ((*MORE, "--max-minutes", "60"),
         "its 60 minutes are up. Give more than 90 with --max-minutes"),
    ],
)  # fmt: skip
def test_a_run_at_a_limit_is_not_resumed(runs: Runs, words: tuple[str, ...], says: str) -> None:
    assert runs.run("--max-iterations", "2", processes=[FULL, *ALL[1:]]).code == 3
    with closing(open_store(str(runs.world.ours))) as store:
        store.run("UPDATE loop SET started_at = ended_at - 5430")
        before = store.all("SELECT * FROM loop JOIN run ON run.loop = loop.n")
    report = runs.world.ours / "ralph" / "transcripts" / f"{runs.id}_report.md"
    report.write_text("mine")

    answer = runs.resume(*words, processes=ALL[2:])

    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith(f"error: Run {runs.id} cannot go on: {says}")
    assert answer.err.count("\n") == 1
    assert len(runs.calls) == 2
    assert report.read_text() == "mine"
    with closing(open_store(str(runs.world.ours))) as store:
        assert store.all("SELECT * FROM loop JOIN run ON run.loop = loop.n") == before


def test_what_a_killed_client_used_is_counted_before_its_run_is_resumed(runs: Runs) -> None:
    runs.script([["checkpoint", 30], ["signal", "SIGKILL"], ["sleep", 60]])
    assert runs.process().wait(PATIENCE) == -9

    answer = runs.resume("--max-tokens", "200000", processes=ALL)

    assert answer.code == 1
    assert "its 200,000 tokens are used up. Give more than 300010 with" in answer.err
    assert answer.err.endswith("Its client was still there and was ended.\n")
    assert runs.resume(processes=ALL).code == 0


def test_a_new_run_replaces_one_that_waits(runs: Runs) -> None:
    runs.run("--max-iterations", "9", processes=[[["signal", "SIGINT"], *ALL[0]]])
    first = runs.id

    answer = runs.run(processes=ALL[1:])

    assert answer.code == 0
    assert f"Run {first}, which had got to" in answer.out
    assert [each["outcome"] for each in runs.world.ended()] == ["success", "cancelled"]


def test_the_environment_says_where_the_state_lies(runs: Runs) -> None:
    runs.git()
    file = runs.world.project / "state.json"
    runs.world.setenv("RALPH_STATE_FILE", "state.json")

    runs.run("--max-iterations", "9", processes=[[["say", "So far."]]] * 9)
    runs.run("--max-iterations", "9", processes=[[["say", "So far."]]] * 9)

    assert json.loads(file.read_text())["status"] == "circuit_breaker", "it is no progress"
    assert not (runs.world.project / ".claude" / "ralph-state.json").exists()

    theirs = runs.world.write("theirs.json", "{}")
    runs.world.setenv("RALPH_STATE_FILE", "theirs.json")
    runs.run("--max-iterations", "1", "--allow-dirty", processes=[[["say", "So far."]]])
    assert theirs.read_text() == "{}"


def test_git_does_not_show_the_files_of_a_run(runs: Runs) -> None:
    runs.git()
    project = runs.world.project

    runs.run("--max-iterations", "1", processes=[[["say", "So far."]]])

    assert (project / ".claude" / "PROMPT.md").exists()
    words = ["git", "-C", str(project), "status", "--porcelain"]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == ""
    runs.world.write(".claude/.gitignore", "*.tmp\n")
    runs.run("--resume", "--max-iterations", "2", "--allow-dirty", processes=[[["say", "No."]]])
    assert (project / ".claude" / ".gitignore").read_text() == "*.tmp\n"
