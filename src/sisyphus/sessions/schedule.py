"""Prompts that are the agent's: what it has scheduled, and what it types in a client of its own. A
client submits them like those of the user, and does not say whose they are.

Measured on Claude Code: a Stop names what its session has scheduled; that a prompt was submitted by
schedule may be written down only after our hook has run. So we remember what the last Stop named. A
prompt whose turn had no Stop stands in the agent's call, in the transcript. One of another session
stands in the client's file until it is submitted, so we remember what was there at the session's
start and at its last Stop. Where nobody can tell, a command is the agent's.
"""

from __future__ import annotations

import os

from sisyphus import clients
from sisyphus.ground import files, processes, quick_json
from sisyphus.ground.errors import UnreadableError
from sisyphus.hook import stops

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from sisyphus.hook.hook import Hook

_TRANSCRIPT_BYTES = 16_000_000
"""How much of a transcript we search for the agent's call, from its end."""

_UNKNOWN = "unknown"
"""Stands among the fingerprints for prompts in a file that cannot be read: each command may be one
of them."""


def is_of_agent(hook: Hook) -> bool:
    """Tells whether the agent wrote the prompt of an event, or may have written a command."""
    prompt = stops.fingerprint_of_prompt(hook.event.prompt.text)
    remembered = hook.session.stops.scheduled
    known = {*remembered, *_in_file(hook)}
    if prompt in known or (hook.event.prompt.command and _UNKNOWN in known):
        return True
    return prompt in map(stops.fingerprint_of_prompt, _in_transcript(hook))


def marks_above(hook: Hook) -> list[str]:
    """Returns the variables by which the client was started in the shell of an agent, of whatever
    client; [] if it was not, or nobody can tell. If nobody can read the client's environment, that
    is so for its own kind.

    A session without a living process does not count where the client names both: a host has named
    the client's own session, or the agent is gone. Neither does a process alone, which is all that
    the client's background service leaves of the shell in which it began.
    """
    event = hook.event
    if not event.process:
        return []
    names_process = clients.payload(event.client).current_session()[1] == event.process
    start = processes.variables(int(event.process.partition(" ")[0])) or {**os.environ}
    marks = []
    for name in clients.NAMES:
        session, process = clients.payload(name).current_session(start)
        is_sure = bool(process) or name != event.client or not names_process
        if session and is_sure and process != event.process:
            marks += _holding(start, clients.payload(name).VARIABLES, session, process)
    return marks


def named(hook: Hook) -> list[str]:
    """Returns the fingerprints of what the agent has scheduled in this session, as a Stop says, and
    of what the client's file has: it takes a prompt out of there before it submits it."""
    prompts = map(stops.fingerprint_of_prompt, hook.event.stop.scheduled)
    return list(dict.fromkeys([*prompts, *_in_file(hook)]))


def has_file(hook: Hook) -> bool:
    return bool(hook.event.schedule) and os.path.lexists(hook.event.schedule)


def _holding(
    variables: Mapping[str, str], starts: tuple[str, ...], session: str, process: str
) -> list[str]:
    """Returns the variables of a client that name a session or its process."""
    values = {session, process.partition(" ")[0]} - {""}
    return sorted(
        name for name in variables if name.startswith(starts) and variables[name] in values
    )


def _in_transcript(hook: Hook) -> Iterator[str]:
    """Yields the prompts that the agent has scheduled lately, also in a turn without a Stop. Most
    prompts stand nowhere near the end, and then nobody loads what reads transcripts."""
    if not _ends_with(hook.event.transcript, hook.event.prompt.text.strip()):
        return
    read = clients.transcript(hook.event.client).read
    for record in read(hook.event.transcript, limit=_TRANSCRIPT_BYTES).records:
        yield from (call.prompt for call in record.calls if call.prompt)


def _ends_with(transcript: str, text: str) -> bool:
    """Tells whether a text may stand in the end of a transcript, as the client spells it there."""
    try:
        spelled = quick_json.dumps(text, ensure_ascii=False)[1:-1].encode()
    except UnicodeEncodeError:  # half a surrogate pair has several spellings
        return True
    return files.tail_contains(transcript, spelled, _TRANSCRIPT_BYTES)


def _in_file(hook: Hook) -> list[str]:
    """Returns the fingerprints of the prompts in the client's file of scheduled ones, of any
    session; [`_UNKNOWN`] if nobody knows what is in it. A stranger's repository may bring one."""
    if not has_file(hook):
        return []
    try:
        text = files.read(hook.event.schedule)
        return [*map(stops.fingerprint_of_prompt, _prompts(quick_json.loads(text)))]
    except (UnreadableError, ValueError, RecursionError):
        return [_UNKNOWN]


def _prompts(value: Any) -> Iterator[str]:
    """Yields the prompts in a list of tasks, or in the lists of an object."""
    lists: Iterable[Any] = value.values() if isinstance(value, dict) else [value]
    for each in (task for tasks in lists if isinstance(tasks, list) for task in tasks):
        if isinstance(each, dict) and isinstance(each.get("prompt"), str):
            yield each["prompt"]
