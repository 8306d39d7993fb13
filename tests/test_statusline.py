"""The line that the client shows below its prompt."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import time
from pathlib import Path

import pytest
from world import SISYPHUS, Json, World

from sisyphus.door import statusline


def line(world: World, session: str = "s1", **fields: object) -> str:
    payload = {"session_id": session, "cwd": str(world.project), **fields}
    out = io.StringIO()
    code = statusline.run([], io.BytesIO(json.dumps(payload).encode()), out, io.StringIO())
    assert code == 0
    return out.getvalue()


def context(tokens: int, window: int = 1_000_000) -> Json:
    usage = {"input_tokens": 1_000, "cache_read_input_tokens": tokens - 1_000, "output_tokens": 9}
    return {"context_window": {"context_window_size": window, "current_usage": usage}}


def test_it_shows_plan_loop_and_context(world: World) -> None:
    world.write("PLAN.md", "# Shop\n\n## Wave 1\n\n- [x] one\n\n## Wave 2\n\n- [ ] two\n")
    world.start()
    world.loop("--max-iterations", "7")

    assert line(world, **context(420_000)) == "Shop 1/2 50% wave 2 | loop 1/7 | ctx 42%\n"


def test_a_paused_loop_is_shown_as_paused(world: World) -> None:
    world.start()
    world.loop("--max-iterations", "0")
    world.cli("ralph", "pause", "--session-id", "s1")

    assert line(world) == "loop 1 paused\n"


def test_without_plan_loop_and_context_it_is_empty(world: World) -> None:
    assert line(world) == "\n"
    assert line(world, "s9", context_window={"current_usage": None}) == "\n"


@pytest.mark.parametrize("data", [b"[]", b"\xff", b'{"session_id": 1, "context_window": 3}'])
def test_it_is_silent_on_input_that_it_cannot_read(world: World, data: bytes) -> None:
    done = subprocess.run([SISYPHUS, "statusline"], input=data, capture_output=True, check=False)

    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, b"", b"")
    assert len(world.log().splitlines()) <= 1


def test_the_script_prints_it(world: World) -> None:
    """The first line is new, the others are kept ones."""
    world.write("PLAN.md", "# Shop\n\n- [ ] one\n")
    world.start()
    data = json.dumps({"session_id": "s1", "cwd": str(world.project)}).encode()
    for _ in range(3):
        done = subprocess.run([SISYPHUS, "statusline"], input=data, capture_output=True, check=True)
        assert done.stdout == b"Shop 0/1 0%\n"


def test_no_input_is_no_failure(world: World) -> None:
    done = subprocess.run(
        [SISYPHUS, "statusline"], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )

    assert (done.returncode, done.stdout, done.stderr, world.log()) == (0, b"", b"", "")


def test_a_person_who_types_it_reads_what_calls_it_and_nothing_is_logged(world: World) -> None:
    controller, terminal = pty.openpty()
    done = subprocess.run(
        [SISYPHUS, "statusline"], stdin=terminal, capture_output=True, text=True, check=False
    )
    os.close(terminal)
    os.close(controller)

    assert (done.returncode, done.stdout, world.log()) == (statusline.USAGE, "", "")
    assert "`sisyphus install`" in done.stderr


def test_it_is_silent_if_its_streams_are_closed(world: World) -> None:
    words = f"{SISYPHUS} statusline <&- >&- 2>&-; echo $?"
    done = subprocess.run(words, shell=True, capture_output=True, text=True, check=True)

    assert done.stdout == "0\n"


def test_it_is_silent_if_sisyphus_is_disabled(world: World) -> None:
    world.write("PLAN.md", "# Shop\n\n- [ ] one\n")
    world.start()
    world.setenv("SISYPHUS_DISABLE", "1")

    assert line(world) == ""


# ---------------------------------------------------------------- the line that is kept


PLAN = "# Shop\n\n- [x] one\n- [ ] two\n"


def kept(world: World) -> list[str]:
    """What the kept lines of this world say."""
    return [file.read_text().splitlines()[-1] for file in world.ours.glob("statusline/*")]


def test_what_has_not_changed_is_printed_without_the_store(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write("PLAN.md", PLAN)
    world.start()
    assert line(world, **context(420_000)) == "Shop 1/2 50% | ctx 42%\n"
    assert line(world, **context(420_000)) == "Shop 1/2 50% | ctx 42%\n"
    assert kept(world) == ["Shop 1/2 50% | ctx 42%"]

    with monkeypatch.context() as patch:
        patch.setattr("sisyphus.ground.store.open_store", None)
        assert line(world, **context(420_000)) == "Shop 1/2 50% | ctx 42%\n"


@pytest.mark.parametrize(
    ("change", "after"),
    [
        ("tokens", "Shop 1/2 50% | ctx 43%"),
        ("window", "Shop 1/2 50% | ctx 84% L1"),
        ("plan", "Shop 2/2 100% | ctx 42%"),
        ("loop", "Shop 1/2 50% | loop 1/100 | ctx 42%"),
        ("setting", "ctx 42%"),
        ("level", "Shop 1/2 50% | ctx 42% L1"),
        ("other session", "Shop 1/2 50% | ctx 42%"),
    ],
)
def test_what_has_changed_is_shown_at_once(world: World, change: str, after: str) -> None:
    world.write("PLAN.md", PLAN)
    world.start()
    for _ in range(3):
        line(world, **context(420_000))
    fields, session = context(420_000), "s1"

    if change == "tokens":
        fields = context(430_000)
    elif change == "window":
        fields = context(420_000, 500_000)
    elif change == "plan":
        world.write("PLAN.md", PLAN.replace("[ ]", "[x]"))
    elif change == "loop":
        world.loop()
    elif change == "setting":
        world.cli("config", "boulder.enabled", "false")
    elif change == "level":
        world.cli("config", "handoff.warn_percent", "40")
    else:
        session = "s2"

    assert line(world, session, **fields) == f"{after}\n"


@pytest.mark.parametrize("damage", ["", "\n", "a\nb\nc\nd\ne", "x" * 200_000, "\xff\n\n\n\n"])
def test_a_damaged_file_is_no_line(world: World, damage: str) -> None:
    world.write("PLAN.md", PLAN)
    world.start()
    for _ in range(3):
        line(world)
    (file,) = world.ours.glob("statusline/*")
    file.write_bytes(damage.encode("latin-1"))

    assert line(world) == "Shop 1/2 50%\n"


def test_a_line_of_which_time_is_a_part_is_kept_for_a_minute(world: World) -> None:
    world.start()
    world.cli("enforce", "on")
    shown = line(world)
    assert line(world) == shown
    (file,) = world.ours.glob("statusline/*")
    made, seconds = file.read_text().split("\n")[3:5]

    assert abs(float(made) - time.time()) < 60
    assert seconds == "60"


def test_a_new_plan_is_seen_after_a_minute(world: World) -> None:
    world.start()
    for _ in range(3):
        assert line(world) == "\n"
    world.write("PLAN.md", PLAN)
    (file,) = world.ours.glob("statusline/*")
    age(file, 61)

    assert line(world) == "Shop 1/2 50%\n"


def age(file: Path, seconds: float) -> None:
    """Lets a kept line be older than it is."""
    key, plan, stamp, made, *rest = file.read_text().split("\n")
    file.write_text("\n".join((key, plan, stamp, str(float(made) - seconds), *rest)))


@pytest.mark.parametrize("end", ["complete", "deleted"])
def test_a_plan_that_takes_the_place_of_another_is_seen_after_a_minute(
    world: World, end: str
) -> None:
    plan = world.write("PLAN.md", PLAN)
    world.start()
    if end == "complete":
        world.edit("PLAN.md", "[ ]", "[x]")
    else:
        plan.unlink()
    for _ in range(3):
        line(world)
    world.write(".claude/plans/next.md", "# Next\n\n- [ ] a\n")
    (file,) = world.ours.glob("statusline/*")
    age(file, 61)

    assert line(world) == "Next 0/1 0%\n"


@pytest.mark.parametrize("seconds", [-1, -600, -3500])
def test_a_line_from_the_future_is_no_line(world: World, seconds: float) -> None:
    """The clock has been set back."""
    world.write("PLAN.md", PLAN)
    world.start()
    for _ in range(3):
        line(world)
    (file,) = world.ours.glob("statusline/*")
    file.write_text(file.read_text().replace("Shop 1/2 50%", "an old line"))
    age(file, seconds)

    assert line(world) == "Shop 1/2 50%\n"


def test_where_nothing_can_be_written_the_line_is_printed(world: World) -> None:
    world.write("PLAN.md", PLAN)
    world.start()
    world.write(world.ours / "statusline", "a file in its way")

    assert line(world) == "Shop 1/2 50%\n"
    assert line(world) == "Shop 1/2 50%\n"
    assert world.log() == ""
