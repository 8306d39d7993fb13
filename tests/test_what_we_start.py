"""What we start in a stranger's repository: git and other programs, and our own Python. Each attack
would leave a file beside the project."""

from __future__ import annotations

import os
import pty
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from patience import wait_for
from test_notify import arrived, inbox
from test_run import ALL, PLAN, Runs, done, runs
from world import SISYPHUS, World, begin_git

from sisyphus.ground import executables

__all__ = ["inbox", "runs"]

CLEAN = [["say", "<audit>complete</audit>"]]
IDENTITY = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "protocol.file.allow=always"]
REAL_GIT = shutil.which("git") or "git"


def pwned(world: World) -> Path:
    return world.root / "PWNED"


def attack(world: World) -> str:
    """A command that leaves a file, and passes its input on."""
    return f"touch {shlex.quote(str(pwned(world)))}; cat"


def program(world: World, path: Path | str, then: str = "") -> Path:
    """A program that leaves a file."""
    file = world.write(path, f"#!/bin/sh\ntouch {shlex.quote(str(pwned(world)))}\n{then}\n")
    file.chmod(0o755)
    return file


def git(folder: Path, *words: str | Path) -> str:
    command = [REAL_GIT, *IDENTITY, *words]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def commit(folder: Path) -> None:
    if (folder / ".git").is_dir() and os.listdir(folder / ".git") == ["config"]:
        shutil.rmtree(folder / ".git")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")


def touch(path: Path) -> None:
    """Gives a file another time, so that git has to compare its content."""
    os.utime(path, (1_000_000_000, 1_000_000_000))


# ---------------------------------------------------------------- what git is told in `.git/config`


def filters(name: str, key: str = "clean", place: str = "--local") -> Callable[[World], None]:
    def prepare(world: World) -> None:
        world.write(".git/info/attributes", b"a.txt filter=" + os.fsencode(name) + b"\n")
        if place == "--worktree":
            git(world.project, "config", "extensions.worktreeConfig", "true")
        git(world.project, "config", place, f"filter.{name}.{key}", attack(world))

    return prepare


def included_filter(world: World) -> None:
    filters("evil")(world)
    (world.project / ".git/config").rename(world.project / ".git/more")
    world.write(".git/config", "[core]\n\trepositoryformatversion = 0\n[include]\n\tpath = more\n")


def setting(*pairs: str) -> Callable[[World], None]:
    """pairs: keys of `.git/config` whose value is the attack, or "key=value"."""

    def prepare(world: World) -> None:
        world.write(".git/info/attributes", "*.txt diff=evil\n")
        for each in pairs:
            key, _, value = each.partition("=")
            git(world.project, "config", key, value or attack(world))

    return prepare


def hooks(folder: str) -> Callable[[World], None]:
    def prepare(world: World) -> None:
        program(world, f".git/{folder}/post-index-change")
        git(world.project, "config", "core.hooksPath", f".git/{folder}")

    return prepare


def submodule(world: World) -> Path:
    """A submodule with commands of its own, at the commit that the project knows."""
    inner = world.root / "inner"
    inner.mkdir()
    (inner / "b.txt").write_text("b\n")
    commit(inner)
    git(world.project, "submodule", "add", "-q", inner, "sub")
    git(world.project, "commit", "-qam", "sub")
    sub = world.project / "sub"
    for key in ("filter.evil.clean", "core.fsmonitor", "diff.external"):
        git(sub, "config", key, attack(world))
    (world.project / ".git/modules/sub/info/attributes").write_text("* filter=evil\n")
    git(world.project, "config", "diff.ignoreSubmodules", "none")
    git(world.project, "config", "diff.submodule", "diff")
    touch(sub / "b.txt")
    return sub


def filter_of_lfs(world: World) -> None:
    """The user has `git-lfs`, which runs the programs that the repository's config names to it."""
    script = '#!/bin/sh\nx=$(git config lfs.extension.evil.clean)\nsh -c "$x" >&2; cat\n'
    lfs = world.write(world.home / "bin/git-lfs", script)
    lfs.chmod(0o755)
    world.setenv("PATH", f"{lfs.parent}{os.pathsep}{os.environ['PATH']}")
    git(world.project, "config", "--global", "filter.lfs.clean", "git-lfs clean -- %f")
    git(world.project, "config", "lfs.extension.evil.clean", attack(world))
    world.write(".git/info/attributes", "a.txt filter=lfs\n")


def projects_own_lfs(world: World) -> None:
    """The user's filter is a program without a path, and the project is on the PATH."""
    folder = program(world, "bin/git-lfs", "cat").parent
    world.write(".git/info/exclude", "bin\n")
    world.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    git(world.project, "config", "--global", "filter.lfs.clean", "git-lfs clean -- %f")
    world.write(".git/info/attributes", "a.txt filter=lfs\n")


def users_config_in_the_project(world: World) -> None:
    world.write(".cfg/git/config", f'[filter "evil"]\n\tclean = "{attack(world)}"\n')
    world.write(".git/info/attributes", "a.txt filter=evil\n")
    world.write(".git/info/exclude", ".cfg\n")
    world.setenv("XDG_CONFIG_HOME", str(world.project / ".cfg"))


def variable(name: str, value: str) -> Callable[[World], None]:
    """value: `PWNED` in it is the file of the attack."""

    def prepare(world: World) -> None:
        world.write(".git/info/attributes", "a.txt filter=evil\n")
        world.setenv("GIT_CONFIG_KEY_0", "filter.evil.clean")
        world.setenv("GIT_CONFIG_VALUE_0", attack(world))
        world.setenv(name, value.replace("PWNED", str(pwned(world))))

    return prepare


REPOSITORIES = {
    "a filter": filters("evil"),
    "a process as filter": filters("evil", "process"),
    "a filter of the work tree": filters("evil", place="--worktree"),
    "a filter in another file": included_filter,
    "a file monitor": setting("core.fsmonitor"),
    "hooks": hooks("hooks"),
    "hooks elsewhere": hooks("more"),
    "another diff": setting("diff.external"),
    "a diff by attribute": setting("diff.evil.command"),
    "a converter to text": setting("diff.evil.textconv"),
    "a pager": setting("core.pager", "pager.log=true", "pager.diff=true", "pager.status=true"),
    "a submodule": submodule,
    "a filter of git-lfs": filter_of_lfs,
    "git-lfs of the project": projects_own_lfs,
    "a config in the project": users_config_in_the_project,
    "config by variables": variable("GIT_CONFIG_COUNT", "1"),
    "a trace": variable("GIT_TRACE", "PWNED"),
    "another program for diffs": variable("GIT_EXTERNAL_DIFF", "touch PWNED; :"),
}


@pytest.mark.parametrize("name", REPOSITORIES)
def test_a_run_starts_nothing_that_the_repository_names(runs: Runs, name: str) -> None:
    world = runs.world
    world.write("a.txt")
    world.write("b.txt")
    runs.git()
    REPOSITORIES[name](world)
    touch(world.project / "a.txt")
    touch(world.project / "b.txt")  # stays as it is: only its time differs, which git would note
    first = [["run", "echo more >> a.txt"], *done("cart")]

    answer = runs.run("--audit", "1", processes=[first, *ALL[1:], CLEAN])

    assert not pwned(world).exists()
    assert answer.code == 0, answer
    assert "+more" in runs.prompts[-1], "the auditor gets the difference"


@pytest.mark.parametrize("name", ["e=vil", "\udcff"])
def test_a_filter_whose_name_cannot_be_given_is_no_clean_tree(runs: Runs, name: str) -> None:
    runs.world.write("a.txt")
    runs.git()
    filters(name)(runs.world)
    touch(runs.world.project / "a.txt")

    answer = runs.run(processes=ALL)

    assert "git does not say which files are committed" in answer.err
    assert not pwned(runs.world).exists()


def test_a_submodule_that_moves_is_compared_without_its_own_commands(runs: Runs) -> None:
    world = runs.world
    runs.git()
    sub = submodule(world)
    other = git(sub, "commit-tree", "-m", "x", "-p", "HEAD", "HEAD^{tree}").strip()
    move = [["run", f"git -C {sub} update-ref HEAD {other}"], *done("cart")]

    answer = runs.run("--audit", "1", processes=[move, *ALL[1:], CLEAN])

    assert answer.code == 0, answer
    assert "+Subproject commit" in runs.prompts[-1]
    assert not pwned(world).exists()


def test_the_report_of_a_run_checks_no_signatures(runs: Runs) -> None:
    world = runs.world
    runs.git()
    signs = (
        'case "$*" in *--verify*) touch "$0.PWNED";; esac\ncat > /dev/null\n'
        "echo '[GNUPG:] SIG_CREATED ' >&2\n"
        "echo '-----BEGIN PGP SIGNATURE-----\n\nx\n-----END PGP SIGNATURE-----'\n"
    )
    gpg = world.write(world.root / "gpg", f"#!/bin/sh\n{signs}")
    gpg.chmod(0o755)
    git(world.project, "config", "gpg.program", gpg)
    git(world.project, "config", "log.showSignature", "true")
    signed = " ".join(["git", *IDENTITY, "commit", "-q", "-S", "-m", "Signed", "--allow-empty"])

    answer = runs.run(processes=[[["run", signed], *done("cart")], *ALL[1:]])

    assert "Signed" in answer.out
    assert not gpg.with_name("gpg.PWNED").exists()


def test_a_filter_of_the_user_runs(runs: Runs) -> None:
    """`git-lfs`: without it every file of it would look changed. A repository that names another
    command for it gets the user's."""
    world = runs.world
    git(world.project, "config", "--global", "filter.mine.clean", "tr a-z A-Z")
    world.write(".gitattributes", "a.txt filter=mine\n")
    world.write("a.txt")
    runs.git()
    git(world.project, "config", "filter.mine.clean", attack(world))
    touch(world.project / "a.txt")

    assert runs.run(processes=ALL).code == 0
    assert not pwned(world).exists()


# ---------------------------------------------------------------- what is not there is not fetched


def partial_clone(world: World, url: str) -> None:
    """A sparse index whose other folder is missing. To list the files, git wants to fetch it."""
    world.write("a/a.txt")
    world.write("b/b.txt")
    world.write("PLAN.md", "# Kiln\n\n- [ ] fire\n")
    commit(world.project)
    git(world.project, "sparse-checkout", "set", "--cone", "--sparse-index", "a")
    tree = git(world.project, "rev-parse", "HEAD:b").strip()
    (world.project / ".git/objects" / tree[:2] / tree[2:]).unlink()
    for name, each in (
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "evil"),
        ("remote.evil.promisor", "true"),
        ("remote.evil.url", url.replace("ATTACK", str(program(world, world.root / "attack")))),
        ("core.sshCommand", f"{attack(world)} #"),
        ("remote.evil.uploadpack", f"{attack(world)} #"),
        ("protocol.allow", "always"),
    ):
        git(world.project, "config", name, each)


def stop_in_a_loop(world: World) -> None:
    world.loop()
    for _ in range(2):
        assert world.stop().reason


def compact(world: World) -> None:
    world.start()
    assert world.hook("pre-compact", world.payload("PreCompact.manual")).code == 0


def write_handoff(world: World) -> None:
    world.start()
    assert world.cli("handoff").code == 0


@pytest.mark.parametrize("way", [stop_in_a_loop, compact, write_handoff])
@pytest.mark.parametrize("url", ["ext::ATTACK", "ssh://host/x", "file:///x", "/x", "evil::x"])
def test_a_missing_part_of_a_repository_is_not_fetched(
    world: World, way: Callable[[World], None], url: str
) -> None:
    partial_clone(world, url)
    program(world, world.home / "bin/git-remote-evil")
    world.setenv("PATH", f"{world.home / 'bin'}{os.pathsep}{os.environ['PATH']}")

    way(world)

    assert not pwned(world).exists()


def test_in_a_partial_clone_of_the_user_hooks_say_less(world: World) -> None:
    """Nothing is fetched here, either: a hook would wait for the network."""
    partial_clone(world, str(world.root / "origin"))
    stop_in_a_loop(world)
    write_handoff(world)

    assert world.log() == ""


def test_a_git_that_refuses_the_work_tree_makes_no_hook_fail(world: World) -> None:
    """As it does where the work tree is another user's."""
    script = "#!/bin/sh\necho 'fatal: detected dubious ownership' >&2\nexit 128\n"
    world.write(world.home / "bin/git", script).chmod(0o755)
    world.setenv("PATH", f"{world.home / 'bin'}{os.pathsep}{os.environ['PATH']}")
    stop_in_a_loop(world)
    write_handoff(world)

    assert world.log() == ""


def test_variables_that_a_git_hook_sets_do_not_lead_to_another_repository(world: World) -> None:
    """A client that a git hook has started has them, and would be stuck: no file ever changes."""
    other = world.new_project("other")
    for folder in (world.project, other):
        (folder / f"{folder.name}.txt").write_text("a\n")
        commit(folder)
    world.setenv("GIT_DIR", str(other / ".git"))
    world.setenv("GIT_WORK_TREE", str(other))
    world.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    world.loop()

    for number in range(7):
        world.write("project.txt", f"{number}\n")
        assert world.stop(f"I have changed it {number} times.").reason


# ---------------------------------------------------------------- programs of the project


@pytest.mark.parametrize(
    "folder", ["node_modules/.bin", ".venv/bin", "bin", ".", "..", "", "/proc/self/cwd"]
)
def test_git_is_not_a_program_of_the_project(world: World, folder: str) -> None:
    """`.`, `..`, the empty word and `/proc/self/cwd` are relative on the PATH: to the folder that
    the hook runs in."""
    is_relative = folder in {".", "", "/proc/self/cwd"}
    place = world.root if folder == ".." else world.project / ("" if is_relative else folder)
    program(world, place / "git", f'exec {REAL_GIT} "$@"')
    entry = folder if is_relative or folder == ".." else str(world.project / folder)
    world.setenv("PATH", f"{entry}{os.pathsep}{os.environ['PATH']}")

    stop_in_a_loop(world)
    write_handoff(world)

    assert not pwned(world).exists()


@pytest.mark.parametrize("mark", [".git", ".claude", "PLAN.md"])
def test_git_is_not_a_program_of_what_the_project_is_part_of(world: World, mark: str) -> None:
    """A submodule, or a package of a download, beside the folder with programs."""
    parent = world.project
    shutil.rmtree(parent / ".git")
    if mark == ".git":
        begin_git(parent)
    elif mark == ".claude":
        (parent / mark).mkdir()
    else:
        world.write(mark)
    program(world, "bin/git", f'exec {REAL_GIT} "$@"')
    world.project = world.new_project("project/inner")
    world.setenv("PATH", f"{parent / 'bin'}{os.pathsep}{os.environ['PATH']}")

    stop_in_a_loop(world)

    assert not pwned(world).exists()


def test_a_link_to_a_program_of_the_project_is_one(world: World) -> None:
    link = world.home / "bin/git"
    link.parent.mkdir()
    link.symlink_to(program(world, "tools/git", f'exec {REAL_GIT} "$@"'))
    world.setenv("PATH", f"{link.parent}{os.pathsep}{os.environ['PATH']}")

    stop_in_a_loop(world)

    assert not pwned(world).exists()


def test_the_git_after_that_of_the_project_is_asked(world: World) -> None:
    """`doctor` looks for it in the same way."""
    program(world, "bin/git")
    world.write("ignored.txt")
    world.write(".gitignore", "ignored.txt\n")
    commit(world.project)
    world.setenv("PATH", f"{world.project / 'bin'}{os.pathsep}{os.environ['PATH']}")

    assert "`git`" not in world.cli("doctor").out
    world.setenv("PATH", str(world.project / "bin"))
    assert "there is no `git` on the PATH" in world.cli("doctor").out
    assert not pwned(world).exists()


def test_the_editor_is_not_one_of_the_project(world: World) -> None:
    world.setenv("PATH", str(program(world, "bin/vi").parent))
    world.setenv("VISUAL", "")
    world.setenv("EDITOR", "")

    assert "There is no editor" in world.cli("config", "--edit").err
    assert not pwned(world).exists()


def test_the_browser_is_not_one_of_the_project(world: World) -> None:
    users = world.write(world.home / "bin/mine", f"#!/bin/sh\ntouch {world.root}/opened\n")
    users.chmod(0o755)
    folder = program(world, "bin/mine").parent
    world.setenv("PATH", os.pathsep.join([str(folder), str(users.parent), os.environ["PATH"]]))
    world.setenv("DISPLAY", ":0")
    world.setenv("BROWSER", "mine")
    screen, terminal = pty.openpty()
    command = [str(SISYPHUS), "dashboard", "--port", "0"]
    with subprocess.Popen(command, stdout=terminal, stderr=terminal) as process:
        wait_for((world.root / "opened").exists)
        process.terminate()
    os.close(screen)
    os.close(terminal)

    assert (world.root / "opened").exists()
    assert not pwned(world).exists()


def test_a_client_of_what_the_project_is_part_of_is_not_started(world: World) -> None:
    world.setenv("PATH", str(program(world, "bin/claude").parent))
    world.write("inner/fix_plan.md", PLAN)
    inner = world.new_project("project/inner")

    answer = world.cli("ralph", "run", "--project", inner, "--permission-mode", "acceptEdits")

    assert "There is no `claude` on the PATH" in answer.err
    assert not pwned(world).exists()


# ---------------------------------------------------------------- the home of a stranger


def evil_home(world: World, folder: Path) -> None:
    """A home with settings, which are heeded where it is used."""
    world.write(folder / ".sisyphus/config.toml", "[ralph]\nenabled = false\n")


INSIDE = "because it is inside the project"
AROUND = "repository or project that this one is part of"
NOT_ABSOLUTE = "CLAUDE_CONFIG_DIR is not an absolute path"


@pytest.mark.parametrize(
    ("project", "mark", "variable", "reason"),
    [
        ("repo", "", "repo/evil", INSIDE),
        ("repo", "", "repo/sub/evil", INSIDE),
        ("repo/sub", "repo/.git/HEAD", "repo/evil", AROUND),
        ("repo/sub", "repo/.git/HEAD", "repo/other/evil", AROUND),
        ("repo/sub", "repo/.git/HEAD", "repo", AROUND),
        ("dl/pack/age", "dl/.claude/settings.json", "dl/evil", AROUND),
        ("dl/pack/age", "dl/PLAN.md", "dl/evil", AROUND),
        ("dl/pack/age", "dl/.git", "dl/pack/evil", AROUND),
        ("repo", "", "link/evil", INSIDE),
        ("repo", "", "../evil", NOT_ABSOLUTE),
        ("repo", "", "evil", NOT_ABSOLUTE),
        ("repo", "", "~/.claude", NOT_ABSOLUTE),
        ("repo", "", "/proc/self/cwd/../evil", NOT_ABSOLUTE),
        ("repo", "", "//proc/self/cwd/../evil", NOT_ABSOLUTE),
    ],
)
def test_a_home_that_a_project_can_have_chosen_is_not_used(
    world: World, monkeypatch: pytest.MonkeyPatch, project: str, mark: str, variable: str,
    reason: str,
) -> None:  # fmt: skip
    world.project = world.new_project(project)
    monkeypatch.chdir(world.project)
    if mark:
        world.write(world.root / mark)
    (world.root / "link").symlink_to(world.project)
    is_whole = variable.partition("/")[0] in {"repo", "dl", "link"}
    home = str(world.root / variable) if is_whole else variable
    evil_home(world, Path(os.path.realpath(home)))
    world.setenv("CLAUDE_CONFIG_DIR", home)
    before = sorted(map(str, world.root.rglob("*")))

    assert reason in world.start().message
    assert world.read("a.py").is_silent
    assert world.cli("config", "ralph.enabled").out == "true\n"
    answer = world.cli("status")
    assert answer.code == 0
    assert reason in answer.err
    assert answer.err.count("\n") == 1
    assert sorted(map(str, world.root.rglob("*"))) == before


def test_the_check_of_a_strangers_loop_does_not_run(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database of a stranger has a loop in it, with a check."""
    evil = world.root / "repo/evil"
    world.project = world.new_project("repo/sub")
    monkeypatch.chdir(world.project)
    world.setenv("CLAUDE_CONFIG_DIR", str(evil))
    world.loop("--verify", f"touch {pwned(world)}")
    begin_git(world.root / "repo")
    world.setenv("CLAUDE_CONFIG_DIR", "../evil")

    assert world.stop("<promise>DONE</promise>").is_silent
    world.setenv("CLAUDE_CONFIG_DIR", str(evil))
    assert world.stop("<promise>DONE</promise>").is_silent
    assert not pwned(world).exists()


@pytest.mark.parametrize(
    ("project", "home"),
    [
        ("code/x", "data/home"),
        ("code/x", "code/.claude"),
        ("home/code/x", "home/.claude-work"),
        ("home/code/x", "home/code/.claude"),
        ("home/.claude", "home/.claude"),
        ("home/.claude/skills/x", "home/.claude"),
        ("home", "home/.claude-work"),
    ],
)
def test_a_home_of_the_user_is_used(
    world: World, monkeypatch: pytest.MonkeyPatch, project: str, home: str
) -> None:
    """The user's home folder is marked in many ways: its dotfiles may be a repository."""
    begin_git(world.home)
    world.project = world.root / project
    if world.project != world.home:
        world.new_project(project)
    monkeypatch.chdir(world.project)
    world.setenv("CLAUDE_CONFIG_DIR", str(world.root / home))

    assert world.start().message == ""
    assert (world.root / home / ".sisyphus/sisyphus.db").exists()


# ---------------------------------------------------------------- our own modules


@pytest.mark.parametrize("name", ["sitecustomize", "json", "sisyphus/__init__", "dataclasses"])
def test_our_own_process_runs_no_module_of_the_project(
    world: World, inbox: Path, name: str
) -> None:
    """direnv and many shells set PYTHONPATH."""
    world.write(f"{name}.py", f"open({str(pwned(world))!r}, 'w').close()\nraise SystemExit\n")
    world.setenv("PYTHONPATH", str(world.project))
    world.loop()
    world.stop("<promise>DONE</promise>")

    assert arrived(inbox)[0]["kind"] == "completion"
    assert not pwned(world).exists()


def test_a_home_in_what_the_project_is_part_of_is_not_used(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin_git(world.root / "super")
    inner = world.new_project("super/inner")
    ours = world.root / "super/.home/.claude/.sisyphus"
    world.write(ours / "config.toml", f"[notify]\ncommand = \"touch '{world.root}/PWNED'\"\n")
    monkeypatch.chdir(inner)
    world.project = inner
    world.setenv("HOME", str(world.root / "super/.home"))

    assert "does not use its home folder" in world.start().message
    world.stop("<blocked>a key</blocked>")

    assert not (ours / "sisyphus.db").exists()


def test_packages_of_other_projects_bring_no_git(world: World) -> None:
    """A download without any mark of a project around the one that is asked."""
    inner = world.new_project("download/pkg")
    trap = world.write(world.root / "download/node_modules/.bin/git", "#!/bin/sh\n")
    trap.chmod(0o755)
    world.setenv("PATH", f"{trap.parent}{os.pathsep}{os.environ['PATH']}")

    assert executables.find("git", [str(inner)]) != str(trap)
