"""Large files and full disks: hooks still answer, and leave no half-written file."""

from __future__ import annotations

import json
import resource
import subprocess
from pathlib import Path

import pytest
from test_codex import with_skills
from world import SISYPHUS, World

pytestmark = pytest.mark.slow

GIGABYTE = 1_000_000_000


def test_the_promise_ends_a_loop_with_a_transcript_of_a_gigabyte(world: World) -> None:
    """The client gives a Stop 900 seconds; to read backwards takes well under one."""
    world.loop()
    world.prompt(text="go")
    fill(world.transcript(), {"type": "assistant", "message": {"content": "x" * 1_000_000}})

    reply = world.process("stop", world.stop_payload("Done.\n\n<promise>DONE</promise>"))

    assert "[RALPH LOOP COMPLETE]" in reply.message
    world.transcript().unlink()


def test_a_rollout_of_a_gigabyte(world: World) -> None:
    """Codex gives most hooks ten seconds; to read backwards takes well under one."""
    world.rule("a.md", "MARK", applies_to="*.txt")
    world.write("a.txt", "1")
    codex = with_skills(world)
    codex.start()
    codex.prompt('$ralph-loop "Fix it." --completion-promise "DONE"')
    fill(codex.rollout, {"type": "response_item", "payload": {"text": "x" * 1_000_000}})

    assert "MARK" in codex.read("a.txt").text
    assert codex.stop().reason
    assert "[RALPH LOOP COMPLETE]" in codex.stop("Done.\n\n<promise>DONE</promise>").message
    codex.rollout.unlink()


def fill(transcript: Path, line: object) -> None:
    """Adds a gigabyte of equal lines."""
    data = json.dumps(line) + "\n"
    with transcript.open("a") as file:
        for _ in range(GIGABYTE // len(data)):
            file.write(data)


def test_a_payload_of_50_megabytes_is_answered(world: World) -> None:
    world.rule("a.md", "MARK", applies_to="*.txt")
    payload = world.payload("PostToolUse.Read", tool_response="x" * 50_000_000)

    assert "MARK" in world.process("post-tool-use", payload).text


@pytest.mark.parametrize("size", [0, 4_096, 65_536])
def test_a_hook_that_cannot_write_so_much_does_no_harm(world: World, size: int) -> None:
    """As on a disk that fills up between two writes."""
    world.write("README.md", "MARK\n")
    world.start("before")
    payload = json.dumps(world.payload("SessionStart.startup"))

    done = subprocess.run(
        [SISYPHUS, "hook", "session-start"], input=payload, capture_output=True, text=True,
        check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    )  # fmt: skip

    assert done.returncode == 0
    assert not done.stdout or json.loads(done.stdout)
    assert "MARK" in world.start("after").text
