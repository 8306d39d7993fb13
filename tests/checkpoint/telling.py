"""Transcript lines as the client writes them of tools, and situations made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ralph.lines import line, read, result, used

from sisyphus.boulder.report import no_plan
from sisyphus.checkpoint.paper.situation import Situation
from sisyphus.checkpoint.seen import work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json, PlanStatus

ROOT = "/home/user/project"
NOW = 1_795_234_400.0  # 2026-11-21T04:13:20Z


def called(name: str, given: Json, answer: object = None, said: str = "done") -> list[Json]:
    """A call of a tool that succeeded; `answer` is what the client notes of its result."""
    call = used(name, "toolu_1")
    call["message"]["content"][0]["input"] = given
    told = result(said)
    if answer is not None:
        told["toolUseResult"] = answer
    return [call, told]


def failed(name: str, given: Json, error: str) -> list[Json]:
    call = used(name, "toolu_1")
    call["message"]["content"][0]["input"] = given
    return [call, {**result(error, is_error=True), "toolUseResult": f"Error: {error}"}]


def ran(command: str, output: str = "", **noted: object) -> list[Json]:
    answer = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False, **noted}
    return called("Bash", {"command": command, "description": "run"}, answer, output)


def broke(command: str, output: str = "bad", code: int = 1) -> list[Json]:
    return failed("Bash", {"command": command}, f"Exit code {code}\n{output}")


def hunk(start: int, *lines: str, new_start: int = 0) -> Json:
    """A hunk of a patch: `+added`, `-removed`, ` kept`."""
    return {
        "oldStart": start,
        "oldLines": sum(not text.startswith("+") for text in lines),
        "newStart": new_start or start,
        "newLines": sum(not text.startswith("-") for text in lines),
        "lines": list(lines),
    }


def edited(path: str, *hunks: Json) -> list[Json]:
    given = {"file_path": path, "old_string": "a", "new_string": "b", "replace_all": False}
    answer = {"filePath": path, "structuredPatch": list(hunks), "userModified": False}
    return called("Edit", given, answer, f"The file {path} has been updated successfully.")


def wrote(path: str, content: str) -> list[Json]:
    given = {"file_path": path, "content": content}
    answer = {"type": "create", "filePath": path, "content": content, "structuredPatch": []}
    return called("Write", given, {**answer, "originalFile": None}, "File created successfully")


def todos(*rows: tuple[str, str]) -> list[Json]:
    """Content and status of each."""
    listed = [{"content": text, "status": status, "activeForm": text} for text, status in rows]
    return called("TodoWrite", {"todos": listed}, {"oldTodos": [], "newTodos": listed})


def answer(tokens: int, name: str = "m1", content: Sequence[Json] = ()) -> Json:
    """An answer that found so many tokens in the context."""
    record = line("assistant", list(content))
    record["message"].update(
        id=name, usage={"input_tokens": 1, "cache_read_input_tokens": tokens - 1}
    )
    return record


def a_situation(*lines: Sequence[Json], **fields: Any) -> Situation:
    """A situation in the project `ROOT`, its work read from these lines."""
    found = Situation()
    found.root, found.now = ROOT, NOW
    found.work = work.read(read(*(record for part in lines for record in part)))
    for name, value in fields.items():
        setattr(found, name, value)
    return found


def a_plan(**fields: Any) -> PlanStatus:
    """An active plan with 2 of 5 tasks complete."""
    found: Any = no_plan()
    progress = {**found["progress"], "total": 5, "completed": 2}
    found |= {"state": "active", "active_plan": f"{ROOT}/.claude/PLAN.md", "plan_name": "Tokens"}
    found |= {"progress": progress, "next_task": "Refresh a token", **fields}
    return cast("PlanStatus", found)
