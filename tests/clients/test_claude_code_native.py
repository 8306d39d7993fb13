"""Every case was measured on Claude Code 2.1.329: which texts the model had before our hook."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from making import put

from sisyphus.clients import setup
from sisyphus.clients.claude_code_setup import AGENTS_PLUGIN, imported
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

IMPORTED = "a CLAUDE.md loads it"
NATIVE = "Claude Code loads it where there is no CLAUDE.md"
OURS = ""


@pytest.fixture
def project(home: Path) -> Path:
    """A project below the home folder, with an AGENTS.md."""
    folder = home / "code" / "project"
    put(folder / "AGENTS.md", "Never touch the lamp.\n")
    (folder / ".git").mkdir()
    return folder


def _why(folder: Path, client: str = "claude") -> str:
    return setup(client).why_agents_is_native(Workspace(str(folder), client=client))


PLACES = [
    pytest.param("CLAUDE.md", OURS, id="CLAUDE.md"),
    pytest.param(".claude/CLAUDE.md", OURS, id=".claude/CLAUDE.md"),
    pytest.param("CLAUDE.local.md", OURS, id="CLAUDE.local.md"),
    pytest.param("../CLAUDE.md", OURS, id="in a folder above"),
    pytest.param("../.claude/CLAUDE.md", OURS, id=".claude/CLAUDE.md in a folder above"),
    pytest.param("../CLAUDE.local.md", OURS, id="CLAUDE.local.md in a folder above"),
    pytest.param("../../CLAUDE.md", OURS, id="in the home folder"),
    pytest.param("../../.claude/CLAUDE.md", NATIVE, id="the user's own, in the client's folder"),
    pytest.param("src/CLAUDE.md", NATIVE, id="in a folder below"),
    pytest.param(".claude/rules/a.md", NATIVE, id="a rule"),
]


@pytest.mark.parametrize(("place", "why"), PLACES)
def test_a_claude_md_switches_the_clients_agents_md_off(
    project: Path, place: str, why: str
) -> None:
    put(project / place, "Be kind.\n")
    assert _why(project) == why


def test_without_a_claude_md_the_client_loads_agents_md(project: Path) -> None:
    assert _why(project) == NATIVE


CONTENTS = [
    pytest.param("", NATIVE, id="empty"),
    pytest.param("\n \t\n", NATIVE, id="blank"),
    pytest.param("<!-- nothing -->\n", NATIVE, id="a comment"),
    pytest.param("<!-- a -->\n\n<!--\nb\n-->\n", NATIVE, id="two comments"),
    pytest.param("---\na: b\n---\n", NATIVE, id="frontmatter"),
    pytest.param("---\r\na: b\r\n---\r\n", NATIVE, id="frontmatter with CRLF"),
    pytest.param("<!-- never closed\n", OURS, id="a comment that is never closed"),
    pytest.param("```\nx\n```\n", OURS, id="code"),
    pytest.param(b"\xff\xfe\0 @\0", OURS, id="bytes that are no text"),
    pytest.param("Sei freundlich, für alle.\n".encode("latin-1"), OURS, id="Latin-1"),
    pytest.param("---\na: '@AGENTS.md'\n---\nx\n", OURS, id="text after frontmatter"),
    pytest.param("<!-- a --> x <!-- b -->\n", OURS, id="text between comments"),
]


@pytest.mark.parametrize(("content", "why"), CONTENTS)
def test_only_a_claude_md_that_says_something_counts(
    project: Path, content: str | bytes, why: str
) -> None:
    put(project / "CLAUDE.md", content)
    assert _why(project) == why


IMPORTS = [
    pytest.param("@AGENTS.md\n", IMPORTED, id="on a line of its own"),
    pytest.param("Look at @AGENTS.md first.\n", IMPORTED, id="in a sentence"),
    pytest.param("@./AGENTS.md\n", IMPORTED, id="with ./"),
    pytest.param("@~/code/project/AGENTS.md\n", IMPORTED, id="by way of the home folder"),
    pytest.param("@AGENTS.md#top\n", IMPORTED, id="a part of it"),
    pytest.param("# @AGENTS.md\n", IMPORTED, id="in a heading"),
    pytest.param("> @AGENTS.md\n", IMPORTED, id="in a quotation"),
    pytest.param("- **@AGENTS.md**\n", IMPORTED, id="in bold"),
    pytest.param("_@AGENTS.md_\n", IMPORTED, id="in italics"),
    pytest.param("[@AGENTS.md](AGENTS.md)\n", IMPORTED, id="as the text of a link"),
    pytest.param("|a|\n|-|\n| @AGENTS.md |\n", IMPORTED, id="in a table"),
    pytest.param("x\n\n<!-- a --> @AGENTS.md\n", IMPORTED, id="behind a comment"),
    pytest.param("Look at @AGENTS.md.\n", OURS, id="with a full stop"),
    pytest.param("Look at @AGENTS.md, then\n", OURS, id="with a comma"),
    pytest.param("(@AGENTS.md)\n", OURS, id="in brackets"),
    pytest.param("me@AGENTS.md\n", OURS, id="an address"),
    pytest.param("|a|\n|-|\n|@AGENTS.md|\n", OURS, id="in a tight table"),
    pytest.param("`@AGENTS.md`\n", OURS, id="inline code"),
    pytest.param("``@AGENTS.md``\n", OURS, id="inline code with two ticks"),
    pytest.param("```\n@AGENTS.md\n```\n", OURS, id="a fence"),
    pytest.param("~~~\n@AGENTS.md\n~~~\n", OURS, id="a fence of tildes"),
    pytest.param("- a\n  ```\n  @AGENTS.md\n  ```\n", OURS, id="an indented fence"),
    pytest.param("```\n@AGENTS.md\n", OURS, id="a fence that is never closed"),
    pytest.param("text\n\n    @AGENTS.md\n", OURS, id="indented code"),
    pytest.param("x <!-- @AGENTS.md --> y\n", OURS, id="a comment in a line"),
    pytest.param("x\n\n<!--\n@AGENTS.md\n-->\n", OURS, id="a comment of several lines"),
    pytest.param("@other/AGENTS.md\n", OURS, id="another file"),
]


@pytest.mark.parametrize(("content", "why"), IMPORTS)
def test_a_claude_md_loads_what_it_imports(project: Path, content: str, why: str) -> None:
    put(project / "CLAUDE.md", content)
    assert _why(project) == why


def test_imports_are_relative_to_the_file(project: Path) -> None:
    put(project / ".claude" / "CLAUDE.md", "@AGENTS.md\n")
    assert _why(project) == OURS
    put(project / ".claude" / "CLAUDE.md", "@../AGENTS.md\n")
    assert _why(project) == IMPORTED


def test_an_escaped_blank_belongs_to_the_name(project: Path) -> None:
    put(project / "my docs" / "all.md", "@../AGENTS.md\n")
    put(project / "CLAUDE.md", "@my\\ docs/all.md\n")
    assert _why(project) == IMPORTED


@pytest.mark.parametrize(("hops", "why"), [(2, IMPORTED), (4, IMPORTED), (5, OURS), (6, OURS)])
def test_imports_of_imports_are_followed_four_deep(project: Path, hops: int, why: str) -> None:
    names = ["CLAUDE.md", *(f"{n}.md" for n in range(1, hops)), "AGENTS.md"]
    for name, following in pairwise(names):
        put(project / name, f"see @{following}\n")
    assert _why(project) == why


def test_files_that_import_each_other_come_to_an_end(project: Path) -> None:
    for n in range(300):
        put(project / f"{n}.md", "".join(f"@{(n + step) % 300}.md\n" for step in range(1, 20)))
    put(project / "CLAUDE.md", "@0.md\n@AGENTS.md\n")
    assert len(imported(Workspace(str(project)))) <= 101


def test_an_import_from_outside_the_working_folder_is_not_loaded(project: Path) -> None:
    put(project.parent / "common.md", f"@{project}/AGENTS.md\n")
    put(project / "CLAUDE.md", "@../common.md\n")
    assert _why(project) == OURS


LINKS = [
    pytest.param({"AGENTS.md": "CLAUDE.md"}, IMPORTED, id="AGENTS.md is a link to CLAUDE.md"),
    pytest.param({"CLAUDE.md": "AGENTS.md"}, IMPORTED, id="CLAUDE.md is a link to AGENTS.md"),
    pytest.param({"CLAUDE.md": "nowhere"}, NATIVE, id="CLAUDE.md is a broken link"),
    pytest.param({"CLAUDE.md": "."}, NATIVE, id="CLAUDE.md is a folder"),
]


@pytest.mark.parametrize(("links", "why"), LINKS)
def test_links_are_seen_through(project: Path, links: dict[str, str], why: str) -> None:
    put(project / "CLAUDE.md", "Be kind.\n")
    for name, target in links.items():
        (project / name).unlink()
        (project / name).symlink_to(target)
    assert _why(project) == why


def test_a_home_folder_behind_a_link_is_the_same(
    home: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(home)
    monkeypatch.setenv("HOME", str(tmp_path / "link"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "link" / ".claude"))
    put(home / ".claude" / "CLAUDE.md", "Be kind.\n")
    assert _why(project) == NATIVE


def test_the_folder_where_the_session_began_counts(project: Path) -> None:
    put(project / "src" / "CLAUDE.md", "Be kind.\n")
    assert _why(project) == NATIVE
    assert _why(project / "src") == OURS


OFF = {"enabledPlugins": {AGENTS_PLUGIN: False}}
ON = {"enabledPlugins": {AGENTS_PLUGIN: True}}
SETTINGS = [
    pytest.param({"../../.claude/settings.json": OFF}, OURS, id="the user's"),
    pytest.param({".claude/settings.json": OFF}, OURS, id="the project's"),
    pytest.param({".claude/settings.local.json": OFF}, OURS, id="the project's local ones"),
    pytest.param(
        {"../../.claude/settings.json": OFF, ".claude/settings.json": ON}, NATIVE, id="on again"
    ),
    pytest.param({".claude/settings.json": ON}, NATIVE, id="on"),
    pytest.param({".claude/settings.json": {"enabledPlugins": []}}, NATIVE, id="no object"),
    pytest.param({".claude/settings.json": []}, NATIVE, id="no settings"),
]


@pytest.mark.parametrize(("files", "why"), SETTINGS)
def test_the_clients_settings_switch_its_agents_md_off(
    project: Path, files: dict[str, object], why: str
) -> None:
    for name, value in files.items():
        put(project / name, json.dumps(value))
    assert _why(project) == why


def test_settings_are_those_of_the_folder_where_the_session_began(project: Path) -> None:
    put(project / ".claude" / "settings.json", json.dumps(OFF))
    assert _why(project / "src") == NATIVE
    put(project / "src" / ".claude" / "settings.json", json.dumps(OFF))
    assert _why(project / "src") == OURS


EXCLUDES = [
    pytest.param(["**/CLAUDE.md"], NATIVE, id="excluded"),
    pytest.param(["**/other.md"], OURS, id="another file"),
    pytest.param("**/CLAUDE.md", OURS, id="no list"),
    pytest.param([7, None], OURS, id="no globs"),
]


@pytest.mark.parametrize(("globs", "why"), EXCLUDES)
def test_a_claude_md_that_the_client_leaves_out_does_not_count(
    project: Path, globs: object, why: str
) -> None:
    put(project / "CLAUDE.md", "Be kind.\n")
    put(project / ".claude" / "settings.json", json.dumps({"claudeMdExcludes": globs}))
    assert _why(project) == why


def test_opencode_loads_agents_md_always(project: Path) -> None:
    put(project / "CLAUDE.md", "Be kind.\n")
    assert _why(project, "opencode") == "OpenCode loads it"


HOSTILE = [
    pytest.param("<!--" * 250_000, id="comments that are never closed"),
    pytest.param("```\n" * 250_000, id="fences"),
    pytest.param("`" * 1_000_000, id="ticks"),
    pytest.param("@a " * 333_333, id="imports"),
    pytest.param("\\ @" * 333_333, id="escapes"),
    pytest.param(" " * 999_000, id="blanks"),
    pytest.param("    \n" * 200_000, id="indented blank lines"),
    pytest.param("@/dev/zero @/proc/self/mem @" + "../" * 10_000 + "x\n", id="places elsewhere"),
]


@pytest.mark.parametrize("content", HOSTILE)
def test_no_claude_md_holds_a_session_up(project: Path, content: str) -> None:
    put(project / "CLAUDE.md", content)
    assert os.path.realpath(project / "AGENTS.md") not in imported(Workspace(str(project)))
