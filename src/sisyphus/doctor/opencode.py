"""OpenCode's plugin of ours: whether it is there, once, of this version, and finds its command."""

from __future__ import annotations

import re

from sisyphus import __version__
from sisyphus.doctor.finding import Finding, ok, problem, warning
from sisyphus.install import found, marks, opencode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.doctor.case import Case
    from sisyphus.install.found import Found

CHECK = "OpenCode"

_AGAIN = "`sisyphus install --client opencode` again"
_CALLS = re.compile(r'^const SISYPHUS = "((?:[^"\\]|\\.){1,4096})"', re.MULTILINE)


def plugins(case: Case) -> dict[str, Found]:
    """Path -> what it is, of the plugin files of ours that OpenCode loads in this project."""
    places = [opencode.of_project(case.space.root), *opencode.users()]
    folders = [one for place in places for one in opencode.existing(place, opencode.PLUGINS)]
    return found.of_ours(list(dict.fromkeys(folders)), ".js")


def check(case: Case) -> Iterator[Finding]:
    there = plugins(case)
    if len(there) > 1:
        where = " and ".join(map(case.shown, there))
        yield problem(
            CHECK,
            f"two plugins of ours are loaded: {where}",
            "`sisyphus uninstall --client opencode --scope project`, or without --scope",
        )
    for path, one in there.items():
        yield _judged(case, path, one)


def _judged(case: Case, path: str, one: Found) -> Finding:
    where = case.shown(path)
    called = _CALLS.search(one.data.decode("utf-8", "replace"))
    if called and not case.programs.is_there(called[1]):
        return problem(CHECK, f"{where} calls {called[1]}, which is not there", _AGAIN)
    if one.kind in (found.EDITED, found.NEWER):
        return warning(CHECK, f"{where}: {one.why}", _AGAIN)
    mark = marks.read(one.data)
    if mark and mark.version != __version__:
        return warning(
            CHECK, f"{where} is of sisyphus {mark.version}; this is {__version__}", _AGAIN
        )
    return ok(CHECK, f"wired by {where}")
