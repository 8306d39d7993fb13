"""An installation for Claude Code as a whole."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import COMMAND, put, stored
from making import ours as of_ours

from install.claude.scene import install, values, write
from install.scene import did, tree, uninstalled
from sisyphus.errors import SisyphusError
from sisyphus.install import commands, wiring
from sisyphus.install.claude import place as claude
from sisyphus.install.wish import Wish

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus.install.place import Place


def _others(home: Path) -> dict[str, object]:
    return {name: one for name, one in tree(home).items() if not name.startswith(".claude")}


def test_everything_comes_and_goes(place: Place, home: Path, project: Path) -> None:
    before = tree(project), _others(home)
    done = install(place)
    assert set(did(done).values()) == {"write"}
    found = values(place)
    called = "sisyphus" if place.scope == "project" else COMMAND
    assert {wiring.program(one.command) for one in wiring.entries(found)} == {called}
    assert found["statusLine"] == {"type": "command", "command": f"{called} statusline"}
    assert len(os.listdir(claude.commands(place))) == len(commands.for_claude())
    assert not install(place).changes
    uninstalled(place)
    assert (tree(project), _others(home)) == before
    assert [name for name in tree(home) if not name.startswith(".claude/.sisyphus")] in (
        [],
        [".claude"],
    )


def test_hooks_alone_come_unasked_and_the_rest_is_offered(place: Place) -> None:
    done = install(place, Wish())
    assert list(values(place)) == ["hooks"]
    assert (done.parts, done.offers) == (("hooks",), ("commands", "statusline"))
    assert not os.path.exists(claude.commands(place))


def _client(folder: Path, version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    put(folder / "claude", f"#!/bin/sh\necho '{version} (Claude Code)'\n").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_what_an_older_client_does_not_know_is_not_wired_until_it_is_upgraded(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _client(tmp_path / "bin", "2.1.200", monkeypatch)
    done = install(place, Wish())
    assert any("2.1.200 is older than 2.1.329" in note for note in done.notes)
    assert "PostToolBatch" not in values(place)["hooks"]
    assert values(place)["hooks"]["PostToolUse"][0]["matcher"].startswith("Read|")

    _client(tmp_path / "bin", "2.1.329", monkeypatch)
    assert install(place, Wish()).changes
    assert "PostToolUse" not in values(place)["hooks"]
    assert len(values(place)["hooks"]["PostToolBatch"]) == 1


def test_the_wiring_of_an_earlier_version_is_replaced_and_goes(place: Place) -> None:
    def group(words: str, **more: str) -> dict[str, object]:
        command = f"/old/sisyphus hook {words}"
        return {**more, "hooks": [{"type": "command", "command": command, "timeout": 10}]}

    mine = {"matcher": "Read", "hooks": [{"type": "command", "command": "mine"}]}
    earlier = {
        "PostToolUse": [mine, group("post-tool-use", matcher="Read|Edit|Skill")],
        "PostToolBatch": [group("post-tool-batch")],
        "PostToolUseFailure": [group("post-tool-use-failure")],
    }
    write(place, {"hooks": earlier})
    install(place, Wish())
    found = values(place)["hooks"]
    assert found["PostToolUse"] == [mine]
    assert "PostToolUseFailure" not in found
    (ours,) = found["PostToolBatch"]
    assert wiring.called_event(ours["hooks"][0]["command"]) == "post-tool-use"

    write(place, {"hooks": earlier})
    uninstalled(place)
    assert values(place) == {"hooks": {"PostToolUse": [mine]}}


def test_parts_that_are_there_stay_until_they_are_not_wanted(place: Place) -> None:
    install(place)
    assert not install(place, Wish()).changes
    gone = Wish(without=frozenset({"statusline", "commands"}))
    done = install(place, gone)
    assert list(values(place)) == ["hooks"]
    assert not os.listdir(claude.commands(place))
    assert done.parts == ("hooks",)
    install(place, Wish(parts=frozenset(), without=frozenset({"hooks"})))
    assert not os.path.exists(claude.settings(place))


def test_new_files_of_the_users_own_show_in_no_git_status(project: Path) -> None:
    place = claude.of_local(str(project))
    (project / ".git/info").mkdir()
    exclude = put(project / ".git/info/exclude", "# mine\n")
    install(place)
    lines = exclude.read_text().splitlines()
    assert lines[:2] == ["# mine", "/.claude/settings.local.json"]
    assert len(lines) == 2 + len(commands.for_claude())
    uninstalled(place)
    assert exclude.read_text() == "# mine\n"


def test_a_file_that_was_there_before_is_not_hidden(project: Path) -> None:
    place = claude.of_local(str(project))
    (project / ".git/info").mkdir()
    write(place, {})
    install(place, Wish())
    assert not (project / ".git/info/exclude").exists()


@pytest.mark.parametrize("scope", ["project", "local"])
def test_the_home_folder_is_no_project_of_its_own(home: Path, scope: str) -> None:
    place = {"project": claude.of_project, "local": claude.of_local}[scope](str(home))
    with pytest.raises(SisyphusError, match=r"holds your own settings, no project's\. Use --scope"):
        install(place)
    assert tree(home) == {}


def test_what_was_done_is_noted_and_kept(place: Place, home: Path) -> None:
    write(place, {"a": 1})
    install(place, Wish())
    (entry,) = stored(of_ours(home, "installs.json"))["installs"]
    assert (entry["client"], entry["scope"], entry["folder"]) == (
        "claude",
        place.scope,
        place.folder,
    )
    (row,) = entry["edited"].values()
    (kept,) = of_ours(home, "replaced").iterdir()
    assert kept.read_bytes() == b'{\n    "a": 1\n}'
    assert kept.stat().st_mode & 0o777 == 0o600
    assert row["states"][0]["original"].startswith(kept.name[:12])
