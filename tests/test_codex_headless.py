"""Codex without a terminal: the lines that it printed when it was measured, and whole runs with a
program that plays a script."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import fake_codex
import pytest
from world import SISYPHUS, Json, Reply, World

from sisyphus import clients
from sisyphus.clients.codex import headless
from sisyphus.clients.reports import (
    ACCOUNT,
    BILLING,
    CLIENT,
    CONTEXT,
    CRASH,
    LOGIN,
    MODEL,
    NETWORK,
    OVERLOAD,
    Failure,
    Report,
)
from sisyphus.clients.transcript_records import AGENT, TOOL
from sisyphus.hook.event import EDIT, OTHER, WRITE

SESSION = "01a21850-154e-7742-b602-80ff3aaf4107"
STARTED: Json = {"type": "thread.started", "thread_id": SESSION}
TURN: Json = {"type": "turn.started"}
DONE: Json = {
    "type": "turn.completed",
    "usage": {
        "input_tokens": 18_200, "cached_input_tokens": 1_000, "cache_write_input_tokens": 0,
        "output_tokens": 40, "reasoning_output_tokens": 0,
    },
}  # fmt: skip
NOW = time.mktime((2026, 11, 26, 14, 46, 40, 0, 0, -1))

Process = list[Any]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No rollout of the user is read."""
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex-home"))
    return tmp_path / "codex-home"


def report_of(*lines: Json | bytes) -> Report:
    report = Report()
    for each in lines:
        headless.feed(report, each if isinstance(each, bytes) else json.dumps(each).encode())
    return report


def failure(*lines: Json | bytes, code: int = 1, errors: str = "") -> Failure | None:
    return headless.failure(report_of(*lines), code, errors, NOW)


def item(kind: str, *, is_over: bool = True, id: str = "item_0", **fields: object) -> Json:
    event = "item.completed" if is_over else "item.started"
    return {"type": event, "item": {"id": id, "type": kind, **fields}}


def shell(command: str, output: str, code: int | None, id: str = "item_0") -> Json:
    status = "in_progress" if code is None else "failed" if code else "completed"
    return item(
        "command_execution", is_over=code is not None, id=id,
        command=command, aggregated_output=output, exit_code=code, status=status,
    )  # fmt: skip


def failed(text: str) -> list[Json]:
    """What it prints if a request has failed for good."""
    error = {"type": "turn.failed", "error": {"message": text}}
    return [STARTED, TURN, {"type": "error", "message": text}, error]


# ------------------------------------------------------------ the stream


def test_a_session() -> None:
    command = "/bin/bash -lc 'echo hi; exit 3'"
    report = report_of(
        STARTED,
        TURN,
        shell(command, "", None),
        shell(command, "hi\n", 3),
        item("reasoning", id="item_1", text="hm"),
        item("agent_message", id="item_2", text="All done.\n\n<promise>DONE</promise>"),
        DONE,
    )

    assert report.session == SESSION
    assert [record.author for record in report.records] == [AGENT, TOOL, AGENT]
    (call,), (result,) = report.records[0].calls, report.records[1].results
    assert (call.name, call.action, call.shell) == ("Bash", OTHER, "echo hi; exit 3")
    assert (result.id, result.text, result.is_error) == (call.id, "Exit code 3\nhi\n", True)
    assert report.records[2].texts == ("All done.\n\n<promise>DONE</promise>",)
    assert (report.tokens, report.cost) == (18_240, 0.0)
    assert report.has_ended
    assert headless.failure(report, 0, "", NOW) is None


def test_a_command_is_shown_while_it_works() -> None:
    report = report_of(STARTED, TURN, shell("/bin/bash -lc 'make test'", "", None))

    assert report.last_action == "Bash make test"
    assert not report.has_ended


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("/bin/bash -lc 'echo hi'", "echo hi"),
        ('/bin/zsh -lc "it\'s"', "it's"),
        ("/bin/bash -lc ls", "ls"),
        ("make test", "make test"),
        ("/bin/bash -lc 'open", "/bin/bash -lc 'open"),
    ],
)
def test_the_shell_before_a_command_is_left_out(command: str, line: str) -> None:
    assert report_of(STARTED, shell(command, "", 0)).records[0].calls[0].shell == line


def test_a_patch_is_a_call_for_each_file() -> None:
    changes = [
        {"path": "/p/new.txt", "kind": "add"},
        {"path": "/p/old.txt", "kind": "update"},
        {"path": "/p/gone.txt", "kind": "delete"},
    ]
    lines = [
        item("file_change", is_over=is_over, changes=changes, status="completed")
        for is_over in (False, True)
    ]

    calls = report_of(STARTED, *lines).records[0].calls

    assert [(each.action, each.target) for each in calls] == [
        (WRITE, "/p/new.txt"), (EDIT, "/p/old.txt"), (OTHER, "/p/gone.txt"),
    ]  # fmt: skip


def test_a_tool_that_nobody_approved_is_denied() -> None:
    error = {"message": "MCP tool call requires approval, but approval policy is never"}
    call = item("mcp_tool_call", server="fs", tool="write_thing", error=error, status="failed")

    report = report_of(STARTED, call)

    (denied,) = report.denied
    assert denied.tool == "mcp__fs__write_thing"
    assert report.records[1].results[0].is_refused


def test_how_full_the_context_is_stands_in_the_rollout(home: Path) -> None:
    """The tokens too, if the turn is cut off before it is counted."""
    day = home / "sessions/2026/11/26"
    day.mkdir(parents=True)
    used = {"input_tokens": 129_200, "output_tokens": 10}
    info = {"last_token_usage": used, "model_context_window": 258_400}
    record = {"usage": used, "thread_token_usage": {"input_tokens": 200_000, "output_tokens": 20}}
    lines = (
        {"type": "token_usage_record", "payload": record},
        {"type": "event_msg", "payload": {"type": "token_count", "info": info}},
    )
    (day / f"rollout-2026-11-26T14-43-51-{SESSION}.jsonl").write_text(
        "".join(json.dumps(each) + "\n" for each in lines)
    )

    report = report_of(STARTED, TURN, item("agent_message", text="I work."))

    assert (report.context, report.window, report.peak) == (129_200, 258_400, 50)
    assert report.tokens == 200_020


def test_the_rollout_is_looked_for_once(home: Path) -> None:
    """The session goes on while Codex begins the folders of two more days."""
    sessions = home / "sessions"
    for folder in ("2026/11/26", "backup/11/26", "old/01/01"):
        (sessions / folder).mkdir(parents=True)
    rollout = sessions / f"2026/11/26/rollout-2026-11-26T14-43-51-{SESSION}.jsonl"
    usage = {"usage": {"input_tokens": 100, "output_tokens": 10}}
    rollout.write_text(json.dumps({"type": "token_usage_record", "payload": usage}) + "\n")
    report = report_of(STARTED, TURN, item("agent_message", text="I work."))
    assert report.context == 100
    for folder in ("2026/11/27", "2026/11/28"):
        (sessions / folder).mkdir()
    usage["usage"]["input_tokens"] = 200
    rollout.write_text(json.dumps({"type": "token_usage_record", "payload": usage}) + "\n")

    headless.feed(report, json.dumps(item("reasoning", is_over=False)).encode())
    assert report.context == 100
    headless.feed(report, json.dumps(DONE).encode())

    assert report.context == 200


def test_a_request_that_is_tried_again_is_no_error() -> None:
    again = {"type": "error", "message": "Reconnecting... 1/5 (stream disconnected)"}
    message = item("agent_message", text="Recovered.")

    assert failure(STARTED, TURN, again, message, DONE, code=0) is None
    assert failure(STARTED, TURN, again, DONE, code=0) is None


@pytest.mark.parametrize(
    "line",
    [
        b"", b"\n", b"{", b"[]", b"7", b"\xff\xfe", b"{}", b'{"type": "item.completed"}',
        b'{"type": "item.completed", "item": 7}', b'{"type": 7}', b'{"type": "error"}',
        b'{"type": "item.completed", "item": {"type": "file_change", "changes": [1]}}',
        b'{"type": "item.completed", "item": {"type": "command_execution", "command": []}}',
        b'{"type": "item.completed", "item": {"type": "mcp_tool_call", "error": 1}}',
        b'{"type": "turn.completed", "usage": {"input_tokens": "many"}}',
        b'{"type": "turn.failed", "error": "no object"}',
        b'{"type": "thread.started", "thread_id": "../../x"}', b"[" * 100_000,
    ],
)  # fmt: skip
def test_odd_lines_are_no_error(line: bytes) -> None:
    for lines in ([line], [STARTED, line], [STARTED, TURN, line, DONE]):
        report = report_of(*lines)
        headless.failure(report, 1, "", NOW)
        assert report.session in ("", SESSION)


def test_another_program_only_prints() -> None:
    report = report_of(b"Hello\n", b'{"type": "item.completed"}\n')

    assert report.text == 'Hello\n{"type": "item.completed"}\n'
    assert not report.is_stream
    assert headless.failure(report, 0, "", NOW) is None


# ------------------------------------------------------------ why it failed

FAILURES = {
    "exceeded retry limit, last status: 429 Too Many Requests": ACCOUNT,
    "rate limit exceeded: Rate limit reached for gpt-5.5. Please try again in 11.054s.": ACCOUNT,
    "You’ve hit your usage limit. Try again later.": ACCOUNT,
    "Quota exceeded. Check your plan and billing details.": BILLING,
    "unexpected status 402 Payment Required: payment, url: http://h/v1/responses": BILLING,
    "To use Codex with your ChatGPT plan, upgrade to Plus: https://chatgpt.com/": BILLING,
    "unexpected status 401 Unauthorized: Incorrect API key provided, url: http://h/v1": LOGIN,
    "unexpected status 403 Forbidden: forbidden, url: http://h/v1/responses": LOGIN,
    "Missing environment variable: `EXAMPLE_KEY`.": LOGIN,
    "unexpected status 404 Not Found: The model `gpt-x` does not exist or you do not have": MODEL,
    "Codex ran out of room in the model's context window. Start a new thread or clear": CONTEXT,
    '{"error": {"message": "Your input exceeds the context window of this model."}}': CONTEXT,
    "We’re currently experiencing high demand, which may cause temporary errors.": OVERLOAD,
    "unexpected status 503 Service Unavailable: unavailable, url: http://h/v1/responses": OVERLOAD,
    "Selected model is at capacity. Please try a different model.": OVERLOAD,
    "stream disconnected before completion: stream closed before response.completed": NETWORK,
    "something else": CRASH,
}


@pytest.mark.parametrize("text", FAILURES)
def test_kinds_of_failures(text: str) -> None:
    found = failure(*failed(text))

    assert found
    assert found.kind == FAILURES[text]
    assert text[:40] in found.text


@pytest.mark.parametrize(
    ("when", "until"),
    [
        ("3:46 PM", (2026, 11, 26, 15, 47)),
        ("12:05 AM", None),
        ("Nov 29th, 2026 2:46 PM", (2026, 11, 29, 14, 47)),
        ("Dec 24th, 2026 2:46 PM", None),
        ("Nov 31st, 2026 2:46 PM", None),
        ("25:99 PM", None),
    ],
)
def test_when_a_limit_ends(when: str, until: tuple[int, ...] | None) -> None:
    """In local time; a week is the longest limit."""
    found = failure(*failed(f"You’ve hit your usage limit. Upgrade or try again at {when}."))

    assert found
    assert found.until == (time.mktime((*until, 0, 0, 0, -1)) if until else 0.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("lines", "code", "errors", "kind", "said"),
    [
        ([], 1, "Error loading config.toml:\nunclosed array", CLIENT, "cannot be run like this"),
        ([], 2, "error: invalid value 'x' for '--sandbox <SANDBOX_MODE>'", CLIENT, "--sandbox"),
        ([], 127, "", CLIENT, "cannot be run like this"),
        ([STARTED, TURN], 1, "", CRASH, "exit code 1"),
        ([STARTED, TURN], -9, "", CRASH, "ended by SIGKILL"),
        ([STARTED], 0, "", CRASH, "without a result"),
        ([STARTED, {"type": "error", "message": "waiting for network"}], -9, "", NETWORK, "server"),
    ],
)  # fmt: skip
def test_a_process_that_does_not_say_how_it_ended(
    lines: list[Json], code: int, errors: str, kind: str, said: str
) -> None:
    found = failure(*lines, code=code, errors=errors)

    assert found
    assert found.kind == kind
    assert said in found.text


def test_an_agent_that_writes_of_a_limit_has_reached_none() -> None:
    message = item("agent_message", text="You’ve hit your usage limit.")

    found = failure(STARTED, TURN, message)

    assert found
    assert found.kind == CRASH


# ------------------------------------------------------------ how it is called


def test_the_command_line() -> None:
    assert headless.new_session() == ""
    assert headless.command("/bin/codex", "", "workspace-write") == [
        "/bin/codex", "exec", "--json", "--skip-git-repo-check", "--sandbox", "workspace-write",
        "-",
    ]  # fmt: skip
    assert "read-only" in headless.audit_command("/bin/codex", "")
    assert "features.memories=false" in headless.audit_command("/bin/codex", "")
    for words in (headless.command("c", "", ""), headless.audit_command("c", "")):
        assert not any(word.startswith("--dangerously") for word in words)


def test_what_names_a_session_of_the_user_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CODEX_SESSION_ID", "CODEX_THREAD_ID", "CODEX_SANDBOX_NETWORK_DISABLED"):
        monkeypatch.setenv(name, "x")

    found = [name for name in headless.environment() if name.startswith("CODEX_")]

    assert found == ["CODEX_HOME"]


@pytest.mark.parametrize(
    ("path", "mode", "is_refused"),
    [
        ("fix_plan.md", "workspace-write", False),
        (".claude/fix_plan.md", "workspace-write", False),
        (".git/x", "workspace-write", True),
        (".codex/x", "workspace-write", True),
        (".agents/x", "workspace-write", True),
        ("sub/.git/x", "workspace-write", False),
        (".gitignore", "workspace-write", False),
        ("../x", "workspace-write", True),
        ("linked/x", "workspace-write", True),
        ("fix_plan.md", "read-only", True),
        (".git/x", "danger-full-access", False),
    ],
)
def test_what_its_sandbox_protects(
    tmp_path: Path, path: str, mode: str, *, is_refused: bool
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "linked").symlink_to(".git")

    assert headless.is_refused(path, str(tmp_path), mode) is is_refused


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ('sandbox_mode = "workspace-write"\n', "workspace-write"),
        ("sandbox_mode = 7\n", ""),
        ("broken = [\n", ""),
        ("", ""),
    ],
)
def test_the_mode_that_the_user_has_chosen(
    home: Path, tmp_path: Path, text: str, mode: str
) -> None:
    home.mkdir()
    (home / "config.toml").write_text(text)

    assert headless.chosen_mode("", str(tmp_path / "project")) == mode
    assert headless.chosen_mode("", str(tmp_path)) == "", "a project's settings do not count"


def test_an_edit_is_possible_in_a_mode_of_each_client() -> None:
    for name in clients.HEADLESS:
        assert clients.headless(name).EDITING_MODE in clients.headless(name).MODES


# ------------------------------------------------------------ whole runs

PLAN = "# Shop\n\n- [ ] cart\n- [ ] total\n- [ ] receipt\n"
LIMIT = "exceeded retry limit, last status: 429 Too Many Requests"
LOGGED_OUT: Json = {"account": None, "requiresOpenaiAuth": True}


class Runs:
    """A world with Codex on its PATH."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.folder = world.root / "client"
        programs = fake_codex.install(self.folder)
        world.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
        world.setenv("FAKE_CLIENT", str(self.folder))
        world.setenv("CODEX_HOME", str(world.home / ".codex"))
        world.ours.mkdir(parents=True)
        (world.ours / "config.toml").write_text("[runner]\nretry_seconds = 0\n")

    def run(self, *words: str, processes: list[Process] | None = None) -> Reply:
        (self.folder / "processes.json").write_text(json.dumps(processes or []))
        return self.world.cli("ralph", "run", *words)

    def begin(self, *words: str, processes: list[Process] | None = None) -> Reply:
        mode = ("--permission-mode", "workspace-write")
        return self.run("--client", "codex", *mode, *words, processes=processes)

    def resume(self, *words: str, processes: list[Process] | None = None) -> Reply:
        return self.run("--resume", *words, processes=processes)

    @property
    def calls(self) -> list[Json]:
        file = self.folder / "calls.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    @property
    def items(self) -> list[str]:
        names = ("cart", "total", "receipt")
        prompts = [call["prompt"] for call in self.calls]
        return [next((n for n in names if f"\n> {n}\n" in each), "") for each in prompts]

    @property
    def state(self) -> Json:
        file = self.world.project / ".claude" / "ralph-state.json"
        state: Json = json.loads(file.read_text())
        return state

    def log(self) -> list[Json]:
        answer = self.world.cli("ralph", "log", self.state["run"], "--json")
        rows: list[Json] = json.loads(answer.out)
        return rows

    def sessions(self) -> list[tuple[str, str]]:
        """Client and id of each session that the store knows."""
        with closing(sqlite3.connect(self.world.ours / "sisyphus.db")) as database:
            return database.execute("SELECT client, id FROM session").fetchall()


@pytest.fixture
def runs(world: World) -> Runs:
    world.write("fix_plan.md", PLAN)
    return Runs(world)


def done(item: str) -> Process:
    return [["write", [f"{item}.py", f"{item} = 1\n"]], ["tick", item], ["say", "Done."]]


ALL = [done("cart"), done("total"), done("receipt")]


def test_a_run_in_which_something_fails(runs: Runs) -> None:
    """An iteration that fails is made again; a limit costs none."""
    crash = [["say", "Half."], ["exit", 134]]

    answer = runs.begin(processes=[ALL[0], crash, [["fail", LIMIT]], *ALL[1:]])

    assert answer.code == 0, answer
    assert runs.items == ["cart", "total", "total", "total", "receipt"]
    assert answer.out.count("Waiting until") == 1
    assert [row["iteration"] for row in runs.log()] == [1, 2, 3, 4]
    assert "exit code 134" in runs.log()[1]["why"]
    assert runs.state["status"] == "completed"
    assert runs.sessions() == [("codex", call["session"]) for call in runs.calls]
    assert "$" not in answer.out.partition("## Items done")[0], "Codex does not say what it costs"


def test_a_client_that_does_not_begin(runs: Runs) -> None:
    answer = runs.begin(processes=[ALL[0], [["broken", "Error loading config.toml:\n"]]])

    assert answer.code == 1
    assert "Codex cannot be run like this: Error loading config.toml" in answer.out
    assert runs.resume(processes=ALL[1:]).code == 0
    assert len(runs.sessions()) == 3


def test_the_context_is_shown(runs: Runs) -> None:
    answer = runs.begin("--max-iterations", "1", processes=[[*ALL[0], ["fill", 129_200]]])

    assert "| 50 % |" in answer.out


def test_ctrl_c_and_a_resume_with_the_same_client(runs: Runs) -> None:
    answer = runs.begin(processes=[[["signal", "SIGINT"], *ALL[0]]])
    assert answer.code == 130, answer

    assert runs.resume(processes=ALL[1:]).code == 0
    assert runs.items == ["cart", "total", "receipt"]


def test_two_ctrl_c_end_the_client(runs: Runs) -> None:
    twice = [["signal", "SIGINT"], ["sleep", 0.3], ["signal", "SIGINT"], ["sleep", 60]]
    assert runs.begin(processes=[[["fill", 300_000], *twice]]).code == 130

    answer = runs.resume("--max-tokens", "200000")

    assert answer.code == 1
    assert "Give more than 300005 with --max-tokens" in answer.err
    assert runs.resume("--max-tokens", "0", processes=ALL).code == 0
    assert runs.items == ["cart", "cart", "total", "receipt"]


def test_a_runner_that_was_killed(runs: Runs) -> None:
    """Also before the client has said which session it has begun."""
    early = [["early", True]]
    late = [["say", "x"], ["sleep", 0.5], ["signal", "SIGKILL"], ["sleep", 60]]
    (runs.folder / "processes.json").write_text(json.dumps([early, late]))
    for words in (["--client", "codex", "--permission-mode", "workspace-write"], ["--resume"]):
        done = subprocess.run([SISYPHUS, "ralph", "run", *words], capture_output=True, check=False)
        assert done.returncode == -9

    answer = runs.resume(processes=ALL)

    assert answer.code == 0, answer
    assert runs.items == ["cart", "cart", "cart", "total", "receipt"]


def test_no_hook_keeps_a_session_of_a_run_from_stopping(runs: Runs) -> None:
    runs.world.cli("enforce", "on")
    runs.world.write("PLAN.md", "- [ ] ship\n")
    runs.world.cli("boulder", "start")
    stop = [["say", "x"], ["sleep", 0.5], ["stop", "All work is complete."]]

    assert runs.begin(processes=[[*stop, *ALL[0]], *ALL[1:]]).code == 0
    assert (runs.folder / "replies.jsonl").read_text() == '""\n'

    other = {"session_id": SESSION, "cwd": str(runs.world.project), "hook_event_name": "Stop"}
    last = {"last_assistant_message": "All work is complete."}
    assert runs.world.hook("stop", other | last, "--client", "codex").reason


def test_an_audit_only_reads(runs: Runs) -> None:
    clean = [["say", "<audit>complete</audit>"]]

    assert runs.begin("--audit", "1", processes=[*ALL, clean]).code == 0

    modes = [call["words"][call["words"].index("--sandbox") + 1] for call in runs.calls]
    assert modes == ["workspace-write"] * 3 + ["read-only"]


def test_another_client_goes_on_with_a_run(runs: Runs) -> None:
    """It needs a permission mode of its own."""
    assert runs.begin("--max-iterations", "1", processes=ALL).code == 3

    answer = runs.resume("--max-iterations", "9", "--client", "claude-code")

    assert answer.code == 1
    assert "There is no `claude` on the PATH" in answer.err
    assert runs.resume("--max-iterations", "9", processes=ALL[1:]).code == 0


def test_a_command_of_the_user_that_speaks_the_same_language(runs: Runs) -> None:
    command = ("--client", "codex", "--client-command", "codex exec --json --model x -")

    assert runs.run(*command, processes=ALL).code == 0
    assert runs.items == ["cart", "total", "receipt"]
    assert runs.sessions() == [("codex", call["session"]) for call in runs.calls]
    assert runs.log()[0]["tokens"] > 0


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((), "Give --permission-mode: danger-full-access, read-only, workspace-write."),
        (
            ("--permission-mode", "acceptEdits"),
            "acceptEdits is a mode of Claude Code. Codex has danger-full-access, read-only, work",
        ),
        (
            ("--permission-mode", "on-request"),
            "Permission mode on-request does not fit a run, in which nobody answers the client.",
        ),
        (("--permission-mode", "read-only"), "Give --permission-mode workspace-write"),
        (("--permission-mode", "workspace-write", "--max-usd", "5"), "Give --max-tokens instead"),
    ],
)
def test_what_keeps_a_run_from_starting(runs: Runs, words: tuple[str, ...], problem: str) -> None:
    answer = runs.run("--client", "codex", *words)

    assert answer.code in (1, 2)
    assert problem in answer.err
    assert not runs.calls


@pytest.mark.parametrize("is_first", [True, False])
def test_words_of_an_agent_are_no_report(runs: Runs, *, is_first: bool) -> None:
    """A command reports from its first line on, or never; and a session of somebody else is none of
    its own."""
    start = {"session_id": SESSION, "cwd": str(runs.world.project), "source": "startup"}
    runs.world.hook("session-start", start, "--client", "codex")
    lines = [STARTED, TURN, item("agent_message", text="x"), DONE]
    said = "" if is_first else "I work.\n"
    (runs.world.root / "said").write_text(said + "".join(f"{json.dumps(each)}\n" for each in lines))
    command = f"cat > prompt.txt; cat {runs.world.root / 'said'}"

    words = ("--client", "codex", "--max-iterations", "1", "--client-command", command)
    assert runs.run(*words).code == 3

    assert runs.log()[0]["tokens"] == 0
    assert [
        run for run in runs.world.cli("sessions", "--json").json["sessions"] if run["run"]
    ] == []


def test_a_client_that_is_logged_out(runs: Runs) -> None:
    fake_codex.answer(runs.folder, "account", LOGGED_OUT)

    answer = runs.begin(processes=ALL)

    assert answer.code == 1
    assert "Codex is not logged in. Log in with `codex login`" in answer.err
    runs.world.setenv("CODEX_API_KEY", "k")
    assert runs.begin(processes=ALL).code == 0


@pytest.mark.parametrize(("state", "is_warned"), [("untrusted", True), ("trusted", False)])
def test_hooks_that_are_not_trusted_are_named(runs: Runs, state: str, *, is_warned: bool) -> None:
    assert runs.world.cli("install", "--client", "codex", "--yes").code == 0
    hook = {
        "command": f"{SISYPHUS} hook stop --client codex", "trustStatus": state, "enabled": True,
        "sourcePath": str(runs.world.home / ".codex" / "hooks.json"),
    }  # fmt: skip
    fake_codex.answer(runs.folder, "hooks", {"data": [{"hooks": [hook]}]})

    answer = runs.begin(processes=ALL)

    assert answer.code == 0, answer
    assert ("does not run the hooks of sisyphus" in answer.err) is is_warned


def test_hooks_of_one_file_are_enough(runs: Runs) -> None:
    """Codex does not trust this project, so it lists no hook of it."""
    for scope in ("user", "local"):
        words = ("install", "--client", "codex", "--scope", scope, "--yes")
        assert runs.world.cli(*words, "--project", runs.world.project).code == 0
    hook = {
        "command": f"{SISYPHUS} hook stop --client codex", "trustStatus": "trusted",
        "enabled": True, "sourcePath": str(runs.world.home / ".codex" / "hooks.json"),
    }  # fmt: skip
    fake_codex.answer(runs.folder, "hooks", {"data": [{"hooks": [hook]}]})

    answer = runs.begin(processes=ALL)

    assert answer.code == 0, answer
    assert "does not run the hooks of sisyphus" not in answer.err
