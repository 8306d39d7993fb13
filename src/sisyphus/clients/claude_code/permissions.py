"""Which shell commands Claude Code lets an agent run that nobody watches, by its settings.

What a rule is for stands at code.claude.com/docs/en/permissions, and each form was tried on 2.1.329
with `-p`: `Bash`, `Bash(*)`, `Bash(make:*)`, which is `Bash(make *)`, a `*` elsewhere, and exact
commands. Of `cd app && make`, each part needs a rule, or the whole has one. A rule to ask denies,
because nobody answers.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

from sisyphus.clients import hook_groups, json_files, values
from sisyphus.clients.claude_code import native, schema
from sisyphus.ground import files, git, paths, quoting, repository
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.record import Record
from sisyphus.ground.text import one_line

Json = dict[str, Any]

_READING = frozenset((
    "ls", "cat", "echo", "pwd", "head", "tail", "grep", "find", "wc", "which", "diff", "stat", "du",
    "cd", "git",
    "true", "false", "test", "[", "[[", "sort", "rg", "jq", "cmp", "file", "printf", "sleep", "tr",
    "cut", "comm", "md5sum", "sha1sum", "sha256sum", "tree", "fd", "date", "type", "expr", "xargs",
    "docker",
    "mkdir", "touch", "mv", "cp", "rm", "rmdir", "sed",
    "for", "case", "fi", "done", "esac", "{", "}",
))  # fmt: skip
"""Programs that it may run without a rule. The first two lines are what that page says under
"Read-only commands" (of git, some forms); the next four were measured; then what acceptEdits
allows, as its page on permission modes says; then words of the shell, not programs."""

_BEFORE = re.compile(
    r"(?:(?:\w+=\S*|timeout\s+\S+|time|nice|nohup|command|if|then|elif|else|do|while|until|!)\s+)*+"
)
"""What may stand before a program: the client looks past it, or might."""

_PART = re.compile(r"""(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[<>]&|&>|[^;&|\n])+""")
"""A command between two operators of the shell."""

_ODD = re.compile(r"[()$`{}\\<\n]|(?:^|[;&|]\s*)(?:if|while|until|!)\s")
"""What may keep the client from taking a command apart: rules for its parts are not enough then."""

_UNCLEAR = re.compile(r"<<|>(?!\s*(?:&|/dev/null))")
"""A redirection, for which a rule may not be enough (measured): it writes a file, or has a text."""

_LAST_REDIRECTIONS = re.compile(r"(?:\s+(?:\d?>&\d|[\d&]?>\s*/dev/null))+\Z")
"""What a command that is advised ends with often: the rule is for the command before it."""

_MODES = ("acceptEdits", "dontAsk")
"""The modes in which rules decide. In the others it runs everything, or a classifier decides."""

_GUARDS = ("PreToolUse", "PermissionRequest")
"""The events of which a hook may allow a command (measured)."""

_TOOLS = re.compile(r"[\w|]+")
"""A matcher of hooks that names tools, and is no pattern."""

_NAMES, _RULES, _CHARACTERS = 3, 8, 80
"""The most commands and rules that a warning has, and of how many characters a command is shown."""

_RULE_CHARACTERS = 300
"""Nobody is told to write a longer rule."""

_MOST = 500
"""So many commands and rules are looked at: plan and settings may be a stranger's."""

_ORGANISATION = ("/etc/claude-code", "/Library/Application Support/ClaudeCode")
"""Where an organisation's settings are."""


class _Rule(Record, frozen=True):
    """A permission rule for the shell. path: of its file. kind: "allow", "ask" or "deny". pattern:
    of the commands that it is for."""

    path: str
    kind: str
    text: str
    pattern: re.Pattern[str]

    def is_for(self, *texts: str) -> bool:
        return any(self.pattern.match(text) for text in texts)


def why_not_allowed(commands: Iterable[str], home: str, project: str, mode: str) -> str:
    """See `clients.base.Headless`. Hooks of plugins, which may allow more, are not looked at."""
    rules = _rules(home, project) if mode in _MODES else None
    if rules is None:
        return ""
    names, new, obstacles = [], [], []
    for command in [*dict.fromkeys(commands)][:_MOST]:
        missing, against = _missing_rules(command, rules), _rules_against(command, rules)
        if (missing or against) and all(len(rule) <= _RULE_CHARACTERS for rule in missing):
            names.append(quoting.code(command, _CHARACTERS))
            new += missing
            obstacles += against
    if not names:
        return ""
    more = f" and {len(names) - _NAMES:,} more" if len(names) > _NAMES else ""
    sentences = (
        f"In {mode}, the agent of Claude Code may not run {', '.join(names[:_NAMES])}{more}: your "
        "settings do not allow it.",
        *_obstacles(obstacles, project),
        *_advice([*dict.fromkeys(new)][:_RULES], home, project),
    )
    return " ".join(sentences)


# ---------------------------------------------------------------- what the settings say


def _rules(home: str, project: str) -> list[_Rule] | None:
    """Returns the rules of the settings; None if something else may allow a command."""
    if any(map(os.path.lexists, _other_settings(project))):
        return None
    rules = []
    for path in native.settings_paths(home, project):
        settings = _read(path)
        if settings is None or _may_allow_more(settings):
            return None
        permissions = values.mapping(settings.get("permissions"))
        for kind in ("allow", "ask", "deny"):
            texts = map(values.text, values.items(permissions.get(kind))[: _MOST + 1])
            rules += [_Rule(path, kind, text, p) for text in texts if (p := _pattern(text))]
    return rules if len(rules) <= _MOST else None


def _other_settings(project: str) -> Iterator[str]:
    """Yields what may hold rules besides the user's and the project's files: an organisation's
    settings, and the local ones of the checkout to which a worktree or subfolder belongs
    (measured)."""
    yield from _ORGANISATION
    root = next((each for each in paths.ancestors(project) if git.is_repository(each)), "")
    checkout = os.path.dirname(git.common_folder(root)) if root else project
    if checkout != project:
        yield os.path.join(checkout, ".claude", "settings.local.json")


def _read(path: str) -> Json | None:
    """Returns the content of a settings file, {} if there is none; None if the client may take it
    for something else than we do."""
    if not os.path.lexists(path):
        return {}
    try:
        text = files.read(path)
        return None if schema.problem(text) else json_files.parse(text)
    except UnreadableError:
        return None


def _may_allow_more(settings: Json) -> bool:
    """Tells whether there is a sandbox in which commands need no rule, or a hook that is not ours
    and may allow them."""
    if values.mapping(settings.get("sandbox")).get("enabled") or hook_groups.problem(settings):
        return True
    hooks = values.mapping(hook_groups.without_ours(settings).get("hooks"))
    groups = [values.mapping(each) for event in _GUARDS for each in values.items(hooks.get(event))]
    matchers = [values.text(group.get("matcher")) for group in groups]
    return any(not _TOOLS.fullmatch(each) or "Bash" in each.split("|") for each in matchers)


def _pattern(rule: str) -> re.Pattern[str] | None:
    """Returns the pattern of the commands that a rule is for; None if it is not for the shell."""
    if rule == "Bash":
        rule = "Bash(*)"
    if not (rule.startswith("Bash(") and rule.endswith(")")):
        return None
    text = rule[5:-1]
    if text.endswith(":*"):
        text = f"{text[:-2]} *"
    glob = fnmatch.translate(text.replace("[", "[[]").replace("?", "[?]"))
    is_prefix = text.endswith(" *") and text.count("*") == 1
    return re.compile(rf"{re.escape(text[:-2])}\Z|{glob}" if is_prefix else glob)


# ---------------------------------------------------------------- what they mean for a command


def _missing_rules(command: str, rules: Iterable[_Rule]) -> list[str]:
    """Returns the rules that would allow a command; none = perhaps it is allowed."""
    allows = [rule for rule in rules if rule.kind == "allow"]
    if _UNCLEAR.search(command) or any(_allows_whole(rule, command) for rule in allows):
        return []
    parts = [part for part in _parts(command) if not _may_run(part, allows)]
    if parts and _ODD.search(command):
        return [f"Bash({command})"]
    return [_rule_for(part) for part in parts]


def _allows_whole(rule: _Rule, command: str) -> bool:
    """Tells whether one rule allows all parts of a command. `Bash(make *)` does not allow `make a
    && make b`."""
    return rule.is_for(command) and ("*" not in rule.text or len(_parts(rule.text)) > 1)


def _rules_against(command: str, rules: Iterable[_Rule]) -> list[_Rule]:
    """Returns the rules that forbid a command: one that is for a part of it does."""
    parts = _parts(command)
    texts = [command, *parts, *map(_without_words_before, parts)]
    return [rule for rule in rules if rule.kind != "allow" and rule.is_for(*texts)]


def _parts(command: str) -> list[str]:
    return [part for part in map(str.strip, _PART.findall(command)) if part]


def _may_run(part: str, allows: Iterable[_Rule]) -> bool:
    bare = _without_words_before(part)
    words = bare.split()
    is_harmless = not words or words[0].lstrip("\\") in _READING or words[-1] == "--version"
    return is_harmless or any(rule.is_for(part, bare) for rule in allows)


def _without_words_before(part: str) -> str:
    return _BEFORE.sub("", part, count=1)


def _rule_for(part: str) -> str:
    """Returns the rule for a command and no other: one for its program would allow `make deploy`,
    too, where `make test` is the check."""
    command = _LAST_REDIRECTIONS.sub("", part)
    return f"Bash({command})" if command == part else f"Bash({command}:*)"


# ---------------------------------------------------------------- what people read


def _obstacles(rules: Iterable[_Rule], project: str) -> Iterator[str]:
    """Yields which rules to take out."""
    places = dict.fromkeys((rule.path, rule.kind, rule.text) for rule in rules)
    for path, kind, text in [*places][:_RULES]:
        rule = json.dumps(one_line(text, _CHARACTERS))
        yield f'Take {rule} out of "{kind}" in {paths.display(path, project)}.'


def _advice(rules: list[str], home: str, project: str) -> Iterator[str]:
    """Yields where to write which rules, if there are any, and how git ignores that file: a run
    would be refused that finds it uncommitted."""
    if not rules:
        return
    *_, path = native.settings_paths(home, project)
    name, settings = paths.display(path, project), _read(path) or {}
    line = json.dumps({"permissions": {"allow": rules}})
    if command := repository.how_to_ignore(project, name):
        yield f"Let git ignore {name}: `{command}`."
    if "permissions" in settings:
        yield f'Add to "allow" of "permissions" in {name}: {json.dumps(rules)[1:-1]}'
    else:
        yield f"Put into {name}: {line[1:-1] if settings else line}"
