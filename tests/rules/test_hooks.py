from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from making import a_space, ours, put

from rules.rulefile import a_rule
from sisyphus.clients import claude_code
from sisyphus.memory import open_memory
from sisyphus.rules.hooks import AHEAD_BYTES, NAMED, on_post_tool_use
from sisyphus.session import store
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus.clients.base import Outcome, Payload

PYTHON = a_rule('applies_to: "**/*.py"', body="- Annotate.\n")


def _touch(path: Path, tool: str = "Read", **raw: object) -> Payload:
    return _payload(tool_name=tool, tool_input={"file_path": str(path)}, **raw)


def _payload(**raw: object) -> Payload:
    return claude_code.read("post-tool-use", {"session_id": "s1", **raw})


def _ask(payload: Payload, project: Path, client: str = "claude") -> Outcome | None:
    return on_post_tool_use(payload, Workspace(str(project), now=0.0, client=client))


def _sent(project: Path, name: str = "a.py", **raw: object) -> list[str]:
    """The texts for the model when `name` is read."""
    outcome = _ask(_touch(project / name, "Read", **raw), project)
    return [piece.body for piece in outcome.texts] if outcome else []


def _remember(home: Path, *hashes: str, key: str = "s1") -> None:

    session, _, agent = key.partition("@")
    memory = open_memory(str(ours(home, "")))
    with memory.transaction():
        n = store.number(memory, "claude", session, agent)
        for name in hashes:
            memory.write("INSERT OR IGNORE INTO sent VALUES (?, ?, 'rules', '', 0)", n, name)


def test_a_matching_rule_is_a_piece_for_the_model(project: Path) -> None:
    path = put(project / ".claude/rules/python.md", PYTHON)

    outcome = _ask(_touch(project / "src/a.py"), project)

    assert outcome is not None
    (piece,) = outcome.texts
    assert piece.kind == "rules"
    assert piece.head == "<system-reminder>\nThe following rules apply to this file:\n\n"
    assert piece.body == "# Rule from .claude/rules/python.md\n\n- Annotate."
    assert piece.tail == "\n</system-reminder>"
    assert piece.late_head == ("<system-reminder>\nThe following rules apply to src/a.py:\n\n")
    assert piece.path == str(path)
    assert len(piece.hash) == 16
    assert outcome.notes == ["rules for src/a.py: for the model .claude/rules/python.md"]
    assert (outcome.reason, outcome.messages) == (None, [])


@pytest.mark.parametrize("tool", ["Read", "Edit", "Write", "MultiEdit"])
def test_tools_that_touch_a_file_bring_rules(project: Path, tool: str) -> None:
    put(project / ".claude/rules/python.md", PYTHON)

    assert _ask(_touch(project / "a.py", tool), project) is not None


def test_a_notebook_brings_rules(project: Path) -> None:
    put(project / ".claude/rules/n.md", a_rule('applies_to: "*.ipynb"'))
    path = str(project / "a.ipynb")

    payload = _payload(tool_name="NotebookEdit", tool_input={"notebook_path": path})

    assert _ask(payload, project) is not None


QUIET = [
    pytest.param({"tool_name": "Bash", "tool_input": {"command": "cat a.py"}}, id="another tool"),
    pytest.param(
        {"tool_name": "read", "tool_input": {"file_path": "/a.py"}}, id="a tool in lower case"
    ),
    pytest.param({"tool_name": "Read", "tool_input": {}}, id="no path"),
    pytest.param({"tool_name": "Read", "tool_input": {"file_path": 3}}, id="a path of no text"),
    pytest.param({"tool_name": "Read", "tool_input": {"file_path": "a\0.py"}}, id="no path at all"),
    pytest.param({"tool_name": "Read", "tool_input": []}, id="no input"),
    pytest.param(
        {"tool_name": "Read", "tool_input": {"file_path": "/elsewhere" + "/a" * 500_000}},
        id="a path longer than any",
    ),
    pytest.param({"tool_name": ["Read"]}, id="no name"),
]


@pytest.mark.parametrize("raw", QUIET)
def test_other_payloads_are_answered_with_silence(project: Path, raw: dict[str, object]) -> None:
    put(project / ".github/copilot-instructions.md", "- always\n")

    assert _ask(_payload(cwd=str(project), **raw), project) is None


@pytest.mark.parametrize("session", ["", "../../evil", "a/b", None, 7])
def test_without_a_usable_session_nothing_is_sent(project: Path, session: object) -> None:
    put(project / ".claude/rules/python.md", PYTHON)

    assert _ask(_touch(project / "a.py", session_id=session), project) is None


def test_a_subagent_without_a_usable_id_is_sent_nothing(project: Path) -> None:
    put(project / ".claude/rules/python.md", PYTHON)

    assert _ask(_touch(project / "a.py", agent_id="../x"), project) is None


def test_a_file_that_no_rule_covers_is_silence(project: Path) -> None:
    put(project / ".claude/rules/python.md", PYTHON)

    assert _ask(_touch(project / "a.ts"), project) is None


def test_rules_can_be_switched_off(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(project / ".claude/rules/python.md", PYTHON)
    monkeypatch.setenv("SISYPHUS_RULES_ENABLED", "0")

    assert _ask(_touch(project / "a.py"), project) is None


def test_what_the_session_was_sent_is_not_handed_over_again(project: Path, home: Path) -> None:
    put(project / ".claude/rules/python.md", PYTHON)
    outcome = _ask(_touch(project / "a.py"), project)
    assert outcome is not None
    _remember(home, outcome.texts[0].hash)

    again = _ask(_touch(project / "a.py"), project)

    assert again is None


def test_a_subagent_has_a_memory_of_its_own(project: Path, home: Path) -> None:
    put(project / ".claude/rules/python.md", PYTHON)
    outcome = _ask(_touch(project / "a.py"), project)
    assert outcome is not None
    _remember(home, outcome.texts[0].hash)

    assert len(_sent(project, agent_id="agent1")) == 1
    _remember(home, outcome.texts[0].hash, key="s1@agent1")
    assert _sent(project, agent_id="agent1") == []


def test_an_edited_rule_is_new_text(project: Path, home: Path) -> None:
    path = put(project / ".claude/rules/python.md", PYTHON)
    outcome = _ask(_touch(project / "a.py"), project)
    assert outcome is not None
    _remember(home, outcome.texts[0].hash)

    path.write_text(PYTHON.replace("Annotate", "Annotate all"))

    assert _sent(project) == ["# Rule from .claude/rules/python.md\n\n- Annotate all."]


def test_two_rules_with_the_same_text_are_sent_once(project: Path) -> None:
    put(project / ".claude/rules/a.md", PYTHON)
    put(project / ".claude/rules/b.md", PYTHON)

    outcome = _ask(_touch(project / "a.py"), project)

    assert outcome is not None
    assert len(outcome.texts) == 1
    assert outcome.notes == [
        "rules for a.py: for the model .claude/rules/a.md; sent before .claude/rules/b.md"
    ]


def test_a_file_outside_the_project_gets_home_rules_alone(project: Path, home: Path) -> None:
    put(project / ".github/copilot-instructions.md", "- project\n")
    put(home / ".claude/rules/mine.md", a_rule('globs: "**/*.py"', body="- mine\n"))
    put(home / ".claude/rules/anchored.md", a_rule('globs: "tmp/**, /elsewhere/**"'))

    assert _sent(project, "../elsewhere/a.py") == ["# Rule from ~/.claude/rules/mine.md\n\n- mine"]


NATIVE = [
    pytest.param(".claude/rules/a.md", a_rule('paths: "*.py"'), id="paths, of the project"),
    pytest.param("../home/.claude/rules/a.md", a_rule('paths: "*.py"'), id="paths, of the user"),
    pytest.param(".claude/rules/a.md", "- x\n", id="no keys, loaded at start"),
    pytest.param(".claude/rules/a.md", a_rule("alwaysApply: true"), id="always"),
]


@pytest.mark.parametrize(("name", "text"), NATIVE)
def test_what_the_client_sends_itself_is_left_to_it(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "home/.claude"))
    put(project / name, text)

    outcome = _ask(_touch(project / "a.py"), project)

    assert outcome is not None
    assert outcome.texts == []
    assert "left to the client" in outcome.notes[0]


MIXED = [
    pytest.param(('paths: "*.ts"', 'applies_to: "*.py"'), id="applies_to"),
    pytest.param(('paths: "*.ts"', "globs: *.py"), id="globs"),
    pytest.param(('paths: "*.ts"', "alwaysApply: true"), id="alwaysApply"),
]


@pytest.mark.parametrize("keys", MIXED)
@pytest.mark.parametrize("folder", ["project", "home"])
def test_beside_paths_another_key_brings_what_paths_does_not_cover(
    project: Path, home: Path, folder: str, keys: tuple[str, ...]
) -> None:
    put({"project": project, "home": home}[folder] / ".claude/rules/a.md", a_rule(*keys))

    assert _sent(project, "src/a.ts") == []
    assert len(_sent(project, "src/a.py")) == 1


def test_a_file_that_paths_and_another_key_cover_is_left_to_the_client(project: Path) -> None:
    put(project / ".claude/rules/a.md", a_rule('paths: "src/**"', 'applies_to: "*.py"'))

    assert _sent(project, "src/a.py") == []
    assert len(_sent(project, "lib/a.py")) == 1


@pytest.mark.parametrize(("name", "text"), NATIVE)
def test_what_the_client_is_told_not_to_load_is_ours(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "home/.claude"))
    put(project / name, text)
    assert _sent(project) == []

    settings = '{"claudeMdExcludes": ["**/.claude/rules/a.md"]}'
    put(project / ".claude/settings.json", settings)

    assert len(_sent(project)) == 1


@pytest.mark.parametrize(("name", "text"), NATIVE)
def test_another_client_is_sent_all_of_it(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "home/.claude"))
    put(project / name, text)

    outcome = _ask(_touch(project / "a.py"), project, client="opencode")

    assert outcome is not None
    assert len(outcome.texts) == 1


def test_very_many_rules_go_out_over_several_touches(project: Path, home: Path) -> None:
    for number in range(40):
        text = f"- {number}\n" + "x" * 5_000
        put(project / f".claude/rules/{number:02}.md", a_rule('globs: "*.py"', body=text))

    first = _ask(_touch(project / "a.py"), project)
    assert first is not None
    _remember(home, *(piece.hash for piece in first.texts))
    second = _ask(_touch(project / "a.py"), project)
    assert second is not None

    assert AHEAD_BYTES / 5_100 <= len(first.texts) < 40
    assert len(first.texts) + len(second.texts) == 40
    assert f"for later .claude/rules/{len(first.texts):02}.md" in first.notes[0]


def test_a_note_names_so_many_rules_and_counts_the_rest(project: Path) -> None:
    for number in range(NAMED + 5):
        put(project / f".claude/rules/{number:02}.md", a_rule('globs: "*"', body=f"- {number}\n"))

    outcome = _ask(_touch(project / "a.py"), project)

    assert outcome is not None
    assert outcome.notes[0].endswith(".claude/rules/19.md and 5 more")


def test_the_project_is_that_of_the_working_directory(project: Path) -> None:
    put(project / ".claude/rules/python.md", PYTHON)
    below = project / "packages/foo"
    put(below / "package.json", "{}")

    outcome = on_post_tool_use(_touch(below / "a.py"), a_space(below))

    assert outcome is not None
    assert len(outcome.texts) == 1


def test_why_a_rule_is_never_sent_is_noted_once_when_it_is_read(project: Path) -> None:
    put(project / ".claude/rules/bad.md", "---\napplies_to: [\n---\nx\n")
    put(project / ".claude/rules/python.md", PYTHON)
    time.sleep(0.02)  # what changed within a tick of the clock is read again
    first = _ask(_touch(project / "a.md"), project)
    assert first is not None
    assert first.texts == []
    assert [note.partition(": skipped")[0] for note in first.notes] == ["rule .claude/rules/bad.md"]
    assert _ask(_touch(project / "a.md"), project) is None

    put(project / ".claude/rules/worse.md", "---\napplies_to: [\n---\nx\n")
    outcome = _ask(_touch(project / "a.py"), project)
    assert outcome is not None
    assert len(outcome.texts) == 1
    assert [note.partition(": ")[0] for note in outcome.notes] == [
        "rule .claude/rules/bad.md", "rule .claude/rules/worse.md", "rules for a.py",
    ]  # fmt: skip


def test_of_many_bad_rules_some_are_named(project: Path) -> None:
    for number in range(NAMED + 2):
        put(project / f".claude/rules/bad{number}.md", "---\napplies_to: [\n---\nx\n")
    outcome = _ask(_touch(project / "a.md"), project)
    assert outcome is not None
    assert outcome.notes[NAMED:] == ["and 2 more: `sisyphus rules lint`"]
