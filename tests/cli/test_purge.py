from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest
import typer
from making import ours, put
from typer.testing import CliRunner
from upkeep.attic import OF_SESSION, below

from sisyphus.cli import purge as door
from sisyphus.errors import SisyphusError
from sisyphus.state.lock import Lock

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json

app = typer.Typer()
app.command()(door.purge)

COUNT = len(OF_SESSION)


def _lay(home: Path, days: float, session: str = "s1") -> None:
    at = time.time() - days * 86_400
    for name in OF_SESSION:
        os.utime(put(ours(home, name.format(session)), "{}"), (at, at))


def _asked(*words: str, answer: str = "") -> str:
    return CliRunner().invoke(app, words, input=answer, catch_exceptions=False).stdout


def _json(*words: str) -> Json:
    found = json.loads(_asked("--json", *words))
    assert isinstance(found, dict)
    return found


@pytest.fixture
def at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "is_terminal", lambda _: True)


def test_what_would_go_is_shown_by_kind(home: Path) -> None:
    _lay(home, 31)
    shown = _asked("--dry-run").splitlines()
    assert shown[0] == "Not used for 30 days:"
    assert "  journals                     1  2 B" in shown
    assert shown[-1] == f"{COUNT} files, 34 B would go. `sisyphus purge` removes them."
    assert len(below(home)) == COUNT


def test_it_goes_without_a_question_where_that_is_wished(home: Path) -> None:
    _lay(home, 31)
    _lay(home, 3, "s2")
    assert _asked("--yes").splitlines()[-1] == f"{COUNT} files, 34 B removed."
    assert len(below(home)) == COUNT


@pytest.mark.usefixtures("at_a_terminal")
def test_it_asks_at_a_terminal(home: Path) -> None:
    _lay(home, 31)
    refused = CliRunner().invoke(app, [], input="n\n")
    assert (refused.exit_code, refused.stderr) == (1, "Aborted.\n")
    assert len(below(home)) == COUNT
    assert f"{COUNT} files, 34 B removed." in _asked(answer="y\n")
    assert below(home) == set()


@pytest.mark.parametrize("words", [[], ["--json"]], ids=["in words", "in json"])
def test_where_nobody_can_be_asked_nothing_goes(home: Path, words: list[str]) -> None:
    _lay(home, 31)
    with pytest.raises(
        SisyphusError, match=r"nothing was removed: there is nobody to ask.*`sisyphus purge --yes`"
    ):
        _asked(*words)
    assert len(below(home)) == COUNT


def test_what_stays_is_named_with_the_reason(home: Path) -> None:
    _lay(home, 31)
    with Lock(str(ours(home, "sessions/s1.json"))):
        shown = _asked("--yes")
    assert "stays: queue/s1.json (somebody is using it)" in shown
    assert "sessions/s1.json" in below(home)


def test_how_old_is_old_is_a_setting_and_an_option(home: Path) -> None:
    _lay(home, 10)
    assert _asked("--dry-run") == "There is nothing that nobody used for 30 days.\n"
    assert _asked("--days", "9", "--dry-run").startswith("Not used for 9 days:\n")
    assert _asked("--days", "0", "--dry-run").startswith("Not in use now:\n")
    config = put(ours(home, "config.toml"), "[state]\nkeep_days = 5\n")
    assert _json("--dry-run")["days"] == 5
    config.write_text("[state]\nkeep_days = 0\n")
    with pytest.raises(SisyphusError, match=r"everything is kept.*--days 30"):
        _asked()
    assert _asked("--days", "9", "--dry-run").startswith("Not used for 9 days:\n")


def test_where_all_is_too_young_that_is_said(home: Path) -> None:
    _lay(home, 0)
    told = "so does what was written less than 1 h ago."
    assert _asked("--days", "0", "--dry-run").endswith(f"{told}\n")
    assert len(below(home)) == COUNT


def test_the_models_shell_may_look_and_removes_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _lay(home, 31)
    monkeypatch.setenv("CLAUDECODE", "1")
    with pytest.raises(SisyphusError, match=r"nothing was removed: .* in another terminal\."):
        _asked("--yes")
    assert len(below(home)) == COUNT
    assert "would go" in _asked("--dry-run")


def test_all_is_more(home: Path) -> None:
    path = put(ours(home, "sessions/s1.json.corrupt-20260101T000000Z"), "{")
    os.utime(path, (1, 1))
    assert _asked("--yes", "--days", "0") == f"{door.NOTHING}\n"
    assert _json("--yes", "--all")["paths"] == [str(path)]
    assert not path.exists()


def test_it_answers_in_json(home: Path) -> None:
    _lay(home, 31)
    would = _json("--dry-run")
    assert (would["dry_run"], would["removed"], would["files"], would["bytes"]) == (
        True, 0, COUNT, 34,
    )  # fmt: skip
    assert would["kinds"][0] == {"kind": "journals", "files": 1, "bytes": 2}
    done = _json("--yes")
    assert (done["dry_run"], done["removed"], done["stays"]) == (False, COUNT, [])
    assert done["paths"] == would["paths"]
    assert _json("--yes")["files"] == 0
