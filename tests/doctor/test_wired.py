from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from doctor.scene import hooks, told
from sisyphus.clients.claude_code_setup import TOOLS
from sisyphus.doctor import wired
from sisyphus.doctor.trial import Tried

if TYPE_CHECKING:
    from collections.abc import Callable

    from doctor.scene import Scene


def _without(*events: str) -> Callable[[Any], None]:
    def change(values: Any) -> None:
        for event in events:
            del values["hooks"][event]

    return change


def _stop_timeout(values: Any) -> None:
    values["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 60


def _matcher(values: Any) -> None:
    values["hooks"]["PostToolBatch"][0]["matcher"] = "Read"


def _awake(values: Any) -> None:
    del values["hooks"]["Stop"][0]["hooks"][1]["async"]


def _by_hand(values: Any) -> None:
    entry = values["hooks"]["SessionStart"][0]["hooks"][0]
    entry["command"] += " || true"


def _every_timeout(values: Any) -> None:
    for groups in values["hooks"].values():
        for hook in groups[0]["hooks"]:
            hook["timeout"] = 7


def _calls(*entries: tuple[str, str]) -> Callable[[Any], None]:
    """Other entries for tool calls: the client's event and ours."""

    def change(values: Any) -> None:
        program = values["hooks"]["Stop"][0]["hooks"][0]["command"].split()[0]
        del values["hooks"]["PostToolBatch"]
        for event, name in entries:
            hook = {"type": "command", "command": f"{program} hook {name}", "timeout": 10}
            values["hooks"][event] = [{"hooks": [hook]}]

    return change


SINGLE, BATCH = ("PostToolUse", "post-tool-use"), ("PostToolBatch", "post-tool-use")
NAMED = ("PostToolBatch", "post-tool-batch")


def _says_nothing(values: Any) -> None:
    values["hooks"]["SessionStart"][0]["hooks"][0].update({"async": False, "if": ""})


def _elsewhere(values: Any) -> None:
    values["hooks"]["Notification"] = values["hooks"]["PreCompact"]


def _foreign(values: Any) -> None:
    values["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "say done"}]})


USER = "~/.claude/settings.json (user)"


def _another(events: str) -> tuple[str, str]:
    text = f"{events} in {USER} is the wiring of another version: more processes than needed"
    return "warning", f"{text}, though each call counts once"


OLD = "not as shipped now"
ALL = (
    "SessionStart, UserPromptSubmit, PermissionRequest, PostToolBatch, PreCompact, Stop, "
    "Stop (idle), StopFailure, StopFailure (idle), SessionEnd"
)
SCENES = [
    pytest.param(_foreign, [], id="a hook of another's beside ours"),
    pytest.param(_by_hand, [], id="a command line of the user's own around ours"),
    pytest.param(
        _without("PreCompact", "Stop"),
        [("problem", f"not wired: PreCompact, Stop, Stop (idle). The others are, by {USER}")],
        id="missing",
    ),
    pytest.param(_stop_timeout, [("warning", f"Stop in {USER} is {OLD}: timeout")], id="timeout"),
    pytest.param(
        _matcher, [("warning", f"PostToolBatch in {USER} is {OLD}: matcher")], id="matcher"
    ),
    pytest.param(_awake, [("warning", f"Stop (idle) in {USER} is {OLD}: async")], id="async"),
    pytest.param(
        _every_timeout,
        [
            (
                "warning",
                f"{ALL} in {USER} are {OLD}: timeout",
            )
        ],
        id="every timeout is one line",
    ),
    pytest.param(_calls(SINGLE, NAMED), [_another("PostToolUse, PostToolBatch")], id="earlier"),
    pytest.param(_calls(SINGLE, BATCH), [_another("PostToolUse")], id="both wirings"),
    pytest.param(_calls(NAMED), [_another("PostToolBatch")], id="an earlier name"),
    pytest.param(_calls(SINGLE), [_another("PostToolUse")], id="that of an older client"),
    pytest.param(_says_nothing, [], id="fields that say no more than none"),
    pytest.param(
        _elsewhere,
        [("warning", f"Notification in {USER} calls `hook pre-compact`, which is not for it")],
        id="at another event",
    ),
]


@pytest.mark.parametrize(("change", "expected"), SCENES)
def test_each_hook_is_wired_as_it_is_shipped(
    scene: Scene, change: Callable[[Any], None], expected: list[tuple[str, str]]
) -> None:
    scene.wire(change=change)

    assert told(wired.check(scene.case())) == expected


def test_an_older_client_is_wired_for_each_call(scene: Scene) -> None:
    scene.trials.answers["--version"] = Tried(0, "2.1.200 (Claude Code)\n")
    matcher = {"matcher": TOOLS}

    def change(values: Any) -> None:
        _calls(SINGLE)(values)
        values["hooks"]["PostToolUse"][0].update(matcher)

    scene.wire(change=change)
    assert told(wired.check(scene.case())) == []


def test_the_file_that_wires_them_is_named(scene: Scene) -> None:
    scene.wire(scene.project / ".claude/settings.json", "sisyphus")

    (found,) = wired.check(scene.case())

    where = ".claude/settings.json (project)"
    assert (found.state, found.text) == ("ok", f"10 hooks of 8 events, once each, by {where}")


def test_nothing_wired_is_a_problem_with_the_command_to_run(scene: Scene) -> None:
    (found,) = wired.check(scene.case())

    assert (found.state, found.text) == ("problem", "no coding agent calls sisyphus")
    assert "`sisyphus install`" in found.hint


def test_equal_commands_of_two_settings_files_run_once(scene: Scene) -> None:
    scene.wire()
    scene.wire(scene.project / ".claude/settings.json")

    ((state, text),) = told(wired.check(scene.case()))

    assert state == "warning"
    assert text.startswith(
        "wired more than once, by ~/.claude/settings.json (user) and .claude/settings.json "
        "(project): SessionStart, UserPromptSubmit, "
    )


def test_other_commands_of_two_settings_files_both_run(scene: Scene) -> None:
    scene.wire()
    scene.wire(scene.project / ".claude/settings.local.json", "sisyphus", _without("Stop"))

    (found,) = wired.check(scene.case())

    assert found.state == "problem"
    assert found.text.startswith("run more than once, by ~/.claude/settings.json (user) and ")
    assert "Stop," not in found.text
    assert found.hint == "`sisyphus install --scope local` again: it stays silent then"


def _scoped(scope: str) -> Callable[[Any], None]:
    def change(values: Any) -> None:
        for group in (group for groups in values["hooks"].values() for group in groups):
            for hook in group["hooks"]:
                hook["command"] += f" --scope {scope}"

    return change


@pytest.mark.parametrize(
    ("name", "scope"), [("settings.json", "project"), ("settings.local.json", "local")]
)
def test_a_projects_entries_stay_silent_beside_the_users(
    scene: Scene, name: str, scope: str
) -> None:
    scene.wire()
    scene.wire(scene.project / ".claude" / name, "sisyphus", _scoped(scope))

    found = list(wired.check(scene.case()))

    assert [(one.state, one.text) for one in found] == [
        ("ok", f"10 hooks of 8 events, once each, by {USER}"),
        ("ok", f"also by .claude/{name} ({scope}), which stays silent"),
    ]


def test_two_of_one_scope_both_run(scene: Scene) -> None:
    scene.wire(scene.project / ".claude/settings.json", "sisyphus", _scoped("project"))
    scene.wire(scene.project / ".claude/settings.local.json", change=_scoped("project"))

    ((state, text),) = told(wired.check(scene.case()))

    assert state == "problem"
    assert text.startswith("run more than once, by .claude/settings.json (project) and ")


def test_nobody_stays_silent_for_an_organisation(scene: Scene) -> None:
    scene.wire(scene.managed / "managed-settings.json", "sisyphus")
    scene.wire(scene.project / ".claude/settings.json", "sisyphus", _scoped("project"))

    ((state, text),) = told(wired.check(scene.case()))

    assert (state, text.startswith("run more than once, by ")) == ("problem", True)


def _fields(**fields: Any) -> Callable[[Any], None]:
    def change(values: Any) -> None:
        entry = values["hooks"]["SessionStart"][0]["hooks"][0]
        entry.update(fields)
        if entry["type"] is None:
            del entry["type"]

    return change


WRONG = "is of a wrong type, or out of bounds"
IGNORED = [
    pytest.param({"type": None}, "it has no `type`", id="no type"),
    pytest.param({"type": "prompt", "prompt": "x"}, "its `type` is `prompt`", id="a prompt"),
    pytest.param({"type": "Command"}, "its `type` is `Command`", id="no type of the client's"),
    pytest.param(
        {"args": []}, "with `args` the whole command is the name of a program", id="arguments"
    ),
    pytest.param({"timeout": "5"}, f"`timeout` {WRONG}", id="a text for a time"),
    pytest.param({"timeout": 0}, f"`timeout` {WRONG}", id="no time"),
    pytest.param({"timeout": True}, f"`timeout` {WRONG}", id="a switch for a time"),
    pytest.param({"async": "yes"}, f"`async` {WRONG}", id="a text for a switch"),
    pytest.param({"once": "x"}, f"`once` {WRONG}", id="a text for once"),
    pytest.param({"shell": "zzz"}, f"`shell` {WRONG}", id="an unknown shell"),
    pytest.param({"statusMessage": 3}, f"`statusMessage` {WRONG}", id="a number for a text"),
    pytest.param({"if": 3}, f"`if` {WRONG}", id="a number for a condition"),
    pytest.param({"if": "Bash(git *)"}, "`if` is for the events of a tool", id="no tool"),
]


@pytest.mark.parametrize(("fields", "why"), IGNORED)
def test_an_entry_that_the_client_ignores_wires_nothing(
    scene: Scene, fields: dict[str, Any], why: str
) -> None:
    scene.wire(change=_fields(**fields))

    assert told(wired.check(scene.case())) == [
        ("problem", f"the client ignores what {USER} has for SessionStart: {why}"),
        ("problem", f"not wired: SessionStart. The others are, by {USER}"),
    ]


TAKEN = [{"timeout": 10.0}, {"statusMessage": "x"}, {"unknown": 3}]


@pytest.mark.parametrize("fields", TAKEN)
def test_an_entry_that_the_client_takes_wires_it(scene: Scene, fields: dict[str, Any]) -> None:
    scene.wire(change=_fields(**fields))

    assert told(wired.check(scene.case())) == []


def test_a_plugin_stays_silent_beside_the_settings(scene: Scene) -> None:
    scene.plugin("sisyphus", hooks(scene.sisyphus))
    values = {**hooks(scene.sisyphus), "enabledPlugins": {"sisyphus@market": True}}
    scene.settings(values)

    (found,) = wired.check(scene.case())

    assert found.state == "warning"
    assert "/plugins/sisyphus/hooks/hooks.json (plugin), which stays silent, at " in found.text
    assert found.hint == "Keep one: `claude plugin uninstall sisyphus@sisyphus`"


def test_a_plugin_alone_is_enough(scene: Scene) -> None:
    scene.plugin("sisyphus", hooks(scene.sisyphus))
    scene.settings({"enabledPlugins": {"sisyphus@market": True}})

    assert told(wired.check(scene.case())) == []


GONE = [
    pytest.param(
        "/no/such/sisyphus",
        "/no/such/sisyphus, which ~/.claude/settings.json calls, is gone: ",
        "`sisyphus install` writes",
        id="an absolute path",
    ),
    pytest.param(
        "sisyphus.exe",
        "`sisyphus.exe`, which ~/.claude/settings.json calls, is not on the PATH: ",
        "`pipx ensurepath`",
        id="a name",
    ),
]


@pytest.mark.parametrize(("program", "text", "hint"), GONE)
def test_a_command_that_is_not_found_is_a_problem(
    scene: Scene, program: str, text: str, hint: str
) -> None:
    scene.wire(program=program)

    (found,) = wired.commands(scene.case())

    assert (found.state, found.text) == ("problem", f"{text}every event ends with exit code 127")
    assert found.hint.startswith(hint)


def test_a_relative_program_is_a_problem_even_where_it_is_there(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.wire(program="./sisyphus")
    scene.program(str(scene.project / "sisyphus"))
    monkeypatch.chdir(scene.project)

    (found,) = wired.commands(scene.case())

    text = "./sisyphus, which ~/.claude/settings.json calls, is another program in every folder"
    assert (found.state, found.text) == ("problem", text)


def test_a_command_that_is_found_is_well(scene: Scene) -> None:
    scene.wire(program="sisyphus")

    assert [one.state for one in wired.commands(scene.case())] == ["ok"]


AGAIN = [
    pytest.param(".claude/settings.json", "`sisyphus install --scope project` again", id="project"),
    pytest.param(".claude/settings.local.json", "`sisyphus install --scope local` again", id="own"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "hint"), AGAIN)
def test_it_is_told_what_writes_that_file_anew(scene: Scene, name: str, hint: str) -> None:
    scene.wire(scene.project / name, change=_stop_timeout)

    assert [one.hint for one in wired.check(scene.case())] == [hint]


def test_an_old_plugin_is_updated_by_the_client(scene: Scene) -> None:
    values = hooks(scene.sisyphus)
    _stop_timeout(values)
    scene.plugin("sisyphus", values)
    scene.settings({"enabledPlugins": {"sisyphus@market": True}})

    (found,) = wired.check(scene.case())

    assert found.hint == "`claude plugin update sisyphus@sisyphus`"
