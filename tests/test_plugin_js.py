"""The plugin for OpenCode, under node: `tests/plugin/plugin.test.mjs`."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "plugin"
OLDEST = 20
"""The first version of node with the test runner that we use."""


def why_not() -> str:
    """Why the tests cannot run here; "" if they can."""
    node = shutil.which("node")
    if not node:
        return "there is no node on the PATH"
    version = subprocess.check_output([node, "--version"], text=True).strip()
    number = re.match(r"v(\d+)", version)
    return (
        "" if number and int(number[1]) >= OLDEST else f"node is {version}, not {OLDEST} or later"
    )


def test_the_plugin_under_node() -> None:
    if why := why_not():
        pytest.skip(why)
    tests = sorted(str(file) for file in FOLDER.glob("*.test.mjs"))

    done = subprocess.run(
        ["node", "--test", "--test-reporter=tap", *tests],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^# pass [1-9]", done.stdout, re.MULTILINE), done.stdout
