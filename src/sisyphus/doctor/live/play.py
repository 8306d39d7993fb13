"""Runs the client once on a stage, and gathers what is left there."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field

from sisyphus import transcript
from sisyphus.clients import CLAUDE, files
from sisyphus.doctor.live.model import serving
from sisyphus.doctor.live.stage import PROMPT, TOKEN
from sisyphus.doctor.round_trip import noted_events
from sisyphus.reading import read_text
from sisyphus.runner.client.child import Child
from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sisyphus.doctor.live.stage import Stage
    from sisyphus.transcript import HookRun

_LOOK_SECONDS = 0.2
_FLAGS = ("--print", "--output-format", "text", "--allowedTools", "Read", "--strict-mcp-config")
_STDERR_BYTES = 64_000
_WORDS = 400


@dataclass(frozen=True)
class Failed:
    """A hook that the client saw fail. `event`: in the client's words; `code`: None where it took
    too long; `words`: what it complained of."""

    event: str
    command: str
    code: int | None
    words: str = ""


@dataclass(frozen=True)
class Seen:
    """What a run left. `code`: None where it had to be ended; `noted`: how often each
    event (in our words) reached us; `answers`: how often the model was asked; `is_heard`: whether
    what we said reached it; `astray`: other hosts that the client asked for."""

    code: int | None
    errors: str = ""
    noted: Counter[str] = field(default_factory=Counter)
    failed: list[Failed] = field(default_factory=list)
    answers: int = 0
    is_heard: bool = False
    astray: list[str] = field(default_factory=list)


def play(client: str, stage: Stage, is_over: Callable[[], object]) -> Seen:
    """Runs `client` until it ends or `is_over`.

    Raises `OSError` where it cannot be started, or there is no port for the model.
    """
    with serving(stage.note) as model:
        code = _run(client, stage, model.url, is_over)
        return Seen(
            code=code,
            errors=one_line(_errors(stage), _WORDS),
            noted=Counter(noted_events(stage.home)),
            failed=[one for run in _hook_runs(stage) if (one := _failed(run))],
            answers=len(model.heard),
            is_heard=any(TOKEN in said for said in model.heard),
            astray=list(dict.fromkeys(model.astray)),
        )


def _run(client: str, stage: Stage, url: str, is_over: Callable[[], object]) -> int | None:
    """Nothing of it outlives this."""
    prompt = os.path.join(stage.root, "prompt.txt")
    with open(prompt, "w", encoding="utf-8") as file:
        file.write(PROMPT)
    child = Child.start(
        [client, *_FLAGS],
        folder=stage.project,
        prompt=prompt,
        output=os.path.join(stage.root, "output.txt"),
        errors=_errors_path(stage),
        environment=stage.environment(url),
    )
    try:
        while child.wait(_LOOK_SECONDS) is None and not is_over():
            pass
        return child.poll()
    finally:
        child.end(gently=False)
        child.release()


def _errors_path(stage: Stage) -> str:
    return os.path.join(stage.root, "errors.txt")


def _errors(stage: Stage) -> str:
    return read_text(_errors_path(stage), _STDERR_BYTES)


def _hook_runs(stage: Stage) -> Iterator[HookRun]:
    """How hooks ended, as the client wrote it down."""
    client = files(CLAUDE)
    for entry in client.transcripts(stage.home):
        for _, line in transcript.lines(entry.path, 0):
            record = client.read_record(line)
            if record and record.hook:
                yield record.hook


def _failed(run: HookRun) -> Failed | None:
    if run.is_late:
        return Failed(run.event, run.command, None)
    if run.ok or run.code is None:
        return None
    return Failed(run.event, run.command, run.code, one_line(run.words, _WORDS))


def _files(folder: str) -> list[str]:
    try:
        return sorted(entry.path for entry in os.scandir(folder))
    except OSError:
        return []
