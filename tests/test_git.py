from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from making import HANG_SECONDS, debug_log, ours, put
from ralph.repositories import ENVIRONMENT, a_repository, commit, environment, git

from sisyphus.errors import TooMuchError
from sisyphus.git import names, program

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COMMITTED = [b".gitignore", b"a.txt", b"src/b.py"]


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return a_repository(tmp_path / "project")


def _names(root: Path) -> list[bytes] | None:
    return names(str(root), HANG_SECONDS)


def test_files_that_are_tracked_or_new_are_named(root: Path) -> None:
    put(root / "new.txt", "")
    put(root / "src" / "debug.log", "ignored")
    (root / "a.txt").unlink()
    assert _names(root) == sorted([*COMMITTED, b"new.txt"])


def _exclude(root: Path) -> None:
    put(root / ".git" / "info" / "exclude", "new.txt\n")


def _no_exclusions(root: Path) -> None:
    git(root, "mv", ".gitignore", "ignore")
    (root / "ignore").unlink()
    put(root / ".gitignore", "new.txt")
    (root / ".git" / "info" / "exclude").unlink()


EXCLUDED = [
    pytest.param(lambda root: put(root / ".gitignore", "new.txt\n"), id="by a .gitignore"),
    pytest.param(lambda root: put(root / "sub" / ".gitignore", "*\n"), id="by one further below"),
    pytest.param(_exclude, id="by the repository"),
    pytest.param(_no_exclusions, id="where the repository excludes nothing"),
]


@pytest.mark.parametrize("arrange", EXCLUDED)
def test_files_that_are_excluded_are_not(root: Path, arrange: Callable[[Path], object]) -> None:
    put(root / "sub" / "new.txt", "")
    arrange(root)
    assert b"sub/new.txt" not in (_names(root) or [])


def test_what_the_user_excludes_everywhere_is_excluded(root: Path, home: Path) -> None:
    put(home / ".config" / "git" / "ignore", ".DS_Store\n")
    put(root / ".DS_Store", "")
    assert _names(root) == COMMITTED


def _conflict(root: Path) -> None:
    git(root, "checkout", "-q", "-b", "other")
    put(root / "a.txt", "other\n")
    commit(root)
    git(root, "checkout", "-q", "main")
    put(root / "a.txt", "main\n")
    commit(root)
    subprocess.run(["git", "merge", "other"], cwd=root, capture_output=True, check=False)


def _thin_out(root: Path) -> None:
    put(root / "other" / "c.txt", "")
    commit(root)
    git(root, "sparse-checkout", "set", "--cone", "--sparse-index", "src")


SAME = [
    pytest.param(_conflict, id="in a conflict"),
    pytest.param(lambda root: git(root, "checkout", "-q", "--detach"), id="on no branch"),
    pytest.param(lambda root: git(root, "rm", "-q", "--cached", "a.txt"), id="no longer tracked"),
    pytest.param(lambda root: git(root, "update-index", "--index-version", "4"), id="a new index"),
    pytest.param(lambda root: git(root, "update-index", "--split-index"), id="an index in parts"),
    pytest.param(_thin_out, id="an index without what is not checked out"),
    pytest.param(lambda root: (root / ".git" / "index").unlink(), id="no index"),
    pytest.param(lambda root: git(root, "config", "core.bare", "true"), id="said to be bare"),
    pytest.param(lambda root: git(root, "config", "core.worktree", "/"), id="said to be elsewhere"),
    pytest.param(
        lambda root: put(root / ".git" / "config", "[spoilt"), id="a spoilt configuration"
    ),
    pytest.param(
        lambda root: git(root, "config", "core.repositoryformatversion", "99"), id="a new format"
    ),
]


@pytest.mark.parametrize("arrange", SAME)
def test_each_file_is_named_once(root: Path, arrange: Callable[[Path], object]) -> None:
    arrange(root)
    assert _names(root) == COMMITTED


def test_files_without_any_commit_are_named(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    put(tmp_path / "new.txt", "")
    assert _names(tmp_path) == [b"new.txt"]


def test_objects_may_have_longer_names(tmp_path: Path) -> None:
    root = a_repository(tmp_path / "project", "--object-format=sha256")
    assert _names(root) == COMMITTED


def test_a_linked_worktree_has_files_of_its_own(root: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(root, "worktree", "add", "-q", str(linked))
    put(root / "new.txt", "")
    put(linked / "other.log", "")
    put(linked / "other.txt", "")
    _exclude(root)
    put(linked / "new.txt", "excluded by what worktrees share")
    assert _names(linked) == sorted([*COMMITTED, b"other.txt"])


def test_a_repository_within_is_one_name(root: Path, tmp_path: Path) -> None:
    a_repository(root / "nested")
    part = a_repository(tmp_path / "part")
    git(root, "submodule", "--quiet", "add", str(part), "part")
    assert _names(root) == sorted([*COMMITTED, b".gitmodules", b"nested/", b"part"])


def test_names_may_hold_anything(root: Path) -> None:
    odd = [b"\xff\xfe", b"a\nb", b" ", b'"q"']
    for name in odd:
        put(root / os.fsdecode(name), "")
    assert _names(root) == sorted([*COMMITTED, *odd])


@pytest.mark.parametrize("name", [b"caf\xe9", b"line\nend", b"a:b;c", b"-rf"])
def test_so_may_the_path_of_the_project(tmp_path: Path, name: bytes) -> None:
    assert _names(a_repository(tmp_path / os.fsdecode(name))) == COMMITTED


def test_an_index_with_names_that_lead_away_is_read_without_them(root: Path) -> None:
    index = root / ".git" / "index"
    index.write_bytes(index.read_bytes().replace(b"src/b.py", b"../../pp"))
    found = subprocess.run(
        ["git", "-c", "index.skipHash=true", "ls-files"], cwd=root, capture_output=True, check=False
    )
    assert b"pp" not in b"".join(_unless_refused(root)), found


def _unless_refused(root: Path) -> list[bytes]:
    try:
        return _names(root) or []
    except OSError:
        return []


NOT_ASKED = [
    pytest.param(lambda _: None, id="no repository"),
    pytest.param(lambda root: (root / ".git").mkdir(), id="an empty git folder"),
    pytest.param(lambda root: git(root, "init", "-q", "--bare"), id="a bare repository"),
    pytest.param(lambda root: put(root / ".git", "gitdir: nowhere"), id="a folder that is gone"),
]


@pytest.mark.parametrize("arrange", NOT_ASKED)
def test_without_a_work_tree_git_is_not_asked(
    tmp_path: Path, arrange: Callable[[Path], object]
) -> None:
    arrange(tmp_path)
    assert _names(tmp_path) is None


def test_what_git_cannot_do_is_an_error(root: Path) -> None:
    put(root / ".git" / "index", "spoilt")
    with pytest.raises(OSError, match="git ended with 128"):
        _names(root)


@pytest.mark.parametrize("name", [".gitignore", ".git/index", "src/.gitignore"])
def test_a_file_that_never_ends_is_too_much(root: Path, name: str) -> None:
    (root / name).unlink(missing_ok=True)
    os.mkfifo(root / name)
    with pytest.raises(TooMuchError):
        names(str(root), 0.2)


def test_the_callers_own_repository_is_not_mistaken_for_it(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = a_repository(tmp_path / "other")
    put(other / "x", "")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    assert _names(root) == COMMITTED


def test_what_is_set_for_the_callers_git_alone_does_not_hold(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(root / "new.txt", "")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.excludesFile")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(put(tmp_path / "ignore", "new.txt\n")))
    assert b"new.txt" in (_names(root) or [])


def test_the_users_settings_do_but_those_that_run_a_program(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(root / "new.txt", "")
    ignore = put(tmp_path / "ignore", "new.txt\n")
    marker = tmp_path / "marker"
    program = put(tmp_path / "program", PROGRAM.format(marker=marker))
    program.chmod(0o755)
    text = f"[core]\nexcludesFile = {ignore}\nfsmonitor = {program}\n"
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(put(tmp_path / "config", text)))
    assert _names(root) == COMMITTED
    assert not marker.exists()


def test_the_empty_repository_is_made_once(root: Path, home: Path) -> None:
    _names(root)
    mark = ours(home, "cache/empty-sha1.git/HEAD")
    made = mark.stat().st_ctime_ns
    _names(root)
    assert mark.stat().st_ctime_ns == made
    assert mark.parent.stat().st_mode & 0o777 == 0o700


def test_where_it_cannot_be_made_git_is_not_asked(root: Path, home: Path) -> None:
    put(ours(home, "cache"), "no folder")
    with pytest.raises(OSError, match="cache"):
        _names(root)


PROGRAM = """#!/bin/sh
echo "$0 $*" >>{marker}
exit 1
"""

TRAPS = [
    pytest.param("[core] fsmonitor = {program}", "status", id="a watcher of files"),
    pytest.param('[filter "f"] clean = {program}', "status", id="a filter"),
    pytest.param('[filter "f"] process = {program}', "status", id="a filter that stays"),
    pytest.param("[core] hooksPath = {folder}", "update-index --refresh", id="hooks"),
    pytest.param("[include] path = {folder}/more", "status", id="an included file"),
    pytest.param('[includeIf "gitdir:**"] path = {folder}/more', "status", id="one on condition"),
    pytest.param("[diff] external = {program}", "diff", id="a program for differences"),
    pytest.param("[extensions] worktreeConfig = true", "status", id="a second configuration"),
    pytest.param("[alias] ls-files = !{program}\nfiles = !{program}", "files", id="an alias"),
    pytest.param(
        "[core] pager = {program}\n[pager] ls-files = {program}", "--paginate log", id="a pager"
    ),
    pytest.param("[credential] helper = {program}", "credential fill", id="a keeper of passwords"),
    pytest.param(
        '[core] sshCommand = {program}\n[remote "o"] url = ssh://localhost/x', "fetch o", id="ssh"
    ),
    pytest.param(
        "[core] repositoryformatversion = 1\n[extensions] partialClone = o\n"
        '[remote "o"] url = file:///nowhere\npromisor = true\nuploadpack = {program}',
        "ls-files --others --exclude-standard",
        id="a remote that has the missing objects",
    ),
]


def _set(root: Path, config: str) -> Path:
    """Sets the trap; returns the file that appears when it snaps."""
    folder = root.parent / "traps"
    marker = folder / "marker"
    program = put(folder / "program", PROGRAM.format(marker=marker))
    program.chmod(0o755)
    (folder / "post-index-change").symlink_to(program)
    put(folder / "more", f"[core] fsmonitor = {program}\n")
    text = config.format(program=program, folder=folder).replace("] ", "]\n")
    put(root / ".git" / "config.worktree", f"[core]\nfsmonitor = {program}\n")
    with (root / ".git" / "config").open("a") as file:
        file.write(text + "\n")
    return marker


def _bait(root: Path) -> None:
    """Files that differ from the index, and an excluding one that is not there but tracked."""
    put(root / ".gitattributes", "* filter=f\n")
    put(root / "src" / ".gitignore", "*.tmp\n")
    commit(root)
    git(root, "update-index", "--skip-worktree", "src/.gitignore")
    lost = git(root, "rev-parse", ":src/.gitignore")
    (root / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    (root / "src" / ".gitignore").unlink()
    put(root / "src" / "new.txt", "")
    put(root / "a.txt", "x\n")


@pytest.mark.parametrize(("config", "snaps_at"), TRAPS)
def test_nothing_in_the_project_makes_git_run_a_program(
    root: Path, config: str, snaps_at: str
) -> None:
    _bait(root)
    marker = _set(root, config)
    assert b"a.txt" in (_names(root) or [])
    assert not marker.exists()
    _spring(root, snaps_at)
    assert marker.exists(), "the trap was none"


def _spring(root: Path, words: str) -> None:
    """A plain git, on a terminal, does run the program."""
    terminal, far_end = os.openpty()
    subprocess.run(
        ["git", *words.split()],
        cwd=root,
        env={**environment(), "GIT_TERMINAL_PROMPT": "0"},
        input=b"protocol=https\nhost=localhost\n\n",
        stdout=far_end,
        stderr=subprocess.DEVNULL,
        check=False,
        timeout=HANG_SECONDS,
    )
    os.close(far_end)
    os.close(terminal)


def _a_git(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    put(folder / "git", "#!/bin/sh\ntouch ran\n").chmod(0o755)


SEARCHED = [
    pytest.param("{outside}", "{outside}/git", id="a folder"),
    pytest.param("{empty}:{outside}", "{outside}/git", id="the second folder"),
    pytest.param("{root}:{outside}", "{outside}/git", id="not the project"),
    pytest.param("{root}/bin:{outside}", "{outside}/git", id="not a folder in it"),
    pytest.param("{link}:{outside}", "{outside}/git", id="nor by way of a link"),
    pytest.param("{root}/linked:{outside}", "{outside}/git", id="nor a link out of it"),
    pytest.param("{inward}:{outside}", "{outside}/git", id="nor a link into it"),
    pytest.param(":.:bin:{outside}", "{outside}/git", id="nor a folder relative to it"),
    pytest.param("{plain}:{outside}", "{outside}/git", id="no file that is not to be run"),
    pytest.param("{folder}:{outside}", "{outside}/git", id="no folder"),
    pytest.param("{root}:{empty}", "", id="there is none"),
    pytest.param("", "", id="nowhere to look"),
]


@pytest.mark.parametrize(("path", "expected"), SEARCHED)
def test_git_is_looked_for_outside_of_the_project(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, expected: str
) -> None:
    places = {n: tmp_path / n for n in ("outside", "empty", "link", "inward", "plain", "folder")}
    for folder in (root, root / "bin", places["outside"]):
        _a_git(folder)
    (root / "linked").mkdir()
    (root / "linked" / "git").symlink_to("/bin/sh")
    places["link"].symlink_to(root)
    places["inward"].mkdir()
    (places["inward"] / "git").symlink_to(root / "git")
    put(places["plain"] / "git", "")
    (places["folder"] / "git").mkdir(parents=True)
    monkeypatch.chdir(root)
    monkeypatch.setenv("PATH", path.format(root=root, **places))
    assert program(str(root)) == expected.format(root=root, **places)


def test_git_is_not_looked_for_where_we_happen_to_be(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _a_git(tmp_path / "bin")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "bin")
    assert program(str(root)) == ""


def test_without_git_it_is_not_asked(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PATH")
    assert _names(root) is None


def test_nothing_is_logged_by_the_way(root: Path, home: Path) -> None:
    _names(root)
    assert debug_log(home) == ""
    assert git(root, "status", "--porcelain") == ""
