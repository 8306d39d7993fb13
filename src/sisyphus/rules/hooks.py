"""Rules reach the model when a tool touches a file that they cover, once a session."""

from __future__ import annotations

from sisyphus.clients import client_named
from sisyphus.clients.base import Outcome, Text
from sisyphus.rules import index
from sisyphus.rules.match import covers
from sisyphus.rules.sources import HOME
from sisyphus.rules.target import relative
from sisyphus.rules.wording import TAIL, head, title
from sisyphus.session.store import sent_hashes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.clients.base import Payload
    from sisyphus.rules.index import Entry
    from sisyphus.workspace import Workspace

AHEAD_BYTES = 100_000
"""About ten replies of rules are handed over at once, so that the queue stays cheap to read. Any
further ones have their turn the next time a file is touched that they cover."""

NAMED = 20
"""Of each kind in a note."""

FRESH, KNOWN, NATIVE, LATER = "for the model", "sent before", "left to the client", "for later"


def on_post_tool_use(payload: Payload, space: Workspace) -> Outcome | None:
    """Sends what covers the touched file, was not sent yet, and is not the client's own job."""
    if not payload.paths or not payload.is_known or not space.settings.get("rules.enabled"):
        return None
    rules = index.current(space)
    outcome = Outcome(notes=_problems(rules.problems))
    sent = set(sent_hashes(space.memory, payload.client, payload.session, payload.agent))
    for touched in payload.paths:
        path, inside = relative(touched, space.root)
        new, known = _covering(rules.rules, path, sent, inside=inside)
        if not new:
            continue
        entries = [*new, *known]
        parts = _sort_out(entries, path, sent, loads_rules=client_named(space.client).LOADS_RULES)
        fresh = parts[FRESH]
        sent.update(entry["hash"] for entry in fresh)
        outcome.texts += [_text(entry, rules.body(entry), path) for entry in fresh]
        if fresh or parts[NATIVE] or parts[LATER]:
            outcome.notes.append(_note(path, parts))
    return outcome if outcome.texts or outcome.notes else None


def _covering(
    rules: list[Entry], path: str, sent: set[str], *, inside: bool
) -> tuple[list[Entry], list[Entry]]:
    """Those that cover the file: which were not sent, and where there are such, which were."""
    new = [one for one in rules if one["hash"] not in sent and _applies(one, path, inside=inside)]
    known = (one for one in rules if new and one["hash"] in sent)
    return new, [one for one in known if _applies(one, path, inside=inside)]


def _applies(entry: Entry, path: str, *, inside: bool) -> bool:
    return (inside or entry["source"] == HOME) and covers(entry["patterns"], path)


def _sort_out(
    entries: list[Entry], path: str, sent: set[str], *, loads_rules: bool
) -> dict[str, list[Entry]]:
    """What happens to each rule. Of several with the same text the first is sent."""
    parts: dict[str, list[Entry]] = {FRESH: [], KNOWN: [], NATIVE: [], LATER: []}
    hashes = set(sent)
    size = 0
    for entry in entries:
        if loads_rules and covers(entry["native"], path):
            parts[NATIVE].append(entry)
        elif entry["hash"] in hashes:
            parts[KNOWN].append(entry)
        elif size > AHEAD_BYTES:
            parts[LATER].append(entry)
        else:
            parts[FRESH].append(entry)
            hashes.add(entry["hash"])
            size += entry["size"]
    return parts


def _text(entry: Entry, body: str, path: str) -> Text:
    return Text(
        "rules",
        title(entry["label"]) + body,
        head=head(),
        tail=TAIL,
        late_head=head(path),
        hash=entry["hash"],
        path=entry["path"],
    )


def _note(path: str, parts: dict[str, list[Entry]]) -> str:
    said = [f"{part} {_names(entries)}" for part, entries in parts.items() if entries]
    return f"rules for {path}: {'; '.join(said)}"


def _problems(found: list[tuple[str, str]]) -> list[str]:
    """Told once, when the rules were read: they are why a rule is never sent."""
    more = len(found) - NAMED
    told = [f"rule {label}: {text}" for label, text in found[:NAMED]]
    return told + ([f"and {more} more: `sisyphus rules lint`"] if more > 0 else [])


def _names(entries: list[Entry]) -> str:
    names = ", ".join(entry["label"] for entry in entries[:NAMED])
    return names + (f" and {len(entries) - NAMED} more" if len(entries) > NAMED else "")
