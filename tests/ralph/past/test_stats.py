from __future__ import annotations

from typing import TYPE_CHECKING

from ralph.past.log import AT, a_loop, known, lives, ran, starts
from sisyphus.paths import our_home
from sisyphus.ralph import iterations
from sisyphus.ralph.loop import CANCELLED, MAX_ITERATIONS
from sisyphus.ralph.past import removal, stats
from sisyphus.times import epoch

if TYPE_CHECKING:
    from sisyphus._types import Json


def _stats() -> Json:
    return stats.stats(our_home(), known())


def _ran(loop_id: str, outcome: str, *, iteration: int, after: int, project: str = "shop") -> None:
    loop = a_loop(loop_id, f"s-{loop_id}")
    loop.iteration, loop.project = iteration, f"/home/me/{project}"
    ran(loop, outcome, after=after)


def _played() -> None:
    _ran("aaaaa", "success", iteration=2, after=60)
    _ran("bbbbb", "success", iteration=4, after=120)
    _ran("ccccc", MAX_ITERATIONS, iteration=9, after=600, project="api")
    _ran("ddddd", CANCELLED, iteration=1, after=0)
    starts(a_loop("eeeee", "s5"))
    starts(lives(a_loop("fffff", "s6")))


def test_without_a_loop_there_are_no_numbers() -> None:
    assert stats.stats_text(our_home()) == "No loop is known."
    assert _stats() == {
        "loops": 0, "active": 0, "lost": 0, "ended": 0, "outcomes": {}, "success_rate": None,
        "duration_seconds": {"average": None, "median": None},
        "iterations": {"average": None, "median": None}, "tokens": None, "projects": [],
    }  # fmt: skip


def test_loops_are_counted_by_how_they_ended() -> None:
    _played()
    found = _stats()
    assert (found["loops"], found["active"], found["lost"], found["ended"]) == (6, 1, 1, 4)
    assert list(found["outcomes"].items()) == [
        ("success", 2), ("cancelled", 1), ("max_iterations", 1),
    ]  # fmt: skip


def test_cancelled_and_lost_loops_are_no_failures() -> None:
    _played()
    assert _stats()["success_rate"] == 0.667


def test_an_archived_loop_is_no_failure_either() -> None:
    _played()
    removal.archive(our_home(), "eeeee", epoch(AT))
    found = _stats()
    assert (found["lost"], found["outcomes"]["archived"], found["success_rate"]) == (0, 1, 0.667)
    shown = stats.stats_text(our_home())
    assert "Success rate: 67% (cancelled and archived loops do not count)\n" in shown


def test_the_numbers_without_tokens_need_no_files() -> None:
    _played()
    whole = _stats()
    numbers = stats.numbers(known())
    assert numbers == {name: whole[name] for name in whole if name not in ("tokens", "projects")}


def test_where_all_were_cancelled_there_is_no_rate() -> None:
    _ran("aaaaa", CANCELLED, iteration=1, after=1)
    assert _stats()["success_rate"] is None
    assert "Success rate" not in stats.stats_text(our_home())


def test_averages_and_medians_are_those_of_ended_loops() -> None:
    _played()
    found = _stats()
    assert found["duration_seconds"] == {"average": 195.0, "median": 90.0}
    assert found["iterations"] == {"average": 4.0, "median": 3.0}


def test_the_median_of_an_odd_number_is_the_middle_one() -> None:
    for loop_id, seconds in (("aaaaa", 1), ("bbbbb", 500), ("ccccc", 7)):
        _ran(loop_id, "success", iteration=seconds, after=seconds)
    assert _stats()["duration_seconds"]["median"] == 7


def test_tokens_are_those_of_all_iterations_noted() -> None:
    _played()
    rows: list[Json] = [{"tokens": 5}, {"tokens": 7}, {}, {"tokens": "many"}]
    for row in rows:
        iterations.note(our_home(), "aaaaa", {"iteration": 1, **row}, "")
    iterations.note(our_home(), "ccccc", {"iteration": 1, "tokens": 100}, "")

    found = _stats()
    assert found["tokens"] == 112
    assert {row["project_name"]: row["tokens"] for row in found["projects"]} == {
        "shop": 12,
        "api": 100,
    }


def test_every_project_has_its_numbers() -> None:
    _played()
    shop, api = _stats()["projects"]
    assert (shop["project"], shop["loops"], shop["success_rate"]) == ("/home/me/shop", 5, 1.0)
    assert (api["project_name"], api["loops"], api["tokens"]) == ("api", 1, None)


def test_the_numbers_in_words() -> None:
    _played()
    iterations.note(our_home(), "aaaaa", {"iteration": 1, "tokens": 12_345}, "")
    assert stats.stats_text(our_home()) == (
        "Loops: 6 (1 active, 4 ended, 1 lost)\n"
        "  success: 2\n"
        "  cancelled: 1\n"
        "  max_iterations: 1\n"
        "Success rate: 67% (cancelled loops do not count)\n"
        "Duration: 1 min 30 s (median), 3 min 15 s (average)\n"
        "Iterations: 3 (median), 4 (average)\n"
        "Tokens: 12,345\n"
        "By project:\n"
        "  shop: 1 active, 3 ended, 1 lost; success rate 100%\n"
        "  api: 1 ended; success rate 0%"
    )


def test_a_loop_that_goes_on_alone_has_neither_rate_nor_duration() -> None:
    starts(lives(a_loop()))
    assert stats.stats_text(our_home()) == "Loops: 1 (1 active)"


def test_strange_words_stay_on_their_line() -> None:
    _ran("aaaaa", "\x1b[31m\nred", iteration=1, after=1, project="a\nb")
    _ran("bbbbb", "", iteration=1, after=1, project="")
    lines = stats.stats_text(our_home()).splitlines()
    assert all(line.isprintable() for line in lines)
    assert "  unknown: 1" in lines
