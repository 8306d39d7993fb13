"""The interpreters to run the tests on, as absolute paths, one a line: for `make test-all`.

    python tools/pythons.py python3.11 python3.12 …

Each is started, because a name on PATH proves nothing: pyenv puts a `python3.12` there for every
version that it has, and where that version is not switched on it fails. Such a one is taken from
where pyenv has it. What cannot run is told of all at once, before the first test; exit code 1.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

OLDEST = (3, 11)
WHAT_TO_DO = "Install it, or name Pythons from 3.11 on that you have: make test-all PYTHONS=…"

_WHO = "import sys; print(sys.executable, *sys.version_info[:2], sep='\\n')"


def find(name: str) -> str:
    """The interpreter's own path. Raises `LookupError`, which says what to do."""
    on_path = shutil.which(name)
    if on_path is None:
        raise LookupError(f"{name}: there is no such command on PATH. {WHAT_TO_DO}")
    answer, complaint = _ask(on_path)
    for elsewhere in [] if answer else _of_pyenv(name):
        answer = answer or _ask(elsewhere)[0]
    if not answer:
        raise LookupError(f"{on_path} does not run: {complaint}. {WHAT_TO_DO}")
    path, major, minor = answer
    if (int(major), int(minor)) < OLDEST:
        raise LookupError(f"{name} is Python {major}.{minor}. {WHAT_TO_DO}")
    if complaint:
        print(f"{name} is not switched on in pyenv here: taking {path}", file=sys.stderr)
    return path


def _of_pyenv(name: str) -> list[str]:
    """Where pyenv has it, the newest first; [] without pyenv."""
    if shutil.which("pyenv") is None:
        return []
    ran = _run("pyenv", "whence", "--path", name)
    return [line for line in reversed(ran.stdout.splitlines()) if os.path.isabs(line)]


def _ask(path: str) -> tuple[list[str], str]:
    """Its path and version in three words, or none and the first line of its complaint."""
    try:
        ran = _run(path, "-c", _WHO)
    except OSError as error:
        return [], str(error)
    if ran.returncode == 0:
        return ran.stdout.split("\n")[:3], ""
    return [], (ran.stderr.strip() or f"exit code {ran.returncode}").split("\n")[0]


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def main(names: list[str]) -> int:
    paths, faults = [], []
    for name in names:
        try:
            paths.append(find(name))
        except LookupError as error:
            faults.append(error)
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    if faults:
        return 1
    print(*paths, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
