from __future__ import annotations

import sys
import textwrap
import time
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

from sisyphus import journal
from sisyphus.cli import complete
from sisyphus.cli.output import (
    AsJson,
    faint,
    heading,
    json_text,
    print_json,
    say,
    styled,
    working_memory,
    workspace,
)
from sisyphus.cli.sessions import NOTHING
from sisyphus.cli.slips import no_such_event
from sisyphus.cli.terminal import columns
from sisyphus.clients.base import EVENTS
from sisyphus.paths import client_home, display, is_safe_id, our_home
from sisyphus.ralph.past import history
from sisyphus.ralph.store import has_loop
from sisyphus.session.client_process import SESSION_VARIABLES
from sisyphus.session.transcripts import has_goal, transcript_path
from sisyphus.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sisyphus.journal import Event
    from sisyphus.memory import Memory

POLL_SECONDS = 0.3

_COMMAND = "command"
_EVENT, _TOOK, _LEAST = 18, 10, 20
_GOAL = (
    "The client's own /goal was typed in this session too: it and the loop both hold it. "
    "`/goal clear` or `sisyphus ralph cancel` ends one of them."
)


def _event(name: str) -> str:
    known = (*EVENTS, _COMMAND)
    if name and name not in known:
        raise no_such_event(name, known)
    return name


def why(  # one an option
    session_id: Annotated[
        str,
        typer.Option(
            "--session", "--session-id", metavar="ID",
            help="The session to look at, or how its id begins; also the id of a loop or run. "
            "Else the latest session of this project.",
            envvar=list(SESSION_VARIABLES),
            show_envvar=True, show_default=False, autocompletion=complete.sessions,
        ),
    ] = "",
    event: Annotated[
        str,
        typer.Option(
            "--event", metavar="EVENT", help="This event alone.", callback=_event,
            autocompletion=complete.events,
        ),
    ] = "",
    last: Annotated[
        int, typer.Option("--last", "-n", metavar="N", min=1, help="How many lines.")
    ] = 10,
    everything: Annotated[
        bool, typer.Option("--all", help="Also hooks that had nothing to say.")
    ] = False,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow", "-f",
            help="Go on showing what comes, of every session if none is named; Ctrl-C ends it.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Say what the hooks of a session decided lately, and why; the newest line last.

    Without `--session` that is the latest session of the current project. A line tells when, which
    event, how long the hook took, what it sent, and what it left out and why. With `--json
    --follow` each line is an object.
    """
    memory = working_memory()
    session, remark = _session(memory, session_id)
    newest = journal.latest_event(memory)
    found = journal.events(
        memory, session=session, event=event, quiet=everything, before=newest + 1, limit=last
    )
    found = found if session else []
    if as_json and not follow:
        entries = [one.as_json() for one in found]
        about = journal.about(memory, session) if session else {}
        print_json({"session_id": session or None, **about, "entries": entries})
        return
    if remark:
        say(faint(remark))
    if session and not found and not follow:
        say(_heading(memory, session))
        more = "" if everything else " `--all` shows hooks that had nothing to say, too."
        say(f"There is nothing to show.{more}")
    shown: Iterable[Event] = found
    if follow:
        only = session if session_id else ""
        shown = chain(found, _coming(memory, newest, only, event, quiet=everything))
    for line in _json_lines(shown) if as_json else _texts(memory, shown, everything):
        say(line)
    if session and _has_two_masters(session):
        say(_GOAL)


def _has_two_masters(session: str) -> bool:
    transcript = transcript_path(client_home(), session)
    return has_loop(our_home(), session) and bool(transcript) and has_goal(transcript)


def _session(memory: Memory, named: str) -> tuple[str, str]:
    """The session that is meant, and what is to be said about the choice; "" = there is none.
    Raises `SisyphusError` for a name that fits none, or several."""
    if named:
        is_other = is_safe_id(named) and not journal.matching(memory, named)
        of_work = is_other and (journal.of_run(memory, named) or _of_loop(named))
        return journal.find_session(memory, of_work or named), ""
    root = workspace("").root
    if here := journal.latest_session(memory, root):
        return here, ""
    if anywhere := journal.latest_session(memory):
        return anywhere, f"No session was seen in {display(root, our_home())}. The latest of all:"
    return "", NOTHING


def _of_loop(named: str) -> str:
    """The session of the only loop whose id begins so; "" = there is none."""
    found = {r.session_id for r in history.read(our_home()) if r.loop_id.startswith(named)}
    return found.pop() if len(found) == 1 else ""


def _coming(
    memory: Memory, after: int, session: str, event: str, *, quiet: bool
) -> Iterator[Event]:
    """The events behind number `after` as they come, for ever."""
    while True:
        after = min(after, journal.latest_event(memory))  # a new memory begins anew
        for one in journal.events(
            memory, session=session, event=event, quiet=quiet, after=after
        ):  # fmt: skip
            after = one.n
            yield one
        time.sleep(POLL_SECONDS)


def _json_lines(found: Iterable[Event]) -> Iterator[str]:
    for one in found:
        yield json_text({"session_id": one.session, **one.as_json()}, indent=None)


def _texts(memory: Memory, found: Iterable[Event], everything: bool) -> Iterator[str]:
    """The events, each session under its name and each day under its date."""
    before = ("", "")
    for one in found:
        if one.session != before[0]:
            yield _heading(memory, one.session)
        if (one.session, one.day) != before:
            before = one.session, one.day
            yield faint(one.day)
        yield _line(one, one.said(everything=everything))


def _heading(memory: Memory, session: str) -> str:
    """`Session ID` and, where that is known, its project and the run that it belongs to."""
    known = journal.about(memory, session)
    project, run = known.get("project"), known.get("run")
    where = f" in {one_line(display(project, our_home()))}" if project else ""
    part = f", an iteration of the run {one_line(run)}" if run else ""
    return heading(f"Session {session}") + f"{where}{part}"


def _line(one: Event, sentences: list[str]) -> str:
    indent = " " * (len(one.clock) + 2 + max(_EVENT, len(one.event)) + 2 + _TOOK + 2)
    said = [_wrapped(text, columns() - len(indent)) for text in sentences]
    if one.blocked:
        said[0] = [styled(line, fg="yellow") for line in said[0]]
    first, *more = chain.from_iterable(said)
    head = f"{one.clock}  {one.event:<{_EVENT}}  {faint(f'{one.took:>{_TOOK}}')}  {first}"
    return "\n".join([head, *(indent + line for line in more)])


def _wrapped(text: str, room: int) -> list[str]:
    """For a terminal; a very narrow one does it by itself."""
    if room < _LEAST or not sys.stdout.isatty():
        return [text]
    words = chain.from_iterable(_parts(word, room) for word in text.split(" "))
    return textwrap.wrap(" ".join(words), room, break_on_hyphens=False) or [""]


def _parts(word: str, room: int) -> list[str]:
    """A path that is longer than a line goes on behind a slash."""
    cut = word.rfind("/", 0, room) + 1
    return [word[:cut], *_parts(word[cut:], room)] if cut and len(word) > room else [word]
