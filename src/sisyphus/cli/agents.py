"""`sisyphus hook` and `sisyphus statusline`, which agents call: their options, for the help."""

from typing import Annotated

import typer

from sisyphus import clients

Client = Annotated[
    str, typer.Option(metavar="NAME", help=f"The agent that calls: {', '.join(clients.NAMES)}.")
]


def statusline(client: Client = "claude-code") -> None:
    """Print one line for the client's status line: plan, loop, context.

    The client runs this; `sisyphus install` puts it into the client's settings.
    """
    raise AssertionError("`sisyphus.__main__` handles `sisyphus statusline`")


def hook(
    event: Annotated[str, typer.Argument(metavar="EVENT", help="One of the events below.")],
    client: Client = "claude-code",
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="For CI: exit 1 if the payload is invalid or a feature fails."
        ),
    ] = False,
) -> None:
    """Answer one hook event: reads a JSON payload from stdin, prints at most one JSON object.

    Agents call this from their hooks file.
    """
    raise AssertionError("`sisyphus.__main__` handles `sisyphus hook`")
