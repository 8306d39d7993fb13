"""Runs Copilot CLI without a terminal, as measured on 1.0.102. See `clients.base.Headless`.

With `--output-format json` it prints an object a line: what the agent says and does as in its
transcript, which request it repeats, and at the end a result. That line alone has the session's id.
How full the context is, and which tokens were used, stands in the transcript alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any
from uuid import uuid4

from sisyphus.clients import defaults, failures, hook_groups, json_files, lines, programs, values
from sisyphus.clients.copilot import native, permissions, places, transcript, usage, wiring
from sisyphus.clients.reports import (
    ACCOUNT,
    BILLING,
    CONTEXT,
    LOGIN,
    MODEL,
    NETWORK,
    OVERLOAD,
    Failure,
    Report,
    both_ends,
)
from sisyphus.clients.transcript_records import AGENT, TranscriptLine
from sisyphus.ground import paths

Json = dict[str, Any]

EDITING_MODE, _TOOLS_MODE, FREE_MODE = "write", "allow-all-tools", "allow-all"
MODES = (EDITING_MODE, _TOOLS_MODE, FREE_MODE)
"""Called like the options that they stand for. It has others for a terminal alone."""

ABOUT_EDITING = (
    "lets the agent edit the project's files; it may run only commands that read, and those that "
    "you have allowed for the project."
)

PROGRAM = "copilot"
LOCAL_SETTINGS = ""
COUNTS_DOLLARS = False

_REPORT = ("--output-format", "json", "--no-color", "--session-id")
"""It takes the prompt from stdin if it gets none as an argument."""

_OPTIONS = {
    EDITING_MODE: "--allow-tool=write",
    _TOOLS_MODE: "--allow-all-tools",
    FREE_MODE: "--allow-all",
}
_READING = "--available-tools=view,grep,glob"
"""Gives the agent these three tools, none of an MCP server (measured)."""

_ALLOW_ALL = "COPILOT_ALLOW_ALL"
"""The variable by which a user allows all tools in all sessions; its help names what turns it on
and off. "true" lets a project's hooks run, too."""

_NO_CONSENT = ("", "false", "0", "no", "off", "n")

_OF_A_SESSION = (
    "COPILOT_AGENT_SESSION_ID", "COPILOT_CLI", "COPILOT_CLI_BINARY_VERSION",
    "COPILOT_CLI_RESOLVED_DIST_DIR", "COPILOT_HOOK_DIR", "COPILOT_LOADER_PID",
    "COPILOT_PROJECT_DIR",
)  # fmt: skip
"""The variables that it sets for its commands and hooks (measured)."""

_SIGNS = (
    (CONTEXT, "413"),
    (BILLING, "402"),
    (LOGIN, "authentication 401 403"),
    (MODEL, "404"),
    (ACCOUNT, "rate_limit 429"),
    (NETWORK, "408"),
    (OVERLOAD, "500 502 503 504 529"),
)
"""Kinds of failures, and the client's names and HTTP statuses for them."""

_KINDS = {sign: kind for kind, signs in _SIGNS for sign in signs.split()}

_UNHEARD = (
    "Copilot CLI does not run the hooks of sisyphus (`sisyphus install --client copilot` wires "
    "them): the run works without them, but Copilot CLI compacts a context that is full, and no "
    "handoff is written."
)
_ALLOWS_ALL = f"{_ALLOW_ALL} is set: the agent of Copilot CLI may run everything in this mode, too."


def program(project: str) -> str:
    return programs.path_of(wiring.CLIENT, project)


def chosen_mode(home: str, project: str) -> str:
    """Its settings choose a mode for the terminal alone."""
    return _TOOLS_MODE if _allows_all() else ""


def _allows_all() -> bool:
    return os.environ.get(_ALLOW_ALL, "").strip().lower() not in _NO_CONSENT


def command(program: str, session: str, mode: str) -> list[str]:
    """Without `--trust-folder`: a project may be a stranger's, and has hooks."""
    option = _OPTIONS.get(mode)
    return [program, *_REPORT, session, *([option] if option else [])]


def audit_command(program: str, session: str) -> list[str]:
    return [program, *_REPORT, session, _READING]


def new_session() -> str:
    return str(uuid4())


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _OF_A_SESSION}


why_logged_out = defaults.no_text
"""It does not say before it is asked for work."""


def warnings(
    program: str, commands: Iterable[str], home: str, project: str, mode: str
) -> Iterator[str]:
    if not _hears(project):
        yield _UNHEARD
    if mode != EDITING_MODE:
        return
    if _allows_all():
        yield _ALLOWS_ALL
    elif refused := permissions.why_not_allowed(commands, project, mode, _TOOLS_MODE):
        yield refused


def _hears(project: str) -> bool:
    """Tells whether it runs our hooks in a project: those of the user or, if the user trusts the
    project, those there."""
    folders = ["", project] if native.trusts(project) else [""]
    files = map(json_files.read_or_empty, map(wiring.hooks_file, folders))
    return any(map(hook_groups.has_ours, files))


def is_refused(path: str, project: str, mode: str) -> bool:
    """What lies in the project it edits in all modes, `.git` too (measured)."""
    names = paths.names(os.path.join(project, path), project)
    return mode != FREE_MODE and not names


# ---------------------------------------------------------------- what it reports


def feed(report: Report, line: bytes) -> None:
    raw = lines.parse(line)
    kind = values.text(raw.get("type")) if raw else ""
    if raw is None or not _is_event(raw, kind) or not report.takes_unnamed():
        report.add_line(line)
        return
    data = values.mapping(raw.get("data"))
    is_main = not raw.get("agentId")
    match kind:
        case "assistant.message" | "tool.execution_complete":
            _read_record(report, raw, is_main=is_main)
        case "model.call_failure" if is_main:  # perhaps it tries again
            report.error, report.signs = values.text(data.get("errorMessage")), _signs(data)
        case "session.error" if is_main:  # after what the last request has met
            report.error = f"{values.text(data.get('message'))}\n{report.error}".strip()
            report.signs = (*_signs(data), *report.signs)
        case "result":
            _read_result(report, raw)
    if kind in ("assistant.turn_start", "assistant.turn_end", "result"):
        _read_usage(report)


def _is_event(raw: Json, kind: str) -> bool:
    """Tells whether an object is one of the client's: all have a time, and those before the last
    one what has happened, and an id."""
    if kind == "result":
        return "timestamp" in raw and "exitCode" in raw
    return bool(kind) and isinstance(raw.get("data"), dict) and {"id", "timestamp"} <= raw.keys()


def _read_record(report: Report, raw: Json, *, is_main: bool) -> None:
    record = transcript.record_of(raw)
    if record is None:
        return
    for call in record.calls:
        report.add_call(call)
    for result in record.results:
        result.text = both_ends(result.text)
        if result.is_refused and (denied := report.calls.pop(result.id, None)):
            report.deny(denied)
    if is_main:
        _add_record(report, record)


def _add_record(report: Report, record: TranscriptLine) -> None:
    report.add_record(record)
    if record.author == AGENT:
        report.error, report.signs = "", ()  # of a request that the client has repeated


def _read_result(report: Report, raw: Json) -> None:
    report.takes(values.id(raw.get("sessionId")), is_first=True)
    report.has_ended = True
    if raw.get("exitCode") == 0:
        report.error, report.signs = "", ()
    else:
        report.error = report.error or "unknown"


def _signs(data: Json) -> tuple[str, ...]:
    status, name = values.count(data.get("statusCode")), values.text(data.get("errorType"))
    return tuple(filter(None, (name, str(status) if status else "")))


def _read_usage(report: Report) -> None:
    """Reads in the transcript what was used since the last time."""
    if not report.session:
        return
    report.transcript = path = places.transcript(report.session)
    for raw in lines.last(path, f'"{usage.COUNT}"'.encode()):
        id = values.text(raw.get("id"))
        if id in report.counted:
            break
        report.count(id, transcript.tokens_of(raw))
    report.context, window = usage.read(path)
    report.window = window or report.window
    if report.window:
        report.peak = max(report.peak, 100 * report.context // report.window)


# ---------------------------------------------------------------- why it failed


def failure(report: Report, code: int, errors: str, now: float) -> Failure | None:
    _read_usage(report)  # the client writes the transcript later than it prints
    return failures.failure(report, code, errors, wiring.TITLE, _cause, lambda _: 0.0)


def _cause(report: Report, code: int, errors: str) -> tuple[str, str]:
    """Returns the kind of a failure, and the line that says it. The client's own names count before
    its words."""
    kind = next((_KINDS[sign] for sign in report.signs if sign in _KINDS), "")
    if not kind:
        return failures.cause(report, code, errors)
    return kind, report.error.strip().partition("\n")[0]
