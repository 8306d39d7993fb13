"""What the client wrote of late into its transcripts: their ends alone, of the newest few."""

from __future__ import annotations

from sisyphus.doctor.finding import Finding, ok, warning
from sisyphus.install import wiring
from sisyphus.plain import one_line
from sisyphus.ralph.loop import epoch
from sisyphus.state import jsonl
from sisyphus.times import iso, local
from sisyphus.transcript_ends import newest, tail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus._types import Json
    from sisyphus.doctor.case import Case

CHECK = "failed hooks"

RECENT_SECONDS = 86_400

_FAILED, _DONE = b"hook_non_blocking_error", b"hook_success"
_NOT_FOUND = 127


def failures(case: Case) -> Iterator[Finding]:
    """Hooks that are wired and that the client saw fail within a day."""
    wired, since = {hook.wired.command for hook in case.hooks}, iso(case.space.now - RECENT_SECONDS)
    rows = [row for path in newest(case.space.home) for row in _ended(path) if _at(row) >= since]
    failed = [row for row in rows if _is_failure(row) and _command(row) in wired]
    failed = [row for row in failed if not _is_mended(row, rows)]
    if not failed:
        yield ok(CHECK, "none within 24 h")
        return
    last = max(failed, key=_at)
    code, words = _told(last).get("exitCode"), one_line(str(_told(last).get("stderr") or ""), 200)
    yield warning(
        CHECK,
        f"{len(failed)} within 24 h, the last at {local(epoch(_at(last)), '%H:%M')}: "
        f"{_command(last)} ended with exit code {code}{f' ({words})' if words else ''}",
        "The client did not find it: see `command` above" if code == _NOT_FOUND else "",
    )


def _ended(path: str) -> Iterator[Json]:
    """The lines that tell how a hook of ours ended."""
    kinds = (_FAILED.decode(), _DONE.decode())
    for line in tail(path).split(b"\n"):
        row = jsonl.parse(line) if _FAILED in line or _DONE in line else None
        is_one = row is not None and _told(row).get("type") in kinds
        if row and is_one and wiring.mentioned_event(_command(row)):
            yield row


def _is_failure(row: Json) -> bool:
    return bool(_told(row)["type"] == _FAILED.decode())


def _is_mended(row: Json, rows: list[Json]) -> bool:
    """Whether a command that was not found has been found since."""
    if _told(row).get("exitCode") != _NOT_FOUND:
        return False
    later = (one for one in rows if _at(one) > _at(row) and not _is_failure(one))
    return any(_command(one) == _command(row) for one in later)


def _told(row: Json) -> Json:
    told = row.get("attachment")
    return told if isinstance(told, dict) else {}


def _command(row: Json) -> str:
    command = _told(row).get("command")
    return command if isinstance(command, str) else ""


def _at(row: Json) -> str:
    return str(row.get("timestamp") or "")
