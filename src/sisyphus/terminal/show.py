"""What all commands need: the place where they run, who asks them, and output for people (rich) and
programs (JSON)."""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from rich.console import Console
from rich.text import Text

from sisyphus import clients
from sisyphus.ground import paths, settings
from sisyphus.ground.errors import SisyphusError, UsageError
from sisyphus.ground.record import Record
from sisyphus.ground.store import Store, open_copy, open_store
from sisyphus.sessions import sessions

console = Console(highlight=False, soft_wrap=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Project = Annotated[
    str, typer.Option(metavar="DIR", help="Project folder. Default: the current folder's project.")
]


if TYPE_CHECKING:
    Client: TypeAlias = str
    Headless: TypeAlias = str
else:  # of an enum, help and completion show the values
    Client = StrEnum("Client", [(name, name) for name in clients.NAMES])
    Headless = StrEnum("Headless", [(name, name) for name in clients.HEADLESS])


class Place(Record, frozen=True):
    """Where a command runs. home: the client's own folder. folder: the one that the command was
    given, else the current one. our_home: our own folder."""

    project: str
    home: str
    store: Store
    settings: "settings.Values"
    folder: str
    our_home: str


class Asker(Record, frozen=True):
    """Who runs a command.

    session: the id of the session that they are in; "" = none. is_user: it can only be the user. In
    a shell that a client started, it may be the model. typed: the slash command that they typed, as
    `/name`; "" = none. transcript: the file of the session, as the client says just then; "" = it
    has not said.
    """

    session: str
    is_user: bool
    typed: str = ""
    transcript: str = ""


_asker: ContextVar[Asker | None] = ContextVar("asker", default=None)


def asker() -> Asker:
    """Returns who runs this command."""
    if current := _asker.get():
        return current
    session, process = clients.current_session()
    return Asker(session, is_user=not (session or process))


@contextmanager
def asking(who: Asker) -> Iterator[None]:
    """Makes `who` the asker of all commands in the `with` block."""
    token = _asker.set(who)
    try:
        yield
    finally:
        _asker.reset(token)


def need_user(typed: str = "") -> None:
    """Raises `SisyphusError` if the model may be asking for what only the user may change.

    typed: the slash command that does the same; "" = there is none.
    """
    if not asker().is_user:
        way = f"Type {typed}, or use another terminal." if typed else "Use another terminal."
        raise SisyphusError(f"A session of an agent cannot change this. {way}")


def need_memory(store: Store) -> None:
    """Raises `SisyphusError` if the store is in memory only, so that a change would be lost."""
    if not store.is_durable:
        raise SisyphusError(f"Nothing can be noted: {store.problem}")


def place(project: str = "") -> Place:
    """Opens the store and reads the settings of the project; prints what is wrong with them.
    project: a folder in it; "" = the current folder. Raises `UsageError` if it does not exist.
    """
    return _place(project, _warn_without_memory)


def place_to_change(project: str = "") -> Place:
    """Does the same for a command that notes something. Raises `SisyphusError` if it would be
    lost."""
    return _place(project, need_memory)


def _warn_without_memory(store: Store) -> None:
    if store.is_durable:
        return
    has_rows = sessions.newest(store) > 0
    what = "what is noted is shown, and no more can be" if has_rows else "nothing is known here"
    typer.echo(f"warning: {what}: {plain(store.problem)}", err=True)


def _open(our_home: str) -> Store:
    """A home that cannot be written can be read all the same."""
    store = open_store(our_home)
    return store if store.is_durable else open_copy(our_home, store.problem) or store


def _place(project: str, check: Callable[[Store], None]) -> Place:
    """check: says, or raises, that the store is in memory only."""
    root = project_root(project)
    our_home = our_folder(root)
    store = _open(our_home)
    check(store)
    values, problems = settings.load(store, our_home, root, os.environ)
    for problem in problems:
        typer.echo(f"warning: settings: {plain(problem)}", err=True)
    folder = os.path.abspath(project or os.getcwd())
    return Place(root, paths.client_home(), store, values, folder, our_home)


def our_folder(root: str) -> str:
    """Returns our folder. Above the user's home there is no project that could have moved it, but
    the environment of a client's child may still come from one."""
    is_in_client = bool(asker().session) or not asker().is_user
    return paths.our_home(root if is_in_client or paths.can_be_project(root) else "")


PARTS = {
    "boulder.enabled": "Plans",
    "ralph.enabled": "Loops",
    "rules.enabled": "Rules",
    "context.enabled": "Documents",
    "enforce.enabled": "Enforcements",
    "handoff.enabled": "Handoffs",
}
"""The settings that switch parts of sisyphus on and off, with the names of the parts."""


ALL_OFF = "Everything is off: SISYPHUS_DISABLE is set. Hooks do nothing."


def what_is_off(place: Place, *names: str) -> None:
    """Prints which of these `PARTS` are switched off, and by what."""
    if settings.is_disabled(os.environ):
        line(ALL_OFF, "yellow")
        return
    for _, text in parts_off(place, *names):
        line(text, "yellow")


def parts_off(place: Place, *names: str) -> Iterator[tuple[str, str]]:
    """Yields which of these `PARTS` are switched off: by what layer (see `settings.who_set`), and
    a sentence that says so."""
    for name in names:
        if not place.settings[name]:
            layer = settings.who_set(place.store, place.our_home, place.project, os.environ, name)
            where = paths.display(layer, place.project)
            yield layer, f"{PARTS[name]} are off: {where} sets {name} to false."


def project_root(project: str) -> str:
    """Returns the root of the project that a folder ("" = the current one) belongs to. Raises
    `UsageError` if the folder does not exist."""
    if project and not os.path.isdir(project):
        raise UsageError(f"{project} is not a folder. Give the folder of a project.")
    return paths.project_of(project or os.getcwd())


def as_json(value: Any) -> None:
    """Prints JSON without colours or wrapping. Characters that a terminal might obey, or that are
    not UTF-8, are escaped."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    typer.echo("".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text))


def plain(text: str) -> str:
    """Returns untrusted text with U+FFFD in place of every character that a terminal might obey, or
    that is not UTF-8. A tab is four blanks."""
    text = text.replace("\t", "    ")
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


def line(text: str, style: str = "", *, mark: str = "", indent: int = 0) -> None:
    """Prints one line of untrusted text; markup in it is shown, not interpreted."""
    parts = " " * indent, (mark + " " if mark else ""), (plain(text), style)
    console.print(Text.assemble(*parts))


def heading(text: str) -> None:
    line(text, "bold")


def clock(moment: float) -> str:
    """Returns a time, given in seconds since 1970, for people: in the local time zone."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))
