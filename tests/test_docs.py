"""The documents are held to the truth: commands, settings, files and places that they name exist.

What their code blocks say: `test_doc_blocks.py`; what `--json` answers: `test_doc_json.py`.
"""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import typer.main
from typer.core import TyperGroup

from sisyphus import __version__
from sisyphus.cli.app import app
from sisyphus.clients.base import EVENTS
from sisyphus.memory import TABLES
from sisyphus.purge import tables
from sisyphus.settings import SETTINGS

CHECKOUT = Path(__file__).parents[1]
DOCS = CHECKOUT / "docs"
PAGES = {
    str(path.relative_to(CHECKOUT)): path.read_text(encoding="utf-8")
    for path in (CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md")))
}
README = PAGES["README.md"]
DOCUMENTED = "".join(PAGES.values())

_FENCED = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(!?)\[([^]]*)\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def _commands(group: object, words: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if not isinstance(group, TyperGroup):
        return [words]
    shown = [(name, command) for name, command in group.commands.items() if not command.hidden]
    return [found for name, command in shown for found in _commands(command, (*words, name))]


ROOT = typer.main.get_command(app)
COMMANDS = _commands(ROOT)


def _prose(page: str) -> str:
    return _FENCED.sub("", PAGES[page])


def _links(page: str) -> list[tuple[str, str, str]]:
    """`!` of a picture, text and target of each link that stays in the project."""
    found = _LINK.findall(_prose(page))
    return [link for link in found if not link[2].startswith(("https://", "http://"))]


def _anchors(page: str) -> set[str]:
    """As GitHub makes them of headings."""
    texts = [
        re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text) for text in _HEADING.findall(_prose(page))
    ]
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in texts}


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_is_documented(words: tuple[str, ...]) -> None:
    command = " ".join(words)

    assert f"sisyphus {command}" in DOCUMENTED or f"| `{command}`" in PAGES["docs/files.md"]


def _command(words: list[str]) -> tuple[Any, list[str]]:
    """What the words name, and those behind them; `a|b` names the last of several."""
    command: Any = ROOT  # the class is typer's own
    rest = list(words)
    while isinstance(command, TyperGroup) and rest and not rest[0].startswith(("-", "…")):
        names = rest.pop(0).split("|")
        assert set(names) <= set(command.commands), f"`sisyphus {' '.join(words)}`"
        command = command.commands[names[-1]]
    return command, rest


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_options_in_the_prose_exist(page: str) -> None:
    for text in re.findall(r"`sisyphus ([a-z][^`]*)`", _prose(page)):
        if text.startswith("hook"):
            continue
        command, rest = _command(re.sub(r'"[^"]*"', "TEXT", text).split())
        known = {spelled for one in command.params for spelled in (*one.opts, *one.secondary_opts)}
        ours = rest[: rest.index("--")] if "--" in rest else rest
        options = [word.strip("[],") for word in ours if word.strip("[").startswith("-")]
        assert {word.partition("=")[0] for word in options} <= known | {"--help"}, text


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for _, text, target in _links(page):
        name, _, anchor = unquote(target).partition("#")
        path = (CHECKOUT / page).parent / name if name else CHECKOUT / page
        assert path.exists(), f"{text}: {target}"
        if anchor:
            assert anchor in _anchors(str(path.resolve().relative_to(CHECKOUT))), target


def test_every_page_can_be_found_from_the_readme() -> None:
    seen, ahead = set(), ["README.md"]
    while ahead:
        page = ahead.pop()
        seen.add(page)
        for _, _, target in _links(page):
            name = target.partition("#")[0]
            path = ((CHECKOUT / page).parent / name).resolve()
            other = str(path.relative_to(CHECKOUT)) if name else page
            if other in PAGES and other not in seen:
                ahead.append(other)
    assert seen == set(PAGES)


def test_the_list_of_pages_is_whole() -> None:
    listed = {target.partition("#")[0] for _, _, target in _links("docs/README.md")}

    assert {path.name for path in DOCS.glob("*.md")} - {"README.md"} <= listed


def test_every_picture_is_shown_and_described() -> None:
    shown = {target: text for mark, text, target in _links("README.md") if mark}

    there = [path.name for end in ("svg", "png") for path in DOCS.glob(f"pictures/*.{end}")]
    assert set(shown) == {f"docs/pictures/{name}" for name in there}
    assert all(len(text) > 20 for text in shown.values())


@pytest.mark.parametrize("key", SETTINGS)
def test_every_setting_is_documented(key: str) -> None:
    section, name = key.split(".")
    part = PAGES["docs/settings.md"].partition(f"\n## {section}\n")[2].partition("\n## ")[0]

    assert f"| `{name}` |" in part


@pytest.mark.parametrize("path", sorted((CHECKOUT / "commands").glob("*.md")), ids=lambda p: p.stem)
def test_every_slash_command_is_documented(path: Path) -> None:
    assert f"/{path.stem}" in DOCUMENTED


def test_every_event_is_in_the_contract() -> None:
    page = PAGES["docs/hooks.md"]

    assert [event for event in EVENTS if f"`{event}`" not in page] == []
    asked = json.loads((CHECKOUT / "hooks.json").read_text(encoding="utf-8"))["hooks"]
    assert [event for event in asked if f"| {event}" not in page] == []


@pytest.mark.parametrize(
    "folder", sorted({row["path"].rpartition("/")[0] for row in tables(by_hand=True)})
)
def test_every_folder_that_is_cleaned_up_is_in_the_reference(folder: str) -> None:
    assert f"`.sisyphus/{folder.replace('*', 'ID')}/" in PAGES["docs/files.md"]


def test_every_column_of_the_memory_is_in_the_reference(tmp_path: Path) -> None:
    documented: set[tuple[str, str]] = set()
    table = ""
    part = PAGES["docs/files.md"].partition("## The memory")[2].partition("\n## ")[0]
    for named, columns in re.findall(r"^\| (?:`(\w+)`)? ?\| (.*?) ?\| ", part, re.MULTILINE):
        table = named or table
        documented |= {(table, column) for column in re.findall(r"`(\w+)`", columns)}
    with closing(sqlite3.connect(tmp_path / "memory.db")) as memory:
        memory.executescript(TABLES)
        there = memory.execute(
            "SELECT m.name, c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c "
            "WHERE m.type = 'table' AND m.name NOT GLOB 'sqlite_*'"
        ).fetchall()

    assert documented == set(there)


def test_every_module_that_the_code_map_names_exists() -> None:
    for name in re.findall(r"`([a-z_]+(?:/[a-z_]+)*\.py)`", PAGES["docs/code-map.md"]):
        assert (CHECKOUT / "src/sisyphus" / name).exists(), name


def test_the_code_map_shows_every_part() -> None:
    parts = {path.parent.name for path in (CHECKOUT / "src/sisyphus").glob("*/__init__.py")}

    assert {part for part in parts if f"{part}/" not in PAGES["docs/code-map.md"]} == set()


def test_every_file_that_the_guide_for_contributors_names_exists() -> None:
    for name in re.findall(r"`((?:cli|hook|rules|doctor)/[a-z_]+\.py)`", PAGES["CONTRIBUTING.md"]):
        assert (CHECKOUT / "src/sisyphus" / name).exists(), name


def test_every_target_of_the_makefile_that_is_named_exists() -> None:
    makefile = (CHECKOUT / "Makefile").read_text(encoding="utf-8")

    for name in re.findall(r"`make ([a-z0-9-]+)", DOCUMENTED):
        assert f"\n{name}:" in makefile, name


def test_the_plugin_has_the_version_of_the_package() -> None:
    manifest = (CHECKOUT / ".claude-plugin/plugin.json").read_text(encoding="utf-8")

    assert f'"version": "{__version__}"' in manifest
