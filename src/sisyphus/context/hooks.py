"""README.md and AGENTS.md for the model, at session start and (a setting) folder by folder."""

from __future__ import annotations

from sisyphus.clients.base import Outcome
from sisyphus.session.store import sent_hashes
from sisyphus.text import fingerprint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.clients.base import Payload, Text
    from sisyphus.context.collect import Document
    from sisyphus.workspace import Workspace


def on_session_start(payload: Payload, space: Workspace) -> Outcome | None:
    """The project's documents, unless the model has them: from us, its parent or the client."""
    if not space.settings.get("context.enabled"):
        return None
    from sisyphus.context.collect import collect

    documents, skipped = collect(space)
    notes = [f"{name} not sent: {why}" for name, why in skipped.items() if why != "absent"]
    return _outcome(payload, space, documents, notes)


def on_post_tool_use(payload: Payload, space: Workspace) -> Outcome | None:
    """A folder's README.md on the first touch of a file below it (`context.directory_readme`)."""
    paths = [call.path for call in payload.calls if call.path and not call.failed]
    if not paths or not payload.is_known:
        return None
    if not space.settings.get("context.directory_readme"):
        return None
    if not space.settings.get("context.enabled"):
        return None
    from sisyphus.context.collect import folder_readmes

    found = {document.path: document for p in paths for document in folder_readmes(space, p)}
    return _outcome(payload, space, list(found.values()), [])


def _outcome(
    payload: Payload, space: Workspace, documents: list[Document], notes: list[str]
) -> Outcome | None:
    from sisyphus.context.blocks import texts

    sent = _sent(payload, space)
    fresh: list[Text] = []
    told: list[str] = []
    for document in documents:
        every = texts(document, fingerprint(document.text))
        wanted = [text for text in every if text.hash not in sent]
        fresh += wanted
        if len(wanted) == len(every):
            told.append(_describe(document))
        elif not wanted:
            notes.append(f"{document.name} not sent: this session has it")
    announced = [f"sisyphus: project documentation for the model: {', '.join(told)}"]
    if payload.source == "fork" or not told:
        announced.clear()
    return Outcome(texts=fresh, announced=announced, notes=notes) if fresh or notes else None


def _sent(payload: Payload, space: Workspace) -> frozenset[str]:
    """What the model has; where its context begins anew, that is forgotten with this event."""
    if payload.is_fresh:
        return frozenset()
    return sent_hashes(space.memory, payload.client, payload.session, payload.agent)


def _describe(document: Document) -> str:
    return f"{document.name} ({document.shown})" if document.shown else document.name
