"""A file that makes a client run our hooks."""

from typing import Any

from sisyphus.clients import hook_groups
from sisyphus.ground.paths import display
from sisyphus.ground.record import Record, field
from sisyphus.ground.text import one_line

Json = dict[str, Any]

ORGANISATION = "organisation"
"""The scope of a settings file that an organisation manages. `install` never writes one."""


class Wired(Record, frozen=True):
    """A file in which a client may have our hooks, or a plugin of ours.

    path: "" = a plugin that has no file here. scope: of the `install` that writes it. content: of a
    file of settings; {} if it cannot be read. problem: why the client or we cannot use it, in a
    clause; "" = both can. is_current: it is as this version writes it. plugin: its name in the
    client. text: of a plugin that is a file. again: what ends the sentence that tells the user to
    install again.
    """

    client: str
    path: str
    scope: str
    content: Json = field(default_factory=dict)
    problem: str = ""
    is_current: bool = True
    plugin: str = ""
    text: bytes = b""
    again: str = "."

    @property
    def is_ours(self) -> bool:
        """Tells whether it calls us, or would if the client could use it."""
        return bool(self.plugin or self.text) or hook_groups.has_ours(self.content)

    @property
    def calls_us(self) -> bool:
        return self.is_ours and not self.problem

    @property
    def may_call_us(self) -> bool:
        """Tells whether an `install` may have written it: it is ours, or nobody can read it."""
        is_unread = bool(self.problem) and not self.content
        return self.scope != ORGANISATION and (self.is_ours or is_unread)

    @property
    def name(self) -> str:
        """For people."""
        return shown(self.path) if self.path else one_line(f"the plugin {self.plugin}")

    @property
    def starts(self) -> list[str]:
        """The ways in which its hooks start us, see `Installation.start`."""
        return hook_groups.starts(self.content)


def shown(path: str) -> str:
    """Returns a path for a sentence."""
    return one_line(display(path, ""))
