"""Where `sisyphus doctor --live` tries a client, and what of the user's wiring it takes there."""

import os
from collections.abc import Mapping

from sisyphus.ground.record import Record, field

PROMPT = "Read note.txt."
COMMAND = "start-work"
"""One of our slash commands."""

HOME, PROJECT = "home", "project"
"""The folders of a stage: what takes the place of `~/.claude` and has our own home in it, and where
the client starts."""

_HARMLESS = {
    "HOME", "LANG", "LD_LIBRARY_PATH", "LOGNAME", "PATH", "SHELL", "TERM", "TZ", "USER",
    "VIRTUAL_ENV",
}  # fmt: skip
_HARMLESS_FAMILIES = ("ASDF_", "LC_", "MISE_", "NIX_", "PYENV_", "PYTHON")
"""The variables that find programs and Python. None names a host or an account."""


class Stage(Record, frozen=True):
    """root: a new folder, without links in its path. url: of the scripted model."""

    root: str
    url: str

    @property
    def home(self) -> str:
        return os.path.join(self.root, HOME)

    @property
    def project(self) -> str:
        return os.path.join(self.root, PROJECT)

    def environment(self, *switches: str) -> dict[str, str]:
        """Returns what every client gets. No proxy, no token and no setting of the user's is in
        it. switches: variables of the user's that this client gets, too."""
        harmless = {
            name: value
            for name, value in os.environ.items()
            if name in _HARMLESS or name in switches or name.startswith(_HARMLESS_FAMILIES)
        }
        hosts = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
        temporary = os.path.join(self.root, "tmp")
        return {**harmless, **hosts, "TMPDIR": temporary, "CLAUDE_CONFIG_DIR": self.home}


class WiringCopy(Record, frozen=True):
    """What of the user's wiring is tried.

    files: path below the stage's root → content. is_wired: the client is told to call us. mend:
    what the user can do where it does not. words: what the command line gets for it. off: what
    keeps the client from calling us, in a sentence without its full stop; "" = nothing does.
    left_out: what is not tried, each with its full stop. why_not: why the client must not be
    started here, in a clause; "" = it may be. until: what must happen before the client
    runs these hooks outside of the trial, which does not ask for it, as in "once …"; "" = nothing.
    """

    files: Mapping[str, bytes]
    is_wired: bool
    mend: str
    words: tuple[str, ...] = ()
    off: str = ""
    left_out: list[str] = field(default_factory=list)
    until: str = ""
    why_not: str = ""
