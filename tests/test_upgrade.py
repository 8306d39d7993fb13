"""A home of an earlier version goes on under this one: its settings files, and rows of work that is
in the middle."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from world import Json, World

FOREIGN: Json = {
    "model": "opus",
    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done", "timeout": 5}]}]},
}

# ---------------------------------------------------------------- settings


@pytest.fixture
def earlier(world: World) -> World:
    """Version 1.0.0 has been installed: its line woke sessions without a look for work, and its
    status line was drawn every five seconds."""
    file = world.write(settings_file(world), json.dumps(FOREIGN, indent=4))
    assert world.cli("install", "--yes").code == 0
    settings = read(world)
    idle = settings["hooks"]["Stop"][-1]["hooks"][0]
    start = settings["hooks"]["PreCompact"][0]["hooks"][0]["command"].partition(" hook ")[0]
    idle["command"] = f"{start} hook idle; [ $? -ne 2 ] || exit 2"
    settings["statusLine"]["refreshInterval"] = 5
    file.write_text(json.dumps(settings, indent=4))
    return world


def settings_file(world: World) -> Path:
    return world.claude / "settings.json"


def read(world: World) -> Json:
    settings: Json = json.loads(settings_file(world).read_text())
    return settings


def complaints(world: World) -> list[str]:
    """What `doctor` says of our hooks and of the database, if anything is wrong there."""
    found = world.cli("doctor", "--json").json["findings"]
    about = ("Claude Code hooks", "database")
    return [each["text"] for each in found if each["subject"] in about and each["level"] != "good"]


def test_install_brings_the_settings_of_an_earlier_version_up_to_date(earlier: World) -> None:
    before = earlier.cli("doctor").out
    earlier.cli("install", "--yes")
    after = read(earlier)

    assert "has other hooks than this version installs: Stop." in before
    assert not complaints(earlier)
    settings_file(earlier).write_text(json.dumps(FOREIGN, indent=4))
    earlier.cli("install", "--yes")
    assert after == read(earlier)


@pytest.mark.parametrize("installs_first", [False, True])
def test_uninstall_gives_back_what_was_there_before_an_earlier_version(
    earlier: World, installs_first: bool
) -> None:
    if installs_first:
        earlier.cli("install", "--yes")

    earlier.cli("uninstall", "--yes")

    assert settings_file(earlier).read_text() == json.dumps(FOREIGN, indent=4)


# ---------------------------------------------------------------- rows

STOPS = {
    "agents_commands": [], "at": 0.0, "blocks": 4, "cancelled_at": 0.0, "counted_at": 0.0,
    "error": "", "idle": 3, "name": "", "offset": 0, "same_error": 0, "scheduled": [],
    "standstill": "", "tested": "", "waits": {},
}  # fmt: skip
OPTIONS = {
    "promise": "DONE", "max_iterations": 7, "max_minutes": 1440, "max_tokens": 0, "verify": "",
    "verify_plan": False, "wait_for_user": False,
}  # fmt: skip
COUNTERS = {
    "iteration": 4, "tokens": 80040, "evidence": {}, "paused_at": 0.0, "paused_seconds": 0.0,
    "resumed_at": 0.0, "is_untold": False, "foreign": {},
}  # fmt: skip
RECORD = {
    "started_at": 1795955218.2, "session_ids": ["s1"], "total": 2, "completed": 1, "blocked": 0,
    "next_task": "total", "finished": [], "checkpoint": None, "automatic": None, "todos": [],
    "in_repo": False, "kord": "", "is_chosen": True, "problem": "",
}  # fmt: skip
"""The JSON columns of version 1.0.0. Who renames one of these must move the rows (`MIGRATIONS`)."""


def test_work_of_an_earlier_version_goes_on(world: World) -> None:
    world.write("PLAN.md", "# Shop\n\n- [x] cart\n- [ ] total\n")
    id = world.loop()
    columns = {
        "UPDATE session SET stops = ?": STOPS,
        "UPDATE loop SET options = ?": OPTIONS,
        "UPDATE loop SET counters = ?": COUNTERS,
        "UPDATE plan SET record = ?": RECORD,
    }
    with closing(sqlite3.connect(world.ours / "sisyphus.db")) as store, store:
        for statement, value in columns.items():
            assert store.execute(statement, [json.dumps(value)]).rowcount == 1

    assert not complaints(world)
    assert world.stop("I work.").message == "Ralph loop: iteration 5 of 7"
    assert world.plan()["next_task"] == "total"
    world.stop("<promise>DONE</promise>")
    assert (world.ended()[0]["loop_id"], world.ended()[0]["outcome"]) == (id, "success")
