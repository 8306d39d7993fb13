"""What is wrong with a project's rules, or will surprise their author."""

from __future__ import annotations

import json
import os

from sisyphus.clients.claude_code import SETTINGS
from sisyphus.clients.claude_code_setup import EXCLUDES, beside_paths, exclude_glob
from sisyphus.paths import display
from sisyphus.rules.discover import Problem
from sisyphus.rules.match import decisive
from sisyphus.rules.report import problem_row
from sisyphus.rules.sources import HOME
from sisyphus.rules.survey import survey

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.rules.globs import Compiled
    from sisyphus.rules.parse import Rule
    from sisyphus.rules.survey import Told
    from sisyphus.workspace import Workspace

MAX_PROJECT_FILES = 50_000
"""In a larger project it is not said that a glob matches nothing."""


def lint(space: Workspace, told: Told | None = None) -> list[Json]:
    """Each finding with label, path, line (0 = the whole file) and problem, by file and line.

    `told(done, total)` hears how far it is, in rules.
    """
    found = survey(space.root, space.home, told)
    problems = list(found.problems)
    files = _Files(space.root)
    for rule in found.rules:
        problems += _loaded_twice(rule)
        problems += _sent_by_both(rule)
        problems += _idle_globs(rule, files)
    problems.sort(key=lambda problem: (problem.label, problem.line))
    return [problem_row(problem) for problem in problems]


def exclude_pattern(rule: Rule, *, shared: bool = True) -> str:
    """The entry of the client's excludes that leaves this rule to us alone.

    A project lies elsewhere for everybody who shares its settings: there the entry names each rule
    of that name, in the user's own folder as well. Elsewhere it is the path of this one.
    """
    folder = os.path.join(".claude", "rules") + os.sep
    _, found, rest = rule.path.partition(folder)
    if not shared or not found or rule.source == HOME:
        return exclude_glob(rule.path)
    return f"**/.claude/rules/{exclude_glob(rest)}"


def is_loaded_twice(rule: Rule) -> bool:
    """Whether the client loads a rule whole at start that is ours to send."""
    return rule.loaded and rule.native == []


def _loaded_twice(rule: Rule) -> list[Problem]:
    if not is_loaded_twice(rule):
        return []
    text = (
        f"Claude Code does not know '{', '.join(rule.scope)}' and also loads this file whole at "
        f"session start; {_exclusion(rule)} prevents that"
    )
    return [Problem(rule.label, rule.path, text)]


def _sent_by_both(rule: Rule) -> list[Problem]:
    if not rule.native:
        return []
    keys = ", ".join(beside_paths(rule.scope, always=rule.always))
    remedy = "remove 'paths'" if rule.always else "put all its globs under 'paths'"
    text = (
        f"Claude Code sends this file for its 'paths' alone, sisyphus for '{keys}', so it can "
        f"arrive twice; {remedy}, or {_exclusion(rule)} leaves it to sisyphus"
    )
    return [Problem(rule.label, rule.path, text)]


def _exclusion(rule: Rule) -> str:
    pattern = json.dumps(exclude_pattern(rule), ensure_ascii=False)
    return f'"{EXCLUDES}": [{pattern}] in the client\'s {SETTINGS}'


class _Files:
    """Every file of a project outside `.git`, relative to it."""

    def __init__(self, root: str) -> None:
        self._paths: list[str] = []
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if name != ".git"]
            self._paths += [display(os.path.join(folder, name), root) for name in names]
            if len(self._paths) > MAX_PROJECT_FILES:
                break
        self.too_many = len(self._paths) > MAX_PROJECT_FILES
        self._all = "".join(f"/{path}/\n" for path in self._paths)

    def have(self, compiled: Compiled) -> bool:
        """Whether the glob matches one of them; most are answered by one search for its literal."""
        return compiled[1] in self._all and any(
            decisive([compiled], path) is not None for path in self._paths
        )


def _idle_globs(rule: Rule, files: _Files) -> list[Problem]:
    if files.too_many or rule.source == HOME or rule.patterns is None:
        return []
    idle = dict.fromkeys(glob for glob, (includes, _, _) in rule.patterns if includes)
    for glob, compiled in rule.patterns:
        if glob in idle and files.have(compiled):
            del idle[glob]
    return [Problem(rule.label, rule.path, f"'{glob}' matches no file here") for glob in idle]
