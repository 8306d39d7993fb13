"""Whole hooks, from stdin to stdout: a feature from its plan to its last task."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from making import put, run_hook, stored

if TYPE_CHECKING:
    from sisyphus._types import Json

PLAN = "# feature-name\n\n" + "- [x] done\n" * 5 + "- [ ] to do\n" * 15
DONE = PLAN.replace("[ ]", "[x]")
CONTINUATION = """\
[BOULDER STATE DETECTED]

Active plan: feature-name
Progress: 5/20 tasks complete
Plan location: .claude/PLAN.md

Continuing from where you left off."""
ENABLED = "Boulder state tracking enabled for this plan"
RECORDED = Path(__file__).parents[1] / "data" / "payloads"
PAYLOADS = {
    "session-start": "SessionStart.startup",
    "user-prompt-submit": "UserPromptSubmit.slash",
    "post-tool-use": "PostToolUse.Write.update",
    "stop": "Stop.first",
    "session-end": "SessionEnd.prompt_input_exit",
}
RULE = '---\napplies_to: ["**/PLAN.md"]\n---\n\n- Keep tasks small.\n'


class Client:
    """A person's Claude Code: each call is one hook process with a recorded payload."""

    def __init__(self, home: Path, project: Path) -> None:
        self.home = home
        self.project = project
        self.plan = project / ".claude/PLAN.md"
        self.calls = 0

    def hook(self, event: str, **fields: object) -> Json:
        recorded = stored(RECORDED / f"{PAYLOADS[event]}.json")
        self.calls += 1
        here = {
            "session_id": "sess_123", "cwd": str(self.project), "transcript_path": "",
            "tool_use_id": f"toolu_{self.calls}",
        }  # fmt: skip
        code, reply = run_hook(event, {**recorded, **here, **fields})
        assert code == 0
        return reply

    def start(self, session: str = "sess_123", project: Path | None = None) -> Json:
        cwd = str(project or self.project)
        return self.hook("session-start", session_id=session, cwd=cwd)

    def write(self, text: str, path: Path | None = None, tool: str = "Write") -> Json:
        """The model writes a file; the plan where no other is named."""
        file = put(path or self.plan, text)
        return self.hook("post-tool-use", tool_name=tool, tool_input={"file_path": str(file)})

    @property
    def boulder(self) -> Json | None:
        path = self.home / ".claude/.boulder.json"
        return stored(path) if path.exists() else None


def told(reply: Json) -> str:
    """What the model is told."""
    return str(reply.get("hookSpecificOutput", {}).get("additionalContext", ""))


def said(reply: Json) -> str:
    """What the user is shown."""
    return str(reply.get("systemMessage", ""))


@pytest.fixture
def client(home: Path, project: Path) -> Client:
    return Client(home, project)


def test_writing_a_plan_creates_the_boulder(client: Client) -> None:
    reply = client.write(PLAN)

    assert ENABLED in said(reply)
    assert client.boulder
    assert client.boulder["active_plan"] == str(client.plan)


def test_a_session_creates_the_boulder_of_a_plan_that_has_none(client: Client) -> None:
    put(client.plan, PLAN)

    reply = client.start()

    assert ENABLED in said(reply)
    assert client.boulder
    assert client.boulder["session_ids"] == ["sess_123"]


def test_the_boulder_holds_exactly_its_seven_fields(client: Client) -> None:
    client.write(PLAN)
    client.start("sess_456")

    boulder = client.boulder

    assert boulder
    assert isinstance(boulder.pop("metadata"), dict)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", boulder.pop("started_at"))
    assert boulder == {
        "active_plan": str(client.plan),
        "project_root": str(client.project),
        "plan_name": "feature-name",
        "session_ids": ["sess_123", "sess_456"],
        "progress": {"total": 20, "completed": 5},
    }


def test_a_client_that_is_closed_and_opened_again_continues(client: Client) -> None:
    client.write(PLAN)
    client.hook("session-end")

    reply = client.start("sess_456")

    assert told(reply) == (
        f"{CONTINUATION}\n\nNext task: to do\n"
        "Last checkpoint: 5/20 tasks done; next: to do (line 8)"
    )
    assert "feature-name, 5/20 tasks complete" in said(reply)


def test_an_edit_of_the_plan_updates_the_progress(client: Client) -> None:
    client.write(PLAN)
    client.write(PLAN.replace("[ ]", "[x]", 2), tool="Edit")
    assert client.boulder
    assert client.boulder["progress"] == {"total": 20, "completed": 7}


@pytest.mark.parametrize("event", ["post-tool-use", "stop", "session-start"])
def test_the_last_task_clears_the_boulder(client: Client, event: str) -> None:
    client.write(PLAN)
    put(client.plan, DONE)

    reply = client.hook(event, tool_input={"file_path": str(client.plan)})

    assert "[BOULDER COMPLETE]" in said(reply)
    assert client.boulder is None
    assert told(client.start("sess_456")) == ""


@pytest.mark.parametrize("command", ["/boulder-clear", "/sisyphus:boulder-clear"])
def test_a_person_clears_the_boulder_by_a_command(client: Client, command: str) -> None:
    client.write(PLAN)

    reply = client.hook("user-prompt-submit", prompt=command)

    assert (reply["decision"], reply["reason"].startswith("Boulder cleared")) == ("block", True)
    assert (client.boulder, client.plan.read_text()) == (None, PLAN)
    assert told(client.start("sess_456")) == ""


def test_a_deleted_plan_warns_and_offers_to_clear(client: Client) -> None:
    client.write(PLAN)
    client.plan.unlink()

    reply = client.start("sess_456")

    for text in (told(reply), said(reply)):
        assert text.startswith("[BOULDER PLAN MISSING]")
        assert "`sisyphus boulder clear`" in text
    assert client.boulder


def test_a_boulder_of_another_project_is_noticed_and_updated(client: Client, other: Path) -> None:
    client.write(PLAN)
    plan = put(other / "PLAN.md", PLAN)

    reply = client.start("sess_456", other)

    assert f"The boulder was moved here from {client.project} (feature-name, 5/20)." in told(reply)
    assert client.boulder
    assert client.boulder["active_plan"] == str(plan)
    assert client.boulder["project_root"] == str(other)


def test_a_plan_created_in_another_project_asks_to_switch(client: Client, other: Path) -> None:
    client.write(PLAN)

    reply = client.write(PLAN, other / "PLAN.md")

    assert "To use this one instead: sisyphus boulder switch" in said(reply)
    assert client.boulder
    assert client.boulder["project_root"] == str(client.project)


def test_a_feature_goes_from_its_specification_to_its_last_task(client: Client) -> None:
    client.write("# Spec\n\n- [ ] a criterion\n", client.project / ".claude/SPEC.md")
    assert client.boulder is None
    client.write(PLAN)
    assert client.boulder
    client.write(PLAN.replace("[ ]", "[x]", 14), tool="Edit")
    client.hook("stop")
    assert client.boulder
    client.write(DONE, tool="Edit")
    assert client.boulder is None


def test_rules_for_the_plan_and_the_boulder_go_together(client: Client) -> None:
    put(client.project / ".claude/rules/plans.md", RULE)

    reply = client.write(PLAN, tool="Edit")

    assert ENABLED in said(reply)
    assert "# Rule from .claude/rules/plans.md\n\n- Keep tasks small." in told(reply)
    assert client.boulder
    assert client.boulder["progress"] == {"total": 20, "completed": 5}


def test_a_project_without_a_plan_works_as_before(client: Client) -> None:
    assert (client.start(), client.hook("stop"), client.boulder) == ({}, {}, None)
