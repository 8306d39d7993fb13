"""Why `sisyphus ralph run` does not start OpenCode: what `opencode run` says of a limit and of a
permission. A version for which this fails may be one that it can start."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from e2e import opencode
from e2e.desk import OPENCODE, Desk
from e2e.install import OPENCODE as PACKAGE
from e2e.model import Model, serving
from e2e.script import Script, Turn, say, use, write

pytestmark = pytest.mark.parametrize("desk", [OPENCODE], indirect=True)


@contextmanager
def running(
    desk: Desk, turns: Sequence[Turn], **more: str
) -> Iterator[tuple[subprocess.Popen[str], Model]]:
    """A client that works on a prompt, and the model that it asks."""
    with serving(Script([*turns]), desk.spell) as model:
        process = subprocess.Popen(
            [PACKAGE.binary, "run", "--format", "json", "Sweep the floor."],
            cwd=desk.project,
            env={**desk.environment(), **opencode.model_variables(model.url), **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # so that its children end with it
        )
        try:
            yield process, model
        finally:
            opencode.end(process)


def test_it_says_nothing_of_a_limit_and_does_not_end(desk: Desk) -> None:
    """It waits two seconds, then four, and so on."""
    with running(desk, [say("", status=429)] * 9) as (process, model):
        end = time.monotonic() + opencode.SECONDS
        while len(model.requests) < 3 and time.monotonic() < end:
            assert process.poll() is None
            time.sleep(0.1)
        asked = len(model.requests)
        opencode.end(process)
        printed, errors = process.communicate()

    assert asked == 3
    assert (printed, errors) == ("", "")


def test_a_rejected_permission_ends_it_as_if_the_work_was_done(desk: Desk) -> None:
    turns = [use(write("../out.py", "")), say("Done.")]
    with running(desk, turns) as (process, model):
        printed, _ = process.communicate(timeout=opencode.SECONDS)

    assert "The user rejected permission" in printed
    assert process.returncode == 0
    assert len(model.requests) == 1
