from __future__ import annotations

import pytest

from ralph.past.log import AT, a_loop, ends, known, lives, ran, starts
from sisyphus.paths import our_home
from sisyphus.ralph.loop import CANCELLED, STUCK
from sisyphus.ralph.past import views
from sisyphus.times import epoch, local


def _played() -> None:
    ran(a_loop("aaaaa", "s1", minute=0), after=4_320)
    other = a_loop("bbbbb", "s2", minute=1)
    other.project, other.max_iterations, other.iteration = "/home/me/api", 0, 3
    ran(other, STUCK, after=130)
    starts(a_loop("ccccc", "s3", minute=2))
    starts(lives(a_loop("ddddd", "s4", minute=3)))


def test_without_a_loop_the_log_says_how_one_starts() -> None:
    assert views.log_text(our_home()) == views.NOTHING


def test_the_log_has_a_line_a_loop_the_newest_first() -> None:
    _played()
    at = [local(epoch(AT) + 60 * minute) for minute in range(4)]
    task = "make the tests pass"
    assert views.log_text(our_home()).splitlines() == [
        f"ddddd  active   {at[3]}              1 of 50  shop  {task}",
        f"ccccc  lost     {at[2]}                       shop  {task}",
        f"bbbbb  stuck    {at[1]}  2 min 10 s  3        api   {task}",
        f"aaaaa  success  {at[0]}  1 h 12 min  1 of 50  shop  {task}",
    ]


def test_a_column_that_is_empty_is_left_out() -> None:
    starts(lives(a_loop()))
    assert f"active  {local(epoch(AT))}  1 of 50  shop" in views.log_text(our_home())


def test_the_log_shows_the_latest_and_says_how_many_there_are() -> None:
    for number in range(views.LAST + 5):
        ends(a_loop(f"a{number:04}", f"s{number}", minute=number))

    *lines, last = views.log_text(our_home()).splitlines()
    assert len(lines) == views.LAST
    assert lines[0].startswith("a0024")
    assert last == "The latest 20 of 25 loops; `--all` shows them all."


def test_a_strange_text_stays_on_its_line() -> None:
    loop = a_loop("\x1b[2J\n")
    loop.prompt, loop.project = "a\nb\x1b[31m" + "c" * 100, "/home/me/\x07x\n"
    ran(loop, "\x1b[31m\nred")
    [line] = views.log_text(our_home()).splitlines()
    assert line.isprintable()
    assert line.endswith("...")


CHOICES = [
    pytest.param({}, "dcba", id="all"),
    pytest.param({"project": "shop"}, "dca", id="a project's name"),
    pytest.param({"project": "/home/me/api"}, "b", id="a project's folder"),
    pytest.param({"project": "none"}, "", id="no project"),
    pytest.param({"outcome": "stuck"}, "b", id="an outcome"),
    pytest.param({"outcome": "lost"}, "c", id="lost"),
    pytest.param({"outcome": CANCELLED}, "", id="no such end"),
    pytest.param({"is_active": True}, "d", id="not ended"),
    pytest.param({"is_active": True, "project": "api"}, "", id="both"),
]


@pytest.mark.parametrize(("wanted", "ids"), CHOICES)
def test_loops_are_chosen(wanted: dict[str, str], ids: str) -> None:
    _played()
    found = views.chosen(known(), **wanted)  # type: ignore[arg-type]  # a table of options
    assert "".join(record.loop_id[0] for record in found) == ids
