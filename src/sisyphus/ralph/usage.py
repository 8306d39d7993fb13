"""What subagents spend. Each has a transcript of its own, beside that of its session.

Claude Code 2.1.329: `SESSION.jsonl` has its subagents in `SESSION/subagents/agent-ID.jsonl`, those
of a workflow in `SESSION/subagents/workflows/RUN/agent-ID.jsonl`.
"""

from __future__ import annotations

import os

from sisyphus import transcript
from sisyphus.ralph import events, watch

_USAGE = b'"usage"'


def offsets(path: str) -> dict[str, int]:
    """How long the subagents' transcripts of the session are now, by name below their folder."""
    folder = _folder(path)
    return {name: watch.size(os.path.join(folder, name)) for name in _names(folder)}


def of_subagents(path: str, known: dict[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """Tokens by the id of the answer behind the offsets `known`, and the offsets now."""
    folder = _folder(path)
    spent: dict[str, int] = {}
    now = offsets(path)
    for name, size in now.items():
        if size != known.get(name, 0):
            now[name] = _read(os.path.join(folder, name), known.get(name, 0), spent)
    return spent, now


def _read(path: str, offset: int, spent: dict[str, int]) -> int:
    end = offset
    for position, line in transcript.lines(path, offset):
        end = position + len(line)
        if _USAGE in line:
            for record in transcript.records([line], sidechains=True):
                for event in events.spent(record):
                    spent[event.text] = max(event.tokens, spent.get(event.text, 0))
    return end


def _folder(path: str) -> str:
    return os.path.join(path.removesuffix(".jsonl"), "subagents")


def _names(folder: str) -> list[str]:
    if not os.path.isdir(folder) or not os.path.isabs(folder):
        return []
    paths = (os.path.join(top, name) for top, _, names in os.walk(folder) for name in names)
    found = (os.path.relpath(path, folder) for path in paths)
    return [name for name in found if _is_agents(os.path.basename(name))]


def _is_agents(name: str) -> bool:
    return name.startswith("agent-") and name.endswith(".jsonl")
