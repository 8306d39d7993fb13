"""How `install` and `uninstall` speak with their user: the list, the questions, the result."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from sisyphus.cli.output import print_json, say
from sisyphus.errors import SisyphusError
from sisyphus.install import actions, notes, plan, wording
from sisyphus.install.claude import plugin
from sisyphus.install.place import USER
from sisyphus.install.wish import COMMANDS, EXCLUDES, STATUSLINE

if TYPE_CHECKING:
    from sisyphus.install.place import Place
    from sisyphus.install.plan import Plan
    from sisyphus.install.wish import Wish

_OFFERS = {
    COMMANDS: "The slash commands too (/ralph-loop, /start-work and others)?",
    STATUSLINE: "The status line too (plan, loop and context in one line)?",
    EXCLUDES: "Keep Claude Code from loading the rules whole that sisyphus sends when they apply?",
}

_TWO = "every event would start two processes"


@dataclass(frozen=True)
class Manner:
    """How a run speaks with its user."""

    dry_run: bool
    yes: bool
    as_json: bool

    @property
    def asks(self) -> bool:
        """Only where a person sits at the other end: what is done can be undone."""
        return not (self.yes or self.dry_run or self.as_json) and sys.stdin.isatty()


def agreed(place: Place, wish: Wish, manner: Manner) -> tuple[Plan, Wish]:
    """What there is to do, shown and, of who can be asked, agreed to."""
    shown, wish = _shown(place, wish, manner)
    _refuse_twice(shown, manner)
    confirm(shown, manner)
    parts = _offered(shown, wish, manner)
    return _shown(place, wish.more(parts), manner) if parts else (shown, wish)


def _shown(place: Place, wish: Wish, manner: Manner) -> tuple[Plan, Wish]:
    shown = actions.plan_install(place, wish)
    if manner.asks and shown.edited:
        wish = wish.replacing(typer.confirm(wording.to_replace(shown)))
        shown = actions.plan_install(place, wish)
    show(shown, manner)
    return shown, wish


def show(shown: Plan, manner: Manner) -> None:
    if manner.as_json:
        return
    if rows := wording.listing(shown):
        say(rows)
    if manner.dry_run and shown.changes:
        say(wording.diff(shown))


def _refuse_twice(shown: Plan, manner: Manner) -> None:
    if not shown.twice_by or not shown.changes or manner.dry_run or manner.yes:
        return
    if manner.asks:
        typer.confirm(f"The plugin is on in {shown.twice_by}: {_TWO}. Go on?", abort=True)
        return
    raise SisyphusError(
        f"the plugin is on in {shown.twice_by}, so {_TWO}. Take it out with "
        f"`{plugin.UNINSTALL}`, or go on with --yes."
    )


def confirm(shown: Plan, manner: Manner) -> None:
    if manner.asks and shown.changes:
        typer.confirm(wording.to_confirm(shown), default=True, abort=True)


def _offered(shown: Plan, wish: Wish, manner: Manner) -> list[str]:
    if not manner.asks or wish.is_final:
        return []
    offers = [part for part in shown.offers if part in _OFFERS]
    return [part for part in offers if typer.confirm(_OFFERS[part], default=True)]


def end(done: Plan, manner: Manner) -> None:
    kept = [] if manner.dry_run else wording.kept(done)
    said = notes.of(done, is_done=not manner.dry_run)
    told = [*said, *kept, *_not_taken(done, manner)]
    if manner.as_json:
        differences = {"diff": wording.diff(done)} if manner.dry_run else {}
        print_json({**wording.as_json(done, told, dry_run=manner.dry_run), **differences})
        return
    say("Nothing was changed (--dry-run)." if manner.dry_run else wording.result(done))
    for note in told:
        say(f"- {note}")


def _not_taken(done: Plan, manner: Manner) -> list[str]:
    """The parts that nobody was asked about."""
    if done.verb == plan.UNINSTALL or manner.asks or not done.changes or not done.offers:
        return []
    options = " ".join(f"--only {part}" for part in done.offers)
    options += f" --scope {done.place.scope}" * (done.place.scope != USER)
    return [f"Not installed: {', '.join(done.offers)}. To add them: `sisyphus install {options}`."]
