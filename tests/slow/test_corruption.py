"""A store with random damage: at a Stop, a loop, a hold or enforcement makes its session go on, or
its user is told. Never is it dead in silence.

    SISYPHUS_CORRUPTIONS=1000 pytest -m slow tests/slow/test_corruption.py
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from lived_in import lived_in
from world import World

from sisyphus.ground.store import Store, open_store

pytestmark = pytest.mark.slow

DONE = "All tasks are complete."
COUNT = int(os.environ.get("SISYPHUS_CORRUPTIONS", "60"))

HALF = '{"at": 17'
VALUES: tuple[object, ...] = (
    None, "", "x", b"\xff\xfe", b"\0", 0, -1, 2**62, -(2**63), 1e300, -1e300, float("inf"),
    HALF, "[]", "{}", "null", "[[[[", '{"at": NaN}', '{"iteration": 1e999}', '{"x": 1}', "9" * 400,
)  # fmt: skip
TEXT = "CAST(? AS TEXT)"


def begin(world: World, kind: str) -> None:
    """Lets this hold session s1."""
    if kind == "loop":
        world.loop()
        return
    world.write("PLAN.md", "# Kiln\n\n- [ ] fire\n")
    world.start()
    words = ("boulder", "hold", "on") if kind == "hold" else ("enforce", "on")
    assert world.cli(*words).code == 0


def lived_in_store(world: World, kind: str) -> Path:
    """Makes a store of a week, with a loop, a hold or enforcement in session s1; returns a copy of
    our folder."""
    world.write(
        world.ours / "config.toml",
        "[ralph]\nbreaker_stops = 0\n[enforce]\ncooldown_seconds = 0\nmax_failures = 0\n",
    )
    with closing(open_store(str(world.ours))) as store:
        lived_in(store)
    begin(world, kind)
    assert world.stop(DONE).reason
    with closing(sqlite3.connect(world.ours / "sisyphus.db")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Path(shutil.copytree(world.ours, world.root / "copy", copy_function=shutil.copy2))


def damage_pages(file: Path, chance: random.Random) -> str:
    """Writes random bytes over some places of the file."""
    content = bytearray(file.read_bytes())
    places = []
    for _ in range(chance.choice((1, 1, 2, 5, 20))):
        length = chance.choice((1, 1, 4, 64, 4096))
        place = chance.randrange(len(content) - length)
        content[place : place + length] = chance.randbytes(length)
        places.append(f"{length} bytes at {place}")
    file.write_bytes(content)
    return ", ".join(places)


def damage_values(file: Path, chance: random.Random) -> str:
    """Puts values that nobody expects into some columns: of one row, or of a whole table. Half of
    them are of what holds the session, and of the session."""
    done = []
    with closing(sqlite3.connect(file)) as database:
        names = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        tables = [name for (name,) in database.execute(names)]
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            table = chance.choice((*tables, *["loop", "session", "enforced"] * (len(tables) // 3)))
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            column, value = chance.choice(columns), chance.choice(VALUES)
            mark = TEXT if value == b"\xff\xfe" else "?"
            where = chance.choice(("", f"WHERE {column} = (SELECT max({column}) FROM {table})"))
            if table == "loop" and where:
                where = "WHERE n = (SELECT max(n) FROM loop)"
            try:
                database.execute(f"UPDATE OR IGNORE {table} SET {column} = {mark} {where}", [value])
            except sqlite3.Error:
                continue
            done.append(f"{table}.{column} = {value!r:.40} {where}")
        database.commit()
    return "; ".join(done)


@pytest.mark.parametrize("kind", ["loop", "hold", "enforcement"])
def test_nothing_is_ever_dead_in_silence(
    world: World, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    copy = lived_in_store(world, kind)
    counts = {"held": 0, "told": 0, "told by the next reply": 0}
    silent = []
    for seed in range(COUNT):
        chance = random.Random(seed)
        shutil.rmtree(world.ours)
        shutil.copytree(copy, world.ours, copy_function=shutil.copy2)
        damage = chance.choice((damage_pages, damage_values))
        what = damage(world.ours / "sisyphus.db", chance)

        reply = world.stop(f"{DONE} {seed}.")

        assert reply.code == 0
        if reply.reason:
            counts["held"] += 1
        elif reply.message:
            counts["told"] += 1
        elif (later := world.stop(f"{DONE} Still, {seed}.")).message or later.reason:
            counts["told by the next reply"] += 1
        else:
            silent.append((seed, what, world.log()[-3000:]))
        assert not Store.open_paths
    with capsys.disabled():
        print(f"\n{COUNT} corruptions with a {kind}: {counts}, silent: {len(silent)}")
    assert not silent, "\n".join(map(str, silent))
