"""`sisyphus doctor`: what it finds in worlds that are whole or broken, and that it changes
nothing."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from world import SISYPHUS, World

from sisyphus import clients
from sisyphus.clients.base import Wiring
from sisyphus.clients.claude_code import wiring
from sisyphus.clients.codex import wiring as codex_wiring
from sisyphus.clients.copilot import wiring as copilot_wiring
from sisyphus.clients.finding import Finding, Level
from sisyphus.clients.opencode import wiring as opencode_wiring
from sisyphus.clients.qwen import wiring as qwen_wiring
from sisyphus.doctor import database
from sisyphus.ground import bytecode
from sisyphus.ground.store import VERSION
from sisyphus.setup import plugin

Json = dict[str, Any]
START = f"{shlex.quote(sys.executable)} -I -m sisyphus"
Break = Callable[[World], object]

WIRINGS: tuple[Wiring, ...] = (
    wiring,
    opencode_wiring,
    codex_wiring,
    qwen_wiring,
    copilot_wiring,
)

WELL = "All is well: Claude Code, OpenCode, program, home folder, database, log, settings.\n"


@pytest.fixture
def whole(world: World) -> World:
    """A world with both clients, right after `sisyphus install`."""
    put_client(world, "claude", "2.1.329 (Claude Code)")
    put_client(world, "opencode", "1.18.33")
    folders = [str(bin_folder(world)), str(SISYPHUS.parent), os.environ["PATH"]]
    world.setenv("PATH", os.pathsep.join(folders))
    assert world.cli("install", "--yes").code == 0
    return world


def bin_folder(world: World) -> Path:
    return world.root / "bin"


def put_client(world: World, name: str, answer: str) -> None:
    put_program(bin_folder(world) / name, f"echo '{answer}'")


def put_program(file: Path, script: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


def user_file(world: World) -> Path:
    return world.claude / "settings.json"


def change(file: Path, **keys: object) -> None:
    """Sets keys of a settings file."""
    settings = json.loads(file.read_text()) if file.exists() else {}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({**settings, **keys}))


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def findings(world: World, *words: str) -> list[Finding]:
    answer = world.cli("doctor", "--json", *words)
    assert not answer.err
    found = [
        Finding(each["subject"], Level(each["level"]), each["text"], each["mend"])
        for each in answer.json["findings"]
    ]
    has_problem = any(each.level is Level.PROBLEM for each in found)
    assert answer.code == int(has_problem)
    assert answer.json["ok"] is not has_problem
    return found


def bad(world: World, *words: str) -> list[Finding]:
    return [each for each in findings(world, *words) if each.level is not Level.GOOD]


def tree(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every file and folder below one, with its times and content."""
    return {
        str(path): (
            path.lstat().st_mtime_ns,
            path.lstat().st_ctime_ns,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in [folder, *folder.rglob("*")]
    }


# ---------------------------------------------------------------- all is well


def test_after_install_all_is_well_in_one_line(whole: World) -> None:
    answer = whole.cli("doctor")

    assert (answer.out, answer.err, answer.code) == (WELL, "", 0)


def test_after_work_all_is_well(whole: World) -> None:
    whole.rule("lamps.md", "Never null.", paths=["lamps/**"])
    whole.write("README.md", "# Shop\n")
    whole.loop()
    whole.read("cart.py")
    whole.stop()

    assert whole.cli("doctor").out == WELL


@pytest.mark.parametrize("scope", ["local", "project"])
def test_after_install_in_a_project_all_is_well(whole: World, scope: str) -> None:
    whole.cli("uninstall", "--yes")

    whole.cli("install", "--yes", "--scope", scope)

    assert bad(whole) == []


def test_verbose_shows_what_is_well_too(whole: World) -> None:
    out = whole.cli("doctor", "-v").out

    assert out.endswith(WELL)
    assert "✓ Claude Code: 2.1.329, " in out
    assert "✓ Claude Code hooks: 8 events, wired by ~/.claude/settings.json.\n" in out
    assert "✓ OpenCode plugin: ~/.config/opencode/plugins/sisyphus.js is" in out
    assert f"✓ project: {whole.project}, because it has .git.\n" in out


def test_a_client_that_the_user_does_not_have_is_no_warning(whole: World) -> None:
    whole.cli("uninstall", "--yes", "--client", "opencode")
    (bin_folder(whole) / "opencode").unlink()

    assert bad(whole) == []
    assert Finding("OpenCode", Level.GOOD, "not installed.") in findings(whole)


def test_a_client_that_is_not_wired_beside_another_is_no_warning(whole: World) -> None:
    whole.cli("uninstall", "--yes", "--client", "opencode")

    assert bad(whole) == []
    mends = [each.mend for each in findings(whole) if each.subject == "OpenCode"]
    assert "`sisyphus install --client opencode`" in mends[-1]


def test_what_the_user_wants_is_no_warning(whole: World) -> None:
    change(
        user_file(whole),
        statusLine={"type": "command", "command": "my-line"},
        disableAllHooks=False,
    )
    (whole.claude / "commands" / "checkpoint.md").write_text("My own.\n")
    (whole.ours / "config.toml").write_text("[rules]\nenabled = false\n")
    (whole.ours / "sisyphus.db.version-2-20260101-000000-7").write_bytes(b"x")
    whole.setenv("SISYPHUS_CONTEXT_AGENTS_MD", "never")

    assert bad(whole) == []
    texts = {each.text for each in findings(whole)}
    assert "your own, my-line. It can call `sisyphus statusline`." in texts
    assert "an older one was set aside." in texts


def test_a_variable_that_a_page_names_is_no_mistake(whole: World) -> None:
    pages = (Path(__file__).parents[1] / "docs").glob("*.md")
    names = {name for page in pages for name in re.findall(r"\bSISYPHUS_[A-Z_]+", page.read_text())}
    assert len(names) > 8
    for name in names:
        whole.setenv(name, "0")

    assert not [each for each in bad(whole) if "no such setting" in each.text]


def test_the_home_folder_is_no_project_and_no_mistake(whole: World) -> None:
    assert bad(whole, "--project", str(whole.home)) == []
    assert any(
        "that is no project" in each.text for each in findings(whole, "--project", str(whole.home))
    )


def test_a_switch_that_the_client_takes_from_no_project(whole: World) -> None:
    change(whole.project / ".claude" / "settings.json", env={"CLAUDE_CODE_SIMPLE": "1"})
    assert bad(whole) == []

    change(user_file(whole), env={"CLAUDE_CODE_SIMPLE": "1"})
    assert [each.mend for each in bad(whole)] == ["Take CLAUDE_CODE_SIMPLE out of that file."]


def test_wired_twice_with_the_same_command_runs_once(whole: World) -> None:
    whole.cli("install", "--yes", "--scope", "local")

    assert bad(whole) == []


# ---------------------------------------------------------------- what is broken


def no_hooks(world: World) -> None:
    """Uninstalled by hand, with the slash commands left."""
    user_file(world).write_text("{}")
    (world.home / ".config/opencode/plugins/sisyphus.js").unlink()


def old_program(world: World) -> None:
    replace(user_file(world), START, "/gone/sisyphus")


def another_program(world: World) -> None:
    other = put_program(world.root / "other" / "sisyphus", "exit 0")
    replace(user_file(world), START, str(other))


def not_executable(world: World) -> None:
    another_program(world)
    (world.root / "other" / "sisyphus").chmod(0o644)


def without(event: str) -> Break:
    def take_out(world: World) -> None:
        settings = json.loads(user_file(world).read_text())
        del settings["hooks"][event]
        user_file(world).write_text(json.dumps(settings))

    return take_out


def without_idle(world: World) -> None:
    settings = json.loads(user_file(world).read_text())
    del settings["hooks"]["Stop"][1]
    user_file(world).write_text(json.dumps(settings))


def wired_by_another(world: World) -> None:
    """The project's hooks start another program than the user's."""
    world.cli("install", "--yes", "--scope", "local")
    other = put_program(world.root / "other" / "sisyphus", "exit 0")
    file = world.project / ".claude" / "settings.local.json"
    replace(file, START, str(other))


def plugin_alone(world: World) -> None:
    world.cli("uninstall", "--yes")
    change(user_file(world), enabledPlugins={"sisyphus@here": True})
    world.setenv("PATH", f"{bin_folder(world)}{os.pathsep}/usr/bin{os.pathsep}/bin")


def later_database(world: World) -> None:
    with closing(sqlite3.connect(world.ours / "sisyphus.db")) as connection:
        connection.execute("PRAGMA user_version = 9999")


def damaged_database(world: World) -> None:
    file = world.ours / "sisyphus.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(file.read_bytes())
    data[4096:] = b"\xff" * len(data[4096:])
    file.write_bytes(data)


def no_file(world: World) -> None:
    file = world.ours / "sisyphus.db"
    file.unlink()
    file.mkdir()


def failures(world: World) -> None:
    log = world.ours / "logs" / "debug.log"
    log.parent.mkdir(exist_ok=True)
    now, before = (
        time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(time.time() - ago))
        for ago in (60, 3 * 86_400)
    )
    log.write_text(
        f"{before} stop: OSError: old\n{now} stop: OSError: first\n  Traceback\n"
        f"{now} settings: x\n{now} stop: ValueError: \x1b[31mlast\n  Traceback\n"
    )


def a_rule_that_loads_twice(world: World) -> None:
    world.rule("snakes.md", "Be kind.", globs="*.py")


def a_rule_that_loads_twice_here(world: World) -> None:
    world.cli("uninstall", "--yes")
    world.cli("install", "--yes", "--scope", "local")
    a_rule_that_loads_twice(world)


def edited(path: str, text: str = "Edited.\n") -> Break:
    def edit(world: World) -> None:
        with (world.home / path).open("a") as file:
            file.write(text)

    return edit


def gone(path: str) -> Break:
    return lambda world: (world.home / path).unlink()


def sets(**keys: object) -> Break:
    return lambda world: change(user_file(world), **keys)


def shared(**keys: object) -> Break:
    return lambda world: change(world.project / ".claude" / "settings.json", **keys)


def a_repository_without_git(world: World) -> None:
    (world.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    programs = world.root / "without git"
    programs.mkdir()
    (programs / "sisyphus").symlink_to(SISYPHUS)
    (programs / "sh").symlink_to("/bin/sh")
    world.setenv("PATH", os.pathsep.join([str(bin_folder(world)), str(programs)]))


def variable(name: str, value: str) -> Break:
    return lambda world: world.setenv(name, value)


def writes(path: str, text: str) -> Break:
    return lambda world: world.write(world.home / path, text)


WIRE = "Run `sisyphus install`."
INSTALL = "Run `sisyphus install --client claude-code`."
PLUGIN = ".config/opencode/plugins/sisyphus.js"

BROKEN: dict[str, tuple[Break, str, str, str, str]] = {
    # name: what breaks it, subject, level, a part of the text, a part of the mend
    "nothing wired": (no_hooks, "hooks", "problem", "no client calls sisyphus", WIRE),
    "an event is missing": (
        without("Stop"), "Claude Code hooks", "problem", "not wired: Stop.", INSTALL,
    ),
    "one of two hooks of an event is missing": (
        without_idle, "Claude Code hooks", "problem", "not wired: Stop.", INSTALL,
    ),
    "the program is gone": (
        old_program, "Claude Code hooks", "problem", "starts /gone/sisyphus, and there is no",
        INSTALL,
    ),
    "the program is not executable": (
        not_executable, "Claude Code hooks", "problem", "there is no such program", INSTALL,
    ),
    "another program": (
        another_program, "Claude Code hooks", "warning", "other/sisyphus, and this command is",
        INSTALL,
    ),
    "another timeout": (
        lambda world: replace(user_file(world), '"timeout": 900', '"timeout": 9'),
        "Claude Code hooks", "warning", "has other hooks than this version installs: Stop.",
        INSTALL,
    ),
    "wired twice": (
        wired_by_another, "Claude Code hooks", "warning", "each event starts two processes",
        "`sisyphus uninstall --client claude-code --scope local`",
    ),
    "plugin and settings": (
        sets(enabledPlugins={"sisyphus@sisyphus": True}), "Claude Code hooks", "warning",
        "wired twice", "`claude plugin disable sisyphus@sisyphus`",
    ),
    "the plugin finds no program": (
        plugin_alone, "Claude Code hooks", "problem", "not on the PATH", "pipx ensurepath",
    ),
    "no JSON": (
        lambda world: user_file(world).write_text('{"hooks": {},}'), "Claude Code settings",
        "problem", "settings.json cannot be used: it is not valid JSON",
        "`sisyphus install --client claude-code`",
    ),
    "hooks of a wrong type": (
        sets(hooks=[]), "Claude Code settings", "problem", '"hooks" is not an object', "Correct",
    ),
    "a comment": (
        lambda world: user_file(world).write_text("{\n  // mine\n}"), "Claude Code settings",
        "problem", "line 2 has a comment", "Claude Code ignores a broken file as a whole.",
    ),
    "a key of a wrong type": (
        sets(permissions={"allow": "Bash"}), "Claude Code settings", "problem",
        'line 1: "permissions.allow" is a text, not a list.', "Claude Code ignores a broken file",
    ),
    "a guard that cannot be loaded": (
        shared(hooks={"PreToolUse": [{"type": "command", "command": "guard"}]}),
        "Claude Code settings", "problem", '"hooks.PreToolUse.0" has no list "hooks".', "Correct",
    ),
    "the project's file is no JSON": (
        lambda world: world.write(".claude/settings.json", "{"), "Claude Code settings",
        "problem", "cannot be used", "--scope project",
    ),
    "all hooks are off": (
        sets(disableAllHooks=True), "Claude Code settings", "problem", "no hook", "Take",
    ),
    "the project switches all hooks off": (
        shared(disableAllHooks=True), "Claude Code settings", "problem",
        ".claude/settings.json has disableAllHooks", "Take disableAllHooks out",
    ),
    "the settings' environment switches us off": (
        shared(env={"SISYPHUS_DISABLE": 1}), "Claude Code settings", "problem",
        "sets SISYPHUS_DISABLE", "Take SISYPHUS_DISABLE out of that file.",
    ),
    "the client is in its simple mode": (
        variable("CLAUDE_CODE_SIMPLE", "1"), "Claude Code settings", "problem",
        "your environment sets CLAUDE_CODE_SIMPLE", "`unset CLAUDE_CODE_SIMPLE`",
    ),
    "another home": (
        sets(env={"CLAUDE_CONFIG_DIR": "/elsewhere"}), "Claude Code settings", "problem",
        "to /elsewhere", "in your shell",
    ),
    "another loop": (
        sets(enabledPlugins={"ralph-wiggum@official": True}), "Claude Code plugins", "warning",
        "it blocks Stops, too", "`claude plugin disable ralph-wiggum@official`",
    ),
    "an older client": (
        lambda world: put_client(world, "claude", "2.0.9 (Claude Code)"), "Claude Code",
        "warning", "2.1.329 or later", "`claude update`",
    ),
    "a client that fails": (
        lambda world: put_program(bin_folder(world) / "claude", "exit 3"), "Claude Code",
        "warning", "does not say its version", "--version`",
    ),
    "no client": (
        lambda world: (bin_folder(world) / "claude").unlink(), "Claude Code", "warning",
        "no `claude` on the PATH", "`sisyphus uninstall --client claude-code`",
    ),
    "a slash command is gone": (
        gone(".claude/commands/ralph-loop.md"), "Claude Code commands", "warning",
        "missing in ~/.claude/commands: ralph-loop.md.", INSTALL,
    ),
    "a slash command was edited": (
        edited(".claude/commands/ralph.md"), "Claude Code commands", "warning", "ralph.md",
        "`sisyphus install --client claude-code`",
    ),
    "slash commands without hooks": (
        lambda world: user_file(world).write_text("{}"), "Claude Code commands", "warning",
        "no hooks to answer them", INSTALL,
    ),
    "rules arrive twice": (
        a_rule_that_loads_twice, "rules", "warning",
        "loads a rule at each start that sisyphus sends when it applies",
        "`sisyphus install --client claude-code`: it tells Claude Code to leave it out",
    ),
    "rules arrive twice in a project": (
        a_rule_that_loads_twice_here, "rules", "warning", "loads a rule at each start",
        "`sisyphus install --client claude-code --scope local`",
    ),
    "an older OpenCode": (
        lambda world: put_client(world, "opencode", "1.2.3"), "OpenCode", "warning",
        "1.18.33 or later", "`opencode upgrade`",
    ),
    "no OpenCode": (
        lambda world: (bin_folder(world) / "opencode").unlink(), "OpenCode", "warning",
        "no `opencode` on the PATH", "`sisyphus uninstall --client opencode`",
    ),
    "another plugin": (
        edited(PLUGIN, "// more\n"), "OpenCode plugin", "warning", "not that of this version",
        "`sisyphus install --client opencode`",
    ),
    "the plugin's program is gone": (
        lambda world: replace(world.home / PLUGIN, json.dumps(sys.executable), '"/gone/sisyphus"'),
        "OpenCode plugin", "problem", "starts /gone/sisyphus",
        "`sisyphus install --client opencode`",
    ),
    "a command of OpenCode is gone": (
        gone(".config/opencode/command/enforce.md"), "OpenCode commands", "warning", "enforce.md",
        "`sisyphus install --client opencode`",
    ),
    "commands of OpenCode without the plugin": (
        gone(PLUGIN), "OpenCode commands", "warning", "without our plugin",
        "`sisyphus install --client opencode`",
    ),
    "OpenCode loads no plugins": (
        variable("OPENCODE_PURE", "1"), "OpenCode settings", "problem", "loads no plugin",
        "`unset OPENCODE_PURE`",
    ),
    "another plugin of OpenCode": (
        writes(".config/opencode/opencode.json", '{"plugin": ["oh-my-opencode@4.19.4"]}'),
        "OpenCode plugins", "warning", "oh-my-opencode in ~/.config/opencode/opencode.json",
        "Take oh-my-opencode out",
    ),
    "another version in the shell": (
        lambda world: put_program(bin_folder(world) / "sisyphus", "echo 0.9.0"), "program",
        "warning", "version 0.9.0, and this is ", "--version`",
    ),
    "a later database": (
        later_database, "database", "problem", "later version", "Update sisyphus",
    ),
    "a damaged database": (damaged_database, "database", "problem", "cannot be used", "&& mv "),
    "no database at all": (
        lambda world: (world.ours / "sisyphus.db").write_bytes(b"not one" * 1_000), "database",
        "problem", "file is not a database",
        "`mkdir ~/.claude/.sisyphus/damaged && mv ~/.claude/.sisyphus/sisyphus.db* ",
    ),
    "a database that is no file": (
        no_file, "database", "problem", "it is not a file", "&& mv ",
    ),
    "failures": (
        failures, "log", "warning", "2 failures in the last day, the last one: stop: ValueError",
        "debug.log`",
    ),
    "others can write our folder": (
        lambda world: world.ours.chmod(0o777), "home folder", "warning", "others can write",
        "`chmod go-w ~/.claude/.sisyphus`",
    ),
    "settings that are no TOML": (
        writes(".claude/.sisyphus/config.toml", "x ="), "settings", "warning",
        "config.toml is ignored", "Correct it",
    ),
    "an unknown setting": (
        writes(".claude/.sisyphus/config.toml", "[rules]\nenable = true\n"), "settings",
        "warning", "unknown setting rules.enable", "Correct it",
    ),
    "a project that wants too much": (
        lambda world: world.write(".claude/sisyphus.toml", "[ralph]\nenabled = false\n"),
        "settings", "warning", "may not set ralph.enabled", "Correct it",
    ),
    "a project that switches rules off": (
        lambda world: world.write(".claude/sisyphus.toml", "[rules]\nenabled = false\n"),
        "settings", "warning", "Rules are off: .claude/sisyphus.toml", "take rules.enabled out",
    ),
    "a project that switches handoffs off": (
        lambda world: world.write(".claude/sisyphus.toml", "[handoff]\nenabled = false\n"),
        "settings", "warning", "Handoffs are off: .claude/sisyphus.toml",
        "take handoff.enabled out",
    ),
    "a variable that switches rules off": (
        variable("SISYPHUS_RULES_ENABLED", "0"), "settings", "warning",
        "Rules are off: SISYPHUS_RULES_ENABLED", "run `unset SISYPHUS_RULES_ENABLED`",
    ),
    "everything is off": (
        variable("SISYPHUS_DISABLE", "1"), "settings", "problem", "Everything is off",
        "`unset SISYPHUS_DISABLE`",
    ),
    "a misspelt variable": (
        variable("SISYPHUS_RULE_ENABLED", "0"), "settings", "warning", "SISYPHUS_RULE_ENABLED",
        "Do you mean SISYPHUS_RULES_ENABLED?",
    ),
    "a state file of another program": (
        writes(".claude/.sisyphus/ralph/loops/ralph-loop.s1.local.md", "---\nloop_id: a\n---\n"),
        "loops", "warning", "no loop of ours has this state file", "`sisyphus ralph start`",
    ),
    "no home": (variable("HOME", ""), "home folder", "problem", "no home folder", "Set HOME"),
    "a home in the project": (
        lambda world: world.setenv("CLAUDE_CONFIG_DIR", str(world.project / "x")), "home folder",
        "problem", "inside the project", "Set CLAUDE_CONFIG_DIR",
    ),
    "a home that is a file": (
        lambda world: world.setenv("CLAUDE_CONFIG_DIR", str(world.write("../file"))),
        "home folder", "problem", "is not a folder", "`mv ",
    ),
    "a repository without git": (
        a_repository_without_git, "project", "warning", "there is no `git` on the PATH",
        "Install it",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_named_with_its_mend(whole: World, name: str) -> None:
    breaks, subject, level, text, mend = BROKEN[name]
    breaks(whole)
    before = tree(whole.root)

    found = bad(whole)

    assert tree(whole.root) == before
    matching = [
        each
        for each in found
        if (each.subject, each.level) == (subject, level) and text in each.text
    ]
    assert matching, found
    assert mend in matching[0].mend
    assert all(each.mend for each in found)
    assert all(text.isprintable() for each in found for text in (each.text, each.mend))


def test_a_home_that_cannot_be_used_is_the_first_problem(world: World) -> None:
    """`sisyphus install`, which the other one wants, fails until it can."""
    world.setenv("CLAUDE_CONFIG_DIR", str(world.write("../file")))
    put_client(world, "claude", "2.1.329 (Claude Code)")
    world.setenv("PATH", f"{bin_folder(world)}{os.pathsep}{os.environ['PATH']}")

    assert [each.subject for each in bad(world)] == ["home folder", "hooks"]


@pytest.mark.parametrize(
    "name",
    [
        "an event is missing", "the program is gone", "another program", "another timeout",
        "wired twice", "a slash command is gone", "rules arrive twice",
        "rules arrive twice in a project", "a command of OpenCode is gone",
    ],
)  # fmt: skip
def test_the_mend_mends_it(whole: World, name: str) -> None:
    BROKEN[name][0](whole)
    mend = bad(whole)[0].mend

    answer = whole.cli(*mend.split("`")[1].split()[1:], "--yes")

    assert answer.code == 0, answer
    assert bad(whole) == []


def drop_an_event(world: World, file: Path) -> None:
    settings = json.loads(file.read_text())
    del settings["hooks"]["Stop"]
    file.write_text(json.dumps(settings))


def drop_a_command(world: World, file: Path) -> None:
    (file.parents[1] / "command" / "enforce.md").unlink()


@pytest.mark.parametrize("scope", ["user", "local", "project"])
@pytest.mark.parametrize(
    ("client", "breaks"),
    [
        ("claude-code", drop_an_event),
        ("claude-code", lambda _, file: replace(file, start_in(file), "/gone/sisyphus")),
        ("claude-code", lambda _, file: (file.parent / "commands" / "ralph.md").unlink()),
        ("opencode", drop_a_command),
    ],
)
def test_the_mend_mends_it_in_each_scope(
    whole: World, scope: str, client: str, breaks: Callable[[World, Path], object]
) -> None:
    file = install_in(whole, scope, client)
    before = content(file)
    breaks(whole, file)
    mend = bad(whole)[0].mend

    answer = whole.cli(*mend.split("`")[1].split()[1:], "--yes")

    assert answer.code == 0, answer
    assert bad(whole) == []
    assert content(file) == before


def content(file: Path) -> object:
    """What a file says; in JSON the order does not count."""
    return json.loads(file.read_text()) if file.suffix == ".json" else file.read_text()


def install_in(world: World, scope: str, client: str) -> Path:
    """Installs there alone, as git sees it after a commit; returns the file that starts us."""
    world.cli("uninstall", "--yes")
    shutil.rmtree(world.project / ".git")
    subprocess.run(["git", "init", "-q", world.project], check=True)
    assert world.cli("install", "--yes", "--scope", scope).code == 0
    subprocess.run(["git", "-C", world.project, "add", "-A"], check=True)
    if client == "opencode":
        folder = world.home / ".config/opencode" if scope == "user" else world.project / ".opencode"
        return folder / "plugins" / "sisyphus.js"
    if scope == "user":
        return user_file(world)
    name = "settings.json" if scope == "project" else "settings.local.json"
    return world.project / ".claude" / name


def start_in(file: Path) -> str:
    """The words that start us in a settings file."""
    line: str = json.loads(file.read_text())["statusLine"]["command"]
    return line.removesuffix(" statusline")


def test_where_the_shared_name_is_not_on_the_path_the_mend_is_the_path(whole: World) -> None:
    """`install` writes the bare name there, and would change nothing."""
    install_in(whole, "project", "claude-code")
    whole.setenv("PATH", os.pathsep.join([str(bin_folder(whole)), "/usr/bin", "/bin"]))

    found = bad(whole)

    assert {each.subject for each in found} == {"Claude Code hooks", "OpenCode plugin"}
    for each in found:
        assert "starts sisyphus, and there is no such program" in each.text
        assert "`uv tool update-shell`" in each.mend
        assert "sisyphus install" not in each.mend


@pytest.mark.parametrize("client", ["claude-code", "opencode"])
def test_what_others_have_is_no_concern_of_who_lacks_the_client(whole: World, client: str) -> None:
    """To take it out would take it from everybody who has the project."""
    install_in(whole, "project", client)
    (bin_folder(whole) / client.removesuffix("-code")).unlink()

    assert bad(whole) == []
    assert "What wires it is for those who have it." in whole.cli("doctor", "-v").out


@pytest.mark.parametrize("scope", ["user", "local"])
@pytest.mark.parametrize("client", ["claude-code", "opencode"])
def test_a_client_that_is_gone_is_uninstalled_where_it_is_wired(
    whole: World, scope: str, client: str
) -> None:
    file = install_in(whole, scope, client)
    (bin_folder(whole) / client.removesuffix("-code")).unlink()
    [finding] = bad(whole)

    answer = whole.cli(*finding.mend.split("`")[1].split()[1:], "--yes")

    assert answer.code == 0, answer
    assert "Nothing to remove" not in answer.out
    assert not file.exists() or "sisyphus" not in file.read_text()


def test_a_missing_home_is_said_once(whole: World) -> None:
    whole.setenv("HOME", "")

    out = whole.cli("doctor", "-v").out

    assert out.count("no home folder") == 1
    assert "/dev/null" not in out
    assert ".sisyphus" not in out


def test_a_world_without_any_client(world: World) -> None:
    found = bad(world)

    assert [(each.subject, each.level) for each in found] == [("hooks", "problem")]
    assert "`sisyphus install`" in found[0].mend
    assert not world.claude.exists()


def test_the_mend_of_a_damaged_database_mends_it(whole: World) -> None:
    damaged_database(whole)
    mend = bad(whole)[0].mend

    subprocess.run(mend.split("`")[1], shell=True, check=True)
    whole.start()

    assert bad(whole) == []


def test_a_file_that_goes_while_it_looks_is_no_failure(
    whole: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = os.listdir

    def with_gone(folder: str) -> list[str]:
        return [*listed(folder), *(["gone.tmp"] if folder == str(whole.ours) else [])]

    monkeypatch.setattr(os, "listdir", with_gone)

    assert bad(whole) == []


@pytest.mark.parametrize("is_torn", [False, True])
def test_a_database_that_a_hook_closes_while_it_looks_is_no_failure(
    whole: World, monkeypatch: pytest.MonkeyPatch, is_torn: bool
) -> None:
    """The last one to close it moves what is in the log into it. is_torn: the copy of the database
    itself was made meanwhile, so it is made anew, and the log of before must not stay with it."""
    file = whole.ours / "sisyphus.db"
    hook = sqlite3.connect(file)
    hook.execute("INSERT INTO notice VALUES ('in the log')")
    hook.commit()
    assert Path(f"{file}-wal").stat().st_size
    copyfile = shutil.copyfile

    def copy(source: str, target: str) -> None:
        if is_torn:
            copyfile(source, target)
        if source.endswith("-wal"):
            hook.close()
            with closing(sqlite3.connect(file)) as another:
                another.execute("UPDATE notice SET text = 'later'")
                another.commit()
        if not is_torn:
            copyfile(source, target)
        elif Path(f"{file}-wal").exists():
            Path(target).write_bytes(b"SQLite format 3\0" * 300)

    monkeypatch.setattr(shutil, "copyfile", copy)

    with database.copy(str(whole.ours)) as found:
        assert found.state == database.State(VERSION)
        assert found.store.all("SELECT text FROM notice") == [("later",)]


def test_a_path_with_blanks_is_a_word_of_the_command(whole: World) -> None:
    whole.setenv("CLAUDE_CONFIG_DIR", str(whole.write("../a b's", "x")))

    mend = bad(whole)[-1].mend.split("`")[1]

    assert shlex.split(mend) == ["mv", f"{whole.root}/a b's", f"{whole.root}/a b's.old"]


def test_hooks_that_act_without_settings_come_from_plugin_dir(whole: World) -> None:
    whole.cli("uninstall", "--yes")
    whole.write("README.md", "# Shop\n")
    whole.start()

    found = bad(whole)

    assert [(each.subject, each.level) for each in found] == [("hooks", "warning")]
    assert "--plugin-dir" in found[0].text


def test_an_organisation_can_switch_hooks_off(whole: World) -> None:
    managed = whole.root / "managed"
    change(managed / "managed-settings.d" / "10.json", allowManagedHooksOnly=True)
    place = plugin.installation(str(whole.claude), str(whole.project))

    files = wiring.read(place, str(managed))
    found = [each for each in wiring.look(place, files) if each.level is Level.PROBLEM]

    assert len(found) == 1
    assert "allowManagedHooksOnly: your hooks do not run" in found[0].text


def test_a_program_of_the_project_is_not_run(whole: World) -> None:
    mark = whole.root / "mark"
    for name in ("claude", "opencode", "sisyphus"):
        put_program(whole.project / "bin" / name, f"touch {mark}")
    whole.setenv("PATH", f"{whole.project / 'bin'}{os.pathsep}{os.environ['PATH']}")

    findings(whole)

    assert not mark.exists()


# ---------------------------------------------------------------- whatever the files hold


HOSTILE: dict[str, Json] = {
    "control characters": {
        "statusLine": {"command": "\x1b[31m\x07red"}, "env": {"CLAUDE_CONFIG_DIR": "\0\x1b[2J"},
        "enabledPlugins": {"ralph-loop@\x1b]0;x\x07`id`": True},
    },
    "half a surrogate pair": {"env": {"CLAUDE_CONFIG_DIR": "\ud800"}, "statusLine": "\udfff"},
    "wrong types": {
        "statusLine": 7, "env": ["x"], "enabledPlugins": "sisyphus@x", "disableAllHooks": "yes",
        "claudeMdExcludes": [1, None], "hooks": {"Stop": [{"hooks": 1, "matcher": []}, 2, None]},
    },
    "a list that is none": {"hooks": {"Stop": {"a": 1}}, "claudeMdExcludes": "x"},
    "commands of a wrong type": {
        "hooks": {"Stop": [{"hooks": [{"command": 1}, {"command": "sisyphus 'hook"}, "x"]}]},
    },
    "hooks that look like ours": {
        "hooks": {
            "Stop\x1b": [
                {"matcher": ["a"], "hooks": [{"command": "/tmp/\x07/sisyphus hook \x1b[2J"}]},
                {"hooks": [{"command": "sisyphus hook"}, {"command": "sisyphus\thook\tstop"}]},
            ],
        },
    },
    "huge": {"statusLine": {"command": "x" * 900_000}},
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("file", [".claude/settings.json", ".claude/settings.local.json"])
def test_hostile_settings_of_a_project(whole: World, name: str, file: str) -> None:
    change(whole.project / file, **HOSTILE[name])

    answer = whole.cli("doctor", "-v")

    assert answer.err == ""
    assert all(line.isprintable() for line in answer.out.splitlines())
    assert max(map(len, answer.out.splitlines())) < 1_000
    assert whole.log() == ""


@pytest.mark.parametrize("depth", [500, 100_000])
def test_settings_that_are_nested_too_deeply(whole: World, depth: int) -> None:
    text = '{"x": ' + "[" * depth + "]" * depth + "}"
    whole.write(".claude/settings.json", text)

    answer = whole.cli("doctor")

    assert answer.code == 1
    assert "settings.json cannot be used" in answer.out


def test_settings_that_are_no_file(whole: World) -> None:
    (whole.project / ".claude").mkdir()
    os.mkfifo(whole.project / ".claude" / "settings.json")

    assert "it is not a regular file" in whole.cli("doctor").out


# ---------------------------------------------------------------- how it speaks


def test_problems_come_first_and_are_counted(whole: World) -> None:
    put_client(whole, "claude", "2.0.9")
    change(user_file(whole), disableAllHooks=True)

    answer = whole.cli("doctor")

    lines = answer.out.splitlines()
    assert lines[0].startswith("✗ Claude Code settings: ")
    assert lines[1].startswith("    Take disableAllHooks out")
    assert lines[2].startswith("! Claude Code: 2.0.9")
    assert lines[-1].startswith("1 problem and 1 warning.")
    assert answer.code == 1


def test_warnings_alone_exit_with_0(whole: World) -> None:
    put_client(whole, "claude", "2.0.9")

    assert whole.cli("doctor").code == 0


def test_another_project_is_looked_at(whole: World) -> None:
    other = whole.new_project("other")
    change(other / ".claude" / "settings.json", disableAllHooks=True)

    assert bad(whole) == []
    assert len(bad(whole, "--project", str(other))) == 1
    assert whole.cli("doctor", "--project", "/gone").code == 2


def test_each_client_has_a_wiring() -> None:
    assert tuple(map(clients.wiring, clients.NAMES)) == WIRINGS


# ---------------------------------------------------------------- compiled files


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Our package as an installer leaves it that compiles nothing."""
    folder = tmp_path / "sisyphus"
    source = Path(bytecode.PACKAGE)
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for function in (bytecode.is_missing, bytecode.make):
        monkeypatch.setattr(function, "__defaults__", (str(folder),))
    return folder


@pytest.mark.parametrize("state", ["missing", "old"])
def test_a_program_that_is_compiled_at_each_hook_is_named(
    world: World, package: Path, state: str
) -> None:
    if state == "old":
        bytecode.make()
        os.utime(package / "door" / "door.py", (1, 1))

    out = world.cli("doctor", "-v").out

    assert "Python compiles sisyphus anew at each hook" in out
    assert "-m compileall -q" in out


def test_install_compiles_it(world: World, package: Path) -> None:
    assert bytecode.is_missing()

    world.cli("install", "--yes")

    assert not bytecode.is_missing()
    assert list((package / "door" / "__pycache__").glob("door.*.pyc"))
    assert "anew at each hook" not in world.cli("doctor", "-v").out


def test_what_cannot_be_compiled_keeps_nobody_from_installing(world: World, package: Path) -> None:
    (package / "door" / "__pycache__").write_text("in its way")

    answer = world.cli("install", "--yes")

    assert answer.code == 0
    assert bytecode.is_missing()


OFFERED = ["CronCreate", "TaskCreate", "TaskStop"]
"""What Claude Code 2.1.329 offers to Haiku 4.5, shortened."""


@pytest.mark.parametrize(
    ("record", "says"),
    [
        ({"type": "deferred_tools_delta", "addedNames": OFFERED}, "a todo list besides the plan"),
        ({"type": "deferred_tools_delta", "addedNames": OFFERED[::2]}, "no todo list"),
        ({"type": "deferred_tools_delta", "addedNames": None}, ""),
        ({"type": "model"}, ""),
    ],
)
def test_whether_the_model_had_a_todo_list(world: World, record: Json, says: str) -> None:
    line = json.dumps({"type": "attachment", "attachment": record})
    world.transcript().write_text(f"{line}\n")
    world.start()
    found = world.cli("doctor", "-v").out
    assert ("todo list" in found) == bool(says)
    assert says in found
