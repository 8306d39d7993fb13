from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from making import ours as of_ours
from making import put, stored

from sisyphus.errors import NewerVersionError
from sisyphus.install import manifest
from sisyphus.install.place import Place

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json


PLACE = Place("opencode", "project", "/p/.opencode", "/p")


def _entry(folder: str = "/p/.opencode", scope: str = "project", **fields: Any) -> Json:
    known = {"client": "opencode", "scope": scope, "folder": folder}
    return {**known, "files": [], "folders": [], **fields}


def _file(home: Path) -> Path:
    return of_ours(home, "installs.json")


def test_an_installation_is_noted_and_forgotten(home: Path) -> None:
    manifest.Book().put(_entry(folders=["/p/.opencode"]))
    assert stored(_file(home)) == {"version": 1, "installs": [_entry(folders=["/p/.opencode"])]}
    assert manifest.noted(PLACE) == _entry(folders=["/p/.opencode"])
    assert manifest.folders("opencode") == ["/p/.opencode"]

    manifest.Book().drop(PLACE)
    assert stored(_file(home)) == {"version": 1, "installs": []}
    assert manifest.noted(PLACE) == {}


def test_another_folder_is_another_installation(home: Path) -> None:
    manifest.Book().put(_entry("/a"))
    manifest.Book().put(_entry("/b"))
    manifest.Book().put(_entry("/a", sisyphus="2"))
    assert manifest.folders("opencode") == ["/b", "/a"]
    manifest.Book().drop(Place("opencode", "project", "/b", "/"))
    assert manifest.entries() == [_entry("/a", sisyphus="2")]
    assert manifest.folders("claude") == []
    assert _file(home).stat().st_mode & 0o777 == 0o600


def test_another_scope_in_the_same_folder_is_another_installation() -> None:
    manifest.Book().put(_entry())
    manifest.Book().put(_entry(scope="local"))
    manifest.Book().drop(PLACE)
    assert manifest.entries() == [_entry(scope="local")]


def test_nothing_is_written_to_forget_what_was_never_noted(home: Path) -> None:
    manifest.Book().drop(PLACE)
    assert not _file(home).exists()


def test_what_this_version_does_not_know_stays(home: Path) -> None:
    row = {"path": "/p/a", "sha256": "1", "new": 1}
    known = _entry("/p", files=[row], extra=2)
    put(_file(home), json.dumps({"version": 1, "top": 3, "installs": [7, _entry("/q"), known]}))

    manifest.Book().put(_entry("/p", files=[{"path": "/p/a", "sha256": "2"}]))

    changed = _entry("/p", files=[{"path": "/p/a", "sha256": "2", "new": 1}], extra=2)
    expected = {"version": 1, "top": 3, "installs": [7, _entry("/q"), changed]}
    assert stored(_file(home)) == expected


BEFORE = [
    pytest.param({"version": 1, "installs": [_entry("/q")]}, id="some"),
    pytest.param(None, id="none"),
]


@pytest.mark.parametrize("before", BEFORE)
def test_a_note_can_be_taken_back(home: Path, before: Json | None) -> None:
    if before:
        put(_file(home), json.dumps(before))
    book = manifest.Book()
    book.put(_entry("/p"))
    book.restore()
    assert (stored(_file(home)) if before else _file(home).exists()) == (before or False)


def test_where_nothing_was_noted_there_is_nothing_to_take_back(home: Path) -> None:
    manifest.Book().restore()
    assert not _file(home).exists()


def test_a_file_of_a_newer_version_is_left_alone(home: Path) -> None:
    put(_file(home), '{"version": 2}')
    with pytest.raises(NewerVersionError):
        manifest.Book()


STRANGE = [
    pytest.param("{", id="cut short"),
    pytest.param('{"installs": {}}', id="another shape"),
]


@pytest.mark.parametrize("text", STRANGE)
def test_what_cannot_be_read_is_set_aside(home: Path, text: str) -> None:
    put(_file(home), text)
    assert manifest.entries() == []
    manifest.Book().put(_entry("/p"))
    (kept,) = _file(home).parent.glob("installs.json.corrupt-*")
    assert kept.read_text() == text
    assert manifest.folders("opencode") == ["/p"]


HOSTILE = [
    pytest.param([_entry("/p/.opencode", folders=["/etc", "/p/.opencode2", 7, "/p/x"])], id="far"),
    pytest.param([_entry("/p/.opencode", folders="/p/.opencode")], id="no list"),
    pytest.param(["/p/.opencode", None], id="no objects"),
]


@pytest.mark.parametrize("installs", HOSTILE)
def test_only_folders_around_ours_can_have_been_made_for_it(
    home: Path, installs: list[object]
) -> None:
    put(_file(home), json.dumps({"version": 1, "installs": installs}))
    assert manifest.noted(PLACE).get("folders", []) == []


def test_files_are_told_with_their_digests() -> None:
    (row,) = manifest.digests({"/p/a": b"abc"})
    assert row["path"] == "/p/a"
    assert row["sha256"].startswith("ba7816bf8f01cfea")


def test_folders_go_with_the_last_scope_that_writes_into_them(project: Path) -> None:
    folder = str(project / ".claude")
    (project / ".claude").mkdir()
    places = [Place("claude", scope, folder, str(project)) for scope in ("local", "project")]
    local, shared = places
    made = [folder, f"{folder}/gone"]
    manifest.Book().put({**_entry(folder, folders=made), "client": "claude", "scope": "local"})
    manifest.Book().put({**_entry(folder), "client": "claude", "scope": "project"})
    manifest.Book().put(_entry("/p"))
    manifest.Book().drop(local)
    assert manifest.noted(local) == {}
    assert manifest.noted(shared)["folders"] == [folder]
    assert [entry["folders"] for entry in manifest.entries() if entry["folder"] == "/p"] == [[]]
