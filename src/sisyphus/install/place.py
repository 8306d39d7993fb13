"""A folder of a client's configuration."""

from __future__ import annotations

from dataclasses import dataclass

USER, PROJECT, LOCAL = "user", "project", "local"


@dataclass(frozen=True)
class Place:
    """What is written below `folder` stays inside `base`. `scope`: all projects of the user, one
    project for everybody, or (`local`) one for this user alone."""

    client: str
    scope: str
    folder: str
    base: str
