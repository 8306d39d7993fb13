"""Which rules and documents of a project were sent where, how often, and which never."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sisyphus.context import report as context
from sisyphus.paths import display
from sisyphus.rules import report as rules
from sisyphus.upkeep.sent import label

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sisyphus._types import Json
    from sisyphus.upkeep.summary import Summary
    from sisyphus.workspace import Workspace

LATEST = 5
"""So many sessions are named of each text."""

RULES, DOCUMENTS = "rules", ("readme", "agents")
HANDOFF, LEVEL = "checkpoint", "level"
_BY_US = (rules.OURS, rules.BOTH)


class Sendings:
    """How often one text was sent, to which sessions, and when last (epoch seconds)."""

    def __init__(self) -> None:
        self.times = 0
        self.last = 0.0
        self._sessions: list[tuple[float, str]] = []

    def add(self, session: str, often: int, last: float) -> None:
        self.times += often
        self.last = max(self.last, last)
        self._sessions.append((last, session))

    def as_json(self) -> Json:
        latest = sorted(self._sessions, reverse=True)[:LATEST]
        return {
            "times": self.times,
            "sessions": len(self._sessions),
            "last": self.last or None,
            "latest": [session for _, session in latest],
        }


def usage(space: Workspace, sums: Iterable[Summary]) -> Json:
    """`rules`, in the order in which they go out, and `documents`: a row each, with `times`,
    `sessions`, `last` (None = never) and `latest` (session ids, the latest first). `never`: how
    many rules are ours to send and never were. `gone`: what was sent of rules that are none now.
    `others`: plans, loops, handoffs and what was said of full contexts. `sessions`: how many the
    project has had; `forgetting`: to how many of them more was sent than is remembered. What was
    sent is known as long as journals are kept."""
    mine = [one for one in sums if one.project == space.root]
    sent = sendings(mine)
    found = rules.list_rules(space)
    listed = [_rule(row, sent) for row in found["rules"]]
    told = context.report(space)
    documents = [_document(row, space.root, sent) for row in told["documents"]]
    rest = [_named(name, sendings) for name, sendings in sent.items()]
    return {
        "project": space.root,
        "sessions": len(mine),
        "forgetting": sum(one.forgets_texts for one in mine),
        "enabled": found["enabled"],
        "documents_enabled": told["enabled"],
        "rules": listed,
        "never": sum(row["sent_by"] in _BY_US and not row["times"] for row in listed),
        "documents": documents + [_of_folder(row, space) for row in rest if _is_document(row)],
        "gone": [row for row in rest if row["kind"] == RULES],
        "others": [row for row in rest if row["kind"] != RULES and not _is_document(row)],
        "problems": found["problems"],
    }


def sendings(sums: Sequence[Summary]) -> dict[str, Sendings]:
    """What was sent to these sessions, the text that was sent last first."""
    found: dict[str, Sendings] = {}
    for one in sums:
        for name, (often, last) in one.texts.items():
            found.setdefault(name, Sendings()).add(one.session, often, last)
    return dict(sorted(found.items(), key=lambda item: -item[1].last))


def _rule(row: Json, sent: dict[str, Sendings]) -> Json:
    """Takes what was sent of the rule out of `sent`."""
    kept = ("label", "applies", "globs", "description", "characters", "sent_by")
    was = sent.pop(label(RULES, row["label"]), Sendings())
    return {**{name: row[name] for name in kept}, **was.as_json()}


def _document(row: Json, root: str, sent: dict[str, Sendings]) -> Json:
    """Takes what was sent of the document out of `sent`."""
    name = display(row["path"], root)
    was = Sendings()
    for kind in DOCUMENTS:
        was = sent.pop(label(kind, name), was)
    return {"name": name, "is_sent": row["sent"], "reason": row["reason"], **was.as_json()}


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
    return {"kind": kind, "name": file, **was.as_json()}
