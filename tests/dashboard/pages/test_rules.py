from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import journal, put

from sisyphus.paths import project_id

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.testclient import TestClient

EVIL = '"><script>alert(1)'


def _sent(session: str, project: Path, *texts: str, at: float = 1_795_186_800) -> None:
    entry = {"at": at, "event": "session-start", "sent": 9, "texts": [*texts]}
    journal(session, {**entry, "project": str(project)})


@pytest.fixture
def rules(project: Path) -> None:
    folder = project / ".github/instructions"
    put(folder / "py.instructions.md", "---\napplyTo: '**/*.py'\n---\nUse types.")
    put(folder / "js.instructions.md", "---\napplyTo: '**/*.js'\n---\nUse types too.")
    put(project / ".claude/rules/all.md", "Be brief.")


@pytest.mark.usefixtures("rules")
def test_each_rule_says_how_often_it_was_sent(browser: TestClient, project: Path) -> None:
    _sent("session-one", project, "rules .github/instructions/py.instructions.md")
    page = browser.get("/rules").text
    rows = {row.partition("<")[0]: row for row in page.split('<th scope="row">')[1:]}
    sent = rows[".github/instructions/py.instructions.md"]
    assert 'class="num">1<' in sent
    assert 'href="/journal?session=session-one"' in sent
    assert ">never<" in rows[".github/instructions/js.instructions.md"]
    own = rows[".claude/rules/all.md"]
    assert "the client itself" in own
    assert ">never<" not in own


@pytest.mark.usefixtures("rules")
def test_a_rule_that_applies_by_globs_names_them(browser: TestClient, project: Path) -> None:
    _sent("s1", project, "loop")
    assert '<span class="note mono">**/*.py</span>' in browser.get("/rules").text


def test_what_was_said_of_a_full_context_is_no_handoff(browser: TestClient, project: Path) -> None:
    _sent("s1", project, "checkpoint", "checkpoint .claude/handoffs/a.md")
    text = browser.get("/rules").text
    assert text.count(">handoff<") == 1
    assert text.count(">how full the context is<") == 1


def test_the_project_is_chosen_by_its_id(
    browser: TestClient, project: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    _sent("s1", project, "rules gone.md")
    _sent("s2", other, "loop", at=1_795_186_900)
    assert "gone.md" not in browser.get("/rules").text
    page = browser.get(f"/rules?project={project_id(str(project))}").text
    assert "gone.md" in page
    assert f'value="{project_id(str(project))}" selected' in page


@pytest.mark.parametrize("named", ["x", "../x", "%2Fetc"])
def test_a_project_that_is_not_known_is_refused(browser: TestClient, named: str) -> None:
    reply = browser.get(f"/rules?project={named}")
    assert reply.status_code == 404
    assert "no such project" in reply.text.lower()


def test_without_a_project_it_says_so(browser: TestClient) -> None:
    assert "No project is known yet" in browser.get("/rules").text


def test_names_of_files_are_text(browser: TestClient, project: Path) -> None:
    put(
        project / f".claude/rules/{EVIL.replace('/', '')}.md", f"---\ndescription: '{EVIL}'\n---\nx"
    )
    put(project / ".claude/rules/bad.md", f"---\n{EVIL}: [\n---\n")
    _sent("s1", project, f"rules {EVIL}", EVIL)
    page = browser.get("/rules").text
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page


def test_it_is_said_where_never_may_be_wrong(browser: TestClient, project: Path) -> None:
    told = "than are remembered of one session"
    _sent("s1", project, "rules a.md")
    assert told not in browser.get("/rules").text
    _sent("s1", project, *(f"rules {n}.md" for n in range(600)))
    assert f"1 session had more texts {told}" in browser.get("/rules").text
