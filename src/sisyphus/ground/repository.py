"""Changes a repository as its user would: with their name, their hooks, filters and signatures.

For a command that its user has typed, never for a hook: what the project's config names runs here,
as it does at each `git commit` of its user. `git.py` asks, and lets nothing run.

Nothing is deleted, and nothing is overwritten that no commit has: see `go_back`.
"""

from __future__ import annotations

import glob
import os
import shlex
import time
from contextlib import suppress

from sisyphus.ground import git, paths, processes
from sisyphus.ground.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sisyphus.ground.processes import CommandResult

_SECONDS = 600.0
"""The longest that we wait for git in a large repository."""

_LOCK_SECONDS = 10.0
"""How long another git may hold the index, or a branch, before we give up: an editor asks for the
status, say."""

_STEP_SECONDS = 0.2

_ELSEWHERE = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR", "GIT_GLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS", "GIT_INDEX_FILE", "GIT_LITERAL_PATHSPECS", "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_WORK_TREE",
)  # fmt: skip
"""Variables that lead to another repository, or change what a path means. A git hook sets some."""

_ENCODINGS = ("-c", "i18n.commitEncoding=utf-8", "-c", "i18n.logOutputEncoding=utf-8")
"""How we write messages, and read them."""

_NOT_STARTED = 127
"""The exit code if there is no git, the same as shells use."""

MOST_BYTES = 6_000_000
"""The largest file that is read out of a commit: more than any plan may have."""

MOST_NAME_BYTES = 64_000_000
"""The most bytes of names of files: of about a million."""

_MOST_NAMES = 1_000
"""How many branches with the same words we make."""

END_BY_QUIT = ("rebase", "am")
"""Commands that do not end when a commit is checked out: `--abort` would take commits of later
items out of the branch."""

_CANNOT_LOCK = ".lock': File exists"
"""What git says if another one is at work. What is left of one that was killed says the same."""

_PACKED_LOCK = "packed-refs.lock"

_LEFT_SECONDS = 3.0
"""From this age on the lock of the packed refs is looked at: git holds it for as long as it writes
one file."""


def run(
    project: str,
    *words: str,
    seconds: float = _SECONDS,
    stdin: bytes = b"",
    tail: int = 1_000_000,
) -> CommandResult:
    """Runs git in a project, with all that its user has set. Nobody is asked: there is no terminal,
    and no editor opens. It waits for another git that is at work.

    seconds: the longest that it may take. tail: how many bytes are kept of the end of its output.
    """
    program, path = git.program(project)
    if not program:
        return processes.CommandResult(_NOT_STARTED, "There is no `git` on the PATH.")
    kept = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    asks_nobody = {"GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true", "LANGUAGE": "en"}
    command = [program, *_ENCODINGS, *words]
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            done = processes.run(
                command, project, seconds, {**kept, **asks_nobody, "PATH": path}, tail, stdin,
                with_errors=True, with_grace=True,
            )  # fmt: skip
        except OSError as error:
            return processes.CommandResult(_NOT_STARTED, f"git cannot be started: {error}")
        if _CANNOT_LOCK not in done.output or done.code == 0 or time.monotonic() > deadline:
            return done
        if _PACKED_LOCK in done.output:
            _remove_packed_lock(project)
        time.sleep(_STEP_SECONDS)


def _remove_packed_lock(project: str) -> None:
    """Removes the lock of all packed refs if it is left of a git that was killed: it is old, and no
    git is at work in the repository. It would keep every branch from going."""
    common = git.common_folder(project)
    lock = os.path.join(common, _PACKED_LOCK)
    with suppress(OSError):
        found = os.stat(lock)
        is_old = time.time() - found.st_mtime > _LEFT_SECONDS
        if not common or not is_old or _is_at_work(project, common):
            return
        now = os.stat(lock)  # another worker may have removed it, and its git have a new one
        if (now.st_ino, now.st_mtime_ns) == (found.st_ino, found.st_mtime_ns):
            os.unlink(lock)


def _is_at_work(project: str, common: str) -> bool:
    """Tells whether a git is at work in a repository. common: git's folder for all its
    worktrees."""
    links = glob.glob(os.path.join(glob.escape(common), "worktrees", "*", "gitdir"))
    places = (os.path.join(os.path.dirname(link), git.pointer(link)) for link in links)
    folders = {project, common, os.path.dirname(common), *map(os.path.dirname, places)}
    return any(processes.is_any_in(folder, "git") for folder in folders)


# ---------------------------------------------------------------- where a repository stands


def branch(project: str) -> str:
    """Returns the branch that is checked out, even if it has no commit yet; "" = none: HEAD is
    detached."""
    done = run(project, "symbolic-ref", "--quiet", "--short", "HEAD")
    return done.output.strip() if done.code == 0 else ""


def why_nameless(project: str) -> str:
    """Returns what git says first if it does not know its user's name and address; "" = it
    does."""
    done = run(project, "var", "GIT_COMMITTER_IDENT")
    author = run(project, "var", "GIT_AUTHOR_IDENT") if done.code == 0 else done
    return "" if author.code == 0 else author.output.strip().partition("\n")[0]


def lock(project: str) -> str:
    """Returns the path of the lock of the index, if there is one: another git is at work, or was
    killed; "" = there is none."""
    path = os.path.join(git.folder_of(project), "index.lock")
    return path if os.path.lexists(path) else ""


def unlock(tree: str, *refs: str) -> None:
    """Removes the locks that a git has left which was killed, unless one is at work there: those of
    a worktree, and those of refs that are changed in it alone. refs: full names, or what is above
    them. Raises `OSError`."""
    own, common = git.folder_of(tree), git.common_folder(tree)
    locks = [os.path.join(own, f"{name}.lock") for name in ("index", "HEAD", "ORIG_HEAD")]
    for ref in refs:
        place = os.path.join(glob.escape(common), ref)
        locks += [f"{os.path.join(common, ref)}.lock"]
        locks += glob.glob(os.path.join(place, "**", "*.lock"), recursive=True)
    left = [path for path in locks if os.path.lexists(path)]
    if left and not processes.is_any_in(tree, "git"):
        for path in left:
            os.unlink(path)


def wait_for_others(tree: str) -> None:
    """Waits until no other git is at work in a folder, or has been for too long."""
    deadline = time.monotonic() + _LOCK_SECONDS
    while processes.is_any_in(tree, "git") and time.monotonic() < deadline:
        time.sleep(_STEP_SECONDS)


def is_ignored(project: str, path: str) -> bool:
    """Tells whether git ignores a file, which may not be there yet."""
    return run(project, "check-ignore", "--quiet", "--", path).code == 0


def how_to_ignore(project: str, name: str) -> str:
    """Returns the command with which only this checkout ignores a file of the project; "" = git
    ignores it, or tracks it, or there is no repository. name: below the project."""
    path = os.path.join(project, name)
    exclude = git.exclude_file(project)
    if not exclude or is_ignored(project, path) or git.tracked(project, [path]):
        return ""
    above = run(project, "rev-parse", "--show-prefix").output.strip()
    shown = os.path.relpath(exclude, project) if paths.is_inside(exclude, project) else exclude
    return f"echo {shlex.quote(above + name)} >> {shlex.quote(shown)}"


def is_ancestor(project: str, commit: str, of: str) -> bool:
    """Tells whether a commit is in the history of another one, or is that one."""
    return run(project, "merge-base", "--is-ancestor", commit, of).code == 0


def committed_at(project: str, commit: str) -> float:
    """Returns when a commit was made, in seconds since 1970; 0 = there is none."""
    done = run(project, "show", "--no-patch", "--no-show-signature", "--format=%ct", commit, "--")
    return float(done.output) if done.code == 0 and done.output.strip().isdecimal() else 0.0


def text_of(project: str, commit: str) -> str:
    """Returns the message of a commit; "" = there is none."""
    done = run(project, "show", "--no-patch", "--no-show-signature", "--format=%B", commit, "--")
    return done.output if done.code == 0 else ""


# ---------------------------------------------------------------- commits


def stage(project: str, apart: Iterable[str]) -> CommandResult:
    """Stages all that has changed and that git does not ignore, new files and deleted ones too.
    apart: absolute paths of files and folders that are left out."""
    inside = [os.path.relpath(path, project) for path in apart if paths.is_inside(path, project)]
    asked = "\0".join(inside).encode("utf-8", "surrogateescape")
    ignored = run(project, "check-ignore", "-z", "--stdin", stdin=asked).output.split("\0")
    # `add` refuses to leave out by name what is ignored anyway.
    without = (f":(top,exclude,literal){name}" for name in inside if name not in ignored)
    return run(project, "add", "--all", "--", ":/", *without)


def has_changed(project: str) -> bool:
    """Tells whether a tracked file is not as it was staged."""
    return run(project, "diff", "--quiet", "--ignore-submodules=dirty").code != 0


def has_staged(project: str) -> bool:
    """Tells whether something is staged."""
    return run(project, "diff", "--cached", "--quiet", "--ignore-submodules=dirty").code != 0


def staged_tree(project: str) -> str:
    """Returns the name of the tree that is staged; "" = conflicts are in it."""
    done = run(project, "write-tree")
    return done.output.strip() if done.code == 0 else ""


def unresolved(project: str) -> list[str]:
    """Returns the names of the files in conflict that still have the marks of it."""
    unmerged = _names(project, "diff", "--name-only", "-z", "--diff-filter=U")
    found = run(project, "diff", "--check", "HEAD", "--").output
    marked = {line.partition(":")[0] for line in found.splitlines() if "conflict marker" in line}
    return [name for name in unmerged if name in marked]


def commit(project: str, message: str, seconds: float, *only: str) -> CommandResult:
    """Commits what is staged, with the user's hooks and their signature. seconds: the longest that
    it may take. only: the path that is committed, and nothing else."""
    # `--verbose` cuts a message at a line that looks like the start of a patch.
    plain = ("--quiet", "--no-verbose", "--cleanup=whitespace")
    words = ("commit", *plain, "--file=-", "--", *only)
    return run(project, *words, seconds=seconds, stdin=message.encode("utf-8", "replace"))


def amend(project: str, seconds: float) -> CommandResult:
    """Adds what is staged to the last commit, whose message stays, with the user's hooks. seconds:
    the longest that it may take."""
    words = ("commit", "--amend", "--no-edit", "--quiet", "--no-verbose", "--cleanup=whitespace")
    return run(project, *words, seconds=seconds)


def return_to_branch(project: str, branch: str) -> bool:
    """Checks a branch out again that somebody has left, if it has nothing that HEAD has not: the
    branch moves on to HEAD, and no file changes. Tells whether that was so; the other branch
    stays."""
    ref, head = f"refs/heads/{branch}", git.head(project)
    tip = commit_of(project, branch)
    if not (head and tip) or not is_ancestor(project, tip, head):
        return False
    words = ("update-ref", "-m", "sisyphus: go on from HEAD", ref, head, tip)
    return run(project, *words).code == 0 and run(project, "symbolic-ref", "HEAD", ref).code == 0


def changed_between(project: str, base: str, branch: str) -> list[str]:
    """Returns the names of the files that a branch has changed since it left another one."""
    return _names(project, "diff", "--name-only", "-z", "--no-renames", f"{base}...{branch}", "--")


def conflicts(project: str, branch: str) -> list[str] | None:
    """Returns the names of the files in which a branch conflicts with HEAD; None = unknown: git is
    older than 2.38. Nothing is merged."""
    done = run(project, "merge-tree", "--write-tree", "--name-only", "-z", "HEAD", branch)
    if done.code not in (0, 1) or done.is_cut:
        return None
    names = done.output.split("\0")[1:]
    return names[: names.index("")] if done.code and "" in names else []


# ---------------------------------------------------------------- refs


class Ref(Record, frozen=True):
    """A branch, or another name of a commit.

    tree: the worktree in which this branch is checked out; "" = in none. is_head: that is the one
    we asked in.
    """

    commit: str
    tree: str
    is_head: bool


def refs(project: str, *patterns: str) -> dict[str, Ref]:
    """Returns refs by their full names. patterns: full names, or what is above them."""
    form = "--format=%(objectname)%00%(HEAD)%00%(refname)%00%(worktreepath)"
    done = run(project, "for-each-ref", form, *patterns, tail=MOST_NAME_BYTES)
    lines = done.output.split("\n") if done.code == 0 else []
    fields = (line.split("\0") for line in lines if line)
    return {name: Ref(commit, tree, mark == "*") for commit, mark, name, tree in fields}


def move_refs(project: str, new: Mapping[str, str], old: Mapping[str, str]) -> CommandResult:
    """Moves refs all at once, or none if one is not where it was. new: full names → commits; "" =
    it is deleted. old: where they have to be; others may be anywhere."""
    lines = ["start"]
    for name, commit in new.items():
        was = f" {old[name]}" if name in old else ""
        lines.append(f"update {name} {commit}{was}" if commit else f"delete {name}{was}")
    asked = "\n".join([*lines, "commit", ""]).encode()
    return run(project, "update-ref", "-m", "sisyphus: merge", "--stdin", stdin=asked)


def fork_point(project: str, one: str, other: str) -> str:
    """Returns the last commit that two histories share; "" = they share none."""
    done = run(project, "merge-base", one, other)
    return done.output.strip() if done.code == 0 else ""


# ---------------------------------------------------------------- setting work aside


def staged_since(project: str, base: str) -> list[str]:
    """Returns the names of the files that differ between a commit and what is staged."""
    words = ("diff", "--cached", "--name-only", "-z", "--no-renames", base, "--")
    return _names(project, *words)


def _names(project: str, *words: str) -> list[str]:
    """Returns what a command prints with a NUL behind each name."""
    output = run(project, *words, tail=MOST_NAME_BYTES).output
    return [name for name in output.split("\0") if name]


def save_to_branch(project: str, name: str, message: str, base: str, branch: str) -> CommandResult:
    """Commits what is staged to a new branch, without a hook: half work need not pass. HEAD and
    the files stay as they are. Returns the name of the branch as the output; if it fails, what git
    says.

    name: of the branch; if there is one of that name with other content, a number is added. base:
    the commit to which the work tree and `branch` will go back. What that branch has, and HEAD and
    the commit have not, gets a branch of such a name, too.
    """
    for done in (run(project, "add", "--update", "--", ":/"), stage_left(project, base)):
        if done.code:
            return done
    tree, head = run(project, "write-tree"), git.head(project)
    if tree.code:
        return tree
    tip = commit_of(project, branch)
    if tip and not any(is_ancestor(project, tip, each) for each in (base, head) if each):
        done = _branch_at(project, name, tip)
        if done.code:
            return done
    if not head or tree.output.strip() != tree_of(project, head):
        text, id = message.encode("utf-8", "replace"), tree.output.strip()
        parents = ("-p", head) if head else ()
        made = run(project, "commit-tree", id, *parents, "-F", "-", stdin=text)
        if made.code:
            return made
        head = made.output.strip()
    return _branch_at(project, name, head)


def stage_left(project: str, base: str) -> CommandResult:
    """Stages what was taken out of git's hands and is still there, or lies where files of a commit
    were: it would be overwritten by those."""
    words = ("diff", "--cached", "--name-only", "-z", "--no-renames", "--diff-filter=D", base, "--")
    done = run(project, *words, tail=MOST_NAME_BYTES)
    if done.code or done.is_cut:
        return processes.CommandResult(done.code or 1, "Too many files were deleted.")
    found = (_in_the_way(project, name) for name in done.output.split("\0") if name)
    names = [name for name in dict.fromkeys(found) if name]
    folders = [name for name in names if os.path.isdir(os.path.join(project, name))]
    files = "\0".join(name for name in names if name not in folders).encode("utf-8", "replace")
    # `add` compares each file with each name: thousands of them take minutes.
    done = run(project, "update-index", "--add", "--replace", "-z", "--stdin", stdin=files)
    if done.code or not folders:
        return done
    return run(project, "add", "--force", "--", *(f":(top,literal){each}" for each in folders))


def _in_the_way(project: str, name: str) -> str:
    """Returns the name of what lies where a file is to come: at its path, or instead of a folder
    above it; "" = nothing does."""
    start = ""
    for part in name.split("/"):
        start = os.path.join(start, part)
        path = os.path.join(project, start)
        if not os.path.lexists(path):
            return ""
        if os.path.islink(path) or not os.path.isdir(path):
            break
    return start


def file_at(project: str, commit: str, path: str) -> bytes | None:
    """Returns a file of a commit as it would be checked out; None = there is none, or it is a link,
    or no UTF-8. path: absolute."""
    name = os.path.relpath(path, project)
    if not run(project, "ls-tree", commit, "--", f":(literal){name}").output.startswith("100"):
        return None
    done = run(project, "cat-file", "--filters", f"{commit}:{name}", tail=MOST_BYTES)
    if done.code or done.is_cut or "\ufffd" in done.output:
        return None
    return done.output.encode()


def _branch_at(project: str, name: str, commit: str) -> CommandResult:
    """Makes a branch at a commit, or finds the one with the same content from the same parent."""
    for number in range(1, _MOST_NAMES):
        branch = f"{name}-{number}" if number > 1 else name
        ref = f"refs/heads/{branch}"
        known = _commit_at(project, ref)
        if known and _content(project, known) == _content(project, commit):
            return processes.CommandResult(0, branch)
        if known:
            continue
        done = run(project, "update-ref", ref, commit, "0" * len(commit))
        return processes.CommandResult(done.code, done.output if done.code else branch)
    return processes.CommandResult(1, f"There are {_MOST_NAMES:,} branches like {name}.")


def has_branch(project: str, branch: str) -> bool:
    """Tells whether there is a branch of this name."""
    return bool(commit_of(project, branch))


def commit_of(project: str, branch: str) -> str:
    """Returns the last commit of a branch; "" = there is none of this name."""
    return _commit_at(project, f"refs/heads/{branch}")


def _commit_at(project: str, ref: str) -> str:
    """Returns the commit that a ref names; "" = there is no such ref."""
    done = run(project, "rev-parse", "--verify", "--quiet", ref)
    return done.output.strip() if done.code == 0 else ""


def tree_of(project: str, commit: str) -> str:
    """Returns the name of the tree of a commit."""
    return run(project, "rev-parse", f"{commit}^{{tree}}").output.strip()


def _content(project: str, commit: str) -> str:
    return run(
        project, "show", "--no-patch", "--no-show-signature", "--format=%T %P", commit
    ).output


def go_back(project: str, branch: str, commit: str, saved: str) -> CommandResult:
    """Checks a commit of a branch out, and makes that the last one of the branch. saved: the branch
    with what is in the work tree, see `save_to_branch`. git refuses where a file is not as it was
    saved; `reset --hard` would overwrite it, even one that its user told git to assume
    unchanged."""
    for words in (
        *(((stopped, "--quit"),) if (stopped := git.unfinished(project)) in END_BY_QUIT else ()),
        ("symbolic-ref", "HEAD", f"refs/heads/{branch}"),
        ("read-tree", "-m", "-u", "--no-recurse-submodules", f"refs/heads/{saved}", commit),
        ("reset", "--quiet", commit),
    ):
        done = run(project, *words)
        if done.code:
            break
    return done
