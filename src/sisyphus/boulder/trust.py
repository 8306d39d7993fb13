"""Runs the checks of plans that the user trusts.

A plan is a file of a project, perhaps a stranger's, and the model writes plans: nothing in it makes
us run a command. A command runs only if a person has read it, letter by letter, and trusts it in
this project, or for one run.
"""

from __future__ import annotations

import os

from sisyphus.boulder import checks
from sisyphus.boulder.evidence import FAILED, NO_TEST, PASSED
from sisyphus.ground import quick_json
from sisyphus.ground.record import Record, field
from sisyphus.ground.text import has_unseen
from sisyphus.loops import check_files, verify
from sisyphus.sessions.checks import split_at, split_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sisyphus.boulder.plan import Plan
    from sisyphus.ground.store import Store

_LOOKS = ("test", "[", "[[")
"""Programs that only ask whether the files which they name are there."""

_JOINTS = frozenset(("&&", "||", "|", ";", "&", "|&"))

LONGEST = 2_000
"""The most characters of a command that somebody can trust: nobody reads a longer one."""

Digests = dict[str, str]
"""The files that a command depends on → their digests when it was trusted, see `check_files.py`."""


class CheckResult(Record):
    """The end of a check that we have run. ended: see `evidence.py`. how: as the end of a
    sentence. tail: the last lines that it printed. changed: files that it depends on which have
    changed since it was trusted."""

    command: str
    ended: str
    how: str
    tail: str = ""
    changed: list[str] = field(default_factory=list)
    has_timed_out: bool = False

    @property
    def has_passed(self) -> bool:
        return self.ended == PASSED


def why_not(command: str) -> str:
    """Returns why nobody can trust a command, as the end of a sentence; "" = somebody can."""
    if has_unseen(command):
        return "has characters that nobody can see"
    if len(command) > LONGEST:
        return f"is longer than {LONGEST:,} characters: put it into a script"
    return ""


def of_project(store: Store, project: str, run: str = "") -> list[str]:
    """Returns the commands that the user trusts in a project for good, and in a run with this
    id."""
    rows = store.all(
        "SELECT DISTINCT command FROM trusted_check WHERE project = ? AND run IN ('', ?)",
        project, run,
    )  # fmt: skip
    return [row[0] for row in rows]


def allowed(store: Store, project: str, plan: Plan) -> tuple[list[str], list[str]]:
    """Returns the commands of a plan that the user trusts, and the others."""
    named = [*(check for task in plan.tasks for check in task.checks), *plan.checks]
    known = of_project(store, project)
    commands = checks.split(named).commands
    return [c for c in commands if c in known], [c for c in commands if c not in known]


def digests(commands: Iterable[str], project: str) -> dict[str, Digests]:
    """Returns what these commands depend on now. Slow."""
    return {each: check_files.digest_files(each, project) for each in commands}


def add(
    store: Store, project: str, commands: Mapping[str, Digests], now: float, run: str = ""
) -> None:
    """Notes that the user trusts these commands, in an open transaction. run: the id of the run
    that alone may run them; "" = for good."""
    for command, files in commands.items():
        store.run(
            "INSERT OR REPLACE INTO trusted_check (project, command, run, at, files) "
            "VALUES (?, ?, ?, ?, ?)",
            project, command, run, now, quick_json.dumps(files),
        )  # fmt: skip


def forget(store: Store, project: str) -> int:
    """Notes that the user trusts no command in a project any more, in an open transaction; returns
    how many they trusted."""
    rows = store.all("DELETE FROM trusted_check WHERE project = ? RETURNING command", project)
    return len({row[0] for row in rows})


def run(
    store: Store,
    commands: Iterable[str],
    project: str,
    seconds: int,
    run: str = "",
    folder: str = "",
) -> list[CheckResult]:
    """Runs those of these commands that are trusted, in order, up to the first that does not pass.
    seconds: the longest that each may take. run: see `of_project`. folder: where they run; "" = in
    the project."""
    folder = folder or project
    results = []
    for command in commands:
        row = store.one(
            "SELECT files FROM trusted_check WHERE project = ? AND command = ? AND run IN ('', ?) "
            "ORDER BY run DESC",
            project, command, run,
        )  # fmt: skip
        if row is None:
            continue
        # Compare first: the check could restore its own files.
        changed = _changed(quick_json.loads(row[0]), command, folder)
        check = verify.run(command, folder, seconds)
        ended = PASSED if check.has_passed else NO_TEST if check.ran_no_test else FAILED
        late = check.has_timed_out
        results.append(CheckResult(command, ended, check.how, check.tail, changed, late))
        if not check.has_passed:
            break
    return results


def _changed(before: Digests, command: str, project: str) -> list[str]:
    """Returns the files of a check that have changed since it was trusted, without what the work
    itself had to make or to change: a test that the command names and that was not there, and what
    it only looks at."""
    work = set()
    for program, *words in _simple_commands(command):
        names = {os.path.normpath(word.partition("::")[0]) for word in words}
        looks = program.rpartition("/")[2] in _LOOKS
        work |= {name for name in names if looks or not before.get(name)}
    return [path for path in check_files.changed(before, command, project) if path not in work]


def _simple_commands(line: str) -> list[list[str]]:
    """Returns the commands in a command line, each with its words; none if a quote is open."""
    try:
        words = split_words(line)
    except ValueError:
        return []
    return [command for command in split_at(words, _JOINTS) if command]
