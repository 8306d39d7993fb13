from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

import pytest
from making import ours, put

from sisyphus.configuring import change
from sisyphus.errors import SisyphusError
from sisyphus.settings import CONFIG_BYTES

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def own(home: Path) -> Path:
    return ours(home, "config.toml")


def _set(path: Path, key: str, value: Any) -> None:
    change.set_value(str(path.parent), str(path), "", key, value)


def _unset(path: Path, key: str) -> bool:
    return change.unset(str(path.parent), str(path), "", key)


@pytest.mark.parametrize("key", ["rules.enabled", "ralph.enabled", "x", "", "ralph.no_progress.x"])
def test_what_is_not_there_is_not_taken_out(own: Path, key: str) -> None:
    put(own, "[ralph]\nno_progress = 3\n")

    assert not _unset(own, key)
    assert own.read_text() == "[ralph]\nno_progress = 3\n"


def test_a_key_that_is_there_is_taken_out(own: Path) -> None:
    put(own, "[ralph]\nno_progress = 3\n")

    assert _unset(own, "ralph.no_progress")
    assert own.read_text() == ""


def test_a_byte_order_mark_stays(own: Path) -> None:
    put(own, "\ufeff[ralph]\n")

    _set(own, "ralph.no_progress", 7)

    assert own.read_text() == "\ufeff[ralph]\nno_progress = 7\n"


def test_a_file_that_is_not_there_is_made_for_this_user_alone(own: Path) -> None:
    _set(own, "rules.enabled", value=False)

    assert own.read_text() == "[rules]\nenabled = false\n"
    assert stat.S_IMODE(own.stat().st_mode) == 0o600


def test_a_projects_file_is_everybodys_and_no_lock_lies_beside_it(
    home: Path, project: Path
) -> None:
    path = project / ".claude/sisyphus.toml"

    change.set_value(str(ours(home, "")), str(path), str(project), "rules.enabled", value=False)

    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert os.listdir(path.parent) == ["sisyphus.toml"]


def test_the_rights_of_a_file_stay(own: Path) -> None:
    put(own, "").chmod(0o640)

    _set(own, "rules.enabled", value=False)

    assert stat.S_IMODE(own.stat().st_mode) == 0o640


def test_a_link_of_the_users_stays_one(own: Path, tmp_path: Path) -> None:
    target = put(tmp_path / "dot.toml", "[rules]\n")
    own.parent.mkdir(parents=True)
    own.symlink_to(target)

    _set(own, "rules.enabled", value=False)

    assert (own.is_symlink(), target.read_text()) == (True, "[rules]\nenabled = false\n")


BROKEN = [
    pytest.param(b"[rules\n", "at line 1, column 7", id="no TOML"),
    pytest.param(b"\xff", "not UTF-8", id="no text"),
    pytest.param(b"#" * 200_001, "too large", id="too large"),
    pytest.param(b"rules = 3\n", "written in a way that", id="a value for a section"),
    pytest.param(b"[[rules]]\nx = 1\n", "written in a way that", id="many sections of a name"),
]


@pytest.mark.parametrize(("content", "why"), BROKEN)
def test_a_broken_file_is_not_touched(own: Path, content: bytes, why: str) -> None:
    put(own, content)

    with pytest.raises(SisyphusError, match=why) as failed:
        _set(own, "rules.enabled", value=False)

    assert "`sisyphus config edit`" in str(failed.value)
    assert own.read_bytes() == content
    assert sorted(os.listdir(own.parent)) == ["config.toml", "config.toml.lock"]


def test_a_file_is_not_made_larger_than_hooks_read(own: Path) -> None:
    text = "[enforce]\n" + "#" * (CONFIG_BYTES - 20) + "\n"
    put(own, text)

    with pytest.raises(SisyphusError, match=r"larger than the 200,000 bytes .* Take something out"):
        _set(own, "enforce.claims", ["all done"])

    assert own.read_text() == text
    with pytest.raises(SisyphusError, match="larger than"):
        _set(own.with_name("other.toml"), "enforce.claims", ["x" * CONFIG_BYTES])
    assert not own.with_name("other.toml").exists()


def test_a_file_that_is_read_only_stays_as_it_is(own: Path) -> None:
    put(own, "[rules]\nenabled = false\n").chmod(0o444)

    with pytest.raises(SisyphusError, match=r"is read-only\. Make it writable"):
        _set(own, "ralph.no_progress", 7)
    with pytest.raises(SisyphusError, match="is read-only"):
        _unset(own, "rules.enabled")

    assert own.read_text() == "[rules]\nenabled = false\n"


def test_a_value_that_is_not_there_afterwards_is_told(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(own, "[ralph]\nno_progress = 3\n")
    monkeypatch.setattr(change, "_write", lambda *_: None)

    with pytest.raises(SisyphusError, match=r"ralph.no_progress was written .* does not count"):
        _set(own, "ralph.no_progress", 7)


def test_a_broken_file_is_no_file_without_the_key(own: Path) -> None:
    put(own, "[rules\n")

    with pytest.raises(SisyphusError, match="cannot be changed"):
        _unset(own, "rules.enabled")


def test_a_projects_link_leads_nobody_out_of_it(home: Path, project: Path, tmp_path: Path) -> None:
    outside = put(tmp_path / "outside/sisyphus.toml", "[rules]\n")
    (project / ".claude").symlink_to(outside.parent)
    path = project / ".claude/sisyphus.toml"

    with pytest.raises(SisyphusError, match="leaves"):
        change.set_value(str(ours(home, "")), str(path), str(project), "rules.enabled", value=False)

    outside.unlink()
    with pytest.raises(SisyphusError, match="leaves"):
        change.set_value(str(ours(home, "")), str(path), str(project), "rules.enabled", value=False)
    assert not outside.exists()


def test_a_place_that_cannot_be_written_is_told(own: Path, tmp_path: Path) -> None:
    put(own.parent, "a file in the place of our folder")

    with pytest.raises(SisyphusError, match="cannot be written"):
        _set(own, "rules.enabled", value=False)

    path = put(tmp_path / "file", "") / "config.toml"
    with pytest.raises(SisyphusError, match="cannot be written"):
        change.set_value(str(tmp_path / "ours"), str(path), "", "rules.enabled", value=False)
