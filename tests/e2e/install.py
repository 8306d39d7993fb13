"""Makes what the end-to-end tests need, in `.e2e` of the checkout.

`.e2e/venv` holds sisyphus as users get it, with its dashboard, built and installed anew each time,
and what tests it; `.e2e/client` and `.e2e/opencode` the pinned clients, and `.e2e/axe` a judge of
web pages, installed once; `.e2e/tools` the programs by which users install sisyphus, and
`.e2e/wheels` what these would download, once for each state of `pyproject.toml`. A client that
`CLAUDE_CLIENT` or `OPENCODE_CLIENT_BINARY` names is taken as it is, whatever its version; Chromium
is the system's (see `chromium.py`). What fails is said in one line on stderr, and the exit code is
1.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[1]
VENV = CHECKOUT / ".e2e/venv"
WHEELS = CHECKOUT / ".e2e/wheels"
TOOLS = CHECKOUT / ".e2e/tools"
EXTRA = "dashboard"
TESTING = ("pytest>=8", "playwright>=1.49", "schemathesis>=4")
PROGRAMS = {"pipx": ("pipx", "build"), "uv": ("uv",)}
"""Environments of `TOOLS` and what is in each; pipx would use an uv beside it."""


class InstallError(Exception):
    """What is missing, in one line for whoever ran `make e2e`."""


@dataclass(frozen=True)
class Client:
    """A client of `package.json`: its npm package, where it goes, what runs there.

    `variable`: the variable of the environment that names another binary. `spares`: below
    `node_modules`, the binaries one of which the package's own script puts at `program`; npm does
    not always run such scripts.
    """

    package: str
    folder: Path
    program: str
    variable: str
    spares: str = ""

    @property
    def version(self) -> str:
        return _pinned(self.package)

    @property
    def installed(self) -> Path:
        return self.folder / "node_modules" / self.package / self.program

    @property
    def binary(self) -> Path:
        return Path(os.environ.get(self.variable) or self.installed)


CLAUDE = Client(
    "@anthropic-ai/claude-code",
    CHECKOUT / ".e2e/client",
    "bin/claude.exe",  # its name on every system
    "CLAUDE_CLIENT",
)
OPENCODE = Client(
    "opencode-ai",
    CHECKOUT / ".e2e/opencode",
    "bin/opencode.exe",
    "OPENCODE_CLIENT_BINARY",
    spares="opencode-*/bin/opencode",
)
BINARY = CLAUDE.installed
AXE = CHECKOUT / ".e2e/axe/node_modules/axe-core"


def _pinned(package: str) -> str:
    manifest = json.loads((HERE / "package.json").read_text(encoding="utf-8"))
    return str(manifest["dependencies"][package])


def version_of(client: Path) -> str:
    """What `--version` says first; "" where it does not run."""
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
    _run(python, "-m", "pip", "install", "--quiet", f"{CHECKOUT}[{EXTRA}]", *TESTING)


def ensure_tools() -> None:
    """Fills `WHEELS` and `TOOLS`, where they are not of this `pyproject.toml` and this Python."""
    stamp = WHEELS / "made-for"
    state = f"{sys.version}\n{(CHECKOUT / 'pyproject.toml').read_text(encoding='utf-8')}"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == state:
        return
    for folder in (WHEELS, TOOLS):
        shutil.rmtree(folder, ignore_errors=True)
    pip = (sys.executable, "-m", "pip", "download", "--quiet", "--dest", str(WHEELS))
    _run(*pip, "pip", *_required(), *(name for names in PROGRAMS.values() for name in names))
    for program, names in PROGRAMS.items():
        _run(sys.executable, "-m", "venv", str(TOOLS / program))
        python = str(TOOLS / program / "bin/python")
        offline = ("--no-index", "--find-links", str(WHEELS))
        _run(python, "-m", "pip", "install", "--quiet", *offline, *names)
    stamp.write_text(state, encoding="utf-8")


def _required() -> list[str]:
    """What building and running sisyphus takes, with its dashboard."""
    told = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    project = told["project"]
    extra = project["optional-dependencies"][EXTRA]
    return [*told["build-system"]["requires"], *project["dependencies"], *extra]


def install_client(client: Client) -> None:
    _npm_install(client.package, client.folder, f", or name a client in {client.variable}")
    if not _runs(client) and not _take_a_spare(client):
        raise InstallError(
            f"npm install left no {client.package} {client.version} that runs"
            f" at {client.installed}; name one that does in {client.variable}"
        )


def _npm_install(package: str, folder: Path, otherwise: str = "") -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise InstallError(
            ", ".join(filter(None, ["npm is not on PATH; install Node.js", otherwise]))
        )
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    manifest = {"private": True, "dependencies": {package: _pinned(package)}}
    (folder / "package.json").write_text(json.dumps(manifest), encoding="utf-8")
    quiet = ("--loglevel=error", "--no-audit", "--no-fund", "--no-package-lock")
    _run(npm, "install", "--fetch-retries=1", *quiet, cwd=folder)


def ensure_axe() -> None:
    """It judges web pages; a script, so that no program of it has to run."""
    found = AXE / "package.json"
    if not found.is_file() or json.loads(found.read_bytes())["version"] != _pinned("axe-core"):
        _npm_install("axe-core", AXE.parents[1])


def _runs(client: Client) -> bool:
    return version_of(client.installed) == client.version


def _take_a_spare(client: Client) -> bool:
    for spare in sorted((client.folder / "node_modules").glob(client.spares or "-")):
        if version_of(spare) == client.version:
            client.installed.unlink(missing_ok=True)
            client.installed.symlink_to(spare)
            return True
    return False


def _run(*command: str, cwd: Path = CHECKOUT) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        gist = "; ".join((done.stderr or done.stdout).split("\n")[:4])
        raise InstallError(f"`{' '.join(command)}` failed: {gist}")


def ensure(client: Client) -> None:
    named = os.environ.get(client.variable)
    if named and not version_of(Path(named)):
        raise InstallError(f"{client.variable} names {named}, which does not run")
    if not named and not _runs(client):
        install_client(client)


def main() -> int:
    from e2e import chromium

    try:
        ensure(CLAUDE)
        ensure(OPENCODE)
        chromium.ensure()
        ensure_axe()
        ensure_tools()
        install_sisyphus()
    except (InstallError, OSError, subprocess.SubprocessError) as error:
        sys.stderr.write(f"error: the end-to-end tests cannot run: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))  # as pytest does
    sys.exit(main())
