"""State that somebody spoilt, and a disk that refuses: nothing is lost and nobody is disturbed."""

from __future__ import annotations

import fnmatch
import json
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from integration.desk import EVENTS, SESSION, Desk, assert_polite, nothing_else_touched, put
from integration.hostile import full_after, no_rights

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STATE = {
    "the boulder": ".boulder.json",
    "the project's records": ".sisyphus/projects/*.json",
    "the loop": ".sisyphus/ralph/loops/*.md",
    "what a session knows of its loops": ".sisyphus/ralph/loops/*.json",
}

REBUILT = (
    ".sisyphus/cache/*", ".sisyphus/logs/*", ".sisyphus/ralph/transcripts/*",
    ".sisyphus/config.toml", ".sisyphus/sisyphus.db", ".sisyphus/rules-injector/*",
    ".sisyphus/context-injector/*", "*.lock", "*.tmp",
)  # fmt: skip
"""Caches are rebuilt, logs appended to, and what is written for others is never read; of the memory
speaks tests/slow. The rest must be in `STATE`."""


def _files(desk: Desk, pattern: str = "*") -> list[Path]:
    found = [desk.client / ".boulder.json", *desk.ours.rglob("*")]
    return [
        path
        for path in sorted(found)
        if path.is_file() and fnmatch.fnmatch(str(path.relative_to(desk.client)), pattern)
    ]


def test_every_state_file_is_in_the_table(played: Desk) -> None:
    known = {path for pattern in (*STATE.values(), *REBUILT) for path in _files(played, pattern)}
    assert set(_files(played)) - known == set()
    assert [name for name, pattern in STATE.items() if not _files(played, pattern)] == []


def _newer(path: Path) -> bytes:
    if path.suffix == ".md":
        return b"---\nversion: 99\nsession_id: x\nfrom_the_future: true\n---\nprompt"
    return json.dumps({"version": 99, "from_the_future": True}).encode()


def _wrong_fields(path: Path) -> bytes:
    if path.suffix == ".md":
        return b"---\nsession_id: []\niteration: {}\nmax_iterations: x\nstatus: 7\n---\n"
    return json.dumps({field: [[7, None], {}] for field in json.loads(path.read_bytes())}).encode()


SPOILT: dict[str, Callable[[Path], bytes]] = {
    "nothing at all": lambda _: b"",
    "one NUL byte": lambda _: b"\0",
    "random bytes": lambda _: bytes(range(256)) * 10,
    "a list": lambda _: b"[1, 2]",
    "cut in half": lambda path: path.read_bytes()[: path.stat().st_size // 2],
    "100,000 brackets": lambda _: b"[" * 100_000,
    "every field wrong": _wrong_fields,
    "a newer version": _newer,
}


@pytest.mark.parametrize("kind", SPOILT)
def test_spoilt_state_is_kept_and_not_obeyed(played: Desk, tmp_path: Path, kind: str) -> None:
    spoilt = {path: SPOILT[kind](path) for path in _state(played)}
    for path, data in spoilt.items():
        path.write_bytes(data)
    _all_events(played, tmp_path)
    for path, data in spoilt.items():
        if kind == "every field wrong":
            continue  # an object of ours all the same: its fields are repaired in place
        copies = [path, *path.parent.glob(path.name + ".corrupt-*")]
        assert data in [copy.read_bytes() for copy in copies if copy.is_file()], path.name
        if kind == "a newer version" and path.name != ".boulder.json":
            assert path.read_bytes() == data


def test_a_folder_in_the_place_of_state_is_kept(played: Desk, tmp_path: Path) -> None:
    spoilt = _state(played)
    for path in spoilt:
        path.unlink()
        put(path / "precious.txt", "precious")
    _all_events(played, tmp_path)
    assert len([*played.client.rglob("precious.txt")]) == len(spoilt)


@pytest.mark.parametrize("kind", ["FIFO", "link to a device", "link out"])
def test_what_is_no_file_in_the_place_of_state_makes_nobody_wait(
    played: Desk, tmp_path: Path, kind: str
) -> None:
    outside = put(tmp_path / "outside.json", '{"outside": true}')
    for path in [*_state(played), *_files(played, ".sisyphus/cache/*")]:
        path.unlink()
        if kind == "FIFO":
            os.mkfifo(path)
        else:
            path.symlink_to("/dev/zero" if "device" in kind else outside)
    _all_events(played, tmp_path)


def test_a_fifo_in_the_place_of_a_log_makes_nobody_wait(played: Desk, tmp_path: Path) -> None:
    for path in _files(played, ".sisyphus/logs/*"):
        path.unlink()
        os.mkfifo(path)
    _all_events(played, tmp_path)


def test_a_link_in_the_place_of_a_temporary_file_is_not_followed(
    desk: Desk, tmp_path: Path
) -> None:
    outside = put(tmp_path / "outside", "precious")
    for name in (".boulder.json", f".sisyphus/rules-injector/session-{SESSION}.json"):
        (desk.client / name).parent.mkdir(exist_ok=True)
        (desk.client / f"{name}.tmp").symlink_to(outside)
    _all_events(desk, tmp_path)
    assert "Annotate all." not in desk.hook("post-tool-use").text  # sent and remembered
    assert outside.read_text("utf-8") == "precious"


def _state(desk: Desk) -> list[Path]:
    return [path for pattern in STATE.values() for path in _files(desk, pattern)]


def _all_events(desk: Desk, tmp_path: Path, **options: Any) -> None:
    with nothing_else_touched(desk.home, tmp_path):
        for event in EVENTS:
            assert_polite(desk.hook(event, **options))


@pytest.mark.parametrize("kind", SPOILT)
def test_a_spoilt_cache_does_no_harm(played: Desk, kind: str) -> None:
    for path in _files(played, ".sisyphus/cache/*"):
        path.write_bytes(b'{"files": [[]]}' if kind == "every field wrong" else SPOILT[kind](path))
    for event in EVENTS:
        assert_polite(played.hook(event))


IN_THE_WAY = {
    "our folder": "",
    "the logs": "logs",
    "the sessions": "sessions",
    "the projects": "projects",
    "the rules' ledger": "rules-injector",
    "the documents' ledger": "context-injector",
    "the loops": "ralph",
    "the caches": "cache",
}


@pytest.mark.parametrize("name", IN_THE_WAY)
def test_a_file_in_the_place_of_a_folder_stays_there(
    played: Desk, tmp_path: Path, name: str
) -> None:
    folder = played.ours / IN_THE_WAY[name]
    shutil.rmtree(folder, ignore_errors=True)
    put(folder, "precious")
    _all_events(played, tmp_path)
    assert folder.read_text() == "precious"


def _contents(desk: Desk) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in _files(desk, "*.json") + _files(desk, "*.md")}


@pytest.mark.parametrize("size", [0, 1, 50, 200, 1_000, 4_000])
def test_a_full_disk_loses_nothing(played: Desk, tmp_path: Path, size: int) -> None:
    """State that was there is whole afterwards; what could not be written is the older one."""
    before = set(_contents(played))
    played.write("src/other.py", "pass\n")
    _all_events(played, tmp_path, before=full_after(size))
    after = _contents(played)
    assert before - set(after) == set()
    for path, data in after.items():
        assert_whole(path, data)


def assert_whole(path: Path, data: bytes) -> None:
    """A JSON object, or a loop file with its frontmatter and prompt."""
    if path.suffix == ".json":
        assert isinstance(json.loads(data), dict), path
    else:
        assert data.startswith(b"---\n"), path
        assert data.count(b"\n---\n") == 1, path


def test_a_full_disk_at_the_very_first_start_does_no_harm(desk: Desk, tmp_path: Path) -> None:
    _all_events(desk, tmp_path, before=full_after(0))


def test_on_a_full_disk_a_new_session_still_gets_its_documents(desk: Desk) -> None:
    answer = desk.hook("session-start", before=full_after(0))
    assert "How to build" in answer.text


@pytest.mark.parametrize("fixture", ["desk", "played"])
def test_a_read_only_home_does_no_harm(request: pytest.FixtureRequest, fixture: str) -> None:
    desk: Desk = request.getfixturevalue(fixture)
    folders = [desk.client, *(path for path in desk.client.rglob("*") if path.is_dir())]
    before = _contents(desk)
    for folder in folders:
        folder.chmod(0o500)
    for path in before:
        path.chmod(0o400)
    try:
        for event in EVENTS:
            assert_polite(desk.hook(event, before=no_rights))
        assert _contents(desk) == before
    finally:
        for folder in folders:
            folder.chmod(0o700)


def test_what_a_killed_writer_left_behind_is_written_over(played: Desk) -> None:
    for path in _files(played, "*.json"):
        put(path.with_name(path.name + ".tmp"), '{"half": ')
    for event in EVENTS:
        assert_polite(played.hook(event, session_id="another-session"))
    for path, data in _contents(played).items():
        assert_whole(path, data)
