from __future__ import annotations

import io
import time
from typing import TYPE_CHECKING

import pytest
from making import COMMAND
from runner import scripted
from runner.runs import DONE
from runner.scripted import entry, init, said, text, tool, until

from cli.screen import on_a_terminal
from sisyphus.cli import run_screen
from sisyphus.cli.run_screen import Lines, Moving
from sisyphus.runner.client.stream import Seen
from sisyphus.runner.decide import GO_ON, WAIT, Decision
from sisyphus.runner.handed import Filled
from sisyphus.runner.keep.state import Run

if TYPE_CHECKING:
    from runner.runs import Scene

CTRL_C = "\x03"
ERASE = "\r\x1b[K"
EDIT = tool("Edit", {"file_path": "src/a.py"}, 420_000)


def words(scene: Scene, *entries: scripted.Entry) -> list[str]:
    client = scene.play(*entries)
    return [
        COMMAND, "ralph", "run", "--project", str(scene.project), "--prompt", "do it",
        "--completion-promise", "DONE", "--client-command", client,
    ]  # fmt: skip


def test_a_terminal_has_one_line_that_moves(scene: Scene) -> None:
    scene.items("one")
    client = entry(init(), EDIT, until(scene.go), text(DONE), scripted.result(DONE))
    shown = on_a_terminal(words(scene, client), keys=[("Edit: src/a.py", scene.go.touch)])

    assert shown.code == 0
    assert f"{ERASE}iteration 1 of 50 · one · context 42% L0 · " in shown.text
    assert " · Edit: src/a.py" in shown.text
    assert shown.text.index("Edit: src/a.py") < shown.text.index(f"{ERASE}iteration 1 of 50: compl")


def test_ctrl_c_leaves_the_terminal_as_it_was(scene: Scene) -> None:
    shown = on_a_terminal(
        words(scene, entry(init(), EDIT, scripted.forever())), keys=[("Edit: src/a.py", CTRL_C)]
    )

    assert shown.code == 130
    assert f"{ERASE}Interrupted.\n" in shown.text
    assert "Traceback" not in shown.text


def test_a_line_fits_the_terminal(scene: Scene) -> None:
    scene.items("a long item " * 9)
    shown = on_a_terminal(
        words(scene, entry(init(), EDIT, until(scene.go), *said(DONE)["steps"][1:])),
        columns=40,
        keys=[("iteration 1 of 50 · ", scene.go.touch)],
    )
    moving = [part for part in shown.text.split(ERASE) if " · " in part]

    assert moving
    assert all(len(part.split("\r")[0].split("\n")[0]) < 40 for part in moving)


class Terminal(io.StringIO):
    encoding = "ascii"  # as a terminal of long ago

    def isatty(self) -> bool:
        return True


def a_run(**fields: object) -> Run:
    return Run({"iteration": 3, "in_flight": {"item": "one"}, **fields})


def test_what_a_terminal_cannot_spell_is_no_failure() -> None:
    stream = Terminal()
    seen = Seen()
    seen.last_action = "Edit: ü.py"
    shown = Moving(stream)
    shown.moved(a_run(), seen, Filled(0, 0, 0, 0))
    shown.note("ü")

    assert "Edit: ?.py" in stream.getvalue()
    assert stream.getvalue().endswith("note: ?\n")


def test_a_countdown() -> None:
    stream = Terminal()
    shown = Moving(stream)
    until = time.time() + 90
    waiting = {"for": "the limit", "until": until}
    for left in (90.0, 89.0):
        shown.waits(a_run(waiting=waiting), left)
        shown._drawn_at = 0.0  # noqa: SLF001  # no test is timed
    told = stream.getvalue()

    assert told.count("waits 1 min 30 s, until ") == 1
    assert "iteration 3 of 50 ? 1 min 29 s left" in told


def test_without_limits_and_items_a_line_is_short() -> None:
    stream = io.StringIO()
    lines = Lines(stream)
    lines.started(a_run(max_iterations=0, in_flight={}), is_resumed=True)
    lines.ended(a_run(), Decision(WAIT, "the server cannot be reached"))
    lines.ended(a_run(), Decision(GO_ON, "the client failed"))
    lines.clear()

    assert stream.getvalue() == (
        "iteration 3: followed on\n"
        "iteration 3 of 50: to be done again: the server cannot be reached\n"
        "iteration 3 of 50: goes on: the client failed\n"
    )


class Gone(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError(text)


def test_a_screen_that_is_gone_is_no_failure() -> None:
    for shown in (Lines(Gone()), Moving(Gone())):
        shown.note("x")
        shown.started(a_run(), is_resumed=False)
        shown.moved(a_run(), Seen(), Filled(0, 0, 0, 0))
        shown.clear()


@pytest.mark.parametrize("is_there", [True, False])
def test_without_a_stream_nothing_is_shown(
    monkeypatch: pytest.MonkeyPatch, *, is_there: bool
) -> None:
    stream = io.StringIO()
    stream.close()
    monkeypatch.setattr("sys.stdout", stream if is_there else None)
    with run_screen.screen(to_stderr=False) as shown:
        shown.note("x")


def test_a_dumb_terminal_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with run_screen.screen(to_stderr=False) as drawn:
        monkeypatch.setenv("TERM", "dumb")
        with run_screen.screen(to_stderr=False) as plain:
            assert (type(drawn), type(plain)) == (Moving, Lines)
