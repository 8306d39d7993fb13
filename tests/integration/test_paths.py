"""A path that a payload or a project names may be anything; no hook waits for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from integration.desk import EVENTS, PLAN, Desk, assert_polite, nothing_else_touched, put
from integration.hostile import KINDS, SENTENCE, no_rights, stand_in

if TYPE_CHECKING:
    from pathlib import Path

IN_PROJECT = {
    "the plan": PLAN,
    "another plan": "PLAN.md",
    "README.md": "README.md",
    "AGENTS.md": "AGENTS.md",
    "CLAUDE.md": "CLAUDE.md",
    "a rule": ".claude/rules/python.md",
    "the folder of rules": ".claude/rules",
    "Copilot's instructions": ".github/copilot-instructions.md",
    "the folder of GitHub": ".github",
    "the settings": ".claude/sisyphus.toml",
    "the client's folder": ".claude",
    "the git marker": ".git",
    "the touched file": "src/app.py",
    "the folder of the touched file": "src",
}

IN_HOME = {
    "the transcript": "projects/p",
    "the user's settings": ".sisyphus/config.toml",
    "the user's rules": "rules",
    "the user's plans": "plans",
}

AS_IF_ABSENT = ("a link to nothing", "a link to itself")


def _cases() -> list[Any]:
    return [pytest.param(kind, id=kind) for kind in KINDS]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    return put(tmp_path / "outside" / "secret.md", f"# {SENTENCE}\n\n- [ ] {SENTENCE}\n")


def _all_events(desk: Desk, tmp_path: Path, **fields: Any) -> None:
    """Every hook as a user without a superuser's rights; none says the secret."""
    with nothing_else_touched(desk.home, tmp_path):
        for event in EVENTS:
            answer = desk.hook(event, before=no_rights, **fields)
            assert_polite(answer)
            assert "Abracadabra" not in answer.stdout.decode()
    assert desk.failures == []


@pytest.mark.parametrize("kind", _cases())
def test_a_strange_file_of_the_project_does_no_harm(
    desk: Desk, tmp_path: Path, outside: Path, kind: str
) -> None:
    for name in IN_PROJECT.values():
        if name in (".claude", ".git"):
            continue
        stand_in(desk.project / name, kind, outside)
    _all_events(desk, tmp_path)
    assert kind in AS_IF_ABSENT or len(desk.log) > 0


@pytest.mark.parametrize(
    "kind", ["a FIFO", "a folder", "a link to a file outside", "a link to itself", "latin-1"]
)
@pytest.mark.parametrize("name", [".claude", ".git"])
def test_a_strange_marker_of_the_project_does_no_harm(
    desk: Desk, tmp_path: Path, outside: Path, name: str, kind: str
) -> None:
    stand_in(desk.project / name, kind, outside)
    _all_events(desk, tmp_path)


@pytest.mark.parametrize("kind", _cases())
def test_a_strange_file_of_the_home_folder_does_no_harm(
    desk: Desk, tmp_path: Path, outside: Path, kind: str
) -> None:
    for name in (f"projects/p/{desk.transcript.name}", "rules/home.md", ".sisyphus/config.toml"):
        stand_in(desk.client / name, kind, outside)
    with nothing_else_touched(desk.home, tmp_path):
        for event in EVENTS:
            assert_polite(desk.hook(event, before=no_rights))


@pytest.mark.parametrize("kind", _cases())
def test_a_strange_path_in_the_payload_does_no_harm(
    desk: Desk, tmp_path: Path, outside: Path, kind: str
) -> None:
    strange = tmp_path / "strange"
    stand_in(strange, kind, outside)
    below = f"{strange}/below"
    _all_events(desk, tmp_path, cwd=below, transcript_path=str(strange))
    with nothing_else_touched(desk.home, tmp_path):
        for tool, path in (("Read", str(strange)), ("Edit", below), ("Write", str(strange))):
            touched = {"file_path": path}
            assert_polite(desk.hook("post-tool-use", tool_name=tool, tool_input=touched))


PATHS = [
    pytest.param("/dev/zero", id="a device without end"),
    pytest.param("/dev/stdin", id="our own stdin"),
    pytest.param("/proc/self/mem", id="our own memory"),
    pytest.param("/proc/self/fd/0", id="our own stdin by number"),
    pytest.param("/", id="the root"),
    pytest.param("", id="nothing"),
    pytest.param(".", id="a dot"),
    pytest.param("~", id="a tilde"),
    pytest.param("relative/no/where", id="a relative path"),
    pytest.param("/" + "d/" * 2_000, id="2,000 folders deep"),
    pytest.param("/" + "n" * 300, id="a name of 300 bytes"),
    pytest.param("/tmp/a\nb", id="a line end"),  # noqa: S108  # never opened
    pytest.param("C:\\Users\\me", id="a Windows path"),
    pytest.param("file:///etc/passwd", id="a URL"),
    pytest.param("/nowhere/\udcff", id="a byte that is no UTF-8"),
]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_that_leads_nowhere_good_does_no_harm(desk: Desk, tmp_path: Path, path: str) -> None:
    touched = {"file_path": path, "notebook_path": path}
    _all_events(desk, tmp_path, cwd=path, transcript_path=path, tool_input=touched)


def test_a_project_that_is_gone_does_no_harm(desk: Desk, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()

    def leave() -> None:
        os.chdir(gone)
        os.rmdir(gone)

    assert_polite(desk.raw_hook("session-start", b'{"session_id": "s"}', before=leave))
