"""Tells which shell command lines run tests, so that their success proves something.

It knows the usual test commands by name, and scripts whose name says that they run tests. It is
strict: in `pytest | tail` or `pytest || true` the shell does not report how the tests ended, so
these prove nothing.
"""

import re
import shlex
from collections.abc import Collection

MAX_CHARACTERS = 4_000
"""The longest line that we read: we would not understand a whole script."""

TOOLS = frozenset((
    "pytest", "py.test", "tox", "nox", "jest", "vitest", "mocha", "ava", "tap", "karma", "rspec",
    "phpunit", "pest", "ctest", "bats", "trial", "stestr", "nose2", "behave", "gotestsum",
    "nextest", "testem",
))  # fmt: skip
"""Programs that run tests whatever their arguments are."""

SUBCOMMANDS = {
    "make": r"(?:tests?|check)\b.*", "gmake": r"(?:tests?|check)\b.*",
    "ninja": r"(?:test|check)", "just": r"(?:tests?|check)\b.*", "task": r"(?:tests?|check)\b.*",
    "npm": r"t|tst|test(?::.*)?", "yarn": r"test(?::.*)?", "pnpm": r"t|test(?::.*)?",
    "bun": r"test(?::.*)?", "deno": r"test", "composer": r"test(?::.*)?",
    "cargo": r"t|test", "go": r"test", "swift": r"test", "zig": r"test", "mix": r"test",
    "dotnet": r"test", "flutter": r"test", "dart": r"test", "bazel": r"test", "sbt": r"test",
    "stack": r"test", "cabal": r"test", "lein": r"test", "meson": r"test", "playwright": r"test",
    "cypress": r"run", "rake": r"test(?::.*)?|spec", "rails": r"test(?::.*)?",
    "hatch": r"test", "unittest": r".*", "manage.py": r"test",
    "mvn": r"test|verify|install|package", "mvnw": r"test|verify|install|package",
    "gradle": r"(?:.*:)?(?:test|check|build)", "gradlew": r"(?:.*:)?(?:test|check|build)",
}  # fmt: skip
"""Programs → which of their words say that they run tests."""

WRAPPERS = {
    "uv": 1, "poetry": 1, "pdm": 1, "pipenv": 1, "rye": 1, "hatch": 1, "pixi": 1,
    "npm": 1, "yarn": 1, "pnpm": 1, "bun": 1, "bundle": 1, "cargo": 1, "php": 0, "coverage": 1,
    "npx": 0, "bunx": 0, "uvx": 0, "env": 0, "time": 0, "nice": 0, "command": 0, "exec": 0,
    "sudo": 0, "timeout": 1, "xvfb-run": 0, "python": 0, "python3": 0,
}  # fmt: skip
"""Programs that run the command after them → how many words of their own come first, as the `run`
of `uv run`."""

SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh"))
"""Programs that run a script, or the command line after `-c`."""

_KIND = r"(?:all|unit|integration|e2e|smoke)"
_SCRIPT = re.compile(rf"(?:run[-_]?)?(?:{_KIND}[-_]?)?tests?(?:[-_]{_KIND})?(?:\.(?:sh|bash))?")
_RUNNER = re.compile(rf"run[-_]?(?:{_KIND}[-_]?)?tests?\.py")
"""Names of scripts that run tests. A `test.py` may be anything that somebody tries out."""

_TAKE_A_VALUE = frozenset((
    "--group", "--with", "--extra", "--python", "--project", "--directory", "--package", "-C", "-p",
))  # fmt: skip
"""Options of wrappers whose value is the next word."""

_WORDS_OF_WRAPPERS = re.compile(r"run|exec|x|dlx|tool|\d+(?:\.\d+)?[smh]?")
_RUNS_NOTHING = frozenset((
    "--help", "-h", "--version", "--collect-only", "--co", "--list", "--list-tests", "--listTests",
    "--no-run", "--dry-run", "-n", "--just-print", "--fixtures", "--showconfig",
))  # fmt: skip
_COUNTS = ("pytest", "py.test")
"""Programs whose `-n` is a number of workers; that of `make` prints what it would do."""

NO_PROOF = ("|", "||", "&", "|&", "!")
"""Operators after which the shell does not report how each command ended."""

_ENDS = (";", ";;")
_ASSIGNMENT = re.compile(r"\w+=")


def is_test(line: str) -> bool:
    """Tells whether a command line runs tests, and succeeds only if they pass."""
    if len(line) > MAX_CHARACTERS:
        return False
    try:
        words = split_words(line)
    except ValueError:  # a quote is not closed
        return False
    while words and words[-1] in _ENDS:
        words.pop()
    for end in _ENDS:  # the shell reports how the last command ended
        if end in words:
            words = words[len(words) - words[::-1].index(end) :]
    if any(word in NO_PROOF for word in words):
        return False
    return any(_runs_tests(command) for command in _split(words))


def split_words(line: str) -> list[str]:
    """Splits a command line as a shell does, operators apart; a line end is a `;`. Raises
    `ValueError` if a quote is not closed."""
    lexer = shlex.shlex(line.replace("\\\n", " "), posix=True, punctuation_chars=";&|<>\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    return [";" if word.strip("\n") == "" else word.strip("\n") for word in lexer]


def split_at(words: list[str], joints: Collection[str]) -> list[list[str]]:
    """Splits words into commands at these operators. Between two of them is an empty command."""
    commands: list[list[str]] = [[]]
    for word in words:
        if word in joints:
            commands.append([])
        else:
            commands[-1].append(word)
    return commands


def _split(words: list[str]) -> list[list[str]]:
    """Splits words at `&&`, without parentheses around groups."""
    commands: list[list[str]] = [[]]
    for word in words:
        if word == "&&":
            commands.append([])
        elif bare := word if " " in word else word.strip("(){}!"):
            commands[-1].append(bare)
    return commands


def _runs_tests(words: list[str]) -> bool:
    """Tells whether one command, which may be behind wrappers, runs tests."""
    while words:
        name = words[0].rpartition("/")[2]
        rest = [word for word in words[1:] if not word.startswith("-")]
        if name in SHELLS:
            return _shell_runs_tests(words[1:])
        if name in TOOLS or _is_script(words[0]) or _says_test(name, rest):
            idle = _RUNS_NOTHING - {"-n"} if name in _COUNTS or "pytest" in rest else _RUNS_NOTHING
            return not idle.intersection(words)
        if not _ASSIGNMENT.match(words[0]) and name not in WRAPPERS and not _is_python(name):
            return False
        words = _without_wrapper(words, WRAPPERS.get(name, 0))
    return False


def _shell_runs_tests(words: list[str]) -> bool:
    """Tells whether a shell with these words behind its name runs tests."""
    has_line = False
    while words and words[0].startswith("-"):
        has_line = has_line or re.fullmatch(r"-\w*c", words[0]) is not None
        if words[0] == "-n" or words[0].startswith("--"):
            return False  # it only checks the syntax, or does what we do not know
        words = words[2 if words[0].endswith("o") else 1 :]
    if has_line:
        return bool(words) and is_test(words[0])
    is_known = bool(words) and _is_script(f"./{words[0]}")
    return is_known and not _RUNS_NOTHING.intersection(words)


def _is_script(word: str) -> bool:
    """Tells whether a word is the path of a script that runs tests. `test` alone is a command of
    the system."""
    name = word.rpartition("/")[2]
    is_path = ("/" in word or "." in name) and not word.startswith(("/bin/", "/usr/bin/"))
    return bool(_RUNNER.fullmatch(name) or (is_path and _SCRIPT.fullmatch(name)))


def _says_test(name: str, rest: list[str]) -> bool:
    """Tells whether the words of a program say that it runs tests. rest: those that are no
    options."""
    pattern = SUBCOMMANDS.get(name)
    if pattern is None:
        return False
    if name == "unittest":
        return True
    if rest[:1] == ["run"] and name in ("npm", "yarn", "pnpm", "bun", "composer"):
        rest = rest[1:]
    is_target = name in ("make", "gmake", "ninja", "mvn", "mvnw", "gradle", "gradlew", "sbt")
    return any(re.fullmatch(pattern, word) for word in (rest if is_target else rest[:1]))


def _is_python(name: str) -> bool:
    return re.fullmatch(r"python[\d.]*|pypy[\d.]*|py", name) is not None


def _without_wrapper(words: list[str], own: int) -> list[str]:
    """Returns the command behind a wrapper, its options, and at most `own` words of it."""
    words = words[1:]
    while words and (words[0].startswith("-") or (own and _WORDS_OF_WRAPPERS.fullmatch(words[0]))):
        own -= not words[0].startswith("-")
        words = words[2 if words[0] in _TAKE_A_VALUE else 1 :]
    return words
