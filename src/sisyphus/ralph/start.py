"""A loop that a command line starts, for a session that may be at work just now."""

from __future__ import annotations

import os
from itertools import islice

from sisyphus import transcript
from sisyphus.clients import files_of
from sisyphus.errors import SisyphusError
from sisyphus.paths import is_safe_id, our_home, project_root
from sisyphus.ralph import actions, adopt, arguments, begin, invocations, store
from sisyphus.session import client_process
from sisyphus.session.transcripts import transcript_path
from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.ralph.arguments import Invocation
    from sisyphus.workspace import Workspace


FIRST_LINES = 100


def start(space: Workspace, asked: Invocation, session: str = "", *, force: bool = False) -> Json:
    """Starts the loop; it holds from the session's next Stop on. Returns its row.

    Replaces the session's loop only by `force`. Raises `SisyphusError`.
    """
    named = session or client_process.current_session(space.ours) or _only_open(space)
    if not is_safe_id(named):
        raise SisyphusError(
            f"{one_line(named, 80)!r} is no session's id. `sisyphus ralph list` and "
            "`sisyphus why` name sessions."
        )
    by_model = client_process.is_inside_client()
    with store.LoopStore(space.ours, named) as held:
        _check_replacing(held, by_model=by_model, force=force)
        asked_for = invocations.Start("")
        asked_for.by_model = by_model
        loop = adopt.make(asked_for, asked, named, space)
        loop.prompt_known = False
        begin.put_in_place(held, loop, transcript_path(space.home, named), space)
        return actions.row(loop, held.path(loop), space.ours, space.now)


def _check_replacing(held: store.LoopStore, *, by_model: bool, force: bool) -> None:
    """Raises `SisyphusError` where the session's loop is not to be replaced."""
    replaced = [loop for loop in held.loops if not loop.plan]
    if not replaced:
        return
    old = replaced[-1]
    there = f"session {old.session_id} has a loop already: {old.description} ({old.progress})."
    if not force:
        raise SisyphusError(f"{there} --force replaces it.")
    if by_model and not all(loop.by_model for loop in replaced):
        raise SisyphusError(
            f"{there} The user started it, so the user alone replaces it: from another terminal, "
            "or with /sisyphus:ralph-loop."
        )


def is_known(space: Workspace, session: str) -> bool:
    """Whether the client has a transcript of the session."""
    return bool(transcript_path(space.home, session))


def _only_open(space: Workspace) -> str:
    """The session that is open in this project, where there is just one."""

    sessions = {one: folder(space.home, one) for one in client_process.open_sessions(space.ours)}
    here = [one for one, cwd in sessions.items() if cwd and project_root(cwd) == space.root]
    if len(here) == 1:
        return here[0]
    known = "; ".join(f"{one} in {cwd or 'an unknown folder'}" for one, cwd in sessions.items())
    raise SisyphusError(
        "which session is the loop for? Name it with --session-id "
        f"(open now: {one_line(known, 600) or 'none'}), "
        'or type /sisyphus:ralph-loop "TASK" in it.'
    )


def invocation(prompt: str, options: dict[str, str | int | bool | None]) -> Invocation:
    """What was asked for on the command line; a line that a model wrote is bound as its call is.

    Raises `BadArgumentsError`.
    """
    given = {
        name: arguments.check(name, value)
        for name, value in options.items()
        if value is not None and value is not False
    }
    return arguments.ask(prompt, given, trusted=not client_process.is_inside_client())


def folder(home: str, session: str) -> str:
    """The folder where the session began, as its transcript says; "" = unknown.

    `home`: the client's. The first lines tell; later ones follow every `cd` of the agent.
    """
    named = session or client_process.current_session(our_home())
    path = transcript_path(home, named)
    first = islice((line for _, line in transcript.lines(path, 0)), FIRST_LINES)
    found = (record.cwd for record in transcript.messages(first, files_of(path).read_record))
    return next(filter(os.path.isdir, found), "")
