"""Progress in a project's other repositories: nested ones, submodules, worktrees."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from test_run import ALL, Runs, runs
from world import World

from sisyphus.ground import git as git_module
from sisyphus.ground import paths
from sisyphus.loops import repositories

__all__ = ["runs"]

STOPS = 6
"""One more than the breaker waits for."""


def git(folder: Path, *words: str) -> None:
    user = [
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.org",
        "-c",
        "protocol.file.allow=always",
    ]
    subprocess.run(["git", *user, *words], check=True, cwd=folder, capture_output=True)


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "start")
    return folder


def set_up(world: World, kind: str) -> Path:
    """Makes the project, and the other repository of this kind; returns that."""
    below = world.project / "parts" / "svc"
    if kind == "below a root without git":
        return repository(below)
    repository(world.project)
    if kind == "nested":
        return repository(below)
    if kind == "ignored":
        world.write(".gitignore", "parts/\n")
        return repository(below)
    if kind == "submodule":
        repository(world.root / "library")
        git(world.project, "submodule", "add", "-q", str(world.root / "library"), "parts/svc")
        return below
    beside = world.root / "beside"
    git(world.project, "worktree", "add", "-q", str(beside))
    return beside


KINDS = ("nested", "ignored", "submodule", "below a root without git", "worktree")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sign", ["commit", "file"])
def test_work_in_another_repository_is_progress(world: World, kind: str, sign: str) -> None:
    other = set_up(world, kind)
    file = other / "old" / "file"
    file.parent.mkdir()
    file.write_text("0")
    world.loop()

    for n in range(STOPS):
        if sign == "file":
            file.write_text(str(n))
        else:
            git(other, "commit", "-q", "--allow-empty", "-m", str(n))
        assert world.stop().reason


@pytest.mark.parametrize("kind", KINDS)
def test_another_repository_in_which_nothing_happens_is_no_progress(
    world: World, kind: str
) -> None:
    set_up(world, kind)
    world.loop()

    assert [bool(world.stop().reason) for _ in range(STOPS)] == [True] * 4 + [False] * 2


def test_the_main_checkout_counts_for_a_worktree(world: World) -> None:
    linked = set_up(world, "worktree")

    assert repositories.besides(str(linked)) == [str(world.project)]


def test_a_folder_that_only_git_names_is_no_worktree(world: World) -> None:
    repository(world.project)
    strange = repository(world.root / "strange")
    world.write(".git/worktrees/a/gitdir", f"{strange}/.git\n")
    world.write(".git/worktrees/b/gitdir", "\0")
    world.write(".git/worktrees/c/gitdir", b"\xff\n")

    assert repositories.besides(str(world.project)) == []


@pytest.mark.parametrize("way", ["file", "file in it", "link"])
def test_a_repository_that_does_not_know_the_project_is_not_its_own(world: World, way: str) -> None:
    """A `.git` that was downloaded names what its writer likes."""
    other = repository(world.root / "other")
    git(other, "worktree", "add", "-q", str(world.root / "beside"))
    shutil.rmtree(world.project / ".git")
    if way == "file":
        world.write(".git", f"gitdir: {other}/.git\n")
    elif way == "link":
        (world.project / ".git").symlink_to(other / ".git")
    else:
        world.write(".git/HEAD", "ref: refs/heads/main\n")
        world.write(".git/commondir", f"{other}/.git\n")

    assert repositories.besides(str(world.project)) == []


WAYS = (
    "file",
    "file that is a link",
    "link",
    "linked log",
    "nested file",
    "nested link",
    "nested linked log",
    "linked worktrees",
    "linked worktree",
)


def set_up_stranger(world: World, way: str) -> list[Path]:
    """Makes a `.git` that leads to the user's repository in one of WAYS; returns the checkouts of
    that repository, the main one first."""
    busy, linked = repository(world.root / "busy"), world.root / "busy-linked"
    git(busy, "worktree", "add", "-q", str(linked))
    shutil.rmtree(world.project / ".git")
    folder = world.project
    if way.startswith("nested"):
        repository(world.project)
        folder = world.project / "parts" / "svc"
        folder.mkdir(parents=True)
    mark = folder / ".git"
    match way.removeprefix("nested "):
        case "file":
            mark.write_text(f"gitdir: {busy}/.git\n")
        case "file that is a link":
            mark.symlink_to(linked / ".git")
        case "link":
            mark.symlink_to(busy / ".git")
        case "linked log":
            repository(folder)
            shutil.rmtree(mark / "logs")
            (mark / "logs").symlink_to(busy / ".git" / "logs")
        case "linked worktrees":
            repository(folder)
            (mark / "worktrees").symlink_to(busy / ".git" / "worktrees")
        case _:
            repository(folder)
            (mark / "worktrees").mkdir()
            entry = busy / ".git" / "worktrees" / linked.name
            (mark / "worktrees" / linked.name).symlink_to(entry)
    return [busy, linked]


@pytest.mark.parametrize("way", WAYS)
def test_a_busy_repository_that_does_not_know_the_project_keeps_no_loop_going(
    world: World, way: str
) -> None:
    checkouts = set_up_stranger(world, way)
    world.loop()

    blocked = []
    for n in range(STOPS):
        for checkout in checkouts:
            (checkout / "file").write_text(str(n))
            git(checkout, "commit", "-q", "--allow-empty", "-m", str(n))
        blocked.append(bool(world.stop().reason))

    assert blocked == [True] * 4 + [False] * 2


OWN = (
    "repository",
    "submodule",
    "sparse submodule",
    "worktree",
    "worktree with relative paths",
)


def set_up_own(world: World, kind: str) -> Path:
    """Makes a checkout that its repository knows, as git makes it; returns it."""
    main, own = repository(world.root / "main"), world.root / "own"
    if kind == "repository":
        return main
    if "submodule" in kind:
        git(main, "submodule", "add", "-q", str(repository(world.root / "library")), "svc")
        own = main / "svc"
        if "sparse" in kind:  # git moves `core.worktree` into another file for that
            git(own, "sparse-checkout", "init", "--cone")
        return own
    git(main, "worktree", "add", "-q", str(own))
    if "relative" in kind:  # `worktree.useRelativePaths` of git 2.48
        (own / ".git").write_text("gitdir: ../main/.git/worktrees/own\n")
        (main / ".git" / "worktrees" / "own" / "gitdir").write_text("../../../../own/.git\n")
    return own


@pytest.mark.parametrize("kind", OWN)
def test_commits_in_a_checkout_that_its_repository_knows_are_progress(
    world: World, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = world.project = set_up_own(world, kind)
    monkeypatch.chdir(own)
    world.loop()

    for n in range(STOPS):
        git(own, "commit", "-q", "--allow-empty", "-m", str(n))
        assert world.stop().reason


def test_a_worktree_with_relative_paths_is_known_from_the_main_checkout(world: World) -> None:
    own = set_up_own(world, "worktree with relative paths")

    assert repositories.besides(str(world.root / "main")) == [str(own)]
    assert repositories.besides(str(own)) == [str(world.root / "main")]


def test_a_submodule_with_an_odd_name_counts(world: World) -> None:
    """Git writes such a name in quotes."""
    repository(world.project)
    library = str(repository(world.root / "library"))
    name = 'an "odd" \\ name; #1 '
    git(world.project, "submodule", "add", "-q", "--name", "svc", library, name)

    assert repositories.besides(str(world.project)) == [str(world.project / name)]


@pytest.mark.parametrize("is_named", [False, True])
def test_commits_in_a_separate_git_folder_count_if_it_names_the_checkout(
    world: World, *, is_named: bool
) -> None:
    """`git init --separate-git-dir` writes nothing that leads back to the checkout."""
    repository(world.project)
    other = world.project / "other"
    other.mkdir()
    folder = world.root / "separate.git"
    git(other, "init", "-q", "--separate-git-dir", str(folder))
    if is_named:
        git(other, "config", "core.worktree", str(other))

    git(other, "commit", "-q", "--allow-empty", "-m", "x")

    assert repositories.besides(str(world.project)) == [str(other)]
    assert bool(git_module.head_moved_at(str(other))) == is_named


def test_a_path_that_no_system_has_leads_nowhere(world: World) -> None:
    repository(world.project)
    world.write(".git/worktrees/a/gitdir", "/a\0b/.git\n")
    world.write("sub/.git", "gitdir: /a\0b\n")

    assert repositories.besides(str(world.project)) == [str(world.project / "sub")]
    assert git_module.head_moved_at(str(world.project / "sub")) == 0


def test_an_empty_git_is_no_repository(world: World) -> None:
    """The sandbox of a client leaves one (openai/codex#26463)."""
    world.write("file/.git", "")
    (world.project / "folder" / ".git").mkdir(parents=True)
    world.write("real/.git/HEAD")

    assert repositories.besides(str(world.project)) == [str(world.project / "real")]


def test_a_git_that_may_not_be_listed_makes_a_project(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write("parts/x.py")
    scandir = os.scandir

    def refuse(path: str) -> object:
        if path.endswith(".git"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)

    assert paths.project_of(str(world.project / "parts")) == str(world.project)
    assert not paths.has_git(str(world.project / "parts"))


def test_a_link_to_a_repository_is_not_followed(world: World) -> None:
    (world.project / "linked").symlink_to(repository(world.root / "strange"))

    assert repositories.besides(str(world.project)) == []


def test_the_search_has_an_end(world: World) -> None:
    for n in range(30):
        repository_file = world.write(f"r{n}/.git/HEAD")
    world.write("a/b/c/d/e/.git/HEAD")

    found = repositories.besides(str(world.project))

    assert len(found) == 20
    assert str(repository_file.parent.parent) not in found
    assert not any(path.endswith("/e") for path in found)


def test_the_search_lists_so_many_files_and_no_more(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folders that are full of files cost as much as many folders."""
    for folder in "abcd":
        for n in range(20):
            world.write(f"{folder}/{n}")
    world.write("d/z/.git/HEAD")
    assert repositories.besides(str(world.project)) == [str(world.project / "d" / "z")]

    monkeypatch.setattr(repositories, "_ENTRIES", 60)

    assert repositories.besides(str(world.project)) == []


# ------------------------------------------------------------ runs


def test_work_in_another_repository_is_progress_of_a_run(runs: Runs) -> None:
    runs.world.write(".gitignore", "parts/\n.claude/\n")
    runs.git()
    other = repository(runs.world.project / "parts" / "svc")
    commit = f"git -C {other} -c user.name=t -c user.email=t@e commit -q --allow-empty -m more"
    processes = [[["run", commit], ["say", "So far."]]] * STOPS

    limit = ("--max-iterations", str(STOPS))
    answer = runs.run("--completion-promise", "DONE", *limit, processes=processes)

    assert (answer.code, runs.state["status"]) == (3, "max_iterations")


@pytest.mark.parametrize("command", ["merge", "rebase", "cherry-pick", "revert", "am"])
def test_a_run_does_not_begin_in_an_unfinished(runs: Runs, command: str) -> None:
    runs.git()
    project = runs.world.project
    set_up_conflict(project, command)

    answer = runs.run("--allow-dirty", processes=ALL)

    assert answer.code == 1
    assert f"`git {command} --abort`" in answer.err
    assert len(answer.err.splitlines()) == 1
    assert not runs.calls
    git(project, command, "--abort")
    assert runs.run("--allow-dirty", processes=ALL).code == 0


def set_up_conflict(project: Path, command: str) -> None:
    """Lets a command of git stop in the middle: two branches have a file of the same name."""
    (project / "same.txt").write_text("1\n")
    git(project, "checkout", "-q", "-b", "other")
    git(project, "add", "same.txt")
    git(project, "commit", "-qm", "one")
    git(project, "format-patch", "-1", "-o", str(project.parent))
    git(project, "checkout", "-q", "-")
    for n in (2, 3):
        (project / "same.txt").write_text(f"{n}\n")
        git(project, "add", "same.txt")
        git(project, "commit", "-qm", str(n))
    (patch,) = project.parent.glob("*.patch")
    words = {"am": ["am", str(patch)], "revert": ["revert", "HEAD~1"]}.get(
        command, [command, "other"]
    )
    with pytest.raises(subprocess.CalledProcessError):
        git(project, *words)


def test_variables_of_git_lead_a_run_to_no_other_repository(runs: Runs) -> None:
    runs.git()
    other = repository(runs.world.root / "other")
    for name, path in (("DIR", ".git"), ("WORK_TREE", ""), ("INDEX_FILE", ".git/index")):
        runs.world.setenv(f"GIT_{name}", str(other / path))
    processes = [[["run", f"echo {n} > file"], ["say", "So far."]] for n in range(STOPS)]

    limit = ("--max-iterations", str(STOPS))
    answer = runs.run("--completion-promise", "DONE", *limit, processes=processes)

    assert (answer.code, runs.state["status"]) == (3, "max_iterations")
