from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import COMMAND

from sisyphus.install.claude import place as claude

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus.install.place import Place


@pytest.fixture(autouse=True)
def _in_project(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    """With our console script on the PATH."""
    path = os.environ.get("PATH", "/bin")
    monkeypatch.setenv("PATH", f"{os.path.dirname(COMMAND)}{os.pathsep}{path}")
    monkeypatch.chdir(project)


@pytest.fixture(params=["user", "project", "local"])
def place(request: pytest.FixtureRequest, project: Path) -> Place:
    (project / ".git/info").mkdir()
    places = {"project": claude.of_project, "local": claude.of_local}
    scope = str(request.param)
    return places[scope](str(project)) if scope in places else claude.of_user()
