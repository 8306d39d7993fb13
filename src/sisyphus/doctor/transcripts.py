"""What the client wrote of late into its transcripts: their ends alone, of the newest few."""

from __future__ import annotations

from sisyphus import transcript
from sisyphus.clients import CLAUDE, files
from sisyphus.doctor.finding import Finding, ok, warning
from sisyphus.install import wiring
from sisyphus.session.transcripts import TAIL_BYTES, newest
from sisyphus.text import one_line
from sisyphus.times import epoch, iso, local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.doctor.case import Case
    from sisyphus.transcript import HookRun

    Run = tuple[str, HookRun]  # when it ended, and how

CHECK = "failed hooks"

RECENT_SECONDS = 86_400

_NOT_FOUND = 127


def failures(case: Case) -> Iterator[Finding]:
    """Hooks that are wired and that the client saw fail within a day."""
    wired, since = {hook.wired.command for hook in case.hooks}, iso(case.space.now - RECENT_SECONDS)
    runs = [run for path in newest(case.space.home) for run in _ended(path) if run[0] >= since]
    failed = [run for run in runs if not run[1].ok and run[1].command in wired]
    failed = [run for run in failed if not _is_mended(run, runs)]
    if not failed:
        yield ok(CHECK, "none within 24 h")
        return
    at, last = max(failed, key=lambda run: run[0])
    words = one_line(last.words, 200)
    yield warning(
        CHECK,
        f"{len(failed)} within 24 h, the last at {local(epoch(at), '%H:%M')}: "
        f"{last.command} ended with exit code {last.code}{f' ({words})' if words else ''}",
        "The client did not find it: see `command` above" if last.code == _NOT_FOUND else "",
    )


def _ended(path: str) -> Iterator[Run]:
    """When and how hooks of ours ended."""
    client = files(CLAUDE)
    marks = client.MARKS[transcript.HOOK]
    for line in transcript.tail(path, TAIL_BYTES).split(b"\n"):
        record = client.read_record(line) if any(mark in line for mark in marks) else None
        run = record.hook if record else None
        if record and run and not run.is_late and wiring.mentioned_event(run.command):
            yield record.at, run


def _is_mended(failed: Run, runs: list[Run]) -> bool:
    """Whether a command that was not found has been found since."""
    if failed[1].code != _NOT_FOUND:
        return False
    later = (run for at, run in runs if at > failed[0] and run.ok)
    return any(run.command == failed[1].command for run in later)
