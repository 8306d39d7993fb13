"""`install` and `uninstall` for OpenCode: a plugin and slash commands in its folders."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from world import World

from sisyphus.clients import entry

ISOLATED = ("-I", "-m", "sisyphus")
COMMANDS = {file.name for file in (Path(__file__).parents[1] / "commands").glob("*.md")}


@pytest.fixture
def config(world: World) -> Path:
    """OpenCode's folder of a user who has it."""
    folder = world.home / ".config" / "opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.json").write_text("{}\n")
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    """Every file and folder below one, except our own state."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
        if ".sisyphus" not in path.parts
    }


def git(world: World, *words: str) -> str:
    command = ["git", "-C", str(world.project), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def lose_database(world: World) -> None:
    for file in world.ours.glob("sisyphus.db*"):
        file.unlink()


# ---------------------------------------------------------------- what is there


def test_both_clients_are_wired(world: World, config: Path) -> None:
    world.has_claude_code()
    answer = world.cli("install", "--yes")

    assert answer.code == 0, answer
    assert "Every session of Claude Code and OpenCode" in answer.out
    assert "npm registry" in answer.out
    assert (world.claude / "settings.json").exists()
    assert set(os.listdir(config / "command")) == COMMANDS
    assert os.listdir(config / "plugins") == ["sisyphus.js"]


def test_the_plugin_names_its_commands_and_its_program(world: World, config: Path) -> None:
    world.cli("install", "--yes")

    text = (config / "plugins" / "sisyphus.js").read_text()
    names = re.search(r"^const COMMANDS = new Set\((.*)\)$", text, re.MULTILINE)
    assert names
    assert {f"{name}.md" for name in json.loads(names[1])} == COMMANDS
    assert f"= {json.dumps([sys.executable, *ISOLATED])}\n" in text
    assert json.dumps(entry.CLEARED)[1:-1] in text


def test_commands_have_the_frontmatter_that_opencode_knows(world: World, config: Path) -> None:
    world.cli("install", "--yes")

    text = (config / "command" / "ralph-loop.md").read_text()
    assert text.startswith(
        "---\ndescription: Keep working on a task until it is done\nauthor: sisyphus\n---\n\nWork"
    )
    assert text.endswith("\n$ARGUMENTS\n")
    for file in (config / "command").iterdir():
        keys = re.findall(r"^(\S+):", file.read_text().split("---")[1], re.MULTILINE)
        assert keys == ["description", "author"], file


def test_it_follows_xdg(world: World) -> None:
    folder = world.root / "xdg" / "opencode"
    folder.mkdir(parents=True)
    world.setenv("XDG_CONFIG_HOME", str(folder.parent))

    world.cli("install", "--yes")

    assert (folder / "plugins" / "sisyphus.js").exists()
    assert not (world.home / ".config").exists()


def test_without_opencode_nothing_is_written_for_it(world: World) -> None:
    answer = world.cli("install", "--yes")

    assert "OpenCode" not in answer.out
    assert not (world.home / ".config").exists()


def test_opencode_on_the_path_is_enough(world: World) -> None:
    program = world.write(world.root / "bin" / "opencode")
    program.chmod(0o755)
    world.setenv("PATH", f"{program.parent}:/usr/bin:/bin")

    world.cli("install", "--yes")

    assert (world.home / ".config" / "opencode" / "plugins" / "sisyphus.js").exists()


@pytest.mark.parametrize(("client", "has_claude"), [("opencode", False), ("claude-code", True)])
def test_one_client_alone(world: World, config: Path, client: str, has_claude: bool) -> None:
    before = tree(world.home)

    world.cli("install", "--yes", "--client", client)

    assert (world.claude / "settings.json").exists() is has_claude
    assert (config / "plugins").exists() is not has_claude
    world.cli("uninstall", "--yes", "--client", client)
    assert set(tree(world.home)) - set(before) == {".claude"}


def test_uninstall_of_one_client_leaves_the_other(world: World, config: Path) -> None:
    world.has_claude_code()
    world.cli("install", "--yes")

    world.cli("uninstall", "--yes", "--client", "opencode")

    assert sorted(os.listdir(config)) == ["opencode.json"]
    assert "hooks" in json.loads((world.claude / "settings.json").read_text())


# ---------------------------------------------------------------- the same guarantees


def test_uninstall_gives_everything_back(world: World, config: Path) -> None:
    world.write(config / "command" / "mine.md", "mine\n")
    before = tree(config)

    world.cli("install", "--yes")
    world.cli("uninstall", "--yes")

    assert tree(config) == before
    assert "Nothing to remove" in world.cli("uninstall").out


def test_uninstall_works_without_a_record(world: World, config: Path) -> None:
    before = tree(config)
    world.cli("install", "--yes")
    lose_database(world)

    world.cli("uninstall", "--yes")

    assert tree(config) == before


def test_a_second_install_changes_nothing(world: World, config: Path) -> None:
    world.cli("install", "--yes")
    before = tree(world.home)

    assert "Nothing to do" in world.cli("install").out
    assert tree(world.home) == before


def test_an_older_copy_of_ours_is_replaced(world: World, config: Path) -> None:
    """It starts another program."""
    world.cli("install", "--yes")
    tools = world.root / "tools"
    tools.symlink_to(sys.prefix)
    program = [f"{tools}/bin/python", "-m", "sisyphus", "install", "--yes"]

    answer = subprocess.check_output(program, text=True)

    assert "plugins: sisyphus.js" in answer
    text = (config / "plugins" / "sisyphus.js").read_text()
    assert f"= {json.dumps([f'{tools}/bin/python', *ISOLATED])}\n" in text


def test_a_plugin_that_no_record_knows(world: World, config: Path) -> None:
    world.cli("install", "--yes")
    plugin = config / "plugins" / "sisyphus.js"
    new = plugin.read_text()
    plugin.write_text(f"{new}// older\n")
    lose_database(world)

    assert "a plugin of another version of sisyphus" in world.cli("uninstall", "--yes").out
    assert plugin.read_text() == f"{new}// older\n"
    world.cli("install", "--yes")
    assert plugin.read_text() == new


def test_a_dry_run_names_every_file_and_writes_none(world: World, config: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in world.root.rglob("*")}

    output = world.cli("install", "--dry-run").out

    assert "~/.config/opencode/plugins: sisyphus.js" in output
    assert "~/.config/opencode/command: boulder-clear.md" in output
    assert {path: path.stat().st_mtime_ns for path in world.root.rglob("*")} == before


@pytest.mark.parametrize("name", ["plugins/sisyphus.js", "command/checkpoint.md"])
def test_a_users_own_file_stays(world: World, config: Path, name: str) -> None:
    own = world.write(config / name, "mine\n")

    answer = world.cli("install", "--yes")

    assert f"~/.config/opencode/{name} is your own file" in answer.out
    world.cli("uninstall", "--yes")
    assert own.read_text() == "mine\n"


def test_a_command_in_the_other_folder_stays_the_users(world: World, config: Path) -> None:
    world.write(config / "commands" / "checkpoint.md", "mine\n")

    world.cli("install", "--yes")

    assert set(os.listdir(config / "command")) == COMMANDS - {"checkpoint.md"}
    assert "Nothing to do" in world.cli("install").out
    world.cli("uninstall", "--yes")
    assert os.listdir(config / "commands") == ["checkpoint.md"]


def test_an_edited_copy_stays(world: World, config: Path) -> None:
    world.cli("install", "--yes")
    plugin = config / "plugins" / "sisyphus.js"
    plugin.write_text("edited\n")

    answer = world.cli("uninstall", "--yes")

    assert "sisyphus.js has been edited" in answer.out
    assert tree(config) == {
        "opencode.json": b"{}\n",
        "plugins": b"",
        "plugins/sisyphus.js": b"edited\n",
    }


def test_links_stay_links(world: World, config: Path) -> None:
    target = world.root / "dotfiles"
    target.mkdir()
    (config / "plugins").symlink_to(target)

    world.cli("install", "--yes")
    assert (target / "sisyphus.js").exists()
    world.cli("uninstall", "--yes")

    assert (config / "plugins").readlink() == target
    assert os.listdir(target) == []


def test_a_read_only_folder_stops_everything(world: World, config: Path) -> None:
    config.chmod(0o555)

    answer = world.cli("install", "--yes")
    config.chmod(0o755)

    assert answer.code == 1
    assert "opencode cannot be written: it is read-only" in answer.err
    assert not (world.claude / "settings.json").exists()


def test_the_model_may_not_uninstall(world: World, config: Path) -> None:
    world.cli("install", "--yes")
    world.setenv("SISYPHUS_SESSION_ID", "ses_1")

    answer = world.cli("uninstall", "--yes")

    assert "another terminal" in answer.err
    assert (config / "plugins" / "sisyphus.js").exists()


# ---------------------------------------------------------------- one project


def test_a_project_alone_and_git_sees_nothing(world: World, config: Path) -> None:
    shutil.rmtree(world.project / ".git")
    git(world, "init", "-q")
    exclude = world.project / ".git" / "info" / "exclude"
    exclude.write_text("*.log\n")
    before = tree(world.project)

    answer = world.cli("install", "--scope", "local", "--yes")

    assert answer.code == 0, answer
    assert (world.project / ".opencode" / "plugins" / "sisyphus.js").exists()
    assert sorted(os.listdir(config)) == ["opencode.json"]
    assert git(world, "status", "--porcelain", "-uall") == ""
    assert "Nothing to do" in world.cli("install", "--scope", "local").out
    world.cli("uninstall", "--scope", "local", "--yes", "--client", "claude-code")
    assert git(world, "status", "--porcelain", "-uall") == ""
    world.cli("uninstall", "--scope", "local", "--yes")
    assert tree(world.project) == before


def test_a_plugin_is_taken_out_when_opencode_is_gone(world: World) -> None:
    world.cli("install", "--scope", "local", "--yes", "--client", "opencode")
    assert (world.project / ".opencode" / "plugins" / "sisyphus.js").exists()

    world.cli("uninstall", "--scope", "local", "--yes")

    assert not (world.project / ".opencode").exists()


def test_a_link_out_of_the_project_is_not_followed(world: World, config: Path) -> None:
    (world.root / "other").mkdir()
    (world.project / ".opencode").symlink_to(world.root / "other")

    answer = world.cli("install", "--scope", "local", "--yes")

    assert "leads out of the project" in answer.err
    assert os.listdir(world.root / "other") == []


# ---------------------------------------------------------------- status


def test_status_names_the_plugin(world: World, config: Path) -> None:
    assert world.cli("status", "--json").json["wiring"]["clients"]["opencode"]["sources"] == []
    world.cli("install", "--yes", "--client", "opencode")
    plugin = config / "plugins" / "sisyphus.js"

    (found,) = world.cli("status", "--json").json["wiring"]["clients"]["opencode"]["sources"]
    shown = world.cli("status").out

    assert (found["file"], found["is_current"]) == (str(plugin), True)
    assert "OpenCode is wired by ~/.config/opencode/plugins/sisyphus.js." in shown
    assert "No client is wired" not in shown
    plugin.write_text(plugin.read_text() + "// old\n")
    assert "run `sisyphus install --client opencode`." in world.cli("status").out
    plugin.write_text("mine\n")
    assert world.cli("status", "--json").json["wiring"]["clients"]["opencode"]["sources"] == []


# ---------------------------------------------------------------- slash commands


@pytest.mark.parametrize("folder", ["command", "commands"])
@pytest.mark.parametrize("place", ["user", "project"])
def test_a_users_own_command_of_that_name_starts_no_loop(
    world: World, config: Path, place: str, folder: str
) -> None:
    world.cli("install", "--yes")
    home = config if place == "user" else world.project / ".opencode"
    own = world.write(home / folder / "ralph-loop.md", "mine\n")
    payload = {"session": "ses_1", "cwd": str(world.project), "transcript": "", "source": "startup"}
    world.hook("session-start", payload, "--client", "opencode")
    prompt = payload | {"prompt": '/ralph-loop "Fix it." --completion-promise DONE'}

    world.hook("user-prompt-submit", prompt, "--client", "opencode")

    assert world.loops() == []
    own.unlink()
    world.cli("install", "--yes")
    world.hook("user-prompt-submit", prompt, "--client", "opencode")
    assert len(world.loops()) == 1


def test_uninstall_of_one_client_names_the_other(world: World) -> None:
    world.has_claude_code()
    (world.home / ".config" / "opencode").mkdir(parents=True)
    world.cli("install", "--yes")

    out = world.cli("uninstall", "--client", "opencode", "--yes").out

    assert "in Claude Code: `sisyphus uninstall --client claude-code`." in out
    assert "also installed" not in world.cli("uninstall", "--yes").out
