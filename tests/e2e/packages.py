"""Sisyphus as it is given away: the archives of a release, and what installers make of them.

Offline: what pip, pipx and uv would download is in `.e2e/wheels` (see `install.py`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from e2e.client import TIME_LIMIT
from e2e.install import CHECKOUT, TOOLS, WHEELS, ensure_tools

if TYPE_CHECKING:
    from pathlib import Path

PYTHON = getattr(sys, "_base_executable", sys.executable)  # in no environment
LITTER = (
    *(".e2e/venv/a.py", ".venv-3.12/a.py", "dist/old.whl", ".env", "notes.txt", ".coverage.a.1"),
    *("src/sisyphus/__pycache__/a.pyc", "tests/e2e/.pytest_cache/a", "docs/__pycache__/a.pyc"),
    *("commands/.ralph-loop.md.swp", ".claude-plugin/plugin.json.orig"),
)
"""What lies about in a checkout that was worked in, and is nobody else's business."""


@dataclass(frozen=True)
class Release:
    """A tree, the archives built from it, and the wheel that the source archive becomes.

    `files`: those of the tree, without its litter.
    """

    files: set[str]
    sdist: Path
    wheel: Path
    wheel_of_sdist: Path


def build(folder: Path) -> Release:
    """Builds a copy of the checkout to which litter was added, in an environment that pip makes."""
    tree = folder / "tree"
    ignored = [line.strip("/") for line in (CHECKOUT / ".gitignore").read_text("utf-8").split()]
    shutil.copytree(CHECKOUT, tree, ignore=shutil.ignore_patterns(".git", *ignored))
    files = {str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file()}
    for name in LITTER:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text("litter")
    ensure_tools()
    for target, options in (("both", ()), ("direct", ("--wheel",))):
        command = (TOOLS / "pipx/bin/pyproject-build", *options, "--outdir", folder / target, tree)
        run(command, environment(folder))
    both, direct = folder / "both", folder / "direct"
    (sdist,), (wheel,) = both.glob("*.tar.gz"), direct.glob("*.whl")
    return Release(files, sdist, wheel, both / wheel.name)


def texts_of_wheel(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def names_of_sdist(sdist: Path) -> set[str]:
    """The files, without the folder that all of them are in."""
    with tarfile.open(sdist) as archive:
        return {member.name.partition("/")[2] for member in archive if member.isfile()}


def environment(folder: Path) -> dict[str, str]:
    """Of a user whose home is `folder/home`, and whose installers have theirs beside it.

    No PATH of the caller's on which a sisyphus is already, none of his configuration.
    """
    home = folder / "home"
    home.mkdir(exist_ok=True)
    others = os.environ["PATH"].split(os.pathsep)
    others = [place for place in others if not shutil.which("sisyphus", path=place)]
    return {
        "HOME": str(home),
        "PATH": os.pathsep.join([str(folder / "bin"), *others]),
        "LANG": "C.UTF-8",
        "XDG_CACHE_HOME": str(folder / "cache"),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(WHEELS),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIPX_HOME": str(folder / "pipx"),
        "PIPX_BIN_DIR": str(folder / "bin"),
        "PIPX_DEFAULT_PYTHON": PYTHON,
        "UV_NO_CONFIG": "1",
        "UV_OFFLINE": "1",
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": str(WHEELS),
        "UV_PYTHON": PYTHON,
        "UV_TOOL_DIR": str(folder / "uv"),
        "UV_TOOL_BIN_DIR": str(folder / "bin"),
    }


def run(
    command: tuple[str | Path, ...], environment: dict[str, str], cwd: Path | None = None
) -> str:
    """What it prints. Fails where it fails."""
    ran = subprocess.run(
        command,
        cwd=cwd or environment["HOME"],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
        check=False,
    )
    assert ran.returncode == 0, f"{command}: {ran.returncode}\n{ran.stdout}{ran.stderr}"
    return ran.stdout


def refusal(command: tuple[str | Path, ...], environment: dict[str, str]) -> tuple[int, str]:
    """Exit code and stderr of a command that fails."""
    ran = subprocess.run(
        command,
        cwd=environment["HOME"],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
        check=False,
    )
    return ran.returncode, ran.stderr


@dataclass(frozen=True)
class Installer:
    """A program that gives users a command of its own environment; `words` come after its name."""

    program: str
    words: tuple[str, ...] = ()

    def __call__(self, environment: dict[str, str], *words: str | Path) -> str:
        return run((TOOLS / self.program / "bin" / self.program, *self.words, *words), environment)


PIPX = Installer("pipx")
UV = Installer("uv", ("tool",))
