"""Makes what the end-to-end tests need, in `.e2e` of the checkout.

`.e2e/venv` holds sisyphus as users get it, built and installed anew each time, and pytest;
`.e2e/client` the pinned client, installed once. With `CLAUDE_CLIENT` set that client is taken as it
is, whatever its version. What fails is said in one line on stderr, and the exit code is 1.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[1]
VENV = CHECKOUT / ".e2e/venv"
CLIENT = CHECKOUT / ".e2e/client"
PACKAGE = "@anthropic-ai/claude-code"
BINARY = CLIENT / "node_modules" / PACKAGE / "bin/claude.exe"  # its name on every system


class InstallError(Exception):
    """What is missing, in one line for whoever ran `make e2e`."""


def pinned_version() -> str:
    manifest = json.loads((HERE / "package.json").read_text(encoding="utf-8"))
    return str(manifest["dependencies"][PACKAGE])


def version_of(client: Path) -> str:
    """What `claude --version` says first; "" where it does not run."""
    with tempfile.TemporaryDirectory() as home:
        try:
            done = subprocess.run(
                [client, "--version"],
                env={"HOME": home, "PATH": os.defpath},
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
        except OSError:
            return ""
    return done.stdout.partition(" ")[0].strip()


def install_sisyphus() -> None:
    _run(sys.executable, "-m", "venv", str(VENV))
    python = str(VENV / "bin/python")
    _run(python, "-m", "pip", "install", "--quiet", str(CHECKOUT), "pytest")


def install_client() -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise InstallError("npm is not on PATH; install Node.js, or name a client in CLAUDE_CLIENT")
    shutil.rmtree(CLIENT, ignore_errors=True)
    CLIENT.mkdir(parents=True)
    shutil.copy(HERE / "package.json", CLIENT)
    quiet = ("--loglevel=error", "--no-audit", "--no-fund", "--no-package-lock")
    _run(npm, "install", "--fetch-retries=1", *quiet, cwd=CLIENT)
    if version_of(BINARY) != pinned_version():
        raise InstallError(f"npm install left no client {pinned_version()} that runs at {BINARY}")


def _run(*command: str, cwd: Path = CHECKOUT) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        gist = "; ".join((done.stderr or done.stdout).split("\n")[:4])
        raise InstallError(f"`{' '.join(command)}` failed: {gist}")


def ensure_client() -> None:
    named = os.environ.get("CLAUDE_CLIENT")
    if named and not version_of(Path(named)):
        raise InstallError(f"CLAUDE_CLIENT names {named}, which does not run")
    if not named and version_of(BINARY) != pinned_version():
        install_client()


def main() -> int:
    try:
        ensure_client()
        install_sisyphus()
    except (InstallError, OSError, subprocess.SubprocessError) as error:
        sys.stderr.write(f"error: the end-to-end tests cannot run: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
