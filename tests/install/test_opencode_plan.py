from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import put

from install.scene import MD, did, in_project, ours
from sisyphus.errors import SisyphusError
from sisyphus.install import found, marks, opencode, opencode_plan
from sisyphus.install.wish import Wish
from sisyphus.reading import DOCUMENT_BYTES

if TYPE_CHECKING:
    from pathlib import Path

NAME = "commands/checkpoint.md"


def _to_install(project: Path, *, replace: bool = False) -> dict[str, str]:
    return did(opencode_plan.to_install(in_project(project), Wish(replace=replace)))


def _wanted(project: Path) -> dict[str, bytes]:
    _, files, _ = opencode.wanted(in_project(project))
    return {os.path.relpath(path, project / ".opencode"): data for path, data in files.items()}


def test_into_an_empty_project_everything_is_written(project: Path) -> None:
    made = opencode_plan.to_install(in_project(project), Wish())
    assert did(made) == dict.fromkeys(_wanted(project), "write")
    folders = [".opencode", ".opencode/plugins", ".opencode/commands"]
    assert made.make == tuple(str(project / folder) for folder in folders)
    assert os.listdir(project) == [".git"]


LYING_THERE = [
    pytest.param(MD.encode(), "skip", "skip", id="a file of the user's"),
    pytest.param(ours(), "update", "update", id="an older one"),
    pytest.param(ours().replace(b"\n", b"\r\n"), "update", "update", id="an older one, CRLF"),
    pytest.param(ours() + b"x", "keep", "replace", id="an older one, edited"),
    pytest.param(ours("99.0"), "keep", "keep", id="a newer one"),
    pytest.param(b"", "skip", "skip", id="an empty one"),
]


@pytest.mark.parametrize(("data", "action", "with_consent"), LYING_THERE)
def test_what_lies_there_decides(
    project: Path, data: bytes, action: str, with_consent: str
) -> None:
    put(project / ".opencode" / NAME, data)
    assert _to_install(project)[NAME] == action
    assert _to_install(project, replace=True)[NAME] == with_consent


def test_what_is_there_already_stays(project: Path) -> None:
    data = _wanted(project)[NAME]
    for written in (data, data.replace(b"\n", b"\r\n")):
        put(project / ".opencode" / NAME, written)
        assert _to_install(project)[NAME] == "same"


def test_no_link_is_written_through(project: Path, tmp_path: Path) -> None:
    target = put(tmp_path / "target.md", ours())
    (project / ".opencode/commands").mkdir(parents=True)
    (project / ".opencode" / NAME).symlink_to(target)
    assert _to_install(project, replace=True)[NAME] == "skip"


def test_a_command_of_the_users_by_that_name_is_not_hidden(home: Path, project: Path) -> None:
    path = put(home / ".config/opencode/command/checkpoint.md", MD)
    made = opencode_plan.to_install(in_project(project), Wish(replace=True))
    (skipped,) = [step for step in made.steps if step.action == "skip"]
    assert os.path.relpath(skipped.path, project) == f".opencode/{NAME}"
    assert skipped.why == f"/checkpoint is defined in {path}"


def test_the_folder_that_holds_ours_is_the_only_one(project: Path) -> None:
    """An earlier version had a command that this one has not, and two more in both folders."""
    for name in ("command/gone.md", "command/checkpoint.md", "commands/checkpoint.md"):
        put(project / ".opencode" / name, ours())
    put(project / ".opencode/commands/kept.md", ours() + b"x")
    put(project / ".opencode/plugin/sisyphus.js", ours())
    actions = _to_install(project)
    assert actions["command/gone.md"] == "remove"
    assert actions["command/checkpoint.md"] == "remove"
    assert actions["commands/checkpoint.md"] == "update"
    assert actions["commands/kept.md"] == "keep"
    assert actions["plugin/sisyphus.js"] == "update"


def test_a_plugin_of_the_users_by_that_name_is_in_the_way(project: Path) -> None:
    put(project / ".opencode/plugin/sisyphus.js", "// mine\n")
    message = r"plugin/sisyphus\.js is in the way: not written by sisyphus\. Move it"
    with pytest.raises(SisyphusError, match=message):
        opencode_plan.to_install(in_project(project), Wish(replace=True))


REMOVED = [
    pytest.param(ours(), "remove", id="an older one"),
    pytest.param(ours("99.0"), "remove", id="a newer one"),
    pytest.param(ours().replace(b"\n", b"\r\n"), "remove", id="CRLF"),
    pytest.param(ours() + b"x", "keep", id="an edited one"),
    pytest.param(MD.encode(), None, id="one of the user's"),
]


@pytest.mark.parametrize(("data", "action"), REMOVED)
def test_what_is_ours_and_untouched_is_removed(
    project: Path, data: bytes, action: str | None
) -> None:
    put(project / ".opencode/commands/some.md", data)
    made = opencode_plan.to_uninstall(in_project(project), {})
    assert did(made).get("commands/some.md") == action


def test_what_a_killed_run_left_is_removed(project: Path) -> None:
    put(project / f".opencode/plugins/sisyphus.js{found.TEMPORARY}", "half")
    (project / f".opencode/plugins/link{found.TEMPORARY}").symlink_to("x")
    made = opencode_plan.to_uninstall(in_project(project), {})
    assert did(made) == {f"plugins/sisyphus.js{found.TEMPORARY}": "remove"}


def test_what_a_killed_run_left_is_put_back_as_it_was(project: Path) -> None:
    """Where the removal fails further on."""
    left = put(project / f".opencode/plugins/sisyphus.js{found.TEMPORARY}", "half")
    left.chmod(0o640)

    [step] = opencode_plan.to_uninstall(in_project(project), {}).changes

    assert (step.before.kind, step.before.data, step.before.mode) == (found.OURS, b"half", 0o640)


def test_what_a_killed_run_left_stays_where_it_cannot_be_read(project: Path) -> None:
    path = f".opencode/plugins/sisyphus.js{found.TEMPORARY}"
    put(project / path, b"x" * (DOCUMENT_BYTES + 1))

    assert did(opencode_plan.to_uninstall(in_project(project), {})) == {
        path.partition("/")[2]: "keep"
    }


def test_folders_that_were_made_go_when_they_are_empty(project: Path) -> None:
    own = project / ".opencode"
    put(own / "commands/some.md", ours())
    put(own / "plugins/sisyphus.js", marks.marked("x", "0.1"))
    put(own / "plugins/mine.js", "")
    made = [str(path) for path in (own, own / "commands", own / "plugins", own / "gone")]
    to_do = opencode_plan.to_uninstall(in_project(project), {"folders": made})
    assert to_do.drop == (str(own / "commands"),)
    assert to_do.left == ((str(own / "plugins"), ("mine.js",)), (str(own), ("plugins",)))


def test_a_link_in_the_place_of_a_folder_stays(project: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (project / ".opencode").symlink_to(tmp_path / "empty")
    assert (
        opencode_plan.to_uninstall(
            in_project(project), {"folders": [str(project / ".opencode")]}
        ).drop
        == ()
    )
