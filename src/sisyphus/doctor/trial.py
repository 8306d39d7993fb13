"""`sisyphus doctor --live`: starts a client once, as the user has wired it, and looks at what comes
of it.

The client works in a new folder, for a model on this machine, with copies of the user's wiring. The
user's account, sessions and state are not touched.
"""

import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing

from sisyphus import clients
from sisyphus.clients import programs
from sisyphus.clients.base import Trial
from sisyphus.clients.finding import Finding, Level
from sisyphus.clients.trial_folder import COMMAND, HOME, PROJECT, Stage, WiringCopy
from sisyphus.doctor.model import serve
from sisyphus.enforce import enforcements
from sisyphus.ground import files, processes
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.record import Record
from sisyphus.ground.settings import is_disabled
from sisyphus.ground.store import open_store
from sisyphus.ground.text import one_line
from sisyphus.runner.process import ClientProcess
from sisyphus.setup import plugin
from sisyphus.terminal import show

SECONDS = 60.0
"""How long a client may take. Claude Code takes one or two, OpenCode and Qwen Code about five,
and Copilot CLI, which unpacks itself in the new home, thirteen."""

_README, _RULE = "sisyphus-trial-readme", "sisyphus-trial-rule"
"""What stands in the project's README and in its rule, and nowhere else."""

_CLAIM = "All tasks are done."
"""What the model says at its end: enforcement looks at it, so that a Stop leaves a trace."""

_FILES = {
    ".git/HEAD": "ref: refs/heads/main\n",
    ".git/objects/info/.keep": "",
    ".git/refs/heads/.keep": "",
    ".cursor/rules/trial.mdc": f'---\nglobs: "*.txt"\n---\n\n{_RULE}\n',  # no client reads these
    "README.md": f"{_README}\n",
    "note.txt": "Nothing.\n",
    "PLAN.md": "# Trial\n\n- [ ] Read note.txt\n",
}
_NOT_WIRED = "not tried: nothing calls sisyphus."
_OUTPUT_BYTES = 4_000_000
_SAID = 200


class _Sign(Record, frozen=True):
    """What shows that an event works. part: the setting that switches it. when: for people. text:
    what the model gets then; "" = nothing. kind: what that is."""

    event: str
    part: str
    when: str
    text: str = ""
    kind: str = ""


_SIGNS = (
    _Sign("session-start", "context.enabled", "a session started", _README, "a README.md"),
    _Sign("post-tool-use", "rules.enabled", "the agent read a file", _RULE, "a rule"),
    _Sign("stop", "enforce.enabled", "the agent stopped"),
)


class _Run(Record, frozen=True):
    """How a run of the client ended.

    code: its exit code; None = it had to be ended. requests: what the model got. events: the ones,
    in our words, that our journal has. failure: the last failure in our log.
    """

    code: int | None
    output: bytes
    errors: str
    requests: list[str]
    events: set[str]
    failure: str


def play(client: str, place: show.Place, seconds: float = SECONDS) -> list[Finding]:
    """Tries a client's wiring. seconds: how long the client may take.

    After Ctrl-C and SIGTERM, too, the client and the folder are gone.
    """
    trial, named = clients.trial(client), clients.wiring(client).CLIENT
    subject, program = f"{named.title} live", programs.path_of(named, place.project)
    here = plugin.installation(place.home, place.project)
    wiring = trial.wiring(here)
    findings = [Finding(subject, Level.GOOD, f"left out: {each}") for each in wiring.left_out]
    if not wiring.is_wired:
        text = "not tried: nothing else calls sisyphus." if findings else _NOT_WIRED
        return [*findings, Finding(subject, Level.WARNING, text, wiring.mend)]
    if why := _why_not(wiring, program):
        return [Finding(subject, Level.WARNING, f"not tried: {one_line(why)}.")]
    began = time.monotonic()
    with (
        processes.OrderlyEnd() as end,
        tempfile.TemporaryDirectory(prefix="sisyphus-trial-", ignore_cleanup_errors=True) as folder,
    ):
        end.arm()
        try:
            run = _play(trial, program, wiring, place, os.path.realpath(folder), seconds)
        except OSError as error:
            text = f"not tried: {one_line(error.strerror or str(error))}."
            return [Finding(subject, Level.PROBLEM, text, "Correct this, and try again.")]
    took = time.monotonic() - began
    problems = list(_problems(trial, program, wiring, run, place, seconds))
    findings += [Finding(subject, Level.PROBLEM, *each) for each in problems]
    if not problems:
        text = _success(run, place, took)
        if wiring.until:
            text = f"would work {wiring.until}. {text[0].upper()}{text[1:]}"
        findings.append(Finding(subject, Level.GOOD, text))
    return findings


def _success(run: _Run, place: show.Place, took: float) -> str:
    """took: in seconds. A part that is off hears nothing, and need not."""
    signs = [sign for sign in _SIGNS if place.settings[sign.part]]
    heard = [sign.when for sign in signs if sign.event in run.events]
    if not heard:
        return f"tried ({took:.1f} s): the parts of sisyphus that a trial shows are off."
    count = f"{len(heard)} of {len(signs)} hooks arrived ({took:.1f} s)"
    return f"tried, {count}: {_join(heard, 'and')}."


def _why_not(wiring: WiringCopy, program: str) -> str:
    if is_disabled(os.environ):
        return "SISYPHUS_DISABLE is set, so hooks do nothing"
    return wiring.why_not if program else "its program is not here"


def _play(
    trial: Trial, program: str, wiring: WiringCopy, place: show.Place, folder: str, seconds: float
) -> _Run:
    """Runs the client once. Raises `OSError` if it cannot be started, or a file not be written."""
    note = os.path.join(folder, PROJECT, "note.txt")
    call = {"type": "tool_use", "id": "toolu_trial", **trial.read_call(note)}
    with serve([call, {"type": "text", "text": _CLAIM}]) as model:
        stage = Stage(folder, model.url)
        _furnish(stage, wiring, place)
        words = trial.command(program, wiring, stage)
        client = ClientProcess(words, stage.project, b"", trial.environment(stage))
        output = bytearray()
        try:
            client.go()
            for line in client.lines(seconds):
                output += line if len(output) < _OUTPUT_BYTES else b""
            is_over = client.is_over
        finally:
            code, errors = client.close()
    return _Run(code if is_over else None, bytes(output), errors, model.requests, *_journal(stage))


def _furnish(stage: Stage, wiring: WiringCopy, place: show.Place) -> None:
    """Writes the stage, with the parts of sisyphus on and off as they are for the user."""
    config = "".join(f"{name} = {json.dumps(place.settings[name])}\n" for name in show.PARTS)
    texts = {f"{PROJECT}/{name}": text.encode() for name, text in _FILES.items()}
    ours = {f"{HOME}/.sisyphus/config.toml": config.encode(), "tmp/.keep": b""}
    for name, data in {**texts, **ours, **wiring.files}.items():
        path = os.path.join(stage.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with files.open_private(path, os.O_EXCL) as file:
            file.write(data)
    with closing(open_store(_our_home(stage))) as store, store.write():
        enforcements.switch(store, stage.project, is_on=True, now=time.time())


def _journal(stage: Stage) -> tuple[set[str], str]:
    """Returns the events in our journal, and the last failure in our log."""
    home = _our_home(stage)
    with closing(open_store(home)) as store:
        events = {name for (name,) in store.all("SELECT DISTINCT name FROM event")}
    try:
        log = files.read(os.path.join(home, "logs", "debug.log"))
    except UnreadableError:
        log = ""
    failures = [line for line in log.splitlines() if "Error: " in line]
    return events, one_line(failures[-1], _SAID) if failures else ""


def _our_home(stage: Stage) -> str:
    return os.path.join(stage.home, ".sisyphus")


def _problems(
    trial: Trial, program: str, wiring: WiringCopy, run: _Run, place: show.Place, seconds: float
) -> Iterator[tuple[str, str]]:
    """Yields what did not work, each with its mend."""
    by_hand = f"Try `{one_line(program)}` in a terminal."
    failures = trial.failures(run.output, run.errors)
    signs = [sign for sign in _SIGNS if place.settings[sign.part]]
    unheard = [sign.when for sign in signs if sign.event not in run.events]
    if run.code is None:
        yield f"it did not end within {seconds:.0f} seconds.", by_hand
    elif not run.requests:
        said = one_line(run.errors.strip().rpartition("\n")[2], _SAID) or "it said nothing"
        yield f"it ended with exit code {run.code} before it asked a model: {said}", by_hand
    elif wiring.off and unheard:
        yield f"it did not call sisyphus: {wiring.off}.", "Take that out."
    elif failures:
        yield from ((text, wiring.mend) for text in failures)
    elif unheard:
        mend = wiring.mend if run.events else trial.SILENCE
        yield f"it did not call sisyphus when {_join(unheard, 'or')}.", mend
    if run.failure:
        yield f"sisyphus failed in a hook: {run.failure}", "Report this."
    heard = [sign for sign in signs if sign.text and sign.event in run.events]
    for sign in heard if not run.failure else ():
        if not any(sign.text in request for request in run.requests):
            yield f"{sign.kind} that sisyphus sent did not reach the model.", by_hand
    if run.requests and not trial.knows_commands(wiring, run.output):
        yield f"it does not know the slash command /{COMMAND}.", wiring.mend


def _join(texts: list[str], word: str) -> str:
    """Joins texts as in a sentence; there is at least one."""
    *others, last = texts
    return f"{', '.join(others)} {word} {last}" if others else last
