from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from making import put

from doctor.scene import NOW, told
from sisyphus.doctor import transcripts
from sisyphus.session.transcripts import NEWEST, TAIL_BYTES
from sisyphus.times import iso, local

if TYPE_CHECKING:
    from doctor.scene import Scene


def _line(command: str = "sisyphus hook stop", ago: float = 60, **fields: Any) -> str:
    attachment = {
        "type": "hook_non_blocking_error",
        "hookEvent": "Stop",
        "stderr": "Failed: /bin/sh: 1: sisyphus: not found",
        "exitCode": 127,
        "command": command,
        **fields,
    }
    row = {"type": "attachment", "attachment": attachment, "timestamp": iso(NOW - ago)}
    return json.dumps(row) + "\n"


@pytest.fixture(autouse=True)
def _wired(scene: Scene) -> None:
    scene.wire(program="sisyphus")


def test_hooks_of_ours_that_the_client_saw_fail(scene: Scene) -> None:
    put(scene.claude / "projects/p/s1.jsonl", _line(ago=600) + _line("sisyphus hook idle") + "{")

    (found,) = transcripts.failures(scene.case())

    assert found.state == "warning"
    assert found.text == (
        f"2 within 24 h, the last at {local(NOW - 60, '%H:%M')}: sisyphus hook idle ended with "
        "exit code 127 (Failed: /bin/sh: 1: sisyphus: not found)"
    )
    assert found.hint


OTHERS = [
    pytest.param(_line("say done"), id="another's hook"),
    pytest.param(_line("/gone/sisyphus hook stop"), id="a hook that is not wired any more"),
    pytest.param(_line() + _line(ago=30, type="hook_success"), id="found again since"),
    pytest.param(_line(ago=90_000), id="long ago"),
    pytest.param(_line(type="hook_success", stderr="hook_non_blocking_error"), id="no failure"),
    pytest.param('{"a": "hook_non_blocking_error"}\n', id="a word of it"),
    pytest.param("hook_non_blocking_error\n", id="no JSON"),
    pytest.param(_line(command=["x"]), id="no command"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("text", OTHERS)
def test_nothing_else_counts(scene: Scene, text: str) -> None:
    put(scene.claude / "projects/p/s1.jsonl", text)

    assert told(transcripts.failures(scene.case())) == []


COUNTED = [
    pytest.param(_line() + _line(ago=90, type="hook_success"), id="found before"),
    pytest.param(_line(exitCode=1) + _line(ago=30, type="hook_success"), id="another failure"),
    pytest.param(_line() + _line("sisyphus hook idle", 30, type="hook_success"), id="another hook"),
]


@pytest.mark.parametrize("text", COUNTED)
def test_what_went_well_otherwise_excuses_no_failure(scene: Scene, text: str) -> None:
    put(scene.claude / "projects/p/s1.jsonl", text)

    assert len(told(transcripts.failures(scene.case()))) == 1


def test_of_the_newest_few_the_ends_are_read(scene: Scene) -> None:
    for number in range(NEWEST + 1):
        path = put(scene.claude / f"projects/p{number % 2}/s{number}.jsonl", _line())
        os.utime(path, (NOW - number, NOW - number))
    long = put(scene.claude / "projects/p/long.jsonl", _line() + " " * TAIL_BYTES)
    os.utime(long, (NOW + 1, NOW + 1))

    ((_, text),) = told(transcripts.failures(scene.case()))

    assert text.startswith("4 within 24 h, ")


def test_a_fifo_holds_nobody_up(scene: Scene) -> None:
    (scene.claude / "projects/p").mkdir(parents=True)
    os.mkfifo(scene.claude / "projects/p/s1.jsonl")

    assert told(transcripts.failures(scene.case())) == []
