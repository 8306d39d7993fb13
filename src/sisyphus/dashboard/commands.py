"""`sisyphus dashboard`: all of it on a page in the browser."""

import os
import shlex
import sys
import webbrowser
from typing import Annotated

import typer

from sisyphus.ground import executables
from sisyphus.ground.errors import SisyphusError
from sisyphus.terminal import show

PORT = 3847
_ENDS = "Ctrl-C ends it."


def dashboard(
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="N", help="0 = any port that is free.")
    ] = PORT,
    no_open: Annotated[bool, typer.Option("--no-open", help="Open no browser.")] = False,
) -> None:
    """Show plans, loops, runs and sessions on a page in the browser, of all projects.

    It listens on this machine alone. The address that it prints opens it once, in one browser.
    """
    show.need_user()
    try:
        from sisyphus.dashboard import access, private_page, server
        from sisyphus.dashboard import page as pages
    except ModuleNotFoundError as error:
        raise SisyphusError(_how_to_get_it(error.name or "")) from error
    place = show.place_to_change()
    try:
        token = access.read_token(place.our_home)
    except OSError as error:
        raise SisyphusError(f"{place.our_home}: {error.strerror or error}") from error
    listener = server.listen(port)
    if listener is None:
        url = server.link_of_running(port, token)
        if not url:
            raise SisyphusError(
                f"Port {port} is taken by another program. Give another one with --port."
            )
        show.line(f"It runs already: {url}")
        _open(url, place, no_open)
        return
    own = access.Access(listener.getsockname()[1], token)
    url = own.new_link()

    def ready() -> None:
        show.line(f"Dashboard: {url}")
        show.line(_ENDS, "dim")
        private_page.remove_later(url, place.our_home)
        _open(url, place, no_open)

    server.serve(
        pages.Desk(place.store, place.settings, place.home, place.our_home, own), listener, ready
    )


def _open(url: str, place: show.Place, no_open: bool) -> None:
    """Opens the user's browser where there is a screen and somebody who looks at it. A browser of
    the project is not started, and no other user reads the code on its command line."""
    from sisyphus.dashboard import private_page

    has_screen = (
        sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
    if not has_screen or not sys.stdout.isatty() or no_open:
        return
    try:
        page = private_page.write(url, place.our_home)
    except OSError as error:
        show.line(f"No browser was opened: {error.strerror or error}.")
        return
    path = os.environ.get("PATH", "")
    os.environ["PATH"] = executables.search_path([place.project])
    try:
        webbrowser.open(page)
    finally:
        os.environ["PATH"] = path


def _how_to_get_it(missing: str) -> str:
    """Names the command that adds what is missing to this installation."""
    from importlib import metadata  # 15 ms

    needed = metadata.requires("sisyphus-hooks") or []
    packages = [each.partition(";")[0].strip() for each in needed if "extra ==" in each]
    words = " ".join(shlex.quote(each) for each in packages)
    if os.path.exists(os.path.join(sys.prefix, "pipx_metadata.json")):
        way = f"pipx inject sisyphus-hooks {words}"
    elif os.path.exists(os.path.join(sys.prefix, "uv-receipt.toml")):
        way = f"uv pip install --python {shlex.quote(sys.executable)} {words}"
    else:
        way = f"{shlex.quote(sys.executable)} -m pip install {words}"
    return f"The dashboard needs packages that are not there ({missing}). Add them: {way}"
