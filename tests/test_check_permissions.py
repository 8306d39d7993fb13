"""Before a run starts: which of its checks its agent may not run, by the settings of the client."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from test_item_checks import plan, tick
from test_run import ALL, Runs, runs
from world import Json

from sisyphus import clients

__all__ = ["runs"]

ACCEPT = "acceptEdits"
SHARED, LOCAL = ".claude/settings.json", ".claude/settings.local.json"
TEST = "pytest tests/test_total.py"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the user's `home/.claude` and an empty `project`."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / ".claude").mkdir(parents=True)
    (tmp_path / "project").mkdir()
    return tmp_path


def write(place: Path, name: str, content: Json | str) -> None:
    file = place / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content))


def settings(**rules: object) -> Json:
    return {"permissions": rules}


def ask(place: Path, *commands: str, mode: str = ACCEPT, client: str = clients.DEFAULT) -> str:
    home, project = str(place / "home" / ".claude"), str(place / "project")
    return "".join(clients.headless(client).warnings("", commands, home, project, mode))


def new_rules(text: str) -> list[str]:
    """The rules in a warning, where there is no settings file yet."""
    line = text.partition(f"Put into {LOCAL}: ")[2]
    found: list[str] = json.loads(line)["permissions"]["allow"] if line else []
    return found


# ---------------------------------------------------------------- at the start of a run


def test_a_run_says_what_its_agent_may_not_run(runs: Runs) -> None:
    runs.world.write(
        "fix_plan.md", plan(f"cart (verify: `{TEST}`)", "total (check: `pytest x.py`)")
    )

    answer = runs.run("--verify", "make all", processes=[tick("cart"), tick("total")])

    assert answer.err.count("warning:") == 1
    assert (
        f"warning: In acceptEdits, the agent of Claude Code may not run `{TEST}`, `pytest x.py`, "
        "`make all`: your settings do not allow it. Put into .claude/settings.local.json: "
        '{"permissions": {"allow": ["Bash(pytest tests/test_total.py)", "Bash(pytest x.py)", '
        '"Bash(make all)"]}}\n'
    ) in answer.err
    assert len(runs.calls) > 1, "it starts all the same"


IGNORE = f"echo {LOCAL} >> .git/info/exclude"


def test_who_follows_the_advice_can_start(runs: Runs) -> None:
    """The file is refused as long as git does not ignore it, and that says how, too."""
    runs.git()
    runs.commit("config", "user.name", "u")
    runs.commit("config", "user.email", "u@example.org")
    runs.world.write("fix_plan.md", plan(f"cart (verify: `{TEST}`)"))
    words = ("--commit", "--max-iterations", "1")
    advice = runs.run(*words, processes=[tick("cart")]).err
    assert f"do not allow it. Let git ignore {LOCAL}: `{IGNORE}`. Put into {LOCAL}: {{" in advice

    runs.world.write(LOCAL, json.dumps({"permissions": {"allow": new_rules(advice)}}))
    refused = runs.run(*words, processes=[tick("cart")])
    assert refused.code == 1
    assert f"stash them. Let git ignore {LOCAL}, which is yours alone: `{IGNORE}`." in refused.err
    subprocess.run(IGNORE, shell=True, check=True, cwd=runs.world.project)
    runs.world.write("fix_plan.md", plan(f"cart (verify: `{TEST}`)"))
    started = runs.run(*words, processes=[tick("cart")])

    assert "warning" not in started.err
    assert f"Run {runs.id} started" in started.out


@pytest.mark.parametrize(
    ("folder", "before", "command"),
    [
        ("project", (), IGNORE),
        ("project/app x", (), f"echo 'app x/{LOCAL}' >> {{place}}/project/.git/info/exclude"),
        ("project", (f"echo {LOCAL} > .gitignore",), ""),
        ("project", ("mkdir .claude", f"echo {{}} > {LOCAL}", f"git add -f {LOCAL}"), ""),
    ],
)
def test_how_git_ignores_the_file(
    place: Path, folder: str, before: tuple[str, ...], command: str
) -> None:
    project = place / folder
    project.mkdir(exist_ok=True)
    subprocess.run(["git", "init", "-q", "project"], check=True, cwd=place)
    for each in before:
        subprocess.run(each, shell=True, check=True, cwd=project)

    text = "".join(
        clients.headless("claude-code").warnings(
            "", [TEST], str(place / "home" / ".claude"), str(project), ACCEPT
        )
    )

    shown = command.format(place=place)
    assert text.partition("allow it. ")[2].startswith(
        f"Let git ignore {LOCAL}: `{shown}`. Put into" if command else "Put into"
    )


def test_what_is_done_needs_no_rule(runs: Runs) -> None:
    text = plan("cart", "total", "receipt") + f"- [x] refund (verify: `{TEST}`)\n"
    runs.world.write("fix_plan.md", text)

    assert "warning" not in runs.run(processes=ALL).err


def test_a_run_whose_settings_allow_its_checks(runs: Runs) -> None:
    runs.world.write("fix_plan.md", plan(f"cart (verify: `{TEST}`)"))
    runs.world.write(LOCAL, json.dumps(settings(allow=["Bash(pytest:*)"])))

    assert "warning" not in runs.run("--allow-dirty", processes=[tick("cart")]).err


def test_another_command_than_the_client(runs: Runs) -> None:
    runs.world.write("fix_plan.md", plan(f"cart (verify: `{TEST}`)"))

    assert "warning" not in runs.run("--client-command", "true", "--max-iterations", "1").err


# ---------------------------------------------------------------- the rules of the settings

HOOK = {"type": "command", "command": "./guard.sh"}
OURS = {"type": "command", "command": "sisyphus hook permission-request || :"}


def hooks(event: str, matcher: str, hook: Json) -> Json:
    return {"hooks": {event: [{"matcher": matcher, "hooks": [hook]}]}}


@pytest.mark.parametrize(
    ("name", "content", "command"),
    [
        (LOCAL, settings(allow=["Bash"]), TEST),
        (LOCAL, settings(allow=["Bash(*)"]), TEST),
        (LOCAL, settings(allow=["Bash(pytest:*)"]), TEST),
        (LOCAL, settings(allow=["Bash(pytest:*)"]), "pytest"),
        (LOCAL, settings(allow=["Bash(pytest *)"]), "pytest"),
        (LOCAL, settings(allow=["Bash(py*)"]), TEST),
        (LOCAL, settings(allow=["Bash(* tests/*)"]), TEST),
        (LOCAL, settings(allow=[f"Bash({TEST})"]), TEST),
        (LOCAL, settings(allow=[7, "Bash(pytest:*)"]), TEST),
        (SHARED, settings(allow=["Bash(pytest:*)"]), TEST),
        ("../home/.claude/settings.json", settings(allow=["Bash(pytest:*)"]), TEST),
        (LOCAL, settings(allow=["Bash(pytest:*)"]), "cd app && pytest 'a;b' 2>&1 | tail"),
        (LOCAL, settings(allow=["Bash(pytest:*)"]), "NODE_ENV=test timeout 30 pytest"),
        (LOCAL, settings(allow=["Bash(pytest:*)"]), "if test -f x; then pytest; fi"),
        (LOCAL, settings(allow=["Bash(make a && make b)"]), "make a && make b"),
        (LOCAL, "{,", TEST),
        (LOCAL, "[]", TEST),
        (LOCAL, {"permissions": {"allow": "Bash"}}, TEST),
        (LOCAL, '{"model": "' + "x" * 1_000_001 + '"}', TEST),
        (LOCAL, settings(allow=[f"Bash(a{n})" for n in range(600)]), TEST),
        (SHARED, {"sandbox": {"enabled": True}}, TEST),
        (SHARED, hooks("PreToolUse", "", HOOK), TEST),
        (SHARED, hooks("PreToolUse", "Edit|Bash", HOOK), TEST),
        (SHARED, hooks("PermissionRequest", ".*", HOOK), TEST),
    ],
)
def test_what_allows_a_command_or_may(
    place: Path, name: str, content: Json | str, command: str
) -> None:
    write(place / "project", name, content)

    assert ask(place, command) == ""


@pytest.mark.parametrize(
    ("content", "command"),
    [
        ({}, TEST),
        ("", TEST),
        (settings(), TEST),
        (settings(allow=["Bash(pytest)"]), TEST),
        (settings(allow=["Bash(pyt:*)"]), TEST),
        (settings(allow=["Bash(pytest *)"]), "pytest-3 x"),
        (settings(allow=["Bash(PYTEST:*)", "bash", "B*", "*", "Bash()", "Read"]), TEST),
        (settings(allow=["Bash(pytest:*)"]), "python3 -m pytest"),
        (settings(allow=["Bash(pytest:*)"]), "./pytest"),
        (settings(allow=["Bash(pytest:*)"]), "pytest && make"),
        (settings(allow=["Bash(a[b]?)"]), "abc"),
        (settings(allow=["Bash"], deny=["Bash(pytest:*)"]), TEST),
        (settings(allow=["Bash"], ask=["Bash(pytest:*)"]), f"cd app && A=1 {TEST}"),
        (settings(allow=["Bash(pytest:*)"], deny=["Bash"]), TEST),
        (settings(ask=["Bash(ls:*)"]), "ls"),
        ({"sandbox": {"enabled": False}}, TEST),
        (hooks("PreToolUse", "Edit|Write", HOOK), TEST),
        (hooks("PostToolUse", "", HOOK), TEST),
        (hooks("PermissionRequest", "", OURS), TEST),
    ],
)
def test_what_does_not_allow_a_command(place: Path, content: Json | str, command: str) -> None:
    write(place, f"project/{LOCAL}", content)

    for mode in (ACCEPT, "dontAsk"):
        assert f"may not run `{command}`: your" in ask(place, command, mode=mode)


def test_modes_and_clients_that_run_everything(place: Path) -> None:
    assert ask(place, TEST)
    assert ask(place, TEST, mode="bypassPermissions") == ""
    assert ask(place, TEST, mode="auto") == ""
    assert ask(place, TEST, mode="workspace-write", client="codex") == ""


@pytest.mark.parametrize(
    "command",
    ["ls", "grep -q x a.py", "git diff --exit-code", "! grep x a.py", "test -f a", "[ -f a ]",
     "cat a | wc -l", "cd app && ls", "mkdir a", "node --version", "if test -f a; then ls; fi", "",
     "make > out.txt", "make <<E"],
)  # fmt: skip
def test_what_needs_no_rule_or_nobody_knows(place: Path, command: str) -> None:
    assert ask(place, command) == ""


def test_a_worktree_has_the_rules_of_its_checkout(place: Path) -> None:
    git = place / "main" / ".git"
    (git / "worktrees" / "tree").mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "worktrees" / "tree" / "commondir").write_text("../..\n")
    write(place, "project/.git", f"gitdir: {git}/worktrees/tree\n")
    assert ask(place, TEST)

    write(place, f"main/{LOCAL}", settings(allow=["Bash(pytest:*)"]))

    assert ask(place, TEST) == ""


# ---------------------------------------------------------------- what it says


@pytest.mark.parametrize(
    ("commands", "rules"),
    [
        ([TEST, "pytest -q", TEST], [f"Bash({TEST})", "Bash(pytest -q)"]),
        (["make lint", "./check.sh all"], ["Bash(make lint)", "Bash(./check.sh all)"]),
        (["cd app && make && ls && mypy src"], ["Bash(make)", "Bash(mypy src)"]),
        (["python3.12 -m pytest x"], ["Bash(python3.12 -m pytest x)"]),
        (["uv run pytest", "npm test"], ["Bash(uv run pytest)", "Bash(npm test)"]),
        (["PYTHONPATH=src pytest x"], ["Bash(PYTHONPATH=src pytest x)"]),
        (["timeout 30 pytest"], ["Bash(timeout 30 pytest)"]),
        (["go test ./... >/dev/null 2>&1"], ["Bash(go test ./...:*)"]),
        (["(cd app; make)", "make $(ls)"], ["Bash((cd app; make))", "Bash(make $(ls))"]),
        (["! make"], ["Bash(! make)"]),
        (['python3 -c "print(1)"'], ['Bash(python3 -c "print(1)")']),
    ],
)
def test_which_rules_it_advises(place: Path, commands: list[str], rules: list[str]) -> None:
    assert new_rules(ask(place, *commands)) == rules

    write(place, f"project/{LOCAL}", settings(allow=rules))

    assert ask(place, *commands) == "", "they are enough"


def test_three_are_named_and_the_rest_counted(place: Path) -> None:
    text = ask(place, *(f"tool{n} all" for n in range(12)), "tool0 all")

    assert "run `tool0 all`, `tool1 all`, `tool2 all` and 9 more: your" in text
    assert len(new_rules(text)) == 8


def test_a_file_that_is_there_is_added_to(place: Path) -> None:
    write(place, f"project/{LOCAL}", {"model": "opus"})
    assert ask(place, TEST).endswith(f': "permissions": {{"allow": ["Bash({TEST})"]}}')

    write(place, f"project/{LOCAL}", settings(allow=["Bash(make:*)"]))
    assert ask(place, TEST, "tox").endswith(
        f'Add to "allow" of "permissions" in {LOCAL}: "Bash({TEST})", "Bash(tox)"'
    )


def test_a_rule_that_is_in_the_way(place: Path) -> None:
    write(place, f"project/{SHARED}", settings(deny=["Bash(make:*)"]))
    write(place, "home/.claude/settings.json", settings(allow=["Bash"], ask=["Bash(tox *)"]))

    assert ask(place, "make", "tox -q") == (
        "In acceptEdits, the agent of Claude Code may not run `make`, `tox -q`: your settings do "
        'not allow it. Take "Bash(make:*)" out of "deny" in .claude/settings.json. '
        'Take "Bash(tox *)" out of "ask" in ~/.claude/settings.json.'
    )


def test_commands_and_rules_of_a_stranger(place: Path) -> None:
    text = ask(place, "to\x1b[2Jol\u202e\n<system-reminder>", "tool " + "x" * 5_000, "é")

    assert text.isprintable()
    assert "<system" not in text.partition("Put into")[0]
    assert len(text) < 1_000
    assert ask(place, "./" + "x" * 5_000) == "", "nobody writes such a rule"

    write(place, f"project/{LOCAL}", settings(deny=["Bash(*\x1b[2J*" + "*x" * 2_000 + ")", "Bash"]))
    assert ask(place, "x" * 5_000 + " y").isprintable()


def test_a_pipe_in_place_of_the_settings(place: Path) -> None:
    (place / "project" / ".claude").mkdir()
    os.mkfifo(place / "project" / LOCAL)

    assert ask(place, TEST) == ""
