"""What a run of the client proves. Pure."""

from __future__ import annotations

from sisyphus.clients.claude_code import BATCH, CLIENT_EVENTS
from sisyphus.doctor.finding import Finding, ok, problem, warning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.doctor.live.play import Failed, Seen

CHECK = "live"

PLAYED = {
    name: BATCH if name == "post-tool-use" else CLIENT_EVENTS[name]
    for name in ("session-start", "user-prompt-submit", "post-tool-use", "stop", "session-end")
}
"""What happens in the run: the event in our words, and in the client's."""

_SEVERAL = ("session-start", "post-tool-use")
"""Every wiring answers at a start; of tool calls each counts once, whatever calls us."""

_NOT_FOUND = 127
_END = CLIENT_EVENTS["session-end"]


def judge(seen: Seen, untried: frozenset[str] = frozenset()) -> Iterator[Finding]:
    """`untried`: the events, in the client's words, of hooks that were left out of the run."""
    yield from _astray(seen)
    if seen.code != 0 or not seen.answers:
        yield _failed_client(seen)
        return
    unheard = [*_failures(seen), *_missing(seen, untried)]
    yield from unheard
    yield from _twice(seen)
    if untried:
        yield _untried(untried)
    called = [PLAYED[name] for name in PLAYED if seen.noted[name]]
    if called and not unheard:
        yield ok(CHECK, f"the client was run, and called sisyphus at {', '.join(called)}")
        yield _reach(seen)


def _failed_client(seen: Seen) -> Finding:
    hint = "Try `claude -p hello` in a terminal"
    said = f": {seen.errors}" if seen.errors else ""
    if seen.code is None:
        return problem(CHECK, f"the client did not end in time{said}", hint)
    if seen.code:
        return problem(CHECK, f"the client ended with exit code {seen.code}{said}", hint)
    return problem(CHECK, f"the client ended without asking the model{said}", hint)


def _astray(seen: Seen) -> Iterator[Finding]:
    if seen.astray:
        names = ", ".join(seen.astray)
        yield warning(CHECK, f"the client wanted to reach {names}; it was not let out")


def _failures(seen: Seen) -> Iterator[Finding]:
    """One for all events that failed alike."""
    alike: dict[tuple[int | None, str], list[Failed]] = {}
    for one in seen.failed:
        alike.setdefault((one.code, one.words), []).append(one)
    for found in alike.values():
        names = dict.fromkeys(one.event for one in found)
        events = ", ".join([*names, *([_END] if _is_end_failed(seen) else [])])
        yield problem(CHECK, f"{events}: {_what(found[0])}", _remedy(found[0]))


def _what(one: Failed) -> str:
    if one.code is None:
        return f"`{one.command}` took longer than its `timeout`"
    return f"`{one.command}` ended with exit code {one.code} ({one.words})"


def _remedy(one: Failed) -> str:
    if one.code is None:
        return "What is said above of the round trip and of the speed may tell why"
    if one.code != _NOT_FOUND:
        return "Install sisyphus again, then `sisyphus install`"
    if one.command.startswith("/"):
        return "It is gone. `sisyphus install` writes where it is now"
    return "Put it on the PATH that the client has; or `sisyphus install` writes its whole path"


def _missing(seen: Seen, untried: frozenset[str]) -> Iterator[Finding]:
    failed = {one.event for one in seen.failed} | ({_END} if _is_end_failed(seen) else set())
    names = [PLAYED[name] for name in PLAYED if not seen.noted[name]]
    missing = [name for name in names if name not in failed | untried]
    if missing:
        where = ", ".join(missing) if len(missing) < len(PLAYED) else "any event"
        yield problem(
            CHECK,
            f"the client was run, and sisyphus was not reached at {where}",
            "See what is said of hooks above. Nothing? Is SISYPHUS_DISABLE set, or `sisyphus` "
            "another program?",
        )


def _untried(events: frozenset[str]) -> Finding:
    names = ", ".join(sorted(events))
    return ok(CHECK, f"not tried at {names}: a command line of your own, or of a project")


def _is_end_failed(seen: Seen) -> bool:
    """That stands in no transcript: Claude Code 2.1.329 complains of it on stderr."""
    return f"{_END} hook [" in seen.errors


def _twice(seen: Seen) -> Iterator[Finding]:
    names = [name for name in PLAYED if name not in _SEVERAL]
    twice = [PLAYED[name] for name in names if seen.noted[name] > 1]
    if twice:
        yield problem(
            CHECK,
            f"sisyphus was called more than once for one {', '.join(twice)}",
            "Keep one: `claude plugin uninstall sisyphus@sisyphus`, or `sisyphus uninstall`",
        )


def _reach(seen: Seen) -> Finding:
    if seen.is_heard:
        return ok(CHECK, "what sisyphus says reaches the model")
    return warning(
        CHECK,
        "nothing that sisyphus said reached the model",
        "`sisyphus context show` tells what a new session is sent",
    )
