"""Finds the runs of a check in what a session has recorded: nothing is executed, so nobody has to
be trusted.

A run proves something only if the command line is that of the check, in the place where the check
runs. In `pytest | tail` and `pytest || true` the shell does not report how the tests ended, and
`pytest -k total` is another check.
"""

from __future__ import annotations

import os
import re
import shlex
from functools import lru_cache

from sisyphus.boulder.evidence import FAILED, NO_TEST, PASSED, RUNNING
from sisyphus.sessions import checks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.boulder.actions import Action

NOTHING, SUCCESS, ALL = "nothing", "success", "all"
"""What the end of a command line says of the check in it. SUCCESS: if it succeeds, the check has
passed; if not, another command may have failed."""

_CD = re.compile(r"\s*cd\s+(?:\"([^\"]*)\"|'([^']*)'|([^\s;&|<>\"']+))\s*(?:&&|;|\n)\s*")
_JOINED_OUTPUT = re.compile(r"\s2>&1(?=\s|$)")
_OUTPUT_OPTION = re.compile(
    r"--(?:verbose|quiet|silent|showlocals|no-header|no-summary|nocapture"
    r"|(?:tb|colou?r|durations)(?:=\w+)?)?"
)
_SHORT_OPTIONS = {
    "pytest": re.compile(r"-(?:v+|q+|x|s|l|r\w+)|--exitfirst"),
    "unittest": re.compile(r"-[vqfb]"),
    "go": re.compile(r"-v"),
    "cargo": re.compile(r"-[vq]"),
}
"""The options of test commands that only change what is printed, and `--` before those of a runner
that another one calls. `-v` makes many other runners print their version."""

_WITH_VALUE = ("--tb", "--color", "--colour", "--durations")
_OPTION_VALUE = re.compile(r"auto|short|line|long|native|no|yes|always|never|\d+")

_HARMLESS = [words.split() for words in (
    "ruff", "mypy", "pyright", "black", "isort", "flake8", "eslint", "prettier", "tsc", "gofmt",
    "echo", "ls", "cat", "pwd", "date", "mkdir", "test", "[", "git status", "git diff", "git log",
    "git add", "git commit", "pip install", "uv sync", "poetry install", "npm ci", "npm install",
    "npm run", "cargo build", "cargo fmt", "cargo clippy", "go build", "go vet", "go fmt",
)]  # fmt: skip
"""Commands that may run before a check, with `&&`, and leave it as it is."""

_MOST_CHANGES = 5
"""The most `cd` before a check that are followed."""


def ended(command: str, action: Action, project: str) -> str:
    """Returns how the check ended in an action; "" = that says nothing of it."""
    proof = proof_of(command, action.line, action.folder, project) if action.line else NOTHING
    if proof == NOTHING:
        return ""
    if not action.is_over:
        return RUNNING
    if action.is_error:
        return FAILED if proof == ALL else ""
    from sisyphus.sessions.no_tests import ran_no_test  # imported late: few ticks get here

    return NO_TEST if ran_no_test(command, action.output) else PASSED


def proof_of(command: str, line: str, folder: str, project: str) -> str:
    """Returns what the end of a command line says of a check, see `ALL`. folder: where the line
    runs, "" = unknown."""
    if command.split(maxsplit=1)[0] not in line or len(line) > checks.MAX_CHARACTERS:
        return ALL if line.strip() == command.strip() and folder in ("", project) else NOTHING
    folder, wanted = folder or project, " ".join(command.split())
    for _ in range(_MOST_CHANGES):
        if " ".join(line.split()) == wanted and _is_same_folder(folder, project):
            return ALL
        found = _CD.match(line)
        if not found:
            break
        name = found[1] or found[2] or found[3]
        line, folder = line[found.end() :], os.path.join(folder, os.path.expanduser(name))
    if not _is_same_folder(folder, project) or len(command) > checks.MAX_CHARACTERS:
        return NOTHING
    try:
        parts = _commands(_JOINED_OUTPUT.sub(" ", line))
        return _proof(parts, _commands(command), is_test=checks.is_test(command))
    except ValueError:  # a quote is not closed
        return NOTHING


def _proof(parts: list[list[str]], wanted: list[list[str]], *, is_test: bool) -> str:
    """Returns what commands that are joined by `&&` say of those that are wanted."""
    for start in range(len(parts) - len(wanted) + 1 if wanted else 0):
        if _is_same(parts[start : start + len(wanted)], wanted, is_test=is_test):
            return ALL if len(parts) == len(wanted) else SUCCESS
        if not _is_harmless(parts[start]):
            break  # it may change what the next one does, as `exit`, `alias` and `git stash`
    return NOTHING


def _is_harmless(words: list[str]) -> bool:
    is_listed = words[:1] in _HARMLESS or words[:2] in _HARMLESS
    is_activation = words[:1] in (["."], ["source"]) and words[-1].endswith("/bin/activate")
    return is_listed or is_activation or checks.is_test(shlex.join(words))


def _is_same_folder(folder: str, project: str) -> bool:
    return os.path.realpath(folder) == os.path.realpath(project)


@lru_cache(2_000)  # each check looks at each line
def _commands(line: str) -> list[list[str]]:
    """Returns the commands that are joined by `&&`; none if others than these join them."""
    words = checks.split_words(line)
    while words and words[-1] == ";":
        words.pop()
    if any(word in (*checks.NO_PROOF, ";", ">", ">>") for word in words):
        return []
    return checks.split_at(words, ("&&",))


def _is_same(parts: list[list[str]], wanted: list[list[str]], *, is_test: bool) -> bool:
    """Tells whether these commands are the wanted ones, the last of a test perhaps with options
    that only change what it prints."""
    if parts[:-1] != wanted[:-1] or parts[-1][: len(wanted[-1])] != wanted[-1]:
        return False
    more = parts[-1][len(wanted[-1]) :]
    names = {word.rpartition("/")[2].replace("py.test", "pytest") for word in wanted[-1]}
    short = [pattern for name, pattern in _SHORT_OPTIONS.items() if name in names]
    return not more or (
        is_test
        and all(
            _OUTPUT_OPTION.fullmatch(word)
            or any(pattern.fullmatch(word) for pattern in short)
            or (before in _WITH_VALUE and _OPTION_VALUE.fullmatch(word))
            for before, word in zip(["", *more], more, strict=False)
        )
    )
