"""Sends README.md and AGENTS.md at session start, and those of a folder when a tool touches a file
in it."""

from __future__ import annotations

import os

from sisyphus import clients
from sisyphus.ground import files, paths
from sisyphus.ground.partial import partial
from sisyphus.ground.text import one_line
from sisyphus.hook.outcome import Outcome
from sisyphus.hook.session import NEW_FORK
from sisyphus.sessions import ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.context.documents import Document
    from sisyphus.hook.hook import Hook
    from sisyphus.hook.outcome import Act

README, AGENTS = "README.md", "AGENTS.md"

_TOKEN_CHARACTERS = 4
"""About how many characters of a text a token has."""


def look_at_start(hook: Hook) -> Act | None:
    """Sends the documents of the session's folder, which may be a package, and of the project. A
    fork already has what its parent was sent."""
    is_new_fork = hook.event.source == "fork" or hook.session.fork == NEW_FORK
    if not hook.settings["context.enabled"] or (is_new_fork and not hook.event.starts_empty):
        return None
    folder = os.path.realpath(hook.event.folder)
    folders = [folder, hook.project] if paths.is_inside(folder, hook.project) else [hook.project]
    names = (README, AGENTS) if _has_readme(hook) else (AGENTS,)
    candidates = [os.path.join(each, name) for each in folders for name in names]
    documents, notes = _collect(hook, candidates)
    return partial(_send, hook, documents, notes) if documents or notes else None


def _has_readme(hook: Hook) -> bool:
    """Tells whether the session gets READMEs. An iteration of a run has all that it needs in its
    prompt."""
    return hook.settings["context.readme_lines"] > 0 and not hook.standing.is_run


def look_at_tools(hook: Hook) -> Act | None:
    """Sends, once a session, the documents between the project's root and a touched file:
    AGENTS.md unless the client loads it, README.md if a setting asks for it."""
    names = [README] if hook.settings["context.directory_readme"] and _has_readme(hook) else []
    if hook.settings["context.agents_md"] != "never":
        names.append(AGENTS)
    paths_above = [path for file in hook.event.files for path in _above(hook, file, names)]
    if not paths_above or not hook.settings["context.enabled"]:
        return None
    known = ledger.hashes(hook.store, hook.session)
    states = {path: f"{path} {files.stamp(path)}" for path in paths_above}
    new = [path for path, state in states.items() if state not in known]
    return (
        partial(_send_once, hook, [states[p] for p in new], *_collect(hook, new)) if new else None
    )


def _above(hook: Hook, file: str, names: list[str]) -> list[str]:
    """Returns the documents with these names in the folders that contain a file, the nearest first.
    The project's root is left out: the start sends its documents."""
    candidates: list[str] = []
    for spelling in paths.names(file, hook.project):
        parts = spelling.split("/")[:-1]
        folders = [os.path.join(hook.project, *parts[:end]) for end in range(len(parts), 0, -1)]
        candidates += [os.path.join(folder, name) for folder in folders for name in names]
    return [path for path in candidates if os.path.lexists(path)]


def _collect(hook: Hook, candidates: list[str]) -> tuple[list[Document], list[str]]:
    """Reads the documents that exist and that the client does not load. Also returns notes that say
    why the others are not sent."""
    existing = [path for path in dict.fromkeys(candidates) if os.path.lexists(path)]
    notes: list[str] = []
    for path in [path for path in existing if path.endswith(AGENTS)]:
        if why := _why_not(hook, path):
            notes.append(_note(hook, path, why))
            existing.remove(path)
    if not existing:
        return [], notes
    from sisyphus.context.documents import read_all

    folders = [hook.event.folder, *map(os.path.dirname, existing)]
    imports = clients.native(hook.event.client).imports(hook.home, *folders)
    loaded, lines = frozenset(imports.values()), hook.settings["context.readme_lines"]
    documents, omissions = read_all(existing, hook.project, loaded, lines)
    return documents, notes + [_note(hook, each.path, each.why) for each in omissions]


def _why_not(hook: Hook, path: str) -> str:
    """Returns why we do not send the AGENTS.md at `path`; "" = we do."""
    choice = hook.settings["context.agents_md"]
    if choice == "auto":
        native = clients.native(hook.event.client)
        return native.why_agents_md(hook.home, hook.event.folder, path)
    return 'context.agents_md is "never"' if choice == "never" else ""


def _note(hook: Hook, path: str, why: str) -> str:
    return f"{paths.display(path, hook.project)} is not sent: {why}"


def _send_once(hook: Hook, new: list[str], documents: list[Document], notes: list[str]) -> Outcome:
    """Sends the documents unless another hook of the session has done so since we looked.

    new: path and stamp of all of them, sent or not. We record each, so that it is read once a
    session, and again when it has changed.
    """
    unknown = [state for state in new if ledger.record_notice(hook, state)]
    return _send(hook, documents, notes) if unknown else Outcome()


def _send(hook: Hook, documents: list[Document], notes: list[str]) -> Outcome:
    from sisyphus.context import messages

    outcome = Outcome(notes=notes)
    announced = []
    for document in documents:
        texts = messages.as_texts(document)
        missing = ledger.missing(hook, texts)
        outcome.texts += missing
        if not missing:
            outcome.notes.append(_note(hook, document.path, "this session already has it"))
        elif len(missing) == len(texts):  # else the user was told when the first part was sent
            announced.append(document)
    if announced:
        outcome.messages.append(_announce(announced))
    return outcome


def _announce(documents: list[Document]) -> str:
    """Says which documents the model gets, and about what they cost."""
    tokens = sum(len(document.text) for document in documents) // _TOKEN_CHARACTERS
    names = ", ".join(map(_announced, documents))
    return f"sisyphus sent {names} to the model, about {_rounded(tokens):,} tokens"


def _rounded(number: int) -> int:
    """Returns a number with one digit that is not 0, from 10 on."""
    unit = int(10 ** max(1, len(str(number)) - 1))
    return max(unit, round(number / unit) * unit)


def _announced(document: Document) -> str:
    name = one_line(document.name)
    if document.lines < document.total_lines:
        return f"{name} (first {document.lines:,} of {document.total_lines:,} lines)"
    return f"{name} (cut within its last line)" if document.is_cut else name
