"""From one merged outcome to one reply: each text once, none lost, none over the budget.

Under the session's lock: what the model was sent already is dropped, what fits is printed, the
rest waits. The new state is written before the print and counts only after it, so that a full
disk sends nothing twice and a reader that has gone away loses nothing.
"""

from __future__ import annotations

import json
import os
import sys

from sisyphus.clients.base import KEEP, can_carry_text, render, render_keep
from sisyphus.errors import SisyphusError
from sisyphus.paths import display, queue_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus._types import Piece
    from sisyphus.clients.base import Outcome, Payload
    from sisyphus.session.store import SessionStore
    from sisyphus.state.files import Removal, Staged
    from sisyphus.workspace import Workspace

    Write = Callable[[str], None]


def deliver(payload: Payload, space: Workspace, outcome: Outcome, write: Write) -> int:
    """Writes the reply, if there is one; returns the UTF-16 units of text sent to the model.

    What was sent and what waits is added to `outcome.notes`, what was sent to `outcome.texts`: a
    file with the last of its parts.
    """
    if payload.event == KEEP:
        return _print_keep(outcome, write)
    speaks = can_carry_text(payload.event, outcome.reason)
    waits = speaks and bool(payload.key) and os.path.exists(queue_path(space.ours, payload.key))
    if not outcome.pieces and not waits:
        return _print(payload, outcome, "", write)
    if not payload.key:
        return _without_state(payload, space, outcome, write)
    try:
        return _with_state(payload, space, outcome, write)
    except (OSError, SisyphusError) as error:
        space.log(f"{payload.event}: state not written: {error}")
        outcome.notes.append(f"what was sent cannot be noted: {error}")
        return _without_state(payload, space, outcome, write)


def _with_state(payload: Payload, space: Workspace, outcome: Outcome, write: Write) -> int:
    from sisyphus.session.queue import arrange, fit
    from sisyphus.session.store import SessionStore

    with SessionStore(space.ours, payload.key) as session:
        speaks = can_carry_text(payload.event, outcome.reason) and _knows_itself(session, payload)
        queue = arrange(session.queue, outcome.pieces)
        queue = [piece for piece in queue if not session.has(piece)]
        text, taken, left = fit(queue) if speaks else ("", [], queue)
        session.wait(left)
        for piece in taken:
            session.remember(piece)
        staged = session.stage()
        outcome.messages += outcome.announced if queue else []
        try:
            sent = _print(payload, outcome, text, write)
        except OSError as error:
            space.log(f"{payload.event}: nobody read the reply: {error}")
            session.reset()
            session.wait(queue)
            session.save()
            return 0
        _commit(staged, payload, space)
    if taken:
        outcome.notes.append(f"sent {_names(taken, space.root)}")
        outcome.texts += _labels(_arrived(taken, left), space.root)
    if left:
        outcome.notes.append(f"waiting for a later reply: {_names(left, space.root)}")
    return sent


def _commit(staged: list[Staged | Removal], payload: Payload, space: Workspace) -> None:
    """The reply is out: a failure to note that must not bring forth a second one."""
    try:
        for file in staged:
            file.commit()
    except OSError as error:
        space.log(f"{payload.event}: sent, but not noted: {error}")


def _without_state(payload: Payload, space: Workspace, outcome: Outcome, write: Write) -> int:
    """Without a memory only a model whose context is empty can be told without repetition."""
    from sisyphus.session.queue import arrange, fit

    pieces = arrange([], outcome.pieces) if payload.is_fresh else []
    if outcome.pieces and not pieces:
        outcome.notes.append("nothing was sent: whether the model has it already is not known")
    outcome.messages += outcome.announced if pieces else []
    text, taken, _ = fit(pieces)
    sent = _print(payload, outcome, text, write)
    outcome.texts += _labels(taken, space.root)
    return sent


def _knows_itself(session: SessionStore, payload: Payload) -> bool:
    """Whether it is known what the model holds; for a fork, only once its parent is found."""
    if "forked_at" not in session.state or "parents" in session.state:
        return True
    from sisyphus.session.fork import find_parents

    parents = find_parents(payload.transcript, session.state["forked_at"])
    if parents is None:
        return False
    session.set(parents=parents)
    session.inherit(parents)
    return True


def _print(payload: Payload, outcome: Outcome, text: str, write: Write) -> int:
    reply = render(payload.event, outcome.reason, text, outcome.messages)
    if reply is not None:
        write(json.dumps(reply) + "\n")
    if not text:
        return 0
    from sisyphus.measure import units

    return units(text)


def _print_keep(outcome: Outcome, write: Write) -> int:
    reply = render_keep(outcome.keep)
    if reply is not None:
        is_utf8 = (getattr(sys.stdout, "encoding", "") or "").lower().startswith("utf")
        write(json.dumps(reply, ensure_ascii=not is_utf8) + "\n")
    return 0


def _names(pieces: list[Piece], root: str) -> str:
    counts: dict[str, int] = {}
    for piece in pieces:
        name = display(piece["path"], root) or piece["kind"]
        counts[name] = counts.get(name, 0) + 1
    return ", ".join(f"{n} ({count} parts)" if count > 1 else n for n, count in counts.items())


def _arrived(taken: list[Piece], left: list[Piece]) -> list[Piece]:
    """Without those of a file that the model does not have all of yet."""
    waiting = {(piece["kind"], piece["path"]) for piece in left if piece["path"]}
    return [piece for piece in taken if (piece["kind"], piece["path"]) not in waiting]


def _labels(pieces: list[Piece], root: str) -> list[str]:
    """What each is and where it came from, each file once: a name alone tells no rule from a
    plan, and several in one line cannot be told apart where one holds a comma."""
    found = [f"{piece['kind']} {display(piece['path'], root)}".rstrip() for piece in pieces]
    return list(dict.fromkeys(found))
