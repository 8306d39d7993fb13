"""Installs what the end-to-end tests need, into `.e2e` of the checkout.

`.e2e/venv` has pytest, Playwright, and sisyphus as users get it, built and installed again each
time; its browser is the system's (`chromium.py`);
`.e2e/claude-code`, `.e2e/opencode`, `.e2e/codex` and `.e2e/qwen` have the pinned clients from npm.
`CLAUDE_CLIENT`, `OPENCODE_CLIENT`, `CODEX_CLIENT` and `QWEN_CLIENT` name other binaries of any
version. If it fails, it prints one line to stderr and exits 1.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[1]
VENV = CHECKOUT / ".e2e" / "venv"


class InstallError(Exception):
    """Something is missing. The text is one line for the developer who ran `make e2e`."""


@dataclass(frozen=True)
class Package:
    """A client in `package.json`.

    program: its path in `node_modules`; `*` stands for the platform. variable: of the environment,
    names another binary. setup: the script of the package that puts the program there; npm may be
    set to run none.
    """

    name: str
    folder: Path
    program: str
    variable: str
    setup: str = ""

    @property
    def version(self) -> str:
        manifest = json.loads((HERE / "package.json").read_text(encoding="utf-8"))
        return str(manifest["dependencies"][self.name])

    @property
    def modules(self) -> Path:
        return self.folder / "node_modules"

    @property
    def installed(self) -> Path:
        return next(self.modules.glob(self.program), self.modules / self.program)

    @property
    def binary(self) -> Path:
        return Path(os.environ.get(self.variable) or self.installed)


CLAUDE_CODE = Package(
    "@anthropic-ai/claude-code",
    CHECKOUT / ".e2e" / "claude-code",
    "@anthropic-ai/claude-code/bin/claude.exe",  # its name on every system
    "CLAUDE_CLIENT",
)
OPENCODE = Package(
    "opencode-ai",
    CHECKOUT / ".e2e" / "opencode",
    "opencode-ai/bin/opencode.exe",  # its name on every system
    "OPENCODE_CLIENT",
    setup="postinstall.mjs",
)
CODEX = Package(
    "@openai/codex",
    CHECKOUT / ".e2e" / "codex",
    "@openai/codex-*/vendor/*/bin/codex",  # an optional package for each platform
    "CODEX_CLIENT",
)
COPILOT = Package(
    "@github/copilot",
    CHECKOUT / ".e2e" / "copilot",
    "@github/copilot-*/copilot",  # an optional package for each platform
    "COPILOT_CLIENT",
)
QWEN = Package(
    "@qwen-code/qwen-code",
    CHECKOUT / ".e2e" / "qwen",
    "@qwen-code/qwen-code/cli-entry.js",  # a script that `node` on the PATH runs
    "QWEN_CLIENT",
)


def version_of(binary: Path) -> str:
    """Returns the number that `--version` prints; "" if the binary does not run."""
    with tempfile.TemporaryDirectory() as home:
        try:
            done = subprocess.run(
                [binary, "--version"],
                env={"HOME": home, "PATH": os.environ.get("PATH", os.defpath)},
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
        except OSError:
            return ""
    return next((word for word in done.stdout.split() if word[0].isdigit()), "").rstrip(".")


def ensure(package: Package) -> None:
    if named := os.environ.get(package.variable):
        if not version_of(Path(named)):
            raise InstallError(f"{package.variable} names {named}, which does not run")
        return
    if version_of(package.installed) != package.version:
        _install_from_npm(package)
    if package.setup and version_of(package.installed) != package.version:
        root = package.modules / package.name
        _run("node", str(root / package.setup), folder=root)
    if version_of(package.installed) != package.version:
        raise InstallError(
            f"npm left no {package.name} {package.version} that runs at {package.installed}; "
            f"name one that does in {package.variable}"
        )


def _install_from_npm(package: Package) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise InstallError(
            f"npm is not on PATH: install Node.js, or name a client in {package.variable}"
        )
    shutil.rmtree(package.folder, ignore_errors=True)
    package.folder.mkdir(parents=True)
    manifest = {"private": True, "dependencies": {package.name: package.version}}
    (package.folder / "package.json").write_text(json.dumps(manifest), encoding="utf-8")
    quiet = ("--loglevel=error", "--no-audit", "--no-fund", "--no-package-lock")
    options = ("--include=optional", "--fetch-retries=1")  # the binary of the platform is optional
    _run(npm, "install", *options, *quiet, folder=package.folder)


def install_sisyphus() -> None:
    """Builds a wheel and installs it: tests must see what users get, not the checkout."""
    _run(sys.executable, "-m", "venv", str(VENV))
    python = str(VENV / "bin" / "python")
    pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    _run(*pip, "pytest>=8", "pytest-xdist>=3.6", "playwright>=1.50")
    _run(*pip, "--force-reinstall", "--no-deps", str(CHECKOUT))
    _run(*pip, f"{CHECKOUT}[dashboard]")  # what it depends on


def ensure_browser() -> None:
    python = str(VENV / "bin" / "python")
    done = subprocess.run(
        [python, "-m", "e2e.chromium"], cwd=HERE.parent, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise InstallError(done.stderr.strip().rpartition("\n")[2])


def _run(*command: str, folder: Path = CHECKOUT) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        gist = "; ".join((done.stderr or done.stdout).strip().splitlines()[-4:])
        raise InstallError(f"`{' '.join(command)}` failed: {gist}")


def main() -> int:
    try:
        ensure(CLAUDE_CODE)
        ensure(OPENCODE)
        ensure(CODEX)
        ensure(QWEN)
        ensure(COPILOT)
        install_sisyphus()
        ensure_browser()
    except (InstallError, OSError, subprocess.SubprocessError) as error:
        sys.stderr.write(f"error: the end-to-end tests cannot run: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
