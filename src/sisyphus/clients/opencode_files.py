"""What we keep of OpenCode, which writes no transcript that we could read: one of our own.

Its lines have Claude Code's shape, and are read as those are. The plugin sends what happened since
it last spoke as `lines`, each an object with a `kind`:

    prompt      id, text; `command` {name, arguments} of a typed command; `ours`: we said it
    text        id, part, text            the model spoke
    tool        id, call, tool, args      it called a tool
    result      call, tool, args, text, metadata; `failed`: the tool could not do it
    usage       id, model, tokens {input, output, reasoning, cache {read, write}}
    compacted                             what stands before it has left the context

`at` is in epoch milliseconds. Whatever else comes is passed over.
"""

from __future__ import annotations

import os

from sisyphus.clients import OPENCODE
from sisyphus.clients import claude_code_files as claude
from sisyphus.clients import opencode_tools as tools
from sisyphus.clients.base import as_object, as_text
from sisyphus.paths import is_safe_id
from sisyphus.quick_json import dumps
from sisyphus.state.files import append_text
from sisyphus.times import iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sisyphus._types import Json

MARKS = claude.MARKS
read_record = claude.read_record
call = claude.call
is_bulk = claude.is_bulk
uuid_mark = claude.uuid_mark
command_mark = claude.command_mark
subagents = claude.subagents


def transcript_path(home: str, session: str) -> str:
    path = os.path.join(_folder(home), f"{session}.jsonl")
    return path if is_safe_id(session) and os.path.isfile(path) else ""


def transcripts(home: str) -> Iterator[os.DirEntry[str]]:
    yield from claude.entries(_folder(home))


def resume_command(session: str) -> str:
    return f"opencode -s {session}"


def _folder(home: str) -> str:
    return os.path.join(home, ".sisyphus", OPENCODE)


def append(path: str, records: Sequence[Json]) -> None:
    """Adds the records in one write, so that two hooks never mix their lines. Raises `OSError`."""
    if not records or not path:
        return
    text = "".join(dumps(record, is_dense=True) + "\n" for record in records)
    append_text(path, text)


CONTINUATION = "Stop hook feedback:\n"
_MOMENTS = 1e15


def records(lines: Iterable[object], session: str, agent: str, cwd: str) -> list[Json]:
    """The transcript's records, in order; `agent`: the subagent that they are of, "" = none."""
    common: Json = {"sessionId": session, "cwd": cwd, "userType": "external"}
    if agent:
        common |= {"isSidechain": True, "agentId": agent}
    found = []
    for line in lines:
        if isinstance(line, dict) and (spell := _SPELL.get(as_text(line.get("kind")))):
            known = {"uuid": _name(line), "timestamp": iso(_seconds(line.get("at"))), **common}
            found.append({**spell({**line, "cwd": cwd}), **known})
    return found


def _prompt(line: Json) -> Json:
    text, command = as_text(line.get("text")), as_object(line.get("command"))
    if line.get("ours"):
        return {**_message("user", CONTINUATION + text), "isMeta": True}
    if command:
        text = typed(as_text(command.get("name")), as_text(command.get("arguments")))
    return {**_message("user", text), "promptId": as_text(line.get("id"))}


def typed(name: str, arguments: str) -> str:
    """A command as Claude Code writes it down."""
    return (
        f"<command-message>{name}</command-message>\n<command-name>/sisyphus:{name}</command-name>"
        f"\n<command-args>{arguments}</command-args>"
    )


def _said(line: Json) -> Json:
    return _message("assistant", [{"type": "text", "text": as_text(line.get("text"))}], line)


def _tool(line: Json) -> Json:
    tool = as_text(line.get("tool"))
    call = {"type": "tool_use", "id": as_text(line.get("call")), "name": tools.name(tool)}
    given = tools.given(tool, as_object(line.get("args")), line["cwd"])
    return _message("assistant", [{**call, "input": given}], line)


def _result(line: Json) -> Json:
    tool, text = as_text(line.get("tool")), as_text(line.get("text"))
    metadata = as_object(line.get("metadata"))
    block: Json = {"type": "tool_result", "tool_use_id": as_text(line.get("call")), "content": text}
    if error := _error(line, tools.failure(tool, metadata), text):
        return _message("user", [{**block, "content": error, "is_error": True}])
    noted = tools.answer(tool, as_object(line.get("args")), text, metadata)
    return {**_message("user", [block]), "toolUseResult": noted}


def _error(line: Json, how: str, text: str) -> str:
    """What Claude Code would say: a tool has thrown, so that nothing was done, or a command has
    failed; "" where all went well."""
    if line.get("failed") is True:
        return f"<tool_use_error>{text}</tool_use_error>"
    return f"{how}\n{text}" if how else ""


def _usage(line: Json) -> Json:
    tokens = as_object(line.get("tokens"))
    cache = as_object(tokens.get("cache"))
    record = _message("assistant", [], line)
    record["message"]["model"] = as_text(line.get("model"))
    record["message"]["usage"] = {
        "input_tokens": _number(tokens.get("input")),
        "cache_read_input_tokens": _number(cache.get("read")),
        "cache_creation_input_tokens": _number(cache.get("write")),
        "output_tokens": _number(tokens.get("output")) + _number(tokens.get("reasoning")),
    }
    return record


def _compacted(_: Json) -> Json:
    """Claude Code writes the summary here, which nobody needs."""
    return {**_message("user", []), "isCompactSummary": True}


_SPELL: dict[str, Callable[[Json], Json]] = {
    "prompt": _prompt,
    "text": _said,
    "tool": _tool,
    "result": _result,
    "usage": _usage,
    "compacted": _compacted,
}


def _message(role: str, content: object, line: Json | None = None) -> Json:
    message: Json = {"role": role, "content": content}
    if line:
        message["id"] = as_text(line.get("id"))
    return {"type": role, "message": message}


def _name(line: Json) -> str:
    """Names the line, the same whenever it is told."""
    what = as_text(line.get("part")) or as_text(line.get("call")) or as_text(line.get("id"))
    return f"{what or _seconds(line.get('at'))}-{as_text(line.get('kind'))}"


def _seconds(value: object) -> float:
    return value / 1_000 if isinstance(value, (int, float)) and 0 < value < _MOMENTS else 0.0


def _number(value: object) -> int:
    return value if type(value) is int and value > 0 else 0
