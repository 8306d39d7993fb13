"""The page of what an item of a run has changed: its commits, or its half work on a branch."""

from __future__ import annotations

from sisyphus.dashboard import loops as loop_pages
from sisyphus.dashboard.page import Desk, NotThereError, Params
from sisyphus.ground import git
from sisyphus.ground.record import Record
from sisyphus.ground.text import cut, fingerprint, one_line
from sisyphus.loops import loops, messages
from sisyphus.loops.runs import Run

SHOWN_CHARACTERS = 200_000
"""The most of a diff that a page shows."""


class Diff(Record, frozen=True):
    """What an item has changed, asked of git now.

    commit: the last one of the item; "" = it has none. branch: with its half work; "" = it has
    none. checks: the commands that passed before the commit. text: as `git diff` prints it; "" =
    git does not know the commits any more. is_cut: there is more than `text`.
    """

    id: str
    task: str
    item: str
    commit: str
    branch: str
    checks: list[str]
    text: str
    is_cut: bool


def query(desk: Desk, params: Params) -> Diff:
    """Shows the item whose fingerprint is `item`."""
    run = loops.find(desk.store, params["id"])
    if not isinstance(run, Run):
        raise NotThereError(messages.unknown_loop(params["id"]))
    state = run.state
    items = {fingerprint(item): item for item in (*state.commits, *state.asides.values())}
    item = items.get(params.get("item", ""))
    if item is None:
        raise NotThereError(f"Run {run.id} has no commit of such an item.")
    made = state.commits.get(item)
    commit, branch = made.tip if made else "", "" if made else state.aside_of(item)
    between = f"{made.since}..{made.tip}" if made else f"{state.tip}...{branch}"
    text = git.changes(run.project, between)
    shown = cut(text, SHOWN_CHARACTERS)
    return Diff(
        run.id, one_line(run.task, loop_pages.TASK_CHARACTERS), item, commit, branch,
        made.checks if made else [], shown, shown != text,
    )  # fmt: skip
