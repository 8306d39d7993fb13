from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from making import put, without_coverage

TOOL = Path(__file__).parents[2] / "tools/pythons.py"
SHIM = "#!/bin/sh\necho 'pyenv: python9: command not found' >&2\nexit 127\n"
OLD = "#!/bin/sh\nprintf '%s\\n' /opt/old/python 3 10\n"


def _ask(folder: Path, *names: str) -> subprocess.CompletedProcess[str]:
    """With a PATH of `folder` and nothing else that is called python."""
    return subprocess.run(
        [sys.executable, TOOL, *names],
        env={**without_coverage(), "PATH": f"{folder}{os.pathsep}/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


def _program(path: Path, text: str) -> Path:
    put(path, text)
    path.chmod(0o755)
    return path


def test_each_is_named_by_its_own_path(tmp_path: Path) -> None:
    (tmp_path / "python9").symlink_to(sys.executable)

    ran = _ask(tmp_path, "python9", sys.executable)

    assert (ran.returncode, ran.stderr) == (0, "")
    first, second = ran.stdout.splitlines()
    assert os.path.isabs(first)
    assert second == sys.executable


def test_one_that_pyenv_has_not_switched_on_is_taken_from_there(tmp_path: Path) -> None:
    _program(tmp_path / "python9", SHIM)
    _program(tmp_path / "pyenv", f"#!/bin/sh\necho {tmp_path}/gone\necho {sys.executable}\n")

    ran = _ask(tmp_path, "python9")

    assert (ran.returncode, ran.stdout) == (0, f"{sys.executable}\n")
    assert "python9 is not switched on in pyenv here" in ran.stderr


def test_what_cannot_run_is_told_of_at_once(tmp_path: Path) -> None:
    _program(tmp_path / "shim", SHIM)
    _program(tmp_path / "old", OLD)
    _program(tmp_path / "broken", "#!/nowhere/sh\n")

    ran = _ask(tmp_path, "shim", "gone", sys.executable, "old", "broken")

    assert (ran.returncode, ran.stdout) == (1, "")
    shim, gone, old, broken = ran.stderr.splitlines()
    assert "shim does not run: pyenv: python9: command not found" in shim
    assert gone.startswith("error: gone: there is no such command on PATH.")
    assert old.startswith("error: old is Python 3.10.")
    assert "broken does not run: " in broken
    assert all("make test-all PYTHONS=" in line for line in (shim, gone, old, broken))
