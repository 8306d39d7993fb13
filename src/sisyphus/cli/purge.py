"""`sisyphus purge`: removes now what sessions left long ago, which otherwise happens once a day."""

import os
import sys
import time
from typing import Annotated

import typer

from sisyphus.ground import paths
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.store import Error, Store
from sisyphus.loops import loops
from sisyphus.sessions import retention
from sisyphus.sessions.retention import Old
from sisyphus.terminal import show

DECLINED = 1


def purge(
    days: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Remove what was not used for N days. Default: the setting state.keep_days.",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would go and remove nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Remove what we know of sessions, loops and plans that were not used for 30 days.

    Shows what goes and asks first. Open plans and running loops stay, and so does every file of
    your projects. Once a day a session's start does the same.
    """
    if not dry_run:
        show.need_user()
    place = show.place_to_change()
    days = days or place.settings["state.keep_days"]
    if not days:
        show.line("Nothing was removed: state.keep_days is 0, which keeps everything. "
                  "Say how long with --days N.")  # fmt: skip
        return
    old = retention.find_old(place.store, days, time.time())
    rows = _lines(old)
    if not rows:
        show.line(f"There is nothing to remove that was not used for {_count(days, 'day')}.")
        return
    show.heading(f"Not used for {_count(days, 'day')}, so it goes:")
    for row in rows:
        show.line(row, indent=2)
    show.line(_what_stays(place.store, old), "dim")
    if dry_run:
        show.line("Nothing was removed: this is a dry run.")
    elif _is_agreed(yes):
        _remove(place, days)


def _lines(old: Old) -> list[str]:
    """Says what goes, a line for each kind."""
    folder = paths.display(paths.our_home(), "")
    plan = "it, not its file" if len(old.plans) == 1 else "them, not their files"
    details = {
        "session": ", with what was sent and decided there",
        "plan": f", complete, cleared or gone: what is known of {plan}",
        "file": f" below {folder}, {_size(sum(old.files.values()))}",
    }
    return [_count(*kind) + details.get(kind[1], "") for kind in _kinds(old) if kind[0]]


def _kinds(old: Old) -> list[tuple[int, str]]:
    """Returns how many of each kind there are, and its name."""
    return [
        (len(old.session_ids), "session"),
        (len(old.loops), "ended loop"),
        (len(old.runs), "ended run"),
        (len(old.plans), "plan"),
        (len(old.drivers), "`ralph decide` record"),
        (len(old.files), "file"),
    ]


def _what_stays(store: Store, old: Old) -> str:
    sessions = _number(store, "session WHERE agent = ''") - len(old.session_ids)
    plans = _number(store, "plan WHERE state IN ('active', 'no_tasks')")
    live = len(loops.all_live(store)) + len(loops.holds(store))
    kinds = [
        (sessions, "session"),
        (plans, "open plan"),
        (live, "open loop"),
        (len(loops.runs(store)), "open run"),
    ]
    return f"What stays: {_listed(kinds)}."


def _number(store: Store, rows: str) -> int:
    row = store.one(f"SELECT count(*) FROM {rows}")
    assert row is not None
    return int(row[0])


def _is_agreed(yes: bool) -> bool:
    """Asks the user. Raises `SisyphusError` where it cannot, `typer.Exit` if they decline."""
    if yes:
        return True
    if not (sys.stdin and sys.stdin.isatty()):
        raise SisyphusError(
            "Nothing was removed: there is no terminal to ask you. Use --yes to purge."
        )
    if not typer.confirm("Remove this?"):
        show.line("Nothing was removed.")
        raise typer.Exit(DECLINED)
    return True


def _remove(place: show.Place, days: int) -> None:
    """Removes it, and tells what went: a session may have come back while the user was asked."""
    before = _bytes_of(place.store)
    old = retention.remove_old(place.store, days, time.time())
    is_shrunk = _shrink(place.store)
    freed = max(0, before - _bytes_of(place.store)) + sum(old.files.values())
    show.line(f"Removed: {_listed(_kinds(old))}. {_size(freed)} freed.")
    if not is_shrunk:
        show.line("The database keeps its size: another process uses it. The room in it is used "
                  "again.", "dim")  # fmt: skip


def _shrink(store: Store) -> bool:
    """Gives the space of removed rows back to the disk; tells whether that was possible now. It
    does not wait: hooks would wait for us."""
    try:
        store.wait_longer(0)
        store.run("VACUUM")
        row = store.one("PRAGMA wal_checkpoint(TRUNCATE)")
    except Error:  # somebody writes, or the disk is full
        return False
    return row is not None and row[0] == 0


def _bytes_of(store: Store) -> int:
    """Returns the size of the database, with its log."""
    both = (store.path, f"{store.path}-wal")
    return sum(os.path.getsize(path) for path in both if os.path.exists(path))


def _listed(kinds: list[tuple[int, str]]) -> str:
    return ", ".join(_count(number, noun) for number, noun in kinds if number) or "nothing"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _size(number: int) -> str:
    """Returns a number of bytes for people."""
    for limit, unit in ((1_000_000, "MB"), (1_000, "KB")):
        if number >= limit:
            return f"{number / limit:,.1f} {unit}"
    return _count(number, "byte")
