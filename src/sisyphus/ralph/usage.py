"""What subagents spend. Each has a transcript of its own, beside that of its session."""

from __future__ import annotations

from sisyphus import transcript
from sisyphus.clients import files_of
from sisyphus.ralph import events


def offsets(path: str) -> dict[str, int]:
    """How long the subagents' transcripts of the session are now, by name below their folder."""
    return {name: transcript.size(file) for name, file in files_of(path).subagents(path)}


def of_subagents(path: str, known: dict[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """Tokens by the id of the answer behind the offsets `known`, and the offsets now."""
    spent: dict[str, int] = {}
    now: dict[str, int] = {}
    for name, file in files_of(path).subagents(path):
        now[name] = transcript.size(file)
        if now[name] != known.get(name, 0):
            now[name] = _read(file, known.get(name, 0), spent)
    return spent, now


def _read(path: str, offset: int, spent: dict[str, int]) -> int:
    end = offset
    client = files_of(path)
    (mark,) = client.MARKS[transcript.ANSWER]
    for position, line in transcript.lines(path, offset):
        end = position + len(line)
        record = client.read_record(line) if mark in line else None
        for event in events.spent(record) if record else ():
            spent[event.text] = max(event.tokens, spent.get(event.text, 0))
    return end
