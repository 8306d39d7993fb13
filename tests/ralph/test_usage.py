from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import put

from ralph.lines import line, raw, said
from sisyphus.ralph import usage

if TYPE_CHECKING:
    from pathlib import Path


def _answer(answer_id: str, tokens: int) -> dict[str, object]:
    record = line("assistant", [{"type": "text", "text": "x"}], isSidechain=True)
    message = record["message"]
    assert isinstance(message, dict)
    message.update(id=answer_id, usage={"input_tokens": tokens})
    return record


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """The transcript of a session with two subagents."""
    agents = tmp_path / "s1" / "subagents"
    put(agents / "agent-1.jsonl", raw(said("x"), _answer("m1", 5), _answer("m1", 7)))
    put(agents / "agent-2.jsonl", raw(_answer("m2", 3)))
    put(agents / "agent-2.meta.json", "{}")
    return put(tmp_path / "s1.jsonl", raw(_answer("main", 1_000)))


def _size(session: Path, name: str) -> int:
    return (session.parent / "s1" / "subagents" / name).stat().st_size


def test_what_the_subagents_spent_is_counted_by_answer(session: Path) -> None:
    spent, now = usage.of_subagents(str(session), {})

    assert spent == {"m1": 7, "m2": 3}
    assert now == {name: _size(session, name) for name in ("agent-1.jsonl", "agent-2.jsonl")}


def test_only_what_is_new_is_read(session: Path) -> None:
    known = usage.offsets(str(session))
    path = session.parent / "s1" / "subagents" / "agent-1.jsonl"
    with path.open("ab") as file:
        file.write(raw(_answer("m3", 4)))

    spent, now = usage.of_subagents(str(session), known)

    assert spent == {"m3": 4}
    assert now["agent-1.jsonl"] == path.stat().st_size
    assert usage.of_subagents(str(session), now) == ({}, now)


def test_agents_of_a_workflow_are_counted_too(session: Path) -> None:
    run = session.parent / "s1" / "subagents" / "workflows" / "run-1"
    put(run / "agent-1.jsonl", raw(_answer("m9", 20)))
    put(run / "journal.jsonl", raw(_answer("m9", 20)))

    spent, now = usage.of_subagents(str(session), {})

    assert spent == {"m1": 7, "m2": 3, "m9": 20}
    assert now["workflows/run-1/agent-1.jsonl"] == (run / "agent-1.jsonl").stat().st_size
    assert len(now) == 3


def test_a_folder_that_is_a_link_is_not_looked_into(session: Path, tmp_path: Path) -> None:
    put(tmp_path / "elsewhere" / "agent-7.jsonl", raw(_answer("m9", 20)))
    (session.parent / "s1" / "subagents" / "link").symlink_to(tmp_path / "elsewhere")

    assert "m9" not in usage.of_subagents(str(session), {})[0]


def test_a_line_that_is_still_being_written_is_read_later(session: Path) -> None:
    path = session.parent / "s1" / "subagents" / "agent-1.jsonl"
    half, size = raw(_answer("m3", 4)), path.stat().st_size
    with path.open("ab") as file:
        file.write(half[:-9])

    _, now = usage.of_subagents(str(session), usage.offsets(str(session)) | {path.name: size})
    assert now[path.name] == size

    with path.open("ab") as file:
        file.write(half[-9:])
    assert usage.of_subagents(str(session), now)[0] == {"m3": 4}


def test_an_agent_that_is_gone_is_forgotten(session: Path) -> None:
    known = {**usage.offsets(str(session)), "agent-9.jsonl": 7}

    assert "agent-9.jsonl" not in usage.of_subagents(str(session), known)[1]


def test_a_file_that_cannot_be_read_costs_nothing(session: Path) -> None:
    folder = session.parent / "s1" / "subagents"
    os.mkfifo(folder / "agent-3.jsonl")
    (folder / "agent-4.jsonl").mkdir()
    put(folder / "agent-5.jsonl", b'\xff"usage"\n{"usage": 7}\n[1]\n')

    spent, _ = usage.of_subagents(str(session), {})

    assert spent == {"m1": 7, "m2": 3}


@pytest.mark.parametrize("named", ["", "relative.jsonl", "/no/such/s1.jsonl", "/a\0b.jsonl"])
def test_a_session_without_subagents_has_none(named: str) -> None:
    assert usage.offsets(named) == {}
    assert usage.of_subagents(named, {"agent-1.jsonl": 5}) == ({}, {})
