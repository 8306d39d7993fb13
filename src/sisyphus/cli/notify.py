"""`sisyphus notify test`: tries the user's own command."""

import typer

from sisyphus.ground import paths
from sisyphus.ground.errors import SisyphusError
from sisyphus.sessions import notify
from sisyphus.sessions.notify import SECONDS, Notice
from sisyphus.terminal import show

_HOW = """\
Nothing is run: notify.command is empty. Set it in {file}, for example:

[notify]
command = 'notify-send -- "$SISYPHUS_TITLE" "$SISYPHUS_TEXT"'
"""


def test(project: show.Project = "") -> None:
    """Run the command of `notify.command` once, with a sample, and show what it says."""
    place = show.place(project)
    command = place.settings["notify.command"]
    if not command:
        file = paths.display(f"{place.our_home}/config.toml", "")
        show.line(_HOW.format(file=file).rstrip())
        return
    show.line(f"notify.command: {command}", "dim")
    sample = Notice(
        "completion", "Loop completed", "This is a test of `sisyphus notify test`.",
        place.project, "test", "aaaaa", 3,
    )  # fmt: skip
    try:
        done = notify.run(command, sample)
    except OSError as error:
        raise SisyphusError(f"The command could not be run: {error}.") from error
    if output := done.output.rstrip():
        show.line(output)
    if done.has_timed_out:
        raise SisyphusError(f"The command was killed after {SECONDS} s.")
    show.line(f"It exited with {done.code}.")
    if done.code:
        raise typer.Exit(1)
