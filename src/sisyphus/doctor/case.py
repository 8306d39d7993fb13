"""What `sisyphus doctor` looks at: one project on this machine, each part read once."""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import dataclass
from functools import cached_property

from sisyphus.clients import claude_code_setup
from sisyphus.clients.base import EARLIER
from sisyphus.doctor import entry, lines, sources
from sisyphus.doctor.trial import Trials
from sisyphus.errors import SisyphusError
from sisyphus.install import script, wiring
from sisyphus.install.claude import versions
from sisyphus.paths import display
from sisyphus.programs import Programs
from sisyphus.reading import DOCUMENT_BYTES, read_text
from sisyphus.shipped import plugin_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.doctor.sources import Plugin, Source
    from sisyphus.install.wiring import Wired
    from sisyphus.workspace import Workspace


_USERS = (sources.USER, sources.MANAGED)
"""The kinds of files that no stranger writes."""


@dataclass(frozen=True)
class Hook:
    """An entry that calls us. `name`: the event in our words, as they are today."""

    wired: Wired
    name: str
    source: Source

    @property
    def key(self) -> tuple[str, str]:
        return self.wired.event, self.name

    @property
    def scope(self) -> str:
        """Whose it says that it is; "" = nothing."""
        return entry.scope(self.wired.command)

    @property
    def fault(self) -> str:
        """Why the client never runs it; "" = it does."""
        return entry.fault(self.wired)

    @property
    def program(self) -> str:
        """The program as it is written; "" = a command line of the user's own around us."""
        return wiring.program(self.wired.command)


class Case:
    """`started`: the program that runs; `managed`: the folder of an organisation's settings."""

    def __init__(
        self,
        space: Workspace,
        *,
        started: str = "",
        managed: str = "",
        trials: Trials | None = None,
    ) -> None:
        self.space = space
        self.started = started
        self.programs = Programs(space.root, self.own)
        self.trials = trials or Trials(self.programs.path)
        self._managed = managed or claude_code_setup.managed_folder()

    @cached_property
    def settings(self) -> list[Source]:
        """The client's settings files that are there, the weakest first."""
        return sources.settings_files(self.space, self._managed)

    @cached_property
    def plugins(self) -> list[Plugin]:
        return sources.plugins(self.space, self.settings)

    @cached_property
    def hooks(self) -> list[Hook]:
        """Every entry by which the client calls us, of settings and plugins."""
        return [hook for hook in self._entries if not hook.fault]

    @cached_property
    def ignored(self) -> list[Hook]:
        """Those that would call us, if the client did not pass over them."""
        return [hook for hook in self._entries if hook.fault]

    @cached_property
    def _entries(self) -> list[Hook]:
        files = [*self.settings, *(plugin.source for plugin in self.plugins)]
        return [hook for one in files for hook in _hooks(one)]

    @cached_property
    def trusted(self) -> list[Hook]:
        """Those that may be tried here."""
        return [hook for hook in self.hooks if self.command(hook)]

    def command(self, hook: Hook) -> str:
        """What is run to try an entry; "" = nothing.

        Of a project or a plugin it is a command of ours, and only where their program is the user's
        own `sisyphus`. A command line of the user's own is run where it starts one program alone.
        """
        if not hook.program:
            return hook.wired.command if self._is_users_line(hook) else ""
        if self.is_strangers(hook.program):
            return ""
        if hook.source.kind in _USERS:
            return hook.wired.command
        path = self.file(hook)
        scope = f" --scope {hook.scope}" if hook.scope else ""
        return f"{shlex.quote(path)} hook {hook.name}{scope}" if path else ""

    def file(self, hook: Hook) -> str:
        """The file that may be started for an entry; "" = none."""
        found = self.programs.which(hook.program) if hook.program else ""
        return found if hook.source.kind in _USERS else self._known(found)

    def _is_users_line(self, hook: Hook) -> bool:
        words = lines.words(hook.wired.command) if hook.source.kind == sources.USER else []
        paths = [word for word in words if os.path.isabs(word)]
        is_astray = any(map(self.programs.is_strangers, paths))
        return bool(words) and not is_astray and not self.is_strangers(words[0])

    def is_strangers(self, program: str) -> bool:
        """Whether the program that the client would start may be one of the project."""
        if os.path.dirname(program):
            return self.programs.is_strangers(program)
        return self.programs.is_there(program) and not self.programs.which(program)

    def _known(self, path: str) -> str:
        """The user's own `sisyphus`, found without a stranger's help, where `path` is it."""
        known = filter(None, (self.programs.which(script.NAME), self.own))
        is_it = (one for one in known if path and os.path.realpath(one) == os.path.realpath(path))
        return next(is_it, "")

    @cached_property
    def shipped(self) -> Json:
        """Our `hooks.json`. Raises `SisyphusError` and `ValueError`."""
        value = json.loads(read_text(os.path.join(plugin_folder(), "hooks.json"), DOCUMENT_BYTES))
        return dict(value)

    @cached_property
    def wanted(self) -> list[Wired]:
        """The entries that there should be."""
        return list(wiring.entries(versions.hooks_for(self.client_version, self.shipped)))

    @cached_property
    def client_version(self) -> versions.Version | None:
        """Of Claude Code; None where none is found that says it."""
        ways = (self.programs.which(os.path.expanduser(place)) for place in versions.PLACES)
        path = next(filter(None, ways), "")
        return versions.parse(self.trials.version(path).output) if path else None

    @cached_property
    def own(self) -> str:
        """The script of this very installation; "" = there is none that lasts."""
        try:
            return script.own(self.started)
        except SisyphusError:  # a copy that will be removed again
            return ""

    def shown(self, path: str) -> str:
        return display(path, self.space.root)


def _hooks(source: Source) -> list[Hook]:
    told = [(one, wiring.mentioned_event(one.command)) for one in wiring.commands(source.values)]
    called = [(one, wiring.called_event(one.command) or name) for one, name in told]
    return [Hook(one, EARLIER.get(name, name), source) for one, name in called if name]
