from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from sisyphus import memory, settings
from sisyphus import purge as work
from sisyphus.cli.output import AsJson, faint, print_json, say, working_memory
from sisyphus.cli.progress import progress
from sisyphus.cli.terminal import is_terminal
from sisyphus.cli.users_own import refuse_model
from sisyphus.errors import SisyphusError
from sisyphus.paths import display, our_home
from sisyphus.times import duration

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sisyphus._types import Json
    from sisyphus.purge import File, Found, Removed

_NAMED = 5
"""Files that stay, by name."""

NOTHING = (
    "Nothing may go: what sessions, loops and runs that go on need stays, and so does what was "
    f"written less than {duration(work.MOMENT)} ago."
)


def purge(
    days: Annotated[
        int | None,
        typer.Option(
            "--days", metavar="N", min=0, show_default="state.keep_days",
            help="Remove what nobody used for so many days; 0: whatever is not in use now.",
        ),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="Also remove unreadable files that sisyphus set aside, and the numbers "
            "of loops' iterations, which `ralph log` and `ralph stats` show.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would go, and change nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Remove what ended sessions and loops have left in the folder of sisyphus.

    What a living session, loop or plan needs stays, and so do your settings, plans and the history
    of loops. While Claude Code has the transcript of a session, you can resume it: sisyphus keeps
    in mind what it sent there, and sends nothing twice. Where OpenCode keeps its sessions sisyphus
    does not look: one that you resume after its files went gets its texts again.

    Once a day a session that ends removes what is old by itself (setting `state.keep_days`).
    """
    if not dry_run:
        refuse_model("nothing was removed: what sisyphus keeps is the user's")
    days, ours = _days() if days is None else days, our_home()
    try:
        known = working_memory(only_looks=dry_run)
        with progress("Looking through our folder", quiet=as_json) as told:
            found = work.find(ours, time.time(), days, everything=everything, tell=told)
        if not as_json:
            _show(found, days)
        done = None
        if found and not dry_run:
            _agree(yes=yes, as_json=as_json)
            with progress("Removing", quiet=as_json):
                still = work.find(ours, time.time(), days, everything=everything)
                still.keep_to(found)
                done = work.remove(still, known, time.time())
    finally:
        memory.close()
    if as_json:
        print_json(_as_json(found, done, days, dry_run=dry_run))
    elif found:
        _tell(found, done)


def _days() -> int:
    days: int = settings.load(our_home(), our_home()).get("state.keep_days")
    if days <= 0:
        raise SisyphusError(
            "the setting state.keep_days is 0: everything is kept. "
            "Say how old is old: `sisyphus purge --days 30`."
        )
    return days


def _show(found: Found, days: int) -> None:
    if not found:
        used = f"Nothing to purge: everything was used in the last {days} days."
        say(used if days else NOTHING)
        return
    say(f"Not used for {days} days:" if days else "Not in use now:")
    if found.rows:
        say(f"  {found.rows}")
    kinds = _by_kind(found.files)
    rows = [(row["kind"], f"{row['files']:,}", work.size(row["bytes"])) for row in kinds]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for kind, count, size in rows:
        say(f"  {kind:<{widths[0]}}  {count:>{widths[1]}}  {size:>{widths[2]}}")


def _by_kind(files: Iterable[File]) -> list[Json]:
    """[{"kind", "files", "bytes"}] in the order in which they go."""
    rows: dict[str, Json] = {}
    for file in files:
        row = rows.setdefault(file.kind, {"kind": file.kind, "files": 0, "bytes": 0})
        row["files"] += 1
        row["bytes"] += file.size
    return list(rows.values())


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


def _tell(found: Found, done: Removed | None) -> None:
    """`done`: None = it was a dry run."""
    files, rows = (found.files, found.rows) if done is None else (done.files, done.rows)
    parts = [str(rows)] if rows else []
    parts += [work.total(files)] if files else []
    if done is None:
        say(f"{'; '.join(parts)} would go. `sisyphus purge` removes them.")
        return
    say(f"Removed: {'; '.join(parts) or 'nothing'}.")
    stays = _stays(found, done)
    for path in list(stays)[:_NAMED]:
        say(faint(f"stays: {display(path, our_home())} ({stays[path]})"))
    if len(stays) > _NAMED:
        say(faint(f"and {len(stays) - _NAMED:,} more stay."))


def _stays(found: Found, done: Removed) -> dict[str, str]:
    """Path -> why, of what was listed and is still there."""
    gone = {file.path for file in done.files}
    paths = [file.path for file in found.files if file.path not in gone]
    return {path: done.stays.get(path, "in use again") for path in paths}


def _as_json(found: Found, done: Removed | None, days: int, *, dry_run: bool) -> Json:
    files, rows = (found.files, found.rows) if done is None else (done.files, done.rows)
    stays = _stays(found, done) if done else {}
    return {
        "days": days,
        "dry_run": dry_run,
        "sessions": len(rows.ended),
        "events": rows.events,
        "removed": len(done.files) if done else 0,
        "files": len(files),
        "bytes": sum(file.size for file in files),
        "kinds": _by_kind(files),
        "paths": [file.path for file in files],
        "stays": [{"path": path, "why": why} for path, why in stays.items()],
    }
