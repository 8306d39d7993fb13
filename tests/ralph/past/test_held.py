from __future__ import annotations

import json
import os
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import ours, put

from ralph.past.log import a_loop, ends, lives, ran, starts
from sisyphus.errors import SisyphusError, UnreadableError
from sisyphus.paths import our_home
from sisyphus.ralph import store
from sisyphus.ralph.past import held as module
from sisyphus.ralph.past import history, lines, rotation
from sisyphus.ralph.past.held import Files, Held, holding
from sisyphus.reading import open_regular
from sisyphus.state import jsonl
from sisyphus.state.files import Staged
from sisyphus.state.jsonl import parse

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import BufferedReader
    from pathlib import Path

    from sisyphus._types import Json
    from sisyphus.state.lock import Lock

LOG, ARCHIVE = "logs/sessions.jsonl", "logs/sessions.archive.jsonl"


def _start(loop_id: str, session: str = "s1", **fields: object) -> Json:
    return {"loop_id": loop_id, "session_id": session, "status": "active", **fields}


def _end(loop_id: str, session: str = "s1") -> Json:
    line = {"loop_id": loop_id, "session_id": session, "status": "completed"}
    return {**line, "outcome": "success"}


def _bytes(*lines: Json | bytes) -> bytes:
    parts = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in lines]
    return b"".join(part + b"\n" for part in parts)


def _held() -> Held:
    return Held(our_home(), Files(our_home()))


def _over() -> list[str]:
    return [record.loop_id for record in _held().over()]


STRIKES = [
    pytest.param([_start("a"), _end("a")], [_start("b"), _end("b")], id="all in the archive"),
    pytest.param([_start("b"), _end("b")], [_start("a"), _end("a")], id="all in the log"),
    pytest.param([_start("a")], [_end("a"), _start("b")], id="in both"),
    pytest.param([_start("a"), _end("a")], [_start("a"), _end("a")], id="twice"),
    pytest.param([], [_start("a"), _end("a"), b'{"loop_id": "a"}'], id="a line of no loop"),
    pytest.param(
        [_start("a", "s1", started_at="t"), _start("a", "s2", started_at="t")],
        [_end("a", "s2"), _start("b", "s2")],
        id="a loop that moved to another session",
    ),
    pytest.param([_end("a", "s2")], [b"", b"\xff", b"[1]", _start("a", "s1")], id="garbage beside"),
]


@pytest.mark.parametrize(("archive", "log"), STRIKES)
def test_the_lines_of_a_loop_go_and_no_other(
    home: Path, archive: list[Json | bytes], log: list[Json | bytes]
) -> None:
    put(ours(home, ARCHIVE), _bytes(*archive))
    put(ours(home, LOG), _bytes(*log))
    held = _held()
    going = [record for record in held.records if record.loop_id == "a"]

    held.strike(going)

    def is_kept(line: Json | bytes) -> bool:
        return isinstance(line, bytes) or line["loop_id"] != "a"

    assert ours(home, ARCHIVE).read_bytes() == _bytes(*filter(is_kept, archive))
    assert ours(home, LOG).read_bytes() == _bytes(*filter(is_kept, log))


LINES = st.one_of(
    st.builds(
        lambda of, loop_id, session: json.dumps(of(loop_id, session)).encode(),
        st.sampled_from([_start, _end]),
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from(["s1", "s2"]),
    ),
    st.binary(max_size=12).map(lambda data: data.replace(b"\n", b"\r")),
)
FILES = st.builds(
    lambda lines, end: b"\n".join(lines) + end,
    st.lists(LINES, max_size=8),
    st.sampled_from([b"", b"\n"]),
)


@given(archive=FILES, log=FILES, going=st.sets(st.sampled_from(["a", "b", "c"])))
def test_what_is_not_struck_stays_byte_for_byte(
    archive: bytes, log: bytes, going: set[str]
) -> None:
    folder = os.path.join(our_home(), "logs")
    os.makedirs(folder, exist_ok=True)
    paths = [os.path.join(folder, os.path.basename(name)) for name in (ARCHIVE, LOG)]
    for path, data in zip(paths, (archive, log), strict=True):
        with open(path, "wb") as file:
            file.write(data)
    before = _held()
    staying = [record.as_json() for record in before.records if record.loop_id not in going]

    before.strike([record for record in before.records if record.loop_id in going])

    assert [record.as_json() for record in _held().records] == staying
    for path, data in zip(paths, (archive, log), strict=True):
        lines = data.split(b"\n")
        kept = [
            one for one in lines if not any(b'"loop_id": "%s"' % i.encode() in one for i in going)
        ]
        with open(path, "rb") as file:
            assert [one for one in file.read().split(b"\n") if one] == [one for one in kept if one]


def test_a_file_that_holds_nothing_of_it_is_not_written(home: Path) -> None:
    put(ours(home, ARCHIVE), _bytes(_start("b"), _end("b")))
    ran(a_loop("a"))
    inode = ours(home, ARCHIVE).stat().st_ino
    held = _held()
    held.strike([record for record in held.records if record.loop_id == "a"])
    assert ours(home, ARCHIVE).stat().st_ino == inode
    assert ours(home, LOG).read_bytes() == b""


class _Killed(BaseException):
    pass


def _killed_at(number: int) -> type[Staged]:
    """In place of `Staged`: dies before that commit."""
    done: list[Staged] = []

    class Mortal(Staged):
        def commit(self) -> None:
            if len(done) == number:
                raise _Killed
            done.append(self)
            super().commit()

    return Mortal


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize(
    ("archive", "log"),
    [
        pytest.param([_start("a")], [_end("a")], id="its end is in the log"),
        pytest.param([_start("a"), _end("a")], [_start("a"), _end("a")], id="it is in both"),
        pytest.param([_end("a")], [_start("a"), _end("a")], id="it was taken up again"),
    ],
)
def test_a_loop_that_was_half_deleted_is_over_still(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    archive: list[Json],
    log: list[Json],
    number: int,
) -> None:
    put(ours(home, ARCHIVE), _bytes(*archive))
    put(ours(home, LOG), _bytes(*log))
    with monkeypatch.context() as patch:
        patch.setattr(module, "Staged", _killed_at(number))
        held = _held()
        with pytest.raises(_Killed):
            held.strike(held.records)

    again = _held()
    assert [record.result for record in again.records] == ["success"]
    again.strike(again.records)
    assert _held().records == []


def test_what_cannot_be_staged_leaves_both_files_alone(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(ours(home, ARCHIVE), _bytes(_start("a")))
    put(ours(home, LOG), _bytes(_end("a")))

    class Full(Staged):
        def __init__(self, path: str, data: bytes | bytearray) -> None:
            if path.endswith("sessions.jsonl"):
                raise OSError(28, "No space left on device")
            super().__init__(path, data)

    monkeypatch.setattr(module, "Staged", Full)
    held = _held()
    with pytest.raises(OSError, match="No space"):
        held.strike(held.records)
    assert ours(home, ARCHIVE).read_bytes() == _bytes(_start("a"))
    assert ours(home, LOG).read_bytes() == _bytes(_end("a"))


@pytest.mark.parametrize("name", [LOG, ARCHIVE])
def test_a_file_that_is_too_large_is_refused_in_words(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(rotation, "LOG_BYTES", 100)
    put(ours(home, name), b"x" * 101)
    with pytest.raises(UnreadableError, match=r"too large \(over 100 bytes\)"):
        _held()


def test_what_has_not_ended_is_not_over() -> None:
    starts(lives(a_loop("alive", "s1")))
    ran(a_loop("ended", "s2"))
    starts(a_loop("lost-", "s3", minute=1))
    assert _over() == ["lost-", "ended"]


def test_a_loop_that_is_just_beginning_is_not_over() -> None:
    """Its start is noted before its state file is there."""
    with store.LoopStore(our_home(), "s1") as held:
        starts(a_loop("young", "s1"))
        assert _over() == []
        with pytest.raises(SisyphusError, match="loop young has ended is not certain"):
            _held().named("young")
        held.save_memory()
    assert _over() == ["young"]


def test_a_loop_whose_state_file_cannot_be_read_is_not_over(home: Path) -> None:
    starts(a_loop("blind", "s1"))
    path = put(ours(home, "ralph/loops/ralph-loop.s1.local.md"), "garbage")
    assert _over() == []
    path.unlink()
    assert _over() == ["blind"]


def test_a_lost_loop_is_over_while_its_session_is_in_another_one() -> None:
    starts(a_loop("lost-", "s1"))
    starts(lives(a_loop("alive", "s1", minute=1)))
    assert _over() == ["lost-"]


def test_of_loops_of_one_id_the_newest_is_meant() -> None:
    ran(a_loop("aaaaa", "s1"))
    ran(a_loop("aaaaa", "s2", minute=1), "stuck")
    assert _held().named("aaaaa").outcome == "stuck"


@pytest.mark.parametrize("name", ["", "aaaa", "aaaaaa"])
def test_a_name_that_is_no_loops_says_where_they_are(name: str) -> None:
    ran(ends(a_loop("aaaaa")))
    with pytest.raises(SisyphusError, match=r"no loop .* is known.*ralph log --all"):
        _held().named(name)


# --- what comes between -------------------------------------------------------------------------


def _append(name: str, *lines: Json | bytes) -> None:
    with open(os.path.join(our_home(), name), "ab") as file:
        file.write(_bytes(*lines))


def _rotates() -> None:
    """All lines move to the archive; the log is another file."""
    log, archive = history.log_path(our_home()), history.archive_path(our_home())
    with open(log, "rb") as file:
        rotation.append(archive, file.read())
    Staged(log, b"").commit()
    history.append(our_home(), _end("c"))


def _is_replaced() -> None:
    """Somebody else deletes in it, and others append: it is longer than it was."""
    Staged(history.log_path(our_home()), _bytes(_start("b"), b"x" * 1_000)).commit()


def _is_cut() -> None:
    with open(history.log_path(our_home()), "wb"):
        pass


BETWEEN = [
    pytest.param(lambda: None, {"a": "success", "b": "lost"}, id="nothing"),
    pytest.param(lambda: _append(LOG, _end("b")), {"a": "success", "b": "success"}, id="an end"),
    pytest.param(lambda: _append(ARCHIVE, _start("x")), {"a": "success", "b": "lost", "x": "lost"},
                 id="the archive grows"),
    pytest.param(_rotates, {"a": "success", "b": "lost", "c": "success"}, id="a rotation"),
    pytest.param(_is_replaced, {"a": "lost", "b": "lost"}, id="the log is another file"),
    pytest.param(_is_cut, {"a": "lost"}, id="the log is cut"),
    pytest.param(lambda: os.unlink(history.log_path(our_home())), {"a": "lost"},
                 id="the log goes away"),
]  # fmt: skip


@pytest.mark.parametrize("end", [b"", b'{"loop_id": "half'], ids=["whole lines", "half a line"])
@pytest.mark.parametrize(("between", "results"), BETWEEN)
def test_what_comes_between_the_reading_and_the_lock_is_known_and_stays(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    between: Callable[[], None],
    results: dict[str, str],
    end: bytes,
) -> None:
    put(ours(home, ARCHIVE), _bytes(_start("a")))
    put(ours(home, LOG), _bytes(_end("a"), _start("b"), b"not of a loop") + end)
    if end:
        between = partial(_after_a_line_end, between)
    _once_before_the_lock(monkeypatch, between)

    with holding(our_home()) as held:
        assert {one.loop_id: one.result for one in held.records} == results
        held.strike([one for one in held.records if one.loop_id == "a"])

    again = {one.loop_id: one.result for one in _held().records}
    assert again == {name: result for name, result in results.items() if name != "a"}


def test_a_line_that_was_being_written_is_read_whole(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = _bytes(_end("a"))
    put(ours(home, LOG), _bytes(_start("a")) + line[:9])
    _once_before_the_lock(monkeypatch, lambda: _append(LOG, line[9:-1]))
    with holding(our_home()) as held:
        assert [one.result for one in held.records] == ["success"]
        held.strike(held.records)
    assert ours(home, LOG).read_bytes() == b""


def _after_a_line_end(then: Callable[[], None]) -> None:
    """A writer ends what a killed one left."""
    _append(LOG, b"")
    then()


def _once_before_the_lock(monkeypatch: pytest.MonkeyPatch, play: Callable[[], None]) -> None:
    """Both files were read by then."""
    lock = history.lock

    def late(ours: str) -> Lock:
        monkeypatch.setattr(history, "lock", lock)
        play()
        return lock(ours)

    monkeypatch.setattr(history, "lock", late)


def test_under_the_lock_only_what_was_appended_is_parsed(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(ours(home, ARCHIVE), _bytes(_start("a"), _end("a")))
    put(ours(home, LOG), _bytes(_start("b")))
    parsed: list[bytes] = []

    def counted(line: bytes) -> Json | None:
        parsed.append(line)
        return parse(line)

    monkeypatch.setattr(jsonl, "parse", counted)

    def between() -> None:
        parsed.clear()
        _append(LOG, _end("b"))

    _once_before_the_lock(monkeypatch, between)
    with holding(our_home()) as held:
        assert [one.result for one in held.records] == ["success", "success"]
    assert parsed == [_bytes(_end("b"))]


def test_who_writes_all_the_time_does_not_keep_it_from_its_work(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(ours(home, LOG), _bytes(_start("a")))
    lock = history.lock
    taken: list[str] = []

    def late(ours: str) -> Lock:
        taken.append(f"n{len(taken)}")
        _append(ARCHIVE, _start(taken[-1]))
        return lock(ours)

    monkeypatch.setattr(history, "lock", late)
    with holding(our_home()) as held:
        assert {one.loop_id for one in held.records} == {"a", *taken}
    assert len(taken) < 10


@pytest.mark.parametrize("number", [1, 2])
def test_no_file_stays_open(home: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    put(ours(home, LOG), _bytes(_start("a")))
    put(ours(home, ARCHIVE), _bytes(_start("b")))
    opened: list[BufferedReader] = []

    def counted(path: str) -> BufferedReader:
        opened.append(open_regular(path))
        if len(opened) == number:
            monkeypatch.setattr(rotation, "LOG_BYTES", 1)
        return opened[-1]

    monkeypatch.setattr(lines, "open_regular", counted)
    with pytest.raises(UnreadableError), holding(our_home()):
        pass
    assert [file.closed for file in opened] == [True] * number
