"""Which rules and documents of a project were sent where, how often, and which never."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sisyphus import journal
from sisyphus.context import report as context
from sisyphus.journal import Sendings
from sisyphus.paths import display
from sisyphus.rules import report as rules

if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.memory import Memory
    from sisyphus.workspace import Workspace

LATEST = 5
"""So many sessions are named of each text."""

RULES, DOCUMENTS = "rules", ("readme", "agents")
HANDOFF, LEVEL = "checkpoint", "level"
_BY_US = (rules.OURS, rules.BOTH)


def usage(space: Workspace, memory: Memory) -> Json:
    """`rules`, in the order in which they go out, and `documents`: a row each, with `times`,
    `sessions`, `last` (None = never) and `latest` (session ids, the latest first). `never`: how
    many rules are ours to send and never were. `gone`: what was sent of rules that are none now.
    `others`: plans, loops, handoffs and what was said of full contexts. `sessions`: how many the
    project has had. What was sent is known as long as the journal is kept."""
    mine = journal.sessions(memory, project=space.root)
    sent = journal.sendings(memory, space.root)
    found = rules.list_rules(space)
    listed = [_rule(row, sent) for row in found["rules"]]
    told = context.report(space)
    documents = [_document(row, space.root, sent) for row in told["documents"]]
    rest = [_named(name, sendings) for name, sendings in sent.items()]
    return {
        "project": space.root,
        "sessions": len(mine),
        "forgetting": 0,
        "enabled": found["enabled"],
        "documents_enabled": told["enabled"],
        "rules": listed,
        "never": sum(row["sent_by"] in _BY_US and not row["times"] for row in listed),
        "documents": documents + [_of_folder(row, space) for row in rest if _is_document(row)],
        "gone": [row for row in rest if row["kind"] == RULES],
        "others": [row for row in rest if row["kind"] != RULES and not _is_document(row)],
        "problems": found["problems"],
    }


def _label(kind: str, name: str) -> str:
    return f"{kind} {name}" if name else kind


def _as_json(was: Sendings) -> Json:
    return {
        "times": was.times,
        "sessions": len(was.sessions),
        "last": was.last or None,
        "latest": [session for session, _ in was.sessions.most_common(LATEST)],
    }


def _rule(row: Json, sent: dict[str, Sendings]) -> Json:
    """Takes what was sent of the rule out of `sent`."""
    kept = ("label", "applies", "globs", "description", "characters", "sent_by")
    was = sent.pop(_label(RULES, row["label"]), Sendings())
    return {**{name: row[name] for name in kept}, **_as_json(was)}


def _document(row: Json, root: str, sent: dict[str, Sendings]) -> Json:
    """Takes what was sent of the document out of `sent`."""
    name = display(row["path"], root)
    was = Sendings()
    for kind in DOCUMENTS:
        was = sent.pop(_label(kind, name), was)
    return {"name": name, "is_sent": row["sent"], "reason": row["reason"], **_as_json(was)}


def _is_document(row: Json) -> bool:
    return row["kind"] in DOCUMENTS


def _of_folder(row: Json, space: Workspace) -> Json:
    """Of a document that is not the project's own."""
    is_on = space.settings.get("context.directory_readme")
    why = "on the first touch of its folder" if is_on else "context.directory_readme is false"
    return {**row, "is_sent": is_on, "reason": why}


def _named(name: str, was: Sendings) -> Json:
    """What is sent of a filling context has no file; a handoff has one."""
    kind, _, file = name.partition(" ")
    kind = LEVEL if kind == HANDOFF and not file else kind
    return {"kind": kind, "name": file, **_as_json(was)}
