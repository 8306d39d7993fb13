"""Runs Codex without a terminal, as measured on 0.169.0. See `clients.base.Headless`.

`codex exec --json` prints an object a line: the session that it has begun, what its agent says and
does, and at the end of a turn its tokens or an error. A patch that its sandbox refuses is in no
line. How full the context is stands in the rollout alone.
"""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from glob import escape, glob
from typing import Any

from sisyphus.clients import defaults, failures, lines, programs, values
from sisyphus.clients.codex import app_server, native, touched, usage, wiring
from sisyphus.clients.finding import Level
from sisyphus.clients.reports import (
    LONGEST_LIMIT,
    Failure,
    Report,
    both_ends,
)
from sisyphus.clients.transcript_records import (
    AGENT,
    TOOL,
    RecordedCall,
    ToolResult,
    TranscriptLine,
)
from sisyphus.ground import paths
from sisyphus.hook.event import EDIT, OTHER, WRITE

Json = dict[str, Any]

_READ_MODE, EDITING_MODE, FREE_MODE = "read-only", "workspace-write", "danger-full-access"
MODES = (_READ_MODE, EDITING_MODE, FREE_MODE)
"""Its sandboxes. `codex exec` itself never asks: what a sandbox forbids fails."""

ABOUT_EDITING = (
    "lets the agent write in the project and in the folder for temporary files, and run commands "
    "without a network; it cannot commit."
)

PROGRAM = "codex"
LOCAL_SETTINGS = ""
COUNTS_DOLLARS = False

_REPORT = ("exec", "--json", "--skip-git-repo-check")
"""Without the last one it refuses to work outside of a repository; a run looks itself at what is
not committed."""

_OF_A_SESSION = (
    "CODEX_APPLY_PATCH_", "CODEX_CI", "CODEX_SANDBOX", "CODEX_SESSION_", "CODEX_THREAD_",
    "CODEX_TOOL_CALL_", "CODEX_VERSION",
)  # fmt: skip
"""How the variables start that it sets for the commands of its agent (measured)."""

_API_KEY = "CODEX_API_KEY"
"""`codex exec` takes a key from this variable, and from no other one (measured)."""

_PROTECTED = (".git", ".codex", ".agents")
"""Folders of the project, not those below its top, in which nothing can be written in
EDITING_MODE, whether they exist or not (measured)."""

_FOLDERS = 2
"""The rollout of a session that has just begun is in the last folder, one for each day, or in the
one before if it is midnight."""

_KINDS = {"add": WRITE, "update": EDIT}

_UNAPPROVED = "requires approval"
"""What it says of a call of an MCP server that it does not allow."""

_AGAIN = re.compile(
    r"try again at (?:([A-Z][a-z]{2} \d{1,2})[a-z]{2}, (\d{4}) )?(\d{1,2}:\d\d [AP]M)"
)
"""When the account's limit ends, in local time: `3:46 PM`, `Nov 29th, 2026 2:46 PM`."""

_UNHEARD = (
    "Codex does not run the hooks of sisyphus (`sisyphus doctor` says why): the run works without "
    "them, but Codex compacts a context that is full, and no handoff is written."
)


def program(project: str) -> str:
    return programs.find(PROGRAM, project)


def chosen_mode(home: str, project: str) -> str:
    """A project's settings can choose a sandbox too; the user does not know that."""
    if paths.is_inside(native.codex_home(), project):
        return ""
    return values.text(wiring.settings().get("sandbox_mode"))


def command(program: str, session: str, mode: str) -> list[str]:
    return [program, *_REPORT, *(["--sandbox", mode] if mode else []), "-"]


def audit_command(program: str, session: str) -> list[str]:
    """Of an MCP server the agent gets those tools that say that they only read (measured). What
    Codex remembers of other sessions is what the workers said."""
    *words, prompt = command(program, session, _READ_MODE)
    return [*words, "-c", "features.memories=false", prompt]


new_session = defaults.no_text
"""It takes no id."""


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(_OF_A_SESSION)}


def why_logged_out(program: str, project: str) -> str:
    """`codex login status` says "not logged in" to everybody who has another provider (measured),
    so we ask what knows whether a login is needed."""
    if os.environ.get(_API_KEY):
        return ""
    status = app_server.ask(program, "account/read", {}) or {}
    if status.get("account") or status.get("requiresOpenaiAuth") is not True:
        return ""
    return f"Codex is not logged in. Log in with `codex login`, or set {_API_KEY}."


def warnings(
    program: str, commands: Iterable[str], home: str, project: str, mode: str
) -> Iterator[str]:
    """Its sandbox runs every command."""
    levels = [each.level for each in wiring.trust(program, project)]
    if Level.PROBLEM in levels and Level.GOOD not in levels:  # those of one file are enough
        yield _UNHEARD


def is_refused(path: str, project: str, mode: str) -> bool:
    if mode == FREE_MODE:
        return False
    names = paths.names(os.path.join(project, path), project)
    is_protected = any(name.split("/")[0] in _PROTECTED for name in names)
    return mode == _READ_MODE or not names or is_protected


# ---------------------------------------------------------------- what it reports


def feed(report: Report, line: bytes) -> None:
    raw = lines.parse(line)
    kind = values.text(raw.get("type")) if raw else ""
    session = values.id(raw.get("thread_id")) if raw and kind == "thread.started" else ""
    if raw is None or not report.takes(session, is_first=True):
        report.add_line(line)
        return
    match kind:
        case "turn.started":
            report.has_ended = False
        case "item.started" | "item.completed":
            _read_item(report, values.mapping(raw.get("item")), is_over=kind == "item.completed")
        case "error":  # perhaps it tries again
            report.error = values.text(raw.get("message"))
        case "turn.completed":
            report.has_ended, report.error = True, ""
            _count(report, values.mapping(raw.get("usage")))
        case "turn.failed":
            error = values.text(values.mapping(raw.get("error")).get("message"))
            report.has_ended, report.error = True, error or report.error or "unknown"
    if kind in ("item.completed", "turn.completed", "turn.failed"):
        _read_context(report)


def _read_item(report: Report, item: Json, *, is_over: bool) -> None:
    """Reads what the agent says or does. What it does is told twice: when it begins, and with its
    result."""
    kind, id = item.get("type"), values.text(item.get("id"))
    if kind == "error":  # a warning
        return
    report.error = ""  # of a request that the client has repeated
    if kind == "agent_message":
        report.add_record(TranscriptLine(AGENT, 0.0, texts=(values.text(item.get("text")),)))
        return
    calls = _calls(item, id)
    if not calls:
        return
    if id not in report.calls:
        report.add_call(calls[0])
        report.add_record(TranscriptLine(AGENT, 0.0, calls=calls))
    if is_over:
        result = _result(item, id)
        report.add_record(TranscriptLine(TOOL, 0.0, results=(result,)))
        if result.is_refused:
            report.deny(report.calls[id])


def _calls(item: Json, id: str) -> tuple[RecordedCall, ...]:
    """Returns the tool call of an item, one for each file that it changes."""
    match item.get("type"):
        case "command_execution":
            line = _without_shell(values.text(item.get("command")))
            return (RecordedCall(id, touched.SHELL, OTHER, target=line, shell=line),)
        case "file_change":
            changes = [values.mapping(each) for each in values.items(item.get("changes"))]
            return tuple(
                RecordedCall(
                    id,
                    touched.PATCH,
                    _KINDS.get(values.text(each.get("kind")), OTHER),
                    target=values.path(each.get("path")),
                )
                for each in changes
            )
        case "mcp_tool_call":
            names = (values.text(item.get(key)) for key in ("server", "tool"))
            return (RecordedCall(id, "__".join(("mcp", *names)), OTHER),)
    return ()


def _without_shell(command: str) -> str:
    """Returns the command line of the agent; the client puts `/bin/bash -lc` before it."""
    with suppress(ValueError):
        _, option, line = shlex.split(command)
        if option.startswith("-"):
            return line
    return command


def _result(item: Json, id: str) -> ToolResult:
    text = values.text(item.get("aggregated_output"))
    error = values.text(values.mapping(item.get("error")).get("message"))
    is_refused = item.get("status") == "declined" or _UNAPPROVED in error
    has_failed = is_refused or item.get("status") == "failed"
    code = item.get("exit_code")
    text = f"Exit code {code}\n{text}" if has_failed and isinstance(code, int) else text or error
    return ToolResult(id, both_ends(text), has_failed, is_refused)


def _count(report: Report, used: Json) -> None:
    """Takes the tokens of the whole session; those that were cached are among them."""
    counts = (values.count(used.get(key)) for key in ("input_tokens", "output_tokens"))
    report.tokens = max(report.tokens, sum(counts))


def _read_context(report: Report) -> None:
    """Reads the rollout, which also has the tokens of a turn that was cut off."""
    report.transcript = path = report.transcript or _rollout(report.session)
    if not path:
        return
    for raw in lines.last(path, b'"token_usage_record"'):
        if raw.get("type") == "token_usage_record":
            record = values.mapping(raw.get("payload"))
            _count(report, values.mapping(record.get("thread_token_usage")))
            break
    report.context, window = usage.read(path)
    report.window = window or report.window
    if report.window:
        report.peak = max(report.peak, 100 * report.context // report.window)


def _rollout(session: str) -> str:
    """Returns the file of a session that has begun today; "" if there is none."""
    home = native.codex_home()
    days = sorted(glob(os.path.join(escape(home), "sessions", *["[0-9]*"] * 3)))[-_FOLDERS:]
    name = f"rollout-*-{escape(session)}.jsonl"
    return next((path for day in days for path in glob(os.path.join(escape(day), name))), "")


# ---------------------------------------------------------------- why it failed


def failure(report: Report, code: int, errors: str, now: float) -> Failure | None:
    _read_context(report)  # on a busy machine the rollout ends later than the events
    until = partial(_until, now=now)
    return failures.failure(report, code, errors, wiring.TITLE, failures.cause, until)


def _until(text: str, now: float) -> float:
    """Returns the end of the minute at which the client says that the limit ends; 0 = unknown."""
    found = _AGAIN.search(text)
    if not found:
        return 0.0
    day = f"{found[1]} {found[2]}" if found[1] else time.strftime("%b %d %Y", time.localtime(now))
    try:
        until = time.mktime(time.strptime(f"{day} {found[3]}", "%b %d %Y %I:%M %p")) + 60
    except (ValueError, OverflowError):
        return 0.0
    return until if now < until <= now + LONGEST_LIMIT else 0.0
