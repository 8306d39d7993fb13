"""Prompts that the agent has scheduled. The client submits them later like those of the user, and
does not say whose they are.

Measured on Claude Code: a Stop names what its session has scheduled; that a prompt was submitted by
schedule may be written down only after our hook has run. So we remember what the last Stop named. A
prompt whose turn had no Stop stands in the agent's call, in the transcript, and one of another
session in the client's file.
"""

from __future__ import annotations

import json

from sisyphus import clients, files, paths
from sisyphus.errors import UnreadableError
from sisyphus.sessions import stops
from sisyphus.text import fingerprint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from sisyphus.hook.hook import Hook

_TRANSCRIPT_BYTES = 1_000_000
"""How much of a transcript we search for the agent's call, from its end."""


def is_of_agent(hook: Hook) -> bool:
    """Tells whether the agent wrote the prompt of an event."""
    text = _folded(hook.event.prompt.text)
    if hook.session and fingerprint(text) in stops.load(hook.store, hook.session).scheduled:
        return True
    return text in map(_folded, (*_in_file(hook), *_in_transcript(hook)))


def named(hook: Hook) -> list[str]:
    """Returns the fingerprints of what a Stop says that the agent has scheduled."""
    return list(dict.fromkeys(fingerprint(_folded(each)) for each in hook.event.stop.scheduled))


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
        spelled = json.dumps(text, ensure_ascii=False)[1:-1].encode()
    except UnicodeEncodeError:  # half a surrogate pair has several spellings
        return True
    return files.tail_contains(transcript, spelled, _TRANSCRIPT_BYTES)


def _in_file(hook: Hook) -> Iterator[str]:
    """Yields the prompts in the client's file of scheduled ones, of any session."""
    if not hook.event.schedule or not paths.can_be_project(hook.project):
        return iter(())
    try:
        text = files.read(hook.event.schedule, inside=hook.project)
        return _prompts(json.loads(text))
    except (UnreadableError, ValueError, RecursionError):
        return iter(())


def _prompts(value: Any) -> Iterator[str]:
    """Yields the prompts in a list of tasks, or in the lists of an object."""
    lists: Iterable[Any] = value.values() if isinstance(value, dict) else [value]
    for each in (task for tasks in lists if isinstance(tasks, list) for task in tasks):
        if isinstance(each, dict) and isinstance(each.get("prompt"), str):
            yield each["prompt"]


def _folded(text: str) -> str:
    return " ".join(text.split())
