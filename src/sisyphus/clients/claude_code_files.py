"""What Claude Code keeps on disk and loads itself: transcripts, settings, CLAUDE.md, AGENTS.md.

All of it was measured on 2.1.329. AGENTS.md is loaded by a built-in plugin, unless a CLAUDE.md that
says anything stands in the folder where the session began or in one above it (the one of the
client's own folder does not count). A CLAUDE.md loads what it imports with `@path`, and what that
imports, from below that same folder alone.
"""

from __future__ import annotations

import json
import os
import re
import sys
from functools import lru_cache

from sisyphus import transcript as ts
from sisyphus.clients.claude_code import KINDS, settings_paths, tool_path
from sisyphus.errors import UnreadableError
from sisyphus.paths import ancestors, is_inside, is_safe_id
from sisyphus.reading import DOCUMENT_BYTES, read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sisyphus._types import Json
    from sisyphus.workspace import Workspace

    Rest = tuple[str, ...]

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
_COMMAND = (
    r"(?s)\s*(?:<command-message>[^<]*</command-message>\s*)?"
    r"<command-name>\s*/?([^<]*?)\s*</command-name>\s*"
    r"(?:<command-message>[^<]*</command-message>\s*)?"
    r"(?:<command-args>(.*)</command-args>\s*)?"
)
_ABOUT = ("command", "file_path", "path", "pattern", "url", "query", "description", "skill")
_CONTEXT_COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
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
        raw = json.loads(line)
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
        filled = sum(_count(usage.get(name)) for name in _CONTEXT_COUNTS)
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
    if found.is_prompt and len(texts) == 1 and texts[0].lstrip().startswith("<command-"):
        typed = re.fullmatch(_COMMAND, texts[0])
        found.command = ts.Command(typed[1], typed[2] or "") if typed else None


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


# --- its settings -----------------------------------------------------------------------------

HOOKS, STATUSLINE, EXCLUDES = "hooks", "statusLine", "claudeMdExcludes"
"""Keys of a settings file."""

MANAGED_FOLDERS = {
    "darwin": "/Library/Application Support/ClaudeCode",
    "win32": "C:\\Program Files\\ClaudeCode",
}
"""Where an organisation puts settings that nothing overrides; else `/etc/claude-code`."""

_MANAGED_FILES = 100

MAX_EXCLUDES = 100
MAX_CHARACTERS = 500
MAX_STARS = 4
"""Of one file; of one glob; of the `**` in it. A stranger's globs are matched against every rule of
a project."""


def settings(home: str, folder: str, root: str) -> list[Json]:
    """What these files hold; {} for one that is absent or unreadable."""
    from sisyphus.state.files import read_json

    return [read_json(path) or {} for path in settings_paths(home, folder, root)]


def managed_folder() -> str:
    return MANAGED_FOLDERS.get(sys.platform, "/etc/claude-code")


def managed_paths(folder: str) -> list[str]:
    """The settings files of an organisation, the weakest first."""
    more = os.path.join(folder, "managed-settings.d")
    names = sorted(name for name in _names(more) if name.endswith(".json"))
    paths = [os.path.join(more, name) for name in names[:_MANAGED_FILES]]
    return [os.path.join(folder, "managed-settings.json"), *paths]


def plans_folder(home: str, root: str) -> str:
    """Where plan mode puts its plans. A project's own setting may name a folder of the project
    alone."""
    folder = os.path.join(home, "plans")
    for number, one in enumerate(settings(home, root, root)):
        named = one.get("plansDirectory")
        if isinstance(named, str) and "\0" not in named:
            found = os.path.normpath(os.path.join(root, os.path.expanduser(named)))
            if not number or is_inside(found, root):
                folder = found
    return folder


def plugins(found: Json) -> Json:
    """Which plugins settings switch on and off, by their names."""
    return _object(found.get("enabledPlugins"))


def excludes(found: Iterable[Json]) -> list[str]:
    """All globs of files that the client is told not to load."""
    lists = [some for one in found if isinstance(some := one.get(EXCLUDES), list)]
    globs = [glob for some in lists for glob in some[:MAX_EXCLUDES] if isinstance(glob, str)]
    return [g for g in globs if len(g) <= MAX_CHARACTERS and g.count("**") <= MAX_STARS]


def is_excluded(path: str, globs: Iterable[str]) -> bool:
    """Whether a glob matches the whole absolute path, as the client does it.

    Known are `**`, `*`, `?` and `[…]`. Braces, `!` and `~` are not: such a glob excludes nothing.
    """
    folder, _, name = path.rpartition(os.sep)
    return () in _step(_below(folder, tuple(globs)), name)


def exclude_glob(path: str) -> str:
    """A glob that matches this path alone: no backslash quotes a character, a class of one does."""
    return path.replace(os.sep, "/").translate(_CLASSES)


_CLASSES = str.maketrans({**{sign: f"[{sign}]" for sign in "*?[{(|"}, "\\": r"[\\]"})


@lru_cache(maxsize=1_000)  # many rules stand in few folders
def _below(folder: str, globs: tuple[str, ...]) -> frozenset[Rest]:
    """What of the globs a path in this folder has yet to match."""
    rests = _opened(tuple(glob.split("/")) for glob in globs)
    for part in folder.split(os.sep):
        rests = _step(rests, part)
    return rests


def _step(rests: Iterable[Rest], part: str) -> frozenset[Rest]:
    """Follows all readings of `**` at once: a search with a way back takes exponential time."""
    from fnmatch import fnmatchcase

    going_on = {rest for rest in rests if rest[:1] == ("**",)}
    others = (rest for rest in rests if rest and rest[0] != "**")
    return _opened(going_on.union(rest[1:] for rest in others if fnmatchcase(part, rest[0])))


def _opened(rests: Iterable[Rest]) -> frozenset[Rest]:
    """These, and what is left of each where its `**` stands for no folder at all."""
    opened = set(rests)
    for rest in list(opened):
        depth = 0
        while rest[depth : depth + 1] == ("**",):
            depth += 1
            opened.add(rest[depth:])
    return frozenset(opened)


# --- what it loads itself ---------------------------------------------------------------------

AGENTS_PLUGIN = "cc-plugin-agents-md@builtin"

_MEMORY_FILES = ("CLAUDE.md", os.path.join(".claude", "CLAUDE.md"), "CLAUDE.local.md")
_IMPORT_DEPTH = 4  # what a CLAUDE.md imports by way of three others is loaded, by four is not
_IMPORT_FILES = 100  # so that no project makes a session start slow
_IMPORT_NAMES = 1_000  # in one file, for the same reason

# Patterns are compiled where they are used: most hooks that read a transcript need none.
_FRONTMATTER = r"(?ms)\A---\n.*?^---\s*$"
_COMMENT = r"(?s)<!--.*?-->"
_IMPORT = r"(?:^|[\s\0*_\[])@((?:\\ |[^\s\\*\]\0])+)"


def why_agents_is_native(space: Workspace) -> str:
    if os.path.realpath(os.path.join(space.root, "AGENTS.md")) in imported(space):
        return "a CLAUDE.md loads it"
    if _plugin_is_off(space) or _memories(space):
        return ""
    return "Claude Code loads it where there is no CLAUDE.md"


def imported(space: Workspace) -> frozenset[str]:
    found: set[str] = set()
    for path, text in _memories(space):
        _follow(path, text, space.cwd, found, _IMPORT_DEPTH)
    return frozenset(found)


def _follow(path: str, text: str, inside: str, found: set[str], depth: int) -> None:
    found.add(os.path.realpath(path))
    for name in _imports(text) if depth else []:
        target = os.path.join(os.path.dirname(path), os.path.expanduser(name))
        is_new = os.path.realpath(target) not in found and len(found) < _IMPORT_FILES
        if is_new and is_inside(target, inside):
            _follow(target, _visible(target), inside, found, depth - 1)


def _imports(text: str) -> list[str]:
    from sisyphus import markdown

    found = re.findall(_IMPORT, markdown.read(text, hides_quotes=False).text)
    names = (name.partition("#")[0].replace("\\ ", " ").rstrip("_") for name in found)
    return list(dict.fromkeys(names))[:_IMPORT_NAMES]


@lru_cache(maxsize=1)  # asked for each document of one hook or command
def _memories(space: Workspace) -> list[tuple[str, str]]:
    """Path and text of each CLAUDE.md that the client loads at the start of the session."""
    own = os.path.realpath(space.home)
    excluded = excludes(_settings(space))
    found = []
    for folder in ancestors(os.path.realpath(space.cwd)):
        for name in _MEMORY_FILES:
            path = os.path.join(folder, name)
            if not os.path.lexists(path) or os.path.realpath(os.path.dirname(path)) == own:
                continue
            if is_excluded(path, excluded):
                continue
            text = _visible(path)
            if text.strip():
                found.append((path, text))
    return found


def _visible(path: str) -> str:
    """The text without frontmatter and comments; "" where the file cannot be read."""
    try:
        data = read_bytes(path, DOCUMENT_BYTES)
    except UnreadableError:
        return ""
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    # Comments end before the last mark of an end: searching on takes quadratic time.
    commented, end, rest = re.sub(_FRONTMATTER, "", text).rpartition("-->")
    return re.sub(_COMMENT, " ", commented + end) + rest


def _plugin_is_off(space: Workspace) -> bool:
    off = False
    for found in _settings(space):
        switched = plugins(found)
        if AGENTS_PLUGIN in switched:
            off = switched[AGENTS_PLUGIN] is False
    return off


@lru_cache(maxsize=1)
def _settings(space: Workspace) -> list[Json]:
    return settings(space.home, space.cwd, space.root)
