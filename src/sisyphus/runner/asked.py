"""What the user asked for, and where its prompt stands."""

from __future__ import annotations

import os

from sisyphus.errors import SisyphusError, UnreadableError
from sisyphus.reading import DOCUMENT_BYTES, read_text
from sisyphus.runner.keep.places import USERS_PROMPT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus.runner.keep.places import Places


class Asked:
    """What the user asked for; None = nothing was said about it."""

    __slots__ = (
        "client_command", "completion_promise", "flags", "iteration_minutes", "max_iterations",
        "max_minutes", "max_tokens", "objective", "prompt", "prompt_file", "verify",
    )  # fmt: skip

    def __init__(self) -> None:
        self.prompt: str | None = None
        self.prompt_file: str | None = None
        self.objective: str | None = None
        self.completion_promise: str | None = None
        self.max_iterations: int | None = None
        self.max_minutes: int | None = None
        self.max_tokens: int | None = None
        self.iteration_minutes: int | None = None
        self.verify: str | None = None
        self.client_command: str | None = None
        self.flags: Sequence[str] = ()

    def check(self) -> None:
        """Raises `SisyphusError` for what no run can do."""
        if self.client_command is not None and not self.client_command.strip():
            raise SisyphusError(
                "--client-command is empty. Give a command line, or leave the option out to run "
                "`claude -p`."
            )
        if self.verify is not None and not self.verify.strip():
            raise SisyphusError("--verify is empty. Give a command, or leave the option out.")
        if self.client_command is not None and self.flags:
            raise SisyphusError(
                "flags behind `--` are for `claude -p`, and --client-command runs another command "
                "line, which they would not reach. Write them into that."
            )


def prompt(places: Places, asked: Asked, folder: str) -> str:
    """The prompt of a new run; `folder` is where a file that is named is looked for."""
    if asked.prompt is not None and asked.prompt_file is not None:
        raise SisyphusError("--prompt and --prompt-file were both given. Give one of them.")
    if asked.prompt is not None:
        return _some(asked.prompt, "--prompt")
    if asked.prompt_file is not None:
        path = os.path.join(folder, os.path.expanduser(asked.prompt_file))
        return _some(_read(path, ""), asked.prompt_file)
    own = os.path.join(places.root, USERS_PROMPT)
    if not os.path.lexists(own):
        raise SisyphusError(
            f"the run has no task: there is no {own}. Write one, or give the task with --prompt or "
            "--prompt-file."
        )
    return _some(_read(own, places.root), own)


def _read(path: str, inside: str) -> str:
    try:
        return read_text(path, DOCUMENT_BYTES, inside)
    except UnreadableError as error:
        message = f"the prompt cannot be read: {error}. Name a text file of at most 1 MB."
        raise SisyphusError(message) from error


def _some(text: str, name: str) -> str:
    if not text.strip():
        raise SisyphusError(f"{name} is empty. Write there what is to be done.")
    return text
