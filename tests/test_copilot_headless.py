"""Copilot CLI without a terminal: the lines that it printed when it was measured, and whole runs
with a program that plays a script."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import fake_copilot
import pytest
from test_run import LIMIT as CLAUDE_LIMIT
from test_run import PLAN, done
from test_run import Runs as ClaudeRuns
from test_run_jobs import Jobs
from world import SISYPHUS, Json, Reply, World

from sisyphus.clients.copilot import headless
from sisyphus.clients.reports import (
    ACCOUNT,
    BILLING,
    CLIENT,
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

SESSION = "11111111-2222-4333-8444-555555555555"
STAMP = "2026-11-30T03:36:55.535Z"
AGENT_ID = "2943e156-19a9-4e43-9707-84003061873b"
END: Json = {"type": "result", "timestamp": STAMP, "sessionId": SESSION, "exitCode": 0}
FAILED: Json = {**END, "exitCode": 1}
NOW = 1_796_009_815.0
DENIED = {"message": "Permission denied because no interactive user", "code": "denied"}


@pytest.fixture(autouse=True)
def home(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No transcript of the user is read."""
    monkeypatch.setenv("COPILOT_HOME", str(tmp_path / "copilot-home"))
    monkeypatch.delenv("COPILOT_ALLOW_ALL", raising=False)
    return tmp_path / "copilot-home"


def event(kind: str, agent: str = "", **data: object) -> Json:
    who = {"agentId": agent} if agent else {}
    return {"type": kind, "data": data, "id": f"id-{kind}", "timestamp": STAMP, **who}


START = event("session.skills_loaded", skills=[])


def says(text: str, *calls: Json, agent: str = "") -> Json:
    return event("assistant.message", agent, content=text, toolRequests=list(calls))


def call(name: str, id: str = "t1", **given: object) -> Json:
    return {"toolCallId": id, "name": name, "arguments": given}


def ended(id: str = "t1", content: str = "", agent: str = "", **more: object) -> Json:
    fields = {"toolCallId": id, "success": "error" not in more, "result": {"content": content}}
    return event("tool.execution_complete", agent, **{**fields, **more})


def report_of(*lines: Json | bytes, chosen: str = SESSION) -> Report:
    report = Report(chosen=chosen)
    for each in lines:
        headless.feed(report, each if isinstance(each, bytes) else json.dumps(each).encode())
    return report


def failure(*lines: Json | bytes, code: int = 1, errors: str = "") -> Failure | None:
    return headless.failure(report_of(*lines), code, errors, NOW)


def refused(status: int | None, name: str, message: str, before: str = "{}") -> list[Json]:
    """What it prints if a request has failed for good."""
    code: Json = {} if status is None else {"statusCode": status}
    return [
        START,
        event("model.call_failure", errorMessage=before, **code),
        event("session.error", errorType=name, message=message, **code),
        FAILED,
    ]


# ------------------------------------------------------------ the stream


def test_a_session() -> None:
    report = report_of(
        START,
        event("user.message", content="Say <promise>DONE</promise>."),
        says("", call("bash", command="exit 3", mode="sync")),
        ended(
            content="hi\n<shellId: 0 completed with exit code 3>", shellExecution={"exitCode": 3}
        ),
        event("assistant.message_delta", deltaContent="All"),
        says("All done."),
        END,
    )

    assert report.session == SESSION
    assert [record.author for record in report.records] == [AGENT, TOOL, AGENT]
    (made,), (result,) = report.records[0].calls, report.records[1].results
    assert (made.action, made.shell) == (OTHER, "exit 3")
    assert (result.id, result.is_error, result.is_refused) == (made.id, True, False)
    assert report.records[2].texts == ("All done.",)
    assert report.has_ended
    assert headless.failure(report, 0, "", NOW) is None


def test_its_session_is_known_from_the_first_line_on() -> None:
    assert report_of(START).session == SESSION
    unnamed = report_of(START, says("I work."), chosen="")
    assert (unnamed.session, unnamed.is_stream, len(unnamed.records)) == ("", True, 1)
    assert report_of(START, END, chosen="").session == SESSION


def test_what_was_denied() -> None:
    report = report_of(
        START,
        says(
            "",
            call("create", path="/p/new.txt", file_text="x"),
            call("edit", "t2", path="/p/old.txt", old_str="a", new_str="b"),
            call("bash", "t3", command="make test"),
        ),
        ended(error=DENIED),
        ended("t2", error=DENIED),
        ended("t3", error=DENIED),
    )

    assert [(each.action, each.target) for each in report.denied] == [
        (WRITE, "/p/new.txt"), (EDIT, "/p/old.txt"), (OTHER, "make test"),
    ]  # fmt: skip


def test_what_subagents_do_is_no_word_of_the_agent() -> None:
    """But what the client did not let them do is said."""
    report = report_of(
        START,
        says("Two.", call("create", path="/p/x"), agent=AGENT_ID),
        ended(error=DENIED, agent=AGENT_ID),
        event("session.error", AGENT_ID, message="x", statusCode=500),
        END,
    )

    assert not report.records
    assert [each.target for each in report.denied] == ["/p/x"]
    assert headless.failure(report, 0, "", NOW) is None


def test_how_full_the_context_is_stands_in_the_transcript(home: Path) -> None:
    file = home / "session-state" / SESSION / "events.jsonl"
    file.parent.mkdir(parents=True)

    def use(id: str, tokens: int, agent: str = "") -> None:
        usage = {"inputTokens": tokens, "outputTokens": 10, "maxPromptTokens": 168_000}
        line = {**event("session.usage_record", agent, usage=usage), "id": id}
        with file.open("a") as lines:
            lines.write(json.dumps(line) + "\n")

    use("a", 42_000)
    use("b", 84_000)
    report = report_of(START, event("assistant.turn_end"))
    assert (report.context, report.window, report.peak) == (84_000, 168_000, 50)
    assert report.tokens == 126_020

    use("c", 1_000, AGENT_ID)
    headless.feed(report, json.dumps(END).encode())

    assert (report.context, report.tokens) == (84_000, 127_030)


@pytest.mark.parametrize(
    "line",
    [
        b"", b"\n", b"{", b"[]", b"7", b"\xff\xfe", b"{}", b'{"type": "assistant.message"}',
        b'{"type": 7}', b'{"type": "result"}', b'{"type": "result", "data": 7}', b"[" * 100_000,
        *(json.dumps(each).encode() for each in (
            event("assistant.message", content=7, toolRequests=[1]),
            event("tool.execution_complete", toolCallId=[], result=7, error=7),
            event("session.error", message=[], statusCode="many"),
            event("session.error", message="x", statusCode=True),
            {**END, "sessionId": "../../x", "exitCode": "0"},
            {**START, "type": []},
        )),
    ],
)  # fmt: skip
def test_odd_lines_are_no_error(line: bytes) -> None:
    for lines in ([line], [START, line], [START, line, END]):
        report = report_of(*lines)
        headless.failure(report, 1, "", NOW)
        assert report.session in ("", SESSION)


def test_another_program_only_prints() -> None:
    report = report_of(b"Hello\n", b'{"type": "assistant.message"}\n')

    assert report.text == 'Hello\n{"type": "assistant.message"}\n'
    assert not report.is_stream
    assert headless.failure(report, 0, "", NOW) is None


# ------------------------------------------------------------ why it failed

RETRIED = "Failed to get response from the AI model; retried 5 times (total retry wait time: 53 s)"
NOT_VALID = "Authentication token found but could not be validated."


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        (refused(429, "rate_limit", f"{RETRIED} Last error: 429 refused"), ACCOUNT),
        (refused(529, "query", f"{RETRIED} Last error: 529 refused"), OVERLOAD),
        (refused(500, "query", f"{RETRIED} Last error: 500 refused"), OVERLOAD),
        (refused(401, "authentication", "Authentication failed with provider at http://h"), LOGIN),
        (refused(403, "query", "Forbidden"), LOGIN),
        (refused(402, "query", "Payment required"), BILLING),
        (refused(404, "query", "Model 'x' not found on provider at http://h (HTTP 404)."), MODEL),
        (
            refused(
                None,
                "query",
                "Could not connect to local model provider at http://127.0.0.1:9.\n  Check that",
                "Failed native model HTTP request: tcp connect error [ECONNREFUSED]",
            ),
            NETWORK,
        ),
        (refused(None, "query", "No response was returned. Send your message again"), CRASH),
    ],
)
def test_kinds_of_failures(lines: list[Json], kind: str) -> None:
    found = failure(*lines)

    assert found
    assert found.kind == kind


@pytest.mark.parametrize(
    ("lines", "code", "errors", "kind", "said"),
    [
        ([], 1, fake_copilot.LOGGED_OUT, LOGIN, "No authentication information found"),
        ([], 1, "Error: Classic Personal Access Tokens (ghp_) are not supported", LOGIN, "Classic"),
        ([], 1, f"{NOT_VALID}\n\n  Failed: error sending request for url", NETWORK, "server"),
        ([], 1, "BYOK providers require an explicit model. Run `copilot help`", MODEL, "model"),
        ([], 2, "error: unexpected argument '--no-color' found", CLIENT, "--no-color"),
        ([], 127, "", CLIENT, "cannot be run like this"),
        ([START], 1, "Package extraction took 5072ms", CRASH, "exit code 1"),
        ([START], -9, "", CRASH, "ended by SIGKILL"),
        ([START], 0, "", CRASH, "without a result"),
        ([START, event("model.call_failure", statusCode=429)], -9, "", ACCOUNT, "limit"),
    ],
)  # fmt: skip
def test_a_process_that_does_not_say_how_it_ended(
    lines: list[Json], code: int, errors: str, kind: str, said: str
) -> None:
    found = failure(*lines, code=code, errors=errors)

    assert found
    assert found.kind == kind
    assert said in found.text


def test_a_request_that_is_tried_again_is_no_error() -> None:
    again = event("model.call_failure", statusCode=500, errorMessage="{}")

    assert failure(START, again, says("Recovered."), END, code=0) is None
    found = failure(START, again, says("Recovered."))
    assert found
    assert found.kind == CRASH


# ------------------------------------------------------------ how it is called


def test_the_command_line() -> None:
    assert len(headless.new_session()) == len(SESSION)
    begin = ["copilot", "--output-format", "json", "--no-color", "--session-id", SESSION]
    for mode, option in [
        ("write", "--allow-tool=write"), ("allow-all-tools", "--allow-all-tools"),
        ("allow-all", "--allow-all"),
    ]:  # fmt: skip
        assert headless.command("copilot", SESSION, mode) == [*begin, option]
    audit = headless.audit_command("copilot", SESSION)
    assert audit == [*begin, "--available-tools=view,grep,glob"]


def test_what_names_a_session_of_the_user_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COPILOT_AGENT_SESSION_ID", "COPILOT_CLI", "COPILOT_MODEL", "COPILOT_CLI_VERSION"):
        monkeypatch.setenv(name, "x")

    found = [name for name in headless.environment() if name.startswith("COPILOT_")]

    assert sorted(found) == ["COPILOT_CLI_VERSION", "COPILOT_HOME", "COPILOT_MODEL"]


@pytest.mark.parametrize(
    ("path", "mode", "is_refused"),
    [
        ("fix_plan.md", "write", False),
        (".claude/fix_plan.md", "write", False),
        (".git/x", "write", False),
        ("../x", "write", True),
        ("../x", "allow-all-tools", True),
        ("../x", "allow-all", False),
    ],
)
def test_what_it_may_edit(tmp_path: Path, path: str, mode: str, *, is_refused: bool) -> None:
    assert headless.is_refused(path, str(tmp_path), mode) is is_refused


@pytest.mark.parametrize(
    ("value", "mode"),
    [("true", "allow-all-tools"), (" Yes ", "allow-all-tools"), ("off", ""), ("", "")],
)
def test_the_mode_that_the_user_has_chosen(
    monkeypatch: pytest.MonkeyPatch, value: str, mode: str
) -> None:
    monkeypatch.setenv("COPILOT_ALLOW_ALL", value)

    assert headless.chosen_mode("", "/p") == mode


# ------------------------------------------------------------ whole runs


WRITE_MODE = ("--permission-mode", "write")
LIMIT = [429, "rate_limit", f"{RETRIED} Last error: 429 refused"]


ALL = [done("cart"), done("total"), done("receipt")]
UNHEARD = "does not run the hooks of sisyphus"
LOGGED_OUT = [["broken", fake_copilot.LOGGED_OUT]]


class Runs(ClaudeRuns):
    """A world with Claude Code and Copilot CLI on its PATH, which play one script."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        add_copilot(world)
        assert world.cli("install", "--client", "copilot", "--yes").code == 0

    def run(self, *words: str, processes: Any = ()) -> Reply:
        self.script(*processes)
        return self.world.cli("ralph", "run", *words)

    def begin(self, *words: str, processes: Any = ()) -> Reply:
        return self.run("--client", "copilot", *WRITE_MODE, *words, processes=processes)

    @property
    def options(self) -> list[str]:
        """What each process was allowed to do."""
        return [call["words"][-1] for call in self.calls]


def add_copilot(world: World) -> None:
    programs = fake_copilot.install(world.root / "copilot")
    world.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    world.setenv("COPILOT_HOME", str(world.home / ".copilot"))


@pytest.fixture
def runs(world: World) -> Runs:
    world.write("fix_plan.md", PLAN)
    return Runs(world)


def test_a_run_in_which_something_fails(runs: Runs) -> None:
    """An iteration that fails is made again; a limit costs none."""
    crash = [["say", "Half."], ["exit", 134]]

    answer = runs.begin(processes=[ALL[0], crash, [["fail", LIMIT]], *ALL[1:]])

    assert answer.code == 0, answer
    assert answer.err == ""
    assert runs.items == ["cart", "total", "total", "total", "receipt"]
    assert answer.out.count("Waiting until") == 1
    assert "the account's limit is reached" in answer.out
    assert [row["iteration"] for row in runs.log()] == [1, 2, 3, 4]
    assert "exit code 134" in runs.log()[1]["why"]
    assert runs.log()[0]["tokens"] > 0
    assert "$" not in answer.out.partition("## Items done")[0], "it does not say what it costs"
    sessions = runs.world.cli("sessions", "--json").json["sessions"]
    assert {each["client"] for each in sessions} == {"copilot"}
    assert {each["session_id"] for each in sessions} == {call["session"] for call in runs.calls}


def test_a_client_that_is_logged_out(runs: Runs) -> None:
    answer = runs.begin(processes=[LOGGED_OUT])

    assert answer.code == 1
    assert "Copilot CLI is not logged in, or has no access: Error: No auth" in answer.out
    assert runs.run("--resume", processes=ALL).code == 0


def test_the_context_is_shown(runs: Runs) -> None:
    answer = runs.begin("--max-iterations", "1", processes=[[*ALL[0], ["fill", 84_000]]])

    assert "| 50 % |" in answer.out


def test_a_denied_edit_ends_the_run(runs: Runs) -> None:
    denied = [["deny", ["create", str(runs.world.project / "x.py")]], ["sleep", 5]]

    answer = runs.begin(processes=[denied])

    assert answer.code == 1
    assert "the client did not let the agent edit x.py" in answer.out


def test_an_audit_only_reads(runs: Runs) -> None:
    clean = [["say", "<audit>complete</audit>"]]

    assert runs.begin("--audit", "1", processes=[*ALL, clean]).code == 0

    assert runs.options == ["--allow-tool=write"] * 3 + ["--available-tools=view,grep,glob"]


def test_it_works_where_another_client_is_at_its_limit(runs: Runs) -> None:
    words = ("--client", "claude-code,copilot", "--permission-mode", "acceptEdits,write")
    at_limit = [["fail", CLAUDE_LIMIT | {"resets_in": 600}]]

    answer = runs.run(*words, processes=[at_limit, *ALL])

    assert answer.code == 0, answer
    assert "The run goes on with copilot." in answer.out
    assert runs.items == ["cart", "cart", "total", "receipt"]
    assert runs.options[1:] == ["--allow-tool=write"] * 3


def test_several_workers(world: World) -> None:
    world.write("fix_plan.md", PLAN)
    jobs = Jobs(world)
    add_copilot(world)
    jobs.items_script({item: [done(item)] for item in ("cart", "total", "receipt")})

    answer = world.cli("ralph", "run", "--client", "copilot", *WRITE_MODE, "--jobs", "2")

    assert answer.code == 0, answer
    assert sorted(jobs.items) == ["cart", "receipt", "total"]
    assert {row["client"] for row in jobs.log(jobs.run_id)} == {"copilot"}


def test_a_runner_that_was_killed(runs: Runs) -> None:
    late = [["say", "x"], ["sleep", 0.5], ["signal", "SIGKILL"], ["sleep", 60]]
    runs.script(late)
    words = ("--client", "copilot", *WRITE_MODE)
    done = subprocess.run([SISYPHUS, "ralph", "run", *words], capture_output=True, check=False)
    assert done.returncode == -9

    answer = runs.run("--resume", processes=ALL)

    assert answer.code == 0, answer
    assert runs.items == ["cart", "cart", "total", "receipt"]


def test_no_hook_keeps_a_session_of_a_run_from_stopping(runs: Runs) -> None:
    runs.world.write("PLAN.md", "- [ ] ship\n")
    runs.world.cli("boulder", "start")
    stop = [["say", "x"], ["stop", "2026-11-30T03:36:55.535Z"]]

    assert runs.begin(processes=[[*stop, *ALL[0]], *ALL[1:]]).code == 0

    assert (runs.folder / "replies.jsonl").read_text() == '""\n'


def test_a_command_of_the_user_that_speaks_the_same_language(runs: Runs) -> None:
    """Its session is named by its last line; the prompt in its report is no answer."""
    (runs.world.project / "fix_plan.md").unlink()
    command = "copilot --output-format json --allow-all-tools"
    promise = ("--completion-promise", "DONE", "--max-iterations", "2", "--", "Do it.")
    said = [[["say", "Not yet."]], [["say", "<promise>DONE</promise>"]]]

    answer = runs.run("--client", "copilot", "--client-command", command, *promise, processes=said)

    assert answer.code == 0, answer
    assert [row["decision"] for row in runs.log()] == ["continue", "completed"]
    assert runs.log()[0]["tokens"] > 0


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((), "Give --permission-mode: allow-all, allow-all-tools, write. write lets the agent"),
        (
            ("--permission-mode", "acceptEdits"),
            "acceptEdits is a mode of Claude Code. Copilot CLI has allow-all, allow-all-t",
        ),
        ((*WRITE_MODE, "--max-usd", "5"), "Give --max-tokens instead"),
    ],
)
def test_what_keeps_a_run_from_starting(runs: Runs, words: tuple[str, ...], problem: str) -> None:
    answer = runs.run("--client", "copilot", *words)

    assert answer.code in (1, 2)
    assert problem in answer.err
    assert not runs.calls


# ------------------------------------------------------------ what the user is warned of


def test_hooks_that_are_not_wired_are_named(runs: Runs) -> None:
    """Those of a project count where the user trusts it."""
    world = runs.world
    world.cli("uninstall", "--client", "copilot", "--yes")
    assert UNHEARD in runs.begin(processes=ALL).err

    local = ("--client", "copilot", "--scope", "project", "--project", world.project)
    assert world.cli("install", *local, "--yes").code == 0
    world.write("fix_plan.md", PLAN)
    assert UNHEARD in runs.begin(processes=ALL).err

    config = {"trustedFolders": [str(world.project)]}
    (world.home / ".copilot").mkdir(exist_ok=True)
    (world.home / ".copilot" / "config.json").write_text(f"// its own\n{json.dumps(config)}")
    world.write("fix_plan.md", PLAN)
    assert UNHEARD not in runs.begin(processes=ALL).err


APPROVALS = {
    "make test": ("make", "make:*"),
    "pytest -q": ("pytest -q", "pytest:*"),
    "CI=1 npm test && ls": ("npm test", "npm:*"),
    "./check.sh | tail -3": ("./check.sh", "./check.sh:*"),
}


@pytest.mark.parametrize("command", APPROVALS)
def test_a_check_that_the_agent_may_not_run(runs: Runs, command: str) -> None:
    world = runs.world
    world.write("fix_plan.md", f"- [ ] cart\n  - check: `{command}`\n")
    mode = ("--client", "copilot", "--max-iterations", "1", "--permission-mode")

    answer = runs.run(*mode, "write", processes=[ALL[0]])

    assert f"the agent of Copilot CLI may not run `{command}`" in answer.err
    advice = answer.err.partition("permissions-config.json: ")[2].strip()
    (kind,) = json.loads(advice)[str(world.project)]["tool_approvals"]
    assert kind["commandIdentifiers"] == [APPROVALS[command][1]]
    assert "may not run" not in runs.run(*mode, "allow-all-tools", processes=[ALL[0]]).err
    for name in APPROVALS[command]:
        kind["commandIdentifiers"] = ["other", name]
        locations = {str(world.project): {"tool_approvals": [kind]}}
        file = world.home / ".copilot" / "permissions-config.json"
        file.write_text(json.dumps({"locations": locations}))
        assert "may not run" not in runs.run(*mode, "write", processes=[ALL[0]]).err


@pytest.mark.parametrize(
    "command", ["grep -q x a.py", "! git diff --quiet", "cd app && ls | wc -l"]
)
def test_a_check_that_only_reads(runs: Runs, command: str) -> None:
    runs.world.write("fix_plan.md", f"- [ ] cart\n  - check: `{command}`\n")

    assert "may not run" not in runs.begin("--max-iterations", "1", processes=[ALL[0]]).err


def test_a_worktree_has_what_is_allowed_in_its_repository(
    tmp_path: Path, home: Path, world: World
) -> None:
    home.mkdir()
    locations = {str(tmp_path / "main"): {"tool_approvals": [
        {"kind": "commands", "commandIdentifiers": ["make:*"]}]}}  # fmt: skip
    (home / "permissions-config.json").write_text(json.dumps({"locations": locations}))
    name = ("-c", "user.name=u", "-c", "user.email=u@example.org")
    subprocess.run(["git", "init", "-q", tmp_path / "main"], check=True)
    for words in (["commit", "-q", "--allow-empty", "-m", "x"], ["worktree", "add", "-q", "../w"]):
        subprocess.run(["git", *name, *words], cwd=tmp_path / "main", check=True)

    for folder in ("main", "w"):
        found = headless.warnings("", ["make"], "", str(tmp_path / folder), "write")
        assert not [each for each in found if "may not run" in each]


def test_a_variable_that_allows_all_is_named(runs: Runs) -> None:
    runs.world.setenv("COPILOT_ALLOW_ALL", "1")

    assert "COPILOT_ALLOW_ALL is set" in runs.begin(processes=ALL).err
