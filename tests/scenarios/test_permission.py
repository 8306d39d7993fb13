"""The agent writes the files that its session works by without being asked, and no others."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from runner import scripted

if TYPE_CHECKING:
    from pathlib import Path

    from world import World

PLAN = "# Ship it\n\n- [x] one\n- [ ] two\n"
LOOP = '/sisyphus:ralph-loop "do it" --completion-promise "DONE"'

PLACES = [".claude/PLAN.md", "PLAN.md", ".claude/plans/ship.md", "docs/kord/plans/ship.md"]
TOOLS = ["Edit", "Write", "MultiEdit"]


def follows(world: World, place: str = ".claude/PLAN.md") -> Path:
    """A session that a plan goes on in."""
    plan = world.write(place, PLAN)
    world.start()
    return plan


def notes(world: World) -> list[str]:
    entries = world.sisyphus("why --json -n 100").json["entries"]
    return [note for entry in entries for note in entry.get("notes", [])]


# --- what it may --------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["acceptEdits", "auto"])
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("place", PLACES)
def test_the_plan_that_the_session_follows(world: World, place: str, tool: str, mode: str) -> None:
    follows(world, place)

    assert world.asks(tool, place, mode)
    assert f"allowed {tool} of {place}" in notes(world)


def test_its_subagent_may_as_well(world: World) -> None:
    follows(world)

    assert world.subagent("helper").asks("Edit", ".claude/PLAN.md")


def test_a_call_that_was_allowed_still_counts_when_it_has_ended(world: World) -> None:
    plan = follows(world)
    assert world.asks("Edit", ".claude/PLAN.md", tool_use_id="toolu_7")

    plan.write_text("# Ship it\n\n- [x] one\n- [x] two\n", "utf-8")
    done = world.hook(
        "post-tool-use", tool_name="Edit", tool_input={"file_path": str(plan)},
        tool_response={}, tool_use_id="toolu_7",
    )  # fmt: skip

    assert "[BOULDER COMPLETE]" in done.message + done.text


def test_a_project_that_is_reached_by_a_link(world: World) -> None:
    follows(world)
    link = world.folder.parent / "link"
    link.symlink_to(world.folder)

    asked = {"file_path": str(link / ".claude/PLAN.md")}
    assert world.asks("Edit", "", tool_input=asked, cwd=str(link))


@pytest.mark.parametrize("place", [".claude/fix_plan.md", "fix_plan.md"])
def test_the_fix_plan_of_a_loop(world: World, place: str) -> None:
    world.write(place, PLAN)
    world.start()
    assert not world.asks("Edit", place)

    world.hook("user-prompt-submit", prompt=LOOP)

    assert world.asks("Edit", place)
    world.hook("user-prompt-submit", prompt="/sisyphus:cancel-ralph")
    assert not world.asks("Edit", place)


def test_the_fix_plan_of_the_projects_run(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.write(".claude/fix_plan.md", PLAN)
    client = scripted.install(world.home / "client", [scripted.said("Still at it.")])
    words = ["--prompt", "Do it", "--max-iterations", "1", "--client-command", client]
    assert world.sisyphus("ralph", "run", *words).exit == 3
    (iteration,) = scripted.runs(world.home / "client")
    other = world.project("other")
    other.write(".claude/fix_plan.md", PLAN)

    monkeypatch.setenv("SISYPHUS_RUN", iteration["env"]["SISYPHUS_RUN"])
    assert world.asks("Edit", ".claude/fix_plan.md")
    assert not other.asks("Edit", ".claude/fix_plan.md")
    world.write(".claude/ralph-state.json", '{"version": 1, "loop_id": "ab3de"}')
    monkeypatch.setenv("SISYPHUS_RUN", "ab3de")
    assert not world.asks("Edit", ".claude/fix_plan.md")


def test_its_open_handoff(world: World) -> None:
    world.start()
    world.fill(1_000)
    world.hook("user-prompt-submit", prompt="/sisyphus:ralph-checkpoint")
    (handoff,) = (world.folder / ".claude/handoffs").glob("*.md")
    place = str(handoff.relative_to(world.folder))

    assert world.asks("Edit", place)
    assert not world.session("s2").asks("Edit", place)
    other = world.write(".claude/handoffs/other.md", "# Other\n")
    assert not world.asks("Edit", str(other))


# --- where nothing was accepted -----------------------------------------------------------------


@pytest.mark.parametrize(
    "mode",
    ["default", "plan", "dontAsk", "bypassPermissions", "", "ACCEPTEDITS", 7, None, ["auto"]],
)
def test_in_other_modes_the_client_decides(world: World, mode: str) -> None:
    follows(world)

    assert not world.asks("Edit", ".claude/PLAN.md", mode)


def test_it_can_be_switched_off_by_the_user(world: World) -> None:
    follows(world)
    world.write("~/.claude/.sisyphus/config.toml", "[permissions]\nown_files = false\n")

    assert not world.asks("Edit", ".claude/PLAN.md")


def test_a_project_cannot_switch_it(world: World) -> None:
    follows(world)
    world.write("~/.claude/.sisyphus/config.toml", "[permissions]\nown_files = false\n")
    world.write(".claude/sisyphus.toml", "[permissions]\nown_files = true\n")

    assert not world.asks("Edit", ".claude/PLAN.md")


@pytest.mark.parametrize("switch", ["SISYPHUS_DISABLE", "SISYPHUS_BOULDER_ENABLED"])
def test_what_is_switched_off_allows_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch, switch: str
) -> None:
    follows(world)
    monkeypatch.setenv(switch, "1" if switch == "SISYPHUS_DISABLE" else "0")

    assert not world.asks("Edit", ".claude/PLAN.md")


def test_a_loop_that_is_switched_off_allows_nothing(world: World) -> None:
    world.write(".claude/fix_plan.md", PLAN)
    world.start()
    world.hook("user-prompt-submit", prompt=LOOP)
    world.write("~/.claude/.sisyphus/config.toml", "[ralph]\nenabled = false\n")

    assert not world.asks("Edit", ".claude/fix_plan.md")


def test_checkpoints_that_are_switched_off_allow_nothing(world: World) -> None:
    world.start()
    world.fill(1_000)
    world.hook("user-prompt-submit", prompt="/sisyphus:ralph-checkpoint")
    (handoff,) = (world.folder / ".claude/handoffs").glob("*.md")
    world.write("~/.claude/.sisyphus/config.toml", "[checkpoint]\nenabled = false\n")

    assert not world.asks("Edit", str(handoff))


def test_without_a_journal_nothing_is_allowed(world: World) -> None:
    follows(world)
    (world.home / ".claude/.sisyphus/sisyphus.db").unlink()
    (world.home / ".claude/.sisyphus/sisyphus.db").mkdir()

    assert not world.asks("Edit", ".claude/PLAN.md")


def test_a_subagent_without_a_usable_name_may_nothing(world: World) -> None:
    follows(world)

    assert not world.subagent("../x").asks("Edit", ".claude/PLAN.md")


# --- hostile neighbours -------------------------------------------------------------------------

NEIGHBOURS = [
    ".claude/settings.json", ".claude/settings.local.json", ".claude/sisyphus.toml",
    ".claude/CLAUDE.md", "CLAUDE.md", "AGENTS.md", ".claude/commands/go.md",
    ".claude/agents/helper.md", ".claude/skills/do/SKILL.md", ".claude/rules/a.md",
    ".claude/hooks/stop.sh", ".claude/hooks/stop.md", ".claude/plans/other.md",
    ".claude/PLAN.md.bak", ".claude/PLAN.MD", ".claude/plan.md", ".CLAUDE/PLAN.md",
    ".claude/PLAN.md/x.md", ".claude/PLAN.md\n", ".claude/PLAN.md ", " .claude/PLAN.md",
    ".claude/PLAN\u200b.md", ".claude/\uff30LAN.md", ".claude//PLAN.md", ".claude/./PLAN.md",
    ".claude/../.claude/PLAN.md", ".claude/plans/../PLAN.md", "./.claude/PLAN.md",
    ".claude\\PLAN.md", ".claude/PLAN.md\0.json", ".claude/PLAN.md:stream.md", ".git/config",
    ".git/hooks/pre-commit", ".git/PLAN.md", ".vscode/settings.json", ".mcp.json",
    ".claude/handoffs/x.md", ".claude/fix_plan.md", "fix_plan.md", "PLAN.md",
    ".claude/PROMPT.md", ".claude/progress.txt", ".claude/ralph-state.json",
    "package/.claude/PLAN.md", "docs/kord/plans/x.md",
    "", ".", "..", "../PLAN.md", "../.claude/PLAN.md", "/", "/etc/passwd", "/PLAN.md",
]  # fmt: skip


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("path", NEIGHBOURS)
def test_nothing_beside_the_plan(world: World, path: str, tool: str) -> None:
    follows(world)
    asked = {"file_path": f"{world.folder}/{path}", "content": "x"}

    assert not world.asks(tool, "", tool_input=asked)


@pytest.mark.parametrize("path", NEIGHBOURS)
def test_nothing_beside_it_that_is_there(world: World, path: str) -> None:
    """Where the file exists, and the path is as it stands, relative or from the root."""
    follows(world)
    plan = world.folder / ".claude/PLAN.md"
    whole = world.folder / path.strip("/ \n\0") if "\0" not in path else world.folder
    is_inside = str(whole).startswith(f"{world.folder}/") and ".." not in path
    if is_inside and not whole.exists() and plan not in whole.parents:
        world.write(str(whole), "x")

    for asked in (path, str(whole)):
        if asked != str(plan):
            assert not world.asks("Edit", "", tool_input={"file_path": asked}), asked


@pytest.mark.parametrize(
    "tool",
    ["Bash", "Read", "Skill", "Task", "NotebookEdit", "mcp__fs__write", "edit", "", None, 7],
)
def test_no_other_tool(world: World, tool: str) -> None:
    follows(world)

    assert not world.asks(tool, ".claude/PLAN.md")


def test_no_tool_that_writes_another_file_than_it_says(world: World) -> None:
    plan = follows(world)
    asked = {"file_path": str(plan), "notebook_path": str(world.folder / ".claude/settings.json")}

    assert not world.asks("NotebookEdit", "", tool_input=asked)


@pytest.mark.parametrize(
    "given",
    [
        None, {}, [], "x", {"file_path": None}, {"file_path": 7}, {"file_path": ["PLAN.md"]},
        {"notebook_path": "{plan}"}, {"path": "{plan}"}, {"file_path": ["{plan}"]},
        {"file_path": {"x": "{plan}"}},
    ],
)  # fmt: skip
def test_no_call_without_a_plain_path(world: World, given: object) -> None:
    plan = follows(world)
    told = json.loads(json.dumps(given).replace("{plan}", str(plan)))

    assert not world.asks("Edit", "", tool_input=told)


def test_no_plan_that_the_session_was_not_told_of(world: World) -> None:
    follows(world)

    assert not world.session("s2").asks("Edit", ".claude/PLAN.md")


def test_no_plan_of_another_project_or_session(world: World) -> None:
    follows(world)
    other = world.project("other")
    theirs = follows(other.session("s2"))

    assert not world.asks("Edit", str(theirs))
    assert not other.session("s2").asks("Edit", str(world.folder / ".claude/PLAN.md"))


@pytest.mark.parametrize(
    "place", [".claude/commands/go.md", ".claude/rules/a.md", "CLAUDE.md", ".claude/agents/x.md"]
)
def test_no_plan_that_the_model_named_itself(world: World, place: str) -> None:
    world.write(place, PLAN)
    world.start()
    assert world.sisyphus("boulder", "start", str(world.folder / place)).exit == 0

    assert world.sisyphus("boulder status --json").json["active_plan"] == str(world.folder / place)
    assert not world.asks("Edit", place)


LINKS = [
    pytest.param(".claude/PLAN.md", ".claude/settings.json", id="the plan, to a file beside it"),
    pytest.param(".claude/PLAN.md", "../outside.md", id="the plan, out of the project"),
    pytest.param(".claude", "../outside", id="its folder, out of the project"),
    pytest.param(".claude", "elsewhere", id="its folder, within the project"),
]


@pytest.mark.parametrize(("link", "target"), LINKS)
def test_no_path_that_was_swapped_for_a_link(world: World, link: str, target: str) -> None:
    plan = follows(world)
    whole = world.folder / target
    if link == ".claude":
        plan.parent.rename(whole)
    else:
        whole.write_text(PLAN, "utf-8")
        plan.unlink()
    (world.folder / link).symlink_to(whole)

    assert not world.asks("Edit", ".claude/PLAN.md")


def test_no_way_around_by_a_link_in_the_project(world: World) -> None:
    follows(world)
    (world.folder / "self").symlink_to(world.folder)

    assert not world.asks("Edit", "self/.claude/PLAN.md")


def test_no_file_with_a_second_name(world: World) -> None:
    plan = follows(world)
    settings_file = world.write(".claude/settings.json", "{}")
    plan.unlink()
    os.link(settings_file, plan)

    assert not world.asks("Edit", ".claude/PLAN.md")


@pytest.mark.parametrize("kind", ["folder", "pipe", "gone"])
def test_nothing_but_a_file(world: World, kind: str) -> None:
    plan = follows(world)
    plan.unlink()
    if kind == "folder":
        plan.mkdir()
    elif kind == "pipe":
        os.mkfifo(plan)

    assert not world.asks("Edit", ".claude/PLAN.md")


def test_no_session_without_a_name(world: World) -> None:
    follows(world)

    assert not world.asks("Edit", ".claude/PLAN.md", session_id=None)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.text(), st.text(max_size=20))
def test_any_path_but_its_own_is_refused(world: World, path: str, tool: str) -> None:
    plan = world.folder / ".claude/PLAN.md"
    if not plan.exists():
        follows(world)

    for asked in (path, f"{plan}{path}" if path else "x", f"{world.folder}/.claude/{path}"):
        if asked != str(plan):
            assert not world.asks("Edit", "", tool_input={"file_path": asked})
    if tool not in TOOLS:
        assert not world.asks(tool, ".claude/PLAN.md")
