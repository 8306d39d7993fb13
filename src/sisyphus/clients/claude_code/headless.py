"""Runs Claude Code without a terminal, as measured on 2.1.329. See `clients.base.Headless`.

With `--output-format stream-json` it prints an object a line: messages as in its transcript, what
it denies, which request it repeats, and at the end a result. Its commands inside a session get
variables that name that session; a client that is started there must not see them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any
from uuid import uuid4

from sisyphus.clients import failures, json_files, lines, programs, values
from sisyphus.clients.claude_code import native, permissions, transcript, usage
from sisyphus.clients.reports import (
    ACCOUNT,
    BILLING,
    CLIENT,
    CONTEXT,
    LOGIN,
    LONGEST_LIMIT,
    MODEL,
    NETWORK,
    OVERLOAD,
    Failure,
    Report,
    both_ends,
)
from sisyphus.clients.transcript_records import AGENT, TranscriptLine
from sisyphus.ground import paths, processes

Json = dict[str, Any]

EDITING_MODE, FREE_MODE = "acceptEdits", "bypassPermissions"
MODES = (EDITING_MODE, "auto", FREE_MODE, "dontAsk")

ABOUT_EDITING = (
    "lets the agent edit the project's files; it may run only the commands that your settings "
    "allow."
)

PROGRAM = "claude"
LOCAL_SETTINGS = ".claude/settings.local.json"
COUNTS_DOLLARS = True
_TITLE = "Claude Code"
_REPORT = ("-p", "--output-format", "stream-json", "--verbose")
_NO_PROMPTS = ("--permission-prompts", "none")
"""Tells the agent that nobody can allow anything. Earlier versions do not know it."""

_READING = (
    *("--permission-mode", "dontAsk", "--tools", "Read,Grep,Glob", "--strict-mcp-config"),
    *("--settings", '{"autoMemoryEnabled": false}'),
)
"""Gives the agent these three tools, none of an MCP server, and not the memory in which agents that
worked here before have left notes (measured)."""

_ASK_SECONDS = 20.0
"""How long the client may take to say what it can do. It takes 0.2 s."""

_OF_A_SESSION = (
    "AI_AGENT", "CLAUDECODE", "CLAUDE_CODE_CHILD_", "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_MESSAGING_", "CLAUDE_CODE_SESSION_", "CLAUDE_EFFORT",
    "CLAUDE_ENV_FILE", "CLAUDE_PID", "CLAUDE_PLUGIN_", "CLAUDE_PROJECT_DIR",
)  # fmt: skip
"""How the variables start that it sets for its commands and hooks (measured). All others that
start with CLAUDE are the user's: a token, a provider."""

_OWN_FOLDER, _OPEN_FOLDER = ".claude", "worktrees"
_SENSITIVE_FOLDERS = (".git", ".vscode", ".idea", ".husky")
"""Folders whose files it protects at any depth, in any case. So are those in `.claude`, except in
`.claude/worktrees` (measured)."""

_FIRST_LINES = ("system", "result")
"""The types of the lines with which its report begins: it says which model it has, or what its
hooks at the start have said; with `--output-format json` there is nothing but the result."""

_TOKENS = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
_MOST = 10**12
"""No count and no time in seconds is larger."""

_SIGNS = (
    (CONTEXT, "prompt_too_long blocking_limit model_context_window_exceeded 413"),
    (BILLING, "billing_error model_requires_usage_credits long_context_credits_required 402"),
    (LOGIN, "authentication_failed oauth_org_not_allowed account_on_hold 401 403"),
    (MODEL, "model_not_found 404"),
    (ACCOUNT, "usage_limit_reached rate_limit 429"),
    (NETWORK, "connection_failed stream_idle_timeout computer_slept no_response 408"),
    (OVERLOAD, "overloaded server_error 500 502 503 504 520 529"),
    (CLIENT, "claude_code_version_too_old"),
)
"""Kinds of failures, and the client's names and HTTP statuses for them."""

_KINDS = {sign: kind for kind, signs in _SIGNS for sign in signs.split()}


def program(project: str) -> str:
    return programs.find(PROGRAM, project)


def chosen_mode(home: str, project: str) -> str:
    """A project's settings can choose a mode too; the user does not know that."""
    if paths.is_home_in(project):
        return ""
    user_settings = native.settings_paths(home, project)[0]
    permissions = json_files.read_or_empty(user_settings).get("permissions")
    mode = permissions.get("defaultMode") if isinstance(permissions, dict) else ""
    return values.text(mode)


def command(program: str, session: str, mode: str) -> list[str]:
    words = [program, *_REPORT, "--session-id", session]
    if mode:
        words += ["--permission-mode", mode]
    return [*words, *_NO_PROMPTS] if _knows(program, _NO_PROMPTS[0]) else words


def audit_command(program: str, session: str) -> list[str]:
    return [program, *_REPORT, "--session-id", session, *_READING]


def new_session() -> str:
    return str(uuid4())


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(_OF_A_SESSION)}


def why_logged_out(program: str, project: str) -> str:
    """Asks in the project, because its settings can name a provider. An earlier version, which does
    not know the question, says nothing."""
    status = lines.parse(_ask(program, project, "auth", "status").encode()) or {}
    if status.get("loggedIn") is not False:
        return ""
    return (
        "Claude Code is not logged in. Log in with `claude auth login`, or set ANTHROPIC_API_KEY."
    )


@cache
def _knows(program: str, flag: str) -> bool:
    return flag in _ask(program, os.curdir, "--help")


def _ask(program: str, folder: str, *words: str) -> str:
    """Returns what the client prints; "" if it cannot be started."""
    try:
        return processes.run([program, *words], folder, _ASK_SECONDS, environment()).output
    except OSError:
        return ""


def warnings(
    program: str, commands: Iterable[str], home: str, project: str, mode: str
) -> Iterator[str]:
    if refused := permissions.why_not_allowed(commands, home, project, mode):
        yield refused


def is_refused(path: str, project: str, mode: str) -> bool:
    names = paths.names(os.path.join(project, path), project)
    return mode != FREE_MODE and any(_is_sensitive(name.lower().split("/")) for name in names)


def _is_sensitive(parts: list[str]) -> bool:
    return any(
        folder in _SENSITIVE_FOLDERS or (folder == _OWN_FOLDER and below != _OPEN_FOLDER)
        for folder, below in pairwise(parts)
    )


def feed(report: Report, line: bytes) -> None:
    raw = lines.parse(line)
    session = values.id(raw.get("session_id")) if raw else ""
    kind = values.text(raw.get("type")) if raw else ""
    if raw is None or not (session and report.takes(session, is_first=kind in _FIRST_LINES)):
        report.add_line(line)
        return
    match kind:
        case "assistant" | "user" if message := values.mapping(raw.get("message")):
            _read_message(report, raw, message)
        case "system":
            _read_system(report, raw)
        case "rate_limit_event":
            _read_limit(report, raw)
        case "result":
            _read_result(report, raw)


def _read_message(report: Report, raw: Json, message: Json) -> None:
    is_main = raw.get("parent_tool_use_id") is None
    if raw.get("is_api_error_message") is True:
        if is_main:
            report.error = " ".join(transcript.record_of(raw, message, 0).texts)
            report.signs = _signs(raw, "api_error", "error", "api_error_status")
            _read_limit(report, values.mapping(raw.get("api_error_params")))
        return
    # What the client itself tells the model has another name in a transcript.
    raw = {**raw, "isMeta": raw.get("isSynthetic")}
    tokens = _count(transcript.tokens_of(message.get("usage")))
    new = report.count(values.text(message.get("id")), tokens)
    record = transcript.record_of(raw, message, new)
    for call in record.calls:
        report.add_call(call)
    if not is_main:
        return
    for result in record.results:
        result.text = both_ends(result.text)
    report.add_record(record)
    if record.author == AGENT:
        report.error, report.signs = "", ()  # of a request that the client has repeated
        _read_context(report, raw)


def _read_context(report: Report, raw: Json) -> None:
    tokens, window = usage.of_answer({"requestedModel": report.model, **raw}) or (0, 0)
    if not _count(tokens):
        return
    report.context = tokens
    if tokens > report.window:
        report.window = window
    report.peak = max(report.peak, 100 * tokens // report.window)


def _read_system(report: Report, raw: Json) -> None:
    match raw.get("subtype"):
        case "init":
            report.model = values.text(raw.get("model"))
        case "permission_denied":
            _note_denied(report, raw)
        case "api_retry":
            report.signs = _signs(raw, "error", "error_status")
        case "compact_boundary":
            report.context = _count(values.mapping(raw.get("compact_metadata")).get("post_tokens"))


def _note_denied(report: Report, raw: Json) -> None:
    """Notes a denied call once: the result names it again."""
    if denied := report.calls.pop(values.text(raw.get("tool_use_id")), None):
        report.deny(denied)


def _read_limit(report: Report, raw: Json) -> None:
    info = values.mapping(raw.get("rate_limit_info"))
    if info.get("status") == "rejected":
        report.resets_at = float(_count(info.get("resetsAt")))


def _read_result(report: Report, raw: Json) -> None:
    report.has_ended = True
    report.cost = max(report.cost, _number(raw.get("total_cost_usd")))
    text, subtype = values.text(raw.get("result")), values.text(raw.get("subtype"))
    _read_models(report, values.mapping(raw.get("modelUsage")))
    for each in values.items(raw.get("permission_denials")):
        _note_denied(report, values.mapping(each))
    if raw.get("is_error") is True or subtype.startswith("error"):
        errors = [each for each in values.items(raw.get("errors")) if isinstance(each, str)]
        report.error = text or " ".join(errors) or report.error or subtype or "unknown"
        ended = _signs(raw, "terminal_reason", "subtype", "api_error")
        report.signs = (*ended, *report.signs, *_signs(raw, "api_error_status"))
        return
    report.error, report.signs = "", ()
    if text and not report.records:  # with `--output-format json` there is nothing but the result
        report.add_record(TranscriptLine(AGENT, 0.0, texts=(text,)))


def _read_models(report: Report, models: Json) -> None:
    """Takes what the client itself has counted, with answers that are in no line of the stream."""
    counts = [
        _count(values.mapping(each).get(name)) for each in models.values() for name in _TOKENS
    ]
    report.tokens = max(report.tokens, sum(counts))
    window = _count(values.mapping(models.get(report.model)).get("contextWindow"))
    if window and report.window:
        report.peak = report.peak * report.window // window
    report.window = window or report.window


def failure(report: Report, code: int, errors: str, now: float) -> Failure | None:
    is_known = now < report.resets_at <= now + LONGEST_LIMIT
    until = report.resets_at if is_known else 0.0
    return failures.failure(report, code, errors, _TITLE, _cause, lambda _: until)


def _cause(report: Report, code: int, errors: str) -> tuple[str, str]:
    """Returns the kind of a failure, and the line that says it. The client's own names count before
    its words."""
    kind = next((_KINDS[sign] for sign in report.signs if sign in _KINDS), "")
    if kind == ACCOUNT:  # a status that has several causes, of which the words name one
        kind = failures.kind_of(report.error)[0] or kind
    if kind:
        return kind, report.error
    return failures.cause(report, code, errors)


def _signs(raw: Json, *keys: str) -> tuple[str, ...]:
    found = (raw.get(key) for key in keys)
    return tuple(str(_count(value) or values.text(value)) for value in found if value)


def _count(value: Any) -> int:
    return int(_number(value))


def _number(value: Any) -> float:
    """Returns a number above 0; 0 for everything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 < value < _MOST else 0.0
