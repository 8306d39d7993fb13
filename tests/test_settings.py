from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from making import debug_log, ours, put

from sisyphus.settings import SETTINGS, Settings, from_environment, load

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def in_force(home: Path, project: Path) -> Callable[[], Settings]:
    """The settings of the project, read anew each time."""
    return lambda: load(str(ours(home, "")), str(project))


def _own(home: Path, text: str) -> None:
    put(ours(home, "config.toml"), text)


def _projects(project: Path, text: str) -> None:
    put(project / ".claude" / "sisyphus.toml", text)


@pytest.mark.parametrize("key", SETTINGS)
def test_every_setting_has_a_default_and_a_meaning(
    in_force: Callable[[], Settings], key: str
) -> None:
    assert in_force().get(key) == SETTINGS[key].default
    assert SETTINGS[key].doc.endswith(".")


@pytest.mark.parametrize("key", SETTINGS)
def test_every_setting_has_an_example_that_is_no_default(key: str) -> None:
    setting = SETTINGS[key]
    is_switch = isinstance(setting.default, bool)

    assert setting.accepts(setting.default)
    assert is_switch or (setting.accepts(setting.example) and setting.example != setting.default)


def test_no_file_and_no_change_costs_no_cache(home: Path, in_force: Callable[[], Settings]) -> None:
    in_force()
    assert not (home / ".claude").exists()


def test_the_later_is_the_stronger(
    home: Path,
    project: Path,
    in_force: Callable[[], Settings],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _own(home, '[context]\nagents_md = "never"\n')
    assert in_force().get("context.agents_md") == "never"
    _projects(project, '[context]\nagents_md = "always"\n')
    assert in_force().get("context.agents_md") == "always"
    monkeypatch.setenv("SISYPHUS_CONTEXT_AGENTS_MD", "auto")
    assert in_force().get("context.agents_md") == "auto"


def test_a_project_cannot_raise_a_limit(
    home: Path, project: Path, in_force: Callable[[], Settings]
) -> None:
    _own(home, "[ralph]\nbackground_wait = 20\n")
    _projects(project, "[ralph]\nbackground_wait = 9999\nenabled = false\n")
    assert in_force().get("ralph.background_wait") == 20
    assert in_force().get("ralph.enabled") is False


WRONG = [
    pytest.param("[rules]\nenabled = 0\n", id="a number for a switch"),
    pytest.param('[rules]\nenabled = "no"\n', id="a text for a switch"),
    pytest.param("[rules]\nenabled = []\n", id="a list for a switch"),
    pytest.param("rules = 3\n", id="a value for a section"),
    pytest.param("[rules.enabled]\nx = 1\n", id="a section for a value"),
    pytest.param("[rules\n", id="no TOML"),
    pytest.param(b"\xff\xfe", id="no text"),
    pytest.param("#" * 200_001, id="too large"),
    pytest.param("x = " + "[" * 50_000, id="nested too deeply"),
]


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_in_a_projects_file_leaves_the_users_own_in_force(
    home: Path, project: Path, in_force: Callable[[], Settings], text: str | bytes
) -> None:
    _own(home, "[rules]\nenabled = false\n")
    put(project / ".claude" / "sisyphus.toml", text)
    assert in_force().get("rules.enabled") is False


STRANGE = [
    pytest.param("1979-05-27", id="a date"),
    pytest.param("[1979-05-27]", id="a date in a list"),
    pytest.param("[[1], {a = 2}]", id="lists of lists"),
    pytest.param("0x" + "f" * 6_000, id="a number of 7,000 digits"),
    pytest.param("nan", id="not a number"),
    pytest.param('"\\u0000"', id="a NUL"),
]


@pytest.mark.parametrize("value", STRANGE)
def test_a_strange_value_spoils_no_other(
    home: Path, project: Path, in_force: Callable[[], Settings], value: str
) -> None:
    _projects(project, f"[x]\ny = {value}\n[rules]\nenabled = false\n")
    assert in_force().get("rules.enabled") is False
    assert in_force().get("rules.enabled") is False  # from the cache
    assert debug_log(home) == ""


VALUES = [
    pytest.param("enforce.backoff", "1.5", 1.5, id="a fraction"),
    pytest.param("enforce.backoff", "3", 3, id="a whole number for one"),
    pytest.param("enforce.backoff", "nan", 2, id="not a number"),
    pytest.param("enforce.backoff", "inf", 2, id="more than all"),
    pytest.param("enforce.backoff", "true", 2, id="a switch"),
    pytest.param("enforce.max_failures", "1.5", 5, id="a fraction where there may be none"),
    pytest.param("enforce.claims", '["done"]', ["done"], id="a list"),
    pytest.param("enforce.claims", '["done", 7]', [], id="a list of more than texts"),
    pytest.param("enforce.claims", '"done"', [], id="a text for a list"),
    pytest.param("ralph.verify_seconds", "600", 600, id="the largest there is"),
    pytest.param("ralph.verify_seconds", "601", 300, id="more than that"),
    pytest.param("ralph.verify_seconds", "0", 300, id="less than the least"),
    pytest.param("ralph.no_progress", "0", 0, id="none"),
    pytest.param("ralph.no_progress", "-1", 5, id="less than none"),
    pytest.param("enforce.idle_seconds", "-0.5", 30, id="a fraction less than none"),
    pytest.param("context.agents_md", '"never"', "never", id="one of the words"),
    pytest.param("context.agents_md", '"Never"', "auto", id="none of the words"),
]


@pytest.mark.parametrize(("key", "text", "value"), VALUES)
def test_a_value_counts_where_it_is_of_its_kind(
    home: Path, in_force: Callable[[], Settings], key: str, text: str, value: object
) -> None:
    section, name = key.split(".")
    _own(home, f"[{section}]\n{name} = {text}\n")
    assert [in_force().get(key) for _ in range(2)] == [value, value]  # from the cache, too


def _fifo(path: str) -> None:
    os.mkfifo(path)


def _stranger(path: str) -> None:
    outside = put(Path(path).parents[2] / "outside.toml", "[rules]\nenabled = false\n")
    os.symlink(outside, path)


@pytest.mark.parametrize("make", [_fifo, _stranger, os.mkdir], ids=["FIFO", "link out", "folder"])
def test_a_projects_file_that_is_none_is_passed_over(
    home: Path, project: Path, in_force: Callable[[], Settings], make: Callable[[str], None]
) -> None:
    (project / ".claude").mkdir()
    make(str(project / ".claude" / "sisyphus.toml"))
    assert in_force().get("rules.enabled") is True
    assert "settings not read" in debug_log(home)


def test_the_users_own_file_may_be_a_link(
    home: Path, tmp_path: Path, in_force: Callable[[], Settings]
) -> None:
    ours(home, "").mkdir(parents=True)
    ours(home, "config.toml").symlink_to(put(tmp_path / "dot.toml", "[rules]\nenabled = false\n"))
    assert in_force().get("rules.enabled") is False


def test_a_changed_file_is_read_again(home: Path, in_force: Callable[[], Settings]) -> None:
    _own(home, "[rules]\nenabled = false\n")
    assert in_force().get("rules.enabled") is False
    _own(home, "[rules]\nenabled = true\n")
    assert in_force().get("rules.enabled") is True


ENVIRONMENT = [
    pytest.param("rules.enabled", "0", False, id="0 is off"),
    pytest.param("rules.enabled", "False", False, id="false is off"),
    pytest.param("context.directory_readme", "1", True, id="1 is on"),
    pytest.param("context.directory_readme", "TRUE", True, id="true is on"),
    pytest.param("rules.enabled", "maybe", True, id="neither leaves the default"),
    pytest.param("rules.enabled", "", True, id="an empty switch leaves the default"),
    pytest.param("boulder.stale_days", "3", 3, id="a number"),
    pytest.param("boulder.stale_days", "-3", 14, id="a number out of bounds"),
    pytest.param("boulder.stale_days", "--3", 14, id="no number"),
    pytest.param("boulder.stale_days", "²", 14, id="a digit that is no number"),
    pytest.param("boulder.stale_days", "9" * 5_000, 14, id="too many digits"),
    pytest.param("boulder.stale_days", "1.5", 14, id="a fraction where there may be none"),
    pytest.param("context.agents_md", "never", "never", id="a text"),
    pytest.param("context.agents_md", "Never", "auto", id="none of the texts"),
]


@pytest.mark.parametrize(("key", "text", "value"), ENVIRONMENT)
def test_a_variable_spells_a_value(
    in_force: Callable[[], Settings],
    monkeypatch: pytest.MonkeyPatch,
    key: str,
    text: str,
    value: Any,
) -> None:
    monkeypatch.setenv("SISYPHUS_" + key.replace(".", "_").upper(), text)
    assert in_force().get(key) == value


SPELLED = [
    pytest.param("enforce.idle_seconds", "0.5", 0.5, id="a fraction"),
    pytest.param("enforce.idle_seconds", "7", 7, id="a whole number where fractions count"),
    pytest.param("enforce.idle_seconds", "soon", None, id="a word for a number"),
    pytest.param("enforce.claims", "done, all  set ,,", ["done", "all  set"], id="a list"),
    pytest.param("enforce.claims", "", [], id="an empty list"),
]


@pytest.mark.parametrize(("key", "text", "value"), SPELLED)
def test_so_it_does_where_it_may_not_set_it(key: str, text: str, value: Any) -> None:
    name = "SISYPHUS_" + key.replace(".", "_").upper()
    assert from_environment({name: text}) == {key: value}


def test_a_setting_that_does_not_exist_is_a_slip_of_ours() -> None:
    with pytest.raises(KeyError):
        Settings({}).get("rules.enabeld")


def test_a_variable_is_stronger_than_a_project_up_to_the_users_own(
    home: Path,
    project: Path,
    in_force: Callable[[], Settings],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _own(home, "[enforce]\nmax_iterations = 20\n")
    _projects(project, "[enforce]\nmax_iterations = 5\n")
    monkeypatch.setenv("SISYPHUS_ENFORCE_MAX_ITERATIONS", "10")
    assert in_force().get("enforce.max_iterations") == 10
    monkeypatch.setenv("SISYPHUS_ENFORCE_MAX_ITERATIONS", "30")
    assert in_force().get("enforce.max_iterations") == 5
