"""Where `sisyphus install` puts us into a client, and what makes a client call us."""

from collections.abc import Mapping
from typing import Any

from sisyphus.ground.paths import display
from sisyphus.ground.record import Record, field
from sisyphus.ground.text import one_line


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
    be hidden.
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


class Source(Record, frozen=True):
    """A file that makes a client call us, or cannot be read; or a plugin of the client's, which has
    no file here.

    path: "" = it is the plugin. scope: of the `install` that writes it. is_current: it is as this
    version writes it. problem: why we cannot read it; "" = we can.
    """

    path: str
    scope: str = ""
    plugin: str = ""
    is_current: bool = True
    problem: str = ""

    @property
    def name(self) -> str:
        """For people."""
        return one_line(display(self.path, "") if self.path else f"the plugin {self.plugin}")
