"""The door for programs: what it does with an event, an option and a fault of its own."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from making import COMMAND, debug_log

from sisyphus.clients.base import EVENTS
from sisyphus.hook import routes
from sisyphus.hook.routes import ROUTES

if TYPE_CHECKING:
    from world import World


def test_every_route_is_an_event_of_ours() -> None:
    assert set(ROUTES) <= set(EVENTS)


@pytest.mark.parametrize("route", [one for found in ROUTES.values() for one in found])
def test_every_route_leads_to_a_handler(route: str) -> None:
    module, _, name = route.partition(":")
    __import__(module)
    assert callable(getattr(sys.modules[module], name))


EVENT_NAMES = [
    pytest.param("post-tool-batch", id="of an earlier version"),
    pytest.param("of-a-later-version", id="unknown"),
]


@pytest.mark.parametrize("event", EVENT_NAMES)
def test_a_client_that_calls_a_name_of_another_version_is_not_disturbed(
    world: World, event: str
) -> None:
    answer = world.raw(event, b"{}")
    assert (answer.exit, answer.stdout, answer.stderr) == (0, "", "")


@pytest.mark.parametrize("event", ["of-a-later-version", "stop"])
def test_a_person_is_told_what_is_wrong(event: str) -> None:
    master, terminal = pty.openpty()
    try:
        done = subprocess.run(
            [COMMAND, "hook", event], stdin=terminal, capture_output=True, check=False, text=True
        )
    finally:
        os.close(master)
        os.close(terminal)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")


NOT_UNDERSTOOD = [
    pytest.param("stop", b"", id="nothing"),
    pytest.param("stop", b"this is no JSON", id="no JSON"),
    pytest.param("stop", b"[1]", id="no object"),
    pytest.param("of-a-later-version", b"{}", id="an unknown event"),
]


@pytest.mark.parametrize(("event", "stdin"), NOT_UNDERSTOOD)
def test_strictly_what_is_not_understood_fails_with_the_reason(
    world: World, event: str, stdin: bytes
) -> None:
    strict = world.process("hook", event, "--strict", stdin=stdin)
    assert (strict.exit, strict.stdout) == (1, "")
    assert strict.stderr.startswith("error: ")
    assert "Traceback" not in strict.stderr
    lenient = world.process("hook", event, stdin=stdin)
    assert (lenient.exit, lenient.stdout, lenient.stderr) == (0, "", "")


def test_strictly_what_is_understood_is_answered_as_ever(world: World) -> None:
    world.write("README.md", "Read me.")
    payload = world.payload("session-start")
    answer = world.process("hook", "session-start", "--strict", stdin=payload)
    assert (answer.exit, answer.stderr) == (0, "")
    assert "Read me." in answer.text


def test_a_failing_handler_is_skipped_and_strictly_an_error(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write("README.md", "Read me.")
    failing = ("hook.failing:on_stop", *ROUTES["session-start"])
    monkeypatch.setitem(routes.ROUTES, "session-start", failing)
    answer = world.start()
    assert (answer.exit, answer.stderr) == (0, "")
    assert "Read me." in answer.text
    assert "hook.failing:on_stop" in debug_log(world.home)

    payload = json.dumps(world.session("s2").payload("session-start")).encode()
    strict = replace(world, options=("--strict",)).raw("session-start", payload)
    assert strict.exit == 1
    assert "Read me." in strict.text
    assert "hook.failing:on_stop: RuntimeError" in strict.stderr
