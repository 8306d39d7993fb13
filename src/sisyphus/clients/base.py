"""The protocols of a client's modules. Modules implement them, not classes.

Those modules check everything that comes from a client, and nobody else does: whatever it sends,
these functions return the declared types.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Protocol, TextIO

from sisyphus.clients.finding import Finding
from sisyphus.clients.installation import Installation, Program, Site
from sisyphus.clients.reports import Failure, Report
from sisyphus.clients.transcript_records import Reading
from sisyphus.clients.trial_folder import Stage, WiringCopy
from sisyphus.clients.wired import Wired
from sisyphus.hook.event import Event, StatusLineInput
from sisyphus.hook.outcome import Outcome

Json = dict[str, Any]


class Payload(Protocol):
    """`payload.py`, on the quick path: reads the payload and writes the reply."""

    @property
    def TEXT_EVENTS(self) -> Collection[str]:
        """The events (our names) whose reply can carry queued text."""

    @property
    def COMMAND_PREFIX(self) -> bytes:
        """What stands in a transcript before the name of a command that the user typed or the model
        called; b"" = nothing that all of them have."""

    @property
    def VARIABLES(self) -> tuple[str, ...]:
        """How the names start of the variables that are the client's own, or that it sets for the
        commands that it runs. There are tokens among them, and the session's id."""

    @property
    def HOME_VARIABLE(self) -> str:
        """The one of them that the user sets, to say where the client's folder is; "" = none."""

    def current_session(self, variables: Mapping[str, str] = ...) -> tuple[str, str]:
        """Returns the id of the session in which a process with these variables runs, and the
        client's process as "PID START"; each "" if unknown. variables: our own by default."""

    @property
    def NAME(self) -> str:
        """The client's name in the store."""

    def read_status(self, raw: dict[str, Any]) -> StatusLineInput:
        """Reads the JSON that the client gives its status line."""

    @property
    def REPLY_UNITS(self) -> int:
        """The most text for the model that any reply can bring whole, in UTF-16 units."""

    def room(self, event: Event, outcome: Outcome) -> int:
        """Returns how much of it this reply can bring; 0 = none without another effect."""

    def read(self, name: str, raw: dict[str, Any]) -> Event:
        """Returns the event `name` in our words. Without a usable session id, `Event.session` is
        ""."""

    def wakes(self, event: Event, outcome: Outcome) -> str:
        """Returns the text that wakes an idle session, if this outcome does that; else ""."""

    def wake(self, event: Event, text: str, stderr: TextIO) -> int:
        """Wakes the session of an event with a text; returns the exit code of its hook."""

    def render(self, event: Event, outcome: Outcome, text: str) -> dict[str, Any] | None:
        """Returns the reply in the client's format; None if there is nothing to say.

        text: what the model gets, the part of `outcome.texts` that delivery chose.
        """


class Native(Protocol):
    """`native.py`: what the client does without us: what it loads, so that we do not send it again,
    and asks."""

    @property
    def COMMAND_SIGN(self) -> str:
        """What the user types before the name of a command, as "/"."""

    @property
    def RESUME(self) -> str:
        """The words before the id of a session, in a command that resumes it."""

    def reads_rules_in(self, place: str) -> bool:
        """Tells whether it reads the rules of a place (see `rules.sources.Source.place`) by
        itself."""

    def sends_rule(self, keys: Collection[str], *, always: bool) -> bool:
        """Tells whether the client sends a rule at the right time. If not, it sends the rule at
        every session start.

        keys: the scoping keys that the rule has. always: it applies to every file.
        """

    @property
    def MATCHES_BELOW_ALONE(self) -> bool:
        """Tells whether it sends a rule that names files only for those below the folder in which
        the session started. For others we do."""

    @property
    def RULES_SETTING(self) -> str:
        """The name of the setting that lists rules which the client leaves out; "" = none."""

    def rules_left_out(self, home: str, project: str) -> dict[str, list[str]]:
        """Returns the files that may have that setting, whether they exist or not → the globs (of
        absolute paths) in it."""

    def why_agents_md(self, home: str, folder: str, path: str) -> str:
        """Returns why the client itself loads the AGENTS.md at `path` in a session started in
        `folder`; "" if it does not."""

    def imports(self, home: str, *folders: str) -> dict[str, str]:
        """Returns the client's memory files for these folders, and everything they import with
        `@path`: path → fingerprint of its text, "" if there is no such file.

        folders: that of the session first, then those of files that it touches.
        """

    def loads(self, home: str, folder: str) -> dict[str, str]:
        """Returns the same for one folder, and the AGENTS.md files that the client loads."""

    def command_file(self, home: str, project: str, name: str) -> str:
        """Returns the file that the client runs for the slash command `/name`, whether that
        exists or not."""

    def plans_folder(self, home: str, project: str) -> str:
        """Returns the folder in which its plan mode writes plans. A project's settings may only
        name a folder of the project."""

    def shows_dialog(self, process: str) -> bool | None:
        """Tells whether a client's process ("PID START") has a dialog open and waits for its user;
        None if it does not say."""


class Transcript(Protocol):
    """`transcript.py`: reads what a client has recorded of a session."""

    def read(self, path: str, *, offset: int = 0, since: float = 0.0, limit: int = 0) -> Reading:
        """Returns the records after `offset` or, if it is 0, since a time. Reads at most the last
        `limit` bytes; 0 = as many as the module allows. A missing file has no records."""

    def first_id(self, path: str) -> str:
        """Returns the client's id of the first message, which a fork has in common with its parent;
        "" if there is no message yet."""

    def parent(self, path: str) -> str:
        """Returns the id of the session that this one was forked from; "" if the client does not
        say."""

    def first_prompt(self, path: str) -> str:
        """Returns what the user first typed in the session; "" if unknown."""

    def subagent_tokens(self, path: str, since: float) -> int:
        """Returns how many tokens the session's subagents have used since a time."""

    def has_todo_list(self, path: str) -> bool | None:
        """Tells whether the session's model was offered tools for a todo list; None = the client
        does not say."""


class Wiring(Protocol):
    """`wiring.py`: what `sisyphus install` puts into the client's folders, and takes out again, and
    how that is.

    Settings are the content of `Site.settings`. Functions that change them return a copy, in which
    everything that is not ours stays as and where it is.
    """

    @property
    def CLIENT(self) -> Program:
        """Its program, in which version, and how it is updated."""

    @property
    def TITLE(self) -> str:
        """The client's name for people."""

    @property
    def NEXT(self) -> str:
        """What the user does after `install`, before the client calls us, in a sentence; "" =
        nothing."""

    @property
    def SHARED(self) -> str:
        """What those must know who get our hooks with a project, in sentences; "" = nothing."""

    def site(self, place: Installation, project: str, *, is_shared: bool) -> Site:
        """Returns where `install` goes: for the user in all projects or, with a project, there.
        is_shared: for everybody who has it."""

    def problem(self, settings: Json, text: str = "") -> str:
        """Returns what keeps us from changing the settings, a key of a wrong type; "" if nothing
        does. text: the content of their file, to name the line; "" = name none."""

    def dropped(self, text: str) -> str:
        """Returns why the client ignores these settings as a whole, in a clause; "" if it does not.
        text: the content of the file, a JSON object."""

    def wire(self, settings: Json, site: Site, globs: Iterable[str]) -> Json:
        """Adds what is ours, and globs of rules to leave out. Replaces what an earlier install
        wrote and this one writes otherwise."""

    def unwire(self, settings: Json, globs: Iterable[str], keys: Iterable[str]) -> Json:
        """Takes out what is ours, and these globs and keys, which we added."""

    def notes(self, site: Site, place: Installation) -> Iterator[str]:
        """Yields what the user should know of what is there beside our hooks, in sentences."""

    def effects(self, site: Site, before: bytes | None, after: bytes | None) -> Iterator[str]:
        """Yields what the client does because `Site.file` changes, in sentences. None = there is no
        such file."""

    def read(self, place: Installation) -> list[Wired]:
        """Reads all files that are there and may have our hooks, the user's first; a plugin of ours
        that has no file is the last. Whoever asks how the client is wired asks this list."""

    def is_here(self, home: str, project: str) -> bool:
        """Tells whether the user has the client, by its program and its folder. A project may be
        wired for it all the same, by somebody else."""

    def look(self, place: Installation, files: list[Wired]) -> Iterator[Finding]:
        """Yields what there is to say of the client's program and of all that wires us into it, for
        a user who has it. files: as `read` gives them. Runs nothing but the client's own program,
        to ask its version and which hooks it trusts."""


class Trial(Protocol):
    """`trial.py`: starts the client once, without the user's account, for `sisyphus doctor
    --live`."""

    @property
    def SILENCE(self) -> str:
        """What the user can do if the client is wired, and calls us at no event."""

    def wiring(self, place: Installation) -> WiringCopy:
        """Returns what of the user's wiring is tried. Of what lies in the project, where a stranger
        may have put it, that is only what `install` writes there."""

    def command(self, program: str, wiring: WiringCopy, stage: Stage) -> list[str]:
        """Returns the command line that works on one prompt in the project of the stage."""

    def environment(self, stage: Stage) -> dict[str, str]:
        """Returns the client's whole environment: it asks the model of the stage, and nobody
        else."""

    def read_call(self, path: str) -> dict[str, Any]:
        """Returns the name and the input of the tool call that reads a file."""

    def knows_commands(self, wiring: WiringCopy, output: bytes) -> bool:
        """Tells whether the client knew our slash commands. output: what it printed."""

    def failures(self, output: bytes, errors: str) -> list[str]:
        """Returns what the client reports of our hooks that failed, in sentences. errors: the end
        of its stderr."""


class Headless(Protocol):
    """`headless.py`: runs the client without a terminal, for `sisyphus ralph run`."""

    @property
    def PROGRAM(self) -> str:
        """The name of its program."""

    @property
    def COUNTS_DOLLARS(self) -> bool:
        """Tells whether its reports say what they cost."""

    @property
    def MODES(self) -> Collection[str]:
        """The permission modes in which an agent can work without a user."""

    @property
    def EDITING_MODE(self) -> str:
        """The mode in which the agent may edit the project's files."""

    @property
    def ABOUT_EDITING(self) -> str:
        """What the agent may do in that mode, in a sentence for people."""

    @property
    def FREE_MODE(self) -> str:
        """The mode in which nothing is denied."""

    @property
    def LOCAL_SETTINGS(self) -> str:
        """The file of a project with its user's own settings, which belongs into no commit; "" =
        there is none."""

    def program(self, project: str) -> str:
        """Returns the client's program, by PATH; "" = there is none. One inside the project does
        not count."""

    def chosen_mode(self, home: str, project: str) -> str:
        """Returns the permission mode that the user's own settings choose; "" = none."""

    def command(self, program: str, session: str, mode: str) -> list[str]:
        """Returns the command line that works on the prompt on its stdin. session: the id that its
        session gets; "" = the client makes one."""

    def audit_command(self, program: str, session: str) -> list[str]:
        """Returns the same for a session that can read, and change nothing."""

    def new_session(self) -> str:
        """Returns an id for a session; "" = the client makes it, and its first lines report it."""

    def environment(self) -> dict[str, str]:
        """Returns our environment without what the client sets for the commands that it runs."""

    def why_logged_out(self, program: str, project: str) -> str:
        """Returns why no model would answer in a project, as far as the client knows: for people,
        with what to do. "" = it is logged in, or does not say."""

    def warnings(
        self, program: str, commands: Iterable[str], home: str, project: str, mode: str
    ) -> Iterator[str]:
        """Yields what the user should know before a run that can begin nevertheless, in sentences:
        that its hooks are not heard, that the agent will not be allowed to run some of these shell
        commands in a permission mode, with what to write into which file."""

    def is_refused(self, path: str, project: str, mode: str) -> bool:
        """Tells whether the client refuses to let the agent edit a file of the project in a
        permission mode, whatever the settings allow."""

    def feed(self, report: Report, line: bytes) -> None:
        """Adds a line that a process has printed to its report."""

    def failure(self, report: Report, code: int, errors: str, now: float) -> Failure | None:
        """Returns why a process that has ended failed; None = it did not. errors: the end of its
        stderr. code: its exit code; below 0 = the signal that ended it."""
