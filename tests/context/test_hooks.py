"""The scenarios of the context injector, through its handlers and the session's delivery."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from making import a_payload, a_space, a_start, ours, put, stored

from sisyphus.clients.base import Outcome
from sisyphus.clients.claude_code import heard
from sisyphus.context import hooks
from sisyphus.session.delivery import deliver
from sisyphus.session.hooks import on_session_start

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sisyphus._types import Json
    from sisyphus.clients.base import Payload

README = "# Lighthouse\n\nKeeps ships off the rocks.\n"
AGENTS = "Never touch the lamp.\n"


class Session:
    """One session's hooks in this process. Attributes are of the last reply."""

    def __init__(self, project: Path) -> None:
        self.project = project
        self.clock = 1_000_000.0
        self.model = ""
        self.user = ""
        self.notes: list[str] = []

    def start(self, source: str = "startup", **raw: Any) -> str:
        return self._answer(a_start(source, cwd=str(self.project), **raw), hooks.on_session_start)

    def prompt(self) -> str:
        return self._answer(a_payload("user-prompt-submit", cwd=str(self.project)), _no_opinion)

    def read(self, name: str, **raw: Any) -> str:
        touched = {"file_path": str(self.project / name)}
        payload = a_payload(cwd=str(self.project), tool_name="Read", tool_input=touched, **raw)
        return self._answer(payload, hooks.on_post_tool_use)

    def _answer(self, payload: Payload, handler: Callable[..., Outcome | None]) -> str:
        space = a_space(self.project)
        self.clock = space.now = self.clock + 60
        if payload.event == "session-start":
            on_session_start(payload, space)
        outcome = handler(payload, space) or Outcome()
        printed: list[str] = []
        deliver(payload, space, outcome, printed.append)
        reply: Json = json.loads(printed[0]) if printed else {}
        self.model, self.user = heard(reply)[0], heard(reply)[1]
        self.notes = outcome.notes
        return self.model


def _no_opinion(*_: object) -> Outcome | None:
    return None


@pytest.fixture
def session(project: Path) -> Session:
    """A session of a project with both documents, of which none is the client's job."""
    put(project / "README.md", README)
    put(project / "AGENTS.md", AGENTS)
    put(project / "CLAUDE.md", "Be kind.\n")
    return Session(project)


def test_a_project_with_a_readme_is_shown_it_at_session_start(session: Session) -> None:
    (session.project / "AGENTS.md").unlink()
    assert session.start() == (
        "<system-reminder>\nThe following project documentation is available:\n\n"
        "# README.md\n\n# Lighthouse\n\nKeeps ships off the rocks.\n\n</system-reminder>"
    )


def test_a_project_with_agents_md_is_shown_it_at_session_start(session: Session) -> None:
    (session.project / "README.md").unlink()
    assert session.start() == (
        "<system-reminder>\nThe following project documentation is available:\n\n"
        "# AGENTS.md\n\nNever touch the lamp.\n\n</system-reminder>"
    )


def test_both_documents_stand_in_one_block(session: Session) -> None:
    assert session.start() == (
        "<system-reminder>\nThe following project documentation is available:\n\n"
        "# README.md\n\n# Lighthouse\n\nKeeps ships off the rocks.\n\n---\n\n"
        "# AGENTS.md\n\nNever touch the lamp.\n\n</system-reminder>"
    )


def test_claude_md_is_the_clients_own_job(session: Session) -> None:
    put(session.project / ".claude" / "CLAUDE.md", "Be kinder.\n")
    session.start()
    assert "Be kind" not in session.model


def test_of_a_very_large_readme_500_lines_are_shown_with_a_warning(session: Session) -> None:
    put(session.project / "README.md", "".join(f"line {n}\n" for n in range(1, 1_001)))
    text = session.start()
    assert "line 500\n" in text
    assert "line 501\n" not in text
    assert "[README.md is cut after line 500 of 1,000: read the file for the rest.]" in text


def test_a_missing_readme_is_skipped_silently(session: Session) -> None:
    for name in ("README.md", "AGENTS.md"):
        (session.project / name).unlink()
    assert session.start() == session.user == ""
    assert session.notes == []


def test_a_binary_readme_is_skipped_and_the_reason_noted(session: Session) -> None:
    put(session.project / "README.md", b"\x89PNG\0\0")
    assert "README" not in session.start()
    assert "README.md not sent: binary" in session.notes


def test_the_user_is_told_which_documents_were_found(session: Session) -> None:
    put(session.project / "README.md", "line\n" * 600)
    session.start()
    assert session.user == (
        "sisyphus: project documentation for the model: "
        "README.md (first 500 of 600 lines), AGENTS.md"
    )


def test_a_resumed_session_is_not_shown_them_again(session: Session) -> None:
    session.start()
    assert [session.start("resume"), session.start("resume")] == ["", ""]
    assert session.user == ""
    assert "README.md not sent: this session has it" in session.notes


def test_a_session_that_was_never_shown_them_is_shown_them_on_resume(session: Session) -> None:
    assert "Keeps ships" in session.start("resume")


@pytest.mark.parametrize("source", ["compact", "clear", "startup"])
def test_an_empty_context_is_shown_them_again(session: Session, source: str) -> None:
    first = session.start()
    assert session.start(source) == first


def test_an_edited_readme_is_new_text(session: Session) -> None:
    session.start()
    put(session.project / "README.md", README + "And now with fog horn.\n")
    assert "fog horn" in session.start("resume")
    assert "Never touch the lamp" not in session.model
    assert session.user == "sisyphus: project documentation for the model: README.md"
    assert session.start("resume") == ""


def test_a_changed_date_is_no_new_text(session: Session) -> None:
    session.start()
    put(session.project / "README.md", README)
    assert session.start("resume") == ""


def test_a_fork_is_not_shown_what_its_parent_was(session: Session, tmp_path: Path) -> None:
    line = '{"type":"user","uuid":"u-1","timestamp":"1970-01-01T00:00:00.000Z"}\n'
    put(tmp_path / "talks" / "s1.jsonl", line)
    fork = {"session_id": "f", "transcript_path": str(put(tmp_path / "talks" / "f.jsonl", line))}
    session.start()
    assert session.start("fork", **fork) == ""
    assert session.user == ""


def test_what_was_shown_is_tracked_in_the_sessions_ledger(home: Path, session: Session) -> None:
    session.start()
    ledger = stored(ours(home, "context-injector/session-s1.json"))
    assert sorted(ledger["injected_paths"]) == [
        str(session.project / "AGENTS.md"),
        str(session.project / "README.md"),
    ]
    assert len(ledger["injected_hashes"]) == 2


def test_a_long_document_comes_with_the_next_replies_in_order(session: Session) -> None:
    put(session.project / "README.md", "".join(f"{n} " + "x" * 60 + "\n" for n in range(400)))
    told = [session.start(), session.prompt(), session.prompt(), session.prompt(), session.prompt()]
    assert "# AGENTS.md" in told[0]
    titles = [f"# README.md (part {n} of 3)" for n in (1, 2, 3)]
    assert [[t for t in titles if t in text] for text in told] == [*([t] for t in titles), [], []]


def test_parts_that_wait_are_not_queued_twice_by_a_resume(session: Session) -> None:
    put(session.project / "README.md", "x" * 25_000)
    told = [session.start(), session.start("resume"), session.prompt(), session.prompt()]
    assert [text.count("(part ") for text in told] == [1, 1, 1, 0]


def test_parts_of_a_readme_that_changed_meanwhile_are_dropped(session: Session) -> None:
    put(session.project / "README.md", "old\n" * 6_000)
    session.start()
    put(session.project / "README.md", "new\n")
    assert "# README.md\n\nnew\n" in session.start("resume")
    assert session.prompt() == ""


def test_off_means_off(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SISYPHUS_CONTEXT_ENABLED", "0")
    monkeypatch.setenv("SISYPHUS_CONTEXT_DIRECTORY_README", "1")
    put(session.project / "src" / "README.md", "Of the source.\n")
    assert session.start() == session.read("src/a.py") == ""


def test_a_folder_readme_is_an_extra_that_is_asked_for(session: Session) -> None:
    put(session.project / "backend" / "api" / "README.md", "Of the API.\n")
    assert session.read("backend/api/users.py") == ""


@pytest.fixture
def folders(session: Session, monkeypatch: pytest.MonkeyPatch) -> Session:
    """The same with `context.directory_readme`, and a README.md in backend/."""
    monkeypatch.setenv("SISYPHUS_CONTEXT_DIRECTORY_README", "1")
    put(session.project / "backend" / "README.md", "Of the backend.\n")
    return session


def test_a_folders_readme_is_shown_on_the_first_touch_below_it(folders: Session) -> None:
    assert folders.read("backend/api/users.py") == (
        "<system-reminder>\nThe following project documentation is available:\n\n"
        "# backend/README.md\n\nOf the backend.\n\n</system-reminder>"
    )
    assert folders.user == "sisyphus: project documentation for the model: backend/README.md"
    assert folders.read("backend/api/other.py") == ""
    assert folders.read("backend/users.py") == ""


def test_a_folder_without_a_readme_is_shown_nothing(folders: Session) -> None:
    assert folders.read("frontend/app.ts") == folders.read("a.py") == ""


def test_a_subagent_is_shown_a_folders_readme_of_its_own(folders: Session) -> None:
    told = [folders.read("backend/a.py", agent_id=agent) for agent in ("", "a1", "a1")]
    assert ["Of the backend." in text for text in told] == [True, True, False]


NOWHERE = [
    pytest.param({"tool_input": {}}, id="a tool without a file"),
    pytest.param({"session_id": "../x"}, id="a session without a usable id"),
    pytest.param({"agent_id": "a/b"}, id="a subagent without a usable id"),
]


@pytest.mark.parametrize("raw", NOWHERE)
def test_who_cannot_be_remembered_is_shown_no_folder_readme(
    folders: Session, raw: dict[str, Any]
) -> None:
    touched = {"file_path": str(folders.project / "backend" / "a.py")}
    payload = a_payload(**{"cwd": str(folders.project), "tool_input": touched, **raw})
    assert hooks.on_post_tool_use(payload, a_space(folders.project)) is None
