"""Claude Code run without a terminal: what starts it, what it tells of its work, why it fails.

Claude Code 2.1.329 writes an event a line with `--output-format stream-json --verbose`, one object
with `json`, a list of events with `json --verbose`, and plain words where it is asked for those.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from sisyphus.clients import running
from sisyphus.clients.claude_code_files import record
from sisyphus.clients.running import End, Event, Refusal, Retry
from sisyphus.errors import SisyphusError
from sisyphus.paths import is_inside
from sisyphus.processes import plain
from sisyphus.state.jsonl import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json

# --- what starts it ---------------------------------------------------------------------------

_NAMES = ("claude.exe", "claude.cmd") if os.name == "nt" else ("claude",)

_OURS = {
    "--print": "the client is run without a terminal anyhow",
    "--output-format": "the client's own report of its work is read as `stream-json`",
    "--input-format": "the prompt is given as text",
    "--session-id": "every iteration is a session of its own",
    "--resume": "every iteration starts with an empty context",
    "--continue": "every iteration starts with an empty context",
    "--from-pr": "every iteration starts with an empty context",
    "--fork-session": "every iteration starts with an empty context",
    "--no-session-persistence": "the hooks read the session's transcript",
    "--bg": "an iteration ends when the client ends",
    "--background": "an iteration ends when the client ends",
    "--worktree": "the work is done in the project itself",
    "--tmux": "the client is run without a terminal anyhow",
    "--cloud": "the client has to work on this machine",
    "--desktop": "the client has to work without a window",
    "--help": "the client would do no work",
    "--version": "the client would do no work",
    "--": "the prompt comes from PROMPT.md",
}
_SHORT = {
    "-p": "--print", "-r": "--resume", "-c": "--continue", "-h": "--help", "-v": "--version",
    "-w": "--worktree",
}  # fmt: skip


def find(root: str) -> str:
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        for name in _NAMES:
            path = os.path.join(folder, name)
            is_program = os.path.isabs(folder) and os.path.isfile(path) and os.access(path, os.X_OK)
            if is_program and not (is_inside(folder, root) or is_inside(path, root)):
                return path
    return ""


def argv(program: str, session: str, flags: Sequence[str] = ()) -> list[str]:
    for flag in flags:
        name = flag.partition("=")[0]
        reason = _OURS.get(_SHORT.get(name[:2], name) if name[:2] in _SHORT else name)
        if reason:
            raise SisyphusError(
                f"the client's flag {name} cannot be given: {reason}. Leave it out."
            )
    report = ["-p", "--output-format", "stream-json", "--verbose"]
    return [program, *report, "--session-id", session, *flags]


# --- what it tells ----------------------------------------------------------------------------

_KINDS = ("system", "assistant", "user", "result", "rate_limit_event", "stream_event")
_INTERRUPTED = "[Request interrupted by user"
_TOKENS = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
_NO_COUNT = 10**12

_WHOLE_BYTES = 8_000_000  # of an output that is one object; a stream is read line by line
_ERROR_CHARACTERS = 600
_ERRORS = (
    "API Error:", "Credit balance is too low", "Failed to authenticate", "Invalid API key",
    "Not logged in", "Prompt is too long", "Request rejected (429)",
    "There's an issue with the selected model", "You've hit your ",
)  # fmt: skip
"""What it prints alone where a request failed and it was asked for plain text."""


def events(line: bytes, *, is_report: bool) -> list[Event]:
    return [_event(raw) for raw in _objects(line) if is_report or raw.get("type") in _KINDS]


def report_lines(output: bytes) -> list[bytes]:
    try:
        whole = json.loads(output) if len(output) <= _WHOLE_BYTES else None
    except (ValueError, RecursionError):
        whole = _plain_error(output)
    return output.splitlines(keepends=True) if whole is None else [json.dumps(whole).encode()]


def _plain_error(output: bytes) -> Json | None:
    """What it prints for a failed request, as it would report it."""
    words = plain(output[: 2 * _ERROR_CHARACTERS]).strip()
    if len(output) > _ERROR_CHARACTERS or not words.startswith(_ERRORS):
        return None
    return {"type": "result", "subtype": "success", "is_error": True, "result": words}


def _objects(line: bytes) -> list[Json]:
    """The objects in a line: one, those of a list, or none."""
    start = line.lstrip()[:1]
    if start == b"{":
        raw = parse(line)
        return [] if raw is None else [raw]
    if start != b"[":
        return []
    found = (parse(b'{"list": %b}' % line) or {}).get("list")
    return [raw for raw in _items(found) if isinstance(raw, dict)]


def _event(raw: Json) -> Event:
    kind = raw.get("type")
    found = Event(session=_text(raw.get("session_id")), is_main=not raw.get("parent_tool_use_id"))
    if kind == "assistant":
        _read_answer(found, raw)
    elif kind == "user" and found.is_main and (said := record(raw)):
        found.is_interruption = any(text.startswith(_INTERRUPTED) for text in said.texts)
    elif kind == "system":
        _read_system(found, raw)
    elif kind == "rate_limit_event":
        found.resets_at = _reset(raw.get("rate_limit_info"))
    elif kind == "result":
        found.end = _end(raw)
    return found


def _read_answer(found: Event, raw: Json) -> None:
    found.message = record(raw)
    if found.message and found.message.is_clients:
        status = _count(raw.get("api_error_status")) or None
        error, cause = _text(raw.get("error")), _text(raw.get("api_error"))
        found.refusal = Refusal(error, cause, status, found.message.texts)
        found.resets_at = _reset(_object(raw.get("api_error_params")).get("rate_limit_info"))


def _read_system(found: Event, raw: Json) -> None:
    subtype = raw.get("subtype")
    if subtype == "init":
        found.model, found.folder = _text(raw.get("model")), _text(raw.get("cwd"))
    elif subtype == "api_retry":
        found.retry = Retry(
            _count(raw.get("attempt")),
            _count(raw.get("error_status")),
            _count(raw.get("retry_delay_ms")) / 1000,
            _text(raw.get("error")),
        )
    elif subtype == "compact_boundary":
        found.compacted = _count(_object(raw.get("compact_metadata")).get("post_tokens"))


def _reset(info: object) -> int | None:
    """One that lets us go on has a reset as well."""
    limit = _object(info)
    return _count(limit.get("resetsAt")) if limit.get("status") == "rejected" else None


def _end(raw: Json) -> End:
    models = {name: _object(used) for name, used in _object(raw.get("modelUsage")).items()}
    refused = [_object(one).get("tool_use_id") for one in _items(raw.get("permission_denials"))]
    subtype, words = _text(raw.get("subtype")), raw.get("result")
    return End(
        subtype,
        _text(raw.get("terminal_reason")),
        _text(raw.get("api_error")),
        _count(raw.get("api_error_status")) or None,
        is_error=raw.get("is_error") is True or subtype.startswith("error"),
        text=words if isinstance(words, str) else None,
        problems=[one for one in _items(raw.get("errors")) if isinstance(one, str)],
        denied=[_text(call) for call in refused],
        spent=sum(_count(used.get(name)) for used in models.values() for name in _TOKENS),
        windows={name: _count(used.get("contextWindow")) for name, used in models.items() if used},
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int:
    """A number above 0 that can be one of tokens, milliseconds or seconds; 0 for all else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0
    return int(value) if 0 < value < _NO_COUNT else 0


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


# --- why it fails -----------------------------------------------------------------------------


class _Sign(NamedTuple):
    """What shows a kind of failure: any of the names, HTTP statuses or words (a pattern)."""

    kind: str
    names: str
    statuses: tuple[int, ...] = ()
    words: str = ""


# In this order words are looked for. Names are `terminal_reason`, `subtype`, `api_error` and
# `error` of its events.
_SIGNS = (
    _Sign(
        running.DISK,
        "",
        (),
        r"ENOSPC|no space left on device|EDQUOT|disk quota exceeded|disk full",
    ),
    _Sign(
        running.CONTEXT,
        "blocking_limit prompt_too_long rapid_refill_breaker autocompact_thrashing"
        " message_over_context_limit model_context_window_exceeded",
        (413,),
        r"prompt is too long|exceed(?:s|ed)? (?:the )?context (?:limit|window)"
        r"|context (?:limit|window) (?:reached|exceeded)|autocompact is thrashing",
    ),
    _Sign(running.TURNS, "max_turns error_max_turns budget_exhausted error_max_budget_usd"),
    _Sign(running.INTERRUPTED, "aborted_streaming aborted_tools"),
    _Sign(
        running.BILLING,
        "billing_error model_requires_usage_credits long_context_credits_required",
        (402,),
        r"credit balance is too low|billing_error|insufficient_quota",
    ),
    _Sign(
        running.AUTHENTICATION,
        "authentication_failed oauth_org_not_allowed account_on_hold verification_required"
        " cloud_credential_error stored_login_refused oauth_refresh_store_refused"
        " provider_credentials gateway_signin_required gateway_session_expired"
        " api_key_auth_disabled org_disabled_credential invalid_credential_header",
        (401, 403),
        r"not logged in|please run /login|invalid (?:x-)?api[- ]key|failed to authenticate"
        r"|authentication_(?:error|failed)|oauth token (?:has expired|revoked)|401 unauthorized",
    ),
    _Sign(
        running.MODEL,
        "model_not_found no_allowed_fallback model_substitution_disabled",
        (404,),
        r"issue with the selected model|model[_ ]not[_ ]found|not_found_error.{0,40}model",
    ),
    _Sign(
        running.LIMIT,
        "usage_limit_reached rate_limit",
        (429,),
        r"hit your [\w -]{0,40}limit|usage limit reached|rate_limit_error"
        r"|rate limit(?:ed| exceeded)|429 too many requests|request rejected \(429\)",
    ),
    _Sign(
        running.NETWORK,
        "connection_failed stream_idle_timeout computer_slept no_response network_edge_blocked"
        " tls_untrusted_ca tls_cert_signature_failure",
        (408,),
        r"ECONN(?:REFUSED|RESET|ABORTED)|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|E(?:HOST|NET)UNREACH|EPIPE"
        r"|getaddrinfo|connection (?:refused|reset|error|timed out)|network is unreachable"
        r"|could not resolve host|name or service not known|temporary failure in name resolution"
        r"|can't reach the api server|fetch failed|socket hang up",
    ),
    _Sign(
        running.OVERLOADED,
        "overloaded server_error",
        (500, 502, 503, 504, 520, 529),
        r"overloaded_error|api error: 5\d\d|50[0234] (?:internal server|bad gateway|service unav"
        r"|gateway time)",
    ),
    _Sign(
        running.CLIENT,
        "claude_code_version_too_old",
        (),
        r"error: unknown (?:option|command)|error: option .{1,80} argument (?:missing|.{1,80} is "
        r"invalid)|cannot be used with root|error: invalid session id",
    ),
)

_BY_NAME = {name: sign.kind for sign in _SIGNS for name in sign.names.split()}
_BY_STATUS = {status: sign.kind for sign in _SIGNS for status in sign.statuses}


def kind_of_names(*names: str) -> str:
    return next((_BY_NAME[name] for name in names if name in _BY_NAME), "")


def kind_of_status(status: int) -> str:
    return _BY_STATUS.get(status, "")


def kind_of_words(words: str) -> str:
    found = (s.kind for s in _SIGNS if s.words and re.search(s.words, words, re.IGNORECASE))
    return next(found, "")
