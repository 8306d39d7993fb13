"""What every template keeps to, read from the templates themselves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from jinja2 import nodes

from sisyphus.dashboard import changes as ch
from sisyphus.dashboard.rendering import HERE, TEMPLATES
from sisyphus.ralph import report

FILES = sorted(Path(HERE, "templates").glob("*.html"))
PAGES = [pytest.param(path.read_text("utf-8"), id=path.name) for path in FILES]
ATTRIBUTE = r' data-topics="[^"]*"'
"""By itself: whether the part changes may depend on what was asked for, e.g. older lines."""

NOW = 1_795_000_000.0


@pytest.mark.parametrize("text", PAGES)
def test_a_part_that_changes_is_always_there(text: str) -> None:
    """One that comes later is drawn by no page that was opened before."""
    choices = TEMPLATES.parse(text).find_all(nodes.If)
    said = [data.data for one in choices for data in one.find_all(nodes.TemplateData)]
    parts = [data for data in said if "data-topics" in data]
    assert [data for data in parts if not re.fullmatch(ATTRIBUTE, data)] == []


@pytest.mark.parametrize("text", PAGES)
def test_a_part_that_changes_can_be_found_again_and_is_about_something(text: str) -> None:
    parts = [tag for tag in re.findall(r"<[a-z]+ [^>]*>", text) if "data-topics=" in tag]
    assert [tag for tag in parts if ' id="' not in tag] == []
    topics = [topic for tag in parts for topic in re.findall(r'data-topics="([a-z ]+)"', tag)]
    assert {one for found in topics for one in found.split()} <= set(ch.TOPICS)


def _live(**values: object) -> dict[str, Any]:
    plain = {"status": "active", "paused_by": "", "waiting": {}, "health": "alive"}
    return {**plain, "is_outer": False, **values}


LIVE = [
    pytest.param(_live(), "active", id="active"),
    pytest.param(_live(status="paused", paused_by="user"), "paused", id="by the user"),
    pytest.param(_live(status="paused", paused_by="breaker"), "paused (breaker)", id="breaker"),
    pytest.param(_live(status="paused", paused_by="host cap"), "paused", id="by the host"),
    pytest.param(_live(status="paused", health="gone"), "paused", id="paused, client gone"),
    pytest.param(_live(waiting={"for": "limit"}), "waiting", id="for the limit"),
    pytest.param(_live(waiting={"for": "limit"}, health="gone"), "waiting", id="without a client"),
    pytest.param(_live(health="stale"), "stale", id="stale"),
    pytest.param(_live(is_outer=True), "waiting for the loop inside it", id="outer"),
    pytest.param(_live(is_outer=True, health="gone"), "waiting for the loop inside it", id="both"),
    pytest.param(_live(health="gone"), "left behind", id="left behind"),
]


@pytest.mark.parametrize(("live", "word"), LIVE)
def test_a_loop_stands_as_the_command_line_says_it(live: dict[str, Any], word: str) -> None:
    template = '{% import "loop_parts.html" as parts %}{{ parts.state(row) }}'
    shown = TEMPLATES.from_string(template).render(row={"live": live, "result": "active"})
    assert re.findall(">([^<]+)</span>", shown) == [word]
    assert report.state(live, NOW).startswith(word)


@pytest.mark.parametrize("result", ["success", "max_iterations", "lost"])
def test_a_loop_that_is_over_says_how_it_ended(result: str) -> None:
    template = '{% import "loop_parts.html" as parts %}{{ parts.state(row) }}'
    shown = TEMPLATES.from_string(template).render(row={"live": None, "result": result})
    assert f">{result.replace('_', ' ')}</span>" in shown


@pytest.mark.parametrize("text", PAGES)
def test_commands_of_the_client_are_spelled_in_one_way(text: str) -> None:
    assert "/sisyphus:" not in text
