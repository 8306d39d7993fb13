from __future__ import annotations

import errno
import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from making import COMMAND, ours, put

from sisyphus.cli import failures

if TYPE_CHECKING:
    from pathlib import Path

SHOWING = (
    ["why"], ["sessions"], ["ralph", "list"], ["boulder", "status"], ["config", "show"], ["--help"]
)  # fmt: skip


def _shell(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)


def _line(words: list[str], how: str) -> str:
    return f"'{COMMAND}' {' '.join(words)} {how}"


@pytest.mark.parametrize("words", SHOWING, ids=" ".join)
def test_a_closed_stdout_is_no_failure(home: Path, words: list[str]) -> None:
    put(ours(home, "logs/journal-s1.jsonl"), '{"event": "stop", "notes": ["a"]}\n')
    for how in (">&-", ">&- 2>&-"):
        done = _shell(_line(words, how))
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("words", SHOWING, ids=" ".join)
def test_a_full_disk_is_told_in_one_line(home: Path, words: list[str]) -> None:
    put(ours(home, "logs/journal-s1.jsonl"), '{"event": "stop", "notes": ["a"]}\n')
    done = _shell(_line(words, ">/dev/full"))
    assert done.returncode == 1
    assert done.stderr.startswith("error: what was to be written could not be: No space left")
    assert done.stderr.count("\n") == 1


def test_a_folder_that_cannot_be_used_is_told_in_one_line(home: Path, project: Path) -> None:
    put(ours(home, ""), "a file in its place")
    done = _shell(f"cd '{project}' && {_line(['enforce', 'on'], '')}")
    assert done.returncode == 1
    assert done.stderr == (
        "error: our state folder cannot be used: ~/.claude/.sisyphus: File exists. Something else "
        "is in its place: move that away.\n"
    )


WORDS = [
    pytest.param(
        OSError(errno.EACCES, "Permission denied", "{ours}/logs"),
        "our state folder cannot be used: ~/.claude/.sisyphus/logs: Permission denied. Give "
        "yourself the rights to ~/.claude/.sisyphus and what is in it.",
        id="no rights",
    ),
    pytest.param(
        OSError(errno.EIO, "Input/output error", "{ours}/logs"),
        "our state folder cannot be used: ~/.claude/.sisyphus/logs: Input/output error. "
        "`sisyphus doctor` looks further.",
        id="whatever",
    ),
    pytest.param(
        OSError(errno.EACCES, "Permission denied", "/x/plan.md"),
        "/x/plan.md cannot be used: Permission denied. Look at its rights.",
        id="elsewhere",
    ),
    pytest.param(
        OSError(errno.EACCES, "Permission denied", b"/x/plan.md"),
        "/x/plan.md cannot be used: Permission denied. Look at its rights.",
        id="in bytes",
    ),
    pytest.param(
        OSError(errno.ENOSPC, "No space left on device"),
        "what was to be written could not be: No space left on device. Make room where "
        "~/.claude/.sisyphus is, and where the output goes.",
        id="no room",
    ),
    pytest.param(
        OSError(errno.EIO, "Input/output error"),
        "the system refused something: Input/output error. Look at where the output goes, and try "
        "again.",
        id="nothing is known",
    ),
    pytest.param(
        OSError("odd"),
        "the system refused something: odd. Look at where the output goes, and try again.",
        id="in words alone",
    ),
]


@pytest.mark.parametrize(("error", "told"), WORDS)
def test_what_the_system_refused(home: Path, error: OSError, told: str) -> None:
    if isinstance(error.filename, str):
        error.filename = error.filename.replace("{ours}", str(ours(home, "")))
    assert failures.in_words(error) == told
