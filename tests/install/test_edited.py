from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from making import ours as of_ours
from making import put

from sisyphus.install import edited
from sisyphus.install.changes import digest, kept_at
from sisyphus.install.edited import Change, Original

if TYPE_CHECKING:
    from sisyphus._types import Json

PATH = "/p/settings.json"


def _noted(row: Json) -> Json:
    return {"edited": {PATH: row}}


def _keep(data: bytes) -> None:
    put(Path(kept_at(PATH, digest(data))), data)


def test_what_was_there_is_known_as_long_as_nobody_else_writes() -> None:
    _keep(b"was")
    noted = _noted(edited.row({}, PATH, Change(b"was", b"after", Original(b"was"), ("x",))))
    assert edited.original(noted, PATH, b"after") == Original(b"was")
    assert edited.original(noted, PATH, b"after, and more") is None
    assert edited.last_original(noted, PATH) == Original(b"was")
    assert edited.added(noted, PATH) == ["x"]


def test_that_there_was_no_file_is_known_too() -> None:
    noted = _noted(edited.row({}, PATH, Change(None, b"after", Original(None))))
    assert edited.original(noted, PATH, b"after") == Original(None)


def test_a_run_that_was_killed_leaves_what_the_one_before_wrote() -> None:
    """The book is written first."""
    _keep(b"was")
    first = edited.row({}, PATH, Change(b"was", b"one", Original(b"was")))
    second = edited.row(_noted(first), PATH, Change(b"one", b"two", Original(b"was")))
    third = edited.row(_noted(second), PATH, Change(b"two", b"three", Original(b"was")))
    for data in (b"one", b"two"):
        assert edited.original(_noted(second), PATH, data) == Original(b"was")
    assert edited.original(_noted(third), PATH, b"one") is None
    assert len(third["states"]) == 2


def test_a_copy_that_is_gone_or_another_is_no_help(home: Path) -> None:
    noted = _noted(edited.row({}, PATH, Change(b"was", b"after", Original(b"was"))))
    assert edited.original(noted, PATH, b"after") is None
    _keep(b"was")
    (kept,) = of_ours(home, "replaced").iterdir()
    kept.write_bytes(b"something else")
    assert edited.original(noted, PATH, b"after") is None


HOSTILE = [
    pytest.param({}, id="nothing"),
    pytest.param({"edited": []}, id="no object"),
    pytest.param({"edited": {PATH: 3}}, id="no row"),
    pytest.param({"edited": {PATH: {"states": {}, "added": "x"}}}, id="no lists"),
    pytest.param({"edited": {PATH: {"states": [3, {}], "added": [3]}}}, id="no texts"),
    pytest.param(
        {"edited": {PATH: {"states": [{"sha256": digest(b"a"), "original": "../../etc"}]}}},
        id="a path",
    ),
    pytest.param(
        {"edited": {PATH: {"states": [{"sha256": digest(b"a"), "original": {}}]}}}, id="no text"
    ),
    pytest.param({"edited": {PATH: {"states": [{"sha256": digest(b"a")}]}}}, id="no original"),
]


@pytest.mark.parametrize("noted", HOSTILE)
def test_a_strange_book_tells_nothing(noted: Json) -> None:
    assert edited.original(noted, PATH, b"a") is None
    assert edited.last_original(noted, PATH) is None
    assert edited.added(noted, PATH) == []


def test_what_is_behind_a_link_is_kept_under_its_own_name(tmp_path: Path) -> None:
    link, file = tmp_path / "settings.json", put(tmp_path / "claude.json", b"after")
    link.symlink_to(file)
    put(Path(kept_at(str(file), digest(b"was"))), b"was")
    row = edited.row({}, str(link), Change(b"was", b"after", Original(b"was")))
    noted = {"edited": {str(link): row}}
    assert edited.original(noted, str(link), b"after") == Original(b"was")
    assert edited.is_noted(noted, str(link))
    assert not edited.is_noted(noted, str(file))
