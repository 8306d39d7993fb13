from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cli.screen import on_a_terminal
from making import COMMAND, HANG_SECONDS, debug_log, ours, put, run_hook, stored
from test_start_up import HEAVY

import sisyphus
from sisyphus.checkpoint import handoffs
from sisyphus.ralph import store

if TYPE_CHECKING:
    from sisyphus._types import Json

RECORDED = sorted((Path(__file__).parents[1] / "data" / "statusline").glob("*.json"))


def a_status(project: Path, tokens: int | None = 420_000, **fields: Any) -> Json:
    """A payload of a window of a million tokens."""
    usage = None if tokens is None else {
        "input_tokens": tokens - 30_000,
        "cache_creation_input_tokens": 10_000,
        "cache_read_input_tokens": 20_000,
        "output_tokens": 500_000,
    }  # fmt: skip
    return {
        "session_id": "s1",
        "cwd": str(project),
        "model": {"id": "claude-opus-5-5"},
        "workspace": {"project_dir": str(project)},
        "context_window": {"context_window_size": 1_000_000, "current_usage": usage},
        **fields,
    }


def line(payload: Json | bytes, *words: str, **environment: str) -> str:
    """What is printed for a payload, without its line end and without colours."""
    done = subprocess.run(
        [COMMAND, "statusline", *words],
        input=payload if isinstance(payload, bytes) else json.dumps(payload).encode(),
        capture_output=True,
        check=True,
        timeout=HANG_SECONDS,
        env={**os.environ, "NO_COLOR": "1", **environment},
    )
    assert done.stderr == b""
    text = done.stdout.decode()
    assert text.count("\n") == 1
    return text.removesuffix("\n")


@pytest.fixture
def planned(project: Path) -> Path:
    plan = "# Shop\n\n## Wave 1\n\n### S01: Cart\n\n- [x] one\n- [ ] two\n"
    put(project / ".claude" / "PLAN.md", plan)
    run_hook("session-start", {"session_id": "s1", "cwd": str(project), "source": "startup"})
    return project


def start_loop(project: Path) -> None:
    prompt = '/sisyphus:ralph-loop "go" --max-iterations 100'
    run_hook("user-prompt-submit", {"session_id": "s1", "cwd": str(project), "prompt": prompt})


def test_plan_loop_and_context(planned: Path) -> None:
    start_loop(planned)
    assert line(a_status(planned)) == "Shop 1/2 wave 1 S01 | loop 1/100 | ctx 42%"


def test_colours_where_they_are_wanted(project: Path) -> None:
    status = a_status(project, 720_000)
    assert line(status, NO_COLOR="") == "\x1b[33mctx 72% L1\x1b[0m"
    assert line(status, NO_COLOR="", TERM="dumb") == "ctx 72% L1"
    assert line(status) == "ctx 72% L1"


def test_what_there_is_not_is_left_out(project: Path) -> None:
    assert line(a_status(project, None)) == ""
    assert line(a_status(project)) == "ctx 42%"


def test_what_was_handed_over(project: Path) -> None:
    entry = {"active": True, "level": "L2", "session_id": "s1"}
    folder = os.path.join(os.environ["CLAUDE_CONFIG_DIR"], ".sisyphus")
    handoffs.add(folder, str(project.resolve()), entry)  # type: ignore[arg-type]  # of JSON
    assert line(a_status(project, 870_000)) == "ctx 87% L2 handed over"


def test_a_paused_loop(home: Path, project: Path) -> None:
    start_loop(project)
    path = store.loop_path(str(ours(home, "")), "s1")
    text = Path(path).read_text()
    Path(path).write_text(text.replace('status: "active"', 'status: "paused"'))
    assert line(a_status(project)) == "loop 1/100 paused | ctx 42%"


def test_the_window_is_kept_for_the_hooks(home: Path, project: Path) -> None:
    line(a_status(project, None))
    kept = ours(home, "checkpoint/s1.json")
    assert stored(kept)["window"] == 1_000_000
    before = kept.stat()
    line(a_status(project, 500_000))
    assert kept.stat().st_ino == before.st_ino  # not written again
    line(a_status(project, context_window={"context_window_size": 200_000}))
    assert stored(kept)["window"] == 200_000


def test_the_line_respects_the_width(planned: Path) -> None:
    start_loop(planned)
    assert line(a_status(planned), COLUMNS="24") == "loop 1/100 | ctx 42%"
    assert line(a_status(planned), COLUMNS="8") == "ctx 42%"
    for odd in ("0", "many", "-3", "9" * 40):
        assert line(a_status(planned), COLUMNS=odd).startswith("Shop 1/2")


def test_it_is_short(project: Path) -> None:
    put(project / ".claude" / "PLAN.md", f"# {'Long ' * 60}\n\n- [ ] one\n")
    run_hook("session-start", {"session_id": "s1", "cwd": str(project), "source": "startup"})
    assert 100 < len(line(a_status(project), COLUMNS="500")) <= 120


def test_a_wave_of_another_plan_is_not_told(home: Path, planned: Path) -> None:
    (book,) = ours(home, "projects").glob("*/plans.json")
    found = json.loads(book.read_text())
    found["shown"]["plan"] = "docs/other.md"
    book.write_text(json.dumps(found))
    assert line(a_status(planned)) == "Shop 1/2 | ctx 42%"


ODD = [
    pytest.param(b"", id="nothing"),
    pytest.param(b"nonsense", id="no JSON"),
    pytest.param(b"[1]", id="a list"),
    pytest.param(b"[" * 100_000, id="100,000 brackets"),
    pytest.param(b'{"session_id": "../../x", "cwd": 7, "workspace": [], "model": "x"}', id="odd"),
    pytest.param(b'{"session_id": "s1", "cwd": "/no/such/folder"}', id="a folder that is gone"),
    pytest.param(b'{"cwd": "\\ud800", "workspace": {"project_dir": "/\\u0000"}}', id="no paths"),
    pytest.param(
        b'{"session_id": "s1", "context_window": {"context_window_size": -1, "current_usage":'
        b' {"input_tokens": true, "cache_read_input_tokens": 1e99}}}',
        id="no numbers",
    ),
]


@pytest.mark.parametrize("stdin", ODD)
def test_an_odd_payload_shows_what_is_known_of_the_folder(
    home: Path, planned: Path, stdin: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(planned)
    assert line(stdin) == "Shop 1/2 wave 1 S01"
    assert debug_log(home) == ""


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_recorded_payloads(project: Path, path: Path) -> None:
    raw = json.loads(path.read_text())
    raw["workspace"]["project_dir"] = raw["cwd"] = str(project)
    assert line(raw) == ("ctx 40%" if "after" in path.stem else "")


def test_a_part_that_fails_is_left_out(home: Path, planned: Path) -> None:
    start_loop(planned)
    put(ours(home, "checkpoint"), "in the way")
    shown = line(a_status(planned))
    assert shown == "Shop 1/2 wave 1 S01 | loop 1/100"
    assert "statusline: " in debug_log(home)


def test_another_process_that_holds_the_state_does_not_hold_the_line(
    home: Path, planned: Path
) -> None:
    with put(ours(home, "checkpoint/s1.json.lock"), "").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert line(a_status(planned)) == "Shop 1/2 wave 1 S01"


def test_enforcement(home: Path, planned: Path) -> None:
    subprocess.run([COMMAND, "enforce", "on", "--project", str(planned)], check=True)
    assert line(a_status(planned)) == "Shop 1/2 wave 1 S01 | enforce on | ctx 42%"
    assert line(a_status(planned), SISYPHUS_ENFORCE_ENABLED="0") == (
        "Shop 1/2 wave 1 S01 | ctx 42%"
    )

    subprocess.run([COMMAND, "enforce", "off", "--project", str(planned)], check=True)
    assert line(a_status(planned)) == "Shop 1/2 wave 1 S01 | ctx 42%"
    put(next(ours(home, "projects").glob("*/enforce.json")), "no JSON")
    assert line(a_status(planned)) == "Shop 1/2 wave 1 S01 | ctx 42%"


SWITCHES = [
    pytest.param("SISYPHUS_BOULDER_ENABLED", "loop 1/100 | ctx 42%", id="plans"),
    pytest.param("SISYPHUS_CHECKPOINT_ENABLED", "Shop 1/2 wave 1 S01 | loop 1/100", id="context"),
    pytest.param("SISYPHUS_RALPH_ENABLED", "Shop 1/2 wave 1 S01 | ctx 42%", id="loops"),
]


@pytest.mark.parametrize(("name", "expected"), SWITCHES)
def test_what_is_off_is_not_shown(planned: Path, name: str, expected: str) -> None:
    start_loop(planned)
    assert line(a_status(planned), **{name: "0"}) == expected


def test_off_means_off(home: Path, project: Path) -> None:
    done = subprocess.run(
        [COMMAND, "statusline"],
        input=json.dumps(a_status(project)).encode(),
        capture_output=True,
        check=True,
        env={**os.environ, "SISYPHUS_DISABLE": "1"},
    )
    assert (done.stdout, done.stderr) == (b"", b"")
    assert not (home / ".claude").exists()


def test_words_behind_it_are_passed_over(project: Path) -> None:
    assert line(a_status(project), "--of-a-newer-client") == "ctx 42%"


def test_a_person_is_told_what_it_reads() -> None:
    shown = on_a_terminal([COMMAND, "statusline"])
    assert shown.code == 0
    assert "sisyphus statusline reads JSON from stdin" in shown.text


def test_help_is_for_people() -> None:
    done = subprocess.run(
        [COMMAND, "statusline", "--help"], capture_output=True, text=True, check=True
    )
    assert "Usage: sisyphus statusline" in done.stdout
    assert "statusLine" in done.stdout


def test_a_closed_stdout_is_no_failure(home: Path, project: Path) -> None:
    with subprocess.Popen(
        ["/bin/sh", "-c", f'"{COMMAND}" statusline >&-'], stdin=subprocess.PIPE
    ) as process:
        process.communicate(json.dumps(a_status(project)).encode(), HANG_SECONDS)
    assert process.returncode == 0
    assert debug_log(home) == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a disk that is full")
def test_a_line_that_cannot_be_printed_is_told_in_the_log(home: Path, project: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [COMMAND, "statusline"],
            input=json.dumps(a_status(project)).encode(),
            stdout=full,
            check=False,
        )
    assert done.returncode == 0
    assert "statusline: OSError: " in debug_log(home)


def test_a_folder_that_somebody_removed_meanwhile(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(
        ["/bin/sh", "-c", f'rmdir "{gone}" && "{COMMAND}" statusline'],
        input=b"{}",
        capture_output=True,
        check=True,
        cwd=gone,
    )
    assert (done.stdout, done.stderr) == (b"\n", b"")


RAN = """
import json, os, sys

def leave(code, leave=os._exit):
    sys.stderr.write(json.dumps(sorted(sys.modules)))
    leave(code)

os._exit = leave
sys.argv = ["sisyphus", "statusline"]
from sisyphus.entry import main
main()
"""


def test_it_loads_nothing_heavy(planned: Path) -> None:
    start_loop(planned)
    done = subprocess.run(
        [sys.executable, "-S", "-c", RAN],
        input=json.dumps(a_status(planned, 720_000)),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(sisyphus.__file__).parents[1])},
    )
    assert "loop 1/100" in done.stdout
    assert HEAVY & set(json.loads(done.stderr)) == set()
