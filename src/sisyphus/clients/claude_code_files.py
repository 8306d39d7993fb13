"""What Claude Code 2.1.329 writes down of its sessions: what a line of a transcript says, and where
transcripts lie."""

from __future__ import annotations

import os

from sisyphus import transcript as ts
from sisyphus.clients.claude_code import CONTEXT_COUNTS, KINDS, tool_path
from sisyphus.paths import is_safe_id
from sisyphus.quick_json import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus._types import Json

# --- what a transcript says -------------------------------------------------------------------


def _spaced(*fields: str) -> tuple[bytes, ...]:
    """As the client spells them, and with a space behind the colon."""
    return tuple(spelled.encode() for f in fields for spelled in (f, f.replace('":', '": ')))


MARKS = {
    ts.MESSAGE: _spaced('"type":"user"', '"type":"assistant"'),
    ts.ANSWER: (b'"usage"',),
    ts.CALL: (b'"tool_use"',),
    ts.SKILL_CALL: (b'"Skill"',),
    ts.RESULT: (b'"tool_result"',),
    ts.FAILURE: _spaced('"is_error":true'),
    ts.COMMAND: (b"</command-name>",),
    ts.COMPACTION: (b'"compact_boundary"', b'"isCompactSummary"'),
    ts.GOAL: (b'"type":"goal_status"',),
    ts.SUBAGENT: (b'"isSidechain":true',),
    ts.HOOK: (b'"hook_non_blocking_error"', b'"hook_success"', b'"hook_cancelled"'),
}

_NOTED = b'"toolUseResult"'
_TELLING = (
    *_spaced('"is_error":true'), b'"structuredPatch"', b'"stdout"', b'"task":', b'"taskId"',
    b'"newTodos"', b'"updated_file"',
)  # fmt: skip

_CONTINUATION = "Stop hook feedback:"
_NO_PROMPTS = ("<task-notification>", "<local-command-stdout>", "[Request interrupted by user")
_ADDED = ("<system-reminder>", "<ide_", "<local-command-", "<bash-", "<user-memory-input>")
_OWN_COMMANDS = frozenset(
    (
        "add-dir", "agents", "clear", "color", "compact", "config", "context", "copy", "cost",
        "diff", "doctor", "effort", "exit", "export", "fast", "fork", "goal", "help", "hooks",
        "ide", "keybindings", "login", "logout", "mcp", "memory", "model", "output-style",
        "permissions", "plugin", "quit", "reload-plugins", "rename", "resume", "rewind", "status",
        "statusline", "stats", "tasks", "theme", "todos", "usage", "vim",
    )
)  # fmt: skip
"""Commands of its own that are no work."""

_COMMAND = (
    r"(?s)\s*(?:<command-message>[^<]*</command-message>\s*)?"
    r"<command-name>\s*/?([^<]*?)\s*</command-name>\s*"
    r"(?:<command-message>[^<]*</command-message>\s*)?"
    r"(?:<command-args>(.*)</command-args>\s*)?"
)
_ABOUT = ("command", "file_path", "path", "pattern", "url", "query", "description", "skill")
_NO_COUNT = 10**12
_SYNTHETIC = "<synthetic>"
_FAILED_RUN = "Failed with non-blocking status code: "


def is_bulk(line: bytes) -> bool:
    return _NOTED in line and not any(mark in line for mark in _TELLING)


def uuid_mark(uuid: str) -> bytes:
    return f'"uuid":"{uuid}"'.encode("utf-8", "replace")


def command_mark(name: str) -> bytes:
    return f"<command-name>/{name}</command-name>".encode()


def read_record(line: bytes) -> ts.Record | None:
    try:
        raw = loads(line)
    except (ValueError, RecursionError):
        return None
    return record(raw) if isinstance(raw, dict) else None


def record(raw: Json) -> ts.Record | None:
    """The record that a line holds. Arguments of commands are recorded as they were typed."""
    kind = raw.get("type")
    if kind in (ts.USER, ts.ASSISTANT):
        message = _object(raw.get("message"))
        found = ts.Record(kind, _parts(raw, message.get("content")))
        if kind == ts.ASSISTANT:
            _read_answer(found, raw, message)
        else:
            _read_prompt(found, raw)
    elif raw.get("subtype") == "compact_boundary":
        found = ts.Record()
        found.is_compaction = True
        found.tokens_before = _count(_object(raw.get("compactMetadata")).get("preTokens"))
    elif isinstance(note := raw.get("attachment"), dict):
        found = ts.Record()
        found.goal, found.hook = _goal(note), _hook_run(note)
    else:
        return None
    found.at = _text(raw.get("timestamp"))
    found.uuid = _text(raw.get("uuid"))
    found.cwd = _text(raw.get("cwd"))
    # A stream names the call that the subagent works for.
    found.is_subagents = bool(raw.get("isSidechain") or raw.get("parent_tool_use_id"))
    return found


def _parts(raw: Json, content: object) -> list[str | ts.Call | ts.Result]:
    """Texts, calls and results of a message; the client notes of a lone result what it was."""
    if isinstance(content, str):
        return [content]
    blocks = content if isinstance(content, list) else []
    found: list[str | ts.Call | ts.Result] = []
    results = []
    for block in blocks:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text" and isinstance(block.get("text"), str):
            found.append(block["text"])
        elif kind == "tool_use" and raw["type"] == ts.ASSISTANT:
            found.append(call(str(block.get("id")), str(block.get("name")), block.get("input")))
        elif kind == "tool_result" and raw["type"] == ts.USER:
            failed, said = block.get("is_error") is True, _said(block.get("content"))
            results.append(ts.Result(str(block.get("tool_use_id")), said, {}, failed=failed))
            found.append(results[-1])
    if len(results) == 1:
        results[0].answer = _object(raw.get("toolUseResult"))
    return found


def call(name: str, tool: str, given: object) -> ts.Call:
    fields = _object(given)
    about = next((fields[key] for key in _ABOUT if isinstance(fields.get(key), str)), "")
    return ts.Call(name, tool, KINDS.get(tool, ""), fields, tool_path(fields), about)


def _said(content: object) -> str:
    """What a tool answered: a text, or several."""
    if isinstance(content, str):
        return content
    blocks = [_object(block) for block in content] if isinstance(content, list) else []
    return "\n".join(_text(b.get("text")) for b in blocks if b.get("type") == "text")


def _read_answer(found: ts.Record, raw: Json, message: Json) -> None:
    """Each block of an answer is a line of its own that repeats its usage."""
    found.answer = str(message.get("id") or raw.get("uuid") or "")
    # The name that was asked for has the mark of the large window, `[1m]`.
    found.model = str(raw.get("requestedModel") or message.get("model") or "")
    found.is_clients = bool(raw.get("isApiErrorMessage") or raw.get("is_api_error_message"))
    resets_at = _object(raw.get("quotaLimits")).get("resetsAt")
    found.resets_at = resets_at if isinstance(resets_at, (int, float)) else 0.0
    if isinstance(usage := message.get("usage"), dict):
        filled = sum(_count(usage.get(name)) for name in CONTEXT_COUNTS)
        found.tokens = filled + _count(usage.get("output_tokens"))
        is_models = not found.is_clients and message.get("model") != _SYNTHETIC
        found.context = filled if is_models else 0


def _read_prompt(found: ts.Record, raw: Json) -> None:
    found.prompt_id = _text(raw.get("promptId"))
    found.is_compaction = bool(raw.get("isCompactSummary"))
    texts = found.texts
    if not texts:
        return
    found.is_continuation = texts[0].startswith(_CONTINUATION)
    is_machines = raw.get("isMeta") or raw.get("turnOrigin") == "task_notification"
    found.is_prompt = not is_machines and not texts[0].startswith(_NO_PROMPTS)
    if found.is_prompt:
        found.typed = [text for text in texts if not text.lstrip().startswith(_ADDED)]
    if found.is_prompt and len(texts) == 1 and texts[0].lstrip().startswith("<command-"):
        import re

        typed = re.fullmatch(_COMMAND, texts[0])
        if typed:
            is_own = typed[1] in _OWN_COMMANDS
            found.command = ts.Command(typed[1], typed[2] or "", is_clients=is_own)


def _goal(note: Json) -> str | None:
    if note.get("type", "goal_status") != "goal_status" or "condition" not in note:
        return None
    return "" if note.get("met") or note.get("failed") else str(note["condition"])


def _hook_run(note: Json) -> ts.HookRun | None:
    kind, code = note.get("type"), note.get("exitCode")
    is_late = kind == "hook_cancelled" and bool(note.get("timedOut"))
    if kind not in ("hook_success", "hook_non_blocking_error") and not is_late:
        return None
    words = _text(note.get("stderr")).removeprefix(_FAILED_RUN)
    known = code if isinstance(code, int) else None
    run = ts.HookRun(_text(note.get("hookEvent")), _text(note.get("command")), known, words)
    run.ok, run.is_late = kind == "hook_success", is_late
    return run


def _count(value: object) -> int:
    return value if type(value) is int and 0 < value < _NO_COUNT else 0


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


# --- where transcripts lie --------------------------------------------------------------------

_END = ".jsonl"


def transcript_path(home: str, session: str) -> str:
    projects = os.path.join(home, "projects")
    if not is_safe_id(session):
        return ""
    paths = (os.path.join(projects, folder, f"{session}{_END}") for folder in _names(projects))
    return next((path for path in paths if os.path.isfile(path)), "")


def transcripts(home: str) -> Iterator[os.DirEntry[str]]:
    projects = os.path.join(home, "projects")
    for folder in _names(projects):
        yield from entries(os.path.join(projects, folder))


def entries(folder: str) -> list[os.DirEntry[str]]:
    """The transcripts that lie in a folder, each named by its session."""
    try:
        with os.scandir(folder) as found:
            return [one for one in found if one.name.endswith(_END) and _is_file(one)]
    except OSError:
        return []


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link to itself
        return False


def subagents(path: str) -> Iterator[tuple[str, str]]:
    """`SESSION.jsonl` has its subagents in `SESSION/subagents/agent-ID.jsonl`, those of a workflow
    in `SESSION/subagents/workflows/RUN/agent-ID.jsonl`."""
    folder = os.path.join(path.removesuffix(_END), "subagents")
    if not os.path.isdir(folder) or not os.path.isabs(folder):
        return
    for top, _, names in os.walk(folder):
        for name in names:
            if name.startswith("agent-") and name.endswith(_END):
                found = os.path.join(top, name)
                yield os.path.relpath(found, folder), found


def resume_command(session: str) -> str:
    return f"claude --resume {session}"


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
