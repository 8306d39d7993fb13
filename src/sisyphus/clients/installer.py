"""The commands that install sisyphus in a place and take it out there, for messages that tell
people what to type."""

import shlex

from sisyphus.clients import entry, programs

NAME = entry.NAME
USER, PROJECT, LOCAL = "user", "project", "local"
"""The scopes of `install`: all projects of the user, a project for everybody who has it, and a
project for the user alone."""

ON_PATH = "Run `uv tool update-shell` or `pipx ensurepath`, and open a new terminal."
ANOTHER_ON_PATH = f"Update or remove that one: `{NAME} --version` shows it."


def command(verb: str, client: str = "", scope: str = USER, project: str = "") -> str:
    """Returns what to type in a shell. verb: `install` or `uninstall`. client: "" = each that is
    there. project: its folder; "" = that of the current folder."""
    words = [NAME, verb]
    words += ["--client", client] if client else []
    words += ["--scope", scope] if scope != USER else []
    words += ["--project", project] if project else []
    return shlex.join(words)


def mend(start: str, client: str, scope: str, more: str = ".") -> str:
    """Returns what to do where a wiring does not start this sisyphus. For everybody `install`
    writes the bare name, so if that is there, only the PATH can be wrong.

    start: the words that start us there, in a shell; "" = something else is wrong. more: what
    follows the command.
    """
    if scope == PROJECT and start == NAME:
        return ANOTHER_ON_PATH if programs.started_by(NAME) else ON_PATH
    return f"Run `{command('install', client, scope)}`{more}"
