"""The files of a loop's check: digested when the loop starts, compared each time before the check
runs.

The agent could make its check pass by emptying it, so we list the changed files with the result.
That accuses nobody: a new test may be right.
"""

import fnmatch
import os
import re
import shlex
from collections.abc import Iterable, Iterator
from itertools import islice

from sisyphus.ground import files
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.record import Record
from sisyphus.ground.text import fingerprint

MAX_FILES = 2_000
MAX_BYTES = 20_000_000
"""The most that we digest, all files together: about 0.1 s. The rest is compared by size."""

MAX_CHARACTERS, MAX_CHARACTERS_IN_ALL = 50_000, 400_000
"""How much of a script and of all scripts we search for what they run: two seconds at most."""

MAX_FOLDERS = 10
"""The most folders in which one script may run others."""

MAX_WALKED = 200_000
"""The most files of a project among which we look for tests: about two seconds."""

MAX_MATCHED_FOLDERS = 50
"""The most folders in which we look for what a pattern of the command means."""


class _Runner(Record):
    """A test runner: the files that configure it, and the patterns of its tests and of what
    configures them in other folders. A pattern without a slash is one of names."""

    files: tuple[str, ...]
    tests: tuple[str, ...] = ()


_PYTEST = _Runner(
    ("pytest.py", "pytest/__init__.py", "pytest/__main__.py", "unittest.py", "conftest.py",
     "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"),
    ("test_*.py", "*_test.py", "conftest.py", "pytest.ini", ".pytest.ini", "sitecustomize.py",
     "usercustomize.py"),
)  # fmt: skip
_NODE = _Runner(
    ("package.json", ".npmrc"),
    ("*.test.*", "*.spec.*", "jest.config.*", "vitest.config.*", "*/__tests__/*", "*/test/*.[jt]s"),
)
_RUNNERS = {
    "pytest": _PYTEST,
    "unittest": _PYTEST,
    "tox": _PYTEST,
    "make": _Runner(("Makefile", "makefile", "GNUmakefile")),
    "npm": _NODE,
    "pnpm": _NODE,
    "yarn": _NODE,
    "npx": _NODE,
    "jest": _NODE,
    "vitest": _NODE,
    "cargo": _Runner(
        ("Cargo.toml", "build.rs", ".cargo/config.toml", ".cargo/config"),
        ("Cargo.toml", "*/tests/*.rs"),
    ),
    "go": _Runner(("go.mod", "go.work"), ("*_test.go",)),
    "just": _Runner(("justfile", "Justfile")),
}

_INTERPRETERS = ("sh", "bash", "zsh", "python", "python3", "node", "ruby", "perl", "source", ".")
_INCLUDES = ("include", "-include")
_IMPORTS = ("-m", "import", "from")
_FOLDER_OPTIONS = ("cd", "-C", "--directory", "--prefix", "--cwd", "--rootdir", "--project")
"""Words before the name of a file, of a Python module, and of the folder where the rest runs."""

_BEFORE_A_NAME = {*_INCLUDES, *_IMPORTS, *_FOLDER_OPTIONS}
"""Options that say what the next word is; others may stand between an interpreter and its
script."""

_HOME = re.compile(r"\$HOME\b|\$\{HOME\}")
_OUTPUT = re.compile(r"\d?>>?\s*(?![&(])\S+")
_GLUED = re.compile(r"^(-[A-Za-z])(?=[\w./~])")
"""`-fMakefile.ci`: an option and what it names in one word."""

_MAGIC = re.compile(r"[*?\[]")
_LETTER = re.compile(r"\w")

_SEPARATORS = r"[\s;&|=<>]+"
_SEPARATORS_IN_FILES = r"[\s;&|=<>\"'`,()\[\]{}]+|:(?=[\"'\s])"
_PUNCTUATION = "\"'`,;()[]{}@$<>|&"
_SKIPPED_FOLDERS = {".git", "node_modules", ".venv", "venv", "__pycache__", "target", "dist"}


def digest_files(command: str, project: str) -> dict[str, str]:
    """Returns the files of a check and their digests; "" = missing. Paths are relative to the
    project. Of a file outside of it, which only the command itself can name, we take the digest and
    do not ask what it runs."""
    words = _words(command)
    runners = _runners(words)
    paths = [path for folder in _folders(words) for path in _in_command(words, project, folder)]
    patterns = [pair for pair in _pairs(words) if _is_pattern(pair[1], command)]
    paths += [path for folder in _folders(words) for path in _meant(patterns, project, folder)]
    paths += _configuration(words, project)
    paths = list(dict.fromkeys(paths))
    room = MAX_CHARACTERS_IN_ALL
    for path in paths:  # it grows: a script may run another one
        text = _text(path, project)[: min(room, MAX_CHARACTERS)]
        room -= len(text)
        words, folder = _words_in(text), os.path.dirname(path)
        runners += _runners(words)
        found = [*_scripts(words, project, folder), *_configuration(words, project, folder)]
        paths += [each for each in dict.fromkeys(found) if each not in paths]
    paths += _matching(project, [pattern for runner in runners for pattern in runner.tests])
    return _digests(list(dict.fromkeys(paths))[:MAX_FILES], project)


def changed(before: dict[str, str], command: str, project: str) -> list[str]:
    """Returns the files that have changed since `before`, including new ones."""
    digests = digest_files(command, project)
    digests |= _digests([path for path in before if path not in digests], project)
    return sorted(path for path in digests if before.get(path, "") != digests[path])


def _words(command: str) -> list[str]:
    """Returns the words of a command, then those of the commands that it quotes or joins. What it
    writes to is left out."""
    command = _OUTPUT.sub(" ", _HOME.sub("~", command))
    try:
        words = shlex.split(command, comments=False)
    except ValueError:
        words = command.split()
    pieces = [piece for word in words for piece in re.split(_SEPARATORS, word)]
    glued = [part for word in pieces for part in _GLUED.sub(r"\1 ", word).split()]
    return [word for piece in [*words, *glued] if (word := piece.strip(_PUNCTUATION))]


def _text(name: str, project: str) -> str:
    try:
        return files.read(os.path.join(project, name), inside=project)
    except UnreadableError:
        return ""


def _words_in(text: str) -> list[str]:
    """Returns the words of a Makefile, a package.json or a script."""
    pieces = re.split(_SEPARATORS_IN_FILES, text)
    return [word for piece in pieces if (word := piece.strip(_PUNCTUATION))]


def _pairs(words: list[str]) -> Iterator[tuple[str, str]]:
    """Yields each word after the one before it, options left out; before the first word is an
    empty one."""
    before = ""
    for word in words:
        yield before, word
        if not word.startswith("-") or word in _BEFORE_A_NAME:
            before = word


def _runners(words: list[str]) -> list[_Runner]:
    return [_RUNNERS[name] for word in words if (name := os.path.basename(word)) in _RUNNERS]


def _folders(words: list[str], start: str = "") -> list[str]:
    """Returns the folders in which a part of a command or script may run: the project, that of the
    script, and those that it changes to, one after the other."""
    folders = ["", start]
    for before, word in _pairs(words):
        if before in _FOLDER_OPTIONS and len(folders) < MAX_FOLDERS:
            folders += [word, os.path.join(folders[-1], word)]
    return list(dict.fromkeys(folders))


def _configuration(words: list[str], project: str, start: str = "") -> list[str]:
    """Returns the paths of the files that configure the runners in a command or script."""
    names = [name for runner in _runners(words) for name in runner.files]
    folders = _folders(words, start)
    return [path for folder in folders for path in _inside(names, project, folder)]


def _in_command(words: list[str], project: str, folder: str) -> Iterator[str]:
    """Yields the files that a command names or imports if it runs in `folder`."""
    for before, word in _pairs(words):
        module = word.replace(".", "/")
        modules = [f"{module}.py", f"{module}/__main__.py", f"{module}/__init__.py"]
        for name in [word.partition("::")[0], *(modules if before in _IMPORTS else ())]:
            if path := _named(os.path.join(folder, name), project):
                yield path


def _named(name: str, project: str) -> str:
    """Returns the path of a file: relative to the project, or absolute if it is outside; "" = it is
    no file."""
    path = os.path.normpath(os.path.join(project, os.path.expanduser(name)))
    is_outside = not path.startswith(project.rstrip(os.sep) + os.sep)
    if is_outside and os.path.isfile(path):
        return path
    return _in_project(path, project)


def _is_pattern(word: str, command: str) -> bool:
    """Tells whether a shell replaces a word by the files that it matches. One of `*` alone names
    nothing in particular."""
    is_quoted = f'"{word}"' in command or f"'{word}'" in command
    last = os.path.basename(word)
    return bool(_MAGIC.search(word)) and bool(_LETTER.search(last)) and not is_quoted


def _meant(patterns: list[tuple[str, str]], project: str, folder: str) -> Iterator[str]:
    """Yields the programs and tests that these patterns match in a folder. What a check only looks
    at, as `grep sum *.py` does, is the work itself. patterns: each after the word before it."""
    for before, pattern in patterns:
        is_run = os.path.basename(before) in (*_INTERPRETERS, *_RUNNERS)
        path = os.path.expanduser(os.path.join(folder, pattern))
        for match in _matches(os.path.normpath(os.path.join(project, path))):
            name = _named(match, project)
            if name and (is_run or os.access(match, os.X_OK)):
                yield name


def _matches(pattern: str) -> list[str]:
    """Returns the paths that match an absolute pattern, as a shell finds them."""
    paths = [os.sep]
    for part in pattern.split(os.sep)[1:]:
        if not _MAGIC.search(part):
            paths = [os.path.join(path, part) for path in paths]
            continue
        inner = [each for path in paths[:MAX_MATCHED_FOLDERS] for each in files.entries(path)]
        paths = [each.path for each in inner if fnmatch.fnmatchcase(each.name, part)][:MAX_FILES]
    return paths


def _inside(names: Iterable[str], project: str, folder: str) -> Iterator[str]:
    """Yields the paths of these names in `folder`, unless that is outside the project."""
    for name in names:
        path = os.path.normpath(os.path.join(project, folder, name))
        if path.startswith(project.rstrip(os.sep) + os.sep):
            yield os.path.relpath(path, project)


def _in_project(name: str, project: str) -> str:
    """Returns the relative path of a file of the project; "" = it is not one."""
    path = os.path.normpath(os.path.join(project, name))
    is_file = os.path.isfile(path) or os.path.islink(path)
    is_inside = path.startswith(project.rstrip(os.sep) + os.sep)
    return os.path.relpath(path, project) if is_file and is_inside else ""


def _scripts(words: list[str], project: str, start: str) -> Iterator[str]:
    """Yields the files of the project that a Makefile, a package.json or a script runs or
    includes. start: its folder."""
    folders = _folders(words, start)
    for before, word in _pairs(words):
        is_script = os.path.basename(before) in _INTERPRETERS or before in _INCLUDES
        module = word.replace(".", "/")
        names = [f"{module}.py", f"{module}/__main__.py"] if before == "-m" else [word]
        for name in names if is_script or before == "-m" or "/" in word else ():
            for folder in folders:
                path = _in_project(os.path.join(folder, name), project)
                is_program = path and os.access(os.path.join(project, path), os.X_OK)
                if path and (is_program or is_script or before == "-m" or name.startswith("./")):
                    yield path


def _matching(project: str, patterns: list[str]) -> Iterator[str]:
    """Yields the files of the project that match one of the patterns."""
    if not patterns:
        return
    is_path = _pattern([each for each in patterns if "/" in each])
    is_name = _pattern([each for each in patterns if "/" not in each])
    root = project.rstrip(os.sep)
    for path in islice(files.walk(project, _SKIPPED_FOLDERS), MAX_WALKED):
        relative = path.removeprefix(root)
        if is_name.match(os.path.basename(path)) or is_path.match(relative):
            yield relative[1:]


def _pattern(globs: list[str]) -> re.Pattern[str]:
    """Returns an expression that matches what one of the globs matches."""
    return re.compile("|".join(map(fnmatch.translate, dict.fromkeys(globs))) or r"(?!)")


def _digests(names: list[str], project: str) -> dict[str, str]:
    room = MAX_BYTES
    digests = {}
    for name in names:
        path = os.path.join(project, name)
        digests[name] = _digest(path, room)
        room -= size if (size := _size(path)) <= room else 0
    return digests


def _digest(path: str, limit: int) -> str:
    """Returns a digest of a file, or its size if it has more than `limit` bytes; "" = missing. It
    says where a link leads, and whether the file is a program."""
    kind = ""
    try:
        kind = f"link {os.readlink(path)} " if os.path.islink(path) else ""
        with files.open_regular(path) as file:
            data = file.read(limit + 1)
            kind += "program " if os.fstat(file.fileno()).st_mode & 0o111 else ""
    except (OSError, ValueError):
        return kind
    return kind + (f"size {_size(path)}" if len(data) > limit else fingerprint(data))


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0
