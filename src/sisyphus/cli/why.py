from __future__ import annotations

import os
import sys
import textwrap
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

from sisyphus import journal_view, journal_words
from sisyphus.cli import complete
from sisyphus.cli.output import AsJson, faint, heading, json_text, print_json, say, styled
from sisyphus.cli.progress import progress
from sisyphus.cli.slips import no_such_event
from sisyphus.cli.terminal import columns
from sisyphus.clients.base import EVENTS
from sisyphus.paths import client_home, display, is_safe_id, our_home
from sisyphus.plain import one_line
from sisyphus.ralph.store import has_loop
from sisyphus.session.transcripts import has_goal, transcript_path
from sisyphus.upkeep import sessions, summaries

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sisyphus._types import Json

    Heard = tuple[str, Json]  # a session, and what was noted there

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


def why(  # noqa: PLR0913, PLR0917  # one an option
    session_id: Annotated[
        str,
        typer.Option(
            "--session", "--session-id", metavar="ID",
            help="The session to look at, or how its id begins; also the id of a loop or run. "
            "Else the latest session.",
            envvar=["CLAUDE_CODE_SESSION_ID", "SISYPHUS_SESSION_ID"],
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

    A line tells when, which event, how long the hook took, what it sent, and what it left out and
    why. With `--json --follow` each line is an object.
    """
    folder = os.path.join(our_home(), "logs")
    wanted = journal_view.Wanted(event, quiet=everything)
    ends = journal_view.ends_of(folder) if follow and not session_id else {}
    session = _session(folder, session_id, may_come=follow)
    entries, end = journal_view.tail(session, last, wanted) if session else ([], 0)
    if as_json and not follow:
        print_json({"session_id": session, **journal_view.about(session), "entries": entries})
        return
    shown: Iterable[Heard] = [(session, entry) for entry in entries]
    if follow:
        coming = _coming(folder, session if session_id else "", end, {**ends, session: end}, wanted)
        shown = _chain(shown, coming)
    elif not entries:
        typer.echo(_heading(session))
        more = "" if everything else " `--all` shows hooks that had nothing to say, too."
        typer.echo(f"There is nothing to show.{more}")
    for line in (_json_lines if as_json else _texts)(shown):
        say(line)
    if _has_two_masters(session):
        say(_GOAL)


def _has_two_masters(session: str) -> bool:
    transcript = transcript_path(client_home(), session)
    return has_loop(our_home(), session) and bool(transcript) and has_goal(transcript)


def _session(folder: str, named: str, *, may_come: bool) -> str:
    """The session that is meant; "" = none is there yet, and `may_come`. Raises `SisyphusError`."""
    written = journal_view.journals(folder)
    if may_come and not named and not written:
        return ""
    is_other = is_safe_id(named) and not journal_view.matching(written, named)
    other = _of_run_or_loop(named) if is_other else ""
    return journal_view.find_session(folder, other or named)


def _of_run_or_loop(named: str) -> str:
    ours = our_home()
    with progress("Reading journals") as told:
        run = sessions.of_run(summaries.read(ours, told.each), named)
    return run or sessions.of_loop(ours, named)


def _coming(
    folder: str, session: str, end: int, ends: dict[str, int], wanted: journal_view.Wanted
) -> Iterator[Heard]:
    if not session:
        return journal_view.follow_all(folder, wanted, ends)
    return ((session, entry) for entry in journal_view.follow(session, end, wanted))


def _chain(entries: Iterable[Heard], coming: Iterator[Heard]) -> Iterator[Heard]:
    yield from entries
    yield from coming


def _json_lines(heard: Iterable[Heard]) -> Iterator[str]:
    for session, entry in heard:
        yield json_text({"session_id": session, **entry}, indent=None)


def _texts(heard: Iterable[Heard]) -> Iterator[str]:
    """The entries, each session under its name and each day under its date."""
    before = ("", "")
    for session, entry in heard:
        day = journal_words.day(entry)
        if session != before[0]:
            yield _heading(session)
        if (session, day) != before:
            before = session, day
            yield faint(day)
        yield _line(entry)


def _heading(session: str) -> str:
    """`Session ID` and, where that is known, its project and the run that it belongs to."""
    known = journal_view.about(session)
    project, run = known.get("project"), known.get("run")
    where = f" in {one_line(display(project, our_home()))}" if isinstance(project, str) else ""
    part = f", an iteration of the run {one_line(run)}" if isinstance(run, str) else ""
    return heading(f"Session {session}") + f"{where}{part}"


def _line(entry: Json) -> str:
    words = journal_words.Words(entry)
    indent = " " * (len(words.clock) + 2 + max(_EVENT, len(words.event)) + 2 + _TOOK + 2)
    said = [_wrapped(text, columns() - len(indent)) for text in words.said]
    if entry.get("blocked") is True:
        said[0] = [styled(line, fg="yellow") for line in said[0]]
    first, *more = chain.from_iterable(said)
    head = f"{words.clock}  {words.event:<{_EVENT}}  {faint(f'{words.took:>{_TOOK}}')}  {first}"
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
