"""Gives a session a prompt by `codex queue`, as measured on 0.169.0. An idle terminal takes it up
within ten seconds; a session that was closed meanwhile does when it is resumed."""

import os

from sisyphus.ground import log, paths, processes

_SECONDS = 20.0


def send(program: str, session: str, text: str) -> None:
    """Queues a text. program: the client's own. It starts in the user's home: in a project a broken
    `.codex/config.toml` would end it."""
    words = [program, "queue", "--thread", session, f"--message={text}"]
    home = paths.user_home()
    done = processes.run(words, home if os.path.isdir(home) else os.sep, _SECONDS)
    if done.code != 0:
        log.write(f"idle: `codex queue` did not take a text for session {session}")
