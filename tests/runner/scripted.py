"""A scripted client: run N plays entry N of a scenario, every later run the last one.

    install(folder, entries) -> str          the command line that runs it (`--client-command`)
    on_path(folder) -> str                   a folder for PATH that has it as `claude`
    runs(folder) -> list[Json]               what each run got, oldest first: run, prompt, argv,
                                             env (SISYPHUS_*), cwd, pid, session
    rests(folder) -> int                     how many runs came to a step that rests

    said(words, tokens=…, exit_code=0) -> Entry              what nearly every run is: one answer
    entry(*steps, exit_code=0, ignores_interrupt=False) -> Entry
    failing(words, error=…, status=…, …) -> Entry            a run that ends with the API's refusal

Steps of an entry, in order:

    init(model=MODEL)                        the session is that of `--session-id`
    text(words, tokens=1_000)                an answer of the main thread; `tokens` = its context
    tool(name, given, tokens=1_000)          an answer that calls a tool
    by_subagent(step)                        the same, of a subagent
    result(words="", window=1_000_000)       the success that ends a run
    failed(words, error=…, status=…, …)      the failure that ends a run (set `exit_code` 1)
    limited(resets_at), retry(attempt, status, seconds), event({...}), denied(...)
    plain(words), stderr(words)              of a client that is none
    write(path, text), append(path, text)    below the working folder
    handoff(index, record)                   into the file `index` (`handoffs.path(ours, root)`)
    until(path), forever()                   rests: until there is such a file, or for ever
    pause(seconds), die(signal), child(path)

Behind SIGINT it ends as the real one does, with exit code 0, unless it `ignores_interrupt`.
"""

from __future__ import annotations

import json
import shlex
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sisyphus._types import Json

    Step = list[Any]
    Entry = dict[str, Any]

MODEL = "claude-opus-5-5"
WINDOW = 1_000_000

_CLIENT = Path(__file__).with_name("scripted_client.py")


def install(folder: Path, entries: list[Entry]) -> str:
    """`folder` holds the scenario and the notes of the runs; it should not be the project."""
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    (folder / "scenario.json").write_text(json.dumps(entries))
    command = shlex.join([sys.executable, "-I", "-S", str(_CLIENT), str(folder)])
    program = folder / "bin" / "claude"
    program.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return command


def on_path(folder: Path) -> str:
    return str(folder / "bin")


def runs(folder: Path) -> list[Json]:
    path = folder / "runs.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def rests(folder: Path) -> int:
    """All that such a run does before has been done, and what it says has been written."""
    path = folder / "rests"
    return len(path.read_text().splitlines()) if path.exists() else 0


def entry(*steps: Step, exit_code: int = 0, ignores_interrupt: bool = False) -> Entry:
    return {"steps": steps, "exit_code": exit_code, "ignores_interrupt": ignores_interrupt}


def said(words: str, *steps: Step, tokens: int = 1_000, exit_code: int = 0) -> Entry:
    """A run that does `steps`, says `words` and ends well."""
    return entry(init(), *steps, text(words, tokens), result(words), exit_code=exit_code)


def failing(
    words: str, *, error: str = "", status: int | None = None, cause: str = "", resets_at: int = 0
) -> Entry:
    before = [limited(resets_at)] if resets_at else []
    return entry(init(), *before, failed(words, error, status, cause), exit_code=1)


def event(fields: Json) -> Step:
    return ["event", fields]


def init(model: str = MODEL) -> Step:
    return event({"type": "system", "subtype": "init", "model": model})


def text(words: str, tokens: int = 1_000, message: str = "") -> Step:
    return _answer({"type": "text", "text": words}, tokens, message)


def tool(
    name: str, given: Json, tokens: int = 1_000, message: str = "", call: str = "call_1"
) -> Step:
    return _answer({"type": "tool_use", "id": call, "name": name, "input": given}, tokens, message)


def by_subagent(step: Step) -> Step:
    return event({**step[1], "parent_tool_use_id": "call_1", "agent_id": "a1"})


def result(words: str = "", *, window: int = WINDOW, model: str = MODEL, **more: Any) -> Step:
    used = {model: {"contextWindow": window}}
    return _result({"is_error": False, "result": words, "modelUsage": used, **more})


def failed(words: str, error: str = "", status: int | None = None, cause: str = "") -> list[Any]:
    """The answer in the model's place and the result, as one step."""
    names = {"api_error_status": status, **({"api_error": cause} if cause else {})}
    said = {
        "role": "assistant",
        "model": "<synthetic>",
        "content": [{"type": "text", "text": words}],
    }
    answer = {"type": "assistant", "message": said, "error": error, "is_api_error_message": True}
    end = _result({"is_error": True, "result": words, "terminal_reason": "api_error", **names})
    return ["events", [{**answer, **names}, end[1]]]


def limited(resets_at: int, status: str = "rejected") -> Step:
    limit = {"status": status, "resetsAt": resets_at, "rateLimitType": "five_hour"}
    return event({"type": "rate_limit_event", "rate_limit_info": limit})


def retry(attempt: int, status: int | None, seconds: float = 0.5, error: str = "unknown") -> Step:
    told = {"attempt": attempt, "error_status": status, "retry_delay_ms": int(seconds * 1_000)}
    return event({"type": "system", "subtype": "api_retry", "error": error, **told})


def denied(*calls: str) -> Json:
    """For `result(**denied(...))`: the tool calls that were not permitted."""
    return {"permission_denials": [{"tool_use_id": call} for call in calls]}


def plain(words: str) -> Step:
    return ["plain", words + "\n"]


def stderr(words: str) -> Step:
    return ["stderr", words]


def write(path: str | Path, words: str) -> Step:
    return ["write", str(path), words, "w"]


def append(path: str | Path, words: str) -> Step:
    return ["write", str(path), words, "a"]


def handoff(index: str | Path, record: Json) -> Step:
    """`session_id` and `loop_id` are those of the run unless they are given."""
    return ["handoff", str(index), record]


def pause(seconds: float) -> Step:
    return ["pause", seconds]


def until(path: str | Path) -> Step:
    return ["until", str(path)]


def forever() -> Step:
    return ["forever"]


def die(number: int) -> Step:
    """Ends by that signal."""
    return ["die", number]


def child(path: str | Path) -> Step:
    """Starts a process that leaves the session and would run for ever; `path` gets its number,
    once nobody's interruption reaches it."""
    return ["child", str(path)]


def _result(fields: Json) -> Step:
    return event({"type": "result", "subtype": "success", "permission_denials": [], **fields})


def _answer(block: Json, tokens: int, message: str) -> Step:
    usage = {"input_tokens": tokens, "output_tokens": 1}
    said = {"id": message, "role": "assistant", "model": MODEL, "content": [block], "usage": usage}
    return event({"type": "assistant", "message": said, "parent_tool_use_id": None})
