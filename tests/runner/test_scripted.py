"""The scripted client, whose word others' tests take."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

from runner import scripted
from runner.streams import fed
from sisyphus.clients import running
from sisyphus.runner.client.failures import classify

if TYPE_CHECKING:
    from pathlib import Path


def _play(folder: Path, *flags: str, **environment: str) -> subprocess.CompletedProcess[str]:
    words = [os.path.join(scripted.on_path(folder), "claude"), *flags]
    return subprocess.run(
        words,
        cwd=folder,
        input="prompt",
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_every_run_has_its_entry_and_the_last_one_is_repeated(tmp_path: Path) -> None:
    scripted.install(tmp_path, [scripted.said("one"), scripted.said("two", exit_code=3)])
    runs = [_play(tmp_path, "--session-id", f"s{number}") for number in range(3)]

    assert [run.returncode for run in runs] == [0, 3, 3]
    assert [fed(*run.stdout.splitlines()).said for run in runs] == [["one"], ["two"], ["two"]]
    given = [(run["run"], run["session"], run["prompt"]) for run in scripted.runs(tmp_path)]
    assert given == [(1, "s0", "prompt"), (2, "s1", "prompt"), (3, "s2", "prompt")]


def test_what_it_does_is_done(tmp_path: Path) -> None:
    index = tmp_path / "handoffs.json"
    steps = [
        scripted.write("src/a.py", "one\n"),
        scripted.append("src/a.py", "two\n"),
        scripted.handoff(index, {"active": True}),
        scripted.handoff(index, {"active": False, "session_id": "s7"}),
        scripted.stderr("oh"),
        scripted.plain("words"),
        scripted.pause(0),
    ]
    scripted.install(tmp_path, [scripted.entry(*steps)])
    run = _play(tmp_path, SISYPHUS_RUN="loop-1", SISYPHUS_SESSION_ID="s1")

    assert (run.stdout, run.stderr) == ("words\n", "oh\n")
    assert (tmp_path / "src" / "a.py").read_text() == "one\ntwo\n"
    assert json.loads(index.read_text())["handoffs"] == [
        {"active": True, "session_id": "s1", "loop_id": "loop-1"},
        {"active": False, "session_id": "s7", "loop_id": "loop-1"},
    ]


def test_its_failures_are_those_of_the_client(tmp_path: Path) -> None:
    failing = scripted.failing("You've hit it", error="rate_limit", status=429, resets_at=1_000)
    scripted.install(
        tmp_path, [failing, scripted.entry(scripted.retry(1, 529, 2), scripted.die(9))]
    )
    first, second = _play(tmp_path), _play(tmp_path)

    failure = classify(fed(*first.stdout.splitlines()), first.returncode, "", now=900)
    assert (failure.kind, failure.until) == (running.LIMIT, 1_000)
    assert second.returncode == -9
    assert classify(fed(*second.stdout.splitlines()), 137, "", now=900).kind == running.OVERLOADED
