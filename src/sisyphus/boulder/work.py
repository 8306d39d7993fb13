"""The work behind a tick: what the agent did, by what was recorded, and what has changed, by the
times of files."""

from __future__ import annotations

import os

from sisyphus.boulder import check_runs
from sisyphus.boulder.evidence import FAILED, PASSED
from sisyphus.ground import git, worktree
from sisyphus.loops import project_changes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sisyphus.clients.transcript_records import TranscriptLine


class Work:
    """The work by which ticks are judged. What is slow is found out once, when it is asked for.

    apart: the absolute paths of files whose change is no work. since: the tick before, or the begin
    of the work. now: both in seconds since 1970.
    """

    def __init__(
        self,
        records: Sequence[TranscriptLine],
        project: str,
        apart: Collection[str],
        since: float,
        now: float,
    ) -> None:
        self.project, self.since, self.now = project, since, now
        self._apart = {os.path.realpath(path) for path in apart if path}
        actions = check_runs.actions_of(records)
        self.actions = [each for each in actions if not each.path or self._is_work(each.path)]
        self._last_change = -1.0

    def _is_work(self, path: str) -> bool:
        real = os.path.realpath(path)
        return real not in self._apart and not worktree.is_ours(real, self.project)

    @property
    def last_change(self) -> float:
        """Returns when a file last changed. It asks git for the names of all files."""
        if self._last_change < 0:
            self._last_change = worktree.last_change(self.project, self.now, self._apart)
        return self._last_change

    @property
    def has_changed(self) -> bool:
        """Tells whether a file has changed, or a commit changed one, since the work began."""
        edits = (action for action in self.actions if action.is_change)
        if any(not action.at or action.at > self.since for action in edits):
            return True
        if self.last_change > self.since:
            return True
        if self.since < git.head_moved_at(self.project) <= self.now:
            names = git.committed_since(self.project, self.since)
            return any(name not in self._apart for name in names)
        apart = self._apart
        return project_changes.has_changed_besides(self.project, self.since, self.now, apart)

    def has_failed(self, command: str) -> bool:
        """Tells whether the agent ran a check that did not pass."""
        ends = (check_runs.ended(command, each, self.project) for each in self.actions)
        return FAILED in ends

    def run_of(self, command: str, ticked_at: float, changed_at: float = 0.0) -> str:
        """Returns how a check ended when it ran last on the work that was ticked, see
        `evidence.PASSED`; "" = it did not.

        It ran on that work if nobody changed a file between it and the tick. One that passes at any
        time after the tick counts, too; one that fails after the next change may have been broken
        by the next task.

        changed_at: when a file last changed before the tick; 0 = it is ticked now.
        """
        found = ""
        is_after = has_changed = False
        for action in self.actions:
            is_after = is_after or action.at > ticked_at
            if action.is_change:
                found, has_changed = (found, True) if is_after else ("", False)
            result = check_runs.ended(command, action, self.project)
            if not result or (is_after and has_changed and result == FAILED):
                continue
            if not is_after and result in (PASSED, FAILED):
                is_old = (changed_at or self.last_change) > (action.ended_at or action.at)
                result = "" if is_old else result
            found = result
        return found
