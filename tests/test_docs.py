"""The documents are held to the truth: commands, settings and files that they name exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main
from typer.core import TyperGroup

from sisyphus import __version__
from sisyphus.cli.app import app
from sisyphus.settings import SETTINGS

CHECKOUT = Path(__file__).parents[1]
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")
PAGES = {page.name: page.read_text(encoding="utf-8") for page in (CHECKOUT / "docs").glob("*.md")}
DOCUMENTED = README + "".join(PAGES.values())


def _commands(group: object, words: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if not isinstance(group, TyperGroup):
        return [words]
    return [found for name, c in group.commands.items() for found in _commands(c, (*words, name))]


COMMANDS = _commands(typer.main.get_command(app))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_has_help_and_is_documented(words: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sisyphus", *words, "--help"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert "Usage:" in done.stdout
    assert f"sisyphus {words[0]}" in DOCUMENTED
    assert words[-1] in DOCUMENTED


@pytest.mark.parametrize("key", SETTINGS)
def test_every_setting_stands_in_the_readme_with_its_default(key: str) -> None:
    section, name = key.split(".")
    block = README.partition(f"[{section}]\n")[2].partition("\n\n")[0].partition("\n```")[0]
    default = SETTINGS[key].default
    spelled = str(default).lower() if isinstance(default, bool) else default
    wanted = f'{name} = "{spelled}"' if isinstance(default, str) else f"{name} = {spelled}"

    assert wanted in block
    assert SETTINGS[key].doc


@pytest.mark.parametrize("name", ["README.md", *PAGES])
def test_links_within_the_project_lead_somewhere(name: str) -> None:
    page = CHECKOUT / name if name == "README.md" else CHECKOUT / "docs" / name

    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_every_module_that_the_code_map_names_exists() -> None:
    for name in re.findall(r"`([a-z_]+(?:/[a-z_]+)*\.py)`", PAGES["code-map.md"]):
        assert (CHECKOUT / "src/sisyphus" / name).exists(), name


def test_the_plugin_has_the_version_of_the_package() -> None:
    manifest = (CHECKOUT / ".claude-plugin/plugin.json").read_text(encoding="utf-8")

    assert f'"version": "{__version__}"' in manifest
