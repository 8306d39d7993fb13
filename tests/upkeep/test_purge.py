from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import COMMAND, ours, put

from sisyphus.state.lock import Lock
from sisyphus.upkeep import kept, purge
from sisyphus.upkeep.kept import File
from upkeep import attic
from upkeep.attic import NOW, aged, below, lay


def _ours(home: Path) -> str:
    return str(ours(home, "")).rstrip("/")


def _purge(home: Path, days: int = 30, *, everything: bool = False) -> set[str]:
    """What went."""
    before = below(home)
    without = () if everything else kept.ON_REQUEST
    found = purge.find(_ours(home), NOW, days, without=without)
    done = purge.carry_out(found)
    assert done.stays == {}
    gone = before - below(home)
    assert {os.path.relpath(file.path, _ours(home)) for file in done.gone} == gone
    return gone


def _names(names: tuple[str, ...], owner: str = "") -> set[str]:
    return {name.format(owner) for name in names}


def test_what_is_old_goes_and_what_is_for_ever_stays(home: Path) -> None:
    lay(home, attic.OF_SESSION, 31, "s1")
    lay(home, attic.OF_LOOP, 31, "loop1")
    lay(home, attic.OF_NOBODY, 31)
    lay(home, attic.ON_REQUEST, 31, "x1")
    lay(home, attic.FOR_EVER, 400)
    wanted = _names(attic.OF_SESSION, "s1") | _names(attic.OF_LOOP, "loop1")
    assert _purge(home) == wanted | _names(attic.OF_NOBODY)
    assert _purge(home, everything=True) == _names(attic.ON_REQUEST, "x1")
    assert below(home) == _names(attic.FOR_EVER)


def test_one_young_file_keeps_all_of_its_session(home: Path) -> None:
    lay(home, attic.OF_SESSION, 31, "s1")
    attic.old(ours(home, "opencode/s1/subagents/agent-a1.jsonl"), 3)
    assert _purge(home) == set()
    assert len(_purge(home, 2)) == len(attic.OF_SESSION)


@pytest.mark.parametrize("days", [0, 30])
def test_a_session_that_can_be_resumed_keeps_what_it_was_sent(home: Path, days: int) -> None:
    lay(home, attic.OF_SESSION, 31, "s1")
    transcript = put(home / ".claude/projects/-p/s1.jsonl", "")
    _purge(home, days)
    assert below(home) == _names(attic.SAID_ONCE, "s1")
    transcript.unlink()
    assert _purge(home, days) == _names(attic.SAID_ONCE, "s1")


def test_what_is_cut_off_leaves_no_transcript_without_what_was_sent(home: Path) -> None:
    lay(home, attic.OF_SESSION, 31, "s1")
    found = [file.path for file in purge.find(_ours(home), NOW, 30)]
    sent = str(ours(home, "rules-injector/session-s1.json"))
    assert found.index(str(ours(home, "opencode/s1.jsonl"))) < found.index(sent)


README = "# The shop\n\nWhat it sells.\n"


def test_a_session_that_is_resumed_after_a_month_gets_no_text_twice(
    home: Path, project: Path
) -> None:
    put(project / "README.md", README)
    put(home / ".claude/projects/-p/s1.jsonl", "")
    assert README.strip() in _start(project, "startup")
    for name in below(home):
        attic.old(ours(home, name), 31)
    assert _purge(home) != set()
    assert README.strip() not in _start(project, "resume")


def _start(project: Path, source: str) -> str:
    """What the session is sent as it starts."""
    said = {"session_id": "s1", "source": source, "cwd": str(project)}
    done = subprocess.run(
        [COMMAND, "hook", "session-start"],
        input=json.dumps(said),
        capture_output=True,
        text=True,
        check=True,
    )
    return str(json.loads(done.stdout or "{}")).replace("\\n", "\n")


def test_what_was_agreed_on_is_looked_at_again(home: Path) -> None:
    lay(home, attic.OF_SESSION, 31, "s1")
    lay(home, attic.OF_SESSION, 31, "s2")
    agreed = purge.find(_ours(home), NOW, 30)
    attic.old(ours(home, "logs/journal-s1.jsonl"), 0)
    lay(home, attic.OF_SESSION, 31, "s3")
    left = purge.again(agreed, _ours(home), NOW, 30, kept.ON_REQUEST)
    assert {file.owner for file in left} == {("session", "s2")}


SESSIONS = ("s1", "s2", "s3", "s1.a")
STATES = ("old", "young", "client", "loop")


def _bring_to_life(home: Path, session: str, state: str) -> None:
    if state == "young":
        attic.old(ours(home, f"checkpoint/{session}.json"), 1)
    elif state == "client":
        attic.a_client(home, session, lives=True)
    elif state == "loop":
        attic.a_loop(home, session, f"L{len(session)}x{session[1]}", 90)


def _of(names: set[str], owner: str) -> set[str]:
    wanted = _names(attic.OF_SESSION, owner)
    return {name for name in names if name in wanted}


@given(
    states=st.lists(st.sampled_from(STATES), min_size=len(SESSIONS), max_size=len(SESSIONS)),
    chosen=st.lists(st.sampled_from(attic.OF_SESSION), min_size=1, unique=True),
    days=st.integers(min_value=0, max_value=80),
    everything=st.booleans(),
)
def test_nothing_goes_that_a_living_session_needs(
    states: list[str], chosen: list[str], days: int, everything: bool
) -> None:
    if states.count("client") > 1:  # one process is in one session
        first = states.index("client")
        states = [s if s != "client" or n == first else "old" for n, s in enumerate(states)]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        home = Path(folder)
        patch.setenv("CLAUDE_CONFIG_DIR", str(home / ".claude"))
        lay(home, attic.FOR_EVER, 400)
        for session, state in zip(SESSIONS, states, strict=True):
            lay(home, (*chosen, "checkpoint/{}.json"), 90, session)
            _bring_to_life(home, session, state)
        days = max(days, 2)
        before = below(home)
        _purge(home, days, everything=everything)
        after = below(home)
        for session, state in zip(SESSIONS, states, strict=True):
            left = set() if state == "old" else _of(before, session)
            assert _of(after, session) == left, (session, state)
        loops = {name for name in before if name.endswith(".local.md")}
        assert loops | _names(attic.FOR_EVER) <= after


def test_of_a_loop_that_has_not_ended_nothing_goes(home: Path) -> None:
    attic.a_loop(home, "s1", "loop1", 90)
    lay(home, attic.OF_LOOP, 90, "loop1")
    lay(home, attic.OF_LOOP, 90, "loop2")
    assert _purge(home, 1) == _names(attic.OF_LOOP, "loop2")


def test_nothing_goes_while_somebody_holds_it(home: Path) -> None:
    [path, *_] = lay(home, ("sessions/{}.json", "sessions/{}.json.lock", "queue/{}.json"), 90, "s1")
    with Lock(str(path)):
        done = purge.carry_out(purge.find(_ours(home), NOW, 30))
    assert (len(done.stays), done.gone) == (3, [])


def _file(kind: str, size: int) -> File:
    found = os.stat_result((0, 0, 0, 0, 0, 0, size, 0, 0, 0))
    return File("a", kind, ("", ""), "", found)


def test_files_are_counted_by_kind() -> None:
    files = [_file(kept.LOCKS, 0), _file(kept.JOURNALS, 1_200_000), _file(kept.JOURNALS, 40_000)]
    assert purge.by_kind(files) == [
        {"kind": "journals", "files": 2, "bytes": 1_240_000},
        {"kind": "locks", "files": 1, "bytes": 0},
    ]
    assert list(purge.lines(files)) == ["  journals  2  1.2 MB", "  locks     1     0 B"]
    assert purge.total(files) == "3 files, 1.2 MB"
    assert purge.total(files[:1]) == "1 file, 0 B"
    assert list(purge.lines([])) == []


SIZES = [
    pytest.param(0, "0 B", id="nothing"),
    pytest.param(999, "999 B", id="bytes"),
    pytest.param(1_000, "1.0 kB", id="thousands"),
    pytest.param(3_400_000, "3.4 MB", id="millions"),
    pytest.param(7_000_000_000_000, "7,000.0 GB", id="very many"),
]


@pytest.mark.parametrize(("count", "text"), SIZES)
def test_a_size(count: int, text: str) -> None:
    assert purge.size(count) == text


def test_a_session_of_a_cleared_folder_is_no_failure(home: Path) -> None:
    assert _purge(home) == set()
    aged(put(ours(home, "logs/journal-s1.jsonl"), "{}"), 90)
    assert _purge(home) == {"logs/journal-s1.jsonl"}
