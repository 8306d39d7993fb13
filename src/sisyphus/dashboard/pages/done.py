"""What was done, told on the page to which it leads. An address brings a word alone, no text."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sisyphus.dashboard.views import loop as view
from sisyphus.ralph import actions
from sisyphus.ralph import loop as lp
from sisyphus.ralph.past import records

if TYPE_CHECKING:
    from sisyphus._types import Json

DELETE_ALL = "delete-archived"


class _Done(NamedTuple):
    """`result`: of a loop that it was done to. `hint`: a line of its own."""

    word: str
    result: str
    hint: str = ""


_TO_LOOP = {
    view.CANCEL: _Done("cancelled", lp.CANCELLED),
    view.PAUSE: _Done("paused", records.PAUSED),
    view.RESUME: _Done("resumed", records.ACTIVE, actions.IDLE),
    view.ARCHIVE: _Done("archived", lp.ARCHIVED),
}
_TO_LIST = {view.DELETE: "Loop deleted.", DELETE_ALL: "Archived loops deleted."}


def to_loop(action: str, loop: Json) -> str:
    """As `sisyphus ralph` says it; "" for what was not done, as far as its state tells. `loop`: a
    row of `views.loops.rows`."""
    done = _TO_LOOP.get(action)
    if done is None or done.result != loop["result"]:
        return ""
    row = {"loop_id": loop["loop_id"], "description": loop["task"]}
    return "\n".join(filter(None, [actions.told(done.word, [row]), done.hint]))


def to_list(action: str) -> str:
    return _TO_LIST.get(action, "")
