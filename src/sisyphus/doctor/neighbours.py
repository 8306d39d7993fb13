"""Who else works in the same sessions: other loops, the client's own, and its sandbox."""

from __future__ import annotations

import os
import re

from sisyphus.doctor.finding import Finding, ok, typed, warning
from sisyphus.errors import UnreadableError
from sisyphus.install import opencode, wiring
from sisyphus.ralph import store
from sisyphus.reading import DOCUMENT_BYTES, read_text
from sisyphus.session.transcripts import sessions_with_goal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.doctor.case import Case

LOOPS, SANDBOX = "other loops", "sandbox"

_OTHERS = {
    "ralph-loop": "two loops would hold a session for one promise",
    "ralph-wiggum": "two loops would hold a session for one promise",
    "oh-my-claudecode": "it holds sessions at their end and sends texts of its own as well",
    "oh-my-opencode": "it goes on with idle sessions and sends texts of its own as well",
}
"""The plugins that do what we do -> what comes of both."""

_NAMED = re.compile(r"sisyphus(?![\w-])")
_CONFIGURATIONS = ("opencode.json", "opencode.jsonc")
_ALLOW = '"sandbox": {"filesystem": {"allowWrite": ["%s"]}}'


def loops(case: Case) -> Iterator[Finding]:
    findings = [*_plugins(case), *_hooks(case), *_of_opencode(case), *_goals(case)]
    yield from findings or [ok(LOOPS, "none")]


def _plugins(case: Case) -> Iterator[Finding]:
    for plugin in case.plugins:
        name = plugin.name.partition("@")[0]
        if name in _OTHERS:
            yield _clash(
                name, f"the plugin {plugin.name}", f"`claude plugin disable {typed(plugin.name)}`"
            )


def _hooks(case: Case) -> Iterator[Finding]:
    """Those that stand in settings, as a hand copied them."""
    for one in case.settings:
        named = {name for hook in wiring.commands(one.values) for name in _named(hook.command)}
        for name in sorted(named):
            yield _clash(name, f"a hook in {case.shown(one.path)}", "Take that hook out")


def _named(command: str) -> list[str]:
    words = command.replace("\\", "/").replace("@", "/").split("/")
    return [name for name in _OTHERS if name in words]


def _clash(name: str, what: str, hint: str) -> Finding:
    return warning(
        LOOPS, f"{what} is on: {_OTHERS[name]}", f"{hint}, or use only one of the two in a session"
    )


def _of_opencode(case: Case) -> Iterator[Finding]:
    folders = [case.space.root, os.path.join(case.space.root, ".opencode")]
    folders += [place.folder for place in opencode.users()]
    for path in (os.path.join(folder, name) for folder in folders for name in _CONFIGURATIONS):
        try:
            text = read_text(path, DOCUMENT_BYTES)
        except UnreadableError:
            continue
        for name in _OTHERS:
            if f'"{name}"' in text or f'"{name}@' in text:
                hint = "Take it out of `plugin`"
                yield _clash(name, f"{name} in {case.shown(path)}", hint)


def _goals(case: Case) -> Iterator[Finding]:
    """Sessions in which the client's own `/goal` and a loop of ours are at work together."""
    for session in sessions_with_goal(case.space.home):
        if store.has_loop(case.space.ours, session):
            yield warning(
                LOOPS,
                f"session {session} has the client's own /goal beside a loop of ours",
                "Let one of them end it: `/goal clear`, or `sisyphus ralph cancel`",
            )


def sandbox(case: Case) -> Iterator[Finding]:
    """The client's sandbox is around the commands that the model runs, not around hooks."""
    on = [one for one in case.settings if _sandbox(one.values).get("enabled") is True]
    ours = case.space.ours
    if not on:
        yield ok(SANDBOX, "off")
    elif any(_covers(glob, ours) for one in case.settings for glob in _writable(one.values)):
        yield ok(SANDBOX, f"on, with {case.shown(ours)} writable")
    elif any(_is_outside(one.values) for one in case.settings):
        yield ok(SANDBOX, "on, with `sisyphus` outside")
    else:
        yield warning(
            SANDBOX,
            f"{case.shown(on[-1].path)} switches it on: `sisyphus …` that the model runs cannot "
            f"write {case.shown(ours)} (hooks can)",
            f"In your user settings: {_ALLOW % case.shown(ours)}",
        )


def _sandbox(values: dict[str, object]) -> dict[str, object]:
    found = values.get("sandbox")
    return found if isinstance(found, dict) else {}


def _writable(values: dict[str, object]) -> list[str]:
    files = _sandbox(values).get("filesystem")
    listed = files.get("allowWrite") if isinstance(files, dict) else None
    return [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []


def _is_outside(values: dict[str, object]) -> bool:
    """Whether the model's calls of us are kept out of it: `sisyphus`, `sisyphus:*` or so."""
    names = _sandbox(values).get("excludedCommands")
    listed = names if isinstance(names, list) else []
    return any(isinstance(one, str) and _NAMED.match(one) for one in listed)


def _covers(glob: str, folder: str) -> bool:
    """A path of the client's settings: `//` and `~/` begin absolute ones."""
    whole = os.path.expanduser(f"/{glob.lstrip('/')}" if glob.startswith("/") else glob)
    top = whole.removesuffix("/**").rstrip("/")
    return bool(top) and (folder == top or folder.startswith(f"{top}/"))
