"""The plugin's slash commands under their plain names, as they stand in a folder of commands."""

from __future__ import annotations

import json
import os

from sisyphus import documents, shipped
from sisyphus.clients.base import PREFIX
from sisyphus.reading import DOCUMENT_BYTES, read_text

_KNOWN = ("description", "agent", "model", "subtask")
"""What OpenCode reads of a command's frontmatter. It spells arguments as Claude Code does."""


def texts() -> dict[str, str]:
    """Name -> content of the file for OpenCode, for every command that comes with sisyphus."""
    return {name: translated(text) for name, text in _shipped().items()}


def for_claude() -> dict[str, str]:
    """The same for Claude Code, which they are written for."""
    return {name: text.replace(PREFIX, "/") for name, text in _shipped().items()}


def _shipped() -> dict[str, str]:
    folder = os.path.join(shipped.plugin_folder(), "commands")
    names = sorted(name for name in os.listdir(folder) if name.endswith(".md"))
    return {
        name.removesuffix(".md"): read_text(os.path.join(folder, name), DOCUMENT_BYTES)
        for name in names
    }


def translated(text: str) -> str:
    fields, body = documents.parse(text)
    kept = [
        f"{key}: {json.dumps(fields[key], ensure_ascii=False)}\n" for key in _KNOWN if key in fields
    ]
    return f"---\n{''.join(kept)}---\n{body.replace(PREFIX, '/')}"
