"""Why a run of the client failed, and whether waiting helps. Pure.

Only what the client itself reports counts, and what stands in its error output: a model that
writes of a rate limit has hit none.
"""

from __future__ import annotations

from errno import E2BIG, EACCES, ELOOP, ENOENT, ENOEXEC, ENOTDIR, EPERM

from sisyphus import clients
from sisyphus.clients import running as kinds
from sisyphus.ralph.limits import LONGEST, reset_time
from sisyphus.text import line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.runner.client.stream import Seen

FATAL = (kinds.AUTHENTICATION, kinds.BILLING, kinds.CLIENT, kinds.DISK, kinds.MODEL)
"""No further iteration would get anywhere."""

PASSING = (kinds.LIMIT, kinds.NETWORK, kinds.OVERLOADED)
"""Goes away by waiting."""

COUNTING = (kinds.CRASH, kinds.INTERRUPTED, kinds.PERMISSION, kinds.TIMEOUT, kinds.TURNS)
"""The iteration has taken place, for better or worse."""

KINDS = (*FATAL, *PASSING, kinds.CONTEXT, *COUNTING)
"""`context`: it did not fit, so the next iteration begins with an empty one."""

MEANING = {
    kinds.AUTHENTICATION: "the client is not logged in, or not allowed in",
    kinds.BILLING: "the account has nothing left to pay with",
    kinds.CLIENT: "the client cannot be run like this",
    kinds.DISK: "nothing can be written to the disk",
    kinds.MODEL: "the model does not exist, or is not for this account",
    kinds.LIMIT: "the account's limit is reached",
    kinds.NETWORK: "the server cannot be reached",
    kinds.OVERLOADED: "the server cannot answer now",
    kinds.CONTEXT: "the context is full",
    kinds.CRASH: "the client failed",
    kinds.INTERRUPTED: "the client was interrupted",
    kinds.PERMISSION: "the client was allowed nothing that it tried",
    kinds.TIMEOUT: "the time of the iteration was over",
    kinds.TURNS: "the client's own limit of turns or money was reached",
}

_NO_PROGRAM = (E2BIG, EACCES, ELOOP, ENOENT, ENOEXEC, ENOTDIR, EPERM)
_NOT_RUN = (126, 127)
"""Of a shell: found no such program, or could not execute it."""

_SIGNALLED = 128
_ENDED_BY_SOMEBODY = (129, 130, 143, 0xC000013A)  # SIGHUP, SIGINT, SIGTERM; Ctrl-C on Windows
_READ_CHARACTERS = 4_000

_BEHIND_RESET = 5.0
_FIRST_SECONDS = 5.0
_LONGEST_SECONDS = 300.0
_LONGEST_LIMIT_SECONDS = 3_600.0
_MOST_DOUBLINGS = 30


class Failure:
    """`kind`: one of `KINDS`, "" = there was none. `why`: a line for people. `until`: when it
    passes, in epoch seconds; 0 = nobody knows."""

    __slots__ = ("kind", "until", "why")

    def __init__(self, kind: str = "", why: str = "", until: float = 0.0) -> None:
        self.kind = kind
        self.why = why
        self.until = until

    def __bool__(self) -> bool:
        return bool(self.kind)

    def ends_at_known_time(self, now: float) -> bool:
        """One that lies behind us is none: it is tried at once, and counts."""
        return self.until > now

    @property
    def is_fatal(self) -> bool:
        """No further iteration would get anywhere."""
        return self.kind in FATAL

    @property
    def is_passing(self) -> bool:
        """Goes away by waiting: the iteration is to be made again."""
        return self.kind in PASSING


def classify(
    seen: Seen, exit_code: int | None, errors: str, now: float, *, timed_out: bool = False
) -> Failure:
    """`errors`: the end of the error output. `exit_code` None: it cannot be known, as of a client
    that was not our child; 128 + N: ended by signal N."""
    if seen.has_ended and not seen.is_error:
        return _refused(seen)
    kind = _told(seen)
    if timed_out and kind in ("", kinds.INTERRUPTED):  # it is interrupted when its time is over
        return Failure(kinds.TIMEOUT, MEANING[kinds.TIMEOUT])
    if kind:
        detail = "" if kind == kinds.INTERRUPTED else next(iter(seen.problems), "")
        return _failure(kind, detail, seen.resets_at, now)
    return _unnamed(seen, exit_code, errors[-_READ_CHARACTERS:], now)


def of_start(error: OSError, program: str = "") -> Failure:
    """Of a client that could not be started; `program`: the first of its words, where known.

    Whatever else the system refused, such as a file of ours, counts as trouble with the disk.
    """
    named = line(f"{error.filename or program}: {error.strerror or error}".removeprefix(": "))
    is_program = not program or error.filename in (program, None)
    kind = kinds.CLIENT if error.errno in _NO_PROGRAM and is_program else kinds.DISK
    return Failure(kind, f"{MEANING[kind]}: {named}")


def delay(failure: Failure, tries: int, first_seconds: float, now: float) -> float:
    """How many seconds to wait after `tries` such failures in a row, from 1.

    A named reset is waited for. Otherwise the time is doubled with each try: of a limit from
    `first_seconds` to an hour, of the network or the server from 5 seconds to 5 minutes.
    """
    if now < failure.until <= now + LONGEST:
        return failure.until - now + _BEHIND_RESET
    if 0 < failure.until <= now and tries <= 1:  # it has passed meanwhile
        return _BEHIND_RESET
    is_limit = failure.kind == kinds.LIMIT
    first = max(first_seconds, 1.0) if is_limit else _FIRST_SECONDS
    longest = _LONGEST_LIMIT_SECONDS if is_limit else _LONGEST_SECONDS
    return min(first * 2.0 ** min(max(tries, 1) - 1, _MOST_DOUBLINGS), longest)


def _told(seen: Seen) -> str:
    """What kind of failure the client names."""
    client = clients.program()
    if seen.retrying and not seen.has_ended and seen.retries:
        last = seen.retries[-1]
        return (
            client.kind_of_names(last.error) or client.kind_of_status(last.status) or kinds.NETWORK
        )
    kind = client.kind_of_names(seen.ended_by, seen.subtype, seen.cause, seen.error)
    kind = kind or client.kind_of_status(seen.api_status or 0)
    if not kind and seen.was_interrupted:
        return kinds.INTERRUPTED
    return kind or next(filter(None, map(client.kind_of_words, seen.problems)), "")


def _refused(seen: Seen) -> Failure:
    """A run in which the client was not allowed a single thing has not failed by itself."""
    if not seen.denied or len(seen.denied) < seen.tool_calls:
        return Failure()
    return Failure(kinds.PERMISSION, line(f"{MEANING[kinds.PERMISSION]}: {', '.join(seen.denied)}"))


def _unnamed(seen: Seen, exit_code: int | None, errors: str, now: float) -> Failure:
    if not seen.is_stream and not exit_code:
        return Failure()  # another program, which says no more than this
    last = next(iter(seen.problems), "") or _last_line(errors)
    if exit_code in _NOT_RUN and not seen.is_stream:
        return _failure(kinds.CLIENT, last, 0, now)
    if exit_code in _ENDED_BY_SOMEBODY:
        return _failure(kinds.INTERRUPTED, "", 0, now)
    if not seen.has_ended and (found := _in_lines(errors)):
        return _failure(*found, 0, now)
    return _failure(kinds.CRASH, f"{_how(exit_code)}{': ' if last else ''}{last}", 0, now)


def _failure(kind: str, detail: str, resets_at: int, now: float) -> Failure:
    until = 0.0
    if kind == kinds.LIMIT:
        named = resets_at if now - LONGEST < resets_at <= now + LONGEST else 0
        until = float(named) or reset_time(detail, now)
    return Failure(kind, line(f"{MEANING[kind]}: {detail}" if detail else MEANING[kind]), until)


def _how(exit_code: int | None) -> str:
    if not exit_code:
        return "it ended without a result"
    if exit_code > _SIGNALLED:
        return f"signal {exit_code - _SIGNALLED} ended it"
    return f"exit code {exit_code}"


def _last_line(text: str) -> str:
    return next((words for words in reversed(text.split("\n")) if words.strip()), "").strip()


def _in_lines(text: str) -> tuple[str, str] | None:
    """The kind of failure that the last line with a sign of one shows, and that line."""
    for words in reversed(text.split("\n")):
        if kind := clients.program().kind_of_words(words):
            return kind, words.strip()
    return None
