"""Settings: which layer wins, and what an untrusted project may not do."""

from __future__ import annotations

import pytest
from world import World

from sisyphus.ground.settings import NOTHING, SETTINGS


@pytest.mark.parametrize(
    ("user", "project", "variable", "is_on"),
    [
        (None, None, None, True),
        ("false", None, None, False),
        (None, "false", None, False),
        (None, None, "0", False),
        ("false", "true", None, False),
        ("false", None, "1", False),
        ("true", "false", "true", False),
        (None, "'no'", None, True),
        (None, "[", None, True),
        (None, None, "maybe", True),
    ],
)
def test_a_project_and_its_environment_may_switch_off_but_not_on(
    world: World, user: str | None, project: str | None, variable: str | None, is_on: bool
) -> None:
    if user:
        world.write(world.ours / "config.toml", f"[rules]\nenabled = {user}\n")
    if project:
        world.write(".claude/sisyphus.toml", f"[rules]\nenabled = {project}\n")
    if variable:
        world.setenv("SISYPHUS_RULES_ENABLED", variable)
    world.rule("a.md", "MARK", applies_to="*.py")

    assert ("MARK" in world.read("a.py").text) is is_on


def test_invalid_settings_are_logged_and_ignored(world: World) -> None:
    world.write(
        ".claude/sisyphus.toml",
        '[rules]\nunscoped = "perhaps"\ncolour = "red"\n[context]\nenabled = true\n',
    )
    world.write(world.ours / "config.toml", "[context]\nenabled = false\n")

    world.start()

    for line in (
        'rules.unscoped must be "skip" or "send", not "perhaps"',
        "unknown setting rules.colour",
        "may not set context.enabled to true",
    ):
        assert line in world.log()


@pytest.mark.parametrize("text", ["garbage [", "x = [", "\xff" * 9_000])
@pytest.mark.parametrize("place", ["project", "user"])
def test_every_command_warns_about_a_file_that_cannot_be_read(
    world: World, place: str, text: str
) -> None:
    name = world.write(
        ".claude/sisyphus.toml" if place == "project" else world.ours / "config.toml", text
    )

    for words in (["rules"], ["status"], ["ralph", "list"], ["rules"]):
        assert f"warning: settings: {name} is ignored: it is " in world.cli(*words).err
    assert f"settings: {name} is ignored: " not in world.log()
    world.start()
    assert f"settings: {name} is ignored: " in world.log()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("[ralph]\nverify_seconds = -1", "must be a whole number, 0 or more, not -1"),
        ("[rules]\nenabled = 'no'", 'must be true or false, not "no"'),
        ("[context]\nagents_md = true", 'must be "auto", "always" or "never", not true'),
        ("rules = 1", "rules is a section; write [rules], then its settings below"),
        ("colour = 1", "unknown setting colour"),
        ("[colour]\nred = 1", "unknown setting colour.red"),
    ],
)
def test_a_problem_says_what_is_allowed(world: World, line: str, problem: str) -> None:
    world.write(world.ours / "config.toml", line)

    assert problem in world.cli("status").err


def test_commands_say_what_is_switched_off_and_by_what(world: World) -> None:
    world.write("PLAN.md", "# Kiln\n\n- [ ] fire\n")
    world.write(world.ours / "config.toml", "[ralph]\nenabled = false\n")
    world.write(".claude/sisyphus.toml", "[rules]\nenabled = false\n[ralph]\nenabled = true\n")
    world.setenv("SISYPHUS_CONTEXT_ENABLED", "0")
    world.start()
    loops = "Loops are off: ~/.claude/.sisyphus/config.toml sets ralph.enabled to false.\n"
    rules = "Rules are off: .claude/sisyphus.toml sets rules.enabled to false.\n"
    documents = "Documents are off: SISYPHUS_CONTEXT_ENABLED sets context.enabled to false.\n"

    started = world.cli("ralph", "start", "--session-id", "s1", "--", "Fix it.").out
    assert loops in started
    assert f"{loops}{rules}{documents}" in world.cli("status").out

    world.setenv("SISYPHUS_DISABLE", "1")
    assert "Everything is off: SISYPHUS_DISABLE is set." in world.cli("status").out


def test_a_project_may_not_change_settings_that_block_permit_or_delete() -> None:
    for name, setting in SETTINGS.items():
        if name.startswith(("boulder.", "ralph.", "enforce.", "state.", "notify.", "permissions.")):
            assert setting.project == NOTHING, name


def test_a_refusal_names_the_variable_and_the_command(world: World) -> None:
    world.setenv("SISYPHUS_RALPH_ENABLED", "0")
    world.setenv("SISYPHUS_RULES_ENABLED", "maybe")

    said = world.cli("status").err

    assert (
        "settings: SISYPHUS_RALPH_ENABLED: may not set ralph.enabled to false; "
        "`sisyphus config ralph.enabled VALUE` sets it for you\n"
    ) in said
    assert "SISYPHUS_RULES_ENABLED: rules.enabled must be true or false" in said


def test_the_home_folder_has_no_settings_of_a_project(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`sisyphus config --in-project` could not take them out again."""
    world.write(world.claude / "sisyphus.toml", "[rules]\nenabled = false\n[ralph]\nx = 1\n")
    monkeypatch.chdir(world.home)

    answer = world.cli("config", "rules.enabled")

    assert (answer.out, answer.err) == ("true\n", "")


def test_a_file_that_changes_is_read_again(world: World) -> None:
    world.rule("a.md", "MARK", applies_to="*.py")
    world.write(".claude/sisyphus.toml", "[rules]\nenabled = false\n")
    assert world.read("a.py").is_silent

    world.write(".claude/sisyphus.toml", "[rules]\nenabled = true\n# changed\n")

    assert "MARK" in world.read("a.py").text
