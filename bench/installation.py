"""A virtual environment that holds sisyphus as a user has it, and nothing else.

Development tools leave `.pth` files that every interpreter of their environment reads at its
start, and an editable install is one itself; neither belongs into a measurement.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".venv-bench"
PYTHON = FOLDER / "bin" / "python"
COMMAND = FOLDER / "bin" / "sisyphus"

_SHIPPED = ("pyproject.toml", "README.md", "hooks.json", "src", "commands", ".claude-plugin")


def ensure() -> None:
    """Makes the environment, or brings it up to date where the source has changed."""
    stamp = FOLDER / ".source"
    digest = _digest()
    if COMMAND.exists() and stamp.is_file() and stamp.read_text("utf-8") == digest:
        return
    print(f"installing the checkout into {FOLDER.name} …", file=sys.stderr)
    if not PYTHON.exists():
        base = getattr(sys, "_base_executable", sys.executable)
        subprocess.run([base, "-m", "venv", "--clear", FOLDER], check=True)
        _pip("--upgrade", "pip")
    _pip(str(ROOT))
    _pip("--force-reinstall", "--no-deps", "--compile", str(ROOT))
    stamp.write_text(digest, "utf-8")


def _pip(*words: str) -> None:
    pip = (PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    subprocess.run([*pip, *words], check=True)


def _digest() -> str:
    digest = hashlib.sha256(sys.version.encode())
    for name in _SHIPPED:
        path = ROOT / name
        for file in sorted(path.rglob("[!.]*.*")) if path.is_dir() else [path]:
            if file.is_file() and file.suffix in (".py", ".md", ".json", ".toml"):
                digest.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes())
    return digest.hexdigest()
