from __future__ import annotations

import os
import sys
import webbrowser
from contextlib import ExitStack
from threading import Thread
from typing import TYPE_CHECKING, Annotated

import typer

from sisyphus.cli.output import AsJson, faint, print_json, say
from sisyphus.cli.progress import progress
from sisyphus.cli.terminal import is_terminal
from sisyphus.cli.users_own import refuse_model
from sisyphus.dashboard import needs
from sisyphus.errors import SisyphusError

if TYPE_CHECKING:
    from sisyphus.dashboard.access import Access

PORT = 3847
"""That of an earlier ralph dashboard, which its users know."""

_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")


def dashboard(
    port: Annotated[
        int, typer.Option("--port", "-p", metavar="N", min=0, max=65535, help="0 = any free one.")
    ] = PORT,
    host: Annotated[
        str,
        typer.Option(
            "--host",
            metavar="HOST",
            help="Where to listen. Any address but 127.0.0.1 lets others in.",
        ),
    ] = "127.0.0.1",
    browser: Annotated[
        bool | None,
        typer.Option(
            "--open/--no-open", help="Open a browser.", show_default="where there is a screen"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show loops, plans, sessions and what hooks did there on a page in the browser.

    Serves until it is interrupted. The page is drawn from what is on disk, and follows it. The
    printed address holds a token: whoever has it may see and end your loops. `--json` prints
    `url`, `address` and `token`, once it can be asked.
    """
    refuse_model("the dashboard can end and delete loops; it is not for the client's own shell")
    if needs.missing():
        raise SisyphusError(
            "the dashboard needs packages that are not installed, or newer ones: "
            f"{', '.join(needs.missing())}. Get them: {needs.how_to_get()}"
        )
    from sisyphus.dashboard import serve

    with ExitStack() as until_told:
        until_told.enter_context(progress("Reading what is on disk", quiet=as_json))

        def told(access: Access) -> None:
            until_told.close()
            _tell(access, serve.url_for_others(access), as_json=as_json)
            if _wants_browser(browser, as_json=as_json):
                _open(access.url_for_once())

        serve.serve(host, port, told)


def _tell(access: Access, for_others: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"url": access.url, "address": access.address, "token": access.token})
    else:
        say(f"Dashboard: {access.url}")
        if not access.is_local:
            say(f"For others on the network: {for_others or access.url}")
            say("What they see passes the network unencrypted.")
        say(faint("Ctrl-C ends it."))
    sys.stdout.flush()


def _open(url: str) -> None:
    """Whoever is in BROWSER is waited for until it ends: not by the thread that serves it."""
    Thread(target=webbrowser.open, args=[url], daemon=True).start()


def _wants_browser(asked: bool | None, *, as_json: bool) -> bool:
    """A browser of the terminal itself would take it from whoever started us."""
    if asked is not None:
        return asked
    has_screen = sys.platform in ("darwin", "win32") or any(map(os.environ.get, _SCREENS))
    return has_screen and not as_json and is_terminal(sys.stdout)
