"""The console scripts that installers write for one and the same wheel, and how fast each starts.

Installs everything into a temporary folder and downloads pipx and uv for it.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import machine
import report
from clean_venv import ROOT
from desk import SESSION
from stopwatch import Stopwatch

HOOK = ("hook", "post-tool-use")

_NOISE_PERCENT = 5

_QUIET = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_QUIET": "1", "UV_PYTHON_DOWNLOADS": "never"}


@dataclass(frozen=True)
class Script:
    installer: str
    version: str
    path: Path

    @property
    def target(self) -> Path:
        """The script itself, where `path` is a link to it."""
        return self.path.resolve()

    @property
    def form(self) -> str:
        """How the script is written, in a few words."""
        text = self.target.read_text("utf-8", "replace")
        start = "by `/bin/sh`" if text.startswith("#!/bin/sh") else "directly"
        return f"{start}, {'imports `re`' if 'import re' in text else 'imports `sys` only'}"


class Workshop:
    """A folder with a wheel of the checkout, pipx and uv."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.base = getattr(sys, "_base_executable", sys.executable)
        tools = self._venv("tools")
        self._pip(tools, "--upgrade", "pip", "build")
        self._call(tools / "python", "-m", "build", "--wheel", "--outdir", folder, ROOT)
        self.wheel = next(folder.glob("*.whl"))

    def bundled_pip(self) -> Script:
        venv = self._venv("pip-bundled")
        self._pip(venv, self.wheel)
        return Script("pip, as it comes with this Python", self._pip_version(venv), _in(venv))

    def current_pip(self) -> Script:
        venv = self._venv("pip-current")
        self._pip(venv, "--upgrade", "pip")
        self._pip(venv, self.wheel)
        return Script("pip, current", self._pip_version(venv), _in(venv))

    def spaced(self) -> Script:
        venv = self._venv("a folder")
        self._pip(venv, "--upgrade", "pip")
        self._pip(venv, self.wheel)
        return Script("pip, current, path with a space", self._pip_version(venv), _in(venv))

    def editable(self) -> Script:
        venv = self._venv("pip-editable")
        self._pip(venv, "--upgrade", "pip")
        self._pip(venv, "--editable", ROOT)
        return Script("pip, current, `--editable`", self._pip_version(venv), _in(venv))

    def pipx(self) -> Script:
        folder = self._folder / "pipx"
        env = {"PIPX_HOME": str(folder), "PIPX_BIN_DIR": str(folder / "bin")}
        pipx = self._tool("pipx")
        self._call(pipx, "install", "--python", self.base, self.wheel, **env)
        return Script("pipx", _version(pipx), _in(folder / "bin"))

    def uv_tool(self) -> Script:
        folder = self._folder / "uv"
        env = {"UV_TOOL_DIR": str(folder), "UV_TOOL_BIN_DIR": str(folder / "bin")}
        uv = self._tool("uv")
        self._call(uv, "tool", "install", "--python", self.base, self.wheel, **env)
        return Script("uv tool", _version(uv), _in(folder / "bin"))

    def _tool(self, name: str) -> Path:
        """An environment of its own: pipx would use the uv beside it."""
        venv = self._venv(f"{name}-tool")
        self._pip(venv, "--upgrade", "pip", name)
        return venv / name

    def _venv(self, name: str) -> Path:
        self._call(self.base, "-m", "venv", self._folder / name)
        return self._folder / name / "bin"

    def _pip(self, venv: Path, *words: str | Path) -> None:
        self._call(venv / "python", "-m", "pip", "install", *words)

    def _pip_version(self, venv: Path) -> str:
        ran = subprocess.check_output([venv / "python", "-m", "pip", "--version"], text=True)
        return ran.split()[1]

    def _call(self, *command: str | Path, **env: str) -> None:
        whole = {**os.environ, **_QUIET, **env}
        ran = subprocess.run(command, env=whole, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            sys.exit(f"error: {command[0]} {command[1]} failed:\n{ran.stdout}{ran.stderr}")


def _in(folder: Path) -> Path:
    return folder / "sisyphus"


def _version(tool: Path) -> str:
    words = subprocess.check_output([tool, "--version"], text=True).split()
    return next(word for word in words if word[0].isdigit())


def measure(scripts: list[Script], folder: Path, rounds: int) -> dict[str, float]:
    """Median milliseconds of a quiet hook through each script, and of the baseline ("")."""
    (folder / "project" / ".git").mkdir(parents=True)
    payload = folder / "payload.json"
    payload.write_text(json.dumps({"session_id": SESSION, "cwd": str(folder / "project")}))
    taken: dict[str, list[float]] = {}
    python = scripts[0].target.with_name("python")
    commands = {"": (str(python), "-c", "import json")}
    commands |= {script.installer: (str(script.path), *HOOK) for script in scripts}
    order = list(commands)
    with Stopwatch(folder, {"PATH": os.defpath, "HOME": str(folder)}) as watch:
        for number in range(-1, rounds):
            random.Random(number).shuffle(order)  # noqa: S311  # no secret
            for name in order:
                sample = watch.run(commands[name], str(payload))
                if number >= 0:
                    taken.setdefault(name, []).append(sample.milliseconds)
    return {name: median(values) for name, values in taken.items()}


_SECTION = """\
{heading}

What an installer writes as `sisyphus` is part of every hook. Measured by
`python bench/run.py --wrappers`: one wheel, installed by each, a hook that has nothing to say.

{date}: {machine}. {rounds} rounds.

| installed with | version | the script starts Python | median, ms | ÷ json |
|---|---|---|--:|--:|
{rows}

{verdict}
"""


def section(scripts: list[Script], middle: dict[str, float], rounds: int) -> str:
    rows = [
        f"| {s.installer} | {s.version} | {s.form} | {middle[s.installer]:.1f} "
        f"| {middle[s.installer] / middle['']:.2f} |"
        for s in scripts
    ]
    return _SECTION.format(
        heading=report.SCRIPTS,
        date=time.strftime("%Y-%m-%d", time.gmtime()),
        machine=machine.describe(),
        rounds=rounds,
        rows="\n".join(rows),
        verdict=_verdict(scripts, middle),
    )


def _verdict(scripts: list[Script], middle: dict[str, float]) -> str:
    """The quickest and the slowest, and whether that is worth a thought."""
    ranked = sorted(scripts, key=lambda script: middle[script.installer])
    first, last = ranked[0].installer, ranked[-1].installer
    percent = (middle[last] / middle[first] - 1) * 100
    if percent <= _NOISE_PERCENT:
        return f"All are quick: they differ by {percent:.0f} %, which is the noise of the machine."
    return f"Quickest: {first}. Slowest: {last}, by {percent:.0f} %."


def main(page: Path, rounds: int) -> int:
    """Measures, prints the section and puts it into the page."""
    folder = Path(tempfile.mkdtemp(prefix="sisyphus-scripts-"))
    try:
        shop = Workshop(folder)
        scripts = [
            shop.bundled_pip(), shop.current_pip(), shop.pipx(), shop.uv_tool(), shop.editable(),
            shop.spaced(),
        ]  # fmt: skip
        text = section(scripts, measure(scripts, folder, rounds), rounds)
        for script in scripts:
            print(f"--- {script.installer}\n{script.target.read_text('utf-8')}", file=sys.stderr)
    finally:
        shutil.rmtree(folder)
    print(text)
    former = page.read_text("utf-8") if page.exists() else ""
    page.write_text(report.with_section(former, text), "utf-8")
    return 0
