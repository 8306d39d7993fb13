"""An invocation becomes a loop."""

from __future__ import annotations

import os

from sisyphus.errors import UnreadableError
from sisyphus.ralph import arguments, loop
from sisyphus.reading import DOCUMENT_BYTES, read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.ralph.arguments import Invocation
    from sisyphus.ralph.invocations import Start
    from sisyphus.ralph.loop import Loop
    from sisyphus.workspace import Workspace

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_ID_LENGTH = 5


def adopt(start: Start, session: str, space: Workspace) -> tuple[Loop, list[str]]:
    """The loop that `start` asks for, and what is not done as asked; raises `BadArgumentsError`."""
    asked = arguments.parse(start.args, trusted=not start.by_model)
    return make(start, asked, session, space), asked.notes


def make(start: Start, asked: Invocation, session: str, space: Workspace) -> Loop:
    """The loop that was asked for; raises `BadArgumentsError` where its prompt cannot be read."""
    in_file = "prompt_file" in asked.options
    if in_file:
        asked.prompt = _prompt_in_file(asked, space, inside=space.root if start.by_model else "")
    found = loop.begin(start, asked, session=session, loop_id=new_id(), now=space.now)
    found.project = space.root
    found.prompt_known = not in_file
    return found


def new_id() -> str:
    """Five characters tell one user's loops apart."""
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in os.urandom(_ID_LENGTH))


def _prompt_in_file(asked: Invocation, space: Workspace, *, inside: str) -> str:
    """The user may name any file, the model one of the project."""
    named = os.path.expanduser(str(asked.options["prompt_file"]))
    try:
        text = read_text(os.path.join(space.cwd, named), DOCUMENT_BYTES, inside)
    except UnreadableError as error:
        message = f"--prompt-file cannot be read: {error}. Name a text file of at most 1 MB"
        raise arguments.BadArgumentsError(message) from error
    if not text.strip():
        raise arguments.BadArgumentsError(f"--prompt-file {named} is empty. Write the prompt there")
    return text
