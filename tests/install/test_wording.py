from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from making import put

from install.scene import MD, in_project, installed, ours, uninstalled
from sisyphus import __version__
from sisyphus.install import actions, commands, wording
from sisyphus.install.wish import Wish

if TYPE_CHECKING:
    from pathlib import Path

FILES = len(commands.texts()) + 1


@pytest.fixture
def crowded(project: Path) -> Path:
    """A project where every kind of file lies in the way."""
    for name, data in (
        ("checkpoint", ours() + b"mine\x1b[31m\n"),
        ("cancel-ralph", MD.encode()),
        ("ralph-loop", ours("99.0")),
        ("ralph-help", ours()),
        ("gone", ours()),
    ):
        put(project / f".opencode/commands/{name}.md", data)
    return project


def _rows(text: str) -> dict[str, str]:
    """Name of a command -> the rest of its line."""
    rows = [line.split(maxsplit=1) for line in text.splitlines()[1:]]
    return {
        place.partition(".md")[0].rpartition("/")[2]: f"{action}{place.partition('.md')[2]}"
        for action, place in rows
    }


def test_every_file_has_its_line(crowded: Path) -> None:
    shown = wording.listing(actions.plan_install(in_project(crowded), Wish()))
    assert shown.startswith(f"sisyphus {__version__} for OpenCode, in {crowded}/.opencode:\n")
    assert "  write    plugins/sisyphus.js\n" in shown
    rows = _rows(shown)
    assert rows["ralph-stats"] == "write"
    assert rows["checkpoint"] == (
        "keep: changed since sisyphus wrote it; `--yes` replaces it, and keeps your text"
    )
    assert rows["cancel-ralph"] == "skip: not written by sisyphus"
    assert rows["ralph-loop"] == (
        f"keep: written by sisyphus 99.0; this is {__version__}; upgrade sisyphus"
    )
    assert rows["ralph-help"] == "update"
    assert rows["gone"] == "remove: no part of sisyphus any more"


def test_it_is_said_where_a_replaced_text_is_kept(crowded: Path) -> None:
    rows = _rows(wording.listing(actions.plan_install(in_project(crowded), Wish(replace=True))))
    assert rows["checkpoint"].startswith(
        "replace: changed since sisyphus wrote it; your text is kept in ~/.claude/.sisyphus/repl"
    )


def test_what_is_removed_has_its_line_too(crowded: Path) -> None:
    shown = wording.listing(actions.plan_uninstall(in_project(crowded)))
    rows = _rows(shown)
    assert rows["checkpoint"] == "keep: changed since sisyphus wrote it; delete it yourself"
    assert rows["ralph-loop"] == "remove"
    assert "cancel-ralph" not in rows


def test_folders_that_go_have_their_line(project: Path) -> None:
    installed(in_project(project))
    shown = wording.listing(actions.plan_uninstall(in_project(project)))
    assert "\n  remove   plugins/\n" in shown
    assert shown.endswith(f"\n  remove   {project}/.opencode/")


def test_where_nothing_happens_nothing_is_listed(project: Path) -> None:
    installed(in_project(project))
    assert wording.listing(actions.plan_install(in_project(project), Wish())) == ""


def test_the_result_is_one_sentence(project: Path) -> None:
    place = in_project(project)
    where = f"{project}/.opencode"
    assert wording.result(uninstalled(place)) == f"Nothing to do: sisyphus is not in {where}."
    done = installed(place)
    assert wording.result(done) == f"sisyphus {__version__} installed in {where}: {FILES} files."
    assert wording.result(installed(place)) == f"Nothing to do: sisyphus is in {where}."
    done = uninstalled(place)
    assert wording.result(done) == f"sisyphus {__version__} removed from {where}: {FILES} files."
    put(project / ".opencode/commands/gone.md", ours())
    assert wording.result(uninstalled(place)).endswith(": 1 file.")


def test_the_question_counts_the_files(project: Path) -> None:
    place = in_project(project)
    shown = actions.plan_install(place, Wish())
    assert wording.to_confirm(shown) == f"Write these {FILES} files?"
    put(project / ".opencode/commands/gone.md", ours())
    assert wording.to_confirm(actions.plan_uninstall(place)) == "Remove this file?"


def test_the_other_question_names_them(crowded: Path) -> None:
    shown = actions.plan_install(in_project(crowded), Wish())
    assert wording.to_replace(shown) == (
        "You changed commands/checkpoint.md. Replace that (your text is kept)?"
    )


def test_the_diff_shows_every_change_and_does_nothing_on_a_terminal(crowded: Path) -> None:
    text = wording.diff(actions.plan_install(in_project(crowded), Wish(replace=True)))
    folder = f"{crowded}/.opencode/commands"
    assert f"--- /dev/null\n+++ {folder}/ralph-stats.md\n@@ -0,0 +1," in text
    assert f"--- {folder}/ralph-help.md\n+++ {folder}/ralph-help.md\n" in text
    assert f"--- {folder}/gone.md\n+++ /dev/null\n" in text
    assert "-mine [31m" in text
    assert "cancel-ralph" not in text.replace("ralph cancel", "").replace('"cancel-ralph"', "")


def test_a_program_is_told_the_same(crowded: Path) -> None:
    shown = actions.plan_install(in_project(crowded), Wish())
    told = json.loads(json.dumps(wording.as_json(shown, ["a note"], dry_run=True)))
    files = {row["path"].rpartition("/")[2]: row for row in told.pop("files")}
    assert files["cancel-ralph.md"] == {
        "path": f"{crowded}/.opencode/commands/cancel-ralph.md",
        "action": "skip",
        "why": "not written by sisyphus",
    }
    assert told == {
        "client": "opencode",
        "scope": "project",
        "folder": f"{crowded}/.opencode",
        "version": __version__,
        "dry_run": True,
        "changed": False,
        "folders_made": [f"{crowded}/.opencode/plugins"],
        "folders_removed": [],
        "folders_left": {},
        "parts": [],
        "offered": [],
        "notes": ["a note"],
    }
    assert wording.as_json(shown, [], dry_run=False)["changed"] is True
