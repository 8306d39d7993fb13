"""Installing and removing: the plan, carried out under one lock, and what came of it."""

from __future__ import annotations

import errno
import time
from contextlib import contextmanager

from sisyphus import __version__
from sisyphus.errors import SisyphusError
from sisyphus.install import changes, manifest, opencode, opencode_plan, plan
from sisyphus.install.claude import plan as claude_plan
from sisyphus.paths import our_home
from sisyphus.state.files import ensure_folder
from sisyphus.state.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sisyphus._types import Json
    from sisyphus.install.place import Place
    from sisyphus.install.plan import Plan
    from sisyphus.install.wish import Wish

_HELP = {
    errno.EACCES: "Make it writable for you",
    errno.EPERM: "Make it writable for you",
    errno.EROFS: "Choose another place (--project, --scope)",
    errno.ENOSPC: "Make room",
    errno.EDQUOT: "Make room",
    errno.ESTALE: "Wait a moment",
}


def plan_install(place: Place, wish: Wish) -> Plan:
    """Raises `SisyphusError`, as all do here."""
    with _explained():
        if place.client == opencode.NAME:
            return opencode_plan.to_install(place, wish)
        return claude_plan.to_install(place, wish, manifest.noted(place))


def plan_uninstall(place: Place) -> Plan:
    with _explained():
        if place.client == opencode.NAME:
            return opencode_plan.to_uninstall(place, manifest.noted(place))
        return claude_plan.to_uninstall(place, manifest.noted(place))


def install(shown: Plan, wish: Wish) -> None:
    """Carries out what was shown; it must still be what there is to do."""
    if shown.changes:
        _carry_out(shown, lambda: plan_install(shown.place, wish), _note, None)


def uninstall(shown: Plan) -> None:
    if shown.changes or shown.drop or manifest.noted(shown.place):
        _carry_out(shown, lambda: plan_uninstall(shown.place), None, _forget)


def _carry_out(
    shown: Plan,
    again: Callable[[], Plan],
    first: Callable[[Plan, manifest.Book], None] | None,
    last: Callable[[Plan, manifest.Book], None] | None,
) -> None:
    """The book says first what will be made, so that a run that is killed leaves nothing unknown,
    and forgets it last."""
    undo = changes.Undo()
    with _explained(undo.stuck):
        ensure_folder(our_home())
        with Lock(manifest.path()):
            book = manifest.Book()
            if not _is_still(shown, again()):
                return
            with undo:
                if first:
                    undo.by(manifest.path(), book.restore)
                    first(shown, book)
                changes.make(shown, undo)
                if last:
                    last(shown, book)
                undo.pop_all()


def _is_still(shown: Plan, now: Plan) -> bool:
    """Whether there is to do what was shown; not so where another process has just done it."""
    if now != shown and (now.changes or now.drop):
        raise SisyphusError("something has changed there meanwhile. Run this again.")
    return now == shown


def _note(done: Plan, book: manifest.Book) -> None:
    book.put(_entry(done))


def _entry(done: Plan) -> Json:
    ours = {s.path: s.after or s.before.data for s in done.steps if s.action in _WRITTEN}
    made = manifest.noted(done.place).get("folders", [])
    return {
        "client": done.place.client,
        "scope": done.place.scope,
        "folder": done.place.folder,
        "sisyphus": __version__,
        "installed_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "files": manifest.digests(ours),
        "folders": list(dict.fromkeys([*made, *done.make])),
        **done.record,
    }


_WRITTEN = (plan.WRITE, plan.UPDATE, plan.REPLACE, plan.EDIT, plan.SAME)


def _forget(done: Plan, book: manifest.Book) -> None:
    """An edited file stays ours to remove, with the folders that were made for it."""
    if not [step for step in done.steps if step.action == plan.KEEP]:
        book.drop(done.place)


@contextmanager
def _explained(stuck: list[str] | None = None) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = error.filename or our_home()
        state = f"These could not be put back: {', '.join(stuck)}" if stuck else "Nothing changed"
        todo = _HELP.get(error.errno or 0, "Mend that")
        raise SisyphusError(
            f"{where}: {error.strerror or error}. {state}. {todo}, then run this again."
        ) from error
