"""Finds what is wrong with a project's rules or will surprise their author."""

import json
import os
from collections.abc import Iterator
from itertools import islice

from sisyphus import clients
from sisyphus.ground import files, paths
from sisyphus.ground.record import Record
from sisyphus.ground.store import Store
from sisyphus.rules.index import Index, Roots, current
from sisyphus.rules.match import MAX_DEPTH
from sisyphus.rules.pattern import last_match
from sisyphus.rules.rule import BY_HAND, Rule

MAX_PROJECT_FILES = 50_000
"""In a larger project we do not report globs that match nothing."""

_SETTING = clients.native(clients.CLAUDE_CODE).RULES_SETTING
_NESTED = "/.cursor/rules/"


class Finding(Record, frozen=True):
    """line: counts from 1; 0 = the whole file."""

    label: str
    line: int
    problem: str


class Inspection(Record, frozen=True):
    """All rules of a project, and what is wrong with them."""

    rules: list[Rule]
    findings: list[Finding]


def inspect(store: Store, roots: Roots, unscoped: str) -> Inspection:
    """Reads the rules of a project, those of folders with their own `.cursor/rules` too. Findings
    are sorted by file and line.

    unscoped: the setting `rules.unscoped`.
    """
    names = list(_files(roots.project))
    rules: list[Rule] = []
    findings: set[Finding] = set()
    for folder in ["", *_folders_with_rules(names, roots.project)]:
        if folder.count("/") > MAX_DEPTH:
            problem = f"they are not read: the limit is {MAX_DEPTH} folders deep"
            findings.add(Finding(f"{folder}.cursor/rules", 0, problem))
            continue
        index = current(store, roots, os.path.join(roots.project, folder).rstrip(os.sep))
        inner = [name.removeprefix(folder) for name in names if name.startswith(folder)]
        rules += index.rules
        findings.update(_findings(index, roots.project, inner, unscoped))
    return Inspection(rules, sorted(findings, key=_place))


def _folders_with_rules(names: list[str], project: str) -> list[str]:
    """Returns the folders below the root that have rules and are not projects of their own, each
    with a slash at its end."""
    folders = {name[: name.index(_NESTED) + 1] for name in names if _NESTED in name}
    return sorted(folder for folder in folders if not paths.has_git(os.path.join(project, folder)))


def _place(finding: Finding) -> tuple[str, int, str]:
    return finding.label, finding.line, finding.problem


def _findings(index: Index, project: str, names: list[str], unscoped: str) -> Iterator[Finding]:
    """Yields what is wrong with the rules of one folder. names: its files, relative to it."""
    yield from (Finding(*problem) for problem in index.problems)
    for rule in index.rules:
        problems = [*rule.problems, *_surprises(rule, project, unscoped)]
        if not rule.is_home and len(names) < MAX_PROJECT_FILES:
            problems += [
                (_line_of_glob(rule, glob), f"'{glob}' matches no file here")
                for glob in _idle_globs(rule, names)
            ]
        yield from (Finding(rule.label, line, problem) for line, problem in problems)


def _surprises(rule: Rule, project: str, unscoped: str) -> Iterator[tuple[int, str]]:
    if rule.loads_twice:
        keys = ", ".join(f"'{key}'" for key in rule.keys) or "alwaysApply: false"
        yield (
            rule.lines.get(next(iter(rule.keys), "alwaysApply"), 0),
            f"Claude Code ignores {keys} and also loads this file at every session start; "
            "to stop that, run `sisyphus install` or, with the plugin, put "
            f'"{_SETTING}": [{_glob(rule, project)}] into its settings',
        )
    native = rule.keys.get("paths")
    if native and (others := [key for key, some in rule.keys.items() if some != native]):
        names = ", ".join(f"'{key}'" for key in others)
        yield (
            rule.lines.get("paths", 0),
            f"a client that reads 'paths' ignores {names}; put all globs under one key",
        )
    if rule.mode == BY_HAND and unscoped != "send":
        yield (
            0,
            "it has no globs, so it is never sent automatically; "
            'set rules.unscoped = "send" to send it',
        )


def _glob(rule: Rule, project: str) -> str:
    """Returns the glob of this rule for that setting, valid on every machine that shares the
    project."""
    names = paths.names(rule.path, project)
    return json.dumps(f"**/{names[0]}" if names else rule.path, ensure_ascii=False)


def _idle_globs(rule: Rule, names: list[str]) -> list[str]:
    """Returns the globs that match none of these files."""
    including = [pattern for pattern in rule.patterns if pattern.includes]
    idle = dict.fromkeys(pattern.glob for pattern in including)
    for pattern in including:
        if any(last_match([pattern], name) for name in names):
            idle.pop(pattern.glob, None)
    return list(idle)


def _line_of_glob(rule: Rule, glob: str) -> int:
    """Returns the line of the key that has the glob."""
    key = next(key for key, some in rule.keys.items() if glob in some)
    return rule.lines.get(key, 0)


def _files(project: str) -> Iterator[str]:
    """Yields the project's files outside `.git`, relative to it; at most `MAX_PROJECT_FILES`."""
    for path in islice(files.walk(project, (".git",)), MAX_PROJECT_FILES):
        yield os.path.relpath(path, project).replace(os.sep, "/")
