"""`sisyphus why` and `sisyphus sessions`: what hooks did, and in which sessions."""

import os
import sys
import time
from contextlib import suppress
from typing import Annotated, Any

import typer

from sisyphus import clients
from sisyphus.ground.errors import UsageError
from sisyphus.ground.store import Store
from sisyphus.ground.text import iso, one_line
from sisyphus.hook.session import Session
from sisyphus.loops import iterations
from sisyphus.sessions import journal, ledger, messages
from sisyphus.sessions import sessions as session_rows
from sisyphus.terminal import show

_LOOK_SECONDS, _MOST_AT_ONCE = 0.5, 1000
"""How often `--follow` looks for events, and how many it shows at a time."""

_KINDS = {
    "boulder": ("plan state", "plan states"),
    "readme": ("README", "READMEs"),
    "agents": ("AGENTS.md", "AGENTS.md files"),
    "rules": ("rule", "rules"),
    "loop": ("loop message", "loop messages"),
    "handoff": ("context message", "context messages"),
    "answer": ("answer of yours", "answers of yours"),
}
"""The kinds of texts, for people: of one, of several."""

_MAX_PROMPT = 70
"""The most characters of a first prompt that the list shows."""


def why(
    session: Annotated[
        str,
        typer.Option(
            "--session-id",
            "--session",
            metavar="ID",
            help="Session id, or its first characters. Default: the project's open or latest one.",
        ),
    ] = "",
    limit: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many events to show, the latest ones.")
    ] = 200,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Keep showing what hooks do, until Ctrl-C.")
    ] = False,
    project: show.Project = "",
    as_json: show.AsJson = False,
) -> None:
    """Show what hooks did in a session, and why. Default: this project's latest session."""
    if follow and as_json:
        raise UsageError("--follow is for people. Leave it out, or --json.")
    place = show.place(project)
    id = _session(place, session)
    events = journal.read(place.store, id, limit)
    if as_json:
        show.as_json({"session": id, "events": events})
        return
    if events:
        show.heading(f"Session {id}")
    elif not follow:
        show.line(f"No events in session {id}." if id else "No session of this project yet.")
    _print(events)
    if follow:
        with suppress(KeyboardInterrupt):
            _follow(place, session, id, events[-1]["number"] if events else 0)


def _session(place: show.Place, named: str) -> str:
    """Returns the id of the session that is named, else of the project's open or latest one."""
    if named:
        return session_rows.whole_id(place.store, named) or named
    return session_rows.meant_in(place.store, place.project).id


def _follow(place: show.Place, named: str, id: str, last: int) -> None:
    """Prints events after the one with the number `last`. If no session is named, it goes over to
    one that begins."""
    while True:
        sys.stdout.flush()
        time.sleep(_LOOK_SECONDS)
        now = _session(place, named)
        events = journal.read(place.store, now, _MOST_AT_ONCE, last)
        if events and now != id:
            show.heading(f"Session {now}")
            id = now
        _print(events)
        last = events[-1]["number"] if events else last


def _print(events: list[dict[str, Any]]) -> None:
    for event in events:
        agent = f" of subagent {event['agent']}" if event["agent"] else ""
        decision = f": {event['decision']}" if event["decision"] else ""
        show.line(f"{show.clock(event['at'])}  {event['event']}{agent}{decision}")
        for sent in event["sent"]:
            show.line(f"sent {sent}", indent=4)
        for line in "\n".join(event["notes"]).splitlines():
            show.line(line, "dim", indent=4)


def sessions(
    everywhere: Annotated[
        bool, typer.Option("--all", help="List the sessions of every project.")
    ] = False,
    limit: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many to list, newest first.")
    ] = 20,
    project: show.Project = "",
    as_json: show.AsJson = False,
) -> None:
    """List the sessions of this project by their first prompt, and what was sent to each."""
    place = show.place(project)
    of = "" if everywhere else place.project
    found = session_rows.find_all(place.store, of, most=limit)
    runs = iterations.by_session(place.store, found)
    rows = [_describe(place.store, each, runs.get(each.n)) for each in found]
    if as_json:
        show.as_json({"sessions": rows})
        return
    if not rows:
        show.line("No session yet." if everywhere else "No session of this project yet.")
        return
    has_several = len({each["client"] for each in rows}) > 1
    for each in rows:
        id, last_use = each["session_id"], show.clock(each["seen"])
        client = f"  {clients.wiring(each['client']).TITLE}" if has_several else ""
        show.line(f"{id}  {last_use}  {each['state']}{client}", "bold")
        show.line(one_line(_title(each), _MAX_PROMPT) or "(no prompt yet)", indent=4)
        if everywhere:
            show.line(one_line(each["project"]), "dim", indent=4)
        show.line(_sent(each["sent"], each["hooks"]), "dim", indent=4)


def _sent(counts: dict[str, int], hooks: int) -> str:
    """Says what a session was sent. counts: kind → number of files or, without a file, of texts.
    hooks: how many did something."""
    parts = []
    for kind, count in counts.items():
        one, several = _KINDS.get(kind, (kind, kind))
        parts.append(f"{count} {one if count == 1 else several}")
    acted = f"{hooks} {'hook' if hooks == 1 else 'hooks'} acted"
    return f"sent: {', '.join(parts) or 'nothing'}; {acted}"


def _title(session: dict[str, Any]) -> str:
    """Returns what a session is about; "" = unknown."""
    if session["run"]:
        return messages.of_run(session["run"], session["iteration"] or 0, session["item"] or "")
    return str(session["first_prompt"])


def _describe(
    store: Store, session: Session, of_run: tuple[str, int, str] | None
) -> dict[str, Any]:
    """of_run: the iteration of a run that it is, see `iterations.by_session`."""
    run, iteration, item = of_run or (None, None, None)
    started_at, transcript = session.started_at, session.transcript
    return {
        "session_id": session.id,
        "client": session.client,
        "project": session.project,
        "project_name": os.path.basename(session.project),
        "first_prompt": clients.transcript(session.client).first_prompt(transcript),
        "run": run,
        "iteration": iteration or None,
        "item": item or None,
        "state": "ended" if session.is_over else "open",
        "start": session.source,
        "started_at": iso(started_at) if started_at else None,
        "seen_at": iso(session.seen_at),
        "seen": session.seen_at,
        "transcript": transcript or None,
        "hooks": journal.count(store, [session.n]),
        "sent": ledger.counts(store, session),
    }
