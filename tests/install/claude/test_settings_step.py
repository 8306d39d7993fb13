from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from install.claude.scene import ALL, MINE, install, values, write
from install.scene import uninstalled
from sisyphus.errors import SisyphusError
from sisyphus.install import actions, changes, notes, wording
from sisyphus.install.claude import place as claude
from sisyphus.install.wish import PARTS, Wish

if TYPE_CHECKING:
    from sisyphus.install.place import Place


def test_older_entries_are_upgraded_and_those_of_others_keep_their_order(place: Place) -> None:
    old = {"type": "command", "command": "/old/bin/sisyphus hook stop", "timeout": 5}
    retired = {"type": "command", "command": "sisyphus hook retired"}
    mixed = {"matcher": "x", "hooks": [MINE, old, {**MINE, "command": "two"}]}
    hooks = {"Retired": [{"hooks": [retired]}], "Stop": [mixed], "PreToolUse": [{"hooks": [MINE]}]}
    write(place, {"a": 1, "hooks": hooks, "b": 2})

    install(place, Wish())

    found = values(place)
    assert list(found) == ["a", "hooks", "b"]
    assert list(found["hooks"])[:2] == ["Stop", "PreToolUse"]
    assert found["hooks"]["PreToolUse"] == [{"hooks": [MINE]}]
    kept, added = found["hooks"]["Stop"]
    assert kept == {"matcher": "x", "hooks": [MINE, {**MINE, "command": "two"}]}
    assert [one["timeout"] for one in added["hooks"]] == [900, 86400]
    assert "Retired" not in found["hooks"]


def test_what_the_client_wrote_anew_keeps_what_it_wrote(place: Place) -> None:
    """Claude Code puts the whole file into its own order when it stores something there."""
    write(place, {"z": 1, "hooks": {"Stop": [{"hooks": [MINE]}]}})
    install(place)
    found = values(place)
    write(place, {"model": "opus", **found}, indent=2)

    done = uninstalled(place)

    assert values(place) == {
        "model": "opus", "z": 1, "hooks": {"Stop": [{"hooks": [MINE]}]}
    }  # fmt: skip
    told = [note for note in notes.of(done) if note.startswith(claude.settings(place))]
    assert len(told) == 1
    assert "changed since sisyphus wrote it" in told[0]


def test_a_file_of_ours_that_the_client_wrote_anew_goes_when_nothing_else_is_in_it(
    place: Place,
) -> None:
    install(place)
    write(place, values(place))
    uninstalled(place)
    assert not os.path.exists(claude.settings(place))


def test_a_file_of_ours_with_something_else_in_it_stays(place: Place) -> None:
    install(place)
    write(place, {"model": "opus", **values(place)})
    done = uninstalled(place)
    assert values(place) == {"model": "opus"}
    if place.scope != "user":
        assert done.left[-1][0] == place.folder


def test_after_another_installation_the_first_original_comes_back(place: Place) -> None:
    text = '{ "a" :1,\n"hooks":{"Stop" :[ ]}}'
    os.makedirs(place.folder, exist_ok=True)
    put_at = claude.settings(place)
    with open(put_at, "w", encoding="utf-8") as file:
        file.write(text)
    for wish in (Wish(), ALL, Wish(without=frozenset({"statusline"}))):
        install(place, wish)
    uninstalled(place)
    with open(put_at, encoding="utf-8") as file:
        assert file.read() == text


def test_what_the_client_writes_at_that_moment_is_not_lost(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(place, {"z": 1})
    shown = actions.plan_install(place, Wish())
    monkeypatch.setattr(os, "fsync", lambda _: write(place, {"model": "opus"}))
    with pytest.raises(SisyphusError) as refused:
        actions.install(shown, Wish())
    assert str(refused.value) == (
        f"{claude.settings(place)}: somebody else has written it meanwhile. Nothing changed. "
        "Wait a moment, then run this again."
    )
    assert values(place) == {"model": "opus"}
    assert not [name for name in os.listdir(place.folder) if name.endswith("tmp")]


NOTHING = Wish(parts=frozenset(), without=frozenset(PARTS))


def test_without_all_parts_a_changed_file_is_kept_and_that_is_said(place: Place) -> None:
    write(place, {"z": 1})
    install(place, Wish())
    write(place, {"model": "opus", **values(place)}, indent=2)
    with open(claude.settings(place), "rb") as file:
        changed = file.read()

    done = install(place, NOTHING)

    assert values(place) == {"model": "opus", "z": 1}
    (step,) = done.changes
    assert step.why.startswith("changed since sisyphus wrote it")
    with open(changes.kept_at(step.path, changes.digest(changed)), "rb") as file:
        assert file.read() == changed


def test_without_all_parts_an_unchanged_file_is_what_it_was(place: Place) -> None:
    write(place, {"z": 1})
    install(place, Wish())
    (step,) = install(place, NOTHING).changes
    assert (step.why, step.keep) == ("", ())
    assert values(place) == {"z": 1}


def test_what_took_all_out_is_called_no_installation(place: Place) -> None:
    write(place, {"z": 1})
    install(place, Wish())
    done = install(place, NOTHING)
    assert " removed from " in wording.result(done)
    assert not [note for note in notes.of(done) if note.startswith("Sessions that start")]
    done = install(place, Wish())
    assert " installed in " in wording.result(done)
    assert [note for note in notes.of(done) if note.startswith("Sessions that start")]


def test_where_the_file_as_it_was_lies_is_said(place: Place) -> None:
    assert wording.kept(install(place, Wish())) == []
    uninstalled(place)
    write(place, {"z": 1})
    done = install(place, Wish())
    (told,) = [one for one in wording.kept(done) if "settings" in one]
    path = told.removesuffix(".").partition(" is kept: ")[2]
    with open(os.path.expanduser(path), encoding="utf-8") as file:
        assert file.read() == '{\n    "z": 1\n}'
    assert wording.kept(uninstalled(place)) == []


@pytest.mark.parametrize("number", ["1e999", "-1e999", '{"a": [0, 1e999]}'])
def test_a_number_that_nobody_can_write_again_is_refused_with_its_place(
    place: Place, number: str
) -> None:
    line = f'{{"type": "command", "command": "sisyphus statusline", "padding": {number}}}'
    os.makedirs(place.folder, exist_ok=True)
    with open(claude.settings(place), "w", encoding="utf-8") as file:
        file.write(f'{{"statusLine": {line}}}')
    with pytest.raises(SisyphusError, match=r"settings.*json, line 1, column .* too large to be"):
        install(place)
    uninstalled(place)
    with open(claude.settings(place), encoding="utf-8") as file:
        assert file.read() == "{}"


def test_a_statusline_of_the_users_stays_and_that_is_said(place: Place) -> None:
    write(place, {"statusLine": MINE})
    done = install(place)
    assert values(place)["statusLine"] == MINE
    assert "The `statusLine` that is set there is not ours: it stays as it is." in done.notes
    assert "statusline" not in actions.plan_install(place, Wish()).offers
