"""The page of rules and documents: which files models were sent, and which never."""

from __future__ import annotations

import json

from sisyphus.context.documents import KINDS
from sisyphus.dashboard.page import Desk, Params
from sisyphus.ground.record import Record, field
from sisyphus.ground.store import Store
from sisyphus.hook.session import Session
from sisyphus.rules.index import VERSION
from sisyphus.rules.rule import BY_GLOBS, SISYPHUS
from sisyphus.sessions import sessions

_FILES = 50
_NEVER = 100
_SESSIONS = 5
"""The most files that are shown of each kind, and the most sessions of each."""

_CONTEXTS = 500
"""The ledger of this many contexts is read: that of all sessions may have a million rows."""

RULES = ("rules",)
DOCUMENTS = tuple(KINDS.values())
"""The kinds of texts, in the ledger."""


class Receiver(Record, frozen=True):
    """A session that was sent a file. is_agent: the last time, a subagent of it
    was."""

    id: str
    at: float
    is_agent: bool


class File(Record, frozen=True):
    """A rule or document.

    applies: "always", "by globs", "by hand"; "" = unknown, because no index has it any more. globs:
    as written. sender: "sisyphus", "client" or "nobody"; "" = unknown. times: in how many contexts
    it is. sessions: how many these belong to. last_at: 0 = never.
    receivers: the latest ones.
    """

    path: str
    applies: str
    globs: list[str]
    sender: str
    times: int
    sessions: int
    last_at: float
    receivers: list[Receiver]


class Rules(Record, frozen=True):
    """The files that are in the contexts used last, of sessions and subagents. contexts: how many
    these are. sent, documents: the last sent first; more, more_documents: how many others. never:
    rules that are known and in none of the contexts; more_never: how many others."""

    contexts: int
    sent: list[File]
    more: int
    never: list[File]
    more_never: int
    documents: list[File]
    more_documents: int


class _Scope(Record, frozen=True):
    applies: str
    globs: list[str]
    sender: str


_UNKNOWN = _Scope("", [], "")


class _Count(Record):
    """A file in the ledger. contexts: the numbers of their rows. sessions: client and id of each
    session → the last time that it or a subagent of it got the file, the newest first."""

    contexts: set[int] = field(default_factory=set)
    sessions: dict[tuple[str, str], Receiver] = field(default_factory=dict)


def query(desk: Desk, params: Params) -> Rules:
    scopes = _known(desk.store)
    contexts = {each.n: each for each in sessions.last_contexts(desk.store, _CONTEXTS)}
    sent, documents = (_sent(desk.store, contexts, kinds) for kinds in (RULES, DOCUMENTS))
    never = sorted(scopes.keys() - sent.keys())
    return Rules(
        len(contexts),
        [_file(path, scopes, each) for path, each in list(sent.items())[:_FILES]],
        max(0, len(sent) - _FILES),
        [_file(path, scopes, _Count()) for path in never[:_NEVER]],
        max(0, len(never) - _NEVER),
        [_file(path, {}, each) for path, each in list(documents.items())[:_FILES]],
        max(0, len(documents) - _FILES),
    )


def _file(path: str, scopes: dict[str, _Scope], count: _Count) -> File:
    scope, receivers = scopes.get(path, _UNKNOWN), list(count.sessions.values())
    return File(
        path, scope.applies, scope.globs, scope.sender, len(count.contexts), len(receivers),
        receivers[0].at if receivers else 0.0, receivers[:_SESSIONS],
    )  # fmt: skip


def _known(store: Store) -> dict[str, _Scope]:
    """Returns the rules of all compiled indexes. The same file may be in several: one for each
    client, and the user's own in each project. What we send goes before what a client sends."""
    scopes: dict[str, _Scope] = {}
    for (text,) in store.all("SELECT rules FROM rule_index WHERE version = ? ORDER BY n", VERSION):
        for rule in json.loads(text)["rules"]:
            globs = [glob for some in rule["keys"].values() for glob in some]
            scope = _Scope(rule["mode"], globs if rule["mode"] == BY_GLOBS else [], rule["sender"])
            if rule["sender"] == SISYPHUS or rule["path"] not in scopes:
                scopes[rule["path"]] = scope
    return scopes


def _sent(store: Store, contexts: dict[int, Session], kinds: tuple[str, ...]) -> dict[str, _Count]:
    """Returns the files that are in these contexts, the one sent last first."""
    marks = ", ".join("?" * len(kinds))
    rows = store.all(
        "SELECT path, session, at FROM sent WHERE session IN (SELECT value FROM json_each(?)) "
        f"AND kind IN ({marks}) AND path <> '' ORDER BY at DESC, path",
        json.dumps(list(contexts)), *kinds,
    )  # fmt: skip
    found: dict[str, _Count] = {}
    for path, n, at in rows:
        count, each = found.setdefault(path, _Count()), contexts[n]
        count.contexts.add(n)
        receiver = Receiver(each.id, at, each.agent != "")
        count.sessions.setdefault((each.client, each.id), receiver)
    return found
