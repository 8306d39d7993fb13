"""What a run shows while it works: a picture that is drawn anew, or lines where there is no
terminal.

The texts of the agent and of the project are shown as they are, on one line, and never as markup.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Self

from rich.console import Console, Group
from rich.live import Live as RichLive
from rich.text import Text

from sisyphus.clients.reports import Report
from sisyphus.ground.masking import masked_line
from sisyphus.ground.text import one_line
from sisyphus.loops import messages as loop_messages
from sisyphus.loops.iterations import Iteration
from sisyphus.loops.runs import Run, Worker
from sisyphus.loops.workers import doing, with_used
from sisyphus.runner import messages
from sisyphus.runner.report import (
    DONE,
    NEEDS_USER,
    iteration_line,
    short_cost,
    short_count,
    short_time,
)
from sisyphus.terminal import show

_GONE = (OSError, SystemExit)
"""What is raised where our output goes nowhere any more; rich ends the program at a broken pipe. A
run goes on without a screen."""

REFRESHES = 4
"""How often the picture is drawn, a second."""

_CHARACTERS = 300
"""The most that is shown of a text. No terminal has wider lines."""

_ITEM_CHARACTERS = 40
"""The most of an item in the line of its worker: the list above has all of it."""

_SHARE = 2 / 3
"""How much of the terminal's height the picture has; the rest shows the iterations before."""

_AIRY_LINES = 16
"""A terminal with fewer lines shows no empty ones."""

CURRENT, OPEN = "▶", "·"
_STYLES = {DONE: "green", CURRENT: "bold cyan", NEEDS_USER: "yellow", OPEN: ""}


def open_screen() -> Lines | Live:
    """Returns the screen that fits to where our output goes. Use it in a `with` block."""
    console = show.console  # with another one, what `show.line` prints would break the picture
    return Live(console) if console.is_terminal and not console.is_dumb_terminal else Lines()


class Lines:
    """A line for each iteration, and for each thing that is said."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Ends it."""

    def begin(self, run: Run, now: float) -> None:
        """Shows that a process begins."""

    def show(self, run: Run, report: Report, now: float, workers: Sequence[Worker] = ()) -> None:
        """Shows what it has reported so far. Called about five times a second. workers: those of
        the run."""

    def end(self, run: Run, iteration: Iteration) -> None:
        """Shows how it has ended."""
        state = run.state
        made = state.commits.get(iteration.item) if iteration.is_done else None
        commit = made.short if made else ""
        client = iteration.client if run.setup.has_several else ""
        self.say(iteration_line(iteration, len(state.done), state.total, commit, client))

    def say(self, text: str) -> None:
        with suppress(*_GONE):
            show.line(text)


class Live(Lines):
    """The picture of a run at the bottom of a terminal. Lines that are said, and those of the
    iterations that have ended, scroll above it.

    Rich draws it in a thread, so that its times go on while the runner waits or runs the check.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._run: Run | None = None
        self._report = Report()
        self._workers: Sequence[Worker] = ()
        self._ahead = 0.0  # of `time.monotonic`
        self._live = RichLive(
            console=console,
            get_renderable=self._picture,
            refresh_per_second=REFRESHES,
            transient=True,
            vertical_overflow="crop",
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(*_GONE):
            self._live.stop()

    def begin(self, run: Run, now: float) -> None:
        self.show(run, Report(), now)
        self._live.refresh()

    def show(self, run: Run, report: Report, now: float, workers: Sequence[Worker] = ()) -> None:
        self._run, self._report, self._workers = run, report, workers
        self._ahead = now - time.monotonic()

    def end(self, run: Run, iteration: Iteration) -> None:
        self._report = Report()  # its tokens are in the run's now
        super().end(run, iteration)

    def say(self, text: str) -> None:
        with suppress(*_GONE):
            self._console.print(Text(show.plain(text)))

    def _picture(self) -> Group:
        if self._run is None:
            return Group()
        now = time.monotonic() + self._ahead
        height = round(self._console.height * _SHARE)
        return picture(self._run, self._report, now, height, self._workers)


def picture(
    run: Run, report: Report, now: float, height: int, workers: Sequence[Worker] = ()
) -> Group:
    """Returns what a terminal shows, at most `height` lines; those that are too long are cut.
    workers: who work at its items; () = the run itself does."""
    gap = [Text()] if height >= _AIRY_LINES else []
    head = Text.assemble((f"Run {run.id}", "bold"), "  ", one_line(run.task, _CHARACTERS))
    end = [_totals(with_used(run, workers), report, now), *_waits(run, now)]
    if workers:
        at_work = _workers(workers, now, height - len(end) - 1)
    else:
        at_work = [_iteration(run, report, now), *_action(report)]
    foot = [*at_work, *end]
    items = _items(run, workers, height - len(foot) - 1 - 3 * len(gap))
    lines = [*gap, head, *gap, *items, *(gap if items else []), *foot][: max(1, height)]
    for line in lines:
        line.no_wrap, line.overflow = True, "ellipsis"
    return Group(*lines)


def _items(run: Run, workers: Sequence[Worker], room: int) -> list[Text]:
    """Returns the items of the plan, at most `room` lines: where they do not fit, those around the
    first current one, which has one line above it."""
    rows = _rows(run, {run.state.item, *(worker.state.only for worker in workers)})
    if len(rows) <= room:
        return [_item(mark, text) for mark, text in rows]
    if room < 1:
        return []
    size = max(1, room - 1)
    current = next((n for n, (mark, _) in enumerate(rows) if mark == CURRENT), 0)
    start = max(0, min(current - (size > 1), len(rows) - size))
    shown = [_item(mark, text) for mark, text in rows[start : start + size]]
    more = Text(f"  and {len(rows) - size:,} more", "dim")
    return [*shown, more][:room]


def _rows(run: Run, current: set[str]) -> list[tuple[str, str]]:
    """Returns all items with their marks: those that are done, the open ones in the plan's order,
    and those that are blocked. current: what somebody works at."""
    state = run.state
    rows = [(DONE, item) for item in state.done]
    for item in state.todo:
        is_current = item in current and (CURRENT, item) not in rows
        mark = CURRENT if is_current else NEEDS_USER if item in state.blocked else OPEN
        rows.append((mark, item))
    rows += [(NEEDS_USER, item) for item in state.marked]
    return [(mark, _with_reason(run, mark, item)) for mark, item in rows]


def _with_reason(run: Run, mark: str, item: str) -> str:
    why = run.state.blocked.get(item, "") if mark == NEEDS_USER else ""
    word = run.state.evidence.get(item, "") if mark == DONE else ""
    return f"{item}: {why}" if why else f"{item} · {word}" if word else item


def _item(mark: str, text: str) -> Text:
    style = "dim" if mark == DONE else _STYLES[mark]
    return Text.assemble((mark, _STYLES[mark]), " ", (one_line(text, _CHARACTERS), style))


def _iteration(run: Run, report: Report, now: float) -> Text:
    """Returns which iteration it is, whose, how long it takes, and how full its context is."""
    state = run.state
    is_busy = state.is_working or state.is_auditing
    percent = report.context * 100 // report.window if report.window else 0
    parts = [
        f"audit {state.audits + 1}" if state.is_auditing else loop_messages.iteration(run),
        run.client_at_work,
        short_time(max(0.0, now - state.began_at)) if is_busy else "",
        f"context {percent} %" if percent else "",
    ]
    return Text(" · ".join(part for part in parts if part))


def _workers(workers: Sequence[Worker], now: float, room: int) -> list[Text]:
    """Returns a line for each worker, at most `room` lines."""
    lines = [_worker(worker, now) for worker in workers]
    if len(lines) <= room:
        return lines
    shown = lines[: max(0, room - 1)]
    return [*shown, Text(f"  and {len(lines) - len(shown):,} more at work", "dim")][: max(0, room)]


def _worker(worker: Worker, now: float) -> Text:
    """Returns which item a worker is at, with which client, in which iteration, how long that
    takes, how full its context is, and what it does."""
    state, iteration = worker.state, worker.counters.iteration
    parts = [
        one_line(state.only, _ITEM_CHARACTERS),
        worker.client_at_work,
        f"iteration {iteration}" if iteration > 1 else "",
        short_time(max(0.0, now - state.began_at)) if state.is_working else "",
        f"context {worker.percent} %" if worker.percent else "",
        doing(worker, now),
    ]
    line = Text.assemble((f"{worker.number} ", "cyan"), " · ".join(part for part in parts if part))
    if worker.action and not parts[-1]:
        action = masked_line(loop_messages.last_action(worker.action, worker.folder), _CHARACTERS)
        line.append_text(Text.assemble(" ", ("→ ", "cyan"), action))
    return line


def _totals(run: Run, report: Report, now: float) -> Text:
    """Returns what the run has done and used. The least important is last: a narrow terminal cuts
    it off."""
    parts = [
        run.state.items,
        short_time(run.seconds(now)),
        short_cost(run.state.cost + report.cost),
        f"{short_count(run.counters.tokens + report.tokens)} tokens",
    ]
    return Text(" · ".join(part for part in parts if part), "dim")


def _action(report: Report) -> list[Text]:
    """Returns what the agent did or said last: of a message the last line."""
    lines = report.last_action.strip().splitlines()
    shown = masked_line(lines[-1], _CHARACTERS) if lines else ""
    return [Text.assemble(("→ ", "cyan"), shown)] if shown else []


def _waits(run: Run, now: float) -> list[Text]:
    state = run.state
    if state.waits_until <= now:
        return []
    return [Text(messages.waits(state.waits_for, state.waits_until), "yellow")]
