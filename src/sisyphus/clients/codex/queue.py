"""Gives a session a prompt by `codex queue`, as measured on 0.169.0. An idle terminal takes it up
within ten seconds; a session that was closed meanwhile does when it is resumed."""

import os

from sisyphus import log, processes

_SECONDS = 20.0


def send(program: str, session: str, text: str, folder: str) -> None:
    """Queues a text. program: the client's own. folder: of the session."""
    words = [program, "queue", "--thread", session, f"--message={text}"]
    start = folder if os.path.isdir(folder) else os.sep
    if processes.run(words, start, _SECONDS).code != 0:
        log.write(f"idle: `codex queue` did not take a text for session {session}")
