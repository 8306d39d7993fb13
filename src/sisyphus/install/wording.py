"""A plan in words, as JSON, and as a diff."""

from __future__ import annotations

import os

from sisyphus import __version__
from sisyphus.install import changes, found, opencode, plan
from sisyphus.paths import display
from sisyphus.plain import harmless, line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json
    from sisyphus.install.plan import Plan, Step

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
    head = f"sisyphus {__version__} for OpenCode, in {_shown(shown.place.folder)}:"
    return "\n".join([head, *rows] if rows else [])


def _row(shown: Plan, step: Step) -> str:
    why = _why(shown, step)
    return line(f"  {step.action:8} {_named(shown, step.path)}" + (f": {why}" if why else ""))


def _why(shown: Plan, step: Step) -> str:
    if step.action == plan.REPLACE:
        return f"{step.why}; your text is kept in {_shown(changes.kept_at(step))}"
    todo = _TO_DO.get((shown.verb, step.before.kind), "") if step.action == plan.KEEP else ""
    return f"{step.why}; {todo}" if todo else step.why


def result(done: Plan) -> str:
    place = _shown(done.place.folder)
    if not done.changes and not done.drop:
        is_there = any(step.action != plan.SKIP for step in done.steps)
        return f"Nothing to do: sisyphus is {'' if is_there else 'not '}in {place}."
    count = len(done.changes)
    files = "1 file" if count == 1 else f"{count} files"
    return f"sisyphus {__version__} {_DONE[done.verb]} {place} ({files})."


def to_confirm(shown: Plan) -> str:
    count = len(shown.changes)
    files = "this file" if count == 1 else f"these {count} files"
    verb = "Remove" if shown.verb == plan.UNINSTALL else "Write"
    return f"{verb} {files}?"


def to_replace(shown: Plan) -> str:
    names = ", ".join(_named(shown, step.path) for step in shown.edited)
    return line(f"You changed {names}. Replace that (your text is kept)?")


def as_json(done: Plan, notes: Sequence[str], *, dry_run: bool) -> Json:
    return {
        "client": opencode.NAME,
        "scope": done.place.scope,
        "folder": done.place.folder,
        "version": __version__,
        "dry_run": dry_run,
        "changed": bool(done.changes or done.drop) and not dry_run,
        "files": [{"path": s.path, "action": s.action, "why": s.why} for s in done.steps],
        "folders_made": list(done.make),
        "folders_removed": list(done.drop),
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


def _shown(path: str) -> str:
    """With `~` for the home folder."""
    return display(path, path)


def _named(shown: Plan, path: str) -> str:
    return display(path, shown.place.folder)
