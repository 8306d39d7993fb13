from __future__ import annotations

from sisyphus.checkpoint import commands, gather
from sisyphus.cli.boulder_show import Session, session_of
from sisyphus.cli.output import AsJson, Project, print_json, say, workspace
from sisyphus.text import harmless


def checkpoint(
    project: Project = "",
    session_id: Session = "",
    as_json: AsJson = False,
) -> None:
    """Write a handoff of a session now: its task, files, failures and next step.

    The next session of the project is given it once. A loop goes on as before.
    """
    entry = gather.checkpoint_now(workspace(project), session_of(session_id))
    if as_json:
        print_json(entry)
    else:
        say(harmless(commands.made(entry)))
