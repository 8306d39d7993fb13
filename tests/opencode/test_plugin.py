"""The plugin's file, read as a text; how it behaves the real client shows (`make e2e`)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sisyphus
from sisyphus.clients import opencode, opencode_files
from sisyphus.clients.base import EVENTS
from sisyphus.hook.routes import ROUTES
from sisyphus.session.client_process import SESSION_VARIABLES
from sisyphus.shipped import plugin_folder

PLUGIN = Path(sisyphus.__file__).parent / "opencode" / "plugin" / "sisyphus.js"
SOURCE = PLUGIN.read_text("utf-8")
CODE = re.sub(r"(?m)^\s*//.*$|\s// .*$", "", SOURCE)
COMMANDS = {path.stem for path in Path(plugin_folder()).glob("commands/*.md")}


def test_it_comes_with_the_package_alone_in_its_folder() -> None:
    assert [path.name for path in PLUGIN.parent.iterdir()] == ["sisyphus.js"]


def test_it_exports_one_plugin() -> None:
    """OpenCode calls whatever a file exports, and refuses a file that exports anything else."""
    exports = [line for line in CODE.splitlines() if re.match(r"\s*export\b", line)]
    assert exports == ["export const Sisyphus = async ({ client, directory }) => {"]


def test_it_needs_nothing_else() -> None:
    assert re.findall(r"\bimport\b|\brequire\b", CODE) == []


def test_it_writes_nothing_over_the_clients_screen() -> None:
    assert re.findall(r"\bconsole\b", CODE) == []


def test_it_knows_every_command_of_ours() -> None:
    listed = re.search(r"const COMMANDS = new Set\(\[(.*?)\]\)", CODE, re.DOTALL)
    assert listed is not None
    named = re.findall(r'"([^"]*)"', listed[1])
    assert sorted(named) == sorted(COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_it_tells_a_command_of_ours_from_one_of_that_name(name: str) -> None:
    marked = re.search(r"const OUR_COMMAND = /(.*)/", CODE)
    assert marked is not None
    assert re.search(marked[1], Path(plugin_folder(), "commands", f"{name}.md").read_text("utf-8"))


def test_the_command_that_it_calls_can_be_replaced_in_one_line() -> None:
    assert CODE.count('const SISYPHUS = "sisyphus"\n') == 1
    assert len(re.findall(r"\bSISYPHUS\b", CODE)) == 3  # it is looked for where it was not found


def test_it_asks_for_every_event_that_is_answered() -> None:
    """OpenCode refuses the model none of our files."""
    asked = set(re.findall(r'(?:ask|askNow)\(session, "([a-z-]+)"', CODE))
    assert asked == set(ROUTES) - {"permission-request"}
    assert asked <= set(EVENTS)


def test_it_tells_lines_of_every_kind_that_is_known() -> None:
    told = set(re.findall(r'note\(session, "([a-z]+)"', CODE))
    kinds = [{"kind": kind} for kind in told]
    known = [line["uuid"] for line in opencode_files.records(kinds, "s", "", "")]
    assert len(known) == len(told) == 6


@pytest.mark.parametrize(
    "word", [f'"--client", "{opencode.NAME}"', f"output.env.{SESSION_VARIABLES[1]}"]
)
def test_both_sides_use_the_same_words(word: str) -> None:
    assert word in CODE


def test_no_process_is_started_per_token() -> None:
    assert "message.part.delta" not in SOURCE
    assert re.findall(r"Bun\.spawn(?:Sync)?\(", CODE) == ["Bun.spawn(", "Bun.spawnSync("]


def test_its_brackets_are_closed() -> None:
    """A file with a slip is passed over by the client, without a word to the user."""
    literals = r'"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|/\^(?:[^/\\\n]|\\.)*/s?'
    marks = re.sub(r"[^][(){}]", "", re.sub(literals, "", CODE))
    while (shorter := re.sub(r"\(\)|\[\]|\{\}", "", marks)) != marks:
        marks = shorter
    assert marks == ""
