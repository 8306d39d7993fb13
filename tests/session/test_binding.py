from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from making import ours, put

from session.processes import nobody_above, sleeping
from sisyphus.session import binding, client
from sisyphus.session.process import Ancestor, identify
from sisyphus.session.store import SessionStore

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sisyphus._types import Json

NOW = 1_000_000.0


@pytest.fixture
def folder(home: Path) -> str:
    return str(ours(home, ""))


@pytest.fixture(autouse=True)
def running(monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[bytes]]:
    """The process that plays the client."""
    nobody_above(monkeypatch)
    with sleeping() as process:
        monkeypatch.setenv("CLAUDE_PID", str(process.pid))
        yield process


def _note(home: Path, session: str, state: Json) -> None:
    put(ours(home, f"sessions/{session}.json"), json.dumps(state))


def test_a_session_is_held_until_its_process_has_ended(
    folder: str, running: subprocess.Popen[bytes]
) -> None:
    client.bind(folder, "s1", NOW)

    assert binding.is_held(folder, "s1") is True
    running.kill()
    running.wait()
    assert binding.is_held(folder, "s1") is False


def test_a_session_is_held_no_more_once_its_process_is_in_another(folder: str) -> None:
    client.bind(folder, "s1", NOW)
    client.bind(folder, "s2", NOW)

    assert binding.is_held(folder, "s1") is False
    assert binding.is_held(folder, "s2") is True


def test_a_session_that_has_ended_is_not_held(folder: str) -> None:
    client.bind(folder, "s1", NOW)
    client.unbind(folder, "s1")

    assert binding.is_held(folder, "s1") is False


def test_of_a_session_without_a_process_nothing_is_known(folder: str, home: Path) -> None:
    assert binding.is_held(folder, "s1") is None
    _note(home, "s1", {"process": "somebody"})
    assert binding.is_held(folder, "s1") is None


def test_the_client_is_the_nearest_above_that_is_one_or_was_bound(
    folder: str, running: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    above = [Ancestor(os.getpid(), "make"), Ancestor(running.pid, "sleep"), Ancestor(1, "claude")]
    monkeypatch.setattr(binding, "ancestors", lambda: iter(above))

    assert binding.client_pid_above(folder) == 1
    client.bind(folder, "s1", NOW)
    assert binding.client_pid_above(folder) == running.pid


@pytest.mark.parametrize("before", ["../x", "", "s1", None, 5, ["s0"], "x" * 200], ids=repr)
def test_a_strange_session_before_is_none(folder: str, home: Path, before: object) -> None:
    _note(home, "s1", {"before": before})

    assert binding.session_before(folder, "s1") == ""


def _before(folder: str, session: str, pid: int) -> str:
    """What is noted in `session` where it begins by /clear in the process `pid`."""
    with SessionStore(folder, session) as held:
        binding.note_before(held, folder, session, pid)
        held.save()
    return binding.session_before(folder, session)


def test_a_process_tells_which_session_it_was_in(
    folder: str, running: subprocess.Popen[bytes]
) -> None:
    client.bind(folder, "s1", NOW)

    assert _before(folder, "s2", running.pid) == "s1"


def _other_start(process: Json) -> Json:
    return {**process, "started": "1-abcdef01"}


def _other_pid(process: Json) -> Json:
    return {**process, "pid": process["pid"] + 1}


def _unknown_start(process: Json) -> Json:
    return {**process, "started": ""}


def _nobody(process: Json) -> Json:
    return {"nobody": process["pid"]}


@pytest.mark.parametrize("change", [_other_start, _other_pid, _unknown_start, _nobody])
def test_a_process_that_is_not_provably_the_same_was_in_none(
    folder: str, home: Path, running: subprocess.Popen[bytes], change: Callable[[Json], Json]
) -> None:
    client.bind(folder, "s1", NOW)
    _note(home, "s1", {"process": change(identify(running.pid).as_json())})

    assert _before(folder, "s2", running.pid) == ""


def test_a_process_that_is_in_the_session_already_was_in_none(
    folder: str, running: subprocess.Popen[bytes]
) -> None:
    client.bind(folder, "s1", NOW)

    assert _before(folder, "s1", running.pid) == ""


def test_what_is_removed_is_still_ours(folder: str, running: subprocess.Popen[bytes]) -> None:
    client.bind(folder, "s2", NOW)
    binding.remove(folder, "s1", running.pid)

    assert os.path.exists(client.ppid_path(folder, running.pid))
