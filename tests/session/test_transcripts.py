from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import put

from sisyphus.session.transcripts import (
    NEWEST,
    TAIL_BYTES,
    has_goal,
    newest,
    resumable,
    resume_command,
    sessions_with_goal,
    transcript_path,
    transcripts,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_a_transcript_is_found_whatever_its_folder_is_called(home: Path) -> None:
    put(home / "projects" / "-a" / "s2.jsonl", "")
    path = put(home / "projects" / "-b" / "s1.jsonl", "")
    assert transcript_path(str(home), "s1") == str(path)


def test_a_transcript_that_we_keep_comes_first(home: Path) -> None:
    theirs = put(home / "projects" / "-b" / "s1.jsonl", "")
    assert transcript_path(str(home), "s1") == str(theirs)
    kept = put(home / ".sisyphus" / "opencode" / "s1.jsonl", "")
    assert transcript_path(str(home), "s1") == str(kept)
    assert transcript_path(str(home), "s2") == ""


NONE = [
    pytest.param("s7", id="another session"),
    pytest.param("", id="no session"),
    pytest.param("../-b/s1", id="a path"),
    pytest.param("folder", id="a folder of that name"),
]


@pytest.mark.parametrize("session", NONE)
def test_where_there_is_none_there_is_no_path(home: Path, session: str) -> None:
    put(home / "projects" / "-b" / "s1.jsonl", "")
    (home / "projects" / "-b" / "folder.jsonl").mkdir()
    (home / "projects" / "file").touch()
    (home / ".sisyphus" / "opencode" / "folder.jsonl").mkdir(parents=True)
    assert transcript_path(str(home), session) == ""


def test_without_the_clients_folder_there_is_none(home: Path) -> None:
    assert transcript_path(str(home / "nowhere"), "s1") == ""


def test_a_session_can_be_resumed_while_the_client_has_its_transcript(home: Path) -> None:
    put(home / "projects" / "-a" / "s1.jsonl", "")
    put(home / "projects" / "-b" / "s.2.jsonl", "")
    put(home / "projects" / "-b" / "memory" / "s3.jsonl", "")
    put(home / "projects" / "notes.jsonl", "")
    put(home / ".sisyphus" / "opencode" / "s4.jsonl", "")
    assert resumable(str(home)) == {"s1", "s.2"}
    assert resumable(str(home / "nowhere")) == set()


def test_what_goes_on_with_a_session_depends_on_its_client(home: Path) -> None:
    put(home / ".sisyphus" / "opencode" / "ses_1.jsonl", "")
    assert resume_command(str(home), "ses_1") == "opencode -s ses_1"
    assert resume_command(str(home), "s1") == "claude --resume s1"


def test_every_transcript_is_the_one_that_is_found_by_its_session(home: Path) -> None:
    for folder, session in [("-a", "s1"), ("-b", "s1"), ("-b", "s2"), ("-b", "s3")]:
        put(home / "projects" / folder / f"{session}.jsonl", "")
    put(home / ".sisyphus" / "opencode" / "s3.jsonl", "")
    found = transcripts(str(home))
    assert sorted(found) == ["s1", "s2", "s3"]
    assert all(path == transcript_path(str(home), session) for session, path in found.items())


def test_what_is_no_transcript_of_a_session_is_none(home: Path) -> None:
    put(home / "projects" / "-b" / "notes.md", "")
    put(home / "projects" / "-b" / "a b.jsonl", "")
    put(home / "projects" / "-b" / "s1" / "subagents" / "agent-1.jsonl", "")
    (home / "projects" / "-b" / "folder.jsonl").mkdir()
    put(home / "projects" / "file.jsonl", "")
    assert transcripts(str(home)) == {}


def test_without_a_client_there_are_none(home: Path) -> None:
    assert transcripts(str(home / "nowhere")) == {}


GOAL = '{"message": {"content": "<command-name>/goal</command-name>"}}\n'


def test_the_few_that_were_written_last_are_found(tmp_path: Path) -> None:
    for number in range(NEWEST + 2):
        path = put(tmp_path / f"projects/p{number % 2}/s{number}.jsonl", "")
        os.utime(path, (number, number))
    put(tmp_path / "projects/p0/notes.md", "")
    put(tmp_path / "projects/p0/s9.jsonl/x", "")
    put(tmp_path / "projects/s8.jsonl", "")

    names = [os.path.basename(path) for path in newest(str(tmp_path))]

    assert names == ["s6.jsonl", "s5.jsonl", "s4.jsonl", "s3.jsonl", "s2.jsonl"]


def test_one_that_cannot_be_asked_hides_no_other(tmp_path: Path) -> None:
    path = put(tmp_path / "projects/p/s1.jsonl", "")
    path.with_name("s2.jsonl").symlink_to("s2.jsonl")

    assert newest(str(tmp_path)) == [str(path)]
    assert newest(str(tmp_path / "nowhere")) == []


GOALS = [
    pytest.param(GOAL, True, id="typed"),
    pytest.param('{"message": {"content": "/goal"}}\n', False, id="spoken of"),
    pytest.param(GOAL + " " * TAIL_BYTES, False, id="long ago"),
    pytest.param(" " * TAIL_BYTES + GOAL, True, id="at the end of much"),
]


@pytest.mark.parametrize(("text", "found"), GOALS)
def test_a_goal_of_late_is_found(tmp_path: Path, text: str, found: bool) -> None:
    path = put(tmp_path / "projects/p/s1.jsonl", text)

    assert has_goal(str(path)) is found
    assert list(sessions_with_goal(str(tmp_path))) == ["s1"] * found
