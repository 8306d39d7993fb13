"""Claude Code without a terminal: its command lines, what it prints, why it fails.

The lines are those of the real client, without the fields that we do not read.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from world import Json, World, agent, result, use, user

from sisyphus import clients
from sisyphus.clients.reports import (
    ACCOUNT,
    BILLING,
    CLIENT,
    CONTEXT,
    CRASH,
    DISK,
    LOGIN,
    MODEL,
    NETWORK,
    OVERLOAD,
    RESULT_CHARACTERS,
    TEXT_CHARACTERS,
    Denied,
    Failure,
    Report,
)
from sisyphus.clients.transcript_records import AGENT, CONTINUATION, OTHER, TOOL

NOW = 1_795_676_000.0
RESET = 1_795_683_494
SESSION = "3f28f5d0-e67d-4a40-b0db-24cc938db825"

headless = clients.headless()


def line(type: str, **fields: object) -> Json:
    return {"type": type, "session_id": SESSION, **fields}


def init(model: str = "claude-opus-5-5") -> Json:
    return line("system", subtype="init", cwd="/p", model=model, permissionMode="acceptEdits")


def answer(*blocks: Json | str, id: str = "msg_1", tokens: int = 110, **fields: object) -> Json:
    """A line of the agent; `tokens` has 10 of output in it."""
    raw = agent(*blocks, tokens=tokens)
    raw["message"] |= {"id": id, "model": "claude-opus-5-5"}
    return line(**{**raw, "parent_tool_use_id": None, **fields})


def answered(text: str, id: str = "t1", **fields: object) -> Json:
    return line(**{**result(text, id), "parent_tool_use_id": None, **fields})


def denied(tool: str, id: str) -> Json:
    return line("system", subtype="permission_denied", tool_name=tool, tool_use_id=id)


def end(text: str = "Done.", **fields: object) -> Json:
    common = {"subtype": "success", "is_error": False, "terminal_reason": "completed"}
    return line("result", **{**common, "result": text, **fields})


def used(model: str, tokens: int, window: int) -> Json:
    """The `modelUsage` of a result."""
    counts = {"inputTokens": tokens - 30, "outputTokens": 10, "cacheReadInputTokens": 20}
    return {model: {**counts, "cacheCreationInputTokens": 0, "contextWindow": window}}


def report_of(*lines: Json | bytes) -> Report:
    report = Report()
    for each in lines:
        headless.feed(report, each if isinstance(each, bytes) else json.dumps(each).encode())
    return report


def failure(*lines: Json | bytes, code: int = 1, errors: str = "") -> Failure | None:
    return headless.failure(report_of(*lines), code, errors, NOW)


def refused(text: str, error: str, status: int | None, **fields: object) -> list[Json]:
    """What the client prints if a request has failed for good."""
    message = {"model": "<synthetic>", "content": [{"type": "text", "text": text}]}
    of_both = {"api_error_status": status, **fields}
    said = {"error": error, "is_api_error_message": True, "parent_tool_use_id": None}
    return [
        line("assistant", message=message, **{**said, **of_both}),
        end(text, **{"is_error": True, "terminal_reason": "api_error", **of_both}),
    ]


# ------------------------------------------------------------ the stream


def test_a_session() -> None:
    report = report_of(
        init(),
        answer(use("Write", "t1", file_path="/p/a.txt", content="hi\n")),
        answered("The file /p/a.txt has been updated successfully.", "t1"),
        answer("All done.\n\n<promise>DONE</promise>", id="msg_2"),
        end(total_cost_usd=0.0018, modelUsage=used("claude-opus-5-5", 260, 1_000_000)),
        line("system", subtype="hook_response", output=""),
    )

    assert (report.session, report.model) == (SESSION, "claude-opus-5-5")
    assert [record.author for record in report.records] == [AGENT, TOOL, AGENT]
    assert report.records[0].calls[0].target == "/p/a.txt"
    assert report.records[2].texts == ("All done.\n\n<promise>DONE</promise>",)
    assert (report.tokens, report.cost) == (260, 0.0018)
    assert report.has_ended
    assert not report.error
    assert not report.text
    assert headless.failure(report, 0, "", NOW) is None


def test_an_answer_of_several_lines_is_counted_once() -> None:
    lines = [answer("I write."), answer(use("Read", file_path="a")), answer("Yes.", id="msg_2")]

    report = report_of(init(), *lines)

    assert report.tokens == 220
    assert [record.tokens for record in report.records] == [110, 0, 110]


def test_a_subagents_tokens_count_and_its_words_do_not() -> None:
    report = report_of(
        init(),
        answer(use("Agent", "t1", prompt="look")),
        line(**user("look"), parent_tool_use_id="t1"),
        answer("<promise>DONE</promise>", id="msg_2", tokens=500_000, parent_tool_use_id="t1"),
    )

    assert report.tokens == 500_110
    assert len(report.records) == 1
    assert (report.context, report.peak) == (100, 0)


@pytest.mark.parametrize(
    ("model", "window", "peak"),
    [
        ("claude-opus-5-5", 1_000_000, 15),
        ("claude-sonnet-4-5", 200_000, 75),
        ("claude-sonnet-4-5[1m]", 1_000_000, 15),
    ],
)
def test_how_full_the_context_is(model: str, window: int, peak: int) -> None:
    first = answer("a", tokens=150_010)
    first["message"]["model"] = model.removesuffix("[1m]")

    report = report_of(init(model), first, answer("b", id="msg_2", tokens=50_010))

    assert (report.context, report.window, report.peak) == (50_000, window, peak)


def test_a_context_that_does_not_fit_shows_a_larger_window() -> None:
    lines = [answer("a", tokens=100_010), answer("b", id="msg_2", tokens=300_010)]
    for each in lines:
        each["message"]["model"] = "sonnet"

    report = report_of(init("sonnet"), *lines)

    assert (report.window, report.peak) == (1_000_000, 50)


def test_the_client_knows_the_window_better() -> None:
    lines = [init("claude-opus-5-5"), answer("a", tokens=150_010)]

    report = report_of(*lines, end(modelUsage=used("claude-opus-5-5", 200_000, 500_000)))

    assert (report.tokens, report.window, report.peak) == (200_000, 500_000, 30)


def test_a_compaction_empties_the_context() -> None:
    boundary = line("system", subtype="compact_boundary", compact_metadata={"post_tokens": 2_605})
    summary = line(**user("This session is being continued"), isSynthetic=True)

    report = report_of(init(), answer("a", tokens=900_010), boundary, summary)

    assert (report.context, report.peak) == (2_605, 90)
    assert report.records[-1].author == OTHER


def test_what_a_stop_hook_says_is_no_prompt() -> None:
    said = [{"type": "text", "text": "Stop hook feedback:\ngo on"}]

    report = report_of(init(), answer("a"), line(**user(said), isSynthetic=True))

    assert report.records[-1].author == CONTINUATION


def test_long_results_are_cut_in_the_middle() -> None:
    text = "Exit code 1\n" + "x" * 50_000 + "\n2 failed"

    report = report_of(init(), answered(text))

    kept = report.records[0].results[0].text
    assert len(kept) <= RESULT_CHARACTERS
    assert kept.startswith("Exit code 1\n")
    assert kept.endswith("\n2 failed")


def test_a_denied_call_is_known_at_once_and_only_once() -> None:
    lines = [
        init(),
        answer(use("Write", "t1", file_path="/p/.claude/x.md")),
        answer(use("Edit", "t2", file_path="/p/a.md"), parent_tool_use_id="t0"),
        answer(use("Bash", "t3", command="exit 0")),
        denied("Write", "t1"),
        denied("Edit", "t2"),
    ]
    calls = [
        Denied("Write", "write", "/p/.claude/x.md"),
        Denied("Edit", "edit", "/p/a.md"),
        Denied("Bash", "other", "exit 0"),
    ]
    listed = [{"tool_use_id": id} for id in ("t1", "t2", "t3")]

    assert report_of(*lines).denied == calls[:2]
    assert report_of(*lines, end(permission_denials=listed)).denied == calls


def test_the_end_of_what_another_program_prints_is_kept() -> None:
    report = report_of(b"\xff first\n", b'{"type": "text"}\n', b"x" * 300_000 + b"\n", b"last")

    assert not report.is_stream
    assert not report.records
    assert len(report.text) == TEXT_CHARACTERS
    assert report.text.endswith("xxx\nlast\n")
    assert report.last_action == "last"


def test_a_result_alone_has_the_last_message() -> None:
    """As of `--output-format json`."""
    report = report_of(end("Done.", modelUsage=used("claude-opus-5-5", 110, 1_000_000)))

    assert report.records[0].texts == ("Done.",)
    assert report.tokens == 110


# ------------------------------------------------------------ failures

LIMIT = "You've hit your 5-hour limit · resets 8:58am (UTC)"
OFFLINE = "API Error: Connection refused — a firewall or proxy may be blocking it (ECONNREFUSED)"
TOO_LONG = "Prompt is too long · the request is ~210000 tokens (limit 200000)"


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        (refused("Invalid API key · Fix external API key", "authentication_failed", 401), LOGIN),
        (refused("Failed to authenticate. API Error: 403", "authentication_failed", 403), LOGIN),
        (refused("Not logged in · Please run /login", "unknown", None), LOGIN),
        (refused("Credit balance is too low", "billing_error", 400), BILLING),
        (refused("There's an issue with the selected model", "model_not_found", 404), MODEL),
        (refused("API Error: Request rejected (429) · …", "rate_limit", 429), ACCOUNT),
        (refused(LIMIT, "rate_limit", 429, api_error="usage_limit_reached"), ACCOUNT),
        (refused("API Error: 529 Overloaded.", "server_error", 529), OVERLOAD),
        (refused("API Error: 500 Internal server error.", "server_error", 500), OVERLOAD),
        (refused("API Error: 503", "unknown", 503), OVERLOAD),
        (refused(OFFLINE, "server_error", None, api_error="connection_failed"), NETWORK),
        (refused("API Error: fetch failed", "unknown", None), NETWORK),
        ([end(TOO_LONG, is_error=True, terminal_reason="prompt_too_long")], CONTEXT),
        ([end("ENOSPC: no space left on device, write", is_error=True)], DISK),
        (refused("Failed", "server_error", 500, terminal_reason="prompt_too_long"), CONTEXT),
        ([end("API Error: 400 messages: too odd", is_error=True)], CRASH),
        ([line("result", subtype="error_max_turns")], CRASH),
    ],
)
def test_what_a_failed_request_is(lines: list[Json], kind: str) -> None:
    found = failure(init(), *lines)

    assert found
    assert found.kind == kind
    assert str(lines[-1].get("result", "error_max_turns"))[:20] in found.text
    assert not report_of(init(), *lines).records  # the agent has said nothing


@pytest.mark.parametrize(
    ("code", "errors", "kind", "text"),
    [
        (1, "error: unknown option '--nope'\n(Did you mean --name?)", CLIENT, "option '--nope'"),
        (1, "--dangerously-skip-permissions cannot be used with root/sudo", CLIENT, "with root"),
        (127, "sh: 1: claude: not found", CLIENT, "claude: not found"),
        (126, "", CLIENT, "cannot be run"),
        (1, "Error: ENOSPC: no space left on device, write\n  at x", DISK, "ENOSPC"),
        (1, "getaddrinfo ENOTFOUND api.example.com", NETWORK, "ENOTFOUND"),
        (3, "first\nlast words\n\n", CRASH, "exit code 3: last words"),
        (-9, "", CRASH, "SIGKILL"),
        (-99, "", CRASH, "signal 99"),
    ],
)
def test_what_a_process_without_a_result_says(code: int, errors: str, kind: str, text: str) -> None:
    found = failure(code=code, errors=errors)

    assert found
    assert found.kind == kind
    assert text in found.text


@pytest.mark.parametrize(("kind", "is_fatal", "passes"), [
    (LOGIN, True, False), (DISK, True, False), (ACCOUNT, False, True), (CRASH, False, False),
])  # fmt: skip
def test_which_failures_end_a_run_and_which_pass(kind: str, is_fatal: bool, passes: bool) -> None:
    found = Failure(kind, "")

    assert (found.is_fatal, found.passes) == (is_fatal, passes)


def test_an_agent_that_writes_of_a_failure_has_none() -> None:
    talk = "You've hit your 5-hour limit. Credit balance is too low. ECONNREFUSED"

    assert failure(init(), answer(talk), end(talk), code=0) is None
    found = failure(init(), answer(talk), code=-9)
    assert found
    assert found.kind == CRASH
    found = failure(b"It works now.\n", talk.encode(), code=1)
    assert found
    assert found.kind == CRASH


def test_the_result_counts_and_not_what_was_printed_beside_it() -> None:
    errors = "telemetry: fetch failed"

    found = failure(init(), end("API Error: 400", is_error=True), errors=errors)

    assert found
    assert found.kind == CRASH
    assert failure(init(), end(), errors=errors) is None


def test_an_error_that_is_all_that_was_printed() -> None:
    """As of `--output-format text`."""
    found = failure(b"Credit balance is too low\n", code=1)

    assert found
    assert found.kind == BILLING
    assert failure(b"Credit balance is too low\n", code=0) is None


def test_a_stream_that_breaks_off_is_a_failure() -> None:
    found = failure(init(), answer("I work."), code=0)

    assert found
    assert (found.kind, found.text) == (CRASH, "it ended without a result")


def test_a_process_that_ends_while_it_repeats_a_request() -> None:
    retry = line("system", subtype="api_retry", error_status=529, error="overloaded")

    found = failure(init(), retry, code=-9)

    assert found
    assert found.kind == OVERLOAD
    found = failure(init(), retry, answer("I work."), code=-9)
    assert found
    assert found.kind == CRASH


@pytest.mark.parametrize(
    ("resets_at", "until"),
    [(RESET, RESET), (NOW - 5, 0), (NOW + 30 * 86_400, 0), ("soon", 0), (float("nan"), 0)],
)
def test_when_an_accounts_limit_ends(resets_at: float | str, until: float) -> None:
    info = {"rate_limit_info": {"status": "rejected", "resetsAt": resets_at}}
    lines = refused(LIMIT, "rate_limit", 429, api_error="usage_limit_reached")

    for found in (
        failure(init(), line("rate_limit_event", **info), *lines),
        failure(init(), {**lines[0], "api_error_params": info}, lines[1]),
    ):
        assert found
        assert (found.kind, found.until) == (ACCOUNT, until)


def test_a_warning_of_a_limit_ends_nothing() -> None:
    info = {"status": "allowed_warning", "resetsAt": RESET}

    report = report_of(init(), line("rate_limit_event", rate_limit_info=info))

    assert not report.resets_at


def test_secrets_are_masked() -> None:
    found = failure(code=1, errors="bad key sk-ant-api03-abcdefghij0123456789")

    assert found
    assert "0123456789" not in found.text


# ------------------------------------------------------------ the client may print anything

WORDS = ("system", "assistant", "user", "result", "rate_limit_event", "init", "permission_denied",
         "api_retry", "compact_boundary", "rejected", "error_x", "tool_use", "tool_result", "text",
         "Write", "t1", "claude-opus-5-5", SESSION)  # fmt: skip
KEYS = ("type", "subtype", "session_id", "message", "content", "id", "usage", "input_tokens",
        "output_tokens", "model", "parent_tool_use_id", "is_api_error_message", "error",
        "api_error", "api_error_status", "api_error_params", "rate_limit_info", "status",
        "resetsAt", "tool_use_id", "compact_metadata", "post_tokens", "total_cost_usd",
        "modelUsage", "claude-opus-5-5", "contextWindow", "inputTokens", "permission_denials",
        "is_error", "result", "errors", "terminal_reason", "timestamp", "name", "input",
        "file_path", "text")  # fmt: skip

values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.sampled_from(WORDS) | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=20,
)  # fmt: skip
objects = st.builds(
    lambda type, fields: {**fields, "type": type, "session_id": SESSION},
    st.sampled_from(WORDS),
    st.dictionaries(st.sampled_from(KEYS), values, max_size=10),
)


@given(st.lists(objects | st.binary(max_size=40), max_size=6), st.integers(-70, 255), st.text())
def test_whatever_it_prints(lines: list[Json | bytes], code: int, errors: str) -> None:
    report = report_of(*lines)

    found = headless.failure(report, code, errors, NOW)

    assert found is None or "\n" not in found.text
    assert isinstance(report.session + report.model + report.error + report.last_action, str)
    for number in (report.tokens, report.context, report.window, report.peak, report.cost):
        assert 0 <= number < 2**62
    assert all(isinstance(sign, str) for sign in report.signs)


@pytest.mark.parametrize("number", [10**30, -5, True, float("inf"), float("nan"), "7", [7], None])
def test_numbers_that_cannot_be(number: object) -> None:
    message = {"usage": {"input_tokens": number, "output_tokens": number}, "content": "a"}
    models = {"claude-opus-5-5": {"inputTokens": number, "contextWindow": number}}
    boundary = line("system", subtype="compact_boundary", compact_metadata={"post_tokens": number})

    report = report_of(
        init(),
        line("assistant", message=message),
        boundary,
        end(total_cost_usd=number, modelUsage=models),
    )

    assert report.tokens in (0, 2)  # true is 1 in Python
    assert (report.cost, report.context, report.window, report.peak) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"[" * 100_000, b'{"type": "result"', b"\x00\xff", b'{"type":"result"}',
     b'{"type": "result", "session_id": "../x"}', b"null", b"NaN"],
)  # fmt: skip
def test_what_is_no_line_of_the_stream_is_text(data: bytes) -> None:
    report = report_of(data)

    assert not report.is_stream
    assert not report.has_ended
    assert report.text


# ------------------------------------------------------------ what starts it


def install(world: World, folder: Path, script: str = "") -> str:
    """Puts a program that stands for the client into a folder of PATH."""
    file = folder / "claude"
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    world.setenv("PATH", os.pathsep.join([str(folder), os.environ["PATH"]]))
    return str(file)


def test_a_program_of_the_project_does_not_count(world: World) -> None:
    assert headless.program(str(world.project)) == ""
    own = install(world, world.root / "bin")
    install(world, world.project / "bin")
    assert headless.program(str(world.project)) == own
    world.setenv("PATH", os.path.relpath(world.root / "bin", world.project))
    assert headless.program(str(world.project)) == ""  # it depends on the folder


def test_a_link_into_or_out_of_the_project_does_not_count(world: World) -> None:
    program = install(world, world.root / "bin")
    os.unlink(program)
    inside = install(world, world.project / "tools")
    os.symlink(inside, program)

    assert headless.program(str(world.project)) == ""
    os.unlink(inside)
    os.symlink(install(world, world.root / "lib"), inside)
    world.setenv("PATH", str(world.project / "tools"))
    assert headless.program(str(world.project)) == ""


def test_the_command_lines(world: World) -> None:
    script = "echo asked >> asked.txt; echo '  --permission-prompts <target>  Who'"
    new = install(world, world.root / "new", script)
    old = install(world, world.root / "old", "echo '  --permission-mode <mode>  Which'")
    common = f"-p --output-format stream-json --verbose --session-id {SESSION}"

    def words(program: str, mode: str) -> str:
        return " ".join(headless.command(program, SESSION, mode)[1:])

    assert words(new, "auto") == f"{common} --permission-mode auto --permission-prompts none"
    assert words(new, "dontAsk").endswith(" --permission-prompts none")
    assert (world.project / "asked.txt").read_text() == "asked\n"  # once
    assert words(old, "auto") == f"{common} --permission-mode auto"
    assert words(str(world.root / "none"), "") == common
    audit = headless.audit_command(new, SESSION)
    assert audit[:2] == [new, "-p"]
    assert "--tools Read,Grep,Glob" in " ".join(audit)


def test_sessions_have_ids_of_their_own() -> None:
    assert len({headless.new_session() for _ in range(3)}) == 3


@pytest.mark.parametrize(
    ("script", "is_out"),
    [
        ("echo '{\"loggedIn\": false}'; exit 1", True),
        ("echo '{\"loggedIn\": true}'", False),
        ("echo 'error: unknown command auth' >&2; exit 1", False),
        ("echo 'Not logged in'; exit 1", False),
    ],
)
def test_whether_it_is_logged_in(world: World, script: str, is_out: bool) -> None:
    program = install(world, world.root / "bin", f'[ "$1 $2" = "auth status" ] && {{ {script}; }}')

    assert bool(headless.why_logged_out(program, os.curdir)) is is_out
    assert headless.why_logged_out(str(world.root / "none"), os.curdir) == ""


def test_a_client_in_the_shell_of_another_does_not_get_its_session(world: World) -> None:
    of_session = ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID", "CLAUDE_PROJECT_DIR",
                  "CLAUDE_CODE_MESSAGING_TOKEN", "CLAUDE_CODE_ENTRYPOINT")  # fmt: skip
    of_user = ("CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK",
               "ANTHROPIC_API_KEY", "SISYPHUS_RULES_ENABLED")  # fmt: skip
    for name in (*of_session, *of_user):
        world.setenv(name, "1")

    variables = headless.environment()

    assert not variables.keys() & {*of_session}
    assert variables.keys() >= {*of_user, "PATH", "HOME"}


# ------------------------------------------------------------ permissions


@pytest.mark.parametrize(
    ("path", "is_refused"),
    [
        ("fix_plan.md", False),
        ("docs/PLAN.md", False),
        (".sisyphus/PLAN.md", False),
        (".claude/PLAN.md", True),
        (".claude/plans/PLAN.md", True),
        (".CLAUDE/PLAN.md", True),
        ("pkg/.claude/PLAN.md", True),
        (".claude/worktrees/a/PLAN.md", False),
        (".claude/worktrees/a/.claude/PLAN.md", True),
        (".git/PLAN.md", True),
        (".vscode/PLAN.md", True),
        (".idea/PLAN.md", True),
        ("../other/.claude/PLAN.md", False),
    ],
)
def test_what_it_refuses_to_edit(world: World, path: str, is_refused: bool) -> None:
    file, project = str(world.project / path), str(world.project)

    assert headless.is_refused(file, project, "acceptEdits") is is_refused
    assert headless.is_refused(path, project, "dontAsk") is is_refused
    assert not headless.is_refused(file, project, headless.FREE_MODE)


def test_a_link_to_a_refused_file_is_refused(world: World) -> None:
    os.symlink(world.write(".claude/PLAN.md"), world.project / "PLAN.md")

    assert headless.is_refused("PLAN.md", str(world.project), "acceptEdits")


@pytest.mark.parametrize(
    ("settings", "mode"),
    [
        ({"permissions": {"defaultMode": "acceptEdits"}}, "acceptEdits"),
        ({"permissions": {"defaultMode": "plan"}}, "plan"),
        ({"permissions": {"defaultMode": ["auto"]}}, ""),
        ({"permissions": "auto"}, ""),
        ({}, ""),
    ],
)
def test_the_mode_of_the_users_settings(world: World, settings: Json, mode: str) -> None:
    world.claude.mkdir()
    (world.claude / "settings.json").write_text(json.dumps(settings))
    dangerous = json.dumps({"permissions": {"defaultMode": headless.FREE_MODE}})
    world.write(".claude/settings.json", dangerous)

    assert headless.chosen_mode(str(world.claude), str(world.project)) == mode


def test_a_home_in_the_project_chooses_nothing(world: World) -> None:
    home = world.write(".own/settings.json", '{"permissions": {"defaultMode": "auto"}}').parent
    world.setenv("CLAUDE_CONFIG_DIR", str(home))

    assert headless.chosen_mode(str(home), str(world.project)) == ""
