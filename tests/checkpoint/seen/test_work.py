from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ralph.lines import add, prompt, read, result, said, typed, used

from checkpoint.telling import ROOT, answer, broke, called, edited, failed, hunk, ran, todos
from sisyphus.checkpoint.seen import work

if TYPE_CHECKING:
    from sisyphus._types import Json

RECORDED = Path(__file__).parents[2] / "data" / "transcripts" / "tokens.jsonl"


def _lines(path: Path) -> list[Json]:
    return [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]


def test_what_the_real_client_recorded_is_told() -> None:
    found = work.read(read(*_lines(RECORDED)))
    tokens, tests = f"{ROOT}/src/tokens.py", f"{ROOT}/tests/test_tokens.py"
    assert found.began_at == "2026-11-21T03:58:12.372Z"
    assert found.task == found.last_prompt == "Add a check and a refresh of session tokens"
    assert found.said.endswith("Next I cut two parts off the end.")
    assert found.last_action == "Bash: ruff check src"
    assert [(edit.path, edit.start, edit.end) for edit in found.edits] == [
        (tokens, 15, 27),
        (tests, 1, 13),
        (tokens, 1, 2),
        (tokens, 17, 17),
    ]
    assert [command.ok for command in found.commands] == [False, True, False, True]
    assert found.failed is not None
    assert found.failed.command == "pytest -q --no-header -p no:cacheprovider"
    assert [(check.command[:6], check.ok) for check in found.verified] == [
        ("pytest", False),
        ("ruff c", True),
    ]
    assert [todo["status"] for todo in found.todos] == ["completed", "in_progress", "pending"]
    assert found.tool_calls == 11
    assert found.points[0] == (0, 30_000)
    assert found.points[-1] == (11, 174_100)


def test_a_file_is_read_as_its_records_are() -> None:
    from_file, from_records = work.read_file(str(RECORDED)), work.read(read(*_lines(RECORDED)))
    assert _shape(from_file) == _shape(from_records)


def _shape(found: work.Work) -> list[object]:
    return [
        found.began_at, found.task, found.last_prompt, found.said, found.last_action, found.todos,
        found.failed_tool, found.tool_calls, found.points, len(found.edits), len(found.commands),
        [(check.command, check.ok, check.output) for check in found.verified],
    ]  # fmt: skip


def _at(minute: int, record: Json) -> Json:
    return {**record, "timestamp": f"2026-11-20T15:{minute:02}:00.000Z"}


MIDDLE = [*broke("make"), *todos(("a", "pending")), answer(5), *edited("/p/a", hunk(1, "+a"))]


def _long(path: Path, *last: Json) -> work.Work:
    """Read with a tail that holds `last` alone."""
    add(path, _at(1, {"type": "summary"}), _at(2, prompt("first")), *MIDDLE, prompt("second"))
    before = path.stat().st_size
    add(path, *last)
    return work.read_file(str(path), most=path.stat().st_size - before + 1)


def test_of_a_long_file_the_end_counts_and_the_task_and_time_of_its_beginning(
    tmp_path: Path,
) -> None:
    found = _long(tmp_path / "t.jsonl", *ran("ls"), prompt("third"), answer(9, "m2"))
    assert (found.task, found.began_at) == ("first", "2026-11-20T15:02:00.000Z")
    assert found.last_prompt == "third"
    assert [command.command for command in found.commands] == ["ls"]
    assert (found.tool_calls, found.points, found.todos, found.edits) == (1, [(1, 9)], [], [])


def test_of_an_end_that_is_one_unfinished_line_the_beginning_is_told(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    add(path, prompt("first"))
    with path.open("a", encoding="utf-8") as file:
        file.write("x" * 9_999)
    found = work.read_file(str(path), most=5_000)
    assert (found.task, found.last_prompt) == ("first", "")


def test_of_a_file_that_is_not_there_nothing(tmp_path: Path) -> None:
    assert _shape(work.read_file(str(tmp_path / "none"))) == _shape(work.Work())


def test_a_file_is_passed_over_where_it_tells_nothing(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    read = called("Read", {"file_path": "/p/a"}, {"type": "text", "file": {"content": "x"}})
    side = [{**record, "isSidechain": True} for record in broke("make")]
    add(
        path, {"type": "attachment", "x": "y"}, *read, *side, *broke("make test"), *todos(("a", ""))
    )
    found = work.read_file(str(path))
    assert found.tool_calls == 3
    assert [command.command for command in found.commands] == ["make test"]
    assert found.todos == [{"content": "a", "status": "pending"}]


def test_a_subagents_records_are_none_of_it() -> None:
    side = [{**record, "isSidechain": True} for record in (*broke("make"), prompt("p"), said("s"))]
    assert _shape(work.read(read(*side))) == _shape(work.Work())


def test_the_first_and_the_last_prompt_are_kept() -> None:
    found = work.read(read(typed("", "/compact"), prompt("a"), said("x"), prompt("b"), result("y")))
    assert (found.task, found.last_prompt) == ("a", "b")


SAID = [
    pytest.param([said("a"), said("b")], "b", id="the last text"),
    pytest.param([said("a"), said(" \n")], "a", id="that says anything"),
    pytest.param([said("a"), said("API Error: 529", isApiErrorMessage=True)], "a", id="its own"),
    pytest.param([], "", id="none"),
]


@pytest.mark.parametrize(("records", "words"), SAID)
def test_what_the_model_said_last_is_kept(records: list[Json], words: str) -> None:
    assert work.read(read(*records)).said == words


ACTIONS = [
    pytest.param([used("Edit", file_path="/p/a")], "Edit: /p/a", id="an edit"),
    pytest.param([used("Bash", command="a\n b")], "Bash: a b", id="a command"),
    pytest.param([used("Read"), used("TodoWrite", todos=[])], "Read", id="no list of todos"),
    pytest.param([used("X", file_path=7)], "X", id="with odd input"),
]


@pytest.mark.parametrize(("records", "words"), ACTIONS)
def test_the_last_action_is_kept(records: list[Json], words: str) -> None:
    assert work.read(read(*records)).last_action == words


TOOLS = [
    pytest.param([failed("Read", {}, "File does not exist.")], "Read: File does not exist.",
        id="it failed"),
    pytest.param([failed("Edit", {}, "<tool_use_error>No such text.\nText: x</tool_use_error>")],
        "Edit: No such text.", id="refused by the client"),
    pytest.param([failed("Edit", {}, "x"), edited("/p/a", hunk(1, "+a"))], "", id="mended"),
    pytest.param([failed("Edit", {}, "x"), ran("ls")], "Edit: x", id="another one succeeds"),
    pytest.param([broke("ls")], "", id="a shell"),
    pytest.param([[result("x", "toolu_9", is_error=True)]], "", id="a call that nobody made"),
]  # fmt: skip


@pytest.mark.parametrize(("calls", "words"), TOOLS)
def test_the_last_failing_tool_is_kept(calls: list[list[Json]], words: str) -> None:
    assert work.read(read(*(record for call in calls for record in call))).failed_tool == words


SUMMARY = prompt("summary", isCompactSummary=True)
POINTS = [
    pytest.param([answer(5), *ran("ls"), answer(9, "m2")], [(0, 5), (1, 9)], id="one an answer"),
    pytest.param([answer(5), answer(5), answer(5)], [(0, 5)], id="of several lines"),
    pytest.param([answer(5), SUMMARY, answer(2, "m2")], [(0, 2)], id="behind a compaction"),
    pytest.param([{**answer(5), "isSidechain": True}], [], id="a subagent's"),
    pytest.param([said("a")], [], id="without a number"),
]


@pytest.mark.parametrize(("records", "points"), POINTS)
def test_the_growth_of_the_context_is_told(
    records: list[Json], points: list[tuple[int, int]]
) -> None:
    assert work.read(read(*records)).points == points


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
BLOCKS = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "tool_use", "tool_result"]) | JSON},
    optional={
        "text": JSON, "id": st.just("1") | JSON, "tool_use_id": st.just("1") | JSON,
        "name": st.sampled_from(["Bash", "Edit", "Write", "TodoWrite", "TaskUpdate"]) | JSON,
        "input": st.fixed_dictionaries({}, optional={
            "command": JSON, "file_path": JSON, "todos": JSON, "content": JSON, "taskId": JSON,
        }) | JSON,
        "content": JSON, "is_error": JSON,
    },
)  # fmt: skip
RECORDS = st.fixed_dictionaries(
    {"type": st.sampled_from(["user", "assistant"]) | JSON},
    optional={
        "message": st.fixed_dictionaries(
            {"content": st.lists(BLOCKS, max_size=3) | JSON}, optional={"id": JSON, "usage": JSON}
        ) | JSON,
        "timestamp": JSON, "toolUseResult": JSON, "isSidechain": JSON, "isCompactSummary": JSON,
        "isMeta": JSON, "uuid": JSON,
    },
)  # fmt: skip


@given(st.lists(RECORDS, max_size=6))
def test_any_records_are_read(records: list[Json]) -> None:
    found = work.read(read(*records))
    assert isinstance(found.task, str)
