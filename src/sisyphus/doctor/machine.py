"""Python, and the console script that the hooks start."""

from __future__ import annotations

import os
import platform
import shlex
import sys

from sisyphus.doctor.finding import OK, WARNING, Finding, ok, problem, warning
from sisyphus.errors import UnreadableError
from sisyphus.install import script
from sisyphus.reading import read_head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sisyphus.doctor.case import Case

PYTHON, SCRIPT, SPEED = "python", "script", "speed"

OLDEST, NEWEST = (3, 11), (3, 13)
"""The versions that the tests run with."""

SLOW_MS, SLOWER = 10, 1.5
"""From where a shim is in the way: so much, and so many times, what our own script takes."""

_PAYLOAD = "{}"  # of no session: nothing is noted
_QUIET = "post-tool-use"
_HEAD_BYTES = 2_000
_PASSING = {".cache", "archive-v0"}  # where `pipx run` and `uvx` keep what they remove again
_MANAGERS = ("pyenv", "asdf", "mise", "rtx")
_REINSTALL = "`pipx install .` or `uv tool install .` in a checkout, then `sisyphus install`"
_WORDS = {
    "passing": "a copy that is removed again (uvx, pipx run)",
    "shell": "a shell script in front of Python",
    "old": "a wrapper that loads `re` first",
}
_HINTS = {
    "passing": _REINSTALL,
    "shell": _REINSTALL,
    "old": "Installed anew it starts a little faster",
}
"""Of the kinds of scripts."""


def python(_: Case) -> Iterator[Finding]:
    version, name = sys.version_info[:2], platform.python_version()
    if version < OLDEST:
        yield problem(PYTHON, f"{name} is too old", f"Install sisyphus with Python {_span()}")
    elif version > NEWEST:
        yield Finding(PYTHON, "ok", f"{name}, newer than those that sisyphus is tested with")
    else:
        yield ok(PYTHON, f"{name} ({sys.executable})")


def scripts(case: Case) -> Iterator[Finding]:
    """Which `sisyphus` is wired and which one a shell finds."""
    on_path = case.programs.which(script.NAME)
    named = [case.programs.which(hook.program) for hook in case.hooks if hook.program]
    for path in _once(named) or [on_path]:
        if path:
            yield _judged(path, on_path)
    if not on_path:
        yield warning(
            SCRIPT,
            "no `sisyphus` on your PATH",
            "`pipx ensurepath` or `uv tool update-shell`, then open a new terminal",
        )


def _judged(path: str, on_path: str) -> Finding:
    how = kind(path)
    text = f"{path}, {_WORDS[how]}" if how in _WORDS else path
    if how in _MANAGERS:
        text = f"{path}, a shim of {how}"
    beside = "" if path == on_path or not on_path else f"; a shell starts {on_path}"
    state = WARNING if how == "passing" else OK
    return Finding(SCRIPT, state, f"{text}{beside}", _HINTS.get(how, ""))


def kind(path: str) -> str:
    """What a script is: a version manager's name where it is its shim, "passing", "shell" or "old";
    "" = it starts Python directly."""
    real = os.path.realpath(path)
    for name in _MANAGERS:
        if os.path.basename(real).startswith(name) or _is_shim_of(name, path):
            return name
    if _PASSING.intersection([*path.split(os.sep), *real.split(os.sep)]):
        return "passing"
    return _by_content(real)


def _is_shim_of(name: str, path: str) -> bool:
    parts = path.split(os.sep)
    return "shims" in parts and any(part.lstrip(".") == name for part in parts)


def _by_content(path: str) -> str:
    try:
        head = read_head(path, _HEAD_BYTES)
    except UnreadableError:
        return ""
    first, _, rest = head.partition(b"\n")
    named = [name for name in _MANAGERS if f"{name} ".encode() in rest or f"/{name}" in str(rest)]
    if first.startswith(b"#!") and b"python" not in first and b"'''exec'" not in rest:
        return named[0] if named else "shell"
    return "old" if b"\nimport re\n" in b"\n" + rest else ""


def _once(paths: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(path for path in paths if path))


def speed(case: Case) -> Iterator[Finding]:
    """One hook with nothing to say, beside a Python that does nothing."""
    paths = _once(map(case.file, case.trusted)) or _once([case.programs.which(script.NAME)])
    bare = case.trials.bare_milliseconds()
    own = case.own
    for path in paths:
        is_other = own and os.path.realpath(path) != os.path.realpath(own)
        direct = _milliseconds(case, own) if is_other else None
        taken = _milliseconds(case, path)
        if taken is None:
            yield warning(SPEED, f"{path} could not be measured", "`sisyphus --version` says why")
        else:
            yield judge(path, taken, bare, direct)


def judge(path: str, taken: float, bare: float | None, direct: float | None) -> Finding:
    """`direct`: what our own script takes, where `path` is another one."""
    beside = f", bare Python {bare:.0f} ms" if bare else ""
    text = f"a quiet hook takes {taken:.0f} ms{beside}"
    if direct is None or taken < direct + SLOW_MS or taken < direct * SLOWER:
        return ok(SPEED, text)
    return warning(
        SPEED,
        f"{text}: {path} costs {taken - direct:.0f} ms at every hook",
        "`sisyphus install` writes the path of the script itself into the settings",
    )


def _milliseconds(case: Case, path: str) -> float | None:
    return case.trials.milliseconds(f"{shlex.quote(path)} hook {_QUIET}", _PAYLOAD)


def _span() -> str:
    return " to ".join(".".join(map(str, version)) for version in (OLDEST, NEWEST))
