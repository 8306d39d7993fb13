"""What people are told about rules: which there are, and what becomes of each for one file."""

from __future__ import annotations

import os

from sisyphus.clients import client_named
from sisyphus.rules.match import covers, decisive
from sisyphus.rules.sources import HOME
from sisyphus.rules.survey import survey
from sisyphus.rules.target import relative
from sisyphus.session.store import sent_hashes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.rules.discover import Problem
    from sisyphus.rules.parse import Rule
    from sisyphus.rules.survey import Told
    from sisyphus.workspace import Workspace

CLIENT, OURS, BOTH, NOBODY = "client", "sisyphus", "both", "nobody"


def list_rules(space: Workspace, told: Told | None = None) -> Json:
    """Every rule in the order in which they go out, and what was found wrong on the way.

    `told(done, total)` hears how far it is.
    """
    found = survey(space.root, space.home, told)
    return {
        "project": space.root,
        "enabled": space.settings.get("rules.enabled"),
        "rules": [_row(rule, space.client) for rule in found.rules],
        "problems": [problem_row(problem) for problem in found.problems],
    }


def explain(space: Workspace, file: str, session: str) -> Json:
    """What becomes of each rule when a tool touches `file`, and why.

    `session` is a session's id (for a subagent `SESSION@AGENT`); "" = of no certain session. A
    rule's `sent` is null where that cannot be known.
    """
    path, inside = relative(os.path.join(space.cwd, file), space.root)
    found = survey(space.root, space.home)
    own, _, agent = session.partition("@")
    sent = sent_hashes(space.memory, space.client, own, agent) if session else None
    return {
        "file": path,
        "project": space.root,
        "enabled": space.settings.get("rules.enabled"),
        "session": session,
        "rules": [_verdict(rule, path, inside, sent, space) for rule in found.rules],
        "problems": [problem_row(problem) for problem in found.problems],
    }


def problem_row(problem: Problem) -> Json:
    return {
        "label": problem.label,
        "path": problem.path,
        "line": problem.line,
        "problem": problem.text,
    }


def _row(rule: Rule, client: str) -> Json:
    return {
        "label": rule.label,
        "path": rule.path,
        "applies": _applies_to(rule),
        "globs": rule.scope,
        "priority": rule.priority,
        "tags": rule.tags,
        "description": rule.description,
        "characters": rule.length,
        "sent_by": _sender(rule, client),
        "hash": rule.hash,
    }


def _applies_to(rule: Rule) -> str:
    if rule.asked:
        return "on request"
    return "always" if rule.patterns is None else "by globs"


def _sender(rule: Rule, client: str) -> str:
    if not client_named(client).LOADS_RULES or rule.native == []:
        return _without_client(rule)
    return CLIENT if rule.native is None else BOTH


def _sender_for(rule: Rule, path: str, client: str) -> str:
    is_native = client_named(client).LOADS_RULES and covers(rule.native, path)
    return CLIENT if is_native else _without_client(rule)


def _without_client(rule: Rule) -> str:
    return NOBODY if rule.asked or not rule.body else OURS


def _verdict(
    rule: Rule, path: str, inside: bool, sent: frozenset[str] | None, space: Workspace
) -> Json:
    applies, pattern, why = _applies(rule, path, inside=inside)
    sender = _sender_for(rule, path, space.client)
    was_sent = rule.hash in sent if sent is not None and sender == OURS else None
    return {
        "label": rule.label,
        "path": rule.path,
        "applies": applies,
        "pattern": pattern,
        "why": why,
        "sent_by": sender,
        "sent": was_sent,
        "sending": _sending(rule, sender, applies, was_sent, space),
    }


def _applies(rule: Rule, path: str, *, inside: bool) -> tuple[bool, str, str]:
    """Whether the rule covers the file, the glob that decides, and the reason in words."""
    if not inside and rule.source != HOME:
        return False, "", "the file is outside the project: home rules alone reach it"
    if rule.asked:
        return False, "", "alwaysApply is false and it has no globs: only its description asks"
    if rule.patterns is None:
        return True, "", "it applies to every file"
    index = decisive([compiled for _, compiled in rule.patterns], path)
    if index is None:
        return False, "", "none of its globs matches"
    glob, (includes, _, _) = rule.patterns[index]
    return includes, glob, f"{'matched' if includes else 'excluded'} by {glob}"


def _sending(
    rule: Rule, sender: str, applies: bool, was_sent: bool | None, space: Workspace
) -> str:
    if sender == CLIENT:
        return f"Claude Code sends it itself, {_when(rule)}"
    if sender == NOBODY:
        return "never sent: it has no text" if not rule.body else "never sent by itself"
    if not space.settings.get("rules.enabled"):
        return "not sent: rules.enabled is false"
    if was_sent:
        return "sent in this session"
    if not applies:
        return "not sent for this file"
    return (
        "sent when a tool touches the file"
        if was_sent is None
        else "not sent yet: on the next touch"
    )


def _when(rule: Rule) -> str:
    if "paths" not in rule.scope:
        return "at session start"
    return "on its first match" if rule.native is None else "on the first match of its 'paths'"
