from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest
from making import put
from ralph.processes import have_ended, wait_for

from runner import scripted
from runner.clients import Clients
from sisyphus.runner.client import follow as follow_module
from sisyphus.runner.client.child import Child
from sisyphus.runner.client.follow import Reader, catch_up, errors_tail
from sisyphus.runner.client.stream import Seen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def clients(tmp_path: Path) -> Iterator[Clients]:
    found = Clients(tmp_path)
    yield found
    found.end()


def test_a_run_is_seen_to_its_end(clients: Clients) -> None:
    seen, ended = clients.follow(clients.play(scripted.said("<promise>DONE</promise>")))

    assert (seen.said, seen.has_ended) == (["<promise>DONE</promise>"], True)
    assert (ended.exit_code, ended.timed_out, ended.interrupted) == (0, False, False)
    assert ended.offset == clients.output.stat().st_size


def test_changes_are_told_while_it_runs(clients: Clients) -> None:
    told: list[list[str]] = []
    going_on = clients.project / "go"

    def on_change(seen: Seen) -> None:
        told.append(list(seen.said))
        going_on.touch()

    clients.output.parent.mkdir()
    child = clients.shell(
        "echo one; while [ ! -e go ]; do sleep 0.01; done; printf two",
    )
    clients.follow(child, on_change=on_change)

    assert told == [["one"], ["one\ntwo"]]


def test_a_silent_client_changes_nothing(clients: Clients) -> None:
    told: list[Seen] = []
    clients.follow(clients.shell("exit 0"), on_change=told.append)
    assert told == []


def test_only_its_own_output_is_read(clients: Clients) -> None:
    clients.shell("echo first").wait(60)
    seen, _ = clients.follow(clients.shell("echo second"))
    assert seen.said == ["second"]


def test_reading_goes_on_where_it_ended(clients: Clients) -> None:
    clients.shell("echo first; echo second").wait(60)
    seen, ended = clients.follow(clients.shell("echo third"), offset=len("first\n"))

    assert seen.said == ["second\nthird"]
    assert ended.offset == clients.output.stat().st_size


def test_whose_time_is_over_is_ended(clients: Clients) -> None:
    child = clients.play(
        scripted.entry(scripted.init(), scripted.child("child.pid"), scripted.forever())
    )
    wait_for(clients.project / "child.pid")
    seen, ended = clients.follow(child, deadline=time.monotonic())

    assert (ended.timed_out, ended.interrupted, ended.exit_code) == (True, False, 0)
    assert seen.was_interrupted  # what it wrote at its end is read too
    assert have_ended(int((clients.project / "child.pid").read_text()))


def test_the_user_may_interrupt(clients: Clients) -> None:
    child = clients.play(scripted.entry(scripted.init(), scripted.text("one"), scripted.forever()))
    shown: list[str] = []
    seen, ended = clients.follow(
        child, on_change=lambda seen: shown.extend(seen.said), stop=lambda: bool(shown)
    )

    assert (ended.timed_out, ended.interrupted) == (False, True)
    assert seen.said == ["one"]
    assert child.poll() == 0


def test_a_user_without_patience_is_not_held_up(clients: Clients) -> None:
    child = clients.play(scripted.entry(scripted.init(), scripted.forever()))

    def stop() -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        clients.follow(child, stop=stop)
    assert child.end(gently=False)


def test_a_client_of_another_runner_is_seen_to_its_end(clients: Clients) -> None:
    child = clients.shell("echo one; while [ ! -e go ]; do sleep 0.01; done; echo two")
    again = Child.attach(child.as_json())
    assert again
    wait_for(clients.output)
    (clients.project / "go").touch()
    seen, ended = clients.follow(again)

    assert seen.said == ["one\ntwo"]
    assert ended.exit_code is None
    child.wait(60)


def test_a_line_counts_when_it_is_whole(tmp_path: Path) -> None:
    line = json.dumps(scripted.text("hi")[1]).encode() + b"\n"
    output = put(tmp_path / "out", line[:20])
    seen = Seen()
    reader = Reader(seen, str(output), 0)
    assert not reader.read()
    assert reader.offset == 0

    with output.open("ab") as file:
        file.write(line[20:] + line[:5])
    assert reader.read()
    assert (seen.said, reader.offset) == (["hi"], len(line))
    reader.finish()


def test_a_line_without_an_end_is_not_held_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow_module, "LINE_BYTES", 100)
    monkeypatch.setattr(follow_module, "_READ_BYTES", 60)
    output = put(tmp_path / "out", b"." * 1_000)
    seen = Seen()

    assert catch_up(seen, str(output)) == 1_000
    assert seen.said == ["." * 1_000]


def test_a_file_is_read_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow_module, "_READ_BYTES", 3)
    output = put(tmp_path / "out", "one\ntwo\n\nthree")
    seen = Seen()

    assert catch_up(seen, str(output), 4) == output.stat().st_size
    assert seen.said == ["two\n\nthree"]


def test_a_file_that_is_gone_has_nothing(tmp_path: Path) -> None:
    seen = Seen()
    assert catch_up(seen, str(tmp_path / "none"), 7) == 7
    assert seen.said == []


COMPLAINTS = [
    pytest.param("one\ntwo\n", "one\ntwo", id="few"),
    pytest.param("", "", id="none"),
    pytest.param("\x1b[31mred\x1b[0m\n", "red", id="in colour"),
    pytest.param("x" * 99 + "\n" + "y" * 100_000, "y" * 4_000, id="too many"),
]


@pytest.mark.parametrize(("text", "expected"), COMPLAINTS)
def test_the_last_complaints(tmp_path: Path, text: str, expected: str) -> None:
    assert errors_tail(str(put(tmp_path / "err", text))) == expected


def test_no_file_of_complaints(tmp_path: Path) -> None:
    assert errors_tail(str(tmp_path / "none")) == ""


def test_a_fifo_of_complaints_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "err")
    assert errors_tail(str(tmp_path / "err")) == ""
