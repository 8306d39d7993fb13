"""What every step of a run works with, and what it tells the user on the way."""

from __future__ import annotations

import time

from sisyphus.runner.keep import store
from sisyphus.state import debug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus.runner.client.stream import Seen
    from sisyphus.runner.decide import Decision
    from sisyphus.runner.handed import Filled
    from sisyphus.runner.keep.places import Places
    from sisyphus.runner.keep.state import Run
    from sisyphus.workspace import Workspace


class Screen:
    """Where a run is watched; this one shows nothing."""

    def note(self, text: str) -> None:
        """Something that the user should know, on one line."""

    def started(self, run: Run, *, is_resumed: bool) -> None:
        """A client works on `run.iteration`. `is_resumed`: an earlier runner started it."""

    def moved(self, run: Run, seen: Seen, full: Filled) -> None:
        """The client did something."""

    def ended(self, run: Run, decision: Decision) -> None:
        """An iteration was judged."""

    def waits(self, run: Run, left: float) -> None:
        """`left` seconds until the next try; called every second."""


class Shielded(Screen):
    """Shows a run on another screen for as long as that can be written to: a terminal that was
    closed, or a `head` that has seen enough, ends no run."""

    __slots__ = ("_screen",)

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def note(self, text: str) -> None:
        self._show(lambda screen: screen.note(text))

    def started(self, run: Run, *, is_resumed: bool) -> None:
        self._show(lambda screen: screen.started(run, is_resumed=is_resumed))

    def moved(self, run: Run, seen: Seen, full: Filled) -> None:
        self._show(lambda screen: screen.moved(run, seen, full))

    def ended(self, run: Run, decision: Decision) -> None:
        self._show(lambda screen: screen.ended(run, decision))

    def waits(self, run: Run, left: float) -> None:
        self._show(lambda screen: screen.waits(run, left))

    def _show(self, what: Callable[[Screen], None]) -> None:
        try:
            what(self._screen)
        except (OSError, ValueError) as error:  # ValueError: a stream that was closed
            self._screen = Screen()
            debug.log(f"the run is not shown any more: {error}")


class Desk:
    """`interrupted` tells whether the user wants to end; `sleep` waits some seconds.

    `keeps_record` False: the run is somebody else's, of whom no record is kept.
    """

    __slots__ = (
        "_trouble", "interrupted", "keeps_record", "places", "run", "screen", "sleep", "space",
    )  # fmt: skip

    def __init__(  # one a tool
        self,
        space: Workspace,
        places: Places,
        run: Run,
        screen: Screen,
        interrupted: Callable[[], bool] = lambda: False,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.space = space
        self.places = places
        self.run = run
        self.screen = screen if isinstance(screen, Shielded) else Shielded(screen)
        self.interrupted = interrupted
        self.sleep = sleep
        self.keeps_record = True
        self._trouble = ""

    def now(self) -> float:
        """The clock; features that are called with `space` see the same moment."""
        self.space.now = time.time()
        return self.space.now

    def save(self) -> None:
        """Raises `SisyphusError` and `OSError` where the run cannot be kept."""
        trouble = store.save(self.places, self.run, keep_record=self.keeps_record)
        if trouble and not self._trouble:
            self._trouble = trouble
            told = f"{self.places.state} is not kept up to date: {trouble}"
            self.space.log(told)
            self.screen.note(f"{told}. The run goes on; its own record counts")

    def roll_back(self) -> None:
        """What was not saved has not happened: of an iteration it is judged again, or not at all,
        but never counted twice."""
        self.run = store.last_saved(self.places) or self.run
