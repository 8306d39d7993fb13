"""A loop as a text file: a header of `key: value` lines between `---`, then the prompt. Pure.

Each value is JSON on one line, which is YAML as well, so that anybody's YAML reader understands the
header and ours needs none. The prompt follows the empty line behind the header, byte for byte.
"""

from __future__ import annotations

from sisyphus.numbers import MOST
from sisyphus.paths import is_safe_id
from sisyphus.quick_json import dumps, loads
from sisyphus.ralph.loop import ACTIVE, PAUSED, VERSION, Loop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json

_MARK = "---"
_DIGITS = 9

# Characters that JSON may hold as they are and YAML may not.
_NOT_IN_YAML = "[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"

_TEXTS = (
    "session_id", "loop_id", "project", "started_at", "turned_at", "status", "paused_by", "origin",
)  # fmt: skip
_SWITCHES = ("by_model", "prompt_known")
_COUNTS = (
    "iteration", "max_iterations", "depth", "paused_at", "paused_seconds", "tokens",
)  # fmt: skip
_OBJECTS = ("options", "breaker", "signs", "waiting", "verified")


class BadLoopError(ValueError):
    """A file that holds no loop; its text says why."""


def render(loop: Loop) -> str:
    fields: Json = {
        "version": VERSION,
        "session_id": loop.session_id,
        "loop_id": loop.loop_id,
        "project": loop.project,
        "description": loop.description,
        "iteration": loop.iteration,
        "max_iterations": loop.max_iterations,
        "completion_promise": loop.completion_promise,
        "started_at": loop.started_at,
        "turned_at": loop.turned_at,
        "status": loop.status,
        "paused_by": loop.paused_by,
        "origin": loop.origin,
        "by_model": loop.by_model,
        "prompt_known": loop.prompt_known,
        "depth": loop.depth,
        "paused_at": loop.paused_at,
        "paused_seconds": loop.paused_seconds,
        "tokens": loop.tokens,
        **{name: getattr(loop, name) for name in _OBJECTS},
        **loop.extra,
    }
    header = "\n".join(f"{name}: {_scalar(value)}" for name, value in fields.items())
    return f"---\n{header}\n---\n\n{loop.prompt}"


def parse(text: str) -> Loop:
    """Raises `BadLoopError`."""
    header, prompt = _split(text)
    fields = _fields(header)
    loop = Loop("", "", prompt)
    for name in (*_TEXTS, *_SWITCHES, *_COUNTS):
        _take(loop, name, fields)
    promise = fields.get("completion_promise")
    if promise is not None and not isinstance(promise, str):
        raise BadLoopError("its completion_promise is no text")
    loop.completion_promise = promise
    for name in _OBJECTS:
        if isinstance(fields.get(name), dict):
            setattr(loop, name, fields[name])
    known = {"version", "description", "completion_promise"}
    known.update(_TEXTS, _SWITCHES, _COUNTS, _OBJECTS)
    loop.extra = {name: value for name, value in fields.items() if name not in known}
    _check(loop)
    return loop


def version(text: str) -> int:
    """The version that wrote this file; 0 where it does not say."""
    try:
        header, _ = _split(text)
    except BadLoopError:
        return 0
    for line in header:
        name, _, value = line.partition(":")
        number = value.strip()
        if name == "version" and number.isascii() and number.isdigit():
            return int(number[:_DIGITS])
    return 0


def _split(text: str) -> tuple[list[str], str]:
    """The lines of the header, and the prompt."""
    lines: list[str] = []
    position = _end_of_line(text, 0)
    if text[:position].rstrip() != _MARK:
        raise BadLoopError("it has no header")
    while position < len(text):
        end = _end_of_line(text, position)
        line = text[position:end].rstrip("\r\n")
        position = end
        if line == _MARK:
            empty = _end_of_line(text, position)
            is_empty = not text[position:empty].rstrip("\r\n")
            return lines, text[empty if is_empty else position :]
        lines.append(line)
    raise BadLoopError("it has no header")


def _end_of_line(text: str, start: int) -> int:
    return text.find("\n", start) + 1 or len(text)


def _scalar(value: object) -> str:
    text = dumps(value, ensure_ascii=False)
    if text.isascii() and "\x7f" not in text:
        return text
    import re

    return re.sub(_NOT_IN_YAML, lambda found: f"\\u{ord(found[0]):04x}", text)


def _fields(header: list[str]) -> Json:
    fields: Json = {}
    for line in header:
        name, colon, value = line.partition(":")
        if not colon:
            raise BadLoopError(f"its header has the line {line[:80]!r}")
        try:
            fields[name] = loads(value)
        except (ValueError, RecursionError) as error:
            raise BadLoopError(f"its {name[:80]} is not understood") from error
    return fields


def _take(loop: Loop, name: str, fields: Json) -> None:
    """A field keeps its default where it is missing; one of a wrong type makes no loop."""
    value = fields.get(name, getattr(loop, name))
    if type(value) is not type(getattr(loop, name)):
        raise BadLoopError(f"its {name} is {value!r:.80}")
    setattr(loop, name, value)


def _check(loop: Loop) -> None:
    if not loop.session_id or not is_safe_id(loop.loop_id):  # the names of files hold both
        raise BadLoopError("it names no session or no loop")
    if loop.iteration < 1 or any(not 0 <= getattr(loop, name) < MOST for name in _COUNTS):
        raise BadLoopError("its numbers make no sense")
    if loop.status not in (ACTIVE, PAUSED):
        raise BadLoopError(f"its status is {loop.status!r:.80}")
