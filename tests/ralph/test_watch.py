from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from command_files import put_foreign, put_ours
from making import a_space, put

from ralph.lines import add, prompt, raw, result, said, skill, typed, used
from sisyphus.ralph import events, watch
from sisyphus.transcript import TAIL_BYTES, lines, size

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "t.jsonl"


def _offsets(path: Path, offset: int = 0) -> list[int]:
    return [position for position, _ in lines(str(path), offset)]


def test_lines_come_with_their_offsets(path: Path) -> None:
    put(path, "a\nbb\nccc\n")

    assert _offsets(path) == [0, 2, 5]
    assert _offsets(path, 2) == [2, 5]
    assert _offsets(path, 9) == []


def test_a_line_that_is_still_being_written_waits(path: Path) -> None:
    put(path, "a\nbb")

    assert _offsets(path) == [0]


def test_a_shorter_file_is_another_one(path: Path) -> None:
    put(path, "a\n")

    assert _offsets(path, 100) == [0]


def test_of_a_very_long_transcript_the_end_is_read(path: Path) -> None:
    put(path, "first\n")
    os.truncate(path, TAIL_BYTES)
    with path.open("ab") as file:
        file.write(b"\nlast\n")

    assert [line for _, line in lines(str(path), 0)] == [b"last\n"]


@pytest.mark.parametrize("kind", ["absent", "folder", "fifo", "nothing named"])
def test_what_cannot_be_read_has_no_lines(path: Path, kind: str) -> None:
    if kind == "folder":
        path.mkdir()
    if kind == "fifo":
        os.mkfifo(path)
    named = "" if kind == "nothing named" else str(path)

    assert list(lines(named, 0)) == []
    assert watch.first_start(named, 7, a_space(path)) == (None, 7)
    assert watch.read_events(named, 7, a_space(path)) == ([], 7)


CANCEL = "/ralph-wiggum:cancel-ralph"
FIRST = [
    pytest.param([prompt("a"), said("b")], None, id="none"),
    pytest.param([prompt("a"), typed("go"), said("b")], 1, id="one"),
    pytest.param([typed("go"), typed("go"), said("b")], 1, id="the user's last one"),
    pytest.param([skill("a"), typed("b"), skill("c")], 1, id="and the model's behind it"),
    pytest.param([skill("a"), skill("b")], 0, id="the model's first one"),
    pytest.param([said("ralph-wiggum:ralph-loop Skill")], None, id="talk about them"),
    pytest.param([typed("x", "/other:ralph-loop")], None, id="another plugin's"),
    pytest.param([{"type": "attachment", "x": typed("x")}], None, id="an attachment"),
    pytest.param([typed("x"), skill("y"), typed("", CANCEL)], None, id="cancelled behind it"),
    pytest.param([typed("x"), typed("", CANCEL), skill("y")], 2, id="the model's behind that"),
    pytest.param([typed("x"), typed(":ralph-loop", CANCEL)], None, id="cancelled with a word"),
    pytest.param([typed("x :cancel-ralph"), said("y")], 0, id="talk about cancelling"),
    pytest.param([typed("x"), typed("", "/o:cancel-ralph")], 0, id="cancelled in another plugin"),
    pytest.param(
        [typed("x"), {**typed("", CANCEL), "isMeta": True}], 0, id="written by the client"
    ),
    pytest.param([typed("x"), {**typed("", CANCEL), "isSidechain": True}], 0, id="by an agent"),
]


@pytest.mark.parametrize(("records", "index"), FIRST)
def test_the_first_start_that_matters(path: Path, records: list[object], index: int | None) -> None:
    add(path, *records)
    begin = None if index is None else len(raw(*records[:index]))

    assert watch.first_start(str(path), 0, a_space(path)) == (begin, path.stat().st_size)


BARE = [
    pytest.param([typed("x", "/ralph-loop"), said("y")], 0, id="typed"),
    pytest.param([said("y"), skill("x", "ralph-loop")], 1, id="called"),
    pytest.param([skill("a"), typed("", "/cancel-ralph"), said("y")], None, id="cancelled"),
]


@pytest.mark.parametrize(("records", "index"), BARE)
def test_a_name_without_a_plugin_counts_where_its_file_is_ours(
    home: Path, path: Path, records: list[object], index: int | None
) -> None:
    for name in ("ralph-loop", "cancel-ralph"):
        put_ours(home / ".claude", name)
    test_the_first_start_that_matters(path, records, index)
    assert bool(_started(path)) == any("ralph-loop" in str(record) for record in records)


FOREIGN = [
    pytest.param([typed("x", "/ralph-loop"), skill("y", "ralph-loop")], None, id="starts"),
    pytest.param([typed("x"), typed("", "/cancel-ralph"), said("y")], 0, id="a cancel"),
    pytest.param([typed("x", "/ralph-loop"), skill("a"), said("b")], 1, id="ours behind it"),
]


@pytest.mark.parametrize("put_command", [put_foreign, lambda *_: None], ids=["foreign", "none"])
@pytest.mark.parametrize(("records", "index"), FOREIGN)
def test_elsewhere_it_is_somebody_elses(
    home: Path,
    path: Path,
    records: list[object],
    index: int | None,
    put_command: Callable[[Path, str], object],
) -> None:
    for name in ("ralph-loop", "cancel-ralph"):
        put_command(home / ".claude", name)
    test_the_first_start_that_matters(path, records, index)
    assert len(_started(path)) == (index is not None)


def _started(path: Path) -> list[str]:
    found, _ = watch.read_events(str(path), 0, a_space(path))
    return [event.start.command for event in found if event.start]


def test_only_what_is_new_is_looked_at(path: Path) -> None:
    add(path, typed("go"))
    size = path.stat().st_size
    add(path, said("x"))

    assert watch.first_start(str(path), size, a_space(path)) == (None, path.stat().st_size)
    found, end = watch.read_events(str(path), size, a_space(path))
    assert ([event.text for event in found], end) == (["x"], path.stat().st_size)


def test_events_of_all_that_matters_are_read_in_order(path: Path) -> None:
    add(
        path,
        prompt("a"),
        {"type": "api-request-blob", "message": {"role": "assistant", "content": "<promise>"}},
        used("Skill", skill="other"),
        result("long" * 9, is_error=False),
        result("bad", is_error=True),
        said("b", isSidechain=True),
        {"type": "system"},
        said("c"),
    )
    with path.open("ab") as file:
        file.write(b'{"type":"user", nonsense\n[1]\n\xff"type":"assistant"\n')

    found, _ = watch.read_events(str(path), 0, a_space(path))

    assert [event.kind for event in found] == [
        events.PROMPT,
        events.TOOL,
        events.FAILED,
        events.SAID,
    ]


def test_what_a_subagent_spent_is_read_and_nothing_else_of_it(path: Path) -> None:
    answer = said("<promise>DONE</promise>", isSidechain=True)
    answer["message"].update(id="m1", usage={"output_tokens": 7})
    add(path, prompt("a"), answer)

    found, _ = watch.read_events(str(path), 0, a_space(path))

    assert [(event.kind, event.tokens) for event in found] == [
        (events.PROMPT, 0),
        (events.SPENT, 7),
    ]


def test_the_clients_own_goal_is_read_and_no_talk_about_it(path: Path) -> None:
    note = {"type": "goal_status", "met": False, "condition": "tests pass"}
    add(path, {"type": "attachment", "attachment": note}, prompt('"type":"goal_status"'))

    found, _ = watch.read_events(str(path), 0, a_space(path))

    assert [(event.kind, event.text) for event in found] == [
        (events.GOAL, "tests pass"),
        (events.PROMPT, ""),
    ]


def test_the_last_records_are_those_of_the_main_thread(path: Path) -> None:
    last, before = said("b"), prompt("a")
    add(path, before, said("x", isSidechain=True), {"type": "system"}, last)

    assert [one.uuid for one in watch.last_records(str(path))] == [before["uuid"], last["uuid"]]


def test_of_a_long_transcript_the_last_records_are_few(path: Path) -> None:
    last = said("b")
    add(path, *[prompt("x" * 1_000) for _ in range(100)], last)

    found = watch.last_records(str(path))

    assert 1 < len(found) < 64
    assert found[-1].uuid == last["uuid"]


@pytest.mark.parametrize("named", ["", "/no/such/file", "/a\0b"])
def test_without_a_transcript_there_are_no_last_records(named: str) -> None:
    assert watch.last_records(named) == []
    assert size(named) == 0


def test_lines_with_spaces_between_their_parts_are_read_too(path: Path) -> None:
    text = raw(prompt("a"), result("b", is_error=True), said("c")).decode()
    put(path, text.replace('":', '": '))

    found, _ = watch.read_events(str(path), 0, a_space(path))

    assert [event.kind for event in found] == [events.PROMPT, events.FAILED, events.SAID]
