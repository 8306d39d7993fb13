"""Suggests a command where somebody has typed a word that is none."""

from difflib import get_close_matches

from sisyphus.cli.table import AGENTS, within

OTHER_WORDS = {
    "checkpoint": "boulder checkpoint", "hold": "boulder hold", "plan": "boulder",
    "plans": "boulder", "start": "ralph start", "list": "ralph list", "log": "ralph log",
    "logs": "ralph log", "loop": "ralph", "loops": "ralph list", "run": "ralph run",
    "runs": "ralph list", "pause": "ralph pause", "resume": "ralph resume",
    "cancel": "ralph cancel", "stop": "ralph cancel", "init": "install", "setup": "install",
    "settings": "config", "version": "--version", "watch": "status --watch",
    "checks": "boulder checks", "trust": "boulder checks --trust", "clear": "boulder clear",
    "ralph loop": "ralph start", "ralph status": "ralph list", "ralph show": "ralph list",
    "ralph stop": "ralph cancel",
    "boulder list": "boulder status --all", "boulder show": "boulder status",
    "boulder stop": "boulder clear", "boulder on": "boulder hold on",
    "boulder trust": "boulder checks --trust", "enforce start": "enforce on",
}  # fmt: skip
"""What somebody may type who does not know the commands → the one that they mean."""


def suggest(error: Exception, group: str, word: str) -> None:
    """Adds to an error of typer's the command that a word may mean. group: that it was typed in, ""
    = in none."""
    people = [row.name for row in within(group) if row.panel != AGENTS]
    near = [f"{group} {name}".strip() for name in get_close_matches(word, people, 1)]
    suggestion = OTHER_WORDS.get(f"{group} {word}".strip()) or "".join(near)
    if suggestion and hasattr(error, "message"):
        error.message = f"No such command '{word}'. Do you mean `sisyphus {suggestion}`?"
