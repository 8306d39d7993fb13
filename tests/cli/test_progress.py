from __future__ import annotations

import sys

import pytest

from cli.screen import on_a_terminal
from sisyphus.cli import progress
from sisyphus.cli.progress import Progress

ERASE = "\r\x1b[K"

WORK = """
import sys, threading
from sisyphus.cli import progress
progress.AFTER_SECONDS = {after}
progress.EVERY_SECONDS = 0.01
drawn = threading.Event()

class Seen:
    def __getattr__(self, name):
        return getattr(sys.__stderr__, name)
    def write(self, text):
        sys.__stderr__.write(text)
        drawn.set()

sys.stderr = Seen()
with progress.progress("Reading rules", quiet={quiet}) as told:
    told(1200, 3000)
    {work}
print("done")
"""


def _work(work: str = "drawn.wait()", *, after: float = 0.01, quiet: bool = False) -> list[str]:
    return [sys.executable, "-c", WORK.format(work=work, after=after, quiet=quiet)]


def test_long_work_has_a_line_that_is_gone_in_the_end() -> None:
    shown = on_a_terminal(_work())

    assert (shown.code, "Reading rules: 1,200 of 3,000, " in shown.text) == (0, True)
    assert shown.text.endswith(f"{ERASE}done\n")


def test_the_line_stays_on_its_line() -> None:
    assert f"{ERASE}Reading rules: 1,2{ERASE}" in on_a_terminal(_work(), columns=19).text


SILENT = [
    pytest.param(_work("pass", after=60), {}, id="work that is soon done"),
    pytest.param(_work("pass", quiet=True), {}, id="JSON is asked for"),
    pytest.param(_work("pass"), {"TERM": "dumb"}, id="a terminal that cannot erase"),
]


@pytest.mark.parametrize(("words", "env"), SILENT)
def test_nothing_is_shown_for(words: list[str], env: dict[str, str]) -> None:
    assert on_a_terminal(words, env=env).text == "done\n"


def test_nothing_is_shown_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.progress("Reading rules") as told:
        told(1)

    assert capsys.readouterr() == ("", "")


def test_a_failure_of_the_work_leaves_no_line_behind() -> None:
    shown = on_a_terminal(_work("drawn.wait(); sys.exit('over')"))

    assert (shown.code, shown.text.endswith(f"{ERASE}over\n")) == (1, True)


TEXTS = [
    pytest.param((), "Reading rules, 0 s", id="nothing is known"),
    pytest.param((1_200,), "Reading rules: 1,200, 0 s", id="a count without an end"),
    pytest.param((0, 3_000), "Reading rules: 0 of 3,000, 0 s", id="none of many"),
]


@pytest.mark.parametrize(("told", "text"), TEXTS)
def test_it_says_how_far_the_work_is(told: tuple[int, ...], text: str) -> None:
    shown = Progress("Reading rules")
    if told:
        shown(*told)

    assert shown.text().rpartition(",")[0] == text.rpartition(",")[0]


def test_items_are_counted_as_they_are_taken() -> None:
    shown = Progress("Reading")

    assert [shown.text().rpartition(",")[0] for _ in shown.each("ab")] == [
        "Reading: 0 of 2",
        "Reading: 1 of 2",
    ]
