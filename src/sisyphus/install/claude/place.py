"""Where Claude Code looks for settings and slash commands."""

from __future__ import annotations

import os

from sisyphus.clients.claude_code import LOCAL_SETTINGS, SETTINGS
from sisyphus.install.place import LOCAL, PROJECT, USER, Place
from sisyphus.paths import client_home

NAME = "claude"


def of_user() -> Place:
    """Files of the user's own may be links to anywhere: many keep them in a repository."""
    return Place(NAME, USER, client_home(), os.path.abspath(os.sep))


def of_project(root: str) -> Place:
    return Place(NAME, PROJECT, os.path.join(root, ".claude"), root)


def of_local(root: str) -> Place:
    return Place(NAME, LOCAL, os.path.join(root, ".claude"), root)


def settings(place: Place) -> str:
    name = LOCAL_SETTINGS if place.scope == LOCAL else SETTINGS
    return os.path.join(place.folder, name)


def commands(place: Place) -> str:
    return os.path.join(place.folder, "commands")
