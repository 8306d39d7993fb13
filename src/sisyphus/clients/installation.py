"""A client's program, and where `sisyphus install` puts us into the client."""

from collections.abc import Mapping
from typing import Any

from sisyphus.ground.record import Record, field


class Program(Record, frozen=True):
    """A client's program.

    title: the client's name for people. name: of the program. least: the version in which
    everything was measured. update: the command with which the client updates itself. elsewhere:
    where its installer puts it, from the user's home, if PATH does not lead there.
    """

    title: str
    name: str
    least: tuple[int, int, int]
    update: str
    elsewhere: tuple[str, ...] = ()


class Installation(Record, frozen=True):
    """What `install` puts into clients, and where it runs; a client's wiring is compared with it.

    home: of Claude Code (see `paths.client_home`). project: its root. hooks, commands: as
    `setup.plugin` gives them. start: the words that start this sisyphus in a shell.
    """

    home: str
    project: str
    hooks: dict[str, Any]
    commands: dict[str, bytes]
    start: str


class Site(Record, frozen=True):
    """Where to install, for one client.

    project: "" = for the user, in all projects. file: the client's settings, or its plugin: the
    record is kept under this path. settings: the file that gets our entries; "" = none does.
    start: the words that start sisyphus in a shell. hooks: event → groups, as `install` writes
    them, with commands as `entry.line` gives them. commands: the folder of our slash commands or
    skills; each is a file or a folder in it. copies: path → content of the files of ours that the
    client loads. defaults: what else goes into the settings, key → value, where neither they nor
    others have it. ignore: git's list of files that only this checkout ignores; "" = nothing is to
    be hidden. mark: how a plugin of ours begins, of whatever version; b"" = there is none.
    """

    client: str
    project: str
    file: str
    settings: str
    start: str
    hooks: Mapping[str, Any]
    commands: str
    copies: Mapping[str, bytes]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    ignore: str = ""
    mark: bytes = b""
