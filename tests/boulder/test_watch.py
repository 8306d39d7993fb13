from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from boulder.scene import PLAN, Scene

if TYPE_CHECKING:
    from pathlib import Path

CODE = """\
import sys
from sisyphus.boulder import hooks
from sisyphus.contract import Payload
from sisyphus.workspace import Workspace

raw = {{"cwd": {cwd!r}, "session_id": "s1", "prompt": "go on", "tool_name": "Edit",
       "tool_input": {{"file_path": {path!r}}}}}
assert hooks.on_{event}(Payload("stop", raw), Workspace({cwd!r})) is None
print(*(name for name in sys.modules if name.startswith("sisyphus.boulder.")))
"""
GLANCE = {
    f"sisyphus.boulder.{name}"
    for name in ("hooks", "watch", "discover", "store", "record", "in_use")
}

QUIET = [
    pytest.param("stop", "", GLANCE, id="stop"),
    pytest.param("user_prompt_submit", "", GLANCE, id="prompt"),
    pytest.param("post_tool_use", "src/a.py", {"sisyphus.boulder.hooks"}, id="edit of code"),
    pytest.param("post_tool_use", "README.md", GLANCE, id="edit of a document"),
]


@pytest.mark.parametrize(("event", "name", "modules"), QUIET)
def test_a_quiet_event_loads_no_parser(
    scene: Scene, event: str, name: str, modules: set[str]
) -> None:
    scene.edit(PLAN)
    path: Path = scene.project / name
    code = CODE.format(cwd=str(scene.project), path=str(path), event=event)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == modules
