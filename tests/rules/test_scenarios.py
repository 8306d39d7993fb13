"""Whole hooks, from stdin to stdout: what a user does, and what the model is then told."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from making import debug_log, finish, ours, put, run_hook, start_hook, stored, without_coverage

from rules.rulefile import a_rule
from sisyphus.text import REPLY_UNITS, units

if TYPE_CHECKING:
    from pathlib import Path

PYTHON = a_rule('applies_to: ["**/*.py"]', body="- Annotate.\n")
SENT = (
    "<system-reminder>\n"
    "The following rules apply to this file:\n"
    "\n"
    "# Rule from .claude/rules/python.md\n"
    "\n"
    "- Annotate.\n"
    "</system-reminder>"
)


def _payload(project: Path, path: Path, **fields: object) -> dict[str, object]:
    touched = {"tool_name": "Read", "tool_input": {"file_path": str(path)}}
    return {"session_id": "s1", "cwd": str(project), **touched, **fields}


def _told(project: Path, name: str = "a.py", **fields: object) -> str:
    """What the model is told when this file is read."""
    code, reply = run_hook("post-tool-use", _payload(project, project / name, **fields))
    assert code == 0
    return _text(reply)


def _text(reply: dict[str, object]) -> str:
    specific = reply.get("hookSpecificOutput", {})
    assert isinstance(specific, dict)
    return str(specific.get("additionalContext", ""))


def _start(project: Path, source: str) -> None:
    run_hook("session-start", {"session_id": "s1", "cwd": str(project), "source": source})


def _git(folder: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", *words],
        cwd=folder,
        check=True,
        capture_output=True,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ALLOW_PROTOCOL": "file"},
    )


# Discovery paths, in order of priority


def test_copilots_instructions_always_apply_without_frontmatter(project: Path) -> None:
    put(project / ".github/copilot-instructions.md", "- Be kind.\n")

    assert "# Rule from .github/copilot-instructions.md\n\n- Be kind." in _told(project, "a.any")


def test_rules_of_the_project_are_found(project: Path) -> None:
    put(project / ".claude/rules/python.md", PYTHON)

    assert _told(project) == SENT


def test_rules_of_the_user_are_found(project: Path, home: Path) -> None:
    put(home / ".claude/rules/python.md", PYTHON)

    assert "# Rule from ~/.claude/rules/python.md\n\n- Annotate." in _told(project)


def test_rules_go_out_in_the_order_of_their_sources(project: Path, home: Path) -> None:
    put(home / ".claude/rules/d.md", a_rule('applies_to: "*.py"', body="- four\n"))
    put(project / ".cursor/rules/c.mdc", a_rule("globs: *.py", body="- three\n"))
    put(project / ".claude/rules/b.md", a_rule('applies_to: "*.py"', body="- two\n"))
    put(project / ".github/instructions/a.instructions.md", a_rule('applyTo: "**"', body="- one\n"))
    put(project / ".github/copilot-instructions.md", "- zero\n")

    said = [line for line in _told(project).splitlines() if line.startswith("- ")]

    assert said == ["- zero", "- one", "- two", "- three", "- four"]


# Matching logic


@pytest.mark.parametrize("tool", ["Read", "Edit", "Write", "MultiEdit"])
def test_the_path_is_taken_from_the_tools_input(project: Path, tool: str) -> None:
    put(project / ".claude/rules/python.md", PYTHON)

    assert _told(project, tool_name=tool) == SENT


def test_any_applies_to_glob_is_enough(project: Path) -> None:
    globs = 'applies_to:\n  - "**/*.tsx"\n  - "**/*.jsx"\npriority: 10\ntags: ["frontend", "react"]'
    put(project / ".claude/rules/react.md", a_rule(globs))

    assert "# Rule from .claude/rules/react.md" in _told(project, "src/App.jsx")
    assert _told(project, "src/app.ts", session_id="s2") == ""


def test_a_higher_priority_is_injected_first(project: Path) -> None:
    put(project / ".claude/rules/a.md", a_rule('globs: "*.py"', "priority: 1", body="- second\n"))
    put(project / ".claude/rules/b.md", a_rule('globs: "*.py"', "priority: 10", body="- first\n"))
    put(project / ".claude/rules/c.md", a_rule('globs: "*.py"', body="- third\n"))

    said = [line for line in _told(project).splitlines() if line.startswith("- ")]

    assert said == ["- first", "- second", "- third"]


def test_several_rules_share_one_frame(project: Path) -> None:
    put(project / ".claude/rules/a.md", a_rule('globs: "*.py"', body="- one\n"))
    put(project / ".claude/rules/b.md", a_rule('globs: "*.py"', body="- two\n"))

    assert _told(project) == (
        "<system-reminder>\nThe following rules apply to this file:\n\n"
        "# Rule from .claude/rules/a.md\n\n- one\n\n"
        "# Rule from .claude/rules/b.md\n\n- two\n</system-reminder>"
    )


def test_rules_with_the_same_content_are_sent_once(project: Path) -> None:
    put(project / ".claude/rules/a.md", PYTHON)
    put(project / ".claude/rules/b.md", PYTHON)

    assert _told(project).count("- Annotate.") == 1
    assert _told(project) == ""


# Session cache


def test_the_session_cache_has_the_agreed_form(project: Path, home: Path) -> None:
    rule = put(project / ".claude/rules/python.md", PYTHON)
    _told(project)

    cache = stored(ours(home, "rules-injector/session-s1.json"))

    assert cache["injected_paths"] == [str(rule)]
    assert [len(digest) for digest in cache["injected_hashes"]] == [16]


def test_the_same_file_read_again_brings_nothing(project: Path) -> None:
    put(project / ".claude/rules/python.md", PYTHON)

    assert [_told(project), _told(project), _told(project, "b.py")] == [SENT, "", ""]


def test_a_new_session_is_told_again(project: Path) -> None:
    put(project / ".claude/rules/python.md", PYTHON)

    assert [_told(project), _told(project, session_id="s2")] == [SENT, SENT]


# Edge cases


def test_invalid_yaml_skips_the_rule_and_logs_a_warning(project: Path, home: Path) -> None:
    put(project / ".claude/rules/bad.md", "---\napplies_to: [\n---\n- bad\n")
    put(project / ".claude/rules/python.md", PYTHON)

    assert _told(project) == SENT
    assert ".claude/rules/bad.md:3: skipped: invalid frontmatter" in debug_log(home)


def test_circular_includes_end(project: Path) -> None:
    put(project / ".claude/rules/a.md", a_rule('applies_to: "*.py"', body="- a\n@b.txt\n"))
    put(project / ".claude/rules/b.txt", "- b\n@a.md\n")

    assert "- a\n- b\n[not included: @a.md: it would include itself]" in _told(project)


def test_a_very_large_rule_is_truncated(project: Path) -> None:
    text = "".join(f"- rule number {number}\n" for number in range(2_000))
    rule = put(project / ".claude/rules/large.md", a_rule('applies_to: "*.py"', body=text))

    told = _told(project)

    assert 9_500 < units(told) <= REPLY_UNITS
    assert "[Cut here: 9," in told
    assert f"Read on in {rule}, from line " in told
    assert _told(project) == ""


def test_a_missing_rules_folder_is_silence(project: Path, home: Path) -> None:
    assert _told(project) == ""
    assert debug_log(home) == ""


def test_a_rule_and_the_plan_do_not_get_in_each_others_way(project: Path) -> None:
    put(project / ".claude/PLAN.md", "# Ship\n\n- [x] one\n- [ ] two\n")
    put(project / ".claude/rules/plans.md", a_rule('applies_to: "**/PLAN.md"'))

    edited = _told(project, ".claude/PLAN.md", tool_name="Edit")

    assert "# Rule from .claude/rules/plans.md\n\n- Be kind." in edited


# What users of such tools ask for


@pytest.mark.parametrize("name", ["a.ts", "x/a.ts", "x/y/a.tsx"])
def test_globs_cover_root_files_and_braces_are_no_comma_list(project: Path, name: str) -> None:
    put(project / ".claude/rules/ts.md", a_rule("globs: **/*.{ts,tsx}"))

    assert "- Be kind." in _told(project, name)


@pytest.mark.parametrize(
    ("glob", "name"),
    [("app/[id]/*.ts", "app/[id]/page.ts"), ("app/(group)/*.ts", "app/(group)/page.ts")],
)
def test_folders_in_brackets_and_parentheses(project: Path, glob: str, name: str) -> None:
    put(project / ".claude/rules/a.md", a_rule(f'applies_to: "{glob}"'))

    assert "- Be kind." in _told(project, name)


def test_exclusions_and_case(project: Path) -> None:
    put(project / ".claude/rules/a.md", a_rule('applies_to: ["**/*.py", "!tests/**"]'))

    assert _told(project, "tests/a.py") == ""
    assert _told(project, "src/A.PY") == ""
    assert _told(project, "src/a.py") != ""


def test_root_rules_reach_a_package_with_its_own_manifest(project: Path) -> None:
    put(project / ".claude/rules/python.md", PYTHON)
    put(project / "packages/foo/package.json", "{}")
    below = str(project / "packages/foo")

    assert _told(project, "packages/foo/a.py", cwd=below) == SENT


def test_a_worktree_and_a_submodule_are_their_own_roots(tmp_path: Path) -> None:
    main, library = tmp_path / "main", tmp_path / "library"
    for folder, text in ((main, "- main\n"), (library, "- library\n")):
        put(folder / ".github/copilot-instructions.md", text)
        _git(folder, "init", "-q")
        _git(folder, "add", ".")
        _git(folder, "commit", "-qm", "x")
    _git(main, "submodule", "add", "-q", str(library), "sub")
    _git(main, "worktree", "add", "-q", str(tmp_path / "tree"))
    put(tmp_path / "tree/.github/copilot-instructions.md", "- tree\n")

    assert "- main" in _told(main)
    assert "- library" in _told(main / "sub", session_id="s2")
    assert "- tree" in _told(tmp_path / "tree", session_id="s3")


def test_parallel_reads_bring_a_rule_exactly_once(project: Path) -> None:
    put(project / ".claude/rules/python.md", PYTHON)
    for trial in range(4):
        session = f"trial{trial}"
        payloads = [
            _payload(project, project / f"{number}.py", session_id=session) for number in range(8)
        ]
        running = [
            start_hook("post-tool-use", payload, env=without_coverage()) for payload in payloads
        ]

        texts = [_text(finish(process)[1]) for process in running]

        assert sorted(texts) == [""] * 7 + [SENT]


def test_after_a_compaction_it_is_sent_again_and_on_resume_it_is_not(project: Path) -> None:
    put(project / ".claude/rules/python.md", PYTHON)
    told = [_told(project)]
    for source in ("resume", "compact", "clear"):
        _start(project, source)
        told += [_told(project), _told(project)]

    assert told == [SENT, "", "", SENT, "", SENT, ""]


def test_an_edited_rule_is_sent_again(project: Path) -> None:
    rule = put(project / ".claude/rules/python.md", PYTHON)
    _told(project)

    rule.write_text(PYTHON.replace("Annotate", "Annotate all"))

    assert [_told(project), _told(project)] == [SENT.replace("Annotate", "Annotate all"), ""]


def test_no_reply_is_over_the_clients_limit_and_nothing_is_lost(project: Path) -> None:
    for number in range(12):
        text = f"- rule {number}\n" + "😀é語 x\n" * 400
        put(project / f".claude/rules/{number:02}.md", a_rule('globs: "*.py"', body=text))
    replies = [_told(project) for _ in range(8)]

    assert all(units(reply) <= REPLY_UNITS for reply in replies)
    for number in range(12):
        assert "".join(replies).count(f"- rule {number}\n") == 1
    assert "The following rules apply to a.py:" in replies[1]
    assert replies[-1] == ""


@pytest.mark.parametrize("keys", [('paths: "**/*.py"',), ()])
def test_what_the_client_loads_itself_is_not_sent(project: Path, keys: tuple[str, ...]) -> None:
    put(project / ".claude/rules/python.md", a_rule(*keys))

    assert _told(project) == ""


def test_files_that_are_no_documents_are_skipped(project: Path, home: Path) -> None:
    folder = project / ".claude/rules"
    put(folder / "binary.md", b"\0\1\2")
    put(folder / "latin.md", b"caf\xe9")
    put(folder / "huge.md", b"x" * 3_000_000)
    os.mkfifo(folder / "pipe.md")
    (folder / "zero.md").symlink_to("/dev/zero")
    (folder / "folder.md").mkdir()
    put(folder / "python.md", PYTHON)

    assert _told(project) == SENT
    log = debug_log(home)
    for name, reason in {
        "binary.md": "binary",
        "latin.md": "not UTF-8",
        "huge.md": "too large",
        "pipe.md": "not a regular file",
        "zero.md": "a link that leaves the project",
    }.items():
        assert any(f"/{name}: " in line and reason in line for line in log.splitlines())


@pytest.mark.parametrize("name", ["/dev/zero", "/etc/hostname", "../outside.py"])
def test_a_file_outside_the_project_gets_no_rule_of_it(project: Path, name: str) -> None:
    put(project / ".github/copilot-instructions.md", "- Be kind.\n")

    assert _told(project, name) == ""


def test_a_session_id_with_slashes_writes_nothing_outside(project: Path, home: Path) -> None:
    put(project / ".claude/rules/python.md", PYTHON)

    assert _told(project, session_id="../../../evil") == ""
    assert not list(home.rglob("*evil*"))


def test_linked_rules_and_cycles_are_followed_once(project: Path, home: Path) -> None:
    real = put(home / "dotfiles/python.md", PYTHON)
    (home / ".claude/rules").mkdir(parents=True)
    (home / ".claude/rules/python.md").symlink_to(real)
    (home / ".claude/rules/again").symlink_to(home / "dotfiles")
    (home / ".claude/rules/cycle").symlink_to(home / ".claude/rules")

    assert _told(project).count("- Annotate.") == 1
    assert _told(project) == ""


def test_nothing_appears_in_the_project(project: Path) -> None:
    put(project / ".claude/rules/python.md", PYTHON)
    before = sorted(project.rglob("*"))

    _told(project)

    assert sorted(project.rglob("*")) == before


def test_one_variable_silences_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(project / ".claude/rules/python.md", PYTHON)
    monkeypatch.setenv("SISYPHUS_DISABLE", "1")

    assert _told(project) == ""
