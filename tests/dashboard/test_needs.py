from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from making import HANG_SECONDS

import sisyphus
from sisyphus.dashboard import needs

WITHOUT = """
import sys

class Without:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, *more):
        return None if name in {hidden!r} else self.finder.find_spec(name, *more)
    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path = [Without(finder) for finder in sys.meta_path]
sys.argv = ["sisyphus", "dashboard", "--no-open", "--port", "0"]
from sisyphus.entry import main
main()
"""


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        pytest.param(
            ("home", "ann", ".local", "pipx", "venvs", "sisyphus"), "pipx inject sisyphus ",
            id="pipx",
        ),
        pytest.param(
            ("home", "ann", "pipx", "venvs", "my sisyphus"), "pipx inject 'my sisyphus' ",
            id="pipx by another name",
        ),
        pytest.param(
            ("home", "ann", ".local", "share", "uv", "tools", "sisyphus"),
            "`uv tool install` as before, with --with ", id="uv",
        ),
        pytest.param(("home", "ann", "venv"), f"{sys.executable} -m pip install ", id="pip"),
        pytest.param(
            ("tools", "uv", "venv"), f"{sys.executable} -m pip install ", id="other folders"
        ),
    ],
)  # fmt: skip
def test_the_command_is_for_whatever_installed_us(
    monkeypatch: pytest.MonkeyPatch, prefix: tuple[str, ...], command: str
) -> None:
    monkeypatch.setattr(sys, "prefix", os.path.join(os.sep, *prefix))
    told = needs.how_to_get()
    assert told.startswith(command)
    assert all(name in told.removeprefix(command) for name in needs.PACKAGES)


def test_what_is_needed_is_what_the_extra_asks_for() -> None:
    project = tomllib.loads((Path(sisyphus.__file__).parents[2] / "pyproject.toml").read_text())
    asked = project["project"]["optional-dependencies"][needs.EXTRA]
    assert project["project"]["name"] == needs.NAME
    assert sorted(line.partition(">=")[0] for line in asked) == sorted(needs.PACKAGES)


@pytest.mark.parametrize(
    ("told", "required"),
    [
        pytest.param(
            ["typer>=0.16", 'fastapi>=0.136; extra == "dashboard"',
             "jinja2>=3; extra == 'dashboard'"],
            ["fastapi>=0.136", "jinja2>=3"], id="those of the extra",
        ),
        pytest.param(["typer>=0.16"], list(needs.PACKAGES), id="no extra"),
        pytest.param(None, list(needs.PACKAGES), id="nothing"),
    ],
)  # fmt: skip
def test_their_versions_are_those_of_the_installation(
    monkeypatch: pytest.MonkeyPatch, told: list[str] | None, required: list[str]
) -> None:
    monkeypatch.setattr(metadata, "requires", lambda _: told)
    assert needs.required() == required


@pytest.mark.parametrize(
    ("asked", "there", "missing"),
    [
        pytest.param("fastapi>=0.136", "0.135.9", True, id="too old"),
        pytest.param("fastapi>=0.136", "0.99", True, id="fewer digits"),
        pytest.param("fastapi>=0.136", "0.136.0", False, id="just so"),
        pytest.param("fastapi>=0.136", "1.0", False, id="newer"),
        pytest.param("fastapi>=0.136", "0.136.0rc1", False, id="almost"),
        pytest.param("fastapi>=0.136", None, False, id="of no known version"),
        pytest.param("fastapi", "0.1", False, id="whatever there is"),
    ],
)
def test_what_is_too_old_is_missing(
    monkeypatch: pytest.MonkeyPatch, asked: str, there: str | None, missing: bool
) -> None:
    def version(name: str) -> str:
        if there is None:
            raise metadata.PackageNotFoundError(name)
        return there

    monkeypatch.setattr(metadata, "requires", lambda _: [f'{asked}; extra == "dashboard"'])
    monkeypatch.setattr(metadata, "version", version)
    assert needs.missing() == ([asked] if missing else [])


def test_here_nothing_is_missing() -> None:
    assert needs.missing() == []


@pytest.mark.parametrize(
    "hidden",
    [
        pytest.param(needs.PACKAGES, id="all"),
        pytest.param(("jinja2",), id="one of them"),
    ],
)
def test_without_them_one_line_says_how_to_get_them(hidden: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(hidden=set(hidden))],
        capture_output=True, text=True, timeout=HANG_SECONDS, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: the dashboard needs packages that are not installed, or ")
    assert all(name in done.stderr for name in hidden)
    assert "pip install" in done.stderr
    assert done.stderr.count("\n") == 1
