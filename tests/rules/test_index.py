from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from making import a_space, debug_log, ours, put

from rules.rulefile import a_rule
from sisyphus.rules.index import current, stamp

if TYPE_CHECKING:
    from pathlib import Path

SETTLE_SECONDS = 0.02


def _bodies(project: Path) -> dict[str, str]:
    """Label and text of every rule in the index, as a hook would read them now."""
    index = current(a_space(project))
    return {entry["label"]: index.body(entry) for entry in index.rules}


def _settled(project: Path) -> None:
    """Makes the index when no file is just being changed."""
    time.sleep(SETTLE_SECONDS)
    _bodies(project)


def _made(project: Path) -> int:
    space = a_space(project)
    row = space.memory.row("SELECT made FROM rule_index WHERE project = ?", space.root)
    return row[0] if row else 0


@pytest.fixture
def rule(project: Path) -> Path:
    return put(project / ".claude/rules/a.md", a_rule('applies_to: "*.py"'))


@pytest.mark.usefixtures("rule")
def test_nothing_is_written_while_nothing_changes(project: Path) -> None:
    _settled(project)
    made = _made(project)

    assert _bodies(project) == _bodies(project) == {".claude/rules/a.md": "- Be kind."}
    assert _made(project) == made


def test_a_changed_rule_is_read_anew(project: Path, rule: Path) -> None:
    _settled(project)

    rule.write_text("- Be quick.\n")

    assert _bodies(project) == {".claude/rules/a.md": "- Be quick."}


def test_a_change_that_keeps_size_and_time_is_seen(project: Path, rule: Path) -> None:
    _settled(project)
    before = rule.stat()

    rule.write_text(rule.read_text().replace("kind", "fast"))
    os.utime(rule, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert _bodies(project) == {".claude/rules/a.md": "- Be fast."}


def test_a_change_right_after_the_index_was_made_is_seen(project: Path, rule: Path) -> None:
    for word in ("fast", "bold", "calm", "kind"):
        rule.write_text(a_rule(body=f"- Be {word}.\n"))
        _bodies(project)
        time.sleep(SETTLE_SECONDS)

        assert _bodies(project) == {".claude/rules/a.md": f"- Be {word}."}


@pytest.mark.usefixtures("rule")
@pytest.mark.parametrize(
    "name",
    [
        ".claude/rules/b.md",
        ".claude/rules/sub/b.md",
        ".cursor/rules/b.mdc",
        ".github/instructions/b.instructions.md",
        ".github/copilot-instructions.md",
    ],
)
def test_a_new_rule_is_found(project: Path, name: str) -> None:
    _settled(project)

    put(project / name, "- new\n")

    assert _bodies(project)[name] == "- new"


@pytest.mark.usefixtures("rule")
def test_a_new_home_rule_is_found(project: Path, home: Path) -> None:
    _settled(project)

    put(home / ".claude/rules/mine.md", "- mine\n")

    assert _bodies(project)["~/.claude/rules/mine.md"] == "- mine"


def test_a_removed_rule_is_gone(project: Path, rule: Path) -> None:
    _settled(project)

    rule.unlink()

    assert _bodies(project) == {}


def test_a_changed_included_file_is_read_anew(project: Path) -> None:
    put(project / ".claude/rules/a.md", "@../common.md\n")
    put(project / ".claude/common.md", "- one\n")
    _settled(project)

    put(project / ".claude/common.md", "- two\n")

    assert _bodies(project) == {".claude/rules/a.md": "- two"}


def test_an_included_file_that_was_missing_is_read_when_it_is_there(project: Path) -> None:
    put(project / ".claude/rules/a.md", "@../common.md\n")
    _settled(project)

    put(project / ".claude/common.md", "- here\n")

    assert _bodies(project) == {".claude/rules/a.md": "- here"}


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
@pytest.mark.parametrize("folder", ["project", "home"])
def test_changed_settings_of_the_client_decide_anew_who_sends_a_rule(
    project: Path, home: Path, folder: str, name: str
) -> None:
    put(project / ".claude/rules/a.md", "- x\n")
    settings = {"project": project, "home": home}[folder] / ".claude" / name
    excluded: list[object] = []
    natives: list[object] = [None, [], None]
    if (folder, name) == ("home", "settings.local.json"):  # the client has no such file
        natives = [None, None, None]

    for text in ("", '{"claudeMdExcludes": ["**/rules/a.md"]}', '{"claudeMdExcludes": []}'):
        put(settings, text)
        _settled(project)
        excluded.append(current(a_space(project)).rules[0]["native"])

    assert excluded == natives


def test_a_link_that_now_leads_elsewhere_is_read_anew(project: Path) -> None:
    put(project / "one.md", "- one\n")
    put(project / "two.md", "- two\n")
    link = project / ".claude/rules/a.md"
    link.parent.mkdir(parents=True)
    link.symlink_to(project / "one.md")
    _settled(project)

    link.unlink()
    link.symlink_to(project / "two.md")

    assert _bodies(project) == {".claude/rules/a.md": "- two"}


def test_a_rule_that_became_a_link_out_of_the_project_is_gone(project: Path, rule: Path) -> None:
    put(project.parent / "secret.md", "secret\n")
    _settled(project)

    rule.unlink()
    rule.symlink_to(project.parent / "secret.md")

    assert _bodies(project) == {}


def test_two_projects_have_two_indexes(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    put(project / ".claude/rules/a.md", "- one\n")
    put(other / ".claude/rules/a.md", "- two\n")

    assert (_bodies(project), _bodies(other)) == (
        {".claude/rules/a.md": "- one"},
        {".claude/rules/a.md": "- two"},
    )


def test_rules_that_are_never_sent_are_not_in_the_index(project: Path) -> None:
    put(project / ".cursor/rules/ask.mdc", a_rule("globs:", "alwaysApply: false"))
    put(project / ".claude/rules/empty.md", a_rule('paths: "*"', body=""))

    assert _bodies(project) == {}


@pytest.mark.usefixtures("rule")
def test_where_nothing_can_be_written_rules_still_work(project: Path, home: Path) -> None:
    put(ours(home, ""), "in the way")

    assert _bodies(project) == {".claude/rules/a.md": "- Be kind."}
    assert ours(home, "").read_text() == "in the way"


def test_a_bad_rule_is_one_line_in_the_log_each_time_the_index_is_made(
    project: Path, home: Path
) -> None:
    put(project / ".claude/rules/bad.md", "---\npaths: [\n---\n- x")
    _settled(project)
    _bodies(project)

    assert debug_log(home).count("rules: .claude/rules/bad.md:3: skipped: invalid front") == 1


@pytest.mark.usefixtures("rule")
def test_processes_that_start_together_all_find_the_rule(project: Path) -> None:
    script = (
        "import sys\n"
        "from sisyphus.rules.index import current\n"
        "from sisyphus.workspace import Workspace\n"
        "index = current(Workspace(sys.argv[1]))\n"
        "print([index.body(entry) for entry in index.rules])\n"
    )
    command = [sys.executable, "-c", script, str(project)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(8)]

    answers = {process.communicate()[0] for process in running}

    assert answers == {b"['- Be kind.']\n"}


@pytest.mark.usefixtures("rule")
def test_the_text_belongs_to_the_index_that_was_read_though_a_new_one_was_made(
    project: Path,
) -> None:
    _settled(project)
    old = current(a_space(project))
    put(project / ".claude/rules/0.md", "- another, much longer text\n")
    _bodies(project)

    assert [old.body(entry) for entry in old.rules] == ["- Be kind."]


def test_a_stamp_tells_a_change_from_none(tmp_path: Path) -> None:
    path = put(tmp_path / "a", "one")
    before = stamp(str(path))

    assert stamp(str(path)) == before
    path.write_text("longer")
    assert stamp(str(path)) != before
    assert stamp(str(tmp_path / "missing")) == []
    assert stamp("a\0b") == []
