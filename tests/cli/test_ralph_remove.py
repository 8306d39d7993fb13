from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import typer
from making import ours
from ralph.past.log import a_loop, known, lives, ran, starts
from typer.testing import CliRunner

from sisyphus.cli import ralph_remove as door
from sisyphus.cli import users_own
from sisyphus.errors import SisyphusError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

app = typer.Typer()
app.command()(door.archive)
app.command()(door.delete)


def _asked(*words: str, answer: str = "") -> str:
    done = CliRunner().invoke(app, words, input=answer, catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    return done.stdout


def _ids() -> list[str]:
    return [record.loop_id for record in known()]


@pytest.fixture
def at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "is_terminal", lambda _: True)


@pytest.fixture(autouse=True)
def _played() -> None:
    ran(a_loop("ended", "s1", minute=0))
    starts(a_loop("lost-", "s2", minute=1))
    starts(lives(a_loop("alive", "s3", minute=2)))


def test_a_lost_loop_is_archived_by_how_it_begins() -> None:
    assert _asked("archive", "lo") == "Loop lost- archived.\n"
    assert [record.result for record in known()] == ["active", "archived", "success"]


def test_json_tells_the_loop() -> None:
    [row] = json.loads(_asked("archive", "lost-", "--json"))
    assert (row["loop_id"], row["outcome"]) == ("lost-", "archived")
    [row] = json.loads(_asked("delete", "lost-", "--yes", "--json"))
    assert (row["loop_id"], row["outcome"]) == ("lost-", "archived")
    assert _ids() == ["alive", "ended"]


REFUSED = [
    pytest.param(["archive", "ended"], r"has ended already \(success\)", id="archive, ended"),
    pytest.param(["archive", "x"], "no loop 'x' is known", id="archive, unknown"),
    pytest.param(["delete", "x", "--yes"], "no loop 'x' is known", id="delete, unknown"),
    pytest.param(["delete", "ended", "alive", "--yes"], "alive is active.*cancel", id="active"),
    pytest.param(["delete", "ended"], "nobody to ask.*--yes", id="nobody to ask"),
    pytest.param(["delete", "--archived"], "nobody to ask.*--yes", id="nobody to ask, all"),
    pytest.param(["delete", "ended", "--json"], "nobody to ask.*--yes", id="nobody to ask, json"),
]


@pytest.mark.parametrize(("words", "said"), REFUSED)
def test_what_cannot_be_done_changes_nothing(home: Path, words: list[str], said: str) -> None:
    before = ours(home, "logs/sessions.jsonl").read_bytes()
    with pytest.raises(SisyphusError, match=said):
        _asked(*words)
    assert ours(home, "logs/sessions.jsonl").read_bytes() == before


@pytest.mark.parametrize("words", [[], ["ended", "--archived"]], ids=["nothing", "both"])
def test_either_loops_are_named_or_all_that_are_over(words: list[str]) -> None:
    done = CliRunner().invoke(app, ["delete", *words, "--yes"])
    assert done.exit_code == 2
    assert "name the loops, or ask for --archived" in done.stderr
    assert len(_ids()) == 3


@pytest.mark.usefixtures("at_a_terminal")
def test_it_asks_at_a_terminal() -> None:
    refused = CliRunner().invoke(app, ["delete", "ended"], input="n\n")
    assert (refused.exit_code, refused.stderr) == (1, "Aborted.\n")
    assert len(_ids()) == 3

    shown = _asked("delete", "e", "ended", answer="y\n")

    assert shown.startswith("ended  success")
    assert "Delete them for good?" in shown
    assert shown.endswith("1 loop deleted.\n")
    assert _ids() == ["alive", "lost-"]


def test_all_that_is_over_goes() -> None:
    assert _asked("delete", "--archived", "--yes").endswith("2 loops deleted.\n")
    assert _ids() == ["alive"]
    assert _asked("delete", "--archived") == "No loop is over: there is nothing to delete.\n"
    assert _asked("delete", "--archived", "--json") == "[]\n"


def test_of_many_the_first_are_shown() -> None:
    for number in range(12):
        ran(a_loop(f"a{number:04}", f"t{number}", minute=10 + number))
    lines = _asked("delete", "--archived", "--yes").splitlines()
    assert lines[0].startswith("a0011  success")
    assert lines[10:] == ["and 4 more.", "14 loops deleted."]


def _while_it_asks(monkeypatch: pytest.MonkeyPatch, play: Callable[[], object]) -> None:
    monkeypatch.setattr(typer, "confirm", lambda *_, **__: play())


@pytest.mark.usefixtures("at_a_terminal")
def test_what_ends_while_it_asks_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    _while_it_asks(monkeypatch, lambda: ran(a_loop("newer", "s4", minute=9)))
    assert _asked("delete", "--archived").endswith("2 loops deleted.\n")
    assert _ids() == ["newer", "alive"]


@pytest.mark.usefixtures("at_a_terminal")
def test_of_two_loops_of_one_id_the_one_goes_that_was_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _while_it_asks(monkeypatch, lambda: ran(a_loop("ended", "s4", minute=9)))
    assert _asked("delete", "ended").endswith("1 loop deleted.\n")
    assert [record.session_id for record in known() if record.loop_id == "ended"] == ["s4"]
    assert len(_ids()) == 3


@pytest.mark.usefixtures("at_a_terminal")
def test_what_has_not_ended_is_refused_before_anything_is_shown_or_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SisyphusError, match="alive is active"):
        door.delete(["ended", "alive"])
    assert "ended" not in capsys.readouterr().out


IN_THE_CLIENT = [
    pytest.param(["delete", "--archived", "--yes"], "nothing was deleted", id="delete"),
    pytest.param(["archive", "lost-"], "nothing was archived", id="archive"),
]


@pytest.mark.parametrize(("words", "said"), IN_THE_CLIENT)
def test_the_clients_own_shell_is_refused(
    monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.setattr(users_own, "is_inside_client", lambda: True)
    with pytest.raises(SisyphusError, match=f"{said}: .*Do it in another terminal"):
        _asked(*words)
    assert [record.result for record in known()] == ["active", "lost", "success"]


def test_the_help_does_not_promise_to_cancel() -> None:
    said = door.delete.__doc__ or ""
    assert "Cancel a loop that has not ended first" in " ".join(said.split())
