from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from sisyphus.cli.output import AsJson, faint, print_json, say
from sisyphus.cli.progress import progress
from sisyphus.cli.terminal import is_terminal
from sisyphus.cli.users_own import refuse_model
from sisyphus.errors import SisyphusError
from sisyphus.memory import open_memory
from sisyphus.paths import display, our_home
from sisyphus.times import duration
from sisyphus.upkeep import kept
from sisyphus.upkeep import purge as work
from sisyphus.upkeep.choose import MOMENT
from sisyphus.upkeep.remove import Removed
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from sisyphus.upkeep.kept import File
    from sisyphus.upkeep.purge import Sessions

_NAMED = 5
"""Files that stay, by name."""

NOTHING = (
    "Nothing may go: what sessions, loops and runs that go on need stays, and so does what was "
    f"written less than {duration(MOMENT)} ago."
)


def purge(
    days: Annotated[
        int | None,
        typer.Option(
            "--days", metavar="N", min=0, show_default="state.keep_days",
            help="What nobody used for so many days; 0 = whatever is not in use now.",
        ),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="Also unreadable files that were set aside, and the numbers of loops' "
            "iterations, which `ralph log` and `ralph stats` show.",
        ),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Remove what ended sessions and loops have left in our folder.

    Never goes what a living session, loop or plan needs, nor settings, plans and the history of
    loops. While the client has the transcript of a session, it can be resumed: what it was sent
    stays noted, so that it gets no text twice. OpenCode keeps its sessions where we do not look:
    one that is resumed after its files went gets its texts again.

    Old sessions are cleaned up by themselves once a day (setting `state.keep_days`).
    """
    if not dry_run:
        refuse_model("nothing was removed: what sisyphus keeps is the user's")
    days, ours = _days() if days is None else days, our_home()
    without = () if everything else kept.ON_REQUEST
    with progress("Looking through our folder", quiet=as_json) as told:
        found = work.find(ours, time.time(), days, without=without, tell=told)
        memory = open_memory(ours)
        sessions = work.Sessions(memory, time.time(), days)
    if not as_json:
        _show(found, sessions, days)
    done = Removed()
    if (found or sessions) and not dry_run:
        _agree(yes=yes, as_json=as_json)
        with progress("Removing", quiet=as_json):
            left = work.again(found, ours, time.time(), days, without)
            done = work.carry_out(left)
            if sessions:
                sessions = work.Sessions(memory, time.time(), days)
                sessions.remove(memory, time.time())
    if as_json:
        _print(found, sessions, done, days, dry_run=dry_run)
    elif found or sessions:
        _tell(found, sessions, done, dry_run=dry_run)


def _days() -> int:
    days: int = Workspace(our_home()).settings.get("state.keep_days")
    if days <= 0:
        raise SisyphusError(
            "the setting state.keep_days is 0: everything is kept. "
            "Say how old is old: `sisyphus purge --days 30`."
        )
    return days


def _show(found: list[File], sessions: Sessions, days: int) -> None:
    if not found and not sessions:
        used = f"Nothing to purge: everything was used in the last {days} days."
        say(used if days else NOTHING)
        return
    say(f"Not used for {days} days:" if days else "Not in use now:")
    if sessions:
        say(f"  {sessions}")
    for row in work.lines(found):
        say(row)


def _agree(*, yes: bool, as_json: bool) -> None:
    """Raises unless the user wants it."""
    if yes:
        return
    if as_json or not is_terminal(sys.stdin) or not is_terminal(sys.stdout):
        raise SisyphusError(
            "nothing was removed: there is nobody to ask. "
            "`sisyphus purge --yes` removes it, `--dry-run` only shows it."
        )
    typer.confirm("Remove them?", abort=True)


def _tell(found: list[File], sessions: Sessions, done: Removed, *, dry_run: bool) -> None:
    rows = [str(sessions)] if sessions else []
    files = found if dry_run else done.gone
    rows += [work.total(files)] if files else []
    if dry_run:
        say(f"{'; '.join(rows)} would go. `sisyphus purge` removes them.")
        return
    say(f"Removed: {'; '.join(rows) or 'nothing'}.")
    stays = _stays(found, done)
    for path in list(stays)[:_NAMED]:
        say(faint(f"stays: {display(path, our_home())} ({stays[path]})"))
    if len(stays) > _NAMED:
        say(faint(f"and {len(stays) - _NAMED:,} more stay."))


def _stays(found: list[File], done: Removed) -> dict[str, str]:
    """Path -> why, of what was listed and is still there."""
    gone = {file.path for file in done.gone}
    return {f.path: done.stays.get(f.path, "in use again") for f in found if f.path not in gone}


def _print(
    found: list[File], sessions: Sessions, done: Removed, days: int, *, dry_run: bool
) -> None:
    files = found if dry_run else done.gone
    stays = {} if dry_run else _stays(found, done)
    print_json(
        {
            "days": days,
            "dry_run": dry_run,
            "sessions": len(sessions.ended),
            "events": sessions.events,
            "removed": 0 if dry_run else len(files),
            "files": len(files),
            "bytes": sum(file.size for file in files),
            "kinds": work.by_kind(files),
            "paths": [file.path for file in files],
            "stays": [{"path": path, "why": why} for path, why in stays.items()],
        }
    )
