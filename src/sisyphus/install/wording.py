"""A plan in words, as JSON, and as a diff."""

from __future__ import annotations

import os

from sisyphus import __version__
from sisyphus.install import changes, found, opencode, plan
from sisyphus.install.claude import place as claude
from sisyphus.install.place import LOCAL
from sisyphus.paths import display
from sisyphus.text import harmless, line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json
    from sisyphus.install.plan import Plan, Step

CLIENTS = {claude.NAME: "Claude Code", opencode.NAME: "OpenCode"}
_DONE = {plan.INSTALL: "installed in", plan.UNINSTALL: "removed from"}
_QUIET = (plan.SAME,)
_TO_DO = {
    (plan.INSTALL, found.EDITED): "`--yes` replaces it, and keeps your text",
    (plan.UNINSTALL, found.EDITED): "delete it yourself",
    (plan.INSTALL, found.NEWER): "upgrade sisyphus",
}


def listing(shown: Plan) -> str:
    """What happens to which file, a line each; those that stay as they should be are left out."""
    steps = [step for step in shown.steps if step.action not in _QUIET]
    rows = [_row(shown, step) for step in steps]
    rows += [f"  {'remove':8} {_named(shown, folder)}/" for folder in shown.drop]
    head = f"sisyphus {__version__} for {CLIENTS[shown.place.client]}, in {_place(shown)}:"
    return "\n".join([head, *rows] if rows else [])


def _row(shown: Plan, step: Step) -> str:
    why = _why(shown, step)
    return line(f"  {step.action:8} {_named(shown, step.path)}" + (f": {why}" if why else ""))


def _why(shown: Plan, step: Step) -> str:
    if step.action == plan.REPLACE:
        return f"{step.why}; your text is kept in {_shown(_kept_at(step))}"
    todo = _TO_DO.get((shown.verb, step.before.kind), "") if step.action == plan.KEEP else ""
    return f"{step.why}; {todo}" if todo else step.why


def result(done: Plan) -> str:
    place = _place(done)
    if not done.changes and not done.drop:
        is_there = any(step.action != plan.SKIP for step in done.steps)
        return f"Nothing to do: sisyphus is {'' if is_there else 'not '}in {place}."
    count = len(done.changes)
    files = "1 file" if count == 1 else f"{count} files"
    return f"sisyphus {__version__} {_DONE[_direction(done)]} {place}: {files}."


def _direction(shown: Plan) -> str:
    """An installation without any part takes all of ours out; OpenCode has no parts."""
    has_parts = shown.place.client != claude.NAME or bool(shown.parts)
    return shown.verb if has_parts else plan.UNINSTALL


def kept(done: Plan) -> list[str]:
    """Where that which somebody else's files held before is found again."""
    steps = [s for s in done.changes if s.action == plan.EDIT and s.before.data in s.keep]
    return [f"{_shown(s.path)} as it was before is kept: {_shown(_kept_at(s))}." for s in steps]


def _kept_at(step: Step) -> str:
    return changes.kept_at(step.path, changes.digest(step.before.data))


def to_confirm(shown: Plan) -> str:
    count = len(shown.changes)
    files = "this file" if count == 1 else f"these {count} files"
    verb = _verb(shown)
    return f"{verb} {files}?"


def _verb(shown: Plan) -> str:
    if any(step.action == plan.EDIT for step in shown.changes):
        return "Change"
    return "Remove" if _direction(shown) == plan.UNINSTALL else "Write"


def to_replace(shown: Plan) -> str:
    names = ", ".join(_named(shown, step.path) for step in shown.edited)
    return line(f"You changed {names}. Replace that (your text is kept)?")


def as_json(done: Plan, notes: Sequence[str], *, dry_run: bool) -> Json:
    return {
        "client": done.place.client,
        "scope": done.place.scope,
        "folder": done.place.folder,
        "version": __version__,
        "dry_run": dry_run,
        "changed": bool(done.changes or done.drop) and not dry_run,
        "files": [{"path": s.path, "action": s.action, "why": s.why} for s in done.steps],
        "folders_made": list(done.make),
        "folders_removed": list(done.drop),
        "parts": list(done.parts),
        "offered": list(done.offers),
        "folders_left": {folder: list(names) for folder, names in done.left},
        "notes": list(notes),
    }


def diff(shown: Plan) -> str:
    """All changes as one unified diff."""
    return "\n".join(line for step in shown.changes for line in _diff(step))


def _diff(step: Step) -> list[str]:
    from difflib import unified_diff

    here, nowhere = step.path, os.devnull
    old, new = (data.decode(errors="replace") for data in (step.before.data, step.after or b""))
    names = (
        nowhere if step.before.kind == found.ABSENT else here,
        here if step.after is not None else nowhere,
    )
    lines = unified_diff(old.splitlines(), new.splitlines(), *names, lineterm="")
    return [harmless(text) for text in lines]


def _place(shown: Plan) -> str:
    own = " (scope local)" if shown.place.scope == LOCAL else ""
    return _shown(shown.place.folder) + own


def _shown(path: str) -> str:
    """With `~` for the home folder."""
    return display(path, path)


def _named(shown: Plan, path: str) -> str:
    return display(path, shown.place.folder)
