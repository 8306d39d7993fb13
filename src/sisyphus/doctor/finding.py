"""What a check found."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    State = Literal["ok", "warning", "problem"]

OK: State = "ok"
WARNING: State = "warning"
PROBLEM: State = "problem"


@dataclass(frozen=True)
class Finding:
    """One line of `sisyphus doctor`. `check`: its name, one or two words; `text`: one line; `hint`:
    what to do, commands in backticks; `fix` mends it without a risk and says what it did. It may
    raise `OSError` and `SisyphusError`."""

    check: str
    state: State
    text: str
    hint: str = ""
    fix: Callable[[], str] | None = None


def ok(check: str, text: str) -> Finding:
    return Finding(check, OK, text)


def warning(check: str, text: str, hint: str = "", fix: Callable[[], str] | None = None) -> Finding:
    return Finding(check, WARNING, text, hint, fix)


def problem(check: str, text: str, hint: str = "", fix: Callable[[], str] | None = None) -> Finding:
    return Finding(check, PROBLEM, text, hint, fix)


def count(number: int, what: str) -> str:
    """`1 file`, `2 files`"""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def typed(word: str) -> str:
    """A path or name as a shell takes it: hints are copied, and a stranger may have named a file.
    A `~/` at its beginning stays one. What cannot be printed is spelled out, as bash and zsh read
    it: `$'a\\x1bb'`."""
    home = "~/" if word.startswith("~/") else ""
    rest = word.removeprefix(home)
    return home + (shlex.quote(rest) if rest.isprintable() else f"$'{_spelled(rest)}'")


def _spelled(text: str) -> str:
    return "".join(c if _is_plain(c) else _bytes(c) for c in text)


def _is_plain(character: str) -> bool:
    return character.isprintable() and character not in "'\\"


def _bytes(character: str) -> str:
    """Some halves of a surrogate pair stand for a byte that is no UTF-8; no file has the others."""
    how = "surrogateescape" if "\udc80" <= character <= "\udcff" else "replace"
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", how))
