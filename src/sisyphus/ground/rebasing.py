"""Makes the commits of a branch anew on another commit: as they were, without hooks, whatever its
user has set for rebases of their own. It also says what is left to do when such a rebase stops.

A hook has judged each commit when it was made. For a command that its user has typed, as
`repository.py` is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from sisyphus.ground import git, repository
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.processes import CommandResult

_PLAINLY = tuple(
    word
    for setting in (
        f"core.hooksPath={os.devnull}", "commit.cleanup=verbatim", "commit.verbose=false",
        "rebase.autoSquash=false", "rebase.autoStash=false", "rebase.backend=merge",
        "rebase.forkPoint=false", "rebase.rebaseMerges=false", "rebase.updateRefs=false",
        "rerere.enabled=false",
    )
    for word in ("-c", setting)
)  # fmt: skip
"""Settings with which commits stay as they were. `commit.verbose` cuts a message at a line that
looks like the start of a patch."""

_OPEN_MESSAGE = "MERGE_MSG"
"""The file that git writes when a rebase stops, and that any commit removes."""

_FOLDERS = ("rebase-merge", "rebase-apply")
"""Where git has the state of a rebase."""

_LINE_OF_MARK = r"^(<{7,}|>{7,}|[|]{7,}) |^(<{7,}|={7}|>{7,}|[|]{7,})"
_MARK = re.compile(_LINE_OF_MARK + r"\r?$")
_GIT_MARK = _LINE_OF_MARK + ".?$"
"""A line that git writes around the two sides of a conflict, for Python and for git's `-G`, which
knows no `\\r`."""

_MOST_PLACES = 1_000
"""How many places of HEAD we look at."""


# ---------------------------------------------------------------- a rebase


def is_under_way(tree: str) -> bool:
    """Tells whether a rebase has stopped in the middle. Starts no process."""
    return bool(_folder(tree))


def state(tree: str, name: str) -> str:
    """Returns what a rebase that has stopped says of itself: `onto`, `orig-head`, `head-name`; "" =
    nothing. Starts no process."""
    folder = _folder(tree)
    return git.pointer(os.path.join(folder, name)) if folder else ""


def start(tree: str, onto: str) -> CommandResult:
    """Makes the commits of the current branch anew on another commit, with their author and
    message, signed if the user's config says so. One that has nothing to change any more stays."""
    words = ("rebase", "--quiet", "--no-stat", "--empty=keep", "--reapply-cherry-picks", onto)
    return _run(tree, *words)


def pick(tree: str) -> CommandResult:
    """Commits what is staged with the message and the author of the commit at which a rebase has
    stopped, even if that is nothing any more. If somebody has committed that already, only what is
    staged besides is committed."""
    words = ["commit", "--quiet", "--reuse-message=REBASE_HEAD"]
    if os.path.exists(os.path.join(git.folder_of(tree), _OPEN_MESSAGE)):
        words.append("--allow-empty")
    elif not repository.has_staged(tree):
        return CommandResult(0, "")
    return _run(tree, *words)


def go_on(tree: str) -> CommandResult:
    """Goes on with a rebase: all is committed (see `pick`)."""
    return _run(tree, "rebase", "--continue")


def abort(tree: str) -> CommandResult:
    """Ends a rebase; all is as it was before. What was changed since is lost: save it first."""
    return _run(tree, "rebase", "--abort")


def forget(tree: str, branch: str, staged: str) -> CommandResult:
    """Ends a rebase that git knows too little of to end it: the branch is checked out, which has
    not moved yet. staged: the tree with what is in the work tree."""
    for words in (
        ("rebase", "--quit"),
        ("symbolic-ref", "HEAD", f"refs/heads/{branch}"),
        ("read-tree", "-m", "-u", staged, "HEAD"),
    ):
        done = _run(tree, *words)
        if done.code:
            break
    return done


def fast_forward(tree: str, commit: str) -> CommandResult:
    """Moves the branch that is checked out on to a commit, and the files with it. git refuses where
    that would overwrite what somebody has changed."""
    return _run(tree, "merge", "--ff-only", "--no-autostash", "--quiet", commit)


def stray_commits(tree: str, since: str) -> list[str]:
    """Returns the commits at which HEAD has been since it was at another one, and that no ref
    reaches. Raises `SisyphusError`."""
    words = ("log", "--walk-reflogs", "--no-show-signature", f"--max-count={_MOST_PLACES}")
    been = _ask(tree, *words, "--format=%H", "HEAD", "--").split()
    if since in been:
        been = been[: len(been) - been[::-1].index(since)]
    if not been:
        return []
    asked = "\n".join([*been, ""]).encode()
    found = {*_ask(tree, "rev-list", "--stdin", "--not", "--all", stdin=asked).split()}
    return [each for each in dict.fromkeys(been) if each in found]


# ---------------------------------------------------------------- where it has stopped


def unmerged(tree: str) -> dict[str, dict[int, str]]:
    """Returns the files that git could not merge: names → the blobs of the sides that have it: 1
    what both come from, 2 what is checked out, 3 what is brought onto it. Raises
    `SisyphusError`."""
    found: dict[str, dict[int, str]] = {}
    for entry in _ask(tree, "ls-files", "--unmerged", "-z").split("\0"):
        if entry:
            about, _, name = entry.partition("\t")
            _, blob, side = about.split()
            found.setdefault(name, {})[int(side)] = blob
    return found


def untouched(tree: str, files: Mapping[str, Mapping[int, str]]) -> list[str]:
    """Returns the unmerged files that nobody has changed since git stopped: of those without a mark
    of a conflict one that has the content of what was checked out, or that one side has deleted and
    that is still there. Only `git add` and `git rm` say of these that they are as they should be.
    files: see `unmerged`. Raises `SisyphusError`."""
    there = [name for name in files if os.path.isfile(os.path.join(tree, name))]
    one_sided = [name for name in there if not {2, 3} <= files[name].keys()]
    others = [name for name in there if name not in one_sided]
    if not others:
        return one_sided
    asked = "".join(f"{name}\n" for name in others).encode("utf-8", "surrogateescape")
    blobs = _ask(tree, "hash-object", "--stdin-paths", stdin=asked).split()
    now = dict(zip(others, blobs, strict=True))
    return [*one_sided, *(name for name in others if files[name][2] == now[name])]


def with_marks(tree: str, commits: Iterable[str], since: str, until: str = "") -> list[str]:
    """Returns the files in which marks of a conflict are left: lines that none of some commits
    has. since, until: the commits between which the files have changed; "" = the work tree. Raises
    `SisyphusError`."""
    words = ("diff", "--name-only", "-z", "--no-renames", "--no-textconv", "--diff-filter=d")
    ends = (since, until) if until else (since,)
    names = _ask(tree, *words, f"-G{_GIT_MARK}", *ends, "--").split("\0")
    return [name for name in dict.fromkeys(names) if name and _has_marks(tree, name, commits)]


def _has_marks(tree: str, name: str, commits: Iterable[str]) -> bool:
    try:
        with open(os.path.join(tree, name), encoding="utf-8", errors="replace") as file:
            marks = _marks(file.read(repository.MOST_BYTES))
    except OSError:
        return False
    before = texts(tree, *(f"{commit}:{name}" for commit in commits)) if marks else []
    return bool(marks.difference(*(_marks(text) for text in before if text)))


def _marks(text: str) -> set[str]:
    return {line.rstrip() for line in text.splitlines() if _MARK.match(line)}


def take_from_head(tree: str, name: str) -> CommandResult:
    """Ends the conflict in a file: it becomes as HEAD has it."""
    is_there = repository.run(tree, "cat-file", "-e", f"HEAD:{name}").code == 0
    path = f":(top,literal){name}"
    words = ("checkout", "HEAD", "--", path) if is_there else ("rm", "-f", "-q", "--", path)
    return _run(tree, *words)


# ---------------------------------------------------------------- files and commits


def texts(tree: str, *names: str) -> list[str | None]:
    """Returns files as git has them, without filters; None = there is none, or it is no UTF-8.
    names: each as COMMIT:PATH."""
    asked = "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")
    most = len(names) * repository.MOST_BYTES
    done = repository.run(tree, "cat-file", "--batch", stdin=asked, tail=most)
    if done.code or done.is_cut or "\ufffd" in done.output:
        return [_text(tree, name) for name in names]
    data, found = done.output.encode(), list[str | None]()
    for _ in names:
        head, _, data = data.partition(b"\n")
        _, kind, size = (b"", b"missing", b"-1") if head.endswith(b" missing") else head.split()
        found.append(data[: int(size)].decode() if kind == b"blob" else None)
        data = data[int(size) + 1 :]
    return found


def _text(tree: str, name: str) -> str | None:
    done = repository.run(tree, "cat-file", "blob", name, tail=repository.MOST_BYTES)
    return None if done.code or done.is_cut or "\ufffd" in done.output else done.output


def stage_text(tree: str, name: str, text: str) -> CommandResult:
    """Stages a text as the content of a file, as git has it; the work tree has the file from
    before. See `check_out_staged`."""
    made = repository.run(tree, "hash-object", "-w", "--stdin", stdin=text.encode())
    if made.code:
        return made
    entry = repository.run(tree, "ls-files", "--stage", "-z", "--", f":(top,literal){name}")
    mode = entry.output.split(" ")[0] if entry.output and not entry.code else "100644"
    info = f"{mode},{made.output.strip()},{name}"
    return repository.run(tree, "update-index", "--add", "--cacheinfo", info)


def check_out_staged(tree: str, name: str) -> CommandResult:
    """Writes a file as it is staged."""
    return repository.run(tree, "checkout-index", "--force", "--", name)


def amend(tree: str) -> CommandResult:
    """Adds what is staged to the last commit, which keeps its author and message."""
    return _run(tree, "commit", "--quiet", "--amend", "--no-edit", "--allow-empty")


def commit(tree: str, message: str) -> CommandResult:
    """Commits what is staged, without a hook."""
    text = message.encode("utf-8", "replace")
    return _run(tree, "commit", "--quiet", "--file=-", stdin=text)


def squash(tree: str, message: str, parent: str) -> CommandResult:
    """Makes one commit of the current branch since a commit. No file changes."""
    text = message.encode("utf-8", "replace")
    words = ("commit-tree", "HEAD^{tree}", "-p", parent, "-F", "-")
    made = repository.run(tree, *words, stdin=text)
    if made.code:
        return made
    moved = ("update-ref", "-m", "sisyphus: squash", "HEAD", made.output.strip())
    return repository.run(tree, *moved)


def _run(tree: str, *words: str, stdin: bytes = b"") -> CommandResult:
    return repository.run(tree, *_PLAINLY, *words, stdin=stdin)


def _ask(tree: str, *words: str, stdin: bytes = b"") -> str:
    """Returns what git prints. Raises `SisyphusError` if it fails: no answer is no "none"."""
    done = repository.run(tree, *words, stdin=stdin, tail=repository.MOST_NAME_BYTES)
    if done.code or done.is_cut:
        raise SisyphusError(f"`git {words[0]}` did not answer:\n{done.output[-2_000:].strip()}")
    return done.output


def _folder(tree: str) -> str:
    folder = git.folder_of(tree)
    found = (os.path.join(folder, name) for name in _FOLDERS)
    return next(filter(os.path.isdir, found), "")
