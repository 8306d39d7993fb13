"""What a run shows while it works, on terminals of all sizes and where there is none."""

from __future__ import annotations

import io
import os
import re
import time
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from sisyphus.clients.reports import Report
from sisyphus.clients.transcript_records import AGENT, RecordedCall, TranscriptLine
from sisyphus.ground import processes
from sisyphus.loops.iterations import Iteration
from sisyphus.loops.loop import Counters, Options
from sisyphus.loops.runs import Run, RunOptions, RunState, Seat, Worker
from sisyphus.runner.screen import Lines, Live, open_screen, picture
from sisyphus.terminal import show

NOW = 10_000.0
SPENT = {"is_working": True, "began_at": NOW - 190}


def run_of(**state: Any) -> Run:
    options, counters = Options(max_iterations=50), Counters(5, tokens=1_150_000)
    task = "Fix [bold]the[/bold] kiln"
    runner = processes.key(os.getpid())
    stands = RunState(**state)
    return Run("aB3xY", "/p", task, options, 1_000.0, counters, state=stands, runner=runner)


def report_of(*said: str, calls: tuple[RecordedCall, ...] = ()) -> Report:
    record = TranscriptLine(AGENT, 0.0, texts=said, calls=calls)
    return Report(records=[record], tokens=50_000, cost=0.25, context=430_000, window=1_000_000)


def shown(
    run: Run,
    report: Report | None = None,
    width: int = 80,
    height: int = 24,
    workers: Sequence[Worker] = (),
) -> list[str]:
    console = Console(file=io.StringIO(), width=width, height=height, record=True)
    console.print(picture(run, report or Report(), NOW, height, workers))
    return [line.rstrip() for line in console.export_text().splitlines()]


def test_a_run_is_shown_with_its_items_and_what_it_uses() -> None:
    run = run_of(
        done=["stack"], item="fire", todo=["fire", "cool", "sell"], cost=3.0,
        blocked={"sell": "a price", "ship": "an address"}, marked=["ship", "sweep"], **SPENT,
    )  # fmt: skip
    call = RecordedCall("1", "Edit", "edit", target="kiln.py")

    assert [line for line in shown(run, report_of(calls=(call,))) if line] == [
        "Run aB3xY  Fix [bold]the[/bold] kiln",
        "✓ stack",
        "▶ fire",
        "· cool",
        "! sell: a price",
        "! ship: an address",
        "! sweep",
        "iteration 5 of 50 · 3 min · context 43 %",
        "→ Edit kiln.py",
        "1 of 6 items · 2 h 30 min · $3.25 · 1.2 M tokens",
    ]


def test_a_run_without_items_shows_what_is_known() -> None:
    assert [line for line in shown(run_of()) if line] == [
        "Run aB3xY  Fix [bold]the[/bold] kiln",
        "iteration 5 of 50",
        "2 h 30 min · 1.1 M tokens",
    ]


def test_an_audit_is_named() -> None:
    run = run_of(is_auditing=True, audits=1, done=["fire"], began_at=NOW - 190)

    assert "audit 2 · 3 min" in shown(run)


def test_the_client_at_work_is_named_where_there_are_several() -> None:
    run = run_of(client="codex", is_working=True, began_at=NOW - 190)
    run.setup = RunOptions(seats=[Seat("claude-code"), Seat("codex")])
    worker = worker_of(1, "fire", client="")
    worker.setup = run.setup

    assert "iteration 5 of 50 · codex · 3 min" in shown(run)
    assert "1 fire · claude-code" in shown(run, workers=[worker])[-2]


def test_what_a_run_waits_for_is_shown_until_it_is_over() -> None:
    until = NOW + 60
    clock = time.strftime("%H:%M", time.localtime(until))

    text = f"Waiting until {clock}: the account's limit"
    assert shown(run_of(waits_until=until, waits_for="the account's limit"))[-1] == text
    assert text not in shown(run_of(waits_until=NOW - 1, waits_for="the account's limit"))


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("First.\n\nThen [red]the kiln[/red].\n", "→ Then [red]the kiln[/red]."),
        ("a\x1b[31mb\x07c", "→ a [31mb c"),
        ("password=hunter22", "→ password=…"),
        ("", ""),
    ],
)
def test_what_the_agent_said_is_shown_as_it_is(said: str, line: str) -> None:
    lines = shown(run_of(), report_of(said))

    assert [each for each in lines if each.startswith("→")] == ([line] if line else [])


@pytest.mark.parametrize(
    ("room", "current", "expected"),
    [
        (20, 5, [f"item {n}" for n in range(10)]),
        (10, 0, ["item 0", "item 1", "item 2", "item 3", "and 6 more"]),
        (10, 5, ["item 4", "item 5", "item 6", "item 7", "and 6 more"]),
        (10, 9, ["item 6", "item 7", "item 8", "item 9", "and 6 more"]),
        (7, 5, ["item 5", "and 9 more"]),
        (6, 5, ["item 5"]),
        (5, 5, []),
    ],
)
def test_as_many_items_as_fit_are_shown(room: int, current: int, expected: list[str]) -> None:
    """Five lines are needed for the rest."""
    items = [f"item {n}" for n in range(10)]
    run = run_of(
        done=items[:current], item=items[current], todo=items[current:],
        waits_until=NOW + 60, waits_for="x",
    )  # fmt: skip

    lines = shown(run, report_of("I work."), height=room)

    assert [line[2:] for line in lines if "item " in line or "more" in line] == expected
    assert len(lines) <= room


@pytest.mark.parametrize("width", [1, 10, 40, 200])
@pytest.mark.parametrize("height", [1, 3, 9, 24])
def test_nothing_is_wider_or_higher_than_the_terminal(width: int, height: int) -> None:
    wide = "漢字 and more " * 40
    run = run_of(todo=[wide] * 30, item=wide, blocked={wide: wide}, **SPENT)
    run.prompt = wide

    lines = shown(run, report_of(wide), width, height)

    assert len(lines) <= height
    assert all(cell_len(line) <= width for line in lines)


def worker_of(number: int, item: str, **fields: Any) -> Worker:
    """A worker whose iteration began 190 seconds ago. fields: of `Worker`, and of its state."""
    own: dict[str, Any] = {**SPENT}
    own |= {name: fields.pop(name, 0) for name in ("is_merging", "waits_until")}
    counters = Counters(fields.pop("iteration", 1), tokens=100_000)
    return Worker(
        f"aB3xY-{number}", "/p", "Fix it", Options(max_iterations=0), 1_000.0, counters,
        state=RunState(only=item, worktree=f"/p-{number}", cost=1.0, **own), **fields,
    )  # fmt: skip


def test_each_worker_has_a_line() -> None:
    run = run_of(done=["stack"], todo=["fire", "cool", "sell"], cost=3.0)
    run.setup.jobs = 2
    workers = [
        worker_of(1, "cool", action="Edit /p-1/kiln.py", percent=43, iteration=2, tokens=50_000),
        worker_of(2, "sell", action="Bash make", is_merging=True),
    ]

    assert [line for line in shown(run, workers=workers) if line] == [
        "Run aB3xY  Fix [bold]the[/bold] kiln",
        "✓ stack",
        "· fire",
        "▶ cool",
        "▶ sell",
        "1 cool · iteration 2 · 3 min · context 43 % → Edit kiln.py",
        "2 sell · 3 min · merges",
        "1 of 4 items · 2 h 30 min · $5.00 · 1.4 M tokens",
    ]


def test_a_worker_that_waits_says_until_when() -> None:
    clock = time.strftime("%H:%M", time.localtime(NOW + 60))

    lines = shown(run_of(), workers=[worker_of(1, "fire", waits_until=NOW + 60, action="Bash x")])
    assert f"1 fire · 3 min · waits until {clock}" in lines


@pytest.mark.parametrize(
    ("height", "lines"),
    [
        (12, ["▶ item 0", "  and 9 more", *(f"{n} item {n - 1}" for n in range(1, 9))]),
        (11, ["▶ item 0", *(f"{n} item {n - 1}" for n in range(1, 9))]),
        (5, ["1 item 0", "2 item 1", "  and 6 more at work"]),
        (3, ["  and 8 more at work"]),
        (2, []),
    ],
)
def test_as_many_workers_as_fit_are_shown(height: int, lines: list[str]) -> None:
    run = run_of(todo=[f"item {n}" for n in range(10)])
    workers = [worker_of(n, f"item {n - 1}") for n in range(1, 9)]

    drawn = shown(run, height=height, workers=workers)[1:-1]
    assert [line.partition(" · ")[0] for line in drawn] == lines


@pytest.mark.parametrize("width", [1, 10, 40, 200])
@pytest.mark.parametrize("height", [1, 3, 9, 24])
def test_no_worker_is_wider_or_higher_than_the_terminal(width: int, height: int) -> None:
    wide = "漢字 [red]and[/red]\nmore\x1b[2J " * 40
    run = run_of(todo=[wide] * 30, waits_until=NOW + 60, waits_for=wide)

    workers = [worker_of(n, wide, action=wide, percent=99) for n in range(1, 9)]
    lines = shown(run, width=width, height=height, workers=workers)
    assert len(lines) <= height
    assert all(cell_len(line) <= width for line in lines)
    assert "\x1b" not in "".join(lines)


def test_words_of_workers_are_no_markup_and_no_secret() -> None:
    (line,) = (
        line
        for line in shown(
            run_of(), workers=[worker_of(1, "[red]a[/red]", action="Bash password=hunter22 [b]")]
        )
        if "Bash" in line
    )
    assert line == "1 [red]a[/red] · 3 min → Bash password=… [b]"


def test_the_same_item_twice_is_current_once() -> None:
    lines = shown(run_of(todo=["fire", "fire"], item="fire"))

    assert [line for line in lines if "fire" in line] == ["▶ fire", "· fire"]


def iteration_of(**fields: Any) -> Iteration:
    return Iteration(5, NOW, "continue", "", tokens=151_000, seconds=11, files=2, **fields)


def test_without_a_terminal_there_is_a_line_for_each_iteration() -> None:
    out = io.StringIO()
    with redirect_stdout(out), open_screen() as screen:
        assert isinstance(screen, Lines)
        run = run_of(done=["stack", "fire"], todo=["cool"], item="cool")
        screen.begin(run, NOW)
        screen.show(run, report_of("I work."), NOW)
        screen.end(run, iteration_of(item="fire", is_done=True))
        screen.say("Waiting for [x]\x1b")

    clock = time.strftime("%H:%M", time.localtime(NOW))
    assert out.getvalue().splitlines() == [
        f"{clock} ✓ fire · 11 s · 151 k · 2 files (2/3)",
        "Waiting for [x]\ufffd",
    ]


def terminal(**options: Any) -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    options = {"width": 80, "height": 24, "force_terminal": True, **options}
    return Console(file=out, highlight=False, soft_wrap=True, **options), out


def play(console: Console) -> None:
    """A run on a terminal: two iterations."""
    with Live(console) as screen:
        run = run_of(todo=["fire", "cool"], item="fire", **SPENT)
        screen.begin(run, NOW)
        screen.show(run, report_of("I light it."), NOW)
        time.sleep(0.3)
        run.state.done, run.state.todo, run.state.item = ["fire"], ["cool"], "cool"
        screen.end(run, iteration_of(item="fire", is_done=True))
        screen.begin(run, NOW)
        screen.say("Checking [x]\x1b[2J")


def test_on_a_terminal_the_picture_is_drawn_anew_below_the_lines() -> None:
    console, out = terminal()
    play(console)

    text = without_codes(out.getvalue())
    assert "▶ fire" in text
    assert "→ I light it." in text
    assert "✓ fire · 11 s · 151 k · 2 files (1/2)" in text
    assert text.index("(1/2)") < text.index("▶ cool")
    assert "Checking [x]\ufffd[2J" in text
    assert "\x1b[2J" not in out.getvalue()


def test_at_the_end_the_picture_is_gone_and_the_lines_stay() -> None:
    console, out = terminal()
    play(console)

    lines = lines_of(out.getvalue(), 24)
    assert len(lines) == 2
    assert lines[0].endswith("(1/2)")
    assert lines[1].startswith("Checking")


def without_codes(output: str) -> str:
    return re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", output)


def test_the_tokens_of_an_iteration_are_not_counted_twice() -> None:
    console, out = terminal()
    with Live(console) as screen:
        run = run_of()
        screen.begin(run, NOW)
        screen.show(run, Report(tokens=1_000_000, cost=2.0), NOW)
        run.counters.tokens, run.state.cost = 2_150_000, 2.0
        screen.end(run, iteration_of())

    assert "$2.00 · 2.1 M tokens" in out.getvalue()
    assert "3.1 M" not in out.getvalue()


def lines_of(output: str, height: int) -> list[str]:
    """What a terminal shows after this output, as far as rich uses one."""
    rows, at = [""], 0
    for part in re.findall(r"\x1b\[[\d;?]*[a-zA-Z]|\r|\n|[^\x1b\r\n]+", output):
        if part == "\n":
            at += 1
            rows += [""] * (at + 1 - len(rows))
        elif part.endswith("A") and part.startswith("\x1b"):
            at -= int(part[2:-1] or 1)
            assert at >= 0
            assert len(rows) - at <= height
        elif part == "\x1b[2K":
            rows[at] = ""
        elif not part.startswith("\x1b") and part != "\r":
            rows[at] += part
    return [row.rstrip() for row in rows if row.strip()]


def test_a_small_terminal_shows_it_too() -> None:
    console, out = terminal(width=40, height=10)
    play(console)

    assert "▶ fire" in without_codes(out.getvalue())
    assert len(lines_of(out.getvalue(), 10)) == 2

    with Live(console) as screen:
        screen.begin(run_of(todo=["long " * 20] * 20), NOW)
    drawn = without_codes(out.getvalue()).splitlines()
    assert "  and 17 more" in drawn
    assert max(map(cell_len, drawn[-10:])) == 40


def test_lines_of_others_are_above_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    console, out = terminal()
    monkeypatch.setattr(show, "console", console)
    with open_screen() as screen:
        screen.begin(run_of(todo=["fire"]), NOW)
        show.line("A line", "bold")
        print("Another one")
        screen.say("The last one")

    assert lines_of(out.getvalue(), 24) == ["A line", "Another one", "The last one"]


def test_no_color_is_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    console, out = terminal(color_system="256")
    play(console)

    codes = {
        code for part in re.findall(r"\x1b\[([\d;]*)m", out.getvalue()) for code in part.split(";")
    }
    assert codes <= {"", "0", "1", "2"}  # bold and dim


def test_a_terminal_gets_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    for dumb, kind in ((False, Live), (True, Lines)):
        monkeypatch.setenv("TERM", "dumb" if dumb else "xterm")
        monkeypatch.setattr(show, "console", Console(force_terminal=True))
        assert type(open_screen()) is kind
