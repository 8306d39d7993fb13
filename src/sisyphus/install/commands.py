"""The plugin's slash commands as OpenCode has them: under their plain names."""

from __future__ import annotations

import json
import os

from sisyphus import documents, shipped
from sisyphus.reading import DOCUMENT_BYTES, read_text

_KNOWN = ("description", "agent", "model", "subtask")
"""What OpenCode reads of a command's frontmatter. It spells arguments as Claude Code does."""

_PREFIX = "/sisyphus:"
"""Before the names that a plugin of Claude Code offers."""


def texts() -> dict[str, str]:
    """Name -> content of the file, for every command that comes with sisyphus."""
    folder = os.path.join(shipped.plugin_folder(), "commands")
    names = sorted(name for name in os.listdir(folder) if name.endswith(".md"))
    return {
        name.removesuffix(".md"): translated(read_text(os.path.join(folder, name), DOCUMENT_BYTES))
        for name in names
    }


def translated(text: str) -> str:
    fields, body = documents.parse(text)
    kept = [
        f"{key}: {json.dumps(fields[key], ensure_ascii=False)}\n" for key in _KNOWN if key in fields
    ]
    return f"---\n{''.join(kept)}---\n{body.replace(_PREFIX, '/')}"
