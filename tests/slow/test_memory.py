"""Nothing is lost, torn, doubled or stale, whatever happens to hooks: real processes, through the
door. `SISYPHUS_TEST_KILLS` says how many die at random moments."""

from __future__ import annotations

import itertools
import os
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from doors import HANG_SECONDS, Door, finish, put, rule
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("SISYPHUS_TEST_KILLS", "200"))
PAIRS_TRIED = int(os.environ.get("SISYPHUS_TEST_PAIRS", "60"))
CROWD = 64
MANY_STEPS = 400


@pytest.fixture
def door(project: Path, home: Path) -> Door:
    put(project / "a.py", "x = 1\n")
    return Door(project, home / ".claude")


def patiently(*_: object) -> dict[str, str]:
    """A crowd on a busy machine may wait for longer than a client would let it."""
    return {**os.environ, "PYTHONWARNINGS": "ignore"}


# 64 at once


def crowd(door: Door, event: str, values: list[dict[str, Any]]) -> list[str]:
    started = [door.start(event, **one) for one in values]
    return [finish(process) for process in started]


def test_of_64_hooks_that_make_the_file_one_sends_the_text(door: Door) -> None:
    rule(door.project, "one", "MARK-ONE")
    calls = [door.reading("a.py", tool_use_id=f"call-{n}") for n in range(CROWD)]
    replies = crowd(door, "post-tool-use", calls)
    assert "".join(replies).count("MARK-ONE") == 1
    assert sum(map(bool, replies)) == 1
    assert door.is_whole()
    assert door.ask("SELECT count(*) FROM event") == [(CROWD,)]
    assert door.ask("SELECT count(*), hooks FROM session") == [(1, CROWD)]
    assert door.exports_are_current()


def test_of_64_hooks_each_sends_its_own_text(door: Door) -> None:
    for n in range(CROWD):
        rule(door.project, f"r{n}", f"MARK-{n}-.", f"f{n}.py")
    calls = [door.reading(f"f{n}.py", tool_use_id=f"call-{n}") for n in range(CROWD)]
    said = "".join(crowd(door, "post-tool-use", calls))
    assert [n for n in range(CROWD) if said.count(f"MARK-{n}-.") != 1] == []
    assert door.is_whole()
    assert door.ask("SELECT count(*) FROM event") == [(CROWD,)]
    assert door.exports_are_current()


def test_of_64_hooks_that_are_told_of_one_call_one_answers(door: Door) -> None:
    rule(door.project, "one", "MARK-ONE")
    replies = crowd(door, "post-tool-use", [door.reading("a.py", tool_use_id="call")] * CROWD)
    assert "".join(replies).count("MARK-ONE") == 1


def test_of_64_starts_at_once_one_sends_the_documents(door: Door) -> None:
    put(door.project / "README.md", "MARK-README\n")
    replies = crowd(door, "session-start", [{"source": "startup"}] * CROWD)
    assert "".join(replies).count("MARK-README") == 1
    assert door.ask("SELECT count(*) FROM event") == [(CROWD,)]


def test_64_hooks_set_an_unreadable_memory_aside_once(door: Door) -> None:
    put(door.database, "no database at all " * 500)
    put(door.project / "README.md", "MARK-README\n")
    replies = crowd(door, "session-start", [{"source": "startup"}] * CROWD)
    (kept,) = door.ours.glob("sisyphus.db.corrupt-*")
    assert kept.read_text().startswith("no database at all")
    assert "".join(replies).count("MARK-README") == 1
    assert "".join(replies).count("could not read its memory") == 1
    assert door.is_whole()
    assert door.ask("SELECT count(*) FROM event") == [(CROWD,)]


# Kills


def long_readme(project: Path, parts: int = 3) -> list[str]:
    """A document that takes several replies; what to look for in it."""
    marks = [f"MARK-{n}-." for n in range(parts * 2)]
    block = "\n".join(f"{'word ' * 18}" for _ in range(45))
    put(project / "README.md", "\n\n".join(f"## {mark}\n\n{block}" for mark in marks))
    return marks


def arrives(door: Door, session: str, tries: int = 12) -> str:
    """All that later prompts bring."""
    said = ""
    for n in range(tries):
        reply = door.hook("user-prompt-submit", session, prompt=f"go on {n}")
        if not reply:
            break
        said += reply
    return said


def wrongly(counts: dict[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
    """Of marks -> (times in all, times printed by killed hooks) those that were lost or doubled."""
    return {m: found for m, found in counts.items() if not 1 <= found[0] <= 1 + found[1]}


def counted(marks: list[str], by_killed: str, after: str) -> dict[str, tuple[int, int]]:
    return {m: (by_killed.count(m) + after.count(m), by_killed.count(m)) for m in marks}


EVENTS: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "start": ("session-start", {"source": "startup"}, []),
    "one-rule": ("post-tool-use", {"files": ("a.py",)}, ["RULE-ONE"]),
    "two-replies": ("post-tool-use", {"files": ("a.py",)}, ["RULE-ONE", "RULE-TWO"]),
    "quiet-stop": ("stop", {"last_assistant_message": "That is all."}, []),
}


@pytest.mark.parametrize(("event", "values", "rules"), EVENTS.values(), ids=EVENTS)
@pytest.mark.parametrize("is_new", [True, False], ids=["a-new-memory", "an-old-memory"])
def test_a_kill_at_every_step(
    door: Door,
    event: str,
    values: dict[str, Any],
    rules: list[str],
    *,
    is_new: bool,
) -> None:
    """Of a hook; then the same event comes once more, and some prompts."""
    marks = long_readme(door.project) if event == "session-start" else rules
    for mark in rules:
        rule(door.project, mark.lower(), f"{mark}\n" + "word \n" * 1500)
    if not is_new:
        door.hook("stop", "another")
    for step in range(1, MANY_STEPS):
        session = f"s{step}"
        if is_new:
            for path in door.ours.glob("sisyphus.db*"):
                path.unlink()
        filled = dict(values)
        files = filled.pop("files", ())
        filled |= door.reading(*files, tool_use_id=f"call-{step}") if files else {}
        printed, died = door.killed(step, event, session, **filled)
        after = door.hook(event, session, **filled)
        after += arrives(door, session)
        assert wrongly(counted(marks, printed, after)) == {}, f"step {step}"
        assert door.is_whole(), f"step {step}"
        assert door.exports_are_current(session), f"step {step}"
        assert list(door.ours.glob("*.corrupt-*")) == [], f"step {step}"
        if not died:
            break
    else:
        raise AssertionError("it never got through")
    assert step > 8


@pytest.mark.parametrize("seed", range(2))
def test_kills_at_random_moments(door: Door, seed: int) -> None:
    marks = long_readme(door.project)
    rules = ["RULE-ONE", "RULE-TWO"]
    for mark in rules:
        rule(door.project, mark.lower(), f"{mark}\n" + "word \n" * 1500)
    began = time.perf_counter()
    door.start("stop", "warm").communicate(timeout=HANG_SECONDS)
    longest = 3 * (time.perf_counter() - began)  # two at once, which say more
    chance = random.Random(seed)  # noqa: S311

    def one(n: int) -> tuple[int, dict[str, tuple[int, int]], bool]:
        session = f"k{seed}-{n}"
        starts = n % 2 == 0
        event = "session-start" if starts else "post-tool-use"
        calls = door.reading("a.py", tool_use_id=f"call-{n}")
        values: dict[str, Any] = {"source": "startup"} if starts else calls
        process = door.start(event, session, **values)
        time.sleep(chance.random() * longest)
        process.kill()
        printed, _ = process.communicate(timeout=HANG_SECONDS)
        died = process.returncode != 0
        said = printed.decode()
        after = door.hook(event, session, **values) + arrives(door, session)
        found = counted(marks if starts else rules, said if died else "", after)
        if not died:
            found = {m: (said.count(m) + after.count(m), 0) for m in found}
        return n, wrongly(found), died

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(one, range(KILLS // 2)))
    assert [(n, wrong) for n, wrong, _ in results if wrong] == []
    assert door.is_whole()
    assert sum(died for *_, died in results) > KILLS // 20
    assert list(door.ours.glob("*.corrupt-*")) == []


# Two at once


PAIRS: dict[str, tuple[str, dict[str, Any]]] = {
    "startup": ("session-start", {"source": "startup"}),
    "clear": ("session-start", {"source": "clear"}),
    "resume": ("session-start", {"source": "resume"}),
    "prompt": ("user-prompt-submit", {"prompt": "go on"}),
    "read": ("post-tool-use", {"files": ("a.py",)}),
    "stop": ("stop", {"last_assistant_message": "That is all."}),
    "end": ("session-end", {"reason": "other"}),
}
FORGETS = ("startup", "clear")
numbers = itertools.count()


@settings(
    max_examples=PAIRS_TRIED,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(
    first=st.sampled_from(sorted(PAIRS)),
    second=st.sampled_from(sorted(PAIRS)),
    step=st.integers(1, 34),
    dies=st.booleans(),
    is_known=st.booleans(),
)
def test_an_event_in_the_middle_of_another(
    door: Door, first: str, second: str, step: int, *, dies: bool, is_known: bool
) -> None:
    """The first stands still before any step, or is killed there, while the second happens; what
    was killed happens again, and the session goes on."""
    put(door.project / "README.md", "MARK-README\n")
    rule(door.project, "one", "RULE-ONE")
    session = f"p{next(numbers)}"
    if is_known:
        door.hook("session-start", session, source="resume")

    def values(name: str, call: str) -> tuple[str, dict[str, Any]]:
        event, given = PAIRS[name]
        files = given.get("files", ())
        return event, door.reading(*files, tool_use_id=call) if files else dict(given)

    event, given = values(first, "first")
    still = door.stopped(step, event, session, **given)
    event, given = values(second, "second")
    other = door.start(event, session, **given)
    time.sleep(0.15)  # it may wait for the first one's transaction
    still.send_signal(signal.SIGKILL if dies else signal.SIGCONT)
    printed, wrong = still.communicate(timeout=HANG_SECONDS)
    assert still.returncode in (0, -9), wrong.decode()
    said = finish(other)
    has_died = still.returncode == -9
    if has_died:
        event, given = values(first, "first")
        said += door.hook(event, session, **given)
    assert door.exports_are_current(session)
    said += printed.decode()
    said += door.hook("post-tool-use", session, **door.reading("a.py", tool_use_id="last"))
    assert door.exports_are_current(session)
    starts = [name for name in (first, second) if name in FORGETS]
    extra = printed.decode()
    times = {
        mark: (said.count(mark), has_died and mark in extra) for mark in ("MARK-README", "RULE-ONE")
    }
    assert 1 <= times["RULE-ONE"][0] <= 1 + len(starts) + times["RULE-ONE"][1]
    has_start = bool(starts) or is_known or "resume" in (first, second)
    before = int(is_known)  # was sent, and is not in `said`
    assert times["MARK-README"][0] + before >= has_start
    sends = {first, second} & {*FORGETS, "resume"}
    assert times["MARK-README"][0] <= len(sends) + times["MARK-README"][1]
    assert door.is_whole()
