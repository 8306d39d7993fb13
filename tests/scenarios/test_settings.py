"""Who may set what: the user everything, a project and a variable what a list allows them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from world import World

OWN, PROJECTS = "~/.claude/.sisyphus/config.toml", ".claude/sisyphus.toml"

DEFAULTS: dict[str, Any] = {
    "boulder.enabled": True, "boulder.stale_days": 14,
    "ralph.enabled": True, "ralph.background_wait": 10, "ralph.no_progress": 5,
    "ralph.same_error": 5, "ralph.breaker_minutes": 30, "ralph.verify_seconds": 300,
    "ralph.retry_seconds": 300, "ralph.stale_hours": 4, "ralph.transcripts": True,
    "checkpoint.enabled": True, "checkpoint.l1": 70, "checkpoint.l2": 85, "checkpoint.l3": 95,
    "checkpoint.window": 0, "checkpoint.hand_over": True, "checkpoint.wip_commit": False,
    "checkpoint.keep_days": 14,
    "permissions.own_files": True,
    "notify.command": "", "notify.linear_issue": "",
    "enforce.enabled": True, "enforce.idle_seconds": 30, "enforce.cooldown_seconds": 30,
    "enforce.backoff": 2, "enforce.max_failures": 5, "enforce.recovery_seconds": 300,
    "enforce.max_iterations": 50, "enforce.claims": [], "enforce.work": [],
    "enforce.toast_seconds": 15, "enforce.countdown_seconds": 2, "enforce.abort_seconds": 3,
    "enforce.stability_seconds": 5,
    "rules.enabled": True,
    "context.enabled": True, "context.agents_md": "auto", "context.directory_readme": False,
    "state.keep_days": 30,
}  # fmt: skip

FREE: dict[str, list[Any]] = {
    "context.agents_md": ["always", "never"], "context.directory_readme": [True],
}  # fmt: skip
"""What a project and a variable may set as they like."""

LOWER: dict[str, tuple[list[Any], list[Any]]] = {
    "boulder.enabled": ([False], []),
    "boulder.stale_days": ([13, 0], [15]),
    "ralph.enabled": ([False], []),
    "ralph.no_progress": ([4, 1], [6, 0]),
    "ralph.same_error": ([4, 1], [6, 0]),
    "ralph.verify_seconds": ([299, 1], [301]),
    "ralph.transcripts": ([False], []),
    "checkpoint.enabled": ([False], []),
    "checkpoint.l1": ([69], [71]),
    "checkpoint.l2": ([84], [86]),
    "checkpoint.l3": ([94], [96]),
    "checkpoint.keep_days": ([13, 0], [15]),
    "enforce.enabled": ([False], []),
    "enforce.max_failures": ([4], [6, 0]),
    "enforce.max_iterations": ([49], [51, 0]),
    "rules.enabled": ([False], []),
    "context.enabled": ([False], []),
}
"""What they may lower, or switch off: values that are taken, and values that are not."""

ALONE: dict[str, list[Any]] = {
    "ralph.background_wait": [0, 11], "ralph.breaker_minutes": [0, 31],
    "ralph.retry_seconds": [1, 301], "ralph.stale_hours": [0, 5],
    "checkpoint.window": [20_000, 1_000_000], "checkpoint.hand_over": [False],
    "checkpoint.wip_commit": [True],
    "permissions.own_files": [True, False],
    "notify.command": ["touch /tmp/gone"], "notify.linear_issue": ["ENG-1"],
    "enforce.idle_seconds": [0, 31], "enforce.cooldown_seconds": [0, 31],
    "enforce.backoff": [1, 3], "enforce.recovery_seconds": [0, 301],
    "enforce.claims": [["the"]], "enforce.work": [["the"]], "enforce.toast_seconds": [0, 16],
    "enforce.countdown_seconds": [0, 3], "enforce.abort_seconds": [0, 4],
    "enforce.stability_seconds": [0, 6],
    "state.keep_days": [0, 1, 31],
}  # fmt: skip
"""What the user alone sets."""

CASES = [
    *((key, value, True) for key, taken in FREE.items() for value in taken),
    *((key, value, True) for key, (taken, _) in LOWER.items() for value in taken),
    *((key, value, False) for key, (_, refused) in LOWER.items() for value in refused),
    *((key, value, False) for key, refused in ALONE.items() for value in refused),
]

SOURCES = [pytest.param("project", id="a project"), pytest.param("environment", id="a variable")]


def _own(world: World, **values: Any) -> None:
    world.write(OWN, _toml(values))


def _set(world: World, source: str, key: str, value: Any) -> None:
    """Somebody else than the user sets it."""
    if source == "project":
        world.write(PROJECTS, _toml({key: value}))
    else:
        text = ",".join(value) if isinstance(value, list) else str(value)
        world.patch.setenv("SISYPHUS_" + key.replace(".", "_").upper(), text)


def _toml(values: dict[str, Any]) -> str:
    lines = (f"{key} = {json.dumps(value)}\n" for key, value in values.items())
    return "".join(lines)


def _explained(world: World, key: str) -> Any:
    return world.sisyphus("config", "explain", key, "--json").json


def test_the_tables_here_are_about_every_setting(world: World) -> None:
    shown = world.sisyphus("config", "show", "--json").json["settings"]

    assert {row["key"]: row["value"] for row in shown} == DEFAULTS
    assert sorted({*FREE, *LOWER, *ALONE}) == sorted(DEFAULTS)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("key", "value", "counts"), CASES)
def test_somebody_elses_value_counts_where_it_may(
    world: World, source: str, key: str, value: Any, counts: bool
) -> None:
    _set(world, source, key, value)

    found = _explained(world, key)

    assert found["value"] == (value if counts else DEFAULTS[key])
    assert found["origin"] == (source if counts else "default")
    assert len(found["passed_over"]) == (not counts)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("key", "value", "counts"), CASES)
def test_what_does_not_count_is_named_by_doctor(
    world: World, source: str, key: str, value: Any, counts: bool
) -> None:
    _set(world, source, key, value)

    problems = world.sisyphus("config", "show", "--json").json["problems"]

    assert [one["key"] for one in problems if key in one["key"]] == ([] if counts else [key])


@pytest.mark.parametrize(("key", "value", "_counts"), CASES)
def test_the_users_own_value_counts(world: World, key: str, value: Any, _counts: bool) -> None:
    _own(world, **{key: value})

    assert (_explained(world, key)["value"], _explained(world, key)["origin"]) == (value, "user")


AGAINST_YOURS = [
    pytest.param("enforce.max_iterations", 20, 19, 19, id="lower than yours"),
    pytest.param("enforce.max_iterations", 20, 21, 20, id="lower than the default alone"),
    pytest.param("enforce.max_iterations", 80, 60, 60, id="yours is above the default"),
    pytest.param("enforce.max_iterations", 0, 90, 90, id="yours is none"),
    pytest.param("enforce.max_iterations", 0, 0, 0, id="as yours"),
    pytest.param("boulder.stale_days", 0, 1, 0, id="0 that is no more than a number"),
    pytest.param("rules.enabled", False, True, False, id="what is off stays off"),
    pytest.param("ralph.enabled", False, True, False, id="so does ralph"),
    pytest.param("ralph.transcripts", False, True, False, id="and what is kept"),
    pytest.param("context.agents_md", "never", "always", "always", id="which documents"),
    pytest.param("context.enabled", True, False, False, id="what is on goes off"),
    pytest.param("ralph.verify_seconds", 900, 600, 300, id="yours is out of bounds"),
]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("key", "yours", "theirs", "value"), AGAINST_YOURS)
def test_a_limit_is_measured_by_your_own(
    world: World, source: str, key: str, yours: Any, theirs: Any, value: Any
) -> None:
    _own(world, **{key: yours})
    _set(world, source, key, theirs)

    assert _explained(world, key)["value"] == value


def test_a_variable_is_stronger_than_a_project_up_to_your_own(world: World) -> None:
    _own(world, **{"enforce.max_iterations": 20})
    _set(world, "project", "enforce.max_iterations", 5)
    _set(world, "environment", "enforce.max_iterations", 10)
    assert _explained(world, "enforce.max_iterations")["value"] == 10

    _set(world, "environment", "enforce.max_iterations", 30)
    assert _explained(world, "enforce.max_iterations")["value"] == 5


WORDS = [
    pytest.param("project", "notify.command", "x", "a project's file may not set it"),
    pytest.param("project", "ralph.no_progress", 0, "a project's file may only lower it"),
    pytest.param("environment", "notify.command", "x", "no variable may set it"),
    pytest.param("environment", "ralph.no_progress", 0, "a variable may only lower it"),
]


@pytest.mark.parametrize(("source", "key", "value", "why"), WORDS)
def test_a_refusal_says_why_everywhere(
    world: World, source: str, key: str, value: Any, why: str
) -> None:
    _set(world, source, key, value)
    for _ in range(3):
        world.start()
        world.tool("Read", file_path="a.py")

    assert why in world.sisyphus("config", "explain", key).stdout
    assert why in world.sisyphus("config", "show").stdout
    assert why in world.sisyphus("doctor").stdout
    log = (world.ours / "logs" / "debug.log").read_text("utf-8")
    assert [why in line and key in line for line in log.splitlines()] == [True]


def test_another_refused_value_is_logged_again(world: World) -> None:
    for value in (6, 6, 7):
        _set(world, "project", "ralph.no_progress", value)
        world.start()

    log = (world.ours / "logs" / "debug.log").read_text("utf-8")
    assert [line.rpartition(" ")[2] for line in log.splitlines()] == ["6", "7"]


def test_a_project_is_not_written_what_would_not_count(world: World) -> None:
    _own(world, **{"rules.enabled": False})

    for key, value in (
        ("ralph.no_progress", "6"),
        ("rules.enabled", "on"),
        ("notify.command", "x"),
    ):
        done = world.sisyphus("config", "set", key, value, "--project", ".")
        assert (done.exit, "Set it for yourself, without --project." in done.stderr) == (1, True)

    assert not (world.folder / PROJECTS).exists()


@pytest.mark.parametrize("source", SOURCES)
def test_a_hook_takes_what_counts_and_nothing_else(world: World, source: str) -> None:
    world.write(".claude/rules/py.md", '---\napplies_to: "**/*.py"\n---\nBe typed.\n')
    world.write("a.py", "x = 1\n")

    _set(world, source, "rules.enabled", False)
    assert world.tool("Read", file_path="a.py").reply is None

    world.patch.delenv("SISYPHUS_RULES_ENABLED", raising=False)
    world.write(PROJECTS, "")
    assert "Be typed." in world.tool("Read", file_path="a.py").text


@pytest.mark.parametrize("source", SOURCES)
def test_nobody_else_switches_on_what_you_switched_off(world: World, source: str) -> None:
    world.write(".claude/rules/py.md", '---\napplies_to: "**/*.py"\n---\nBe typed.\n')
    world.write("a.py", "x = 1\n")
    _own(world, **{"rules.enabled": False})

    _set(world, source, "rules.enabled", True)

    assert world.tool("Read", file_path="a.py").reply is None


OTHER_VARIABLES = [
    "SISYPHUS_DISABLE", "SISYPHUS_RUN", "SISYPHUS_SESSION_ID", "SISYPHUS_DASHBOARD_TOKEN",
]  # fmt: skip


@pytest.mark.parametrize("name", OTHER_VARIABLES)
def test_our_other_variables_are_no_settings(world: World, name: str) -> None:
    world.patch.setenv(name, "1")

    assert world.sisyphus("config", "show", "--json").json["problems"] == []
