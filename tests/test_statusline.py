"""The line that the client shows below its prompt."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess

import pytest
from world import SISYPHUS, Json, World

from sisyphus.door import statusline


def line(world: World, session: str = "s1", **fields: object) -> str:
    payload = {"session_id": session, "cwd": str(world.project), **fields}
    out = io.StringIO()
    code = statusline.run([], io.BytesIO(json.dumps(payload).encode()), out, io.StringIO())
    assert code == 0
    return out.getvalue()


def context(tokens: int, window: int = 1_000_000) -> Json:
    usage = {"input_tokens": 1_000, "cache_read_input_tokens": tokens - 1_000, "output_tokens": 9}
    return {"context_window": {"context_window_size": window, "current_usage": usage}}


def test_it_shows_plan_loop_and_context(world: World) -> None:
    world.write("PLAN.md", "# Shop\n\n## Wave 1\n\n- [x] one\n\n## Wave 2\n\n- [ ] two\n")
    world.start()
    world.loop("--max-iterations", "7")

    assert line(world, **context(420_000)) == "Shop 1/2 wave 2 | loop 1/7 | ctx 42%\n"


def test_a_paused_loop_is_shown_as_paused(world: World) -> None:
    world.start()
    world.loop("--max-iterations", "0")
    world.cli("ralph", "pause", "--session-id", "s1")

    assert line(world) == "loop 1 paused\n"


def test_without_plan_loop_and_context_it_is_empty(world: World) -> None:
    assert line(world) == "\n"
    assert line(world, "s9", context_window={"current_usage": None}) == "\n"


@pytest.mark.parametrize("data", [b"[]", b"\xff", b'{"session_id": 1, "context_window": 3}'])
def test_it_is_silent_on_input_that_it_cannot_read(world: World, data: bytes) -> None:
    done = subprocess.run([SISYPHUS, "statusline"], input=data, capture_output=True, check=False)

    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, b"", b"")
    assert len(world.log().splitlines()) <= 1


def test_no_input_is_no_failure(world: World) -> None:
    done = subprocess.run(
        [SISYPHUS, "statusline"], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )

    assert (done.returncode, done.stdout, done.stderr, world.log()) == (0, b"", b"", "")


def test_a_person_who_types_it_reads_what_calls_it_and_nothing_is_logged(world: World) -> None:
    controller, terminal = pty.openpty()
    done = subprocess.run(
        [SISYPHUS, "statusline"], stdin=terminal, capture_output=True, text=True, check=False
    )
    os.close(terminal)
    os.close(controller)

    assert (done.returncode, done.stdout, world.log()) == (statusline.USAGE, "", "")
    assert "`sisyphus install`" in done.stderr


def test_it_is_silent_if_its_streams_are_closed(world: World) -> None:
    words = f"{SISYPHUS} statusline <&- >&- 2>&-; echo $?"
    done = subprocess.run(words, shell=True, capture_output=True, text=True, check=True)

    assert done.stdout == "0\n"


def test_it_is_silent_if_sisyphus_is_disabled(world: World) -> None:
    world.write("PLAN.md", "# Shop\n\n- [ ] one\n")
    world.start()
    world.setenv("SISYPHUS_DISABLE", "1")

    assert line(world) == ""
