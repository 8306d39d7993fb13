"""Loops that have not ended, for people to read."""

from __future__ import annotations

from sisyphus.paths import client_home
from sisyphus.session.transcripts import resume_command
from sisyphus.text import one_line
from sisyphus.times import duration, epoch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json

_MOMENTS = 1e12  # epoch seconds; what lies beyond is no time

NOTHING = """\
No loop is active. Start one in a session: /sisyphus:ralph-loop "TASK" …
`sisyphus ralph log` shows how earlier ones ended."""

_BY = {"host cap": "before the client's cap of blocks", "stale": "its client had gone for hours"}


def listing(rows: Sequence[Json], now: float) -> str:
    """The loops of `actions.list_loops`, one paragraph each."""
    return "\n\n".join(f"{title(row)}\n{details(row, now)}" for row in rows) or NOTHING


def title(row: Json) -> str:
    return f"{one_line(row['loop_id'])}  {one_line(row['description'])}"


def details(row: Json, now: float) -> str:
    """How the loop stands, its limits, its promise and where it is, indented."""
    lines = [
        ", ".join([state(row, now), _iteration(row), *_age(row, now)]),
        _aim(row),
        *_what_to_do(row),
        *_limits(row),
        *last_check(row),
        f"session {row['session_id']} in {row['project']}",
    ]
    return "\n".join(f"  {one_line(line)}" for line in lines)


def _aim(row: Json) -> str:
    """What ends it by itself."""
    promise, plan = row["completion_promise"], row["options"].get("plan")
    if promise is not None:
        return f"promise: {promise}"
    return f"until the open tasks of {plan} are done" if plan else "no promise"


def state(row: Json, now: float) -> str:
    if row["status"] == "paused":
        by = row["paused_by"] or "user"
        return f"paused ({_BY.get(by, by)})"
    if row["waiting"]:
        return _waiting(row["waiting"], now)
    if row["health"] == "stale":
        return "stale: its client has gone"
    if row["is_outer"]:
        return "waiting for the loop inside it"
    return "active" if row["health"] != "gone" else "left behind: its client has gone"


def _what_to_do(row: Json) -> list[str]:
    """Where the loop does not move by itself: why, and what makes it move."""
    lines = []
    if row["status"] == "paused":
        why = row["breaker"].get("why")
        lines += [f"because: {why}"] if row["paused_by"] == "breaker" and why else []
        lines.append(f"go on: sisyphus ralph resume {row['loop_id']}, then a prompt in the session")
    if row["health"] != "alive":
        command = resume_command(client_home(), row["session_id"])
        lines.append(f"take it up: cd {row['project']} && {command}")
    return lines


def _waiting(waiting: Json, now: float) -> str:
    until = waiting.get("until")
    what = f"waiting for the {waiting.get('for', 'limit')} to end"
    if not isinstance(until, (int, float)) or not now < until < _MOMENTS:
        return what
    return f"{what}, in {duration(until - now)}"


def _age(row: Json, now: float) -> list[str]:
    began = epoch(row["started_at"])
    return [f"{duration(now - began)} old"] if began else []


def _iteration(row: Json) -> str:
    limit = f" of {row['max_iterations']}" if row["max_iterations"] else ""
    return f"iteration {row['iteration']}{limit}"


def _limits(row: Json) -> list[str]:
    options, tokens = row["options"], row["tokens"]
    found = bounds(options, tokens)
    if tokens and not _count(options.get("max_tokens")):
        found.insert(0, f"{tokens:,} tokens")
    return ["; ".join(found)] if found else []


def bounds(options: Json, tokens: int | None = None) -> list[str]:
    """What ends a loop before its promise is kept, then what its promise must pass, each in words.
    `tokens`: spent so far; None = not known."""
    found = []
    most, minutes = _count(options.get("max_tokens")), _count(options.get("max_minutes"))
    if most:
        spent = "at most" if tokens is None else f"{tokens:,} of"
        found.append(f"{spent} {most:,} tokens")
    if minutes:
        found.append(f"at most {minutes:,} minutes")
    if options.get("verify"):
        found.append(f"checked by `{options['verify']}`")
    named = {"verify_plan": "the plan", "verify_checklist": "the checklist"}
    return found + [f"checked by {what}" for name, what in named.items() if options.get(name)]


def last_check(row: Json) -> list[str]:
    checked = row["verified"]
    if not checked:
        return []
    how = "timed out" if checked.get("timed_out") else f"exit code {checked.get('exit_code')}"
    return [f"last check: {how}"]


def _count(value: object) -> int:
    return value if type(value) is int and value > 0 else 0
