from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from sisyphus import journal
from sisyphus.boulder.listing import plans_of
from sisyphus.cli.output import AsJson, faint, print_json, say, working_memory, workspace
from sisyphus.errors import SisyphusError
from sisyphus.paths import client_home, our_home
from sisyphus.ralph.past import history
from sisyphus.ralph.past.records import by_session
from sisyphus.text import one_line
from sisyphus.times import duration, local

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json

LAST = 20
NOTHING = (
    "No session was seen yet. `sisyphus install` wires the hooks in, `sisyphus doctor` looks "
    "whether they are."
)

_SHORT, _LONG = 8, 12
_NAME, _WHAT = 24, 60
_SECOND = 1_000
_RIGHT = ("hooks", "time", "median", "sent", "blocks")


def sessions(
    project: Annotated[
        str,
        typer.Option(
            "--project", metavar="DIR", help="Sessions of this project alone.", show_default=False
        ),
    ] = "",
    last: Annotated[
        int, typer.Option("--last", "-n", metavar="N", min=1, help="How many sessions.")
    ] = LAST,
    as_json: AsJson = False,
) -> None:
    """Show the sessions that were seen and what hooks cost there, the newest last.

    `time` is what all hooks of a session took together, `median` about what the middle one took;
    `sent` counts the characters that the model got. `sisyphus why --session ID` tells more of one:
    a unique beginning is enough.
    """
    root = workspace(project, may_be_gone=True).root if project else ""
    memory = working_memory()
    found = journal.sessions(memory, project=root)
    if root and not found and not os.path.isdir(root):
        raise SisyphusError(
            f"no such folder: {root}, and no session was seen there. Name another with --project."
        )
    latest = found[-last:]
    loops = by_session(history.read(our_home())) if latest else {}
    plans = plans_of(client_home(), ((one.session, one.project) for one in latest))
    shown = journal.rows(memory, latest, loops, plans)
    sums = journal.totals(memory, found, root)
    if as_json:
        print_json({"sessions": shown, "totals": sums})
        return
    if not found:
        say(NOTHING if not root else f"No session was seen in {root}.")
        return
    heads, *lines = _table(shown)
    say(faint(heads))
    for line in lines:
        say(line)
    if len(found) > last:
        say(faint(f"The latest {last:,} of {len(found):,}; `-n` shows more."))
    say(_summed_up(sums))


def _table(shown: Sequence[Json]) -> list[str]:
    """The heads, then a line a session; columns that are empty throughout are left out."""
    names = [row["session_id"] for row in shown]
    width = _SHORT if len({name[:_SHORT] for name in names}) == len(names) else max(map(len, names))
    rows = [_cells(row, width) for row in shown]
    lines = [""] * (len(rows) + 1)
    for head in rows[0]:
        column = [row[head] for row in rows]
        if any(column):
            wide = max(map(len, (head, *column)))
            pad = str.rjust if head in _RIGHT else str.ljust
            lines = [
                f"{line}  {pad(cell, wide)}" if line else pad(cell, wide)
                for line, cell in zip(lines, (head, *column), strict=True)
            ]
    return [line.rstrip() for line in lines]


def _cells(row: Json, width: int) -> dict[str, str]:
    """What stands under each head."""
    what = [f"run {row['run']}"] if row["run"] else []
    what += [f"loop {loop['loop_id']} ({loop['result']})" for loop in row["loops"]]
    what += [f"plan {row['plan']}"] if row["plan"] else []
    return {
        "session": row["session_id"][:width],
        "began": local(row["began"]),
        "lasted": duration(row["seconds"]),
        "project": one_line(os.path.basename(row["project"] or ""), _NAME),
        "client": one_line(row["client"] or "", _LONG),
        "hooks": f"{row['hooks']:,}",
        "time": _time(row["ms"]),
        "median": _time(row["median_ms"]) if row["median_ms"] else "",
        "sent": f"{row['sent']:,}",
        "blocks": f"{row['blocked']:,}",
        "what": one_line(", ".join(what), _WHAT),
    }


def _summed_up(sums: Json) -> str:
    """One line for all of them."""
    middle = f" (median {_time(sums['median_ms'])})" if sums["median_ms"] else ""
    return (
        f"{_count(sums['sessions'], 'session')}, {_count(sums['hooks'], 'hook')} in "
        f"{_time(sums['ms'])}{middle}, {sums['sent']:,} characters sent, "
        f"{_count(sums['blocked'], 'block')}."
    )


def _time(ms: float) -> str:
    if ms < _SECOND:
        return f"{ms:.3g} ms"
    return f"{ms / _SECOND:.1f} s" if ms < 60 * _SECOND else duration(ms / _SECOND)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
